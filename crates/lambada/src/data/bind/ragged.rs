//! Ragged arrays: a list of lists of any lengths is a record of all their elements, one list after
//! the other, and of the places where each list starts, with the end of the last. The elements of
//! list `i` are those from `starts[i]` to before `starts[i + 1]`.

use std::rc::Rc;
use std::sync::Arc;

use lambada_core::SizedTy;
use lambada_core::data::Data;
use lambada_prim::{Data as Elements, ScalarTy, Tensor};
use lambada_source::Problem;
use serde_json::Value;

use super::{DataReader, scalar_leaf};
use crate::data::json;

/// The type of the elements, if these fields are those of a ragged array.
pub(super) fn values(fields: &[(Rc<str>, SizedTy)]) -> Option<&SizedTy> {
    let field = |name: &str| fields.iter().find(|(known, _)| **known == *name).map(|(_, ty)| ty);
    let (values, starts) = (field("values")?, field("starts")?);
    let is_array = matches!(values, SizedTy::Array(..));
    (fields.len() == 2 && is_array && scalar_leaf(starts) == Some((ScalarTy::Int, 1)))
        .then_some(values)
}

impl DataReader<'_> {
    /// Reads the lists of a ragged array.
    pub(super) fn ragged(
        &self,
        ty: &SizedTy,
        fields: &[(Rc<str>, SizedTy)],
        lists: &[Value],
    ) -> Result<Data, Problem> {
        let mut starts = vec![0];
        let mut all = None;
        self.each(lists, |inner, list| {
            let Value::Array(items) = list else {
                return Err(inner.mismatch(json::describe(list)));
            };
            starts.push(starts.last().unwrap_or(&0) + items.len() as i64);
            let part = inner.json(ty, list)?;
            if items.is_empty() || joins(&mut all, part) {
                return Ok(());
            }
            Err(inner.mismatch("a list whose elements have another shape than those before"))
        })?;
        let starts = Tensor { dims: vec![starts.len()], data: Elements::Int(starts) };
        let starts = Data::Tensor(starts);
        let values = match all {
            Some(values) => values,
            None => self.json(ty, &Value::Array(Vec::new()))?,
        };
        let part = |name: &Rc<str>| {
            let part = if **name == *"starts" { &starts } else { &values };
            (Arc::from(&**name), part.clone())
        };
        Ok(Data::Record(fields.iter().map(|(name, _)| part(name)).collect()))
    }
}

/// Adds elements to those before, unless their shapes differ.
fn joins(all: &mut Option<Data>, part: Data) -> bool {
    match (all, part) {
        (all @ None, part) => *all = Some(part),
        (Some(Data::Tensor(all)), Data::Tensor(part)) => return append(all, part),
        (Some(Data::Array(all)), Data::Array(part)) => all.extend(part),
        (Some(_), _) => return false,
    }
    true
}

fn append(all: &mut Tensor, part: Tensor) -> bool {
    let fits = all.dims[1..] == part.dims[1..];
    if fits {
        all.dims[0] += part.dims[0];
        match (&mut all.data, part.data) {
            (Elements::Real(all), Elements::Real(part)) => all.extend(part),
            (Elements::Int(all), Elements::Int(part)) => all.extend(part),
            (Elements::Bool(all), Elements::Bool(part)) => all.extend(part),
            _ => return false,
        }
    }
    fits
}

//! Destination arrays for results.

use lambada::{Data, Error, Output, Parts, ResultMemory, Tensor, Type};
use numpy::ndarray::ArrayViewMutD;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::{self, Place, said};
use crate::input::plain;
use crate::output::Writer;

/// Destination of a result: an array, a new one, or a tuple of destinations. A number goes into an
/// array of rank 0.
pub(crate) enum Places<'py> {
    Array(Place<'py>),
    New(Option<Tensor>),
    All(Vec<Places<'py>>),
}

/// The type of a part of a tuple, or of a record, whose parts are in alphabetical order.
fn part(ty: &Type, k: usize) -> Option<&Type> {
    match ty {
        Type::Tuple(types) => types.get(k),
        Type::Record(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            fields.get(k).map(|(_, ty)| ty)
        }
        _ => None,
    }
}

impl Output for Places<'_> {
    fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
        match self {
            Places::Array(Place::Real(view)) => received(view, parts),
            Places::Array(Place::Single(view)) => received(view, parts),
            Places::Array(Place::Int(view)) => received(view, parts),
            Places::Array(Place::Bool(view)) => received(view, parts),
            Places::New(made) => made.receive(parts),
            Places::All(places) => places.iter_mut().try_for_each(|place| place.receive(parts)),
        }
    }

    fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
        match self {
            Places::Array(Place::Real(view)) => view.lend(memory),
            Places::Array(Place::Int(view)) => view.lend(memory),
            Places::Array(Place::Single(_) | Place::Bool(_)) => memory.copied(),
            Places::New(made) => made.lend(memory),
            Places::All(places) => places.iter_mut().for_each(|place| place.lend(memory)),
        }
    }
}

fn received<'v, T: Output>(
    view: &mut ArrayViewMutD<'v, T>,
    parts: &mut Parts<'_>,
) -> Result<(), Error>
where
    ArrayViewMutD<'v, T>: Output,
{
    match (view.ndim(), view.first_mut()) {
        (0, Some(number)) => number.receive(parts),
        _ => view.receive(parts),
    }
}

impl Places<'static> {
    /// Reads the argument `out` for a result of a type, if that is known.
    pub fn read(
        out: &Bound<'_, PyAny>,
        what: &str,
        ty: Option<&Type>,
    ) -> PyResult<Places<'static>> {
        if out.is_instance_of::<PyTuple>() || out.is_instance_of::<PyList>() {
            let item = |(k, item): (usize, PyResult<Bound<'_, PyAny>>)| {
                Places::read(&item?, &format!("{what}[{k}]"), ty.and_then(|ty| part(ty, k)))
            };
            let items = out.try_iter()?.enumerate().map(item);
            return Ok(Places::All(items.collect::<PyResult<_>>()?));
        }
        if out.is_none() {
            return Places::new(what, ty);
        }
        match arrays::place(out) {
            Some(place) => Ok(Places::Array(place)),
            None => Err(PyTypeError::new_err(format!(
                "{what} should be an array of float64, float32, int64 or bool that may be written to, a tuple of such, or None for a new array, but it is {}",
                said(out)
            ))),
        }
    }

    /// New arrays for a result.
    fn new(what: &str, ty: Option<&Type>) -> PyResult<Places<'static>> {
        match ty {
            Some(Type::Tuple(types)) => {
                let items = types.iter().map(|ty| Places::new(what, Some(ty)));
                Ok(Places::All(items.collect::<PyResult<_>>()?))
            }
            Some(ty) if plain(ty).is_none() => Err(PyTypeError::new_err(format!(
                "{what} is None, which stands for a new array or number, but the result there is `{ty}`"
            ))),
            Some(_) | None => Ok(Places::New(None)),
        }
    }

    /// Whether there is a new array.
    pub fn has_new(&self) -> bool {
        match self {
            Places::Array(_) => false,
            Places::New(_) => true,
            Places::All(places) => places.iter().any(Places::has_new),
        }
    }

    /// `out`, with the new arrays where it has `None`.
    pub fn filled<'py>(
        self,
        out: &Bound<'py, PyAny>,
        writer: Writer<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !self.has_new() {
            return Ok(out.clone());
        }
        match self {
            Places::Array(_) => Ok(out.clone()),
            Places::New(made) => {
                let made = made.unwrap_or_else(|| Tensor::reals(vec![0], Vec::new()));
                writer.value(Data::Tensor(made).into(), None)
            }
            Places::All(places) => {
                let py = out.py();
                let items: Vec<Bound<'py, PyAny>> = match out.is_none() {
                    true => places.iter().map(|_| out.clone()).collect(),
                    false => out.try_iter()?.collect::<PyResult<_>>()?,
                };
                let items = places.into_iter().zip(&items).map(|(p, item)| p.filled(item, writer));
                let items: Vec<Bound<'py, PyAny>> = items.collect::<PyResult<_>>()?;
                match out.is_instance_of::<PyList>() {
                    true => Ok(PyList::new(py, items)?.into_any()),
                    false => Ok(PyTuple::new(py, items)?.into_any()),
                }
            }
        }
    }

    /// As [`filled`](Places::filled), for a gradient by parameter.
    pub fn filled_by_name<'py>(
        self,
        out: &Bound<'py, PyAny>,
        names: &[String],
        writer: Writer<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match (self, out.cast::<PyDict>()) {
            (Places::All(places), Ok(given)) if places.iter().any(Places::has_new) => {
                let all = given.copy()?;
                for (place, name) in places.into_iter().zip(names) {
                    let item =
                        all.get_item(name)?.unwrap_or_else(|| all.py().None().into_bound(all.py()));
                    all.set_item(name, place.filled(&item, writer)?)?;
                }
                Ok(all.into_any())
            }
            (places, _) => places.filled(out, writer),
        }
    }

    /// Reads the destinations of a gradient, by parameter.
    pub fn by_name<'t>(
        out: &Bound<'_, PyAny>,
        names: &[String],
        alone: bool,
        ty: impl Fn(&str) -> Option<&'t Type>,
    ) -> PyResult<Places<'static>> {
        if alone {
            return Places::read(out, "out", names.first().and_then(|name| ty(name)));
        }
        let Ok(out) = out.cast::<PyDict>() else {
            return Err(PyTypeError::new_err(format!(
                "out should be a dict with an array for each of {}, but it is {}",
                crate::input::listed(names),
                said(out)
            )));
        };
        let mut all = Vec::new();
        for name in names {
            let place = out
                .get_item(name)?
                .ok_or_else(|| PyValueError::new_err(format!("out has no array for `{name}`")))?;
            all.push(Places::read(&place, &format!("out[{name:?}]"), ty(name))?);
        }
        Ok(Places::All(all))
    }
}

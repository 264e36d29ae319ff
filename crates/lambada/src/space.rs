//! Where values live: the spaces of `std/space` that the types of a signature mention.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use lambada_core::{Data, Size, SizedTy};
use lambada_prim::{Data as Elements, ScalarTy, Tensor};
use lambada_source::FileId;
use lambada_surface::ast::{BinaryOp, Expr, ExprKind, TypeBody, TypeExpr, TypeKind};

use crate::types::Files;

/// The key of the module that defines the spaces.
const MODULE: &str = "<std>/space";

/// The place of values of a type. `S` is a size as the signature has it, or its value.
#[derive(Clone, Debug)]
pub(crate) enum Space<S> {
    /// Any real.
    Real,
    /// A space of the library, with its size: 1 for numbers.
    Of(&'static Kind, S),
    /// A whole number that counts from 1 in files and from 0 in programs.
    OneBased,
    /// Values without derivatives: whole numbers, truth values, variants, functions.
    Discrete,
    Array(S, Box<Space<S>>),
    Tuple(Vec<Space<S>>),
    Record(Vec<(Rc<str>, Space<S>)>),
}

/// A space of the library.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its name; `NAME_from` is its transform.
    pub name: &'static str,
    /// Number of axes of a value.
    pub rank: usize,
    /// Number of coordinates of a value of a size.
    free: fn(usize) -> usize,
}

const fn kind(name: &'static str, rank: usize, free: fn(usize) -> usize) -> Kind {
    Kind { name, rank, free }
}

/// The spaces that have transforms.
static KINDS: [Kind; 11] = [
    kind("positive", 0, |_| 1),
    kind("unit", 0, |_| 1),
    kind("ordered", 1, |n| n),
    kind("positive_ordered", 1, |n| n),
    kind("simplex", 1, |k| k.saturating_sub(1)),
    kind("unit_vector", 1, |k| k),
    kind("sum_to_zero", 1, |n| n.saturating_sub(1)),
    kind("cholesky_corr", 2, |k| k * k.saturating_sub(1) / 2),
    kind("corr", 2, |k| k * k.saturating_sub(1) / 2),
    kind("cholesky_cov", 2, |k| k * (k + 1) / 2),
    kind("cov", 2, |k| k * (k + 1) / 2),
];

impl Kind {
    /// The sizes of the coordinates of a value.
    pub(crate) fn coordinates(&self, size: usize) -> Vec<usize> {
        if self.rank == 0 { Vec::new() } else { vec![(self.free)(size)] }
    }
}

impl Files<'_> {
    /// The space of a parameter of the program's own file, from its written type, if it has one,
    /// and its type with sizes.
    pub(crate) fn space(&self, written: Option<&TypeExpr>, ty: &SizedTy) -> Space<Size> {
        match written {
            Some(written) => self.read(self.own(), written, ty, &HashMap::new()),
            None => unrestricted(ty),
        }
    }

    /// `types` are the arguments of the alias that `file` is read for, by its parameters.
    fn read(
        &self,
        file: usize,
        written: &TypeExpr,
        ty: &SizedTy,
        types: &HashMap<Rc<str>, (usize, TypeExpr)>,
    ) -> Space<Size> {
        match (&written.kind, ty) {
            (TypeKind::Array(_, part), SizedTy::Array(size, elem)) => {
                Space::Array(size.clone(), Box::new(self.read(file, part, elem, types)))
            }
            (TypeKind::Tuple(parts), SizedTy::Tuple(items)) if parts.len() == items.len() => {
                let items = parts.iter().zip(items);
                Space::Tuple(items.map(|(part, ty)| self.read(file, part, ty, types)).collect())
            }
            (TypeKind::Record(parts), SizedTy::Record(fields)) => {
                let field = |(label, ty): &(Rc<str>, SizedTy)| {
                    let part = parts.iter().find(|(name, _)| name.text == *label);
                    let space = match part {
                        Some((_, part)) => self.read(file, part, ty, types),
                        None => unrestricted(ty),
                    };
                    (label.clone(), space)
                };
                Space::Record(fields.iter().map(field).collect())
            }
            (TypeKind::Name(name, _, args), _) => {
                if let Some((file, given)) = types.get(&name.text) {
                    return self.read(*file, given, ty, &HashMap::new());
                }
                let Some(place) = self.resolve(file, &name.text) else { return unrestricted(ty) };
                if self.key(place.0) == Some(MODULE) {
                    return library(&place.1, ty);
                }
                let Some(def) = self.definition(&place) else { return unrestricted(ty) };
                let TypeBody::Alias(body) = &def.body else { return Space::Discrete };
                let params = def.params.iter().map(|param| param.text.clone());
                let args = args.iter().map(|arg| match &arg.kind {
                    TypeKind::Name(name, ..) if types.contains_key(&name.text) => {
                        types[&name.text].clone()
                    }
                    _ => (file, arg.clone()),
                });
                self.read(place.0, body, ty, &params.zip(args).collect())
            }
            _ => unrestricted(ty),
        }
    }
}

/// A space of the library by its name.
fn library(name: &str, ty: &SizedTy) -> Space<Size> {
    if name == "one_based" {
        return Space::OneBased;
    }
    match (KINDS.iter().find(|kind| kind.name == name), ty) {
        (Some(kind), SizedTy::Array(size, _)) => Space::Of(kind, size.clone()),
        (Some(kind), _) => Space::Of(kind, Size::Const(1)),
        (None, _) => unrestricted(ty),
    }
}

/// All values of a type.
pub(crate) fn unrestricted(ty: &SizedTy) -> Space<Size> {
    match ty {
        SizedTy::Scalar(ScalarTy::Real) => Space::Real,
        SizedTy::Scalar(ScalarTy::Int | ScalarTy::Bool) => Space::Discrete,
        SizedTy::Variant(_) | SizedTy::Fun(..) => Space::Discrete,
        SizedTy::Array(size, elem) => Space::Array(size.clone(), Box::new(unrestricted(elem))),
        SizedTy::Tuple(items) => Space::Tuple(items.iter().map(unrestricted).collect()),
        SizedTy::Record(fields) => {
            let field = |(label, ty): &(Rc<str>, SizedTy)| (label.clone(), unrestricted(ty));
            Space::Record(fields.iter().map(field).collect())
        }
    }
}

/// Values of sizes by name.
pub(crate) type Sizes = HashMap<Arc<str>, usize>;

impl Space<Size> {
    /// The space with the values of its sizes.
    ///
    /// # Errors
    /// The first size without a value.
    pub(crate) fn at(&self, known: &Sizes) -> Result<Space<usize>, Size> {
        let of = |size: &Size| value(size, known).ok_or_else(|| size.clone());
        Ok(match self {
            Space::Real => Space::Real,
            Space::OneBased => Space::OneBased,
            Space::Discrete => Space::Discrete,
            Space::Of(kind, size) => Space::Of(kind, of(size)?),
            Space::Array(size, elem) => Space::Array(of(size)?, Box::new(elem.at(known)?)),
            Space::Tuple(items) => {
                Space::Tuple(items.iter().map(|item| item.at(known)).collect::<Result<_, _>>()?)
            }
            Space::Record(fields) => {
                let field =
                    |(label, space): &(Rc<str>, Space<Size>)| Ok((label.clone(), space.at(known)?));
                Space::Record(fields.iter().map(field).collect::<Result<_, Size>>()?)
            }
        })
    }

    /// Makes indices count from 0 that count from 1 in files.
    pub(crate) fn count_from_zero(&self, data: &mut Data) {
        match (self, data) {
            (Space::OneBased, Data::Tensor(tensor)) => one_less(tensor),
            (Space::Array(_, elem), Data::Array(items)) => {
                items.iter_mut().for_each(|item| elem.count_from_zero(item));
            }
            (Space::Array(_, elem), data) => elem.count_from_zero(data),
            (Space::Tuple(spaces), Data::Tuple(items)) => {
                spaces.iter().zip(items).for_each(|(space, item)| space.count_from_zero(item));
            }
            (Space::Record(spaces), Data::Record(items)) => {
                spaces
                    .iter()
                    .zip(items)
                    .for_each(|((_, space), (_, item))| space.count_from_zero(item));
            }
            _ => {}
        }
    }

    /// Adds the arrays of indices that count from 1 in files, with their places: `edges[2].from`.
    pub(crate) fn indices(&self, data: &Data, place: String, all: &mut Vec<(String, Tensor)>) {
        match (self, data) {
            (Space::OneBased, Data::Tensor(tensor)) => all.push((place, tensor.clone())),
            (Space::Array(_, elem), Data::Array(items)) => {
                for (k, item) in items.iter().enumerate() {
                    elem.indices(item, format!("{place}[{k}]"), all);
                }
            }
            (Space::Array(_, elem), data) => elem.indices(data, place, all),
            (Space::Tuple(spaces), Data::Tuple(items)) => {
                for (k, (space, item)) in spaces.iter().zip(items).enumerate() {
                    space.indices(item, format!("{place}.{k}"), all);
                }
            }
            (Space::Record(spaces), Data::Record(items)) => {
                for ((label, space), (_, item)) in spaces.iter().zip(items) {
                    space.indices(item, format!("{place}.{label}"), all);
                }
            }
            _ => {}
        }
    }

    /// Whether it has values that count from 1 in files.
    pub(crate) fn counts_from_one(&self) -> bool {
        match self {
            Space::OneBased => true,
            Space::Array(_, elem) => elem.counts_from_one(),
            Space::Tuple(items) => items.iter().any(Space::counts_from_one),
            Space::Record(fields) => fields.iter().any(|(_, space)| space.counts_from_one()),
            _ => false,
        }
    }
}

fn one_less(tensor: &mut Tensor) {
    if let Elements::Int(values) = &mut tensor.data {
        values.iter_mut().for_each(|k| *k = k.wrapping_sub(1));
    }
}

impl<S> Space<S> {
    /// Whether all its values consist of reals.
    pub(crate) fn is_real(&self) -> bool {
        match self {
            Space::Real | Space::Of(..) => true,
            Space::OneBased | Space::Discrete => false,
            Space::Array(_, elem) => elem.is_real(),
            Space::Tuple(items) => items.iter().all(Space::is_real),
            Space::Record(fields) => fields.iter().all(|(_, space)| space.is_real()),
        }
    }

    /// Whether its coordinates are its values.
    pub(crate) fn is_free(&self) -> bool {
        match self {
            Space::Real | Space::OneBased | Space::Discrete => true,
            Space::Of(..) => false,
            Space::Array(_, elem) => elem.is_free(),
            Space::Tuple(items) => items.iter().all(Space::is_free),
            Space::Record(fields) => fields.iter().all(|(_, space)| space.is_free()),
        }
    }
}

/// An array of reals in a value: its name and its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name: `theta`, `theta.scale` for a field.
    pub name: String,
    /// Its sizes, outermost first.
    pub dims: Vec<usize>,
}

impl Variable {
    /// Number of reals.
    pub fn count(&self) -> usize {
        self.dims.iter().product()
    }
}

impl Space<usize> {
    /// The arrays of reals of a value called `name`, or of its coordinates, in the order of array
    /// code.
    pub(crate) fn variables(&self, name: &str, coordinates: bool) -> Vec<Variable> {
        let mut all = Vec::new();
        self.add(name.to_string(), &mut Vec::new(), coordinates, &mut all);
        all
    }

    /// Whether the coordinates of each of the arrays of `variables` are values.
    pub(crate) fn free_parts(&self) -> Vec<bool> {
        match self {
            Space::Real | Space::OneBased | Space::Discrete => vec![true],
            Space::Of(..) => vec![false],
            Space::Array(_, elem) => elem.free_parts(),
            Space::Tuple(items) => items.iter().flat_map(Space::free_parts).collect(),
            Space::Record(fields) => fields.iter().flat_map(|(_, s)| s.free_parts()).collect(),
        }
    }

    fn add(&self, name: String, outer: &mut Vec<usize>, free: bool, all: &mut Vec<Variable>) {
        let leaf = |inner: &[usize]| {
            let dims = outer.iter().chain(inner).copied().collect();
            Variable { name: name.clone(), dims }
        };
        match self {
            Space::Real | Space::OneBased | Space::Discrete => all.push(leaf(&[])),
            Space::Of(kind, size) if free => all.push(leaf(&kind.coordinates(*size))),
            Space::Of(kind, size) => all.push(leaf(&vec![*size; kind.rank])),
            Space::Array(size, elem) => {
                outer.push(*size);
                elem.add(name, outer, free, all);
                outer.pop();
            }
            Space::Tuple(items) => {
                for (k, item) in items.iter().enumerate() {
                    item.add(format!("{name}.{k}"), outer, free, all);
                }
            }
            Space::Record(fields) => {
                for (label, space) in fields {
                    space.add(format!("{name}.{label}"), outer, free, all);
                }
            }
        }
    }
}

/// The value of a size.
fn value(size: &Size, known: &Sizes) -> Option<usize> {
    match size {
        Size::Any => None,
        Size::Const(value) => usize::try_from(*value).ok(),
        Size::Var(name) => known.get(name).copied(),
        Size::Expr(text) => {
            let (expr, _) = lambada_surface::parse_expr(text, FileId(0));
            usize::try_from(computed(&expr, known)?).ok()
        }
    }
}

fn computed(expr: &Expr, known: &Sizes) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(value) => Some(*value),
        // Outside of its signature, a capital name looks like a constructor.
        ExprKind::Var(name) | ExprKind::Con(name) => i64::try_from(*known.get(&**name)?).ok(),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (computed(a, known)?, computed(b, known)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                BinaryOp::FloorDiv => (b != 0).then(|| a.div_euclid(b)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Adds the sizes that a value has to those that are known.
pub(crate) fn learn(ty: &SizedTy, data: &Data, known: &mut Sizes) {
    match (ty, data) {
        (SizedTy::Array(..), Data::Tensor(tensor)) => {
            let mut at = ty;
            for dim in &tensor.dims {
                let SizedTy::Array(size, elem) = at else { return };
                note(size, *dim, known);
                at = elem;
            }
        }
        (SizedTy::Array(size, elem), Data::Array(items)) => {
            note(size, items.len(), known);
            items.iter().take(1).for_each(|item| learn(elem, item, known));
        }
        (SizedTy::Tuple(types), Data::Tuple(items)) => {
            types.iter().zip(items).for_each(|(ty, item)| learn(ty, item, known));
        }
        (SizedTy::Record(types), Data::Record(items)) => {
            types.iter().zip(items).for_each(|((_, ty), (_, item))| learn(ty, item, known));
        }
        _ => {}
    }
}

/// Adds the value of a size.
pub(crate) fn note(size: &Size, found: usize, known: &mut Sizes) {
    if let Size::Var(name) = size {
        known.entry(name.clone()).or_insert(found);
    }
}

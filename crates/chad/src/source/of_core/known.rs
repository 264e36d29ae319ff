//! The static part of a term of `core` when it is read: sizes and indices are numbers, functions of
//! arrays are code.

use std::collections::HashMap;

use lambada_core::{self as core, Size, SizedTy};
use lambada_prim::{Scalar, ScalarTy};
use lambada_source::Span;

use super::outside::{INTEGERS, REALS, ROWS, SIZES};
use super::{Outside, Term, component, outside, tuple};
use crate::var::Name;

/// The meaning of a term, as far as it is static.
#[derive(Clone)]
pub enum PartiallyStatic {
    /// A term of the source language; its type in `core` mentions no array.
    Term(Term),
    /// An array of reals with these sizes, as a vector.
    Array(Term, Vec<usize>),
    /// A tuple, or a record.
    Tuple(Vec<PartiallyStatic>),
    /// An array of n tuples, as arrays of their components.
    Rows(usize, Vec<PartiallyStatic>),
    /// An integer or a truth value.
    Static(Scalar),
    /// In a loop: its value for each index.
    Each(usize, Vec<Scalar>),
    /// An array of integers or truth values.
    Table(Vec<Scalar>),
    /// A function that is no term of the source language, with its environment.
    Code(core::Term, HashMap<u32, PartiallyStatic>),
}

impl PartiallyStatic {
    /// A value of the given type, as a term.
    pub fn of_type(ty: &core::Ty, sized: Option<&SizedTy>, t: Term) -> PartiallyStatic {
        if let Some(dims) = dimensions(ty, sized) {
            return PartiallyStatic::Array(t, dims);
        }
        match ty {
            core::Ty::Tuple(_) | core::Ty::Record(_) => {
                let items = ty.components();
                let part = |(k, item)| {
                    PartiallyStatic::of_type(
                        item,
                        sized_component(sized, k),
                        component(t.clone(), k, items.len()),
                    )
                };
                let parts: Vec<PartiallyStatic> = items.iter().enumerate().map(part).collect();
                if parts.iter().all(|part| part.plain().is_some()) {
                    PartiallyStatic::Term(t)
                } else {
                    PartiallyStatic::Tuple(parts)
                }
            }
            core::Ty::Scalar(_) | core::Ty::Array(_) | core::Ty::Fun(..) | core::Ty::Variant(_) => {
                PartiallyStatic::Term(t)
            }
        }
    }

    /// The value of a construct at this place, unless a part of the construct gave it.
    pub fn at(self, place: Span) -> PartiallyStatic {
        self.changed(|t| t.called(&Name::at(place)))
    }

    /// The value where a variable for it is mentioned.
    pub fn again(&self, place: Span) -> PartiallyStatic {
        self.clone().changed(|t| t.moved(place))
    }

    /// Changes the term, if the whole value is one.
    fn changed(self, change: impl Fn(Term) -> Term) -> PartiallyStatic {
        if let PartiallyStatic::Term(t) = self {
            PartiallyStatic::Term(change(t))
        } else if let PartiallyStatic::Array(t, dims) = self {
            PartiallyStatic::Array(change(t), dims)
        } else {
            self
        }
    }

    /// As a term.
    pub fn term(&self, span: Span) -> Result<Term, Outside> {
        match self {
            PartiallyStatic::Term(t) | PartiallyStatic::Array(t, _) => Ok(t.clone()),
            PartiallyStatic::Tuple(items) => {
                Ok(tuple(&items.iter().map(|item| item.term(span)).collect::<Result<Vec<_>, _>>()?))
            }
            PartiallyStatic::Rows(..) => outside(span, "an array of tuples", ROWS),
            PartiallyStatic::Static(value) => {
                outside(span, format!("a constant of type `{}`", value.ty()), INTEGERS)
            }
            PartiallyStatic::Each(..) => {
                outside(span, "an integer that depends on the index of a loop", INTEGERS)
            }
            PartiallyStatic::Table(_) => outside(span, "an array of integers", INTEGERS),
            PartiallyStatic::Code(..) => {
                outside(span, "a function of arrays or of integers that is used as a value", REALS)
            }
        }
    }

    /// As a term, where no sizes are lost by that.
    pub fn plain(&self) -> Option<Term> {
        match self {
            PartiallyStatic::Term(t) => Some(t.clone()),
            PartiallyStatic::Tuple(items) => {
                Some(tuple(&items.iter().map(PartiallyStatic::plain).collect::<Option<Vec<_>>>()?))
            }
            PartiallyStatic::Array(..)
            | PartiallyStatic::Rows(..)
            | PartiallyStatic::Static(_)
            | PartiallyStatic::Each(..)
            | PartiallyStatic::Table(_)
            | PartiallyStatic::Code(..) => None,
        }
    }

    /// As a constant.
    pub fn scalar(&self) -> Option<Scalar> {
        if let PartiallyStatic::Static(value) = self { Some(*value) } else { None }
    }

    /// The size of an array.
    pub fn size(&self, axis: usize, span: Span) -> Result<usize, Outside> {
        match self {
            PartiallyStatic::Array(_, dims) => Ok(dims[axis]),
            PartiallyStatic::Rows(n, _) if axis == 0 => Ok(*n),
            PartiallyStatic::Table(values) if axis == 0 => Ok(values.len()),
            PartiallyStatic::Rows(..) | PartiallyStatic::Table(_) => {
                outside(span, "an array of arrays", ROWS)
            }
            PartiallyStatic::Term(_)
            | PartiallyStatic::Tuple(_)
            | PartiallyStatic::Static(_)
            | PartiallyStatic::Each(..)
            | PartiallyStatic::Code(..) => outside(span, "the size of an array", SIZES),
        }
    }
}

/// A function of scalars, where all arguments are known, for each index of a loop at least; `None`
/// if one is not, or if the function fails.
pub fn lift(
    args: &[PartiallyStatic],
    f: impl Fn(&[Scalar]) -> Option<Scalar>,
) -> Option<PartiallyStatic> {
    let mut around: Option<(usize, usize)> = None;
    for arg in args {
        match arg {
            PartiallyStatic::Static(_) => {}
            PartiallyStatic::Each(l, values) if around.is_none_or(|(other, _)| other == *l) => {
                around = Some((*l, values.len()))
            }
            PartiallyStatic::Each(..)
            | PartiallyStatic::Term(_)
            | PartiallyStatic::Array(..)
            | PartiallyStatic::Tuple(_)
            | PartiallyStatic::Rows(..)
            | PartiallyStatic::Table(_)
            | PartiallyStatic::Code(..) => {
                return None;
            }
        }
    }
    let at = |i: usize| {
        let scalar = |arg: &PartiallyStatic| {
            if let PartiallyStatic::Each(_, values) = arg { Some(values[i]) } else { arg.scalar() }
        };
        f(&args.iter().map(scalar).collect::<Option<Vec<_>>>()?)
    };
    match around {
        None => at(0).map(PartiallyStatic::Static),
        Some((l, n)) => (0..n)
            .map(at)
            .collect::<Option<Vec<_>>>()
            .map(|values| PartiallyStatic::Each(l, values)),
    }
}

/// The sizes of an array of reals, if the signature says them all.
pub fn dimensions(ty: &core::Ty, sized: Option<&SizedTy>) -> Option<Vec<usize>> {
    let (core::Ty::Array(elem), SizedTy::Array(Size::Const(n), item)) = (ty, sized?) else {
        return None;
    };
    let n = usize::try_from(*n).ok()?;
    if let core::Ty::Scalar(ScalarTy::Real) = **elem {
        Some(vec![n])
    } else {
        Some([vec![n], dimensions(elem, Some(item))?].concat())
    }
}

/// Whether it is an array of reals, of any rank.
pub fn of_reals(ty: &core::Ty) -> bool {
    matches!(ty, core::Ty::Array(elem) if **elem == core::Ty::REAL || of_reals(elem))
}

/// The signature's type of a component of a tuple or record.
pub fn sized_component(sized: Option<&SizedTy>, k: usize) -> Option<&SizedTy> {
    match sized? {
        SizedTy::Tuple(items) => items.get(k),
        SizedTy::Record(fields) => fields.get(k).map(|(_, item)| item),
        SizedTy::Scalar(_) | SizedTy::Array(..) | SizedTy::Fun(..) | SizedTy::Variant(_) => None,
    }
}

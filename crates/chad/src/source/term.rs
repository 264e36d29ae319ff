//! The names of the source language, and its derived forms.

use crate::lambda::{self, Source};
pub use crate::lambda::{
    abs, app, constant, fst, lam, let_, op, op_at, pair, prim, snd, tuple, unit, var,
};
use crate::primitives::Primitive;

/// A type.
pub type Ty = lambda::Ty<Source>;

/// A variable.
pub type Var = lambda::Var<Source>;

/// A term.
pub type Term = lambda::Term<Source>;

/// A construct.
pub type Kind = lambda::Kind<Source>;

/// The instance of a row of Figure 2.
pub type Instance = lambda::Instance<Source>;

/// A row of Figure 2.
pub type Equation = lambda::Equation<Source>;

/// P-1, P-2: `map <f, <v1, .., vk>>` for `f : real^k -> real` and k vectors of size n; `zipWith`
/// for k = 2.
pub fn map(f: Term, vectors: &[Term]) -> Term {
    let Ty::Real(n) = *vectors[0].ty() else { panic!("{} is not a vector", vectors[0]) };
    prim(Primitive::Map { arity: vectors.len(), n }, pair(f, tuple(vectors)))
}

/// P-3: `fold <f, <z, v>> := snd (scan <f, <z, v>>)`, from the left:
/// `f(.. f(f(z, v_1), v_2) .., v_n)`
pub fn fold(f: Term, z: Term, v: Term) -> Term {
    let Ty::Real(n) = *v.ty() else { panic!("{v} is not a vector") };
    snd(prim(Primitive::Scan { n }, pair(f, pair(z, v))))
}

/// P-6: `build_n f := map <f, [0, .., n - 1]>`. The cotangent of a constant is dropped.
pub fn build(n: usize, f: Term) -> Term {
    map(f, &[constant((0..n).map(|i| i as f64).collect::<Vec<_>>())])
}

#[cfg(test)]
mod tests;

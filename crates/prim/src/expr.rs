//! Scalar expressions over the arguments of a primitive: the form in which partial derivatives are written down.

use crate::{Prim, Scalar};

/// An expression over the arguments and the result of one application of a primitive.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// The k-th argument.
    Arg(usize),
    /// The result of the application itself: `exp` is its own derivative.
    Out,
    /// A constant.
    Lit(Scalar),
    /// A primitive applied to expressions.
    Prim(Prim, Vec<Expr>),
}

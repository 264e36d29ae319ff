//! What a definition looks like from outside. Array code knows parameters and results that are
//! arrays of scalars; what tuples, records and variants they are part of, the caller says.

use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::{Expr, TypeExpr};

use crate::declared::Declared;

/// The head of a definition, and how it fits the function.
pub struct Interface<'a> {
    /// What it is called.
    pub name: Rc<str>,
    /// Its doc comment.
    pub doc: Option<Rc<str>>,
    /// The sizes in brackets. A size of the function of this name is this one; others are computed
    /// from the leaves.
    pub sizes: Vec<Rc<str>>,
    /// What the parameters are called, and their types.
    pub params: Vec<(Rc<str>, TypeExpr)>,
    /// One for each parameter of the function.
    pub leaves: Vec<Leaf<'a>>,
    /// The type of the result.
    pub result: Option<TypeExpr>,
    /// What the results of the function are called.
    pub results: Vec<Rc<str>>,
    /// Does the result mention each of its parts just once? Otherwise they are given names.
    pub linear: bool,
    /// The result, from the results of the function.
    pub compose: &'a dyn Fn(Vec<Expr>) -> Expr,
    /// Which parameters of the definition are cotangents: what depends on them is the reverse
    /// sweep.
    pub seeds: Vec<usize>,
    /// The recursive types that the text has definitions of.
    pub types: Vec<Declared>,
    /// Where something of the program stands, `ode.lam:19`, if that is worth saying.
    pub place: &'a dyn Fn(Span) -> Option<String>,
}

/// A parameter of the function as a part of a parameter of the definition.
pub struct Leaf<'a> {
    /// Which parameter.
    pub param: usize,
    /// How it is read.
    pub reading: Reading<'a>,
}

/// How a part of a parameter is read.
pub enum Reading<'a> {
    /// It is the parameter.
    Whole,
    /// A few fields and components, written wherever it is used.
    Path(Box<dyn Fn(Expr) -> Expr + 'a>),
    /// An expression that is worth a name.
    Computed(Rc<str>, Box<dyn Fn(Expr) -> Expr + 'a>),
}

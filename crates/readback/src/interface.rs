//! The head of a definition. In array code, parameters and results are arrays of scalars; the
//! caller supplies the tuples, records and variants around them.

use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::{Expr, TypeExpr};

use crate::declared::Declared;

/// The head of a definition, and its relation to the function.
pub struct Interface<'a> {
    /// The name of the definition.
    pub name: Rc<str>,
    /// Its doc comment.
    pub doc: Option<Rc<str>>,
    /// The sizes in brackets. A size of the function with one of these names is that size; its
    /// other sizes are computed from the leaves.
    pub sizes: Vec<Rc<str>>,
    /// Names and types of the parameters.
    pub params: Vec<(Rc<str>, TypeExpr)>,
    /// One for each parameter of the function.
    pub leaves: Vec<Leaf<'a>>,
    /// The type of the result.
    pub result: Option<TypeExpr>,
    /// Names of the function's results.
    pub results: Vec<Rc<str>>,
    /// Whether the result mentions each of its parts just once. If not, they get names.
    pub linear: bool,
    /// The result, from the results of the function.
    pub compose: &'a dyn Fn(Vec<Expr>) -> Expr,
    /// The parameters that are cotangents: their dependents form the reverse sweep.
    pub seeds: Vec<usize>,
    /// The recursive types that the text defines.
    pub types: Vec<Declared>,
    /// The place of a span in the program, such as `ode.lam:19`, if worth mentioning.
    pub place: &'a dyn Fn(Span) -> Option<String>,
}

/// A parameter of the function as a part of a parameter of the definition.
pub struct Leaf<'a> {
    /// Index of the parameter.
    pub param: usize,
    /// The way to read it.
    pub reading: Reading<'a>,
}

/// The way to read a part of a parameter.
pub enum Reading<'a> {
    /// The part is the parameter.
    Whole,
    /// A short path of fields and components, written wherever it is used.
    Path(Box<dyn Fn(Expr) -> Expr + 'a>),
    /// An expression that is worth a name.
    Computed(Rc<str>, Box<dyn Fn(Expr) -> Expr + 'a>),
}

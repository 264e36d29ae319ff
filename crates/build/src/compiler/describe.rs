//! What a C library offers, as data: for each function its arguments and results, with names, types
//! and sizes.

use lambada::{Operator, Target};
use lambada_prim::{Precision, ScalarTy};

use super::sizes::Extent;

/// A library of C.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    /// What it is called; every name in it begins so.
    pub name: String,
    /// The file of the program.
    pub source: String,
    /// What the program's file says of itself.
    pub doc: Option<String>,
    /// How many bits its reals have.
    pub precision: Precision,
    /// For which processors it has versions of its code. The first one runs where no other does.
    pub processors: Vec<Target>,
    /// The functions.
    pub functions: Vec<Function>,
}

/// A function of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name, without that of the library: `loss_grad`.
    pub name: String,
    /// The definition: `loss`.
    pub entry: String,
    /// What it gives besides the value.
    pub operator: Operator,
    /// The definition's doc comment.
    pub doc: Option<String>,
    /// The definition's type.
    pub ty: String,
    /// Its arguments in order: sizes, then parameters.
    pub inputs: Vec<Input>,
    /// Its results in order.
    pub outputs: Vec<Output>,
    /// For values of recursive types: the constructors by their numbers, with their fields.
    pub rows: Vec<Rows>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name in C.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Its elements.
    pub elem: ScalarTy,
    /// Its sizes; none of a scalar.
    pub dims: Vec<Extent>,
    /// Of the tag of a variant: the names of the constructors, which it counts from 0.
    pub constructors: Vec<String>,
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name in C.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Its elements.
    pub elem: ScalarTy,
    /// Its sizes.
    pub dims: Dims,
    /// Of the tag of a variant: the names of the constructors, which it counts from 0.
    pub constructors: Vec<String>,
}

/// The sizes of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Dims {
    /// They follow from the arguments, so the caller makes the room; none of a scalar.
    Known(Vec<Extent>),
    /// The call finds them out. The result stays in the context until its next call, and the sizes
    /// are results, of these names.
    Found(Vec<String>),
}

/// What an argument or a result is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A size of arrays.
    Size,
    /// The parameter of this name, or a part of it; of a result, the value.
    Value(String),
    /// The tangent of this parameter or part; of a result, of the value.
    Tangent(String),
    /// The cotangent of this parameter or part; of an argument, of the value.
    Cotangent(String),
    /// Rows of a value of a recursive type.
    Rows(String),
}

/// The constructors of the recursive types of an argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// How the names of the columns begin.
    pub name: String,
    /// In the order of their numbers: the name, and the types of the fields as they stand in the
    /// rows.
    pub constructors: Vec<(String, Vec<String>)>,
}

impl Role {
    /// As people read it.
    pub fn text(&self) -> String {
        match self {
            Role::Size => "a size".to_string(),
            Role::Value(of) if of.is_empty() => "the value".to_string(),
            Role::Value(of) => format!("`{of}`"),
            Role::Tangent(of) if of.is_empty() => "the tangent of the value".to_string(),
            Role::Tangent(of) => format!("the tangent of `{of}`"),
            Role::Cotangent(of) if of.is_empty() => "the cotangent of the value".to_string(),
            Role::Cotangent(of) => format!("the cotangent of `{of}`"),
            Role::Rows(of) if of == "rows" => "rows of the results".to_string(),
            Role::Rows(of) => format!("rows of `{of}`"),
        }
    }
}

//! The interface of a C library as data: for each function its arguments and results, with names,
//! types and sizes.

use lambada::{Operator, Target};
use lambada_prim::{Precision, ScalarTy};

use super::request::Platform;
use super::sizes::Extent;

/// A library of C.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    /// Its name, with which every name in it begins.
    pub name: String,
    /// The file of the program.
    pub source: String,
    /// The doc comment of the program's file.
    pub doc: Option<String>,
    /// Width of its reals.
    pub precision: Precision,
    /// The machines that it runs on.
    pub platform: Platform,
    /// Processors for which it contains versions of its code. The first version is the fallback.
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
    /// The operation whose results it adds to the value.
    pub operator: Operator,
    /// The definition's doc comment.
    pub doc: Option<String>,
    /// The definition's type.
    pub ty: String,
    /// Its arguments in order: sizes, then parameters, then tangents or a cotangent.
    pub inputs: Vec<Input>,
    /// Its results in order.
    pub outputs: Vec<Output>,
    /// For recursive types: the constructors by number, with their fields.
    pub rows: Vec<Rows>,
    /// The arguments without sizes as values of the language, over places among `inputs`.
    pub params: Vec<Whole>,
    /// The value, and the derivative if there is one, over places among `outputs`. A gradient is a
    /// record with a field for each parameter.
    pub results: Vec<Whole>,
}

/// An argument or result of the language, which is several of C.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// Its name.
    pub name: String,
    /// Its parts.
    pub parts: Parts,
    /// For recursive types: the columns of its rows, if they are its own.
    pub columns: Vec<usize>,
}

/// The parts of a value, each by its place among the arguments or results of C.
#[derive(Clone, Debug, PartialEq)]
pub enum Parts {
    /// A scalar or an array of scalars; `None` if C has nothing for it, as for a derivative by an
    /// integer.
    Leaf(Option<usize>),
    /// A tuple.
    Tuple(Vec<Parts>),
    /// A record with its fields in declared order.
    Record(Vec<(String, Parts)>),
    /// An array with this number of axes, of elements that are no scalars. The parts are arrays
    /// with these axes first.
    Array(usize, Box<Parts>),
    /// A variant: the tag, which derivatives lack, and the fields of all constructors.
    Variant(Option<usize>, Vec<(String, Vec<Parts>)>),
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name in C.
    pub name: String,
    /// Its meaning.
    pub role: Role,
    /// Its element type.
    pub elem: ScalarTy,
    /// Its sizes; empty for a scalar.
    pub dims: Vec<Extent>,
    /// For the tag of a variant: the names of the constructors, numbered from 0.
    pub constructors: Vec<String>,
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name in C.
    pub name: String,
    /// Its meaning.
    pub role: Role,
    /// Its element type.
    pub elem: ScalarTy,
    /// Its sizes.
    pub dims: Dims,
    /// For the tag of a variant: the names of the constructors, numbered from 0.
    pub constructors: Vec<String>,
}

/// The sizes of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Dims {
    /// Computed from the arguments, so the caller allocates the result; empty for a scalar.
    Known(Vec<Extent>),
    /// Determined by the call. The result stays in the context until its next call, and further
    /// results with these names are its sizes.
    Found(Vec<String>),
}

/// The meaning of an argument or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A size of arrays.
    Size,
    /// A parameter or a part of one; for a result, a part of the value.
    Value(String),
    /// The tangent of a parameter or part; for a result, of the value.
    Tangent(String),
    /// The cotangent of a parameter or part; for an argument, of the value.
    Cotangent(String),
    /// Rows of a value of a recursive type.
    Rows(String),
}

/// The constructors of the recursive types of an argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Prefix of the names of the columns.
    pub name: String,
    /// For each constructor number: the name, and the types of the fields in a row.
    pub constructors: Vec<(String, Vec<String>)>,
}

impl Role {
    /// A description for readers.
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

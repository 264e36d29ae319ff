//! What calls are lent, and what they give: elements where they are.

use lambada_prim::{Data, Scalar, ScalarTy, Tensor};

/// The elements of an array that a call is lent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lent<'a> {
    /// Reals.
    Real(&'a [f64]),
    /// Integers.
    Int(&'a [i64]),
    /// Truth values.
    Bool(&'a [bool]),
}

impl<'a> From<&'a Data> for Lent<'a> {
    fn from(data: &'a Data) -> Lent<'a> {
        match data {
            Data::Real(values) => Lent::Real(values),
            Data::Int(values) => Lent::Int(values),
            Data::Bool(values) => Lent::Bool(values),
        }
    }
}

impl Lent<'_> {
    /// The type of the elements.
    pub fn ty(self) -> ScalarTy {
        match self {
            Lent::Real(_) => ScalarTy::Real,
            Lent::Int(_) => ScalarTy::Int,
            Lent::Bool(_) => ScalarTy::Bool,
        }
    }

    /// A `bool` of Rust is a byte that is 0 or 1, as in C.
    pub(crate) fn address(self) -> u64 {
        match self {
            Lent::Real(values) => values.as_ptr() as u64,
            Lent::Int(values) => values.as_ptr() as u64,
            Lent::Bool(values) => values.as_ptr() as u64,
        }
    }

    pub(crate) fn copied(self) -> Data {
        match self {
            Lent::Real(values) => Data::Real(values.to_vec()),
            Lent::Int(values) => Data::Int(values.to_vec()),
            Lent::Bool(values) => Data::Bool(values.to_vec()),
        }
    }
}

/// The elements of an array that a call gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Reals.
    Real(&'a [f64]),
    /// Integers.
    Int(&'a [i64]),
    /// Truth values: what is not 0 is true.
    Bool(&'a [u8]),
}

/// A result, good until the call is dropped or runs again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Got<'a> {
    /// A number or a truth value.
    Scalar(Scalar),
    /// An array: its sizes, outermost first, and its elements in row-major order.
    Array(&'a [u64], Elements<'a>),
}

impl Got<'_> {
    /// A copy.
    pub fn tensor(self) -> Tensor {
        match self {
            Got::Scalar(value) => Tensor::scalar(value),
            Got::Array(dims, elements) => Tensor {
                dims: dims.iter().map(|size| *size as usize).collect(),
                data: match elements {
                    Elements::Real(values) => Data::Real(values.to_vec()),
                    Elements::Int(values) => Data::Int(values.to_vec()),
                    Elements::Bool(bytes) => Data::Bool(bytes.iter().map(|b| *b != 0).collect()),
                },
            },
        }
    }
}

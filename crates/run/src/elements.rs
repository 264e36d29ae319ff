//! What calls are lent, and what they give: elements where they are.

use std::borrow::Cow;

use lambada_prim::pages::gathered;
use lambada_prim::{Data, Precision, Scalar, ScalarTy, Tensor};

/// The elements of an array that a call is lent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lent<'a> {
    /// Reals of 64 bits.
    Real(&'a [f64]),
    /// Reals of 32 bits.
    Single(&'a [f32]),
    /// Integers.
    Int(&'a [i64]),
    /// Truth values.
    Bool(&'a [bool]),
}

impl<'a> From<&'a Data> for Lent<'a> {
    #[inline]
    fn from(data: &'a Data) -> Lent<'a> {
        match data {
            Data::Real(values) => Lent::Real(values),
            Data::Int(values) => Lent::Int(values),
            Data::Bool(values) => Lent::Bool(values),
        }
    }
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument<'a> {
    /// A number or a truth value.
    Scalar(Scalar),
    /// An array: its sizes, outermost first, and its elements in row-major order.
    Array(&'a [usize], Lent<'a>),
}

impl<'a> From<&'a Tensor> for Argument<'a> {
    #[inline]
    fn from(tensor: &'a Tensor) -> Argument<'a> {
        match tensor.as_scalar() {
            Some(value) => Argument::Scalar(value),
            None => Argument::Array(&tensor.dims, (&tensor.data).into()),
        }
    }
}

impl Argument<'_> {
    /// The type of its elements, and whether it is a scalar.
    #[inline]
    pub(crate) fn ty(self) -> (ScalarTy, bool) {
        match self {
            Argument::Scalar(value) => (value.ty(), true),
            Argument::Array(_, elements) => (elements.ty(), false),
        }
    }

    /// A copy.
    pub fn tensor(self) -> Tensor {
        match self {
            Argument::Scalar(value) => Tensor::scalar(value),
            Argument::Array(dims, elements) => {
                Tensor { dims: dims.to_vec(), data: elements.copied() }
            }
        }
    }
}

impl<'a> Lent<'a> {
    /// The type of the elements.
    #[inline]
    pub fn ty(self) -> ScalarTy {
        match self {
            Lent::Real(_) | Lent::Single(_) => ScalarTy::Real,
            Lent::Int(_) => ScalarTy::Int,
            Lent::Bool(_) => ScalarTy::Bool,
        }
    }

    /// A `bool` of Rust is a byte that is 0 or 1, as in C.
    #[inline]
    pub(crate) fn address(self) -> u64 {
        match self {
            Lent::Real(values) => values.as_ptr() as u64,
            Lent::Single(values) => values.as_ptr() as u64,
            Lent::Int(values) => values.as_ptr() as u64,
            Lent::Bool(values) => values.as_ptr() as u64,
        }
    }

    /// The elements as a program takes them whose reals have so many bits; nothing if it takes them
    /// as they are.
    #[inline]
    pub(crate) fn converted(self, precision: Precision) -> Option<Converted> {
        match (self, precision) {
            (Lent::Real(values), Precision::F32) => Some(Converted::narrowed(values)),
            (Lent::Single(values), Precision::F64) => Some(Converted::widened(values)),
            (Lent::Real(_) | Lent::Single(_) | Lent::Int(_) | Lent::Bool(_), _) => None,
        }
    }

    /// A copy.
    pub fn copied(self) -> Data {
        match self {
            Lent::Real(values) => Data::Real(gathered(values.iter().copied())),
            Lent::Single(values) => Data::Real(values.iter().map(|x| f64::from(*x)).collect()),
            Lent::Int(values) => Data::Int(gathered(values.iter().copied())),
            Lent::Bool(values) => Data::Bool(values.to_vec()),
        }
    }
}

/// What a program takes instead of elements that it is lent.
pub(crate) enum Converted {
    Real(Box<[f64]>),
    Single(Box<[f32]>),
}

impl Converted {
    #[cold]
    fn narrowed(values: &[f64]) -> Converted {
        Converted::Single(values.iter().map(|x| *x as f32).collect())
    }

    #[cold]
    fn widened(values: &[f32]) -> Converted {
        Converted::Real(values.iter().map(|x| f64::from(*x)).collect())
    }

    pub fn address(&self) -> u64 {
        match self {
            Converted::Real(values) => values.as_ptr() as u64,
            Converted::Single(values) => values.as_ptr() as u64,
        }
    }
}

/// The elements of an array that a call gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Reals of 64 bits.
    Real(&'a [f64]),
    /// Reals of 32 bits: what machine code gives that computes with them.
    Single(&'a [f32]),
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

impl<'a> Elements<'a> {
    /// Reals as numbers of 64 bits; nothing for other elements.
    pub fn reals(self) -> Option<Cow<'a, [f64]>> {
        match self {
            Elements::Real(values) => Some(Cow::Borrowed(values)),
            Elements::Single(values) => {
                Some(values.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>().into())
            }
            Elements::Int(_) | Elements::Bool(_) => None,
        }
    }

    /// Reals as numbers of 32 bits; nothing for other elements.
    pub fn singles(self) -> Option<Cow<'a, [f32]>> {
        match self {
            Elements::Real(values) => {
                Some(values.iter().map(|x| *x as f32).collect::<Vec<f32>>().into())
            }
            Elements::Single(values) => Some(Cow::Borrowed(values)),
            Elements::Int(_) | Elements::Bool(_) => None,
        }
    }
}

impl Got<'_> {
    /// A copy.
    pub fn tensor(self) -> Tensor {
        match self {
            Got::Scalar(value) => Tensor::scalar(value),
            Got::Array(dims, elements) => Tensor {
                dims: dims.iter().map(|size| *size as usize).collect(),
                data: match elements {
                    Elements::Real(values) => Data::Real(gathered(values.iter().copied())),
                    Elements::Single(values) => {
                        Data::Real(gathered(values.iter().map(|x| f64::from(*x))))
                    }
                    Elements::Int(values) => Data::Int(gathered(values.iter().copied())),
                    Elements::Bool(bytes) => Data::Bool(bytes.iter().map(|b| *b != 0).collect()),
                },
            },
        }
    }
}

//! Borrowed arguments and results of calls.

use std::borrow::Cow;

use lambada_prim::pages::gathered;
use lambada_prim::{Data, Precision, Scalar, ScalarTy, Tensor};

/// The elements of a borrowed argument.
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
    /// An array: sizes, outermost first, and elements in row-major order.
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
    /// Element type, and whether it is a scalar.
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

    /// The address of the elements in the precision of the program, converted if they have another.
    #[inline]
    pub(crate) fn address_in(self, precision: Precision, converted: &mut Converted) -> u64 {
        match (self, precision) {
            (Lent::Real(values), Precision::F32) => converted.narrow(values),
            (Lent::Single(values), Precision::F64) => converted.widen(values),
            (Lent::Real(_) | Lent::Single(_) | Lent::Int(_) | Lent::Bool(_), _) => self.address(),
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

/// Memory for the converted elements of an argument. Calls reuse it, because the system takes
/// longer to supply new memory than the conversion takes.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    reals: Vec<f64>,
    singles: Vec<f32>,
}

impl Converted {
    #[cold]
    fn narrow(&mut self, values: &[f64]) -> u64 {
        refill(&mut self.singles, values.iter().map(|x| *x as f32))
    }

    #[cold]
    fn widen(&mut self, values: &[f32]) -> u64 {
        refill(&mut self.reals, values.iter().map(|x| f64::from(*x)))
    }
}

/// Replaces the elements; returns their address.
fn refill<T>(all: &mut Vec<T>, elements: impl ExactSizeIterator<Item = T>) -> u64 {
    match all.capacity() < elements.len() {
        true => *all = gathered(elements),
        false => {
            all.clear();
            all.extend(elements);
        }
    }
    all.as_ptr() as u64
}

/// The elements of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Reals of 64 bits.
    Real(&'a [f64]),
    /// Reals of 32 bits, from machine code of that precision.
    Single(&'a [f32]),
    /// Integers.
    Int(&'a [i64]),
    /// Truth values: false is 0.
    Bool(&'a [u8]),
}

/// A result, valid until the call is dropped or runs again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Got<'a> {
    /// A number or a truth value.
    Scalar(Scalar),
    /// An array: sizes, outermost first, and elements in row-major order.
    Array(&'a [u64], Elements<'a>),
}

impl<'a> Elements<'a> {
    /// Reals as 64-bit numbers; `None` for other elements.
    pub fn reals(self) -> Option<Cow<'a, [f64]>> {
        match self {
            Elements::Real(values) => Some(Cow::Borrowed(values)),
            Elements::Single(values) => {
                Some(values.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>().into())
            }
            Elements::Int(_) | Elements::Bool(_) => None,
        }
    }

    /// Reals as 32-bit numbers; `None` for other elements.
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

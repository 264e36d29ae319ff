//! Dense, row-major tensors of scalars: the arguments and results of first-order programs. A scalar
//! is a tensor of rank 0.

use crate::{Scalar, ScalarTy};

/// The elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Reals.
    Real(Vec<f64>),
    /// Integers.
    Int(Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
}

impl Data {
    /// `len` zeros of the type.
    pub fn zeros(ty: ScalarTy, len: usize) -> Data {
        match ty {
            ScalarTy::Real => Data::Real(vec![0.0; len]),
            ScalarTy::Int => Data::Int(vec![0; len]),
            ScalarTy::Bool => Data::Bool(vec![false; len]),
        }
    }

    /// The type of the elements.
    pub fn ty(&self) -> ScalarTy {
        match self {
            Data::Real(_) => ScalarTy::Real,
            Data::Int(_) => ScalarTy::Int,
            Data::Bool(_) => ScalarTy::Bool,
        }
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        match self {
            Data::Real(v) => v.len(),
            Data::Int(v) => v.len(),
            Data::Bool(v) => v.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in a range of positions.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Data {
        match self {
            Data::Real(v) => Data::Real(v[range].to_vec()),
            Data::Int(v) => Data::Int(v[range].to_vec()),
            Data::Bool(v) => Data::Bool(v[range].to_vec()),
        }
    }

    /// The k-th element.
    pub fn get(&self, k: usize) -> Scalar {
        match self {
            Data::Real(v) => Scalar::Real(v[k]),
            Data::Int(v) => Scalar::Int(v[k]),
            Data::Bool(v) => Scalar::Bool(v[k]),
        }
    }

    /// Replaces the k-th element by one of the same type.
    pub fn set(&mut self, k: usize, value: Scalar) {
        match self {
            Data::Real(v) => v[k] = value.real(),
            Data::Int(v) => v[k] = value.int(),
            Data::Bool(v) => v[k] = value.bool(),
        }
    }
}

/// A regular array: `dims` in order, outermost first, and `data` of their product.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The sizes, outermost first; empty for a scalar.
    pub dims: Vec<usize>,
    /// The elements in row-major order.
    pub data: Data,
}

/// Whether the sizes of an array determine this axis. Inside of an array without elements, a 0 may
/// stand for a size that its source, an empty list, does not have; another number is a known size.
pub fn tells(dims: &[usize], axis: usize) -> bool {
    dims[axis] != 0 || !dims[..axis].contains(&0)
}

impl Tensor {
    /// A tensor of rank 0.
    pub fn scalar(value: Scalar) -> Tensor {
        let data = match value {
            Scalar::Real(a) => Data::Real(vec![a]),
            Scalar::Int(a) => Data::Int(vec![a]),
            Scalar::Bool(a) => Data::Bool(vec![a]),
        };
        Tensor { dims: Vec::new(), data }
    }

    /// Zeros of the type and sizes.
    pub fn zeros(ty: ScalarTy, dims: Vec<usize>) -> Tensor {
        let len = dims.iter().product();
        Tensor { dims, data: Data::zeros(ty, len) }
    }

    /// Reals of the sizes, in row-major order.
    pub fn reals(dims: Vec<usize>, data: Vec<f64>) -> Tensor {
        assert_eq!(dims.iter().product::<usize>(), data.len());
        Tensor { dims, data: Data::Real(data) }
    }

    /// The scalar inside a tensor of rank 0.
    pub fn as_scalar(&self) -> Option<Scalar> {
        self.dims.is_empty().then(|| self.data.get(0))
    }

    /// The parts along the first axis, one after the other. There is at least one axis.
    pub fn rows(&self) -> impl Iterator<Item = Tensor> {
        let dims = &self.dims[1..];
        let each: usize = dims.iter().product();
        (0..self.dims[0]).map(move |k| {
            let data = self.data.slice(k * each..(k + 1) * each);
            Tensor { dims: dims.to_vec(), data }
        })
    }

    /// The type of the elements.
    pub fn elem(&self) -> ScalarTy {
        self.data.ty()
    }
}

//! Scalar types and values.

use std::fmt;

/// The three types of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarTy {
    /// Floating point, 64 bits.
    Real,
    /// Signed integer, 64 bits, wrapping.
    Int,
    /// A truth value.
    Bool,
}

impl fmt::Display for ScalarTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScalarTy::Real => "real",
            ScalarTy::Int => "int",
            ScalarTy::Bool => "bool",
        })
    }
}

impl ScalarTy {
    /// The value that is zero: `0.0`, `0`, `false`.
    pub fn zero(self) -> Scalar {
        match self {
            ScalarTy::Real => Scalar::Real(0.0),
            ScalarTy::Int => Scalar::Int(0),
            ScalarTy::Bool => Scalar::Bool(false),
        }
    }
}

/// A scalar. Equality and hashing of reals are by bits, so that `nan = nan` and `0.0 ≠ -0.0`: the
/// equality of program text.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// A real.
    Real(f64),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::Real(a), Scalar::Real(b)) => a.to_bits() == b.to_bits(),
            (Scalar::Int(a), Scalar::Int(b)) => a == b,
            (Scalar::Bool(a), Scalar::Bool(b)) => a == b,
            (Scalar::Real(_) | Scalar::Int(_) | Scalar::Bool(_), _) => false,
        }
    }
}

impl Eq for Scalar {}

impl std::hash::Hash for Scalar {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.ty().hash(state);
        match self {
            Scalar::Real(a) => a.to_bits().hash(state),
            Scalar::Int(a) => a.hash(state),
            Scalar::Bool(a) => a.hash(state),
        }
    }
}

impl Scalar {
    /// Its type.
    pub fn ty(self) -> ScalarTy {
        match self {
            Scalar::Real(_) => ScalarTy::Real,
            Scalar::Int(_) => ScalarTy::Int,
            Scalar::Bool(_) => ScalarTy::Bool,
        }
    }

    /// The real inside. Panics on another type: callers have checked.
    pub fn real(self) -> f64 {
        match self {
            Scalar::Real(a) => a,
            Scalar::Int(_) | Scalar::Bool(_) => panic!("a real was expected, not {self:?}"),
        }
    }

    /// The integer inside. Panics on another type: callers have checked.
    pub fn int(self) -> i64 {
        match self {
            Scalar::Int(a) => a,
            Scalar::Real(_) | Scalar::Bool(_) => panic!("an int was expected, not {self:?}"),
        }
    }

    /// The truth value inside. Panics on another type: callers have checked.
    pub fn bool(self) -> bool {
        match self {
            Scalar::Bool(a) => a,
            Scalar::Real(_) | Scalar::Int(_) => panic!("a bool was expected, not {self:?}"),
        }
    }
}

//! How many bits a real has: said once for a whole program, by a value that its form in each
//! language carries.

use std::fmt;

use crate::{Data, Scalar, ScalarTy};

/// The format of all reals of a program, of IEEE 754.
///
/// In the compiler and in data a real is an `f64` whatever the format. Under [`Precision::F32`] it
/// is a value of `f32`: engines round constants and arguments when they read them, and results of
/// primitives. A sum, difference, product, quotient or root of 32-bit numbers that is computed with
/// 64 bits and then rounded equals the result of 32-bit arithmetic, so all engines agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// 64 bits, about 16 digits.
    #[default]
    F64,
    /// 32 bits, about 7 digits.
    F32,
}

impl Precision {
    /// Both.
    pub const ALL: [Precision; 2] = [Precision::F64, Precision::F32];

    /// `f64` or `f32`.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Precision> {
        Precision::ALL.into_iter().find(|precision| precision.name() == name)
    }

    /// The nearest number of the format, to even where two are.
    #[inline(always)]
    pub fn round(self, x: f64) -> f64 {
        match self {
            Precision::F64 => x,
            Precision::F32 => f64::from(x as f32),
        }
    }

    /// A scalar whose reals are of the format.
    #[inline(always)]
    pub fn scalar(self, value: Scalar) -> Scalar {
        match value {
            Scalar::Real(x) => Scalar::Real(self.round(x)),
            Scalar::Int(_) | Scalar::Bool(_) => value,
        }
    }

    /// Elements whose reals are of the format.
    pub fn elements(self, data: &mut Data) {
        match (self, data) {
            (Precision::F32, Data::Real(items)) => {
                items.iter_mut().for_each(|x| *x = self.round(*x));
            }
            (Precision::F32, Data::Int(_) | Data::Bool(_)) | (Precision::F64, _) => {}
        }
    }

    /// The number to print: the one with the shortest decimals that identify a number of the
    /// format.
    pub fn decimal(self, x: f64) -> f64 {
        match self {
            Precision::F64 => x,
            Precision::F32 => format!("{:?}", x as f32).parse().unwrap_or(x),
        }
    }

    /// How many bytes an element has in memory.
    pub fn bytes(self, elem: ScalarTy) -> u32 {
        match (elem, self) {
            (ScalarTy::Real, Precision::F64) | (ScalarTy::Int, _) => 8,
            (ScalarTy::Real, Precision::F32) => 4,
            (ScalarTy::Bool, _) => 1,
        }
    }

    /// How many reals fit where one of 64 bits does.
    pub fn per_word(self) -> u16 {
        match self {
            Precision::F64 => 1,
            Precision::F32 => 2,
        }
    }

    /// How C spells it.
    pub fn c(self) -> &'static str {
        match self {
            Precision::F64 => "double",
            Precision::F32 => "float",
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prim;

    #[test]
    fn rounding_is_that_of_the_format() {
        assert_eq!(Precision::F64.round(0.1), 0.1);
        assert_eq!(Precision::F32.round(0.1), 0.10000000149011612);
        assert_eq!(Precision::F32.round(1e300), f64::INFINITY);
        assert_eq!(Precision::F32.round(1e-60), 0.0);
        assert!(Precision::F32.round(-1e-60).is_sign_negative());
        assert!(Precision::F32.round(f64::NAN).is_nan());
        assert_eq!(Precision::F32.decimal(0.10000000149011612), 0.1);
        assert_eq!(Precision::F32.decimal(f64::NEG_INFINITY), f64::NEG_INFINITY);
        let long = Precision::F32.eval(Prim::ToReal, &[Scalar::Int((1 << 54) + (1 << 30) + 1)]);
        assert_eq!(long, Scalar::Real(((1i64 << 54) + (1i64 << 31)) as f64));
        let sum = Precision::F32.eval(Prim::Add, &[Scalar::Real(16777216.0), Scalar::Real(1.0)]);
        assert_eq!(sum, Scalar::Real(16777216.0));
    }
}

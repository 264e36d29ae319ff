//! Values in the interface of machine code: a word for a scalar; for an array, the address of its
//! elements and its sizes.

#![allow(unsafe_code)]

use std::ffi::c_void;

use lambada_loops::{Function, Operand, Return};
use lambada_prim::{Precision, Scalar, ScalarTy};

use crate::elements::{Elements, Got};

/// The type of a result.
#[derive(Clone, Debug)]
pub(crate) enum ResultType {
    Scalar(ScalarTy),
    /// Element type and rank.
    Buffer(ScalarTy, usize),
}

impl ResultType {
    /// Number of words.
    #[inline]
    pub fn words(&self) -> usize {
        match self {
            ResultType::Scalar(_) => 1,
            ResultType::Buffer(_, rank) => 1 + rank,
        }
    }

    pub fn of(function: &Function, result: &Return) -> ResultType {
        match result {
            Return::Scalar(Operand::Reg(reg)) => {
                ResultType::Scalar(function.regs[reg.0 as usize].0.elem)
            }
            Return::Scalar(Operand::Lit(value)) => ResultType::Scalar(value.ty()),
            Return::Buffer(buf, dims) => {
                ResultType::Buffer(function.bufs[buf.0 as usize].0, dims.len())
            }
        }
    }
}

/// Decodes values from words. Their sizes must be possible.
#[derive(Clone)]
pub(crate) struct Results<'a> {
    pub precision: Precision,
    pub outputs: std::slice::Iter<'a, ResultType>,
    pub words: &'a [u64],
}

impl<'a> Iterator for Results<'a> {
    type Item = Got<'a>;

    #[inline]
    fn next(&mut self) -> Option<Got<'a>> {
        let output = self.outputs.next()?;
        let (words, rest) = self.words.split_at(output.words());
        self.words = rest;
        Some(match output {
            ResultType::Scalar(elem) => Got::Scalar(scalar(self.precision, *elem, words[0])),
            ResultType::Buffer(elem, _) => {
                let dims = &words[1..];
                // `are_possible` has checked the product.
                let len = dims.iter().map(|size| *size as usize).product();
                Got::Array(dims, lent(self.precision, *elem, words[0], len))
            }
        })
    }
}

/// Whether arrays of these sizes can exist.
pub(crate) fn are_possible(outputs: &[ResultType], mut words: &[u64]) -> bool {
    outputs.iter().all(|output| {
        let (own, rest) = words.split_at(output.words());
        words = rest;
        let mut sizes = own[1..].iter();
        let fits = |len: usize, size: &u64| {
            usize::try_from(*size as i64).ok().and_then(|size| len.checked_mul(size))
        };
        sizes.try_fold(1, fits).is_some()
    })
}

#[inline]
pub(crate) fn word(precision: Precision, value: Scalar) -> u64 {
    match value {
        Scalar::Real(value) => match precision {
            Precision::F64 => value.to_bits(),
            Precision::F32 => {
                // Stored like a union member: in the first bytes.
                let [a, b, c, d] = (value as f32).to_ne_bytes();
                u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0])
            }
        },
        Scalar::Int(value) => value as u64,
        Scalar::Bool(value) => u64::from(value),
    }
}

#[inline]
fn scalar(precision: Precision, elem: ScalarTy, word: u64) -> Scalar {
    match elem {
        ScalarTy::Real => match precision {
            Precision::F64 => Scalar::Real(f64::from_bits(word)),
            Precision::F32 => {
                let [a, b, c, d, ..] = word.to_ne_bytes();
                Scalar::Real(f32::from_ne_bytes([a, b, c, d]).into())
            }
        },
        ScalarTy::Int => Scalar::Int(word as i64),
        ScalarTy::Bool => Scalar::Bool(word != 0),
    }
}

/// The elements of a result.
#[inline]
fn lent<'a>(precision: Precision, elem: ScalarTy, data: u64, len: usize) -> Elements<'a> {
    if len == 0 {
        return match (elem, precision) {
            (ScalarTy::Real, Precision::F64) => Elements::Real(&[]),
            (ScalarTy::Real, Precision::F32) => Elements::Single(&[]),
            (ScalarTy::Int, _) => Elements::Int(&[]),
            (ScalarTy::Bool, _) => Elements::Bool(&[]),
        };
    }
    let data = data as *const c_void;
    // SAFETY: a function that returns 0 has stored a pointer to as many elements of the type as the
    // sizes say. They remain valid until the next call in the context or the end of the arguments,
    // and the call that lends them holds both.
    unsafe {
        match (elem, precision) {
            (ScalarTy::Real, Precision::F64) => {
                Elements::Real(std::slice::from_raw_parts(data.cast::<f64>(), len))
            }
            (ScalarTy::Real, Precision::F32) => {
                Elements::Single(std::slice::from_raw_parts(data.cast::<f32>(), len))
            }
            (ScalarTy::Int, _) => {
                Elements::Int(std::slice::from_raw_parts(data.cast::<i64>(), len))
            }
            (ScalarTy::Bool, _) => {
                Elements::Bool(std::slice::from_raw_parts(data.cast::<u8>(), len))
            }
        }
    }
}

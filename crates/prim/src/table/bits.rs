//! The 64 bits of an integer. A negative integer is its two's complement; shifts are logical.

use super::DISCRETE;
use crate::Scalar::{Int, Real};
use crate::special;
use crate::{CText, Cost, Prim, Row, Scalar, ScalarTy, Surface};

const I: ScalarTy = ScalarTy::Int;
const R: ScalarTy = ScalarTy::Real;

/// The count of a shift, modulo 64.
fn count(places: Scalar) -> u32 {
    places.int().rem_euclid(64) as u32
}

/// The rows.
pub(crate) const ROWS: &[Row] = &[
    Row {
        prim: Prim::BitAnd,
        name: "bit_and",
        surface: Surface::Call("bit_and"),
        args: &[I, I],
        result: I,
        eval: |a| Int(a[0].int() & a[1].int()),
        partials: || vec![None, None],
        c: CText::Infix("&"),
        cost: Cost::Cheap,
        doc: "The bits that both have.",
        example: (&[Int(12), Int(10)], Int(8)),
        domain: DISCRETE,
    },
    Row {
        prim: Prim::BitOr,
        name: "bit_or",
        surface: Surface::Call("bit_or"),
        args: &[I, I],
        result: I,
        eval: |a| Int(a[0].int() | a[1].int()),
        partials: || vec![None, None],
        c: CText::Infix("|"),
        cost: Cost::Cheap,
        doc: "The bits that one of both has.",
        example: (&[Int(12), Int(10)], Int(14)),
        domain: DISCRETE,
    },
    Row {
        prim: Prim::BitXor,
        name: "bit_xor",
        surface: Surface::Call("bit_xor"),
        args: &[I, I],
        result: I,
        eval: |a| Int(a[0].int() ^ a[1].int()),
        partials: || vec![None, None],
        c: CText::Infix("^"),
        cost: Cost::Cheap,
        doc: "The bits that exactly one of both has.",
        example: (&[Int(12), Int(10)], Int(6)),
        domain: DISCRETE,
    },
    Row {
        prim: Prim::BitNot,
        name: "bit_not",
        surface: Surface::Call("bit_not"),
        args: &[I],
        result: I,
        eval: |a| Int(!a[0].int()),
        partials: || vec![None],
        c: CText::Prefix("~"),
        cost: Cost::Cheap,
        doc: "The bits that it does not have.",
        example: (&[Int(12)], Int(-13)),
        domain: DISCRETE,
    },
    Row {
        prim: Prim::ShiftLeft,
        name: "shift_left",
        surface: Surface::Call("shift_left"),
        args: &[I, I],
        result: I,
        eval: |a| Int(a[0].int().wrapping_shl(count(a[1]))),
        partials: || vec![None, None],
        c: CText::Call("lam_shift_left"),
        cost: Cost::Cheap,
        doc: "The bits moved toward the high end, with zeros in their place; the count is taken modulo 64.",
        example: (&[Int(3), Int(62)], Int(-4_611_686_018_427_387_904)),
        domain: DISCRETE,
    },
    Row {
        prim: Prim::ShiftRight,
        name: "shift_right",
        surface: Surface::Call("shift_right"),
        args: &[I, I],
        result: I,
        eval: |a| Int(a[0].int().cast_unsigned().wrapping_shr(count(a[1])).cast_signed()),
        partials: || vec![None, None],
        c: CText::Call("lam_shift_right"),
        cost: Cost::Cheap,
        doc: "The bits moved toward the low end, with zeros in their place, the sign bit too; the count is taken modulo 64.",
        example: (&[Int(-1), Int(60)], Int(15)),
        domain: DISCRETE,
    },
    Row {
        prim: Prim::RealBits,
        name: "real_bits",
        surface: Surface::Call("real_bits"),
        args: &[R],
        result: I,
        eval: |a| Int(special::real_bits(a[0].real())),
        partials: || vec![None],
        c: CText::Call("lam_real_bits"),
        cost: Cost::Cheap,
        doc: "The 64 bits of a real as IEEE 754 stores it; every NaN has the same.",
        example: (&[Real(1.0)], Int(0x3ff0_0000_0000_0000)),
        domain: DISCRETE,
    },
];

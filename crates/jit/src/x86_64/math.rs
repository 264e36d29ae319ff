//! Elementary functions as instructions, on four reals, by the formulas and coefficients of
//! `lambada_prim`'s vector mathematics, with the same errors. They are inlined, so no live register
//! is saved around them.

use lambada_prim::Prim;

use crate::x86_64::assembler::{self as asm, Condition, Fused, Vex};
use crate::x86_64::code::{Control, Inst, Source, Test, Virtual, WordOperand};
use crate::x86_64::helpers::Helper;
use crate::x86_64::writer::Writer;

/// 1.5 · 2⁵²: adding it rounds a number to an integer, in the low bits of the sum.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// The logarithm of 2 in two parts, the first with few digits.
const LOG2: (f64, f64) = (0.6931471805598903, 5.497923018708371e-14);
/// The position of the exponent's bits.
const EXPONENT: u8 = 52;
/// (e^r - 1 - r) / r² for |r| <= 0.35.
const EXP: [f64; 10] = [
    2.5100383205533054e-8,
    2.762008546758513e-7,
    2.7557268464811307e-6,
    2.4801521302214664e-5,
    0.0001984126986305052,
    0.0013888888917209688,
    0.008333333333330063,
    0.041666666666624136,
    0.16666666666666669,
    0.5000000000000001,
];

/// Coefficients of the logarithm, by the square of s.
const LOG: [f64; 7] = [
    0.14616484199276786,
    0.15331718809192105,
    0.1818288920919632,
    0.22222211133643974,
    0.28571428625982526,
    0.3999999999989949,
    0.666666666666667,
];

/// (tanh x - x) / x³ near 0, by the square of x.
const TANH: [f64; 12] = [
    7.874274361141842e-6,
    -3.372080118812352e-5,
    9.455133061089533e-5,
    -0.00023847272484990359,
    0.0005899052969659499,
    -0.0014558190971549292,
    0.0035921267699631225,
    -0.008863235463146843,
    0.02186948853407391,
    -0.05396825396822037,
    0.1333333333333331,
    -0.3333333333333333,
];

const SIN: [f64; 6] = [
    1.5918117983856738e-10,
    -2.5051131688022075e-8,
    2.755731610179936e-6,
    -0.00019841269836757123,
    0.008333333333330948,
    -0.16666666666666666,
];

const COS: [f64; 6] = [
    -1.1382625349451993e-11,
    2.0876146170197587e-9,
    -2.755731727125868e-7,
    2.480158729876478e-5,
    -0.0013888888888887398,
    0.041666666666666664,
];

/// Whether the function has instructions.
pub(crate) fn is_known(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::Exp | Prim::Expm1 | Prim::Log | Prim::Log1p | Prim::Tanh | Prim::Sin | Prim::Cos
    )
}

impl Writer {
    /// A function with instructions, the last of which writes `to`.
    pub(crate) fn function(&mut self, to: Virtual, prim: Prim, x: Virtual) {
        let result = match prim {
            Prim::Exp => self.exp(x),
            Prim::Expm1 => self.expm1(x),
            Prim::Log => self.log(x),
            Prim::Log1p => self.log1p(x),
            Prim::Tanh => self.tanh(x),
            Prim::Sin => self.sin_or_cos(x, Prim::Sin),
            Prim::Cos => self.sin_or_cos(x, Prim::Cos),
            _ => unreachable!("{prim:?} has no instructions"),
        };
        self.copy(to, result);
    }

    fn real(&mut self, value: f64) -> Source {
        self.constant(value.to_bits())
    }

    fn of(&mut self, op: Vex, a: Virtual, b: impl Into<Source>) -> Virtual {
        self.on_lanes(op, a, b.into())
    }

    fn with(&mut self, op: Vex, a: Virtual, b: f64) -> Virtual {
        let b = self.real(b);
        self.on_lanes(op, a, b)
    }

    /// a op b, with a constant first operand.
    fn from(&mut self, op: Vex, a: f64, b: Virtual) -> Virtual {
        let a = self.real(a);
        let a = self.in_register(a);
        self.on_lanes(op, a, b.into())
    }

    fn fused(&mut self, op: Fused, a: Virtual, b: Source, c: Source) -> Virtual {
        let to = self.vector();
        self.put(Inst::Fused { op, to, a, b, c });
        to
    }

    /// The polynomial with these coefficients, highest power first.
    fn polynomial(&mut self, x: Virtual, coefficients: &[f64]) -> Virtual {
        let [first, second] = [coefficients[0], coefficients[1]].map(|c| self.real(c));
        let mut sum = self.fused(Fused::Add, x, first, second);
        for c in &coefficients[2..] {
            let c = self.real(*c);
            sum = self.fused(Fused::Add, sum, x.into(), c);
        }
        sum
    }

    fn where_is(&mut self, a: Virtual, b: f64, predicate: u8) -> Virtual {
        let (to, b) = (self.vector(), self.real(b));
        self.put(Inst::Vector { op: asm::COMPARE, to, a: Some(a), b, constant: Some(predicate) });
        to
    }

    fn blend(&mut self, mask: Virtual, yes: Source, no: Virtual) -> Virtual {
        let to = self.vector();
        self.put(Inst::Blend { to, mask, yes, no });
        to
    }

    fn shifted(&mut self, left: bool, from: Virtual, by: u8) -> Virtual {
        let to = self.vector();
        self.put(Inst::ShiftLanes { left, to, from, by });
        to
    }

    /// 2 to the power of the integer in the low bits of a sum with [`MAGIC`].
    fn power(&mut self, magic: Virtual) -> Virtual {
        let exponent = self.shifted(true, magic, EXPONENT);
        let one = self.real(1.0);
        self.of(asm::ADD_INT, exponent, one)
    }

    /// x · 2ⁿ for whole n up to 1200, rounded once: 2ⁿ is split into two factors, because it may
    /// overflow or be subnormal.
    fn scaled(&mut self, x: Virtual, n: Virtual) -> Virtual {
        let (half, magic) = (self.real(0.5), self.real(MAGIC));
        let half = self.fused(Fused::Add, n, half, magic);
        let rounded = self.with(asm::SUB, half, MAGIC);
        let rest = self.of(asm::SUB, n, rounded);
        let other = self.with(asm::ADD, rest, MAGIC);
        let (first, second) = (self.power(half), self.power(other));
        let product = self.of(asm::MUL, x, first);
        self.of(asm::MUL, product, second)
    }

    /// The whole n of x = n log 2 + r for |x| <= 800.
    fn whole(&mut self, x: Virtual) -> Virtual {
        let (inverse, magic) = (self.real(std::f64::consts::LOG2_E), self.real(MAGIC));
        let shifted = self.fused(Fused::Add, x, inverse, magic);
        self.with(asm::SUB, shifted, MAGIC)
    }

    /// The smaller of x and a constant, or the larger; NaN stays NaN.
    fn limited(&mut self, op: Vex, x: Virtual, limit: f64) -> Virtual {
        self.from(op, limit, x)
    }

    /// e^x for |x| <= 800.
    fn exp_near(&mut self, x: Virtual) -> Virtual {
        let n = self.whole(x);
        let [high, low] = [LOG2.0, LOG2.1].map(|part| self.real(part));
        let r = self.fused(Fused::SubFrom, n, high, x.into());
        let r = self.fused(Fused::SubFrom, n, low, r.into());
        let tail = self.polynomial(r, &EXP);
        let square = self.of(asm::MUL, r, r);
        let rest = self.fused(Fused::Add, square, tail.into(), r.into());
        let power = self.with(asm::ADD, rest, 1.0);
        self.scaled(power, n)
    }

    fn exp(&mut self, x: Virtual) -> Virtual {
        let x = self.limited(asm::MIN, x, 710.0);
        let x = self.limited(asm::MAX, x, -746.0);
        self.exp_near(x)
    }

    /// 2^n (e^r - 1 + (1 - 2^-n)), where e^r - 1 keeps the digits lost in r.
    fn expm1(&mut self, x0: Virtual) -> Virtual {
        let x = self.limited(asm::MIN, x0, 711.0);
        let x = self.limited(asm::MAX, x, -40.0);
        let n = self.whole(x);
        let high = self.real(LOG2.0);
        let whole = self.fused(Fused::SubFrom, n, high, x.into());
        let part = self.with(asm::MUL, n, LOG2.1);
        let r = self.of(asm::SUB, whole, part);
        let lost = self.of(asm::SUB, whole, r);
        let rest = self.of(asm::SUB, lost, part);
        let tail = self.polynomial(r, &EXP);
        let square = self.of(asm::MUL, r, r);
        let small = self.fused(Fused::Add, square, tail.into(), rest.into());
        let e = self.of(asm::ADD, r, small);
        let least = self.limited(asm::MIN, n, 1000.0);
        let minus = self.from(asm::SUB, MAGIC, least);
        let inverse = self.power(minus);
        let one = self.from(asm::SUB, 1.0, inverse);
        let sum = self.of(asm::ADD, e, one);
        let y = self.scaled(sum, n);
        let zero = self.where_is(x0, 0.0, asm::WHERE_EQUAL);
        self.blend(zero, x0.into(), y)
    }

    fn log(&mut self, x: Virtual) -> Virtual {
        let (e, f) = self.log_split(x);
        let s = self.log_ratio(f);
        let rest = self.with(asm::MUL, e, LOG2.1);
        let y = self.log_near(e, f, s, rest);
        self.log_ends(x, y)
    }

    /// The logarithm of u = 1 + x, plus the rounding error of u divided by u.
    fn log1p(&mut self, x: Virtual) -> Virtual {
        let u = self.with(asm::ADD, x, 1.0);
        let above = self.with(asm::SUB, u, 1.0);
        let of_x = self.of(asm::SUB, x, above);
        let below = self.of(asm::SUB, u, above);
        let of_one = self.from(asm::SUB, 1.0, below);
        let lost = self.of(asm::ADD, of_x, of_one);
        let (e, f) = self.log_split(u);
        let s = self.log_ratio(f);
        // 1 / (1 + f) = (1 - s) / (1 + s), to three digits, because the rounding error is tiny.
        let one = self.real(1.0);
        let a = self.from(asm::SUB, 1.0, s);
        let b = self.fused(Fused::SubFrom, s, a.into(), one);
        let b = self.fused(Fused::SubFrom, s, b.into(), one);
        let inverse = self.of(asm::MUL, a, b);
        let small = self.limited(asm::MIN, e, 1000.0);
        let minus = self.from(asm::SUB, MAGIC, small);
        let scale = self.power(minus);
        let lost = self.of(asm::MUL, lost, inverse);
        let lost = self.of(asm::MUL, lost, scale);
        let low = self.real(LOG2.1);
        let rest = self.fused(Fused::Add, e, low, lost.into());
        let y = self.log_near(e, f, s, rest);
        let y = self.log_ends(u, y);
        let zero = self.where_is(x, 0.0, asm::WHERE_EQUAL);
        self.blend(zero, x.into(), y)
    }

    /// f / (2 + f); the logarithm of 1 + f is twice its inverse hyperbolic tangent.
    fn log_ratio(&mut self, f: Virtual) -> Virtual {
        let below = self.with(asm::ADD, f, 2.0);
        self.of(asm::DIV, f, below)
    }

    /// e log 2 + log (1 + f), with `rest`, the part of e log 2 beyond the first part of log 2.
    fn log_near(&mut self, e: Virtual, f: Virtual, s: Virtual, rest: Virtual) -> Virtual {
        let z = self.of(asm::MUL, s, s);
        let p = self.polynomial(z, &LOG);
        let half = self.with(asm::MUL, f, 0.5);
        let half = self.of(asm::MUL, half, f);
        let sum = self.fused(Fused::Add, z, p.into(), half.into());
        let tail = self.fused(Fused::Add, s, sum.into(), rest.into());
        let lost = self.of(asm::SUB, half, tail);
        let small = self.of(asm::SUB, f, lost);
        let high = self.real(LOG2.0);
        self.fused(Fused::Add, e, high, small.into())
    }

    /// y, replaced by the logarithm of x where that is not finite: for infinity, NaN, zeros and
    /// negative numbers.
    fn log_ends(&mut self, x: Virtual, y: Virtual) -> Virtual {
        let large = self.where_is(x, f64::INFINITY, asm::WHERE_NOT_LESS);
        let y = self.blend(large, x.into(), y);
        let (zero, least) = (self.where_is(x, 0.0, asm::WHERE_EQUAL), self.real(f64::NEG_INFINITY));
        let y = self.blend(zero, least, y);
        let (negative, nan) = (self.where_is(x, 0.0, asm::WHERE_LESS), self.real(f64::NAN));
        self.blend(negative, nan, y)
    }

    /// x = 2^e (1 + f) with 1 + f between the roots of 1/2 and 2, for a finite positive x,
    /// subnormal numbers included.
    fn log_split(&mut self, x: Virtual) -> (Virtual, Virtual) {
        let small = self.where_is(x, f64::MIN_POSITIVE, asm::WHERE_LESS);
        // Scaled by 2⁵⁴.
        let larger = self.with(asm::MUL, x, 18_014_398_509_481_984.0);
        let x = self.blend(small, larger.into(), x);
        let root = self.constant(0x3fe6_a09e_667f_3bcd);
        let above = self.of(asm::SUB_INT, x, root);
        // The exponent may be negative; 1024 more is positive.
        let bias = self.constant(1024 << EXPONENT);
        let biased = self.of(asm::ADD_INT, above, bias);
        let exponent = self.shifted(false, biased, EXPONENT);
        let digits = self.constant(MAGIC.to_bits() - 1024);
        let digits = self.of(asm::ADD_INT, exponent, digits);
        let e = self.with(asm::SUB, digits, MAGIC);
        let more = self.with(asm::AND, small, 54.0);
        let e = self.of(asm::SUB, e, more);
        let bits = self.constant(0xfff0_0000_0000_0000);
        let power = self.of(asm::AND, above, bits);
        let fraction = self.of(asm::SUB_INT, x, power);
        (e, self.with(asm::SUB, fraction, 1.0))
    }

    /// A polynomial near 0, else 1 - 2 / (e^2x + 1).
    fn tanh(&mut self, x: Virtual) -> Virtual {
        let rest = self.constant(!(1 << 63));
        let size = self.of(asm::AND, x, rest);
        let twice = self.of(asm::ADD, size, size);
        let twice = self.limited(asm::MIN, twice, 40.0);
        let e = self.exp_near(twice);
        let below = self.with(asm::ADD, e, 1.0);
        let part = self.from(asm::DIV, 2.0, below);
        let far = self.from(asm::SUB, 1.0, part);
        let z = self.of(asm::MUL, size, size);
        let p = self.polynomial(z, &TANH);
        let cube = self.of(asm::MUL, size, z);
        let near = self.fused(Fused::Add, cube, p.into(), size.into());
        let small = self.where_is(size, 0.55, asm::WHERE_LESS);
        let y = self.blend(small, near.into(), far);
        let sign = self.constant(1 << 63);
        let sign = self.of(asm::AND, x, sign);
        self.of(asm::OR, y, sign)
    }

    /// sin x or cos x for |x| up to 2²⁰; larger numbers take a call.
    fn sin_or_cos(&mut self, x: Virtual, prim: Prim) -> Virtual {
        let to = self.vector();
        let near = self.turned(x, prim == Prim::Cos);
        self.copy(to, near);
        let rest = self.constant(!(1 << 63));
        let size = self.of(asm::AND, x, rest);
        let large = self.where_is(size, 1_048_576.0, asm::WHERE_GREATER);
        let (signs, end) = (self.word(), self.label());
        self.put(Inst::Signs { to: signs, from: large });
        let test = Test::Ints(Condition::NotEqual, signs, WordOperand::Constant(0));
        self.put(Inst::Unless { test, to: end });
        self.call(Helper::Primitive { prim, lanes: true }, &[x]);
        self.put(Inst::Take { to });
        self.put(Inst::Control(Control::Bind(end)));
        to
    }

    /// sin x, or cos x, with π/2 in four parts, three of which have exact products with the number
    /// of quarter turns.
    fn turned(&mut self, x: Virtual, cosine: bool) -> Virtual {
        let (inverse, magic) = (self.real(std::f64::consts::FRAC_2_PI), self.real(MAGIC));
        let quadrant = self.fused(Fused::Add, x, inverse, magic);
        let n = self.with(asm::SUB, quadrant, MAGIC);
        let first = self.real(f64::from_bits(0x3ff9_21fb_5440_0000));
        let a = self.fused(Fused::SubFrom, n, first, x.into());
        let b = self.with(asm::MUL, n, f64::from_bits(0x3dd0_b461_1a60_0000));
        let c = self.with(asm::MUL, n, f64::from_bits(0x3ba3_198a_2e00_0000));
        let (w, lost) = self.difference(a, b);
        let (u, lost2) = self.difference(w, c);
        let lost = self.of(asm::ADD, lost, lost2);
        let last = self.real(f64::from_bits(0x397b_839a_2520_49c1));
        let low = self.fused(Fused::SubFrom, n, last, lost.into());
        let r = self.of(asm::ADD, u, low);
        let rest = self.of(asm::SUB, u, r);
        let rest = self.of(asm::ADD, rest, low);
        let z = self.of(asm::MUL, r, r);
        // sin (r + rest) - r
        let p = self.polynomial(z, &SIN);
        let cube = self.of(asm::MUL, z, r);
        let half = self.with(asm::MUL, z, 0.5);
        let by_rest = self.fused(Fused::SubFrom, rest, half.into(), rest.into());
        let tail = self.fused(Fused::Add, cube, p.into(), by_rest.into());
        let sine = self.of(asm::ADD, r, tail);
        // cos (r + rest) - w for the rounded w = 1 - r²/2
        let w = self.from(asm::SUB, 1.0, half);
        let p = self.polynomial(z, &COS);
        let square = self.of(asm::MUL, z, z);
        let one = self.from(asm::SUB, 1.0, w);
        let lost = self.of(asm::SUB, one, half);
        let by_rest = self.of(asm::MUL, r, rest);
        let tail = self.fused(Fused::Sub, square, p.into(), by_rest.into());
        let tail = self.of(asm::ADD, lost, tail);
        let cosine_of_r = self.of(asm::ADD, w, tail);
        // The low bits of the number of quarter turns choose sine or cosine, and the sign.
        let quadrant = if cosine {
            let one = self.constant(1);
            self.of(asm::ADD_INT, quadrant, one)
        } else {
            quadrant
        };
        let odd = self.shifted(true, quadrant, 63);
        let y = self.blend(odd, cosine_of_r.into(), sine);
        let second = self.constant(2);
        let turned = self.of(asm::AND, quadrant, second);
        let sign = self.shifted(true, turned, 62);
        let y = self.of(asm::XOR, y, sign);
        if cosine {
            return y;
        }
        // Zeros keep their sign.
        let zero = self.where_is(x, 0.0, asm::WHERE_EQUAL);
        self.blend(zero, x.into(), y)
    }

    /// a - b, and its rounding error.
    fn difference(&mut self, a: Virtual, b: Virtual) -> (Virtual, Virtual) {
        let w = self.of(asm::SUB, a, b);
        let back = self.of(asm::SUB, w, a);
        let of_w = self.of(asm::SUB, w, back);
        let of_a = self.of(asm::SUB, a, of_w);
        let of_b = self.of(asm::ADD, b, back);
        (w, self.of(asm::SUB, of_a, of_b))
    }
}

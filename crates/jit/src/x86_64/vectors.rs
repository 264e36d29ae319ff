//! Primitives on four lanes and on reals, as instructions.

use lambada_prim::Prim;

use crate::x86_64::assembler::{self as asm, Vex};
use crate::x86_64::code::{Inst, Source, Virtual};
use crate::x86_64::writer::{Writer, binary, unary};

/// Whether the primitive has instructions on vectors. All others are calls.
pub(crate) fn has_instructions(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::Add
            | Prim::Mul
            | Prim::AddInt
            | Prim::And
            | Prim::BitAnd
            | Prim::Or
            | Prim::BitOr
            | Prim::NeBool
            | Prim::BitXor
            | Prim::EqInt
            | Prim::Sub
            | Prim::Div
            | Prim::SubInt
            | Prim::LtInt
            | Prim::Eq
            | Prim::Ne
            | Prim::Lt
            | Prim::Le
            | Prim::LeInt
            | Prim::NeInt
            | Prim::EqBool
            | Prim::Not
            | Prim::BitNot
            | Prim::Neg
            | Prim::Abs
            | Prim::NegInt
            | Prim::Sqrt
            | Prim::Floor
            | Prim::Ceil
            | Prim::Min
            | Prim::Max
            | Prim::MinInt
            | Prim::MaxInt
            | Prim::AbsInt
            | Prim::SelectInt
            | Prim::SelectBool
            | Prim::Select
            | Prim::MulInt
            | Prim::ToReal
    )
}

impl Writer {
    /// A primitive on vectors with instructions. `to` may be an operand, because it is written
    /// last.
    pub(crate) fn lanes_prim(&mut self, to: Virtual, prim: Prim, args: &[Source]) {
        match prim {
            Prim::Add => self.in_any_order(asm::ADD, to, args),
            Prim::Mul => self.in_any_order(asm::MUL, to, args),
            Prim::AddInt => self.in_any_order(asm::ADD_INT, to, args),
            Prim::And | Prim::BitAnd => self.in_any_order(asm::AND, to, args),
            Prim::Or | Prim::BitOr => self.in_any_order(asm::OR, to, args),
            Prim::NeBool | Prim::BitXor => self.in_any_order(asm::XOR, to, args),
            Prim::EqInt => self.in_any_order(asm::EQUAL_INT, to, args),
            Prim::Sub => self.in_order(asm::SUB, to, args[0], args[1], None),
            Prim::Div => self.in_order(asm::DIV, to, args[0], args[1], None),
            Prim::SubInt => self.in_order(asm::SUB_INT, to, args[0], args[1], None),
            Prim::LtInt => self.in_order(asm::GREATER_INT, to, args[1], args[0], None),
            Prim::Eq => self.in_order(asm::COMPARE, to, args[0], args[1], Some(asm::WHERE_EQUAL)),
            Prim::Ne => {
                self.in_order(asm::COMPARE, to, args[0], args[1], Some(asm::WHERE_NOT_EQUAL))
            }
            Prim::Lt => self.in_order(asm::COMPARE, to, args[0], args[1], Some(asm::WHERE_LESS)),
            Prim::Le => {
                self.in_order(asm::COMPARE, to, args[0], args[1], Some(asm::WHERE_LESS_OR_EQUAL))
            }
            Prim::LeInt => self.inverted(to, asm::GREATER_INT, args[0], args[1]),
            Prim::NeInt => self.inverted(to, asm::EQUAL_INT, args[0], args[1]),
            Prim::EqBool => self.inverted(to, asm::XOR, args[0], args[1]),
            Prim::Not | Prim::BitNot => {
                let ones = self.constant(u64::MAX);
                self.in_any_order(asm::XOR, to, &[args[0], ones]);
            }
            Prim::Neg => {
                let sign = self.constant(1 << 63);
                self.in_any_order(asm::XOR, to, &[args[0], sign]);
            }
            Prim::Abs => {
                let rest = self.constant(!(1 << 63));
                self.in_any_order(asm::AND, to, &[args[0], rest]);
            }
            Prim::NegInt => {
                let zero = self.constant(0);
                self.in_order(asm::SUB_INT, to, zero, args[0], None);
            }
            // As in the table of primitives: `sqrt -0.0` is 0.0.
            Prim::Sqrt => {
                let a = self.in_register(args[0]);
                let zero = self.constant(0);
                let a = self.on_lanes(asm::ADD, a, zero);
                self.put(unary(asm::SQRT, to, Source::Virtual(a)));
            }
            Prim::Floor | Prim::Ceil => {
                let constant = Some(if prim == Prim::Floor { 0x09 } else { 0x0a });
                self.put(Inst::Vector { op: asm::ROUND, to, a: None, b: args[0], constant });
            }
            // The instruction returns its second operand if both are equal or one is NaN. The table
            // of primitives requires the first one then, or the second if only that is NaN.
            Prim::Min | Prim::Max => {
                let op = if prim == Prim::Min { asm::MIN } else { asm::MAX };
                let (x, y) = (args[0], self.in_register(args[1]));
                let least = self.on_lanes(op, y, x);
                let nan = self.vector();
                let (a, b, constant) = (Some(y), Source::Virtual(y), Some(asm::WHERE_UNORDERED));
                self.put(Inst::Vector { op: asm::COMPARE, to: nan, a, b, constant });
                self.put(Inst::Blend { to, mask: nan, yes: Source::Virtual(y), no: least });
            }
            Prim::MinInt | Prim::MaxInt => {
                let [a, b] = [args[0], args[1]].map(|source| self.in_register(source));
                let mask = self.on_lanes(asm::GREATER_INT, a, Source::Virtual(b));
                let (yes, no) = if prim == Prim::MinInt { (b, a) } else { (a, b) };
                self.put(Inst::Blend { to, mask, yes: Source::Virtual(yes), no });
            }
            Prim::AbsInt => {
                let a = self.in_register(args[0]);
                let zero = self.constant(0);
                let zero = self.in_register(zero);
                let negative = self.on_lanes(asm::SUB_INT, zero, Source::Virtual(a));
                // The sign of a decides.
                let yes = Source::Virtual(negative);
                self.put(Inst::Blend { to, mask: a, yes, no: a });
            }
            Prim::SelectInt | Prim::SelectBool | Prim::Select => {
                let mask = self.in_register(args[0]);
                let no = self.in_register(args[2]);
                self.put(Inst::Blend { to, mask, yes: args[1], no });
            }
            Prim::MulInt => self.product_of_ints(to, args[0], args[1]),
            Prim::ToReal => self.reals_of_ints(to, args[0]),
            _ => unreachable!("{prim:?} has no instructions"),
        }
    }

    fn in_any_order(&mut self, op: Vex, to: Virtual, args: &[Source]) {
        let (a, b) = match (args[0], args[1]) {
            (Source::Virtual(a), b) => (a, b),
            (a, Source::Virtual(b)) => (b, a),
            (a, b) => (self.in_register(a), b),
        };
        self.put(binary(op, to, a, b));
    }

    fn in_order(&mut self, op: Vex, to: Virtual, a: Source, b: Source, constant: Option<u8>) {
        let a = self.in_register(a);
        self.put(Inst::Vector { op, to, a: Some(a), b, constant });
    }

    /// The complement of all bits of the result.
    fn inverted(&mut self, to: Virtual, op: Vex, a: Source, b: Source) {
        let a = self.in_register(a);
        let mask = self.on_lanes(op, a, b);
        let ones = self.constant(u64::MAX);
        self.put(binary(asm::XOR, to, mask, ones));
    }

    /// Products modulo 2⁶⁴, from halves.
    fn product_of_ints(&mut self, to: Virtual, a: Source, b: Source) {
        let [a, b] = [a, b].map(|source| self.in_register(source));
        let high = |writer: &mut Self, from, other| {
            let half = writer.vector();
            writer.put(Inst::ShiftLanes { left: false, to: half, from, by: 32 });
            writer.on_lanes(asm::MUL_LOW, half, Source::Virtual(other))
        };
        let (x, y) = (high(self, a, b), high(self, b, a));
        let sum = self.on_lanes(asm::ADD_INT, x, Source::Virtual(y));
        let shifted = self.vector();
        self.put(Inst::ShiftLanes { left: true, to: shifted, from: sum, by: 32 });
        let low = self.on_lanes(asm::MUL_LOW, a, Source::Virtual(b));
        self.put(binary(asm::ADD_INT, to, low, Source::Virtual(shifted)));
    }

    /// The nearest real of each integer: its halves become the digits of two reals, whose
    /// difference and sum round once.
    fn reals_of_ints(&mut self, to: Virtual, from: Source) {
        let from = self.in_register(from);
        let [low, high, both] =
            [0x4330_0000_0000_0000, 0x4530_0000_8000_0000, 0x4530_0000_8010_0000]
                .map(|word| self.constant(word));
        let digits = self.vector();
        let constant = Some(0b1010_1010);
        let (op, a) = (asm::BLEND_HALVES, Some(from));
        self.put(Inst::Vector { op, to: digits, a, b: low, constant });
        let upper = self.vector();
        self.put(Inst::ShiftLanes { left: false, to: upper, from, by: 32 });
        let upper = self.on_lanes(asm::XOR, upper, high);
        let upper = self.on_lanes(asm::SUB, upper, both);
        self.put(binary(asm::ADD, to, upper, Source::Virtual(digits)));
    }
}

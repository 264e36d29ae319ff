//! Primitives.

use lambada_loops::{Operand, Reg};
use lambada_prim::{Prim, Scalar, ScalarTy};

use super::{Late, Selector, class};
use crate::LANES;
use crate::x86_64::assembler::{self as asm, Alu, Condition, Fused};
use crate::x86_64::code::{Class, Inst, Source, Test, Virtual, WordOperand};
use crate::x86_64::facts::Use;
use crate::x86_64::helpers::Helper;
use crate::x86_64::writer::binary;
use crate::x86_64::{math, vectors};

fn is_power(value: i64) -> bool {
    value > 0 && value.count_ones() == 1 && value <= 1 << 30
}

impl Selector<'_> {
    pub(super) fn prim(&mut self, reg: Reg, prim: Prim, args: &[Operand]) {
        let ty = self.ty(reg);
        let vectors = class(ty) == Class::Vector;
        match (prim, args) {
            (Prim::Mul, [a, b]) => {
                let used_by = self.facts.only_use(reg);
                let fuses = used_by == Some(Use::Operand(Prim::Add))
                    || used_by == Some(Use::Operand(Prim::Sub));
                if self.contract && fuses {
                    self.late.insert(reg, Late::Product(*a, *b));
                    return;
                }
                let (a, b) = self.commuted(*a, *b);
                let to = self.target(reg);
                self.code.put(binary(asm::MUL, to, a, b));
            }
            (Prim::Add | Prim::Sub, [a, b]) => self.sum(reg, prim, *a, *b),
            (Prim::ToReal, [a]) if ty.lanes == 1 => {
                let from = self.word_of(*a);
                let to = self.target(reg);
                self.code.put(Inst::Real { to, from });
            }
            (Prim::Select, [cond, yes, no]) => {
                let mask = self.mask_of(*cond);
                let (yes, no) = (self.source(*yes), self.vector_of(*no));
                let to = self.target(reg);
                self.code.put(Inst::Blend { to, mask, yes, no });
            }
            (Prim::Lt | Prim::Le, [a, b]) if !vectors => {
                if self.facts.only_use(reg) == Some(Use::Test) {
                    self.late.insert(reg, Late::Compare(prim, *a, *b));
                    return;
                }
                let test = self.compared(prim, *a, *b);
                let to = self.target(reg);
                self.code.put(Inst::Set { to, test });
            }
            (Prim::Eq | Prim::Ne, [..]) if !vectors => {
                let sources: Vec<Source> = args.iter().map(|arg| self.source(*arg)).collect();
                let mask = self.code.vector();
                self.code.lanes_prim(mask, prim, &sources);
                let signs = self.code.word();
                self.code.put(Inst::Signs { to: signs, from: mask });
                let test = Test::Ints(Condition::NotEqual, signs, WordOperand::Constant(0));
                let to = self.target(reg);
                self.code.put(Inst::Set { to, test });
            }
            (_, _) if vectors && vectors::has_instructions(prim) => {
                let sources: Vec<Source> = args.iter().map(|arg| self.source(*arg)).collect();
                // A mask in its target stays a mask; a sequence of instructions must not overwrite
                // its own operands.
                let to = self.target(reg);
                self.code.lanes_prim(to, prim, &sources);
            }
            (_, [x]) if vectors && math::is_known(prim) => {
                let x = self.vector_of(*x);
                let to = self.target(reg);
                self.code.function(to, prim, x);
            }
            (_, _) if !vectors && self.word_prim(reg, prim, args) => {}
            (_, _) => self.by_call(reg, prim, args),
        }
    }

    /// The operands of a commutative operation: one in a register, and the other.
    pub(super) fn commuted(&mut self, a: Operand, b: Operand) -> (Virtual, Source) {
        let (a, b) = (self.source(a), self.source(b));
        match (a, b) {
            (Source::Virtual(a), b) => (a, b),
            (a, Source::Virtual(b)) => (b, a),
            (a, b) => (self.code.in_register(a), b),
        }
    }

    /// The factors of a late product.
    pub(super) fn late_product(&mut self, operand: Operand) -> Option<(Operand, Operand)> {
        let Operand::Reg(reg) = operand else { return None };
        let Some(Late::Product(a, b)) = self.late.get(&reg).copied() else { return None };
        self.late.remove(&reg);
        self.used(reg);
        Some((a, b))
    }

    pub(super) fn sum(&mut self, reg: Reg, prim: Prim, a: Operand, b: Operand) {
        let adds = prim == Prim::Add;
        let fused = match self.late_product(b) {
            Some(product) => Some((product, a, if adds { Fused::Add } else { Fused::SubFrom })),
            None => self
                .late_product(a)
                .map(|product| (product, b, if adds { Fused::Add } else { Fused::Sub })),
        };
        if let Some(((x, y), other, op)) = fused {
            let c = self.vector_of(other).into();
            let (a, b) = self.commuted(x, y);
            let to = self.target(reg);
            return self.code.put(Inst::Fused { op, to, a, b, c });
        }
        let (op, (a, b)) = match adds {
            true => (asm::ADD, self.commuted(a, b)),
            false => (asm::SUB, (self.vector_of(a), self.source(b))),
        };
        let to = self.target(reg);
        self.code.put(binary(op, to, a, b));
    }

    /// A mask from a boolean or from lanes of booleans.
    pub(super) fn mask_of(&mut self, operand: Operand) -> Virtual {
        if let Operand::Reg(reg) = operand
            && let Some(Late::Compare(prim @ (Prim::Lt | Prim::Le), a, b)) =
                self.late.get(&reg).copied()
        {
            self.late.remove(&reg);
            self.used(reg);
            let sources = [self.source(a), self.source(b)];
            let mask = self.code.vector();
            self.code.lanes_prim(mask, prim, &sources);
            return mask;
        }
        self.vector_of(operand)
    }

    /// A primitive on words with instructions.
    pub(super) fn word_prim(&mut self, reg: Reg, prim: Prim, args: &[Operand]) -> bool {
        let literal = |k: usize| match args.get(k) {
            Some(Operand::Lit(Scalar::Int(value))) => Some(*value),
            _ => None,
        };
        let alu = match prim {
            Prim::AddInt => Some(Alu::Add),
            Prim::SubInt => Some(Alu::Sub),
            Prim::And | Prim::BitAnd => Some(Alu::And),
            Prim::Or | Prim::BitOr => Some(Alu::Or),
            Prim::NeBool | Prim::BitXor => Some(Alu::Xor),
            _ => None,
        };
        if let Some(op) = alu {
            let (mut a, mut b) = (args[0], args[1]);
            if matches!(a, Operand::Lit(_)) && op != Alu::Sub {
                (a, b) = (b, a);
            }
            if op == Alu::Add
                && let (Operand::Reg(from), Operand::Lit(Scalar::Int(by))) = (a, b)
                && let Some(bytes) = by.checked_mul(8).and_then(|bytes| i32::try_from(bytes).ok())
                && self.facts.only_use(reg) == Some(Use::Offset)
            {
                self.late.insert(reg, Late::Offset(from, bytes));
                return true;
            }
            let a = self.word_of(a);
            let b = self.value(b);
            let to = self.target(reg);
            self.code.put(Inst::Arithmetic { op, to, a, b });
            return true;
        }
        match prim {
            Prim::MulInt => {
                let (a, b) = match args[0] {
                    Operand::Lit(_) => (args[1], args[0]),
                    Operand::Reg(_) => (args[0], args[1]),
                };
                let a = self.word_of(a);
                let b = self.value(b);
                let to = self.target(reg);
                self.code.put(Inst::Multiply { to, a, b });
            }
            Prim::LtInt | Prim::LeInt | Prim::EqInt | Prim::NeInt | Prim::EqBool => {
                if self.facts.only_use(reg) == Some(Use::Test) {
                    self.late.insert(reg, Late::Compare(prim, args[0], args[1]));
                    return true;
                }
                let test = self.compared(prim, args[0], args[1]);
                let to = self.target(reg);
                self.code.put(Inst::Set { to, test });
            }
            Prim::Not | Prim::BitNot => {
                let a = self.word_of(args[0]);
                let b = WordOperand::Constant(if prim == Prim::Not { 1 } else { -1 });
                let to = self.target(reg);
                self.code.put(Inst::Arithmetic { op: Alu::Xor, to, a, b });
            }
            Prim::NegInt => {
                let (zero, b) = (self.code.word(), self.value(args[0]));
                self.code.put(Inst::Copy { to: zero, from: WordOperand::Constant(0) });
                let to = self.target(reg);
                self.code.put(Inst::Arithmetic { op: Alu::Sub, to, a: zero, b });
            }
            Prim::MinInt | Prim::MaxInt => {
                let a = self.word_of(args[0]);
                let b = self.value(args[1]);
                let condition = if prim == Prim::MinInt {
                    Condition::LessOrEqual
                } else {
                    Condition::GreaterOrEqual
                };
                let to = self.target(reg);
                let test = Test::Ints(condition, a, b);
                self.code.put(Inst::Choose { to, test, yes: WordOperand::Virtual(a), no: b });
            }
            Prim::SelectInt | Prim::SelectBool => {
                let test = self.test(args[0]);
                let (yes, no) = (self.value(args[1]), self.value(args[2]));
                let to = self.target(reg);
                self.code.put(Inst::Choose { to, test, yes, no });
            }
            Prim::DivInt if literal(1).is_some_and(is_power) => {
                let from = self.word_of(args[0]);
                let by = literal(1).expect("it is there").trailing_zeros() as u8;
                let to = self.target(reg);
                self.code.put(Inst::ShiftWord { op: asm::Shift::RightSigned, to, from, by });
            }
            Prim::RemInt if literal(1).is_some_and(is_power) => {
                let a = self.word_of(args[0]);
                let b = WordOperand::Constant(literal(1).expect("it is there") - 1);
                let to = self.target(reg);
                self.code.put(Inst::Arithmetic { op: Alu::And, to, a, b });
            }
            Prim::ShiftLeft | Prim::ShiftRight if literal(1).is_some() => {
                let from = self.word_of(args[0]);
                let by = literal(1).expect("it is there").rem_euclid(64) as u8;
                let op = match prim {
                    Prim::ShiftLeft => asm::Shift::Left,
                    _ => asm::Shift::Right,
                };
                let to = self.target(reg);
                self.code.put(Inst::ShiftWord { op, to, from, by });
            }
            _ => return false,
        }
        true
    }

    /// A primitive by a call.
    pub(super) fn by_call(&mut self, reg: Reg, prim: Prim, args: &[Operand]) {
        let lanes = self.ty(reg).lanes == LANES;
        let mut passed = Vec::new();
        for arg in args {
            passed.push(match (lanes, self.operand_ty(*arg)) {
                (true, _) => self.stored(*arg),
                (false, _) => self.operand(*arg),
            });
        }
        self.code.call(Helper::Primitive { prim, lanes }, &passed);
        if self.ty(reg).elem == ScalarTy::Bool && lanes {
            let words = self.code.vector();
            self.code.put(Inst::Take { to: words });
            let zero = self.code.constant(0);
            let zero = self.code.in_register(zero);
            let to = self.target(reg);
            return self.code.put(binary(asm::SUB_INT, to, zero, Source::Virtual(words)));
        }
        let to = self.target(reg);
        self.code.put(Inst::Take { to });
    }
}

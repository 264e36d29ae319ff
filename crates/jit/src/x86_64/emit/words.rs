//! Instructions on words.

use super::{Emitter, SCRATCH};
use crate::x86_64::allocate::Home;
use crate::x86_64::assembler::{self as asm, Alu, Condition, Gpr, RAX, RCX, RDX, RSP, RegMem, at};
use crate::x86_64::code::{Address, Test, Virtual, WordOperand};

impl Emitter<'_> {
    /// A register with the word: its home, or else the scratch register.
    pub(super) fn word(&mut self, v: Virtual, scratch: Gpr) -> Gpr {
        match self.home(v) {
            Home::Gpr(reg) => reg,
            Home::Frame(offset) => {
                self.asm.load(scratch, at(RSP, offset));
                scratch
            }
            Home::Ymm(_) => unreachable!("it is a word"),
        }
    }

    pub(super) fn word_of(&mut self, value: WordOperand, scratch: Gpr) -> Gpr {
        match value {
            WordOperand::Virtual(v) => self.word(v, scratch),
            WordOperand::Constant(value) => {
                self.asm.constant(scratch, value);
                scratch
            }
        }
    }

    /// The register in which to compute a result.
    pub(super) fn result(&self, v: Virtual, scratch: Gpr) -> Gpr {
        match self.home(v) {
            Home::Gpr(reg) => reg,
            Home::Frame(_) => scratch,
            Home::Ymm(_) => unreachable!("it is a word"),
        }
    }

    /// Stores a computed result in its home.
    pub(super) fn computed(&mut self, v: Virtual, reg: Gpr) {
        match self.home(v) {
            Home::Gpr(home) => self.asm.copy(home, reg),
            Home::Frame(offset) => self.asm.store(at(RSP, offset), reg),
            Home::Ymm(_) => unreachable!("it is a word"),
        }
    }

    /// A place in memory; `rcx` and `rdx` take a base and an index without registers.
    pub(super) fn address(&mut self, address: Address) -> RegMem {
        let base = self.word(address.base, RCX);
        let index = address.index.map(|index| self.word(index, RDX).0);
        RegMem::Memory { base, index, displacement: address.displacement }
    }

    /// `to = to op value`, in a register.
    pub(super) fn apply(&mut self, op: Alu, to: Gpr, value: WordOperand) {
        match value {
            WordOperand::Virtual(v) => {
                let place = self.place(v);
                self.asm.alu(op, to, place);
            }
            WordOperand::Constant(value) => match i32::try_from(value) {
                Ok(value) => self.asm.alu_constant(op, to.into(), value),
                Err(_) => {
                    let scratch = if to == RAX { RCX } else { RAX };
                    self.asm.constant(scratch, value);
                    self.asm.alu(op, to, scratch.into());
                }
            },
        }
    }

    /// Sets the flags; returns the condition for the test.
    pub(super) fn flags(&mut self, test: Test) -> Condition {
        match test {
            Test::True(v) => {
                let reg = self.word(v, RAX);
                self.asm.test(reg);
                Condition::NotEqual
            }
            Test::Ints(condition, a, b) => {
                let a = self.word(a, RAX);
                self.apply(Alu::Cmp, a, b);
                condition
            }
            // Compares b with a: above means that b is larger and neither is NaN.
            Test::Less { a, b, strict } => {
                let b = self.vector(b, SCRATCH[0]);
                let a = self.place(a);
                self.asm.vector(asm::COMPARE_FLAGS, b.0, None, a);
                if strict { Condition::Above } else { Condition::AboveOrEqual }
            }
        }
    }

    pub(super) fn set(&mut self, to: Virtual, test: Test) {
        let condition = self.flags(test);
        self.asm.set(condition, RAX);
        self.computed(to, RAX);
    }

    pub(super) fn arithmetic(&mut self, op: Alu, to: Virtual, a: Virtual, b: WordOperand) {
        let result = self.result(to, RAX);
        if let (Alu::Add, Home::Gpr(a), WordOperand::Virtual(v)) = (op, self.home(a), b)
            && let Home::Gpr(b) = self.home(v)
            && result != a
            && result != b
        {
            self.asm.sum(result, a, b);
            return self.computed(to, result);
        }
        if let (Alu::Add, Home::Gpr(a), WordOperand::Constant(b)) = (op, self.home(a), b)
            && let Ok(displacement) = i32::try_from(b)
            && result != a
        {
            self.asm.address(result, at(a, displacement));
            return self.computed(to, result);
        }
        // The second operand may be in the result register.
        let is_second = matches!(b, WordOperand::Virtual(b) if self.place(b) == result.into());
        let result = if is_second && self.place(a) != result.into() { RAX } else { result };
        let a = self.place(a);
        if a != result.into() {
            self.asm.load(result, a);
        }
        self.apply(op, result, b);
        self.computed(to, result);
    }

    pub(super) fn multiply(&mut self, to: Virtual, a: Virtual, b: WordOperand) {
        let a = self.place(a);
        match b {
            WordOperand::Constant(by) if i32::try_from(by).is_ok() => {
                let result = self.result(to, RAX);
                self.asm.multiply_constant(result, a, by as i32);
                self.computed(to, result);
            }
            _ => {
                let b = self.word_of(b, RCX);
                self.asm.load(RAX, a);
                self.asm.multiply(RAX, b.into());
                self.computed(to, RAX);
            }
        }
    }

    pub(super) fn choose(&mut self, to: Virtual, test: Test, yes: WordOperand, no: WordOperand) {
        let condition = self.flags(test);
        // Moves preserve the flags, and so do moves of constants.
        let no = self.word_of(no, RDX);
        self.asm.copy(RDX, no);
        let yes = self.word_of(yes, RCX);
        self.asm.copy_if(condition, RDX, yes.into());
        self.computed(to, RDX);
    }

    pub(super) fn copy(&mut self, to: Virtual, from: WordOperand) {
        match (self.home(to), from) {
            (Home::Gpr(reg), WordOperand::Virtual(from)) => {
                let from = self.place(from);
                if from != reg.into() {
                    self.asm.load(reg, from);
                }
            }
            (Home::Gpr(reg), WordOperand::Constant(value)) => self.asm.constant(reg, value),
            (Home::Frame(_) | Home::Ymm(_), from) => {
                let from = self.word_of(from, RAX);
                self.computed(to, from);
            }
        }
    }

    pub(super) fn store(&mut self, to: Address, from: WordOperand) {
        let short = match from {
            WordOperand::Constant(value) => i32::try_from(value).ok(),
            WordOperand::Virtual(_) => None,
        };
        let to = self.address(to);
        match short {
            Some(value) => self.asm.store_constant(to, value),
            None => {
                let from = self.word_of(from, RAX);
                self.asm.store(to, from);
            }
        }
    }
}

//! Instructions on vectors.

use super::{Emitter, SCRATCH};
use crate::x86_64::allocate::Home;
use crate::x86_64::assembler::{
    self as asm, Fused, Gpr, Order, RAX, RCX, RSP, RegMem, Vex, Ymm, at,
};
use crate::x86_64::code::{Address, Source, Virtual};

impl Emitter<'_> {
    pub(super) fn vector(&mut self, v: Virtual, scratch: Ymm) -> Ymm {
        match self.home(v) {
            Home::Ymm(reg) => reg,
            Home::Frame(offset) => {
                self.asm.vector(asm::LOAD, scratch.0, None, at(RSP, offset));
                scratch
            }
            Home::Gpr(_) => unreachable!("it is a vector"),
        }
    }

    pub(super) fn vector_result(&self, v: Virtual) -> Ymm {
        match self.home(v) {
            Home::Ymm(reg) => reg,
            Home::Frame(_) => SCRATCH[2],
            Home::Gpr(_) => unreachable!("it is a vector"),
        }
    }

    pub(super) fn vector_computed(&mut self, v: Virtual, reg: Ymm) {
        match self.home(v) {
            Home::Ymm(home) if home == reg => {}
            Home::Ymm(home) => self.asm.vector(asm::LOAD, home.0, None, reg.into()),
            Home::Frame(offset) => self.asm.vector(asm::STORE, reg.0, None, at(RSP, offset)),
            Home::Gpr(_) => unreachable!("it is a vector"),
        }
    }

    pub(super) fn source(&mut self, source: Source) -> RegMem {
        match source {
            Source::Virtual(v) => self.place(v),
            Source::Memory(address) => self.address(address),
            Source::Constant(number) => RegMem::Constant(number),
        }
    }

    pub(super) fn fused(&mut self, op: Fused, to: Virtual, a: Virtual, b: Source, c: Source) {
        let result = self.vector_result(to);
        let mut a = self.vector(a, SCRATCH[0]);
        let b = self.source(b);
        let mut c = self.source(c);
        let in_register = |place: RegMem| matches!(place, RegMem::Reg(_));
        if !in_register(b) && !in_register(c) {
            self.asm.vector(asm::LOAD, SCRATCH[1].0, None, c);
            c = SCRATCH[1].into();
        }
        // One of the three operands must be in the result register; if none is, one is copied
        // there.
        if c != result.into() && a != result && b != result.into() {
            match c {
                RegMem::Reg(_) => {
                    self.asm.vector(asm::LOAD, result.0, None, c);
                    c = result.into();
                }
                RegMem::Memory { .. } | RegMem::Constant(_) => {
                    self.asm.vector(asm::LOAD, result.0, None, a.into());
                    a = result;
                }
            }
        }
        let (order, between, last) = if c == result.into() {
            (Order::PlusTo, a.0, b)
        } else if let (true, RegMem::Reg(b)) = (a == result, b) {
            (Order::PlusLast, b, c)
        } else if b == result.into() {
            (Order::PlusLast, a.0, c)
        } else if let RegMem::Reg(c) = c {
            (Order::TimesLast, c, b)
        } else {
            unreachable!("one of two operands is in a register")
        };
        self.asm.vector(op.vex(order), result.0, Some(between), last);
        self.vector_computed(to, result);
    }

    pub(super) fn gather(
        &mut self,
        to: Virtual,
        from: Address,
        offsets: Virtual,
        mask: Option<Virtual>,
    ) {
        let [index, result, through] = SCRATCH;
        let offsets = self.vector(offsets, index);
        match mask {
            Some(mask) => {
                let mask = self.place(mask);
                self.asm.vector(asm::LOAD, through.0, None, mask);
            }
            None => self.asm.vector(asm::EQUAL_INT, through.0, Some(through.0), through.into()),
        }
        self.asm.vector(asm::XOR, result.0, Some(result.0), result.into());
        let base = self.plain(from);
        let place =
            RegMem::Memory { base, index: Some(offsets.0), displacement: from.displacement };
        self.asm.vector(asm::GATHER, result.0, Some(through.0), place);
        self.vector_computed(to, result);
    }

    /// A register with the address without its displacement.
    pub(super) fn plain(&mut self, address: Address) -> Gpr {
        match address.index {
            None => self.word(address.base, RCX),
            Some(_) => {
                let place = self.address(Address { displacement: 0, ..address });
                self.asm.address(RCX, place);
                RCX
            }
        }
    }

    /// Lane after lane, so that of equal offsets the last lane wins.
    pub(super) fn scatter(&mut self, to: Address, from: Virtual, offsets: Virtual) {
        let [high, offset_high, spare] = SCRATCH;
        let base = self.plain(to);
        let displacement = to.displacement;
        let place = RegMem::Memory { base, index: Some(RAX.0), displacement };
        let mut from = self.vector(from, high);
        let mut offsets = self.vector(offsets, offset_high);
        for half in 0..2 {
            if half == 1 {
                let (of, to) = (from.0, high.into());
                self.asm.vector_with(asm::EXTRACT_HALF, of, None, to, Some(1));
                let (of, to) = (offsets.0, spare.into());
                self.asm.vector_with(asm::EXTRACT_HALF, of, None, to, Some(1));
                (from, offsets) = (high, spare);
            }
            self.asm.vector(asm::TO_WORD, offsets.0, None, RAX.into());
            self.asm.vector(asm::STORE_LOW, from.0, None, place);
            self.asm.vector_with(asm::EXTRACT_WORD, offsets.0, None, RAX.into(), Some(1));
            self.asm.vector(asm::STORE_HIGH, from.0, None, place);
        }
    }

    pub(super) fn shift_lanes(&mut self, left: bool, to: Ymm, from: Ymm, by: u8) {
        let number = if left { 6 } else { 2 };
        self.asm.vector_with(asm::SHIFT_IMMEDIATE, number, Some(to.0), from.into(), Some(by));
    }

    pub(super) fn lanes(
        &mut self,
        op: Vex,
        to: Virtual,
        (a, b): (Option<Virtual>, Source),
        constant: Option<u8>,
    ) {
        let result = self.vector_result(to);
        let a = a.map(|a| self.vector(a, SCRATCH[0]).0);
        let b = self.source(b);
        // A move to its own register is omitted.
        if op != asm::LOAD || b != result.into() {
            self.asm.vector_with(op, result.0, a, b, constant);
        }
        self.vector_computed(to, result);
    }

    pub(super) fn blend(&mut self, to: Virtual, mask: Virtual, yes: Source, no: Virtual) {
        let result = self.vector_result(to);
        let mask = self.vector(mask, SCRATCH[0]);
        let no = self.vector(no, SCRATCH[1]);
        let yes = self.source(yes);
        // The mask is the fourth register operand, encoded in the immediate.
        let mask = Some(mask.0 << 4);
        self.asm.vector_with(asm::BLEND, result.0, Some(no.0), yes, mask);
        self.vector_computed(to, result);
    }

    pub(super) fn store_lanes(
        &mut self,
        op: Vex,
        to: Address,
        from: Virtual,
        mask: Option<Virtual>,
    ) {
        let from = self.vector(from, SCRATCH[0]);
        let mask = mask.map(|mask| self.vector(mask, SCRATCH[1]).0);
        let to = self.address(to);
        self.asm.vector(op, from.0, mask, to);
    }

    pub(super) fn spread(&mut self, to: Virtual, from: Virtual) {
        let result = self.vector_result(to);
        match self.home(from) {
            Home::Gpr(reg) => {
                self.asm.vector(asm::FROM_WORD, result.0, None, reg.into());
                self.asm.vector(asm::BROADCAST, result.0, None, result.into());
            }
            Home::Frame(_) | Home::Ymm(_) => {
                let from = self.place(from);
                self.asm.vector(asm::BROADCAST, result.0, None, from);
            }
        }
        self.vector_computed(to, result);
    }

    pub(super) fn real(&mut self, to: Virtual, from: Virtual) {
        let result = self.vector_result(to);
        let from = self.place(from);
        // The instruction keeps the upper half of its second operand; zeros avoid a false
        // dependence.
        let zero = SCRATCH[0];
        self.asm.vector(asm::XOR, zero.0, Some(zero.0), zero.into());
        self.asm.vector(asm::FROM_INT, result.0, Some(zero.0), from);
        self.asm.vector(asm::BROADCAST, result.0, None, result.into());
        self.vector_computed(to, result);
    }
}

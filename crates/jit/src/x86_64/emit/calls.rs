//! Instructions that leave a region temporarily (calls and allocation), and access to the
//! interpreter's slots.

use std::mem::offset_of;

use lambada_loops::Range;

use super::{ARGUMENT, Emitter, MEMORY, RANGES, REFUSED, SCRATCH, SLOTS, VECTORS, WORDS};
use crate::x86_64::allocate::Home;
use crate::x86_64::assembler::{
    self as asm, Alu, Condition, R15, RAX, RCX, RDI, RDX, RSI, RSP, RegMem, at,
};
use crate::x86_64::code::{Class, Form, Virtual, WordOperand};
use crate::x86_64::helpers::Helper;

/// The place in which a register is saved across calls.
fn saved_at(home: &Home) -> RegMem {
    match home {
        Home::Gpr(reg) => at(RSP, WORDS + 8 * i32::from(reg.0)),
        Home::Ymm(reg) => at(RSP, VECTORS + 32 * i32::from(reg.0)),
        Home::Frame(_) => unreachable!("it has a register"),
    }
}

impl Emitter<'_> {
    pub(super) fn save(&mut self, home: Home, place: RegMem) {
        match home {
            Home::Gpr(reg) => self.asm.store(place, reg),
            Home::Ymm(reg) => self.asm.vector(asm::STORE, reg.0, None, place),
            Home::Frame(_) => unreachable!("it has a register"),
        }
    }

    pub(super) fn restore(&mut self, home: Home, place: RegMem) {
        match home {
            Home::Gpr(reg) => self.asm.load(reg, place),
            Home::Ymm(reg) => self.asm.vector(asm::LOAD, reg.0, None, place),
            Home::Frame(_) => unreachable!("it has a register"),
        }
    }

    pub(super) fn call(&mut self, number: usize, helper: Helper) {
        let allocation = self.allocation;
        let saved = &allocation.across[&number];
        saved.iter().for_each(|home| self.save(*home, saved_at(home)));
        self.asm.copy(RDI, RSP);
        self.asm.constant(RSI, i64::from(helper.number()));
        self.asm.constant(RAX, helper.address());
        self.asm.zero_upper();
        self.asm.call(RAX);
        saved.iter().for_each(|home| self.restore(*home, saved_at(home)));
    }

    pub(super) fn alloc(&mut self, number: usize, buf: u32, sizes: &[WordOperand]) {
        let allocation = self.allocation;
        let saved = &allocation.across[&number];
        for (k, size) in sizes.iter().enumerate() {
            let size = self.word_of(*size, RAX);
            self.asm.store(at(RSP, 8 * k as i32), size);
        }
        saved.iter().for_each(|home| self.save(*home, saved_at(home)));
        self.asm.copy(RDI, RSP);
        self.asm.copy(RSI, R15);
        self.asm.constant(RDX, i64::from(buf));
        self.asm.constant(RCX, sizes.len() as i64);
        self.asm.constant(RAX, Helper::Alloc.address());
        self.asm.zero_upper();
        self.asm.call(RAX);
        saved.iter().for_each(|home| self.restore(*home, saved_at(home)));
        self.asm.alu_constant(Alu::Cmp, at(R15, REFUSED), 0);
        self.asm.jump_if(Condition::NotEqual, self.refused);
        // The number of bytes by which the arena has moved.
        let stayed = self.asm.label();
        self.asm.test(RAX);
        self.asm.jump_if(Condition::Equal, stayed);
        for home in &allocation.addresses[&number] {
            match home {
                Home::Gpr(reg) => self.asm.alu(Alu::Add, *reg, RAX.into()),
                Home::Frame(offset) => {
                    self.asm.load(RCX, at(RSP, *offset));
                    self.asm.alu(Alu::Add, RCX, RAX.into());
                    self.asm.store(at(RSP, *offset), RCX);
                }
                Home::Ymm(_) => unreachable!("it is a word"),
            }
        }
        self.asm.bind(stayed);
    }

    pub(super) fn read_slot(&mut self, to: Virtual, slot: u32, form: Form) {
        self.asm.load(RAX, at(R15, SLOTS));
        let place = at(RAX, 8 * slot as i32);
        if form == Form::Word {
            let result = self.result(to, RAX);
            self.asm.load(result, place);
            return self.computed(to, result);
        }
        let result = self.vector_result(to);
        match form {
            Form::Spread => self.asm.vector(asm::BROADCAST, result.0, None, place),
            Form::Lanes => self.asm.vector(asm::LOAD, result.0, None, place),
            Form::Masks => {
                let zero = SCRATCH[0];
                self.asm.vector(asm::XOR, zero.0, Some(zero.0), zero.into());
                self.asm.vector(asm::SUB_INT, result.0, Some(zero.0), place);
            }
            Form::Word => unreachable!("it has been read"),
        }
        self.vector_computed(to, result);
    }

    pub(super) fn write_slot(&mut self, from: Virtual, slot: u32, form: Form) {
        self.asm.load(RAX, at(R15, SLOTS));
        let place = at(RAX, 8 * slot as i32);
        if form == Form::Word {
            let from = self.word(from, RCX);
            return self.asm.store(place, from);
        }
        let from = self.vector(from, SCRATCH[0]);
        match form {
            Form::Spread => self.asm.vector(asm::STORE_LOW, from.0, None, place),
            Form::Lanes => self.asm.vector(asm::STORE, from.0, None, place),
            Form::Masks => {
                let ones = SCRATCH[1];
                self.shift_lanes(false, ones, from, 63);
                self.asm.vector(asm::STORE, ones.0, None, place);
            }
            Form::Word => unreachable!("it has been written"),
        }
    }

    pub(super) fn pass(&mut self, argument: u8, value: Virtual) {
        let to = at(RSP, ARGUMENT * i32::from(argument));
        match self.home(value) {
            Home::Gpr(reg) => self.asm.store(to, reg),
            Home::Ymm(reg) => self.asm.vector(asm::STORE, reg.0, None, to),
            // For a word, the bytes after it are irrelevant.
            Home::Frame(offset) => self.through_scratch(at(RSP, offset), to),
        }
    }

    pub(super) fn take(&mut self, to: Virtual) {
        let from = at(RSP, 0);
        match (self.home(to), self.listing.class(to)) {
            (Home::Gpr(reg), _) => self.asm.load(reg, from),
            (Home::Ymm(reg), _) => self.asm.vector(asm::LOAD, reg.0, None, from),
            (Home::Frame(offset), Class::Word) => {
                self.asm.load(RAX, from);
                self.asm.store(at(RSP, offset), RAX);
            }
            (Home::Frame(offset), Class::Vector) => self.through_scratch(from, at(RSP, offset)),
        }
    }

    fn through_scratch(&mut self, from: RegMem, to: RegMem) {
        let scratch = SCRATCH[0].0;
        self.asm.vector(asm::LOAD, scratch, None, from);
        self.asm.vector(asm::STORE, scratch, None, to);
    }

    pub(super) fn buffer(&mut self, to: Virtual, number: u32) {
        self.asm.load(RAX, at(R15, RANGES));
        let range = number as i32 * size_of::<Range>() as i32;
        self.asm.load(RAX, at(RAX, range + offset_of!(Range, origin) as i32));
        self.asm.shift(asm::Shift::Left, RAX, 3);
        self.asm.alu(Alu::Add, RAX, at(R15, MEMORY));
        self.computed(to, RAX);
    }

    pub(super) fn swap(&mut self, a: Virtual, b: Virtual, numbers: [u32; 2]) {
        let (a_reg, b_reg) = (self.word(a, RAX), self.word(b, RCX));
        self.asm.exchange(a_reg, b_reg.into());
        self.computed(a, a_reg);
        self.computed(b, b_reg);
        self.asm.load(RAX, at(R15, RANGES));
        let size = size_of::<Range>() as i32;
        for word in (0..size).step_by(8) {
            let [a, b] = numbers.map(|number| at(RAX, number as i32 * size + word));
            self.asm.load(RCX, a);
            self.asm.load(RDX, b);
            self.asm.store(b, RCX);
            self.asm.store(a, RDX);
        }
    }
}

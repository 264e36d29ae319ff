//! Early ends of a region.

use std::mem::offset_of;

use lambada_loops::Fuel;

use super::{Emitter, FUEL, Failing, LEFT, MESSAGE, VECTORS, WORDS};
use crate::x86_64::allocate::Home;
use crate::x86_64::assembler::{Alu, Condition, Gpr, R15, RAX, RDI, RDX, RSP, RegMem, Ymm, at};
use crate::x86_64::context::{FAILED, NO_ROOM};
use crate::x86_64::helpers::Helper;

impl Emitter<'_> {
    /// Emits the early ends.
    pub(super) fn exits(&mut self) {
        self.asm.bind(self.refused);
        self.asm.constant(RAX, i64::from(NO_ROOM));
        self.asm.jump(self.end);
        if !self.polls.is_empty() {
            self.ask();
        }
        for (from, back) in std::mem::take(&mut self.polls) {
            self.asm.bind(from);
            self.asm.call_label(self.refill);
            self.asm.jump(back);
        }
        for Failing { label, number, values } in std::mem::take(&mut self.failing) {
            self.asm.bind(label);
            self.asm.load(RDX, at(R15, MESSAGE));
            for (k, value) in values.into_iter().enumerate() {
                let from = self.word_of(value, RAX);
                self.asm.store(at(RDX, 8 * k as i32), from);
            }
            self.asm.constant(RAX, i64::from(number + FAILED));
            self.asm.jump(self.end);
        }
    }

    /// A function of the region that preserves all registers: returns if more fuel is granted, else
    /// ends the region.
    pub(super) fn ask(&mut self) {
        // Frame offsets are larger by the return address.
        let vectors =
            (0..16).map(|k| (Home::Ymm(Ymm(k)), at(RSP, VECTORS + 32 * i32::from(k) + 8)));
        let words = (0..16).filter(|k| ![RAX.0, RSP.0].contains(k));
        let words = words.map(|k| (Home::Gpr(Gpr(k)), at(RSP, WORDS + 8 * i32::from(k) + 8)));
        let places: Vec<(Home, RegMem)> = vectors.take(13).chain(words).collect();
        self.asm.bind(self.refill);
        places.iter().for_each(|(home, place)| self.save(*home, *place));
        self.asm.load(RDI, at(R15, FUEL));
        self.asm.load(RAX, at(RSP, LEFT + 8));
        self.asm.store(at(RDI, offset_of!(Fuel, left) as i32), RAX);
        self.asm.constant(RAX, Helper::Refill.address());
        self.asm.zero_upper();
        self.asm.alu_constant(Alu::Sub, RSP.into(), 8);
        self.asm.call(RAX);
        self.asm.alu_constant(Alu::Add, RSP.into(), 8);
        places.iter().for_each(|(home, place)| self.restore(*home, *place));
        let stop = self.asm.label();
        self.asm.test(RAX);
        self.asm.jump_if(Condition::NotEqual, stop);
        self.asm.load(RAX, at(R15, FUEL));
        self.asm.load(RAX, at(RAX, offset_of!(Fuel, left) as i32));
        self.asm.store(at(RSP, LEFT + 8), RAX);
        self.asm.give_back();
        self.asm.bind(stop);
        self.asm.alu_constant(Alu::Add, RSP.into(), 8);
        self.asm.jump(self.end);
    }
}

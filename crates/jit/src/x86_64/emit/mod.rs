//! Code emission: from instructions on virtual registers to bytes.
//!
//! - here: the frame, control, and the dispatch of instructions;
//! - `words` and `vectors`: instructions on either; `calls`: instructions that leave the region
//!   temporarily, and slots; `exits`: early ends of a region.
//!
//! The frame starts with the arguments of calls, four words each, and the registers saved across
//! them; spilled virtual registers follow. `rax`, `rcx`, `rdx` and the last three vector registers
//! are scratch within an instruction; `r15` is the address of the [`Context`].

mod calls;
mod exits;
mod vectors;
mod words;

use std::mem::offset_of;

use lambada_loops::Fuel;

use crate::x86_64::allocate::{Allocation, Home};
use crate::x86_64::assembler::{
    self as asm, Alu, Assembler, Condition, Gpr, Label, R12, R13, R14, R15, RAX, RBP, RBX, RCX,
    RDI, RDX, RSP, RegMem, Ymm, at,
};
use crate::x86_64::code::{Control, Inst, Listing, Virtual, WordOperand};
use crate::x86_64::context::{Context, DONE};
use crate::x86_64::helpers::ARGUMENTS;

/// The size of a call argument in bytes, and the offsets of saved vector and general registers.
const ARGUMENT: i32 = 32;
const VECTORS: i32 = ARGUMENTS as i32 * ARGUMENT;
const WORDS: i32 = VECTORS + 13 * 32;
/// The offset of the remaining fuel.
const LEFT: i32 = WORDS + 16 * 8;
/// The offset of spilled virtual registers.
pub(crate) const TAKEN: i32 = LEFT + 32;

/// Maximal size of a frame, because threads have small stacks.
const LARGEST: i32 = 512 << 10;
/// Page size: the system grows a stack page by page as it is touched.
const PAGE: i32 = 4096;

/// Callee-saved registers of a region.
const CALLER: [Gpr; 6] = [RBX, RBP, R12, R13, R14, R15];

/// Scratch registers within an instruction.
const SCRATCH: [Ymm; 3] = [Ymm(13), Ymm(14), Ymm(15)];

const SLOTS: i32 = offset_of!(Context, slots) as i32;
const MEMORY: i32 = offset_of!(Context, memory) as i32;
const RANGES: i32 = offset_of!(Context, ranges) as i32;
const FUEL: i32 = offset_of!(Context, fuel) as i32;
const MESSAGE: i32 = offset_of!(Context, values) as i32;
const TAKEN_WORDS: i32 = offset_of!(Context, taken) as i32;
const REFUSED: i32 = offset_of!(Context, refused) as i32;

/// A failing check: its label, its number, and the values of its message.
struct Failing {
    label: Label,
    number: u32,
    values: Vec<WordOperand>,
}

struct Emitter<'a> {
    listing: &'a Listing,
    allocation: &'a Allocation,
    asm: Assembler,
    end: Label,
    /// Asks for more fuel.
    refill: Label,
    failing: Vec<Failing>,
    /// The exit for a refused allocation.
    refused: Label,
    /// Backward jumps without fuel: their labels, and the labels to return to.
    polls: Vec<(Label, Label)>,
}

/// The bytes of a region; `None` if its frame is too large.
pub(crate) fn emit(listing: &Listing, allocation: &Allocation) -> Option<Vec<u8>> {
    // The stack has six saved registers and the return address, and must be aligned to 16 bytes.
    let frame = (allocation.frame + 15) / 16 * 16 + 8;
    if frame > LARGEST {
        return None;
    }
    let mut asm = Assembler::default();
    for _ in 0..listing.labels {
        asm.label();
    }
    let [end, refill, refused] = [(); 3].map(|()| asm.label());
    let mut emitter = Emitter {
        listing,
        allocation,
        asm,
        end,
        refill,
        failing: Vec::new(),
        refused,
        polls: Vec::new(),
    };
    CALLER.into_iter().for_each(|reg| emitter.asm.push(reg));
    for page in 1..=frame / PAGE {
        emitter.asm.alu_constant(Alu::Or, at(RSP, -page * PAGE), 0);
    }
    emitter.asm.alu_constant(Alu::Sub, RSP.into(), frame);
    emitter.asm.copy(R15, RDI);
    let left = offset_of!(Fuel, left) as i32;
    emitter.asm.load(RAX, at(R15, FUEL));
    emitter.asm.load(RAX, at(RAX, left));
    emitter.asm.store(at(RSP, LEFT), RAX);
    for (number, inst) in listing.insts.iter().enumerate() {
        emitter.inst(number, inst);
    }
    emitter.asm.constant(RAX, i64::from(DONE));
    emitter.asm.bind(end);
    emitter.asm.load(RCX, at(R15, FUEL));
    emitter.asm.load(RDX, at(RSP, LEFT));
    emitter.asm.store(at(RCX, left), RDX);
    emitter.asm.zero_upper();
    emitter.asm.alu_constant(Alu::Add, RSP.into(), frame);
    CALLER.into_iter().rev().for_each(|reg| emitter.asm.pop(reg));
    emitter.asm.give_back();
    emitter.exits();
    Some(emitter.asm.finish(&listing.constants))
}

impl Emitter<'_> {
    fn home(&self, v: Virtual) -> Home {
        self.allocation.homes[v.0 as usize]
    }

    /// The home of a virtual register, as an operand that may be in memory.
    fn place(&self, v: Virtual) -> RegMem {
        match self.home(v) {
            Home::Gpr(reg) => reg.into(),
            Home::Ymm(reg) => reg.into(),
            Home::Frame(offset) => at(RSP, offset),
        }
    }

    fn inst(&mut self, number: usize, inst: &Inst) {
        match *inst {
            Inst::Vector { op, to, a, b, constant } => self.lanes(op, to, (a, b), constant),
            Inst::Fused { op, to, a, b, c } => self.fused(op, to, a, b, c),
            Inst::Blend { to, mask, yes, no } => self.blend(to, mask, yes, no),
            Inst::ShiftLanes { left, to, from, by } => {
                let result = self.vector_result(to);
                let from = self.vector(from, SCRATCH[0]);
                self.shift_lanes(left, result, from, by);
                self.vector_computed(to, result);
            }
            Inst::StoreVector { to, from } => self.store_lanes(asm::STORE, to, from, None),
            Inst::StoreLow { to, from } => self.store_lanes(asm::STORE_LOW, to, from, None),
            Inst::StoreMasked { to, from, mask } => {
                self.store_lanes(asm::STORE_MASKED, to, from, Some(mask));
            }
            Inst::Gather { to, from, offsets, mask } => self.gather(to, from, offsets, mask),
            Inst::Scatter { to, from, offsets } => self.scatter(to, from, offsets),
            Inst::Spread { to, from } => self.spread(to, from),
            Inst::First { to, from } => {
                let from = self.vector(from, SCRATCH[0]);
                let result = self.result(to, RAX);
                self.asm.vector(asm::TO_WORD, from.0, None, result.into());
                self.computed(to, result);
            }
            Inst::Real { to, from } => self.real(to, from),
            Inst::Signs { to, from } => {
                let from = self.vector(from, SCRATCH[0]);
                let result = self.result(to, RAX);
                self.asm.vector(asm::SIGNS, result.0, None, from.into());
                self.computed(to, result);
            }
            Inst::Copy { to, from } => self.copy(to, from),
            Inst::Arithmetic { op, to, a, b } => self.arithmetic(op, to, a, b),
            Inst::Multiply { to, a, b } => self.multiply(to, a, b),
            Inst::ShiftWord { op, to, from, by } => {
                let result = self.result(to, RAX);
                let from = self.place(from);
                if from != result.into() {
                    self.asm.load(result, from);
                }
                self.asm.shift(op, result, by);
                self.computed(to, result);
            }
            Inst::Set { to, test } => self.set(to, test),
            Inst::Choose { to, test, yes, no } => self.choose(to, test, yes, no),
            Inst::Load { to, from } => {
                let result = self.result(to, RAX);
                let from = self.address(from);
                self.asm.load(result, from);
                self.computed(to, result);
            }
            Inst::Store { to, from } => self.store(to, from),
            Inst::AddressOf { to, of } => {
                let of = self.address(of);
                let result = self.result(to, RAX);
                self.asm.address(result, of);
                self.computed(to, result);
            }
            Inst::Control(control) => self.control(control),
            Inst::Unless { test, to } => {
                let condition = self.flags(test);
                self.asm.jump_if(condition.not(), to);
            }
            Inst::Next { index, step, end, top } => self.next(index, step, end, top),
            Inst::Check { test, number, ref values } => {
                let label = self.asm.label();
                let condition = self.flags(test);
                self.asm.jump_if(condition.not(), label);
                self.failing.push(Failing { label, number, values: values.clone() });
            }
            Inst::Pass { argument, value } => self.pass(argument, value),
            Inst::Call(helper) => self.call(number, helper),
            Inst::Take { to } => self.take(to),
            Inst::ReadSlot { to, slot, form } => self.read_slot(to, slot, form),
            Inst::WriteSlot { from, slot, form } => self.write_slot(from, slot, form),
            Inst::Buffer { to, number } => self.buffer(to, number),
            Inst::Alloc { number: buf, ref sizes } => self.alloc(number, buf, sizes),
            Inst::Mark { to } => {
                self.asm.load(RAX, at(R15, TAKEN_WORDS));
                let result = self.result(to, RAX);
                self.asm.load(result, at(RAX, 0));
                self.computed(to, result);
            }
            Inst::Release { from } => {
                let from = self.word(from, RCX);
                self.asm.load(RAX, at(R15, TAKEN_WORDS));
                self.asm.store(at(RAX, 0), from);
            }
            Inst::Swap { a, b, numbers } => self.swap(a, b, numbers),
        }
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Bind(label) => self.asm.bind(label),
            Control::Jump(label) => self.asm.jump(label),
            Control::Enter | Control::Leave => {}
            Control::Poll { work } => {
                let (out, back) = (self.asm.label(), self.asm.label());
                self.asm.alu_constant(Alu::Sub, at(RSP, LEFT), work);
                self.asm.jump_if(Condition::Negative, out);
                self.asm.bind(back);
                self.polls.push((out, back));
            }
        }
    }

    fn next(&mut self, index: Virtual, step: i32, end: WordOperand, top: Label) {
        let exit = self.asm.label();
        let reg = self.word(index, RAX);
        self.asm.alu_constant(Alu::Add, reg.into(), step);
        self.asm.jump_if(Condition::Overflow, exit);
        self.computed(index, reg);
        self.apply(Alu::Cmp, reg, end);
        self.asm.jump_if(Condition::Less, top);
        self.asm.bind(exit);
    }
}

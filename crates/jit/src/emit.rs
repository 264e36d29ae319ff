//! From instructions on virtual registers to bytes.
//!
//! The frame begins with three arguments of calls, of four words each, and what is saved across them; then come virtual registers without a register. `rax`, `rcx`, `rdx`
//! and the last three vector registers are changed within an instruction and hold nothing between two; `r15` is the address of the [`Context`].

use std::ffi::c_void;
use std::mem::offset_of;

use lambada_loops::{Fuel, Range};
use lambada_source::Failure;

use crate::allocate::{Allocation, Home};
use crate::assembler::{
    self as asm, Alu, Assembler, Condition, Fused, Gpr, Label, Order, Place, R12, R13, R14, R15,
    RAX, RBP, RBX, RCX, RDI, RDX, RSI, RSP, Ymm, at,
};
use crate::helpers;
use crate::code::{Address, Class, Form, Inst, Listing, Source, Test, Value, Virtual};

/// What a region is called with.
#[repr(C)]
pub(crate) struct Context {
    pub slots: *mut u64,
    pub memory: *mut u64,
    pub ranges: *mut Range,
    pub fuel: *mut Fuel,
    /// How many words of the arena are taken.
    pub taken: *mut usize,
    /// The arena, for whoever allocates; and what there is no room for.
    pub room: *mut c_void,
    pub failure: Option<Failure>,
    /// Is there no room?
    pub refused: u64,
    /// Room for the values of a check that fails.
    pub values: *mut i64,
}

/// What a region gives: it is done, or may not go on; anything above is the number of a check that fails, and this.
pub(crate) const DONE: u32 = 0;
pub(crate) const CANCELLED: u32 = 1;
pub(crate) const EXHAUSTED: u32 = 2;
pub(crate) const NO_ROOM: u32 = 3;
pub(crate) const FAILED: u32 = 4;

/// Bytes of an argument of a call, and where vector and general registers are saved.
const ARGUMENT: i32 = 32;
const VECTORS: i32 = 3 * ARGUMENT;
const WORDS: i32 = VECTORS + 13 * 32;
/// How much fuel is left.
const LEFT: i32 = WORDS + 16 * 8;
/// Where virtual registers begin.
pub(crate) const TAKEN: i32 = LEFT + 32;

/// A larger frame is none: threads have small stacks.
const LARGEST: i32 = 512 << 10;
/// The system notices that a stack grows where it is touched, page by page.
const PAGE: i32 = 4096;

/// Registers that whoever calls a region expects to stay.
const CALLER: [Gpr; 6] = [RBX, RBP, R12, R13, R14, R15];

/// Within an instruction.
const SCRATCH: [Ymm; 3] = [Ymm(13), Ymm(14), Ymm(15)];

const SLOTS: i32 = offset_of!(Context, slots) as i32;
const MEMORY: i32 = offset_of!(Context, memory) as i32;
const RANGES: i32 = offset_of!(Context, ranges) as i32;
const FUEL: i32 = offset_of!(Context, fuel) as i32;
const MESSAGE: i32 = offset_of!(Context, values) as i32;
const TAKEN_WORDS: i32 = offset_of!(Context, taken) as i32;
const REFUSED: i32 = offset_of!(Context, refused) as i32;

/// A check that fails: where it goes, its number, and the values of its message.
struct Failing {
    label: Label,
    number: u32,
    values: Vec<Value>,
}

struct Emitter<'a> {
    listing: &'a Listing,
    allocation: &'a Allocation,
    asm: Assembler,
    end: Label,
    /// Asks whether to go on.
    refill: Label,
    failing: Vec<Failing>,
    /// Where there is no room.
    refused: Label,
    /// Backward jumps without fuel: where they go, and where they come back.
    polls: Vec<(Label, Label)>,
}

/// The bytes of a region, or nothing if its frame is too large.
pub(crate) fn emit(listing: &Listing, allocation: &Allocation) -> Option<Vec<u8>> {
    // Six registers and the way back are on the stack, which is to be aligned to 16 bytes.
    let frame = (allocation.frame + 15) / 16 * 16 + 8;
    if frame > LARGEST {
        return None;
    }
    let mut asm = Assembler::default();
    for _ in 0..listing.labels {
        asm.label();
    }
    let [end, refill, refused] = [(); 3].map(|()| asm.label());
    let mut emitter = Emitter { listing, allocation, asm, end, refill, failing: Vec::new(), refused, polls: Vec::new() };
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

/// Where a register is saved across calls.
fn saved_at(home: &Home) -> Place {
    match home {
        Home::Gpr(reg) => at(RSP, WORDS + 8 * i32::from(reg.0)),
        Home::Ymm(reg) => at(RSP, VECTORS + 32 * i32::from(reg.0)),
        Home::Frame(_) => unreachable!("it has a register"),
    }
}

impl Emitter<'_> {
    /// How a region ends early.
    fn exits(&mut self) {
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

    /// A function of the region that changes no register: comes back if there is more fuel, and else ends the region.
    fn ask(&mut self) {
        // What is in the frame is farther away, by the way back.
        let vectors = (0..16).map(|k| (Home::Ymm(Ymm(k)), at(RSP, VECTORS + 32 * i32::from(k) + 8)));
        let words = (0..16).filter(|k| ![RAX.0, RSP.0].contains(k));
        let words = words.map(|k| (Home::Gpr(Gpr(k)), at(RSP, WORDS + 8 * i32::from(k) + 8)));
        let places: Vec<(Home, Place)> = vectors.take(13).chain(words).collect();
        self.asm.bind(self.refill);
        places.iter().for_each(|(home, place)| self.save(*home, *place));
        self.asm.load(RDI, at(R15, FUEL));
        self.asm.load(RAX, at(RSP, LEFT + 8));
        self.asm.store(at(RDI, offset_of!(Fuel, left) as i32), RAX);
        self.asm.constant(RAX, helpers::REFILL.address() as i64);
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

    fn save(&mut self, home: Home, place: Place) {
        match home {
            Home::Gpr(reg) => self.asm.store(place, reg),
            Home::Ymm(reg) => self.asm.vector(asm::STORE, reg.0, None, place),
            Home::Frame(_) => unreachable!("it has a register"),
        }
    }

    fn restore(&mut self, home: Home, place: Place) {
        match home {
            Home::Gpr(reg) => self.asm.load(reg, place),
            Home::Ymm(reg) => self.asm.vector(asm::LOAD, reg.0, None, place),
            Home::Frame(_) => unreachable!("it has a register"),
        }
    }

    fn home(&self, v: Virtual) -> Home {
        self.allocation.homes[v.0 as usize]
    }

    /// Where it is, as an operand that may be in memory.
    fn place(&self, v: Virtual) -> Place {
        match self.home(v) {
            Home::Gpr(reg) => reg.into(),
            Home::Ymm(reg) => reg.into(),
            Home::Frame(offset) => at(RSP, offset),
        }
    }

    // Words.

    /// A register with the word, which is the scratch register if it has none.
    fn word(&mut self, v: Virtual, scratch: Gpr) -> Gpr {
        match self.home(v) {
            Home::Gpr(reg) => reg,
            Home::Frame(offset) => {
                self.asm.load(scratch, at(RSP, offset));
                scratch
            }
            Home::Ymm(_) => unreachable!("it is a word"),
        }
    }

    fn word_of(&mut self, value: Value, scratch: Gpr) -> Gpr {
        match value {
            Value::Virtual(v) => self.word(v, scratch),
            Value::Constant(value) => {
                self.asm.constant(scratch, value);
                scratch
            }
        }
    }

    /// The register where a result is to be computed.
    fn result(&self, v: Virtual, scratch: Gpr) -> Gpr {
        match self.home(v) {
            Home::Gpr(reg) => reg,
            Home::Frame(_) => scratch,
            Home::Ymm(_) => unreachable!("it is a word"),
        }
    }

    /// The result is there now.
    fn computed(&mut self, v: Virtual, reg: Gpr) {
        match self.home(v) {
            Home::Gpr(home) => self.asm.copy(home, reg),
            Home::Frame(offset) => self.asm.store(at(RSP, offset), reg),
            Home::Ymm(_) => unreachable!("it is a word"),
        }
    }

    /// A place in memory; what has no register is read into `rcx` and `rdx`.
    fn address(&mut self, address: Address) -> Place {
        let base = self.word(address.base, RCX);
        let index = address.index.map(|index| self.word(index, RDX).0);
        Place::Memory { base, index, displacement: address.displacement }
    }

    /// to = to op value, in a register.
    fn apply(&mut self, op: Alu, to: Gpr, value: Value) {
        match value {
            Value::Virtual(v) => {
                let place = self.place(v);
                self.asm.alu(op, to, place);
            }
            Value::Constant(value) => match i32::try_from(value) {
                Ok(value) => self.asm.alu_constant(op, to.into(), value),
                Err(_) => {
                    let scratch = if to == RAX { RCX } else { RAX };
                    self.asm.constant(scratch, value);
                    self.asm.alu(op, to, scratch.into());
                }
            },
        }
    }

    /// Sets the flags; gives the condition that is the test.
    fn flags(&mut self, test: Test) -> Condition {
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
            // The flags of b compared with a: above is true where b is larger and neither is NaN.
            Test::Less { a, b, strict } => {
                let b = self.vector(b, SCRATCH[0]);
                let a = self.place(a);
                self.asm.vector(asm::COMPARE_FLAGS, b.0, None, a);
                if strict { Condition::Above } else { Condition::AboveOrEqual }
            }
        }
    }

    fn set(&mut self, to: Virtual, test: Test) {
        let condition = self.flags(test);
        self.asm.set(condition, RAX);
        self.computed(to, RAX);
    }

    fn arithmetic(&mut self, op: Alu, to: Virtual, a: Virtual, b: Value) {
        let result = self.result(to, RAX);
        if let (Alu::Add, Home::Gpr(a), Value::Virtual(v)) = (op, self.home(a), b)
            && let Home::Gpr(b) = self.home(v)
            && result != a
            && result != b
        {
            self.asm.sum(result, a, b);
            return self.computed(to, result);
        }
        if let (Alu::Add, Home::Gpr(a), Value::Constant(b)) = (op, self.home(a), b)
            && let Ok(displacement) = i32::try_from(b)
            && result != a
        {
            self.asm.address(result, at(a, displacement));
            return self.computed(to, result);
        }
        // The second operand may be where the result goes.
        let is_second = matches!(b, Value::Virtual(b) if self.place(b) == result.into());
        let result = if is_second && self.place(a) != result.into() { RAX } else { result };
        let a = self.place(a);
        if a != result.into() {
            self.asm.load(result, a);
        }
        self.apply(op, result, b);
        self.computed(to, result);
    }

    fn multiply(&mut self, to: Virtual, a: Virtual, b: Value) {
        let a = self.place(a);
        match b {
            Value::Constant(by) if i32::try_from(by).is_ok() => {
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

    fn choose(&mut self, to: Virtual, test: Test, yes: Value, no: Value) {
        let condition = self.flags(test);
        // Moves leave the flags as they are; a constant is moved with a move, too.
        let no = self.word_of(no, RDX);
        self.asm.copy(RDX, no);
        let yes = self.word_of(yes, RCX);
        self.asm.copy_if(condition, RDX, yes.into());
        self.computed(to, RDX);
    }

    // Vectors.

    fn vector(&mut self, v: Virtual, scratch: Ymm) -> Ymm {
        match self.home(v) {
            Home::Ymm(reg) => reg,
            Home::Frame(offset) => {
                self.asm.vector(asm::LOAD, scratch.0, None, at(RSP, offset));
                scratch
            }
            Home::Gpr(_) => unreachable!("it is a vector"),
        }
    }

    fn vector_result(&self, v: Virtual) -> Ymm {
        match self.home(v) {
            Home::Ymm(reg) => reg,
            Home::Frame(_) => SCRATCH[2],
            Home::Gpr(_) => unreachable!("it is a vector"),
        }
    }

    fn vector_computed(&mut self, v: Virtual, reg: Ymm) {
        match self.home(v) {
            Home::Ymm(home) if home == reg => {}
            Home::Ymm(home) => self.asm.vector(asm::LOAD, home.0, None, reg.into()),
            Home::Frame(offset) => self.asm.vector(asm::STORE, reg.0, None, at(RSP, offset)),
            Home::Gpr(_) => unreachable!("it is a vector"),
        }
    }

    fn source(&mut self, source: Source) -> Place {
        match source {
            Source::Virtual(v) => self.place(v),
            Source::Memory(address) => self.address(address),
            Source::Constant(number) => Place::Constant(number),
        }
    }

    fn fused(&mut self, op: Fused, to: Virtual, a: Virtual, b: Source, c: Source) {
        let result = self.vector_result(to);
        let mut a = self.vector(a, SCRATCH[0]);
        let b = self.source(b);
        let mut c = self.source(c);
        let in_register = |place: Place| matches!(place, Place::Reg(_));
        if !in_register(b) && !in_register(c) {
            self.asm.vector(asm::LOAD, SCRATCH[1].0, None, c);
            c = SCRATCH[1].into();
        }
        // The result is one of the three; if it is none, it becomes one.
        if c != result.into() && a != result && b != result.into() {
            match c {
                Place::Reg(_) => {
                    self.asm.vector(asm::LOAD, result.0, None, c);
                    c = result.into();
                }
                Place::Memory { .. } | Place::Constant(_) => {
                    self.asm.vector(asm::LOAD, result.0, None, a.into());
                    a = result;
                }
            }
        }
        let (order, between, last) = if c == result.into() {
            (Order::PlusTo, a.0, b)
        } else if let (true, Place::Reg(b)) = (a == result, b) {
            (Order::PlusLast, b, c)
        } else if b == result.into() {
            (Order::PlusLast, a.0, c)
        } else if let Place::Reg(c) = c {
            (Order::TimesLast, c, b)
        } else {
            unreachable!("one of two operands is in a register")
        };
        self.asm.vector(op.vex(order), result.0, Some(between), last);
        self.vector_computed(to, result);
    }

    fn gather(&mut self, to: Virtual, from: Address, offsets: Virtual, mask: Option<Virtual>) {
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
        let place = Place::Memory { base, index: Some(offsets.0), displacement: from.displacement };
        self.asm.vector(asm::GATHER, result.0, Some(through.0), place);
        self.vector_computed(to, result);
    }

    /// A register with the address but for its displacement.
    fn plain(&mut self, address: Address) -> Gpr {
        match address.index {
            None => self.word(address.base, RCX),
            Some(_) => {
                let place = self.address(Address { displacement: 0, ..address });
                self.asm.address(RCX, place);
                RCX
            }
        }
    }

    /// Lane after lane, so that of equal offsets the last one stays.
    fn scatter(&mut self, to: Address, from: Virtual, offsets: Virtual) {
        let [high, offset_high, spare] = SCRATCH;
        let base = self.plain(to);
        let displacement = to.displacement;
        let place = Place::Memory { base, index: Some(RAX.0), displacement };
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

    // Everything else.

    fn call(&mut self, number: usize, function: usize, argument: u32) {
        let allocation = self.allocation;
        let saved = &allocation.across[&number];
        saved.iter().for_each(|home| self.save(*home, saved_at(home)));
        self.asm.copy(RDI, RSP);
        self.asm.constant(RSI, i64::from(argument));
        self.asm.constant(RAX, function as i64);
        self.asm.zero_upper();
        self.asm.call(RAX);
        saved.iter().for_each(|home| self.restore(*home, saved_at(home)));
    }

    fn alloc(&mut self, number: usize, buf: u32, sizes: &[Value]) {
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
        self.asm.constant(RAX, helpers::ALLOC.address() as i64);
        self.asm.zero_upper();
        self.asm.call(RAX);
        saved.iter().for_each(|home| self.restore(*home, saved_at(home)));
        self.asm.alu_constant(Alu::Cmp, at(R15, REFUSED), 0);
        self.asm.jump_if(Condition::NotEqual, self.refused);
        // By how many bytes the arena has moved.
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

    fn read_slot(&mut self, to: Virtual, slot: u32, form: Form) {
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

    fn write_slot(&mut self, from: Virtual, slot: u32, form: Form) {
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

    fn shift_lanes(&mut self, left: bool, to: Ymm, from: Ymm, by: u8) {
        let number = if left { 6 } else { 2 };
        self.asm.vector_with(asm::SHIFT_IMMEDIATE, number, Some(to.0), from.into(), Some(by));
    }

    fn inst(&mut self, number: usize, inst: &Inst) {
        match *inst {
            Inst::Vector { op, to, a, b, constant } => {
                let result = self.vector_result(to);
                let a = a.map(|a| self.vector(a, SCRATCH[0]).0);
                let b = self.source(b);
                // A move to where it is already is none.
                if op != asm::LOAD || b != result.into() {
                    self.asm.vector_with(op, result.0, a, b, constant);
                }
                self.vector_computed(to, result);
            }
            Inst::Fused { op, to, a, b, c } => self.fused(op, to, a, b, c),
            Inst::Blend { to, mask, yes, no } => {
                let result = self.vector_result(to);
                let mask = self.vector(mask, SCRATCH[0]);
                let no = self.vector(no, SCRATCH[1]);
                let yes = self.source(yes);
                let mask = Some(mask.0 << 4);
                self.asm.vector_with(asm::BLEND, result.0, Some(no.0), yes, mask);
                self.vector_computed(to, result);
            }
            Inst::ShiftLanes { left, to, from, by } => {
                let result = self.vector_result(to);
                let from = self.vector(from, SCRATCH[0]);
                self.shift_lanes(left, result, from, by);
                self.vector_computed(to, result);
            }
            Inst::StoreVector { to, from } => {
                let from = self.vector(from, SCRATCH[0]);
                let to = self.address(to);
                self.asm.vector(asm::STORE, from.0, None, to);
            }
            Inst::StoreLow { to, from } => {
                let from = self.vector(from, SCRATCH[0]);
                let to = self.address(to);
                self.asm.vector(asm::STORE_LOW, from.0, None, to);
            }
            Inst::StoreMasked { to, from, mask } => {
                let from = self.vector(from, SCRATCH[0]);
                let mask = self.vector(mask, SCRATCH[1]);
                let to = self.address(to);
                self.asm.vector(asm::STORE_MASKED, from.0, Some(mask.0), to);
            }
            Inst::Gather { to, from, offsets, mask } => self.gather(to, from, offsets, mask),
            Inst::Scatter { to, from, offsets } => self.scatter(to, from, offsets),
            Inst::Spread { to, from } => {
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
            Inst::First { to, from } => {
                let from = self.vector(from, SCRATCH[0]);
                let result = self.result(to, RAX);
                self.asm.vector(asm::TO_WORD, from.0, None, result.into());
                self.computed(to, result);
            }
            Inst::Real { to, from } => {
                let result = self.vector_result(to);
                let from = self.place(from);
                // It keeps the upper half of its second operand: of zeros, so that it waits for nothing.
                let zero = SCRATCH[0];
                self.asm.vector(asm::XOR, zero.0, Some(zero.0), zero.into());
                self.asm.vector(asm::FROM_INT, result.0, Some(zero.0), from);
                self.asm.vector(asm::BROADCAST, result.0, None, result.into());
                self.vector_computed(to, result);
            }
            Inst::Signs { to, from } => {
                let from = self.vector(from, SCRATCH[0]);
                let result = self.result(to, RAX);
                self.asm.vector(asm::SIGNS, result.0, None, from.into());
                self.computed(to, result);
            }
            Inst::Copy { to, from: Value::Constant(value) } => {
                let result = self.result(to, RAX);
                self.asm.constant(result, value);
                self.computed(to, result);
            }
            Inst::Copy { to, from: Value::Virtual(from) } => match self.home(to) {
                Home::Gpr(reg) => {
                    let from = self.place(from);
                    if from != reg.into() {
                        self.asm.load(reg, from);
                    }
                }
                Home::Frame(_) | Home::Ymm(_) => {
                    let from = self.word(from, RAX);
                    self.computed(to, from);
                }
            },
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
            Inst::Store { to, from } => {
                let short = match from {
                    Value::Constant(value) => i32::try_from(value).ok(),
                    Value::Virtual(_) => None,
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
            Inst::AddressOf { to, of } => {
                let of = self.address(of);
                let result = self.result(to, RAX);
                self.asm.address(result, of);
                self.computed(to, result);
            }
            Inst::Bind(label) => self.asm.bind(label),
            Inst::Jump(label) => self.asm.jump(label),
            Inst::Unless { test, to } => {
                let condition = self.flags(test);
                self.asm.jump_if(condition.not(), to);
            }
            Inst::Enter | Inst::Leave => {}
            Inst::Next { index, step, end, top } => {
                let exit = self.asm.label();
                let reg = self.word(index, RAX);
                self.asm.alu_constant(Alu::Add, reg.into(), step);
                self.asm.jump_if(Condition::Overflow, exit);
                self.computed(index, reg);
                self.apply(Alu::Cmp, reg, end);
                self.asm.jump_if(Condition::Less, top);
                self.asm.bind(exit);
            }
            Inst::Poll { work } => {
                let (out, back) = (self.asm.label(), self.asm.label());
                self.asm.alu_constant(Alu::Sub, at(RSP, LEFT), work);
                self.asm.jump_if(Condition::Negative, out);
                self.asm.bind(back);
                self.polls.push((out, back));
            }
            Inst::Check { test, number, ref values } => {
                let label = self.asm.label();
                let condition = self.flags(test);
                self.asm.jump_if(condition.not(), label);
                self.failing.push(Failing { label, number, values: values.clone() });
            }
            Inst::Pass { argument, value } => {
                let to = at(RSP, ARGUMENT * i32::from(argument));
                match self.home(value) {
                    Home::Gpr(reg) => self.asm.store(to, reg),
                    Home::Ymm(reg) => self.asm.vector(asm::STORE, reg.0, None, to),
                    // Of a word, what is behind it does not matter.
                    Home::Frame(offset) => {
                        let scratch = SCRATCH[0].0;
                        self.asm.vector(asm::LOAD, scratch, None, at(RSP, offset));
                        self.asm.vector(asm::STORE, scratch, None, to);
                    }
                }
            }
            Inst::Call { function, number: argument } => self.call(number, function, argument),
            Inst::Take { to } => match self.home(to) {
                Home::Gpr(reg) => self.asm.load(reg, at(RSP, 0)),
                Home::Ymm(reg) => self.asm.vector(asm::LOAD, reg.0, None, at(RSP, 0)),
                Home::Frame(offset) => match self.listing.class(to) {
                    Class::Word => {
                        self.asm.load(RAX, at(RSP, 0));
                        self.asm.store(at(RSP, offset), RAX);
                    }
                    Class::Vector => {
                        let scratch = SCRATCH[0].0;
                        self.asm.vector(asm::LOAD, scratch, None, at(RSP, 0));
                        self.asm.vector(asm::STORE, scratch, None, at(RSP, offset));
                    }
                },
            },
            Inst::ReadSlot { to, slot, form } => self.read_slot(to, slot, form),
            Inst::WriteSlot { from, slot, form } => self.write_slot(from, slot, form),
            Inst::Buffer { to, number } => {
                self.asm.load(RAX, at(R15, RANGES));
                let range = number as i32 * size_of::<Range>() as i32;
                self.asm.load(RAX, at(RAX, range + offset_of!(Range, origin) as i32));
                self.asm.shift(asm::Shift::Left, RAX, 3);
                self.asm.alu(Alu::Add, RAX, at(R15, MEMORY));
                self.computed(to, RAX);
            }
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
            Inst::Exchange { a, b } => {
                self.asm.load(RAX, at(R15, RANGES));
                let size = size_of::<Range>() as i32;
                for word in (0..size).step_by(8) {
                    let [a, b] = [a, b].map(|number| at(RAX, number as i32 * size + word));
                    self.asm.load(RCX, a);
                    self.asm.load(RDX, b);
                    self.asm.store(b, RCX);
                    self.asm.store(a, RDX);
                }
            }
            Inst::Swap { a, b } => {
                let (a_reg, b_reg) = (self.word(a, RAX), self.word(b, RCX));
                self.asm.exchange(a_reg, b_reg.into());
                self.computed(a, a_reg);
                self.computed(b, b_reg);
            }
        }
    }
}

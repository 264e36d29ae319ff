//! Instructions before register allocation: those of the processor, on virtual registers of two
//! classes.

use crate::x86_64::assembler::{Alu, Condition, Fused, Label, Shift, Vex};
use crate::x86_64::helpers::Helper;

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Virtual(pub u32);

/// The kind of value in a virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// An integer, a boolean (0 or 1), or an address.
    Word,
    /// Four words. A real is in all four lanes, so scalars and lanes are computed alike. Booleans
    /// are all ones or all zeros.
    Vector,
}

/// Memory at base + 8 · index + displacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub base: Virtual,
    pub index: Option<Virtual>,
    pub displacement: i32,
}

/// The last operand of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Virtual(Virtual),
    Memory(Address),
    /// By its number.
    Constant(u32),
}

/// An operand of a general instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordOperand {
    Virtual(Virtual),
    Constant(i64),
}

/// The condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// A nonzero word.
    True(Virtual),
    /// A comparison of integers.
    Ints(Condition, Virtual, WordOperand),
    /// A comparison of reals: `a < b` if `strict`, else `a ≤ b`. False if either is NaN.
    Less { a: Virtual, b: Virtual, strict: bool },
}

/// The form of an interpreter's value in a virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A word.
    Word,
    /// A word in all lanes.
    Spread,
    /// Four words.
    Lanes,
    /// Four booleans: words 0 or 1 in the interpreter, masks in the register.
    Masks,
}

/// The instructions. An instruction writes its result after it has read all operands, unless stated
/// otherwise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Inst {
    /// A vector instruction with one or two operands, and perhaps a constant.
    Vector { op: Vex, to: Virtual, a: Option<Virtual>, b: Source, constant: Option<u8> },
    /// A product and a sum. At most `b` can be an operand in memory with an address.
    Fused { op: Fused, to: Virtual, a: Virtual, b: Source, c: Source },
    /// Selects lanes by a mask.
    Blend { to: Virtual, mask: Virtual, yes: Source, no: Virtual },
    /// The words of a vector, shifted to the left or right.
    ShiftLanes { left: bool, to: Virtual, from: Virtual, by: u8 },
    /// Four elements.
    StoreVector { to: Address, from: Virtual },
    /// One element.
    StoreLow { to: Address, from: Virtual },
    /// The elements that the mask selects.
    StoreMasked { to: Address, from: Virtual, mask: Virtual },
    /// The elements at the offsets; lanes outside the mask are zero.
    Gather { to: Virtual, from: Address, offsets: Virtual, mask: Option<Virtual> },
    /// Stores to the offsets, lane after lane.
    Scatter { to: Address, from: Virtual, offsets: Virtual },
    /// A word in all lanes.
    Spread { to: Virtual, from: Virtual },
    /// The first word.
    First { to: Virtual, from: Virtual },
    /// An integer as a real, in all lanes.
    Real { to: Virtual, from: Virtual },
    /// The signs of the lanes, as the low bits of a word.
    Signs { to: Virtual, from: Virtual },
    /// A word.
    Copy { to: Virtual, from: WordOperand },
    /// An operation on two words.
    Arithmetic { op: Alu, to: Virtual, a: Virtual, b: WordOperand },
    /// The product of two words.
    Multiply { to: Virtual, a: Virtual, b: WordOperand },
    /// A word, shifted.
    ShiftWord { op: Shift, to: Virtual, from: Virtual, by: u8 },
    /// 1 if the test holds.
    Set { to: Virtual, test: Test },
    /// One word or another.
    Choose { to: Virtual, test: Test, yes: WordOperand, no: WordOperand },
    /// An element.
    Load { to: Virtual, from: Address },
    /// An element.
    Store { to: Address, from: WordOperand },
    /// An address.
    AddressOf { to: Virtual, of: Address },
    /// An instruction without virtual registers.
    Control(Control),
    /// Jumps unless the test holds.
    Unless { test: Test, to: Label },
    /// Advances the index; jumps if it is below the end, without overflow.
    Next { index: Virtual, step: i32, end: WordOperand, top: Label },
    /// Ends the region unless the test holds, with the number of a check and the values of its
    /// message.
    Check { test: Test, number: u32, values: Vec<WordOperand> },
    /// An argument of a call.
    Pass { argument: u8, value: Virtual },
    /// Calls a function on the passed arguments.
    Call(Helper),
    /// The result of the call.
    Take { to: Virtual },
    /// Reads a slot of the interpreter.
    ReadSlot { to: Virtual, slot: u32, form: Form },
    /// Writes a slot of the interpreter.
    WriteSlot { from: Virtual, slot: u32, form: Form },
    /// The address of the first element of a buffer of the interpreter.
    Buffer { to: Virtual, number: u32 },
    /// A new buffer of the interpreter. The arena may move; addresses are adjusted.
    Alloc { number: u32, sizes: Vec<WordOperand> },
    /// The number of used words of the arena.
    Mark { to: Virtual },
    /// Resets the number of used words.
    Release { from: Virtual },
    /// Swaps two buffers: their addresses, and the interpreter's records by their numbers.
    Swap { a: Virtual, b: Virtual, numbers: [u32; 2] },
}

/// The instructions without virtual registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// A branch target.
    Bind(Label),
    /// An unconditional jump.
    Jump(Label),
    /// The start of a loop, in which a mention counts as many.
    Enter,
    /// The end of a loop.
    Leave,
    /// Takes fuel; ends the region if none is left.
    Poll { work: i32 },
}

/// The way in which an instruction uses a virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Read,
    Written,
    /// Read and written.
    Changed,
}

impl From<Virtual> for Source {
    fn from(v: Virtual) -> Source {
        Source::Virtual(v)
    }
}

impl Address {
    fn visit(&self, f: &mut dyn FnMut(Virtual, Role)) {
        f(self.base, Role::Read);
        self.index.iter().for_each(|index| f(*index, Role::Read));
    }
}

impl Source {
    fn visit(&self, f: &mut dyn FnMut(Virtual, Role)) {
        match self {
            Source::Virtual(v) => f(*v, Role::Read),
            Source::Memory(address) => address.visit(f),
            Source::Constant(_) => {}
        }
    }
}

impl WordOperand {
    fn visit(&self, f: &mut dyn FnMut(Virtual, Role)) {
        match self {
            WordOperand::Virtual(v) => f(*v, Role::Read),
            WordOperand::Constant(_) => {}
        }
    }
}

impl Test {
    fn visit(&self, f: &mut dyn FnMut(Virtual, Role)) {
        match self {
            Test::True(v) => f(*v, Role::Read),
            Test::Ints(_, a, b) => {
                f(*a, Role::Read);
                b.visit(f);
            }
            Test::Less { a, b, .. } => {
                f(*a, Role::Read);
                f(*b, Role::Read);
            }
        }
    }
}

impl Inst {
    /// Calls `f` on every virtual register of the instruction.
    pub fn visit(&self, f: &mut dyn FnMut(Virtual, Role)) {
        match self {
            Inst::Vector { to, a, b, .. } => {
                a.iter().for_each(|a| f(*a, Role::Read));
                b.visit(f);
                f(*to, Role::Written);
            }
            Inst::Fused { to, a, b, c, .. } => {
                f(*a, Role::Read);
                b.visit(f);
                c.visit(f);
                f(*to, Role::Written);
            }
            Inst::Blend { to, mask, yes, no } => {
                f(*mask, Role::Read);
                yes.visit(f);
                f(*no, Role::Read);
                f(*to, Role::Written);
            }
            Inst::StoreVector { to, from } | Inst::StoreLow { to, from } => {
                to.visit(f);
                f(*from, Role::Read);
            }
            Inst::StoreMasked { to, from, mask: other }
            | Inst::Scatter { to, from, offsets: other } => {
                to.visit(f);
                f(*from, Role::Read);
                f(*other, Role::Read);
            }
            Inst::Gather { to, from, offsets, mask } => {
                from.visit(f);
                f(*offsets, Role::Read);
                mask.iter().for_each(|mask| f(*mask, Role::Read));
                f(*to, Role::Written);
            }
            Inst::ShiftLanes { to, from, .. }
            | Inst::Spread { to, from }
            | Inst::First { to, from }
            | Inst::Real { to, from }
            | Inst::Signs { to, from }
            | Inst::ShiftWord { to, from, .. } => {
                f(*from, Role::Read);
                f(*to, Role::Written);
            }
            Inst::Copy { to, from } => {
                from.visit(f);
                f(*to, Role::Written);
            }
            Inst::Arithmetic { to, a, b, .. } | Inst::Multiply { to, a, b } => {
                f(*a, Role::Read);
                b.visit(f);
                f(*to, Role::Written);
            }
            Inst::Set { to, test } => {
                test.visit(f);
                f(*to, Role::Written);
            }
            Inst::Choose { to, test, yes, no } => {
                test.visit(f);
                yes.visit(f);
                no.visit(f);
                f(*to, Role::Written);
            }
            Inst::Load { to, from } | Inst::AddressOf { to, of: from } => {
                from.visit(f);
                f(*to, Role::Written);
            }
            Inst::Store { to, from } => {
                to.visit(f);
                from.visit(f);
            }
            Inst::Unless { test, .. } => test.visit(f),
            Inst::Next { index, end, .. } => {
                end.visit(f);
                f(*index, Role::Changed);
            }
            Inst::Check { test, values, .. } => {
                test.visit(f);
                values.iter().for_each(|value| value.visit(f));
            }
            Inst::Pass { value, .. } => f(*value, Role::Read),
            Inst::Take { to }
            | Inst::ReadSlot { to, .. }
            | Inst::Buffer { to, .. }
            | Inst::Mark { to } => f(*to, Role::Written),
            Inst::WriteSlot { from, .. } | Inst::Release { from } => f(*from, Role::Read),
            Inst::Alloc { sizes, .. } => sizes.iter().for_each(|size| size.visit(f)),
            Inst::Swap { a, b, .. } => {
                f(*a, Role::Changed);
                f(*b, Role::Changed);
            }
            Inst::Control(_) | Inst::Call(_) => {}
        }
    }
}

/// The instructions of a region.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub insts: Vec<Inst>,
    /// By virtual register.
    pub classes: Vec<Class>,
    /// Virtual registers with addresses in the arena.
    pub addresses: Vec<Virtual>,
    /// Four words each.
    pub constants: Vec<[u64; 4]>,
    /// By number of a check: its site, and the number of values of its message.
    pub sites: Vec<(u32, usize)>,
    /// Maximal number of values of a check's message.
    pub values: usize,
    /// The number of labels.
    pub labels: u32,
}

impl Listing {
    pub fn new_virtual(&mut self, class: Class) -> Virtual {
        self.classes.push(class);
        Virtual(self.classes.len() as u32 - 1)
    }

    pub fn put(&mut self, inst: Inst) {
        self.insts.push(inst);
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    pub fn class(&self, v: Virtual) -> Class {
        self.classes[v.0 as usize]
    }
}

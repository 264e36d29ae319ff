//! Runs of statements as machine code: the requests of the interpreter to a translator, and the
//! state that it lends to running code.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lambada_prim::Memory;
use lambada_source::{Failure, Span};

use super::arena::{Arena, WORD};
use crate::{Buf, Function, Reg, Stmt};

/// Makes machine code of statements, for one program.
pub trait Translate {
    /// Whether the statement can be part of a region. Calls and nodes are the interpreter's own.
    fn accepts(&mut self, function: &Function, stmt: &Stmt) -> bool;

    /// Translates consecutive statements, all of which have been accepted. Returns the number of
    /// the code, or nothing if the interpreter is to run them.
    fn region(&mut self, region: &Region) -> Option<u32>;

    /// All regions, ready to run; nothing if the system does not allow new machine code.
    fn finish(self: Box<Self>) -> Option<Arc<dyn Regions>>;
}

/// Statements to be translated, and the slots that they share with other statements.
pub struct Region<'a> {
    /// Their function.
    pub function: &'a Function,
    /// The statements.
    pub stmts: &'a [Stmt],
    /// By register: the slot of its first lane.
    pub regs: &'a [u32],
    /// By cell: the slot of its first lane.
    pub cells: &'a [u32],
    /// Whether a later statement mentions the register.
    pub lives_on: &'a dyn Fn(Reg) -> bool,
}

/// Regions that are ready to run.
pub trait Regions: Send + Sync + std::fmt::Debug {
    /// Runs a region.
    fn run(&self, number: u32, state: State) -> Outcome;
}

/// The state that a region reads and writes.
pub struct State<'a> {
    /// Registers, cells and constants, one word per lane.
    pub slots: &'a mut [u64],
    /// The memory of arrays.
    pub room: Room<'a>,
    /// Reduced at every jump back, by the length of the loop.
    pub fuel: &'a mut Fuel,
}

/// The arena, and the ranges of buffers.
pub struct Room<'a> {
    pub(super) arena: &'a mut Arena,
    pub(super) ranges: &'a mut [Range],
    /// The bytes that count besides the arena, and the limit on all of them.
    pub(super) kept: u64,
    pub(super) limit: Memory,
    /// By buffer: its place in the program.
    pub(super) origins: &'a BTreeMap<Buf, Span>,
}

impl Room<'_> {
    /// The arena, one word per element.
    pub fn words(&mut self) -> *mut u64 {
        self.arena.as_mut_ptr()
    }

    /// The ranges, by buffer.
    pub fn ranges(&mut self) -> *mut Range {
        self.ranges.as_mut_ptr()
    }

    /// The number of words taken. Setting it to less releases the last ones.
    pub fn taken(&mut self) -> *mut usize {
        self.arena.taken_mut()
    }

    /// A new buffer; its size is the product of these. The arena may move.
    ///
    /// # Errors
    /// There is no room.
    pub fn alloc(
        &mut self,
        buf: u32,
        sizes: impl Iterator<Item = i64> + Clone,
    ) -> Result<(), Failure> {
        let span = self.origins.get(&Buf(buf)).copied().unwrap_or_default();
        let in_use = self.arena.in_use() + self.kept;
        let failure = |message| Failure { span, message };
        let len = self.limit.room(sizes, WORD, in_use).map_err(failure)?;
        let refused = |_| failure(self.limit.refused(Some((len as u64, WORD)), in_use));
        let spare = self.limit.limit.saturating_sub(in_use + len as u64 * WORD);
        let low = self.arena.take(len, spare).map_err(refused)?;
        self.ranges[buf as usize] = Range { low, high: low + len, origin: low as i64 };
        Ok(())
    }
}

/// The work that a run may do before it asks whether it may go on, in instructions or so. Jumps
/// back reduce it by the work of the loop, and calls by that of the call.
#[derive(Debug)]
#[repr(C)]
pub struct Fuel {
    /// The work until it asks; negative when it is to ask.
    pub left: i64,
    /// The work after that.
    budget: u64,
    /// Set to end the run.
    cancelled: Arc<AtomicBool>,
}

/// The reason why a run ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has been cancelled.
    Cancelled,
    /// It has done all the work that it may.
    Exhausted,
}

/// The work between two questions.
const PORTION: i64 = 1 << 16;

impl Fuel {
    /// Fuel for this work, or for any amount.
    pub fn new(cancelled: Arc<AtomicBool>, work: Option<u64>) -> Fuel {
        Fuel { left: -1, budget: work.unwrap_or(u64::MAX), cancelled }
    }

    /// Asks whether the run may go on, and for how long.
    ///
    /// # Errors
    /// It may not.
    pub fn refill(&mut self) -> Result<(), Stop> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        let wanted = PORTION.saturating_sub(self.left).unsigned_abs();
        self.budget = self.budget.checked_sub(wanted).ok_or(Stop::Exhausted)?;
        self.left = PORTION;
        Ok(())
    }
}

/// The end of a region.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// At its end.
    Done,
    /// Early, because it may not go on.
    Stopped(Stop),
    /// With a check that does not hold: its site, and the values for its message.
    Failed(u32, Vec<i64>),
    /// Early, because there is no memory.
    NoRoom(Failure),
}

/// A part of memory, in words: the words that a buffer may touch, and the place of its offset 0.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Range {
    /// The first word.
    pub low: usize,
    /// One past the last word.
    pub high: usize,
    /// May be outside, if a view begins before the buffer does.
    pub origin: i64,
}

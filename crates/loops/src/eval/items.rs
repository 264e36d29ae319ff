//! What instructions for kernels, calls and nodes say, more than an instruction has room for; and
//! what a caller keeps.

use lambada_prim::ArrayPrim;

use super::{Body, Range};

/// An array primitive, of which buffers; the sizes are in slots.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) prim: ArrayPrim,
    pub(super) to: Vec<u32>,
    pub(super) args: Vec<u32>,
    pub(super) sizes: Vec<u32>,
}

/// A call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: usize,
    pub(super) args: Vec<Passed>,
    pub(super) results: Vec<Taken>,
    /// The failure where there is no room.
    pub(super) site: u32,
}

/// An argument: a slot or a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passed {
    Slot(u32),
    Buffer(u32),
}

/// What takes a result: the slot of a cell, or a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    Slot(u32),
    Buffer(u32),
}

/// What a caller needs when its call has ended.
pub(super) struct Frame<'a> {
    pub(super) body: &'a Body,
    pub(super) call: &'a Call,
    pub(super) slots: Vec<u64>,
    pub(super) ranges: Vec<Range>,
    /// Where it goes on.
    pub(super) at: usize,
}

/// A node that is made.
#[derive(Debug)]
pub(super) struct NewNode {
    pub(super) first: u64,
    pub(super) words: usize,
    /// By field.
    pub(super) fields: Vec<(usize, Source)>,
    /// What is blamed where there is no room.
    pub(super) site: u32,
}

/// What a field gets: a slot, or so many elements of a buffer.
#[derive(Debug)]
pub(super) enum Source {
    Slot(u32),
    Buffer { buf: u32, len: u32 },
}

/// A field of a node.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) first: u64,
    /// In words, from the first.
    pub(super) at: usize,
    pub(super) array: bool,
}

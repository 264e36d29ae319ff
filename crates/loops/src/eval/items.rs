//! The details of instructions for kernels, calls and nodes, for which an instruction has no room;
//! and the state that a caller keeps.

use lambada_prim::ArrayPrim;

use super::{Body, Range};

/// An array primitive and its buffers; the sizes are in slots.
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
    /// The failure if there is no room.
    pub(super) site: u32,
}

/// An argument: a slot or a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passed {
    Slot(u32),
    Buffer(u32),
}

/// The target of a result: the slot of a cell, or a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    Slot(u32),
    Buffer(u32),
}

/// The state that a caller needs after a call.
pub(super) struct Frame<'a> {
    pub(super) body: &'a Body,
    pub(super) call: &'a Call,
    pub(super) slots: Vec<u64>,
    pub(super) ranges: Vec<Range>,
    /// The instruction at which it goes on.
    pub(super) at: usize,
}

/// A new node.
#[derive(Debug)]
pub(super) struct NewNode {
    pub(super) first: u64,
    pub(super) words: usize,
    /// By field.
    pub(super) fields: Vec<(usize, Source)>,
    /// The failure if there is no room.
    pub(super) site: u32,
}

/// The value of a field: a slot, or elements of a buffer.
#[derive(Debug)]
pub(super) enum Source {
    Slot(u32),
    Buffer { buf: u32, len: u32 },
}

/// A field of a node.
#[derive(Debug)]
pub(super) struct NodeField {
    pub(super) first: u64,
    /// Its distance in words from the first one.
    pub(super) at: usize,
    pub(super) array: bool,
}

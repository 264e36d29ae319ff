//! The cost of a run of the evaluator: operations, elements moved, and memory.
//!
//! The cost model is that of compiled code. A part of an array (`x[i]` of rank > 0) is a view and
//! costs only the elements read of it. An update is in place if the array is dead afterwards and
//! the program has made it itself; an update of a parameter, a constant, a view or a live array
//! copies the array. An array is freed at its last use.
//!
//! A call and a test of a constructor are one operation on integers each. A node is written once
//! and takes a word besides its fields; an array counts as a reference of one word there.

use std::cell::Cell;
use std::rc::Rc;

use lambada_prim::{Data, ScalarTy, Tensor};

/// The work of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Primitives, reductions and additions on reals, one per element.
    pub reals: u64,
    /// Primitives and reductions on integers and truth values.
    pub ints: u64,
    /// Elements read from arrays.
    pub loads: u64,
    /// Elements that the program writes to arrays and accumulators, without the copies for updates.
    pub stores: u64,
    /// Bytes written to arrays and accumulators, copies included.
    pub written: u64,
    /// Bytes of values that updates and sequential loops replace: elements, and states that an
    /// iteration makes anew.
    pub overwritten: u64,
    /// Bytes of all arrays and nodes made, arguments and constants not included.
    pub allocated: u64,
    /// The most bytes of such arrays and nodes that existed at one time.
    pub peak: u64,
}

/// The memory in use, now and at most.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    live: Cell<u64>,
    allocated: Cell<u64>,
    peak: Cell<u64>,
}

impl Meter {
    pub(crate) fn allocate(self: &Rc<Meter>, bytes: u64) -> Rc<Memory> {
        self.claim(bytes);
        Rc::new(Memory { bytes, meter: self.clone() })
    }

    /// Memory to be returned by [`Meter::release`].
    pub(crate) fn claim(&self, bytes: u64) {
        self.live.set(self.live.get() + bytes);
        self.allocated.set(self.allocated.get() + bytes);
        self.peak.set(self.peak.get().max(self.live.get()));
    }

    pub(crate) fn release(&self, bytes: u64) {
        self.live.set(self.live.get() - bytes);
    }

    /// The bytes in use.
    pub(crate) fn live(&self) -> u64 {
        self.live.get()
    }

    pub(crate) fn allocated(&self) -> u64 {
        self.allocated.get()
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak.get()
    }
}

/// The memory of one array, returned when nothing refers to it.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes: u64,
    meter: Rc<Meter>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}

/// An array value.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) tensor: Rc<Tensor>,
    /// `None` if the memory belongs to another array, to the caller or to the program text.
    pub(crate) memory: Option<Rc<Memory>>,
}

impl Array {
    /// An array whose memory is not its own.
    pub(crate) fn borrowed(tensor: Rc<Tensor>) -> Array {
        Array { tensor, memory: None }
    }

    /// Whether it may be changed, because nothing else refers to it.
    pub(crate) fn is_unshared(&self) -> bool {
        self.memory.is_some() && Rc::strong_count(&self.tensor) == 1
    }
}

/// Bytes of an element in memory.
pub(crate) fn width(elem: ScalarTy) -> u64 {
    match elem {
        ScalarTy::Real | ScalarTy::Int => 8,
        ScalarTy::Bool => 1,
    }
}

/// Bytes of the elements in memory.
pub(crate) fn bytes(data: &Data) -> u64 {
    data.len() as u64 * width(data.ty())
}

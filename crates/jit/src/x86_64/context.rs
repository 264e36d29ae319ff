//! What a region is called with, and what it gives.

use std::ffi::c_void;

use lambada_loops::{Fuel, Range};
use lambada_source::Failure;

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
    /// Whether there is no room.
    pub refused: u64,
    /// Room for the values of a check that fails.
    pub values: *mut i64,
}

/// What a region gives: it is done, or may not go on; anything above is the number of a check that
/// fails, and this.
pub(crate) const DONE: u32 = 0;
pub(crate) const CANCELLED: u32 = 1;
pub(crate) const EXHAUSTED: u32 = 2;
pub(crate) const NO_ROOM: u32 = 3;
pub(crate) const FAILED: u32 = 4;

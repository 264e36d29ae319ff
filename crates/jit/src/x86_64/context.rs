//! The argument and the results of a region.

use std::ffi::c_void;

use lambada_loops::{Fuel, Range};
use lambada_source::Failure;

/// The argument of a region.
#[repr(C)]
pub(crate) struct Context {
    pub slots: *mut u64,
    pub memory: *mut u64,
    pub ranges: *mut Range,
    pub fuel: *mut Fuel,
    /// The number of used words of the arena.
    pub taken: *mut usize,
    /// The arena for allocations; below, the failure of a refused one.
    pub room: *mut c_void,
    pub failure: Option<Failure>,
    /// Whether an allocation was refused.
    pub refused: u64,
    /// Room for the values of a failing check.
    pub values: *mut i64,
}

/// Results of a region: finished, or the reason to stop; [`FAILED`] and above: the number of a
/// failing check plus `FAILED`.
pub(crate) const DONE: u32 = 0;
pub(crate) const CANCELLED: u32 = 1;
pub(crate) const EXHAUSTED: u32 = 2;
pub(crate) const NO_ROOM: u32 = 3;
pub(crate) const FAILED: u32 = 4;

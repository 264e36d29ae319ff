//! What runs in a call, as what can end it knows it: machine code, and programs.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use crate::children::{Leash, let_go};

/// Says that the call in a context is to end, or takes that back; any thread may.
pub(crate) type SetCancelled = unsafe extern "C" fn(*mut c_void, i32);

/// What runs, and what ends it.
#[derive(Clone, Debug)]
pub(crate) enum Running {
    /// Machine code in a context.
    Code(Code),
    /// A group of children.
    Children(Leash),
}

/// A context in which a call runs, and what ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    context: *mut c_void,
    set_cancelled: SetCancelled,
}

// SAFETY: that a call is to end may be told from any thread.
unsafe impl Send for Code {}

impl Running {
    /// A call in a context.
    ///
    /// # Safety
    /// The context is one of the library that `set_cancelled` is of, and stays open as long as the
    /// call can be ended.
    pub unsafe fn code(context: *mut c_void, set_cancelled: SetCancelled) -> Running {
        Running::Code(Code { context, set_cancelled })
    }

    /// Has it end.
    pub fn end(&self) {
        match self {
            // SAFETY: the context is open, as `code` demands; what this writes, the code reads
            // atomically.
            Running::Code(code) => unsafe { (code.set_cancelled)(code.context, 1) },
            Running::Children(leash) => let_go(leash),
        }
    }

    /// Whether they are the same.
    pub fn is(&self, other: &Running) -> bool {
        match (self, other) {
            (Running::Code(code), Running::Code(other)) => code.context == other.context,
            (Running::Children(leash), Running::Children(other)) => Arc::ptr_eq(leash, other),
            (Running::Code(_), Running::Children(_)) | (Running::Children(_), Running::Code(_)) => {
                false
            }
        }
    }
}

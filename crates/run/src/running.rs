//! Handles that end running machine code and child processes.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use crate::children::{Leash, let_go};

/// Sets or clears the cancellation flag of a context; callable from any thread.
pub(crate) type SetCancelled = unsafe extern "C" fn(*mut c_void, i32);

/// A handle that ends running work.
#[derive(Clone, Debug)]
pub(crate) enum Running {
    /// Machine code in a context.
    Code(Code),
    /// A group of children.
    Children(Leash),
}

/// A context with a running call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    context: *mut c_void,
    set_cancelled: SetCancelled,
}

// SAFETY: any thread may set the cancellation flag.
unsafe impl Send for Code {}

impl Running {
    /// A call in a context.
    ///
    /// # Safety
    /// The context belongs to the library of `set_cancelled`, and stays open as long as the call
    /// can be ended.
    pub unsafe fn code(context: *mut c_void, set_cancelled: SetCancelled) -> Running {
        Running::Code(Code { context, set_cancelled })
    }

    /// Ends it.
    pub fn end(&self) {
        match self {
            // SAFETY: the context is open, as `code` demands; the code reads the flag atomically.
            Running::Code(code) => unsafe { (code.set_cancelled)(code.context, 1) },
            Running::Children(leash) => let_go(leash),
        }
    }

    /// Whether both are the same handle.
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

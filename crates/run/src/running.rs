//! Calls of machine code that run, as what can end them knows them.

#![allow(unsafe_code)]

use std::ffi::c_void;

/// Says that the call in a context is to end, or takes that back; any thread may.
pub(crate) type SetCancelled = unsafe extern "C" fn(*mut c_void, i32);

/// A context in which a call runs, and what ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    context: *mut c_void,
    set_cancelled: SetCancelled,
}

// SAFETY: that a call is to end may be told from any thread.
unsafe impl Send for Running {}

impl Running {
    /// A call in a context.
    ///
    /// # Safety
    /// The context is one of the library that `set_cancelled` is of, and stays open as long as the call can be ended.
    pub unsafe fn new(context: *mut c_void, set_cancelled: SetCancelled) -> Running {
        Running { context, set_cancelled }
    }

    /// Has the call end.
    pub fn end(&self) {
        // SAFETY: the context is open, as `new` demands; what this writes, the code reads atomically.
        unsafe { (self.set_cancelled)(self.context, 1) }
    }

    /// Do they run in the same context?
    pub fn is(&self, other: &Running) -> bool {
        self.context == other.context
    }
}

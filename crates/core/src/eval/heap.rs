//! Memory used by values. Data that a program builds without end fails with a message, before the
//! process runs out of memory.
//!
//! Constructors, arrays and nodes of tapes are counted when made and when dropped; nothing else
//! grows with a run. Values belong to a thread, and so does the count.

use std::cell::Cell;

thread_local! {
    /// Bytes in use.
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// The memory of a value, released when dropped.
#[derive(Debug)]
pub(crate) struct Held(u64);

impl Held {
    /// Counts a number of bytes.
    pub fn new(bytes: usize) -> Held {
        let mut held = Held(0);
        held.more(bytes);
        held
    }

    /// Counts more bytes.
    pub fn more(&mut self, bytes: usize) {
        self.0 += bytes as u64;
        HELD.set(HELD.get().saturating_add(bytes as u64));
    }
}

impl Clone for Held {
    fn clone(&self) -> Held {
        Held::new(self.0 as usize)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.set(HELD.get().saturating_sub(self.0));
    }
}

/// Number of bytes used by the values of this thread.
pub(crate) fn held() -> u64 {
    HELD.get()
}

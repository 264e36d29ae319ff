//! How much memory values take: data that a program builds without end fails with a message, before
//! the process is out of memory.
//!
//! Constructors, arrays and the nodes of tapes are counted when they are made and when they are
//! dropped; they are all that grows with a run. Values belong to a thread, and so does the count.

use std::cell::Cell;

thread_local! {
    /// Bytes.
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// The memory of a value, held while this lives.
#[derive(Debug)]
pub(crate) struct Held(u64);

impl Held {
    /// So many bytes.
    pub fn new(bytes: usize) -> Held {
        let mut held = Held(0);
        held.more(bytes);
        held
    }

    /// So many more.
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

/// How many bytes the values of this thread take.
pub(crate) fn held() -> u64 {
    HELD.get()
}

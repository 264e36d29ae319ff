//! Code that the C compiler makes while calls already run in other code, which it replaces once it
//! is there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use lambada_prim::Memory;

use crate::Cancel;
use crate::native::Native;

/// The code, once it is there.
#[derive(Debug)]
pub(crate) struct Coming(Arc<Slot>);

#[derive(Debug)]
struct Slot {
    /// The process whose thread makes it: a fork has no such thread.
    process: u32,
    /// `None` if it cannot be made.
    made: OnceLock<Option<Native>>,
    limit: Mutex<Memory>,
    there: Condvar,
}

/// The number of C compilers that run at once, at most one for each processor: a program may call
/// many functions for the first time.
static RUNNING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// The right to run a C compiler.
struct Turn;

impl Turn {
    fn taken() -> Turn {
        let most = std::thread::available_parallelism().map_or(1, usize::from);
        let (running, ended) = &RUNNING;
        let count = running.lock().unwrap_or_else(PoisonError::into_inner);
        let free = ended.wait_while(count, |count| *count >= most);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        RUNNING.1.notify_one();
    }
}

impl Coming {
    /// Begins to make it, on a thread of its own.
    pub fn start(make: impl FnOnce() -> Option<Native> + Send + 'static) -> Option<Coming> {
        let slot = Arc::new(Slot {
            process: std::process::id(),
            made: OnceLock::new(),
            limit: Mutex::default(),
            there: Condvar::new(),
        });
        let own = Arc::clone(&slot);
        let thread = std::thread::Builder::new().name("lambada-compile".into());
        let begun = thread.spawn(move || {
            let turn = Turn::taken();
            // Who waits would wait forever for a thread that panics.
            let made = catch_unwind(AssertUnwindSafe(make)).ok().flatten();
            drop(turn);
            let limit = own.limit();
            if let Some(native) = &made {
                native.limit(*limit);
            }
            // Nobody else sets it.
            let _ = own.made.set(made);
            own.there.notify_all();
        });
        begun.ok().map(|_| Coming(slot))
    }

    /// The code, if it is there.
    #[inline]
    pub fn now(&self) -> Option<&Native> {
        self.0.made.get()?.as_ref()
    }

    /// The code, as soon as it is there; `None` if it cannot be made, if this call is cancelled, or
    /// in a fork of the process that makes it.
    pub fn then(&self) -> Option<&Native> {
        const PATIENCE: Duration = Duration::from_millis(20);
        if self.0.process != std::process::id() {
            return self.now();
        }
        let cancelled = || Cancel::current().is_some_and(|cancel| cancel.is_cancelled());
        let mut limit = self.0.limit();
        while self.0.made.get().is_none() && !cancelled() {
            let woken = self.0.there.wait_timeout(limit, PATIENCE);
            limit = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(limit);
        self.now()
    }

    /// Limits the memory for arrays.
    pub fn limit(&self, memory: Memory) {
        let mut limit = self.0.limit();
        *limit = memory;
        if let Some(native) = self.now() {
            native.limit(memory);
        }
    }
}

impl Slot {
    fn limit(&self) -> MutexGuard<'_, Memory> {
        self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_code_that_cannot_be_made_goes_on() {
        let none = Coming::start(|| None).expect("a thread");
        assert!(none.then().is_none());
        let broken = Coming::start(|| panic!("no code")).expect("a thread");
        assert!(broken.then().is_none() && broken.now().is_none());
    }
}

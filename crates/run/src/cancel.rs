//! Calls that are ended from outside.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::running::Running;

/// Ends calls from another thread: those that run inside of [`Cancel::run`], and those that begin
/// there later, until it is reset. Clones are the same one.
///
/// Machine code and the interpreter of loops ask for it where an iteration of a loop may take long,
/// and at calls. They end within milliseconds, but for the two innermost loops of a nest where
/// these are long themselves, or one operation on matrices, which they finish first.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    cancelled: Arc<AtomicBool>,
    /// Calls of machine code, and children.
    running: Mutex<Vec<Running>>,
}

thread_local! {
    /// What ends the calls of this thread.
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

impl Cancel {
    /// Nothing has been cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends the calls that run, and lets none begin.
    pub fn cancel(&self) {
        let running = self.running();
        self.0.cancelled.store(true, Ordering::SeqCst);
        running.iter().for_each(Running::end);
    }

    /// Calls may begin again.
    pub fn reset(&self) {
        self.0.cancelled.store(false, Ordering::SeqCst);
    }

    /// Are calls to end?
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// Does something whose calls, on this thread, end when this is cancelled.
    pub fn run<R>(&self, run: impl FnOnce() -> R) -> R {
        /// Puts back what was there before.
        struct Inside(Option<Cancel>);
        impl Drop for Inside {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _inside = Inside(CURRENT.replace(Some(self.clone())));
        run()
    }

    /// What ends the calls of this thread.
    #[inline]
    pub fn current() -> Option<Cancel> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// What interpreters ask: is it true?
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.cancelled.clone()
    }

    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs something that is ended when this is cancelled. When this returns, nobody ends it any
    /// more.
    pub(crate) fn during<R>(&self, call: Running, run: impl FnOnce() -> R) -> R {
        struct Entered<'a>(&'a Cancel, Running);
        impl Drop for Entered<'_> {
            fn drop(&mut self) {
                let mut running = self.0.running();
                if let Some(at) = running.iter().position(|call| call.is(&self.1)) {
                    running.swap_remove(at);
                }
            }
        }
        let mut running = self.running();
        running.push(call.clone());
        if self.is_cancelled() {
            call.end();
        }
        drop(running);
        let _entered = Entered(self, call);
        run()
    }
}

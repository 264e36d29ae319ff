//! Cancellation of calls.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::running::Running;

/// Ends calls from another thread: those running inside [`Cancel::run`] and, until a reset, those
/// that begin there later. Clones share their state.
///
/// Machine code and the interpreter of loops poll the state at calls, and in loops whose iterations
/// may take long. They end within milliseconds, but first finish the two innermost loops of a nest,
/// or a matrix operation, even if these are long.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    cancelled: Arc<AtomicBool>,
    /// Running machine code and children.
    running: Mutex<Vec<Running>>,
}

thread_local! {
    /// The `Cancel` of the calls on this thread.
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

impl Cancel {
    /// A `Cancel` that is not yet cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends the running calls, and prevents others from beginning.
    pub fn cancel(&self) {
        let running = self.running();
        self.0.cancelled.store(true, Ordering::SeqCst);
        running.iter().for_each(Running::end);
    }

    /// Allows calls to begin.
    pub fn reset(&self) {
        self.0.cancelled.store(false, Ordering::SeqCst);
    }

    /// Whether calls are to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// Runs `run`; `cancel` ends the calls that it makes on this thread.
    pub fn run<R>(&self, run: impl FnOnce() -> R) -> R {
        /// Restores the previous `Cancel`.
        struct Inside(Option<Cancel>);
        impl Drop for Inside {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _inside = Inside(CURRENT.replace(Some(self.clone())));
        run()
    }

    /// The `Cancel` of the calls on this thread.
    #[inline]
    pub fn current() -> Option<Cancel> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// The flag that interpreters poll.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.cancelled.clone()
    }

    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `run`, which `cancel` ends through `call`. After the return nobody refers to `call`.
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

//! Runs long operations without the interpreter's lock, so that Ctrl-C can end them.
//!
//! Python delivers signals only to the main thread. A possibly long call of the main thread
//! therefore runs on a thread of its own, while the main thread polls for signals. A signal cancels
//! the call: its kernel ends and frees its memory, and a C compiler ends, too. If that takes longer
//! than [`END`], the thread is abandoned and its result dropped. A call that was short for
//! arguments of similar size runs on the main thread, because switching threads would cost more
//! than the call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lambada::{Cancel, Error};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::raise;

/// A call below this time need not be interruptible.
const SHORT: Duration = Duration::from_millis(10);

/// Interval at which the main thread polls for signals.
const ASK: Duration = Duration::from_millis(50);

/// Time that the main thread waits for a cancelled call.
const END: Duration = Duration::from_millis(400);

/// Factor by which arguments may grow before a short call may become long.
const GROWTH: u64 = 8;

/// Size of arguments up to which a function was short, times [`GROWTH`].
#[derive(Default)]
pub(crate) struct Experience(AtomicU64);

impl Experience {
    /// Runs a call with arguments of this size; `kept` outlives it.
    pub fn run<R: Send + 'static, K: Send + 'static>(
        &self,
        py: Python<'_>,
        size: u64,
        kept: K,
        call: impl FnOnce() -> Result<R, Error> + Send + 'static,
    ) -> PyResult<R> {
        let known = self.0.load(Ordering::Relaxed);
        if size < known {
            let result = py.detach(call);
            drop(kept);
            return result.map_err(|error| raise(py, &error));
        }
        let start = Instant::now();
        let result = watched(py, kept, call);
        if start.elapsed() < SHORT {
            self.0.fetch_max(size.saturating_add(1).saturating_mul(GROWTH), Ordering::Relaxed);
        }
        result
    }
}

/// Runs a possibly long operation; `kept` outlives it.
pub(crate) fn watched<R: Send + 'static, K: Send + 'static>(
    py: Python<'_>,
    kept: K,
    run: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> PyResult<R> {
    if !is_main(py)? {
        let result = py.detach(run);
        drop(kept);
        return result.map_err(|error| raise(py, &error));
    }
    let (tell, told) = channel();
    let cancel = Cancel::new();
    let inside = cancel.clone();
    let thread = std::thread::Builder::new().name("lambada".into()).spawn(move || {
        if let Err(unwanted) = tell.send((inside.run(run), kept)) {
            // The caller has abandoned the call. Python values must be dropped with the lock,
            // unless the interpreter is gone.
            let (_, kept) = unwanted.0;
            let mut kept = Some(kept);
            Python::try_attach(|_| drop(kept.take()));
            std::mem::forget(kept);
        }
    })?;
    // A receiver belongs to one thread, but the closure runs without the lock; the mutex makes it
    // shareable.
    let told = Mutex::new(told);
    let wait =
        |time| py.detach(|| told.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time));
    loop {
        match wait(ASK) {
            Ok((result, kept)) => {
                drop(kept);
                return result.map_err(|error| raise(py, &error));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals() {
                    cancel.cancel();
                    drop(wait(END));
                    return Err(interrupt);
                }
            }
            // The thread has panicked; the panic continues here, as for every other thread.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => {
                    return Err(pyo3::exceptions::PyRuntimeError::new_err(
                        "the call has ended without a result",
                    ));
                }
            },
        }
    }
}

/// Whether this is the thread that receives signals.
fn is_main(py: Python<'_>) -> PyResult<bool> {
    static THREADING: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    let (current, main) = THREADING.get_or_try_init(py, || {
        let threading = py.import("threading")?;
        let (current, main) = (threading.getattr("get_ident")?, threading.getattr("main_thread")?);
        Ok::<_, PyErr>((current.unbind(), main.unbind()))
    })?;
    let main = main.call0(py)?.getattr(py, "ident")?;
    main.bind(py).eq(current.call0(py)?)
}

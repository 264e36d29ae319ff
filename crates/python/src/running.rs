//! Running what takes time without the interpreter's lock, so that Ctrl-C ends the wait for it.
//!
//! Only the main thread of a program is told of signals. A call in it that may take long therefore
//! runs on a thread of its own, and the main thread asks for signals while it waits; when one ends
//! the wait, the call is cancelled, its kernel ends and gives back its memory. A C compiler ends,
//! too. Where that takes longer than [`END`], the thread goes on by itself, and what comes of it is
//! dropped. A call that has been short, and is given no more than then, runs where it is: handing
//! it over would cost more than it does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lambada::{Cancel, Error};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::raise;

/// A call that takes less time need not be ended.
const SHORT: Duration = Duration::from_millis(10);

/// So often the main thread asks for signals.
const ASK: Duration = Duration::from_millis(50);

/// So long the main thread waits for the end of what has been cancelled.
const END: Duration = Duration::from_millis(400);

/// Arguments may grow by as much before a call that has been short is taken to be long.
const GROWTH: u64 = 8;

/// Up to which size of its arguments a function has been short.
#[derive(Default)]
pub(crate) struct Experience(AtomicU64);

impl Experience {
    /// Runs a call whose arguments have this size; `kept` lives as long as it runs.
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

/// Runs something that may take long; `kept` lives as long as it runs.
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
            // Nobody waits any more. Values of Python are dropped with the lock, unless the
            // interpreter is gone.
            let (_, kept) = unwanted.0;
            let mut kept = Some(kept);
            Python::try_attach(|_| drop(kept.take()));
            std::mem::forget(kept);
        }
    })?;
    // A receiver is one thread's; this one is lent to where the lock is not held.
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
            // It has panicked; as in every other thread, that is told where it is waited for.
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

/// Whether this is the thread that is told of signals.
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

//! The command `lambada`, in the process of Python.

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

static RUNS: AtomicBool = AtomicBool::new(false);

/// Whether the process is the command, which tells warnings as text.
pub(crate) fn runs() -> bool {
    RUNS.load(Ordering::Relaxed)
}

/// Runs a command line and returns its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    RUNS.store(true, Ordering::Relaxed);
    py.detach(|| {
        let code = lambada_cli::run(words);
        // Python's exit does not flush Rust's buffers. Whoever closed the pipe wants no more.
        let _ = std::io::stdout().flush();
        code
    })
}

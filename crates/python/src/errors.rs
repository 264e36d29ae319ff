//! Errors as exceptions.

use lambada::{Diagnostic, Error, ErrorKind, Severity};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::classes;

/// The exception for an error.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let made = match error.kind() {
        ErrorKind::Program => classes::error(py).and_then(|class| told(class, error)),
        ErrorKind::Running => classes::failure(py).and_then(|class| told(class, error)),
        ErrorKind::Interrupted => {
            return PyErr::take(py).unwrap_or_else(|| PyKeyboardInterrupt::new_err(()));
        }
        ErrorKind::Call => return of_call(error),
    };
    made.unwrap_or_else(|other| other)
}

fn told(class: &Bound<'_, PyAny>, error: &Error) -> PyResult<PyErr> {
    let problems = problems(class.py(), error.problems())?;
    Ok(PyErr::from_value(class.call1((error.to_string(), problems))?))
}

/// The exception for a wrong argument, without source excerpts. Types have been checked before, so
/// a problem concerns sizes; without a problem, a result does not fit its destination.
fn of_call(error: &Error) -> PyErr {
    let [problem, ..] = error.problems() else { return PyTypeError::new_err(error.to_string()) };
    let mut text = problem.title.clone();
    for hint in &problem.hints {
        text += &format!("\n  help: {hint}");
    }
    PyValueError::new_err(text)
}

/// Problems as data.
pub(crate) fn problems<'py>(py: Python<'py>, all: &[Diagnostic]) -> PyResult<Bound<'py, PyTuple>> {
    let class = classes::problem(py)?;
    let problem = |told: &Diagnostic| {
        let severity = match told.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let from = (told.line, told.column, told.end_line, told.end_column);
        class.call1((
            told.code,
            &told.title,
            told.file.as_deref(),
            from.0,
            from.1,
            from.2,
            from.3,
            PyTuple::new(py, &told.hints)?,
            &told.label,
            severity,
        ))
    };
    let all: Vec<Bound<'py, PyAny>> = all.iter().map(problem).collect::<PyResult<_>>()?;
    PyTuple::new(py, all)
}

/// Issues a warning of the compiler, such as a missing C compiler, as a Python warning.
pub(crate) fn warn(text: &str) {
    if crate::command::runs() {
        return eprintln!("{text}");
    }
    let text = text.strip_prefix("warning: ").unwrap_or(text);
    Python::attach(|py| {
        let warned = classes::warning(py).and_then(|class| {
            let message = std::ffi::CString::new(text)?;
            PyErr::warn(py, class, &message, 1)
        });
        // Even if warnings are errors, this one must not stop a program that yields correct
        // results.
        if let Err(error) = warned {
            error.write_unraisable(py, None);
        }
    });
}

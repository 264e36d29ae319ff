//! Classes of the package that are written in Python, found once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $module:literal . $class:literal;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
            static FOUND: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            FOUND.import(py, $module, $class)
        }
    )*};
}

classes! {
    /// Mistakes in programs.
    error = "lambada._errors"."Error";
    /// Failures of programs that run.
    failure = "lambada._errors"."RuntimeError";
    /// Warnings that are no one program's.
    warning = "lambada._errors"."Warning";
    /// A problem as data.
    problem = "lambada._errors"."Problem";
    /// Records.
    record = "lambada._values"."Record";
    /// Values of variant types.
    variant = "lambada._values"."Variant";
    /// Derivatives by parameter.
    parts = "lambada._values"."Parts";
}

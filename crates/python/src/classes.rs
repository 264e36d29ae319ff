//! The package's classes written in Python, looked up once.

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
    /// Errors of programs.
    error = "lambada._errors"."Error";
    /// Failures of running programs.
    failure = "lambada._errors"."RuntimeError";
    /// Warnings that concern no particular program.
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

//! Pullbacks: map cotangents of a result to cotangents of the parameters, at one point.

use std::collections::HashSet;
use std::sync::Arc;

use lambada::IntoArg;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::call::Interface;
use crate::input::{Reader, natural};
use crate::running::Experience;
use crate::wrt::Wrt;

/// Maps cotangents of a result to cotangents of parameters, at the arguments of a call; may be
/// called any number of times.
#[pyclass(frozen, module = "lambada._lambada")]
pub(crate) struct Pullback {
    pub function: lambada::Function,
    /// The function as an object of the package.
    pub of: Py<PyAny>,
    pub pullback: lambada::Pullback,
    pub wrt: Wrt,
    pub experience: Arc<Experience>,
}

#[pymethods]
impl Pullback {
    /// The cotangents of the parameters.
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        cotangent: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let function = &self.function;
        let mut kept = Vec::new();
        let variants = function.variants();
        let arg = match function.result() {
            Some(ty) => Reader {
                name: "the cotangent",
                ty,
                variants,
                kept: &mut kept,
                inside: HashSet::new(),
            }
            .arg(cotangent)?,
            None => natural(cotangent)?.into_arg(),
        };
        kept.push(cotangent.clone());
        let kept: Vec<Py<PyAny>> = kept.into_iter().map(Bound::unbind).collect();
        let pullback = self.pullback.clone();
        // The pullback owns the point, so only earlier calls tell how long it takes.
        let gradient = self.experience.run(py, 0, kept, move || pullback.call(arg))?;
        Interface(function).by_parameter(py, gradient, &self.wrt)
    }

    fn __repr__(&self) -> String {
        format!("<pullback of {}>", self.function)
    }

    /// Pickles the function, its point and `wrt`. Unpickling runs the function once more.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let writer = Interface(&self.function).writer(py);
        let point = self.function.parameters().iter().zip(self.pullback.point());
        let point = point.map(|(param, at)| writer.value(at.clone().into(), Some(&param.ty)));
        let point = PyTuple::new(py, point.collect::<PyResult<Vec<_>>>()?)?;
        let wrt = match &self.wrt {
            Wrt { names, alone: true } => (&names[0]).into_bound_py_any(py)?,
            Wrt { names, .. } if names.is_empty() => py.None().into_bound(py),
            Wrt { names, .. } => PyTuple::new(py, names)?.into_any(),
        };
        let again = py.import("lambada._model")?.getattr("_pullback_again")?;
        (again, (&self.of, point, wrt)).into_pyobject(py)
    }
}

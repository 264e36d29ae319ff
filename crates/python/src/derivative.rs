//! Derivatives that have been prepared, and pullbacks.

use std::sync::Arc;

use lambada::{Hessian, Hvp, IntoArg, Jacobian, Jvp, SparseMatrix, ValueAndGrad, Vjp};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::arrays::said;
use crate::function::Function;
use crate::input::{Reader, natural};
use crate::running::Experience;

/// The parameters to differentiate with respect to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wrt {
    /// None at all stand for all that hold reals.
    pub names: Vec<String>,
    /// Is the derivative by the only one wanted by itself?
    pub alone: bool,
}

impl Wrt {
    /// A name, several, or nothing.
    pub fn read(wrt: Option<&Bound<'_, PyAny>>) -> PyResult<Wrt> {
        let Some(wrt) = wrt.filter(|wrt| !wrt.is_none()) else { return Ok(Wrt::default()) };
        if let Ok(name) = wrt.cast::<PyString>() {
            return Ok(Wrt { names: vec![name.to_str()?.to_string()], alone: true });
        }
        let wrong = || {
            PyTypeError::new_err(format!(
                "wrt should be the name of a parameter or a tuple of names, but it is {}",
                said(wrt)
            ))
        };
        let names = wrt.try_iter().map_err(|_| wrong())?;
        let names: Vec<String> = names
            .map(|name| name?.extract::<String>().map_err(|_| wrong()))
            .collect::<PyResult<_>>()?;
        match names.is_empty() {
            true => Err(PyValueError::new_err(
                "wrt names no parameter; leave it out to differentiate by all that hold reals",
            )),
            false => Ok(Wrt { names, alone: false }),
        }
    }
}

impl Wrt {
    /// The names.
    pub fn all(&self) -> Vec<&str> {
        self.names.iter().map(|name| &**name).collect()
    }
}

/// A derivative that has been compiled.
#[derive(Clone)]
pub(crate) enum Prepared {
    Grad(ValueAndGrad),
    Jvp(Jvp),
    Vjp(Vjp),
    Jacobian(Jacobian),
    Hessian(Hessian),
    Hvp(Hvp),
    Sparse(SparseMatrix),
}

/// From cotangents of a result to those of parameters, at the arguments of a call; may be called any number of times.
#[pyclass(frozen, module = "lambada._lambada")]
pub(crate) struct Pullback {
    pub function: Py<Function>,
    pub pullback: lambada::Pullback,
    pub alone: bool,
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
        let function = self.function.get();
        let mut kept = Vec::new();
        let variants = function.function.variants();
        let arg = match function.function.result() {
            Some(ty) => {
                Reader { name: "the cotangent", ty, variants, kept: &mut kept }.arg(cotangent)?
            }
            None => natural(cotangent)?.into_arg(),
        };
        kept.push(cotangent.clone());
        let kept: Vec<Py<PyAny>> = kept.into_iter().map(Bound::unbind).collect();
        let pullback = self.pullback.clone();
        // The point is the pullback's own: only what the function has shown tells how long it takes.
        let gradient = self.experience.run(py, 0, kept, move || pullback.call(arg))?;
        let wrt = Wrt { names: Vec::new(), alone: self.alone };
        function.by_parameter(py, gradient, &wrt)
    }

    fn __repr__(&self) -> String {
        format!("<pullback of {}>", self.function.get().function)
    }
}

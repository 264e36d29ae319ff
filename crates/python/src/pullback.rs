//! Pullbacks: from cotangents of a result to those of the parameters, at one point.

use std::sync::Arc;

use lambada::IntoArg;
use pyo3::prelude::*;

use crate::call::Interface;
use crate::input::{Reader, natural};
use crate::running::Experience;
use crate::wrt::Wrt;

/// From cotangents of a result to those of parameters, at the arguments of a call; may be called any number of times.
#[pyclass(frozen, module = "lambada._lambada")]
pub(crate) struct Pullback {
    pub function: lambada::Function,
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
        let function = Interface(&self.function);
        let mut kept = Vec::new();
        let variants = self.function.variants();
        let arg = match self.function.result() {
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
        format!("<pullback of {}>", self.function)
    }
}

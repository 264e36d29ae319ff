//! Destination arrays for results.

use lambada::{Error, Output, Parts, ResultMemory};
use numpy::ndarray::ArrayViewMutD;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::{self, Place, said};

/// Destination of a result: an array, or a tuple of destinations. A number goes into an array of
/// rank 0.
pub(crate) enum Places<'py> {
    Array(Place<'py>),
    All(Vec<Places<'py>>),
}

impl Output for Places<'_> {
    fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
        match self {
            Places::Array(Place::Real(view)) => received(view, parts),
            Places::Array(Place::Single(view)) => received(view, parts),
            Places::Array(Place::Int(view)) => received(view, parts),
            Places::Array(Place::Bool(view)) => received(view, parts),
            Places::All(places) => places.iter_mut().try_for_each(|place| place.receive(parts)),
        }
    }

    fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
        match self {
            Places::Array(Place::Real(view)) => view.lend(memory),
            Places::Array(Place::Int(view)) => view.lend(memory),
            Places::Array(Place::Single(_) | Place::Bool(_)) => memory.copied(),
            Places::All(places) => places.iter_mut().for_each(|place| place.lend(memory)),
        }
    }
}

fn received<'v, T: Output>(
    view: &mut ArrayViewMutD<'v, T>,
    parts: &mut Parts<'_>,
) -> Result<(), Error>
where
    ArrayViewMutD<'v, T>: Output,
{
    match (view.ndim(), view.first_mut()) {
        (0, Some(number)) => number.receive(parts),
        _ => view.receive(parts),
    }
}

impl Places<'static> {
    /// Reads the argument `out`.
    pub fn read(out: &Bound<'_, PyAny>, what: &str) -> PyResult<Places<'static>> {
        if out.is_instance_of::<PyTuple>() || out.is_instance_of::<PyList>() {
            let items = out.try_iter()?.map(|item| Places::read(&item?, what));
            return Ok(Places::All(items.collect::<PyResult<_>>()?));
        }
        match arrays::place(out) {
            Some(place) => Ok(Places::Array(place)),
            None => Err(PyTypeError::new_err(format!(
                "{what} should be an array of float64, float32, int64 or bool that may be written to, or a tuple of such, but it is {}",
                said(out)
            ))),
        }
    }

    /// Reads the destinations of a gradient, by parameter.
    pub fn by_name(
        out: &Bound<'_, PyAny>,
        names: &[String],
        alone: bool,
    ) -> PyResult<Places<'static>> {
        if alone {
            return Places::read(out, "out");
        }
        let Ok(out) = out.cast::<PyDict>() else {
            return Err(PyTypeError::new_err(format!(
                "out should be a dict with an array for each of {}, but it is {}",
                crate::input::listed(names),
                said(out)
            )));
        };
        let mut all = Vec::new();
        for name in names {
            let place = out
                .get_item(name)?
                .ok_or_else(|| PyValueError::new_err(format!("out has no array for `{name}`")))?;
            all.push(Places::read(&place, &format!("out[{name:?}]"))?);
        }
        Ok(Places::All(all))
    }
}

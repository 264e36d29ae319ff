//! The argument `wrt`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::arrays::said;

/// The parameters to differentiate with respect to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wrt {
    /// The names; empty for all parameters that hold reals.
    pub names: Vec<String>,
    /// Whether to return the derivative by the only name alone, not in a mapping.
    pub alone: bool,
}

impl Wrt {
    /// Reads a name, several names, or `None`.
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
        let name = |name: &Bound<'_, PyAny>| match name.cast::<PyString>() {
            Ok(name) => Ok(name.to_str()?.to_string()),
            Err(_) => Err(wrong()),
        };
        // Iterating over a tuple would cost more than a short call.
        let names: Vec<String> = match wrt.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter_borrowed().map(|item| name(&item)).collect::<PyResult<_>>()?,
            Err(_) => {
                let mut names = wrt.try_iter().map_err(|_| wrong())?;
                names.try_fold(Vec::new(), |mut all, item| {
                    all.push(name(&item?)?);
                    Ok::<_, PyErr>(all)
                })?
            }
        };
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

//! Draws of Markov chains, as arrays that are not copied.

#![allow(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lambada_draws::{Array, Format, Statistic, Summary, Variable, Wrong, warnings};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Draws, which the package's `Draws` shows as a mapping.
#[pyclass(frozen, module = "lambada._lambada")]
pub(crate) struct Draws {
    pub draws: Arc<lambada_draws::Draws>,
    summary: OnceLock<Summary>,
}

/// A finding about chains: its kind, title, meaning and advice.
pub(crate) type Finding = (&'static str, String, String, Vec<String>);

impl Draws {
    pub fn of(draws: lambada_draws::Draws) -> Draws {
        Draws { draws: Arc::new(draws), summary: OnceLock::new() }
    }

    fn summary(&self) -> &Summary {
        self.summary.get_or_init(|| Summary::of(&self.draws))
    }
}

#[pymethods]
impl Draws {
    /// Draws of variables, as arrays `[chain, draw, …]`.
    #[staticmethod]
    fn _of(variables: Vec<(String, Bound<'_, PyArrayDyn<f64>>)>) -> PyResult<Draws> {
        let mut made = lambada_draws::Draws::default();
        for (name, array) in variables {
            let [chains, draws, dims @ ..] = array.shape() else {
                let text = format!("`{name}` should have the axes chain and draw");
                return Err(PyValueError::new_err(text));
            };
            (made.chains, made.draws) = (*chains, *draws);
            let values = array.to_owned_array().into_iter().collect();
            made.variables.push(Variable { name, dims: dims.to_vec(), values });
        }
        made.check().map_err(|wrong| PyValueError::new_err(wrong.to_string()))?;
        Ok(Draws::of(made))
    }

    /// Reads a file.
    #[staticmethod]
    fn _read(py: Python<'_>, path: PathBuf) -> PyResult<Draws> {
        let format = format(&path)?;
        let read = py.detach(|| Ok::<_, std::io::Error>(format.read(&std::fs::read(&path)?)));
        read?.map(Draws::of).map_err(|wrong| broken(&path, &wrong))
    }

    /// Writes a file, atomically.
    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let format = format(&path)?;
        let bytes = py.detach(|| format.write(&self.draws)).map_err(|w| broken(&path, &w))?;
        Ok(lambada::replace_file(&path, &bytes)?)
    }

    /// The contents of a file, for pickles.
    fn _bytes(&self) -> PyResult<Vec<u8>> {
        Format::NetCdf.write(&self.draws).map_err(|wrong| broken(Path::new("draws"), &wrong))
    }

    /// Draws from the contents of a file.
    #[staticmethod]
    fn _again(bytes: &[u8]) -> PyResult<Draws> {
        let read = Format::NetCdf.read(bytes);
        read.map(Draws::of).map_err(|wrong| broken(Path::new("draws"), &wrong))
    }

    /// Numbers of chains and of draws.
    #[getter]
    fn _counts(&self) -> (usize, usize) {
        (self.draws.chains, self.draws.draws)
    }

    /// Facts about the run.
    #[getter]
    fn _attributes(&self) -> Vec<(String, String)> {
        self.draws.attributes.clone()
    }

    /// The arrays of a group by name: `"variables"`, `"predictive"`, `"log_likelihood"`,
    /// `"statistics"`, `"observed"`.
    fn _group<'py>(this: &Bound<'py, Draws>, group: &str) -> PyResult<Bound<'py, PyDict>> {
        let arrays = PyDict::new(this.py());
        for k in 0..group_of(&this.get().draws, group).len() {
            let name = group_of(&this.get().draws, group)[k].0;
            let array = part(this, |own| {
                let (_, dims, values) = group_of(own, group).swap_remove(k);
                (dims, values)
            });
            arrays.set_item(name, array?)?;
        }
        Ok(arrays)
    }

    /// The table as text.
    fn _text(&self, py: Python<'_>, all: bool) -> String {
        py.detach(|| self.summary().text(all))
    }

    /// The table as JSON.
    fn _json(&self, py: Python<'_>) -> String {
        py.detach(|| self.summary().to_json().to_string())
    }

    /// Findings.
    fn _warnings(&self, py: Python<'_>) -> Vec<Finding> {
        let found = py.detach(|| warnings(&self.draws, self.summary()));
        found.into_iter().map(told).collect()
    }

    /// Draws with the results of a definition.
    fn _with_results(&self, results: &Draws) -> Draws {
        let (own, results) = (&*self.draws, &*results.draws);
        Draws::of(own.clone().with_results(results.clone()))
    }
}

/// A finding for Python.
pub(crate) fn told(finding: lambada_draws::Finding) -> Finding {
    (finding.kind.name(), finding.title, finding.meaning, finding.advice)
}

/// An array: its name, its sizes, and its numbers.
type Named<'a> = (&'a str, Vec<usize>, &'a [f64]);

/// The arrays of a group.
fn group_of<'a>(draws: &'a lambada_draws::Draws, group: &str) -> Vec<Named<'a>> {
    let outer = [draws.chains, draws.draws];
    let variable = |Variable { name, dims, values }: &'a Variable| {
        (&name[..], outer.iter().chain(dims).copied().collect(), &values[..])
    };
    let statistic =
        |Statistic { name, values }: &'a Statistic| (&name[..], outer.to_vec(), &values[..]);
    let array = |Array { name, dims, values }: &'a Array| (&name[..], dims.clone(), &values[..]);
    match group {
        "variables" => draws.variables.iter().map(variable).collect(),
        "predictive" => draws.predictive.iter().map(variable).collect(),
        "log_likelihood" => draws.log_likelihood.iter().map(variable).collect(),
        "statistics" => draws.statistics.iter().map(statistic).collect(),
        _ => draws.observed.iter().map(array).collect(),
    }
}

fn format(path: &Path) -> PyResult<Format> {
    Format::of(path).ok_or_else(|| {
        let known: Vec<String> = Format::extensions().iter().map(|e| format!("`.{e}`")).collect();
        PyValueError::new_err(format!(
            "`{}` is no file of draws: its name should end in {}",
            path.display(),
            known.join(", ")
        ))
    })
}

fn broken(path: &Path, wrong: &Wrong) -> PyErr {
    PyValueError::new_err(format!("`{}`: {wrong}", path.display()))
}

/// An array of a part of draws, which it keeps. It cannot be written to.
fn part<'py>(
    owner: &Bound<'py, Draws>,
    part: impl FnOnce(&lambada_draws::Draws) -> (Vec<usize>, &[f64]),
) -> PyResult<Bound<'py, PyAny>> {
    use numpy::ndarray::{ArrayViewD, IxDyn, ShapeError};
    let (dims, values) = part(&owner.get().draws);
    let wrong = |error: ShapeError| PyRuntimeError::new_err(error.to_string());
    let view = ArrayViewD::from_shape(IxDyn(&dims), values).map_err(wrong)?;
    // SAFETY: the array keeps the draws, which never change, and can only be read.
    let array = unsafe { numpy::PyArrayDyn::borrow_from_array(&view, owner.clone().into_any()) };
    array.call_method1("setflags", (false,))?;
    Ok(array.into_any())
}

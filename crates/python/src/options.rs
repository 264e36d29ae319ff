//! Options, from keywords.

use std::path::PathBuf;

use lambada::{Engine, Options, Precision};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The names of the options.
const KNOWN: &[&str] = &[
    "engine",
    "checks",
    "max_memory",
    "nests",
    "trap_nan",
    "cache",
    "threads",
    "precision",
    "flush_subnormals",
];

/// Reads options; missing ones have their defaults.
pub(crate) fn read(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut options = Options { meanwhile: true, ..Options::default() };
    for (name, value) in given {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        set(&mut options, &name, &value)?;
    }
    Ok(options)
}

fn set(options: &mut Options, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let wrong = |wanted: &str| {
        PyTypeError::new_err(format!("the option `{name}` should be {wanted}, but it is {value:?}"))
    };
    let flag = || value.extract::<bool>().map_err(|_| wrong("True or False"));
    match name {
        "engine" => {
            let engine: String = value.extract().map_err(|_| wrong("a name"))?;
            // Who names an engine gets it from the first call on.
            options.meanwhile = false;
            options.engine = match &*engine {
                "native" => Engine::Native,
                "jit" => Engine::Jit,
                "interpreter" => Engine::Loops,
                _ => return Err(unknown("engine", &engine, &["native", "jit", "interpreter"])),
            };
        }
        "checks" => options.checks = flag()?,
        "nests" => options.nests = flag()?,
        "trap_nan" => options.trap_nan = flag()?,
        "flush_subnormals" => options.flush_subnormals = flag()?,
        "max_memory" => {
            let text = value.extract::<String>();
            let bytes = match &text {
                Ok(text) => lambada::memory_size(text)
                    .map_err(|_| wrong("a number of bytes, or a size such as \"4GB\""))?,
                Err(_) => value
                    .extract()
                    .map_err(|_| wrong("a number of bytes, or a size such as \"4GB\""))?,
            };
            options.max_memory = Some(bytes);
        }
        "cache" => {
            let folder: PathBuf = value.extract().map_err(|_| wrong("a folder"))?;
            options.cache = Some(folder);
        }
        "threads" => {
            options.threads = value.extract().map_err(|_| wrong("a positive integer"))?;
        }
        "precision" => {
            let name: String = value.extract().map_err(|_| wrong("\"f64\" or \"f32\""))?;
            options.precision = Precision::from_name(&name)
                .ok_or_else(|| unknown("precision", &name, &Precision::ALL.map(Precision::name)))?;
        }
        _ => {
            let near = lambada::suggest(name, KNOWN.iter().copied());
            let near = near.map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| format!("; there are {}", KNOWN.join(", ")));
            return Err(PyTypeError::new_err(format!("there is no option `{name}`{near}")));
        }
    }
    Ok(())
}

/// The error for an unknown name.
pub(crate) fn unknown(what: &str, found: &str, known: &[&str]) -> PyErr {
    let near = lambada::suggest(found, known.iter().copied());
    let near = near.map(|near| format!("; did you mean {near:?}")).unwrap_or_default();
    let known: Vec<String> = known.iter().map(|word| format!("{word:?}")).collect();
    PyValueError::new_err(format!(
        "there is no {what} {found:?}{near}; it is one of {}",
        known.join(", ")
    ))
}

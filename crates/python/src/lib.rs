//! The extension module of the Python package `lambada`: translates between Python and the Rust
//! interface, and contains no logic.
//!
//! - `model`, `function`, `pullback`: the classes that Python calls;
//! - `call`, `input`, `arrays`: arguments, borrowed from NumPy where possible;
//! - `output`, `places`: results, and destination arrays;
//! - `running`: calls without the interpreter's lock, and Ctrl-C;
//! - `models`, `data`, `draws`, `chains`: definitions as statistical models, their data, their
//!   draws, and chains that Python follows;
//! - `xla`: calls by JAX without Python;
//! - `command`: the command `lambada`;
//! - `options`, `names`, `wrt`, `types`, `shapes`, `errors`, `classes`: options, keywords, types,
//!   exceptions, and the Python classes of results.

mod arrays;
mod call;
mod chains;
mod classes;
mod command;
mod data;
mod draws;
mod errors;
mod function;
mod input;
mod model;
mod models;
mod names;
mod options;
mod output;
mod places;
mod pullback;
mod running;
mod shapes;
mod types;
mod wrt;
mod xla;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Checks options.
#[pyfunction]
fn check_options(given: &Bound<'_, PyDict>) -> PyResult<()> {
    options::read(given).map(drop)
}

/// Gives the memory that functions keep from call to call back to the system.
#[pyfunction]
fn release(py: Python<'_>) {
    py.detach(lambada::release_memory);
}

/// The extension module.
#[pymodule]
fn _lambada(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<model::Model>()?;
    module.add_class::<function::Function>()?;
    module.add_class::<pullback::Pullback>()?;
    module.add_class::<draws::Draws>()?;
    module.add_function(wrap_pyfunction!(models::sample, module)?)?;
    module.add_function(wrap_pyfunction!(models::minimize, module)?)?;
    module.add_function(wrap_pyfunction!(models::predict, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(check_options, module)?)?;
    module.add_function(wrap_pyfunction!(release, module)?)?;
    module.add_function(wrap_pyfunction!(xla::xla_handler, module)?)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    lambada::warn_with(errors::warn);
    Ok(())
}

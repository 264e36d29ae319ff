//! The extension module of the Python package `lambada`: it translates between Python's values and
//! those of the Rust interface, and holds no logic.
//!
//! - `model`, `function`, `pullback`: what Python calls;
//! - `call`, `input`, `arrays`: arguments, which are lent where NumPy has them as Lambada needs
//!   them;
//! - `output`, `places`: results, and arrays that results are written into;
//! - `running`: what releases the interpreter's lock, and Ctrl-C;
//! - `options`, `names`, `wrt`, `types`, `errors`, `classes`: options, words, types, exceptions,
//!   and the classes of the package that results are made of.

mod arrays;
mod call;
mod classes;
mod errors;
mod function;
mod input;
mod model;
mod names;
mod options;
mod output;
mod places;
mod pullback;
mod running;
mod shapes;
mod types;
mod wrt;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Are these options?
#[pyfunction]
fn check_options(given: &Bound<'_, PyDict>) -> PyResult<()> {
    options::read(given).map(drop)
}

/// The extension module.
#[pymodule]
fn _lambada(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<model::Model>()?;
    module.add_class::<function::Function>()?;
    module.add_class::<pullback::Pullback>()?;
    module.add_function(wrap_pyfunction!(check_options, module)?)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    lambada::warn_with(errors::warn);
    Ok(())
}

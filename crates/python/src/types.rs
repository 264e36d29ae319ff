//! Types as values of Python.

use lambada::Type;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Converts a type to Python values.
pub(crate) fn tree<'py>(py: Python<'py>, ty: &Type) -> PyResult<Bound<'py, PyAny>> {
    let named = |kind: &str, inside: Bound<'py, PyAny>| {
        Ok(PyTuple::new(py, [PyString::new(py, kind).into_any(), inside])?.into_any())
    };
    match ty {
        Type::Real | Type::Int | Type::Bool => Ok(PyString::new(py, &ty.to_string()).into_any()),
        Type::Array(size, elem) => {
            let parts = [
                PyString::new(py, "array").into_any(),
                tree(py, elem)?,
                PyString::new(py, &size.to_string()).into_any(),
            ];
            Ok(PyTuple::new(py, parts)?.into_any())
        }
        Type::Tuple(types) => {
            let types: Vec<_> = types.iter().map(|ty| tree(py, ty)).collect::<PyResult<_>>()?;
            named("tuple", PyTuple::new(py, types)?.into_any())
        }
        Type::Record(fields) => {
            let all = PyDict::new(py);
            for (name, ty) in fields {
                all.set_item(&**name, tree(py, ty)?)?;
            }
            named("record", all.into_any())
        }
        Type::Variant(_) | Type::Function(..) => {
            named("variant", PyString::new(py, &ty.to_string()).into_any())
        }
    }
}

/// The sizes of a scalar or an array of scalars.
pub(crate) fn sizes(ty: &Type) -> Option<Vec<String>> {
    let (mut ty, mut all) = (ty, Vec::new());
    while let Type::Array(size, elem) = ty {
        all.push(size.to_string());
        ty = elem;
    }
    matches!(ty, Type::Real | Type::Int | Type::Bool).then_some(all)
}

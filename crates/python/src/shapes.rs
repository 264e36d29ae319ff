//! Shapes of Python values, from which open types of parameters are inferred.

use lambada::Shape;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::arrays::as_array;
use crate::call::Given;

/// Number of items of a sequence inspected: enough to recognize the components of a tuple.
const LOOKED_AT: usize = 16;

/// Depth at which sequences have no known shape; they may contain themselves.
const DEPTH: usize = 64;

/// One shape for each parameter.
pub(crate) fn shapes(names: &[&str], (args, kwargs): Given<'_, '_>) -> Vec<Shape> {
    let by_name = |name: &&str| kwargs.and_then(|kwargs| kwargs.get_item(name).ok().flatten());
    let given = names.iter().enumerate().map(|(k, name)| match args.get_item(k) {
        Ok(value) => Some(value),
        Err(_) => by_name(name),
    });
    given.map(|value| value.map_or(Shape::Unknown, |value| shape(&value, DEPTH))).collect()
}

fn shape(value: &Bound<'_, PyAny>, depth: usize) -> Shape {
    if depth == 0 || value.is_none() || value.is_instance_of::<PyString>() {
        return Shape::Unknown;
    }
    if value.is_instance_of::<PyBool>() {
        return Shape::Bool;
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Shape::Number;
    }
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return array_shape(array);
    }
    if let Ok(items) = value.cast::<PyList>() {
        return list(items.iter(), depth);
    }
    if let Ok(items) = value.cast::<PyTuple>()
        && !value.hasattr("_fields").unwrap_or(false)
    {
        return list(items.iter(), depth);
    }
    if let Ok(members) = value.cast::<PyDict>() {
        let member = |(name, member): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Some((name.extract().ok()?, shape(&member, depth - 1)))
        };
        return members
            .iter()
            .map(member)
            .collect::<Option<_>>()
            .map_or(Shape::Unknown, Shape::Record);
    }
    // Arrays of other libraries.
    let is_array =
        ["__array__", "__dlpack__"].iter().any(|name| value.hasattr(*name).unwrap_or(false));
    match is_array.then(|| as_array(value)) {
        Some(Ok(array)) => array_shape(&array),
        Some(Err(_)) | None => Shape::Unknown,
    }
}

fn list<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> Shape {
    Shape::List(items.take(LOOKED_AT).map(|item| shape(&item, depth - 1)).collect())
}

fn array_shape(array: &Bound<'_, PyUntypedArray>) -> Shape {
    let elem = match array.dtype().kind() {
        b'b' => Shape::Bool,
        b'f' | b'i' | b'u' => Shape::Number,
        _ => Shape::Unknown,
    };
    Shape::Axes(array.shape().len(), Box::new(elem))
}

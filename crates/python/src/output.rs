//! Conversion of results to Python values. NumPy arrays take over the memory of the result.

use lambada::{Data, Elements, Gradient, Precision, Tensor, Type, Value, Variant};
use numpy::ndarray::{ArrayD, ArrayViewD, IxDyn, ShapeError};
use numpy::{Element, PyArray, PyArrayDyn};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::classes;

const ROOM: usize = 128 * 1024;
const MORE: usize = 4 * 1024 * 1024;

/// Converts results; record fields come in the order of a type.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'a, 'py> {
    pub py: Python<'py>,
    pub variants: &'a [Variant],
    /// Precision of arrays of reals.
    pub precision: Precision,
}

impl<'py> Writer<'_, 'py> {
    pub fn value(self, value: Value, ty: Option<&Type>) -> PyResult<Bound<'py, PyAny>> {
        self.data(value.into_data(), ty)
    }

    fn data(self, data: Data, ty: Option<&Type>) -> PyResult<Bound<'py, PyAny>> {
        match data {
            Data::Tensor(tensor) => tensor_of(self.py, tensor, self.precision),
            other => stacker::maybe_grow(ROOM, MORE, || self.structure(other, ty)),
        }
    }

    fn structure(self, data: Data, ty: Option<&Type>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match data {
            Data::Tensor(tensor) => tensor_of(py, tensor, self.precision),
            Data::Tuple(items) => {
                let types = if let Some(Type::Tuple(types)) = ty { &types[..] } else { &[] };
                let items = items.into_iter().enumerate();
                let items: Vec<Bound<'py, PyAny>> = items
                    .map(|(k, item)| self.data(item, types.get(k)))
                    .collect::<PyResult<_>>()?;
                Ok(PyTuple::new(py, items)?.into_any())
            }
            Data::Record(mut fields) => {
                let types = if let Some(Type::Record(types)) = ty { &types[..] } else { &[] };
                let place = |name: &str| types.iter().position(|(known, _)| **known == *name);
                fields.sort_by_key(|(name, _)| place(name));
                let record = PyDict::new(py);
                for (name, item) in fields {
                    let ty = place(&name).map(|k| &types[k].1);
                    record.set_item(&*name, self.data(item, ty)?)?;
                }
                classes::record(py)?.call((), Some(&record))
            }
            Data::Array(items) => {
                let ty = if let Some(Type::Array(_, elem)) = ty { Some(&**elem) } else { None };
                let items = items.into_iter().map(|item| self.data(item, ty));
                let items: Vec<Bound<'py, PyAny>> = items.collect::<PyResult<_>>()?;
                Ok(PyList::new(py, items)?.into_any())
            }
            Data::Con { name, args, .. } => {
                let types = if let Some(Type::Variant(ty)) = ty {
                    self.constructor(ty, &name)
                } else {
                    &[]
                };
                let args = args.into_vec().into_iter().enumerate();
                let args: Vec<Bound<'py, PyAny>> =
                    args.map(|(k, arg)| self.data(arg, types.get(k))).collect::<PyResult<_>>()?;
                classes::variant(py)?.call1((&*name, PyTuple::new(py, args)?))
            }
        }
    }

    fn constructor(&self, ty: &str, name: &str) -> &[Type] {
        let variant = self.variants.iter().find(|variant| *variant.name == *ty);
        let constructors = variant.into_iter().flat_map(|variant| &variant.constructors);
        constructors.into_iter().find(|(known, _)| **known == *name).map_or(&[], |(_, types)| types)
    }

    /// Derivatives by parameter: of the only one alone, or all by name.
    pub fn gradient<'t>(
        self,
        gradient: Gradient,
        alone: bool,
        ty: impl Fn(&str) -> Option<&'t Type>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if alone {
            let ty = gradient.iter().next().and_then(|(name, _)| ty(name));
            return self.value(gradient.into_value(), ty);
        }
        let parts = PyDict::new(self.py);
        for (name, value) in gradient.into_parts() {
            parts.set_item(&*name, self.value(value, ty(&name))?)?;
        }
        self.parts(parts)
    }

    /// A `Parts` of derivatives by parameter.
    pub fn parts(self, parts: Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        classes::parts(self.py)?.call1((parts,))
    }
}

fn tensor_of(py: Python<'_>, tensor: Tensor, precision: Precision) -> PyResult<Bound<'_, PyAny>> {
    let Tensor { dims, data } = tensor;
    if dims.is_empty() {
        return Ok(match data {
            Elements::Real(values) => values[0].into_pyobject(py)?.into_any(),
            Elements::Int(values) => values[0].into_pyobject(py)?.into_any(),
            Elements::Bool(values) => values[0].into_pyobject(py)?.to_owned().into_any(),
        });
    }
    match data {
        Elements::Real(values) => match precision {
            Precision::F64 => array(py, &dims, values),
            Precision::F32 => {
                let values: Vec<f32> = values.iter().map(|x| *x as f32).collect();
                array(py, &dims, values)
            }
        },
        Elements::Int(values) => array(py, &dims, values),
        Elements::Bool(values) => array(py, &dims, values),
    }
}

/// Size in bytes below which a copy is cheaper than an owner object.
const SMALL: usize = 32 * 1024;

/// An array that takes over the memory of the vector, unless it is small.
fn array<'py, T: Element>(
    py: Python<'py>,
    dims: &[usize],
    values: Vec<T>,
) -> PyResult<Bound<'py, PyAny>> {
    let wrong = |error: ShapeError| PyRuntimeError::new_err(error.to_string());
    let array: Bound<'py, PyArrayDyn<T>> = if size_of_val(&values[..]) < SMALL {
        let view = ArrayViewD::from_shape(IxDyn(dims), &values[..]).map_err(wrong)?;
        PyArray::from_array(py, &view)
    } else {
        let array = ArrayD::from_shape_vec(IxDyn(dims), values).map_err(wrong)?;
        PyArray::from_owned_array(py, array)
    };
    Ok(array.into_any())
}

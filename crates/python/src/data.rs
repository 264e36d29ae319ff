//! Data of models: values of Python by parameter name, as files of data have them. Numbers may be
//! integers where reals are wanted, and `"inf"` and `"nan"` are reals.

use std::collections::HashSet;

use lambada::{Data, Inputs, Raw, Tensor, Type, to_json};
use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;

use crate::arrays::{self, Element, Unfit, said};
use crate::call::Interface;
use crate::input::{Reader, plain};

/// Depth of lists that are read; a list may contain itself.
const DEPTH: usize = 64;

/// Values of parameters by name. Members of `shared` that no parameter has are ignored, as members
/// of files are. Messages call a value of `own` by its `origin`.
pub(crate) fn inputs(
    interface: Interface<'_>,
    shared: &Bound<'_, PyDict>,
    own: &Bound<'_, PyDict>,
    origin: impl Fn(&str) -> String,
) -> PyResult<Inputs> {
    let mut inputs = Inputs::new();
    for (name, value) in shared {
        let name = name.cast::<PyString>()?.to_str()?;
        if interface.names().contains(&name) {
            inputs.insert(name, raw(interface, name, &value)?, "the data");
        } else {
            // The name alone: it may be the misspelled name of a parameter, which messages tell.
            let member = Value::from_iter([(name, Value::Null)]).to_string();
            inputs.read_json(&member, "the data").map_err(|p| PyValueError::new_err(p.title))?;
        }
    }
    for (name, value) in own {
        let name = name.cast::<PyString>()?.to_str()?;
        if !interface.names().contains(&name) {
            return Err(interface.no_parameter(name));
        }
        inputs.insert(name, raw(interface, name, &value)?, origin(name));
    }
    Ok(inputs)
}

/// The value of a parameter. Structures are read by their types, arrays as they are.
fn raw(interface: Interface<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Raw> {
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    match interface.type_of(name) {
        // Lists of any lengths, for a ragged array.
        Some(Type::Record(_)) if is_list => {
            json(name, value, DEPTH).map(|value| Raw::Json(value.into()))
        }
        Some(ty) if plain(ty).is_none() && !interface.0.is_open() => {
            structure(interface, name, ty, value).map(|data| Raw::Json(to_json(&data).into()))
        }
        _ if is_array(value) => tensor(name, value).map(Raw::Tensor),
        _ => json(name, value, DEPTH).map(|value| Raw::Json(value.into())),
    }
}

fn structure(
    interface: Interface<'_>,
    name: &str,
    ty: &Type,
    value: &Bound<'_, PyAny>,
) -> PyResult<Data> {
    let (variants, kept) = (interface.0.variants(), &mut Vec::new());
    let mut reader = Reader { name, ty, variants, kept, inside: HashSet::new() };
    Ok(reader.arg(value)?.to_data())
}

fn is_array(value: &Bound<'_, PyAny>) -> bool {
    let has = |name: &str| value.hasattr(name).unwrap_or(false);
    has("__array__") || has("__dlpack__")
}

fn tensor(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let wrong = |found: &str| format!("`{name}` should be made of numbers, but it is {found}");
    let unfit = |unfit: Unfit| match unfit {
        Unfit::Type(found) => PyTypeError::new_err(wrong(&found)),
        Unfit::Value(found) => PyValueError::new_err(wrong(&found)),
    };
    let array = arrays::as_array(value).map_err(unfit)?;
    let element = match array.dtype().kind() {
        b'b' => Element::Bool,
        b'i' | b'u' => Element::Int,
        _ => Element::Real,
    };
    let dense = arrays::converted(array.as_any(), element, array.ndim()).map_err(unfit)?;
    let lent = arrays::lent(&dense, element).map(|arg| arg.to_data());
    match lent {
        Some(Data::Tensor(tensor)) => Ok(tensor),
        _ => Err(PyTypeError::new_err(wrong(&said(value)))),
    }
}

/// Numbers and lists of them, or of arrays.
fn json(name: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let wrong = || {
        let found = said(value);
        PyTypeError::new_err(format!("`{name}` should be made of numbers, but it has {found}"))
    };
    if depth == 0 {
        return Err(wrong());
    }
    let items = |items: &mut dyn Iterator<Item = Bound<'_, PyAny>>| {
        items.map(|item| json(name, &item, depth - 1)).collect::<PyResult<_>>().map(Value::Array)
    };
    if value.is_instance_of::<PyBool>() {
        Ok(value.is_truthy()?.into())
    } else if value.is_instance_of::<PyFloat>() {
        Ok(real(value.extract()?))
    } else if value.is_instance_of::<PyInt>() {
        match value.extract::<i64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => value.extract().map(real),
        }
    } else if let Ok(list) = value.cast::<PyList>() {
        items(&mut list.iter())
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        items(&mut tuple.iter())
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(text.to_str()?.into())
    } else if is_array(value) {
        Ok(to_json(&Data::Tensor(tensor(name, value)?)))
    } else if let Ok(dict) = value.cast::<PyDict>() {
        let member = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<_> {
            Ok((key.str()?.to_string(), json(name, &value, depth - 1)?))
        };
        dict.iter().map(member).collect::<PyResult<_>>().map(Value::Object)
    } else if let Ok(x) = value.extract::<f64>() {
        Ok(real(x))
    } else {
        Err(wrong())
    }
}

fn real(x: f64) -> Value {
    to_json(&Data::Tensor(Tensor::reals(Vec::new(), vec![x])))
}

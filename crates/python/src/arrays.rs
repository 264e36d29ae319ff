//! NumPy arrays. Suitable ones are borrowed in place, others are converted once.
//!
//! As in every NumPy library that releases the interpreter's lock, no array may be written while a
//! call reads it.

#![allow(unsafe_code)]

use lambada::Arg;
use numpy::npyffi::{NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Real,
    Int,
    Bool,
}

impl Element {
    /// Its NumPy type.
    fn descr(self, py: Python<'_>) -> Bound<'_, PyArrayDescr> {
        match self {
            Element::Real => numpy::dtype::<f64>(py),
            Element::Int => numpy::dtype::<i64>(py),
            Element::Bool => numpy::dtype::<bool>(py),
        }
    }

    /// The kinds of NumPy types that convert to it without unexpected loss. Truth values are
    /// numbers in Python.
    fn kinds(self) -> &'static [u8] {
        match self {
            Element::Real => b"fiub",
            Element::Int => b"iub",
            Element::Bool => b"b",
        }
    }
}

/// Borrows an array if it has this element type and is dense and row-major. The object must outlive
/// the argument.
pub(crate) fn lent(array: &Bound<'_, PyUntypedArray>, element: Element) -> Option<Arg<'static>> {
    let found = array.dtype();
    let is = |wanted: Bound<'_, PyArrayDescr>| found.is(&wanted) || found.is_equiv_to(&wanted);
    let single = element == Element::Real && is(numpy::dtype::<f32>(array.py()));
    if !single && !is(element.descr(array.py())) {
        return None;
    }
    // SAFETY: every NumPy array has this structure, and does not change while we read its fields.
    let (flags, data) = unsafe {
        let object = &*array.as_array_ptr();
        (object.flags, object.data)
    };
    let needed = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    if flags & needed != needed {
        return None;
    }
    let dims = array.shape();
    let count: usize = dims.iter().product();
    match element {
        // SAFETY: the array is dense and aligned, so `count` elements of its type lie at `data`;
        // the caller keeps the array.
        Element::Real if single => {
            Arg::singles(dims, unsafe { elements(data.cast::<f32>(), count) })
        }
        // SAFETY: as above.
        Element::Real => Arg::reals(dims, unsafe { elements(data.cast::<f64>(), count) }),
        // SAFETY: as above.
        Element::Int => Arg::ints(dims, unsafe { elements(data.cast::<i64>(), count) }),
        Element::Bool => {
            // SAFETY: as above; a truth value is a byte.
            let bytes = unsafe { elements(data.cast::<u8>(), count) };
            // A NumPy byte may have any value; a `bool` must be 0 or 1.
            let good = bytes.iter().all(|byte| *byte <= 1);
            // SAFETY: as above, and all bytes are 0 or 1.
            good.then(|| Arg::bools(dims, unsafe { elements(data.cast::<bool>(), count) }))?
        }
    }
}

/// The elements of an array. If it is empty, `data` may be any pointer.
///
/// # Safety
/// `count` elements lie at `data` while the slice is in use.
unsafe fn elements<T>(data: *const T, count: usize) -> &'static [T] {
    match count {
        0 => &[],
        // SAFETY: as the caller promises.
        _ => unsafe { std::slice::from_raw_parts(data, count) },
    }
}

/// Why a value is no array of the expected kind.
pub(crate) enum Unfit {
    /// Another type, described in words.
    Type(String),
    /// An array of another shape, or unsuitable elements.
    Value(String),
}

/// Converts anything that NumPy understands to a dense, row-major array with this element type and
/// rank.
pub(crate) fn converted<'py>(
    value: &Bound<'py, PyAny>,
    element: Element,
    rank: usize,
) -> Result<Bound<'py, PyUntypedArray>, Unfit> {
    let py = value.py();
    let array = as_array(value)?;
    let dtype = array.dtype();
    let kind = dtype.kind();
    let shape = array.shape();
    if is_masked(&array) {
        return Err(Unfit::Value(
            "a masked array, whose masked elements have no value; fill them first".into(),
        ));
    }
    // NumPy chooses `float64` for an empty list.
    let empty = array.is_empty();
    if !(element.kinds().contains(&kind) || empty && kind == b'f') {
        return Err(Unfit::Type(described(value, &array)));
    }
    if shape.len() != rank && !(empty && shape.len() < rank) {
        let found = described(value, &array);
        return Err(match shape.len() {
            0 => Unfit::Type(found),
            _ => Unfit::Value(found),
        });
    }
    if element == Element::Int && kind == b'u' && !empty {
        let most = array.call_method0("max").and_then(|most| most.extract::<i64>());
        if most.is_err() {
            return Err(Unfit::Value("an array with a number that is not a 64-bit integer".into()));
        }
    }
    let dims: Vec<usize> = shape.iter().copied().chain(std::iter::repeat(0)).take(rank).collect();
    let made = (|| {
        let dense = require(py)?.call1((&array, element.descr(py), ("C", "A", "E")))?;
        let dense = if dims == shape { dense } else { dense.call_method1("reshape", (dims,))? };
        // Normalizes truth values whose bytes are not 0 or 1.
        let dense =
            if element == Element::Bool { dense.call_method1("__ne__", (false,))? } else { dense };
        dense.cast_into::<PyUntypedArray>().map_err(PyErr::from)
    })();
    made.map_err(|error| Unfit::Value(format!("something that NumPy does not convert: {error}")))
}

/// Converts anything to an array: through `__array__`, DLPack, or as nested sequences.
pub(crate) fn as_array<'py>(
    value: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyUntypedArray>, Unfit> {
    let py = value.py();
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let lends = value.hasattr("__dlpack__").unwrap_or(false)
        && !value.hasattr("__array__").unwrap_or(false);
    let made = match lends {
        true => py.import("numpy").and_then(|numpy| numpy.call_method1("from_dlpack", (value,))),
        false => asarray(py).and_then(|asarray| asarray.call1((value,))),
    };
    let array = made.map_err(|error| {
        let why = error.value(py).to_string();
        let why = why.lines().next().unwrap_or_default().to_string();
        match error.is_instance_of::<pyo3::exceptions::PyValueError>(py) {
            true => Unfit::Value(format!("{} that is no regular array: {why}", said(value))),
            false => Unfit::Type(format!("{} that is no array: {why}", said(value))),
        }
    })?;
    array.cast_into::<PyUntypedArray>().map_err(|_| Unfit::Type(said(value)))
}

fn is_masked(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.hasattr("mask").unwrap_or(false)
        && array
            .getattr("mask")
            .and_then(|mask| mask.call_method0("any"))
            .and_then(|any| any.is_truthy())
            .unwrap_or(false)
}

fn asarray(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FOUND: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FOUND.import(py, "numpy", "asarray")
}

fn require(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FOUND: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FOUND.import(py, "numpy", "require")
}

/// Describes a value together with the array that NumPy makes of it.
fn described(value: &Bound<'_, PyAny>, array: &Bound<'_, PyUntypedArray>) -> String {
    let shape = array.shape();
    if shape.is_empty() {
        return said(value);
    }
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", sizes.join(", "));
    let dtype = array.dtype();
    match value.cast::<PyUntypedArray>() {
        Ok(_) => format!("an array of {dtype} of the shape {shape}"),
        Err(_) => format!("{} that makes an array of {dtype} of the shape {shape}", said(value)),
    }
}

/// Describes a value.
pub(crate) fn said(value: &Bound<'_, PyAny>) -> String {
    if value.is_none() {
        return "None".into();
    }
    let class = value.get_type();
    let class = class.name().map_or_else(|_| "object".to_string(), |name| name.to_string());
    let text = value.repr().map(|text| text.to_string()).unwrap_or_default();
    let short: String = text.chars().take(40).collect();
    let article = if class.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) {
        "an"
    } else {
        "a"
    };
    match short.len() == text.len() && !text.contains('\n') && !text.starts_with('<') {
        true => format!("{article} {class}, {text}"),
        false => format!("{article} {class}"),
    }
}

/// Destination arrays by element type.
pub(crate) enum Place<'py> {
    Real(numpy::ndarray::ArrayViewMutD<'py, f64>),
    Single(numpy::ndarray::ArrayViewMutD<'py, f32>),
    Int(numpy::ndarray::ArrayViewMutD<'py, i64>),
    Bool(numpy::ndarray::ArrayViewMutD<'py, bool>),
}

/// An array as a destination, if it is writeable and its element type is that of a result. The
/// object must outlive the place.
pub(crate) fn place(array: &Bound<'_, PyAny>) -> Option<Place<'static>> {
    use numpy::{PyArrayDyn, PyArrayMethods};
    let untyped = array.cast::<PyUntypedArray>().ok()?;
    // SAFETY: as above.
    let flags = unsafe { (*untyped.as_array_ptr()).flags };
    let needed = NPY_ARRAY_ALIGNED | numpy::npyffi::NPY_ARRAY_WRITEABLE;
    if flags & needed != needed {
        return None;
    }
    if let Ok(array) = array.cast::<PyArrayDyn<f64>>() {
        // SAFETY: the array is writeable, and the caller, who provides it as destination, keeps it
        // and does not read it before the call ends.
        Some(Place::Real(unsafe { array.as_raw_array_mut().deref_into_view_mut() }))
    } else if let Ok(array) = array.cast::<PyArrayDyn<f32>>() {
        // SAFETY: as above.
        Some(Place::Single(unsafe { array.as_raw_array_mut().deref_into_view_mut() }))
    } else if let Ok(array) = array.cast::<PyArrayDyn<i64>>() {
        // SAFETY: as above.
        Some(Place::Int(unsafe { array.as_raw_array_mut().deref_into_view_mut() }))
    } else if let Ok(array) = array.cast::<PyArrayDyn<bool>>() {
        // SAFETY: as above.
        Some(Place::Bool(unsafe { array.as_raw_array_mut().deref_into_view_mut() }))
    } else {
        None
    }
}

//! Calls by XLA, the runtime of JAX, without Python: XLA passes its buffers to a handler, which
//! runs the function that an attribute names. No thread waits for the interpreter's
//! lock or for a copy.
//!
//! The structures are those of `xla/ffi/api/c_api.h`; versions of it only append fields to them.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use lambada::{Arg, Args, Error, Function, IntoArg, Output, Parts, ResultMemory};
use numpy::ndarray::{ArrayViewMutD, IxDyn};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrays::Place;
use crate::places::Places;

/// Functions by key. Compiled programs of XLA mention keys, so functions are kept for good.
static KNOWN: Mutex<Option<HashMap<String, Function>>> = Mutex::new(None);

/// Makes a function callable by XLA under a key, which must not name another function.
pub(crate) fn register(key: &str, function: &Function) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().insert(key.to_string(), function.clone());
}

/// The handler, for `jax.ffi.register_ffi_target`.
#[pyfunction]
pub(crate) fn xla_handler(py: Python<'_>) -> PyResult<Bound<'_, PyCapsule>> {
    let handler = handle as extern "C" fn(*mut CallFrame) -> *mut c_void;
    let pointer = std::ptr::NonNull::new(handler as *mut c_void);
    let pointer = pointer.ok_or_else(|| {
        pyo3::exceptions::PyRuntimeError::new_err("the handler for XLA has no address")
    })?;
    // SAFETY: the pointer is that of a function, which is never freed.
    unsafe { PyCapsule::new_with_pointer(py, pointer, c"xla._CUSTOM_CALL_TARGET") }
}

/// The head of all structures.
#[repr(C)]
struct Head {
    size: usize,
    extension: *mut Extension,
}

#[repr(C)]
struct Extension {
    size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct Version {
    head: Head,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Metadata {
    size: usize,
    version: Version,
    traits: u32,
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct Api {
    head: Head,
    version: Version,
    internal: *const c_void,
    error_create: extern "C" fn(*mut ErrorCreate) -> *mut c_void,
}

#[repr(C)]
struct ErrorCreate {
    head: Head,
    message: *const c_char,
    code: c_int,
}

/// Arguments or results.
#[repr(C)]
struct Buffers {
    head: Head,
    count: i64,
    kinds: *const c_int,
    all: *const *const Buffer,
}

#[repr(C)]
struct Buffer {
    head: Head,
    element: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *const i64,
}

#[repr(C)]
struct Attributes {
    head: Head,
    count: i64,
    kinds: *const c_int,
    names: *const *const Span,
    all: *const *const c_void,
}

#[repr(C)]
struct Span {
    start: *const u8,
    len: usize,
}

#[repr(C)]
struct CallFrame {
    head: Head,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    args: Buffers,
    results: Buffers,
    attributes: Attributes,
}

const METADATA: c_int = 1;
const STRING: c_int = 4;

const UNKNOWN: c_int = 2;
const INVALID_ARGUMENT: c_int = 3;

/// The version of the interface that is written here.
const MINOR: c_int = 3;

const PRED: c_int = 1;
const S32: c_int = 4;
const S64: c_int = 5;
const F32: c_int = 11;
const F64: c_int = 12;

extern "C" fn handle(frame: *mut CallFrame) -> *mut c_void {
    // SAFETY: XLA passes a frame that lives during the call, also when it asks for metadata.
    let (frame, api) = unsafe { (&*frame, &*(*frame).api) };
    if !frame.head.extension.is_null() {
        // SAFETY: the kind of an extension says which structure it begins.
        unsafe {
            if (*frame.head.extension).kind == METADATA {
                let metadata = &mut *(*frame.head.extension.cast::<MetadataExtension>()).metadata;
                metadata.version.major = 0;
                metadata.version.minor = MINOR.min(api.version.minor);
                metadata.traits = 0;
                return std::ptr::null_mut();
            }
        }
    }
    // SAFETY: as above.
    let done = catch_unwind(AssertUnwindSafe(|| unsafe { run(frame) }));
    let (message, code) = match done {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(error)) => error,
        Err(_) => ("an internal error of Lambada; please report it".to_string(), UNKNOWN),
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let head = Head { size: size_of::<ErrorCreate>(), extension: std::ptr::null_mut() };
    (api.error_create)(&mut ErrorCreate { head, message: message.as_ptr(), code })
}

/// # Safety
/// The frame is complete and in use by this call alone.
unsafe fn run(frame: &CallFrame) -> Result<(), (String, c_int)> {
    let invalid = |text: &str| (text.to_string(), INVALID_ARGUMENT);
    // SAFETY: as the caller promises, here and below.
    let key =
        unsafe { key(&frame.attributes) }.ok_or_else(|| invalid("no `key` names a function"))?;
    let function = {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().and_then(|known| known.get(key)).cloned()
    };
    let function = function.ok_or_else(|| invalid("the function of this program is not loaded"))?;
    let mut args = Args::new();
    for buffer in unsafe { buffers(&frame.args) } {
        let arg = unsafe { argument(buffer) };
        args.push(arg.ok_or_else(|| invalid("an argument has a type that Lambada has not"))?);
    }
    let targets = unsafe { buffers(&frame.results) };
    let targets = targets.iter().map(|buffer| unsafe { target(buffer) });
    let targets: Option<Vec<Target>> = targets.collect();
    let targets = targets.ok_or_else(|| invalid("a result has a type that Lambada has not"))?;
    let mut targets = Targets(targets);
    function.call_into(&args, &mut targets).map_err(|error| (error.to_string(), UNKNOWN))
}

unsafe fn key(attributes: &Attributes) -> Option<&str> {
    let span = |span: &Span| {
        // SAFETY: a span has `len` bytes.
        std::str::from_utf8(unsafe { std::slice::from_raw_parts(span.start, span.len) }).ok()
    };
    (0..usize::try_from(attributes.count).ok()?).find_map(|k| {
        // SAFETY: there are `count` kinds, names and values, and a string is a span.
        unsafe {
            let is_key = span(&**attributes.names.add(k)) == Some("key");
            let is_string = *attributes.kinds.add(k) == STRING;
            (is_key && is_string).then(|| span(&*(*attributes.all.add(k)).cast::<Span>()))?
        }
    })
}

unsafe fn buffers(all: &Buffers) -> Vec<&Buffer> {
    let count = usize::try_from(all.count).unwrap_or(0);
    // SAFETY: there are `count` pointers to buffers.
    (0..count).map(|k| unsafe { &**all.all.add(k) }).collect()
}

impl Buffer {
    unsafe fn dims(&self) -> Vec<usize> {
        let rank = usize::try_from(self.rank).unwrap_or(0);
        // SAFETY: there are `rank` sizes.
        (0..rank).map(|k| unsafe { *self.dims.add(k) } as usize).collect()
    }

    unsafe fn elements<T>(&self, count: usize) -> &[T] {
        match count {
            0 => &[],
            // SAFETY: a dense buffer has as many elements as its sizes say.
            _ => unsafe { std::slice::from_raw_parts(self.data.cast::<T>(), count) },
        }
    }
}

unsafe fn argument(buffer: &Buffer) -> Option<Arg<'_>> {
    // SAFETY: the element type of a buffer says how its elements lie.
    unsafe {
        let dims = buffer.dims();
        let count = dims.iter().product();
        match buffer.element {
            F64 => Arg::reals(&dims, buffer.elements(count)),
            F32 => Arg::singles(&dims, buffer.elements(count)),
            S64 => Arg::ints(&dims, buffer.elements(count)),
            PRED => Arg::bools(&dims, buffer.elements(count)),
            S32 => {
                let values: Vec<i64> =
                    buffer.elements::<i32>(count).iter().map(|x| i64::from(*x)).collect();
                Some(Arg::ints(&dims, &values)?.to_data().into_arg())
            }
            _ => None,
        }
    }
}

/// Destination of a result.
enum Target {
    Direct(Places<'static>),
    /// Integers of 32 bits.
    Short(ArrayViewMutD<'static, i32>),
}

unsafe fn target(buffer: &Buffer) -> Option<Target> {
    unsafe fn view<T>(buffer: &Buffer) -> ArrayViewMutD<'static, T> {
        // SAFETY: as for arguments; XLA gives each result a buffer of its own. Nothing lies in an
        // empty one, whatever its address is.
        unsafe {
            let data = match buffer.data.is_null() {
                true => std::ptr::NonNull::dangling().as_ptr(),
                false => buffer.data.cast::<T>(),
            };
            ArrayViewMutD::from_shape_ptr(IxDyn(&buffer.dims()), data)
        }
    }
    // SAFETY: as above.
    let place = unsafe {
        match buffer.element {
            F64 => Place::Real(view(buffer)),
            F32 => Place::Single(view(buffer)),
            S64 => Place::Int(view(buffer)),
            PRED => Place::Bool(view(buffer)),
            S32 => return Some(Target::Short(view(buffer))),
            _ => return None,
        }
    };
    Some(Target::Direct(Places::Array(place)))
}

struct Targets(Vec<Target>);

impl Output for Targets {
    fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
        self.0.iter_mut().try_for_each(|target| match target {
            Target::Direct(places) => places.receive(parts),
            Target::Short(view) => {
                let mut wide = view.mapv(i64::from);
                Places::Array(Place::Int(wide.view_mut())).receive(parts)?;
                view.zip_mut_with(&wide, |place, x| *place = *x as i32);
                Ok(())
            }
        })
    }

    fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
        self.0.iter_mut().for_each(|target| match target {
            Target::Direct(places) => places.lend(memory),
            Target::Short(_) => memory.copied(),
        });
    }
}

//! Functions that generated code calls: primitives without instructions, and loops over memory. A
//! call has a list of arguments of four words each, the first of which also receives the result,
//! and a number.

use lambada_loops::{Fuel, Room, Stop, scalar, word};
use lambada_prim::Prim;

use crate::LANES;
use crate::x86_64::context::{CANCELLED, Context, DONE, EXHAUSTED};

/// The number of words of an argument.
const WORDS: usize = LANES as usize;
/// Maximal number of arguments.
pub(crate) const ARGUMENTS: usize = 6;

/// A function that generated code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Helper {
    /// Copies elements: destination, source, count.
    Copy,
    /// Transposes a matrix: destination, its row stride, source, its row stride, rows, columns.
    Transpose,
    /// Fills elements: destination, value, count.
    Fill,
    /// A primitive, on lanes or on scalars.
    Primitive { prim: Prim, lanes: bool },
    /// Asks for fuel: returns 0, or the code for the end of the region.
    Refill,
    /// Makes a buffer: sizes, context, number of the buffer, count of sizes. Returns the number of
    /// bytes by which the arena has moved.
    Alloc,
}

impl Helper {
    /// The address of the function.
    pub fn address(self) -> i64 {
        let address = match self {
            Helper::Copy => copy as *const (),
            Helper::Fill => fill as *const (),
            Helper::Transpose => transpose as *const (),
            Helper::Primitive { prim: Prim::DivInt, lanes: false } => div_int as *const (),
            Helper::Primitive { prim: Prim::RemInt, lanes: false } => rem_int as *const (),
            Helper::Primitive { lanes: true, .. } => on_lanes as *const (),
            Helper::Primitive { lanes: false, .. } => on_scalars as *const (),
            Helper::Refill => refill as *const (),
            Helper::Alloc => alloc as *const (),
        };
        // Hides the value from Rustc, which would fold arithmetic on an address into relocations
        // that are then out of range.
        std::hint::black_box(address as i64)
    }

    /// The number argument of a call.
    pub fn number(self) -> u32 {
        match self {
            Helper::Primitive { prim, .. } => prim as u32,
            Helper::Copy | Helper::Fill | Helper::Transpose => 0,
            Helper::Refill | Helper::Alloc => 0,
        }
    }
}

#[allow(unsafe_code)]
unsafe extern "sysv64" fn refill(fuel: *mut Fuel) -> u64 {
    // SAFETY: the pointer is that of the run, which has exclusive access while the region runs.
    match unsafe { &mut *fuel }.refill() {
        Ok(()) => u64::from(DONE),
        Err(Stop::Cancelled) => u64::from(CANCELLED),
        Err(Stop::Exhausted) => u64::from(EXHAUSTED),
    }
}

#[allow(unsafe_code)]
unsafe extern "sysv64" fn alloc(
    sizes: *const i64,
    context: *mut Context,
    buf: u32,
    count: u32,
) -> i64 {
    // SAFETY: generated code calls this with the region's context, whose pointers the interpreter
    // has lent.
    let (sizes, context) =
        unsafe { (std::slice::from_raw_parts(sizes, count as usize), &mut *context) };
    // SAFETY: as above.
    let room = unsafe { &mut *context.room.cast::<Room>() };
    let before = context.memory;
    if let Err(failure) = room.alloc(buf, sizes.iter().copied()) {
        (context.failure, context.refused) = (Some(failure), 1);
        return 0;
    }
    context.memory = room.words();
    (context.memory as i64).wrapping_sub(before as i64)
}

/// One lane of a primitive.
fn lane(prim: Prim, words: &[u64], k: usize) -> u64 {
    let types = prim.args();
    let arg = |n: usize| scalar(types[n], words[WORDS * n + k]);
    word(match types.len() {
        1 => prim.eval(&[arg(0)]),
        2 => prim.eval(&[arg(0), arg(1)]),
        _ => prim.eval(&[arg(0), arg(1), arg(2)]),
    })
}

/// The arguments of a call.
///
/// # Safety `words` comes from generated code, which has room for [`ARGUMENTS`] arguments.
#[allow(unsafe_code)]
unsafe fn arguments<'a>(words: *mut u64) -> &'a mut [u64] {
    // SAFETY: by the contract of this function.
    unsafe { std::slice::from_raw_parts_mut(words, ARGUMENTS * WORDS) }
}

#[allow(unsafe_code)]
unsafe extern "sysv64" fn on_lanes(words: *mut u64, number: u32) {
    // SAFETY: generated code has called.
    let words = unsafe { arguments(words) };
    let prim = Prim::ALL[number as usize];
    let results: [u64; WORDS] = std::array::from_fn(|k| lane(prim, words, k));
    words[..WORDS].copy_from_slice(&results);
}

/// The result fills all lanes.
#[allow(unsafe_code)]
unsafe extern "sysv64" fn on_scalars(words: *mut u64, number: u32) {
    // SAFETY: generated code has called.
    let words = unsafe { arguments(words) };
    let result = lane(Prim::ALL[number as usize], words, 0);
    words[..WORDS].fill(result);
}

#[allow(unsafe_code)]
unsafe extern "sysv64" fn div_int(words: *mut u64, _: u32) {
    // SAFETY: generated code has called.
    let words = unsafe { arguments(words) };
    let (a, b) = (words[0].cast_signed(), words[WORDS].cast_signed());
    words[0] = lambada_prim::floor_div(a, b).cast_unsigned();
}

#[allow(unsafe_code)]
unsafe extern "sysv64" fn rem_int(words: *mut u64, _: u32) {
    // SAFETY: generated code has called.
    let words = unsafe { arguments(words) };
    let (a, b) = (words[0].cast_signed(), words[WORDS].cast_signed());
    words[0] = lambada_prim::floor_rem(a, b).cast_unsigned();
}

#[allow(unsafe_code)]
unsafe extern "sysv64" fn copy(words: *mut u64, _: u32) {
    // SAFETY: generated code has called.
    let words = unsafe { arguments(words) };
    let (to, from) = (words[0] as *mut u64, words[WORDS] as *const u64);
    let len = words[2 * WORDS].cast_signed().max(0) as usize;
    // An empty buffer may have a null address.
    if len > 0 {
        // SAFETY: the statement guarantees that both buffers have `len` elements.
        unsafe { std::ptr::copy(from, to, len) };
    }
}

#[allow(unsafe_code)]
unsafe extern "sysv64" fn fill(words: *mut u64, _: u32) {
    // SAFETY: generated code has called.
    let words = unsafe { arguments(words) };
    let (to, value) = (words[0] as *mut u64, words[WORDS]);
    let len = words[2 * WORDS].cast_signed().max(0) as usize;
    // An empty buffer may have a null address.
    if len > 0 {
        // SAFETY: the statement guarantees that the buffer has `len` elements, and any word is a
        // valid value.
        unsafe { std::slice::from_raw_parts_mut(to, len) }.fill(value);
    }
}

#[allow(unsafe_code)]
unsafe extern "sysv64" fn transpose(words: *mut u64, _: u32) {
    // SAFETY: generated code has called.
    let words = unsafe { arguments(words) };
    let (to, from) = (words[0] as *mut u64, words[2 * WORDS] as *const u64);
    let number = |k: usize| words[k * WORDS].cast_signed() as isize;
    let (to_row, from_row, rows, cols) = (number(1), number(3), number(4), number(5));
    // As many columns as fit an argument at a time, so that both sides stay in the cache.
    for first in (0..cols).step_by(WORDS) {
        for row in 0..rows {
            for col in first..cols.min(first + WORDS as isize) {
                // SAFETY: the statement guarantees that both buffers have these elements.
                unsafe { *to.offset(col * to_row + row) = *from.offset(row * from_row + col) };
            }
        }
    }
}

//! Machine code for the interpreter of loops, without a C compiler: runs of statements that neither
//! call nor make nodes become code of x86-64 with AVX2 and FMA. Memory, calls and nodes are the
//! interpreter's, from which a region allocates, and which runs everything on other processors.
//!
//! Accesses of memory are not compared with the sizes of buffers, as in C: that they are in range
//! is what the checker of anf and the checks of a program say. A loop takes fuel at every backward
//! jump, and asks whether to go on where there is none left.

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod x86_64;

use lambada_loops::Translate;

/// Makes machine code, where the processor has the instructions and the system allows it. May
/// `a * b + c` be rounded once?
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
pub fn translator(contract: bool) -> Option<Box<dyn Translate>> {
    let known = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let unit = || Box::new(x86_64::unit::Unit::new(contract)) as Box<dyn Translate>;
    (known && x86_64::unit::is_allowed()).then(unit)
}

/// Makes machine code, where the processor has the instructions: here it has not.
#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
pub fn translator(_: bool) -> Option<Box<dyn Translate>> {
    None
}

/// How many lanes functions should have whose statements are to be translated.
pub const LANES: u16 = 4;

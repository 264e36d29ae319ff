//! Machine code for the interpreter of loops, without a C compiler: runs of statements that only compute become code of x86-64 with AVX2 and FMA. Memory, calls and nodes
//! are the interpreter's, which also runs everything on other processors.
//!
//! - `facts`: which statements can be a region, and what is known of it;
//! - `select`: statements to instructions (`code`) on virtual registers; `math`: elementary functions;
//! - `live`: live ranges; `allocate`: registers and places in the frame;
//! - `emit` and `assembler`: bytes;
//! - `helpers`: what code calls;
//! - here: [`translator`], and how code is made executable and run.
//!
//! Accesses of memory are not compared with the sizes of buffers, as in C: that they are in range is what the checker of anf and the checks of a program say. A loop asks at every
//! backward jump whether the run is cancelled.

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod allocate;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod assembler;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod code;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod context;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod emit;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod facts;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod helpers;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod live;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod math;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod select;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod unit;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod vectors;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod writer;

use lambada_loops::Translate;

/// Makes machine code, where the processor has the instructions and the system allows it. May `a * b + c` be rounded once?
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
pub fn translator(contract: bool) -> Option<Box<dyn Translate>> {
    let known = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    (known && unit::is_allowed()).then(|| Box::new(unit::Unit::new(contract)) as Box<dyn Translate>)
}

/// Makes machine code, where the processor has the instructions: here it has not.
#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
pub fn translator(_: bool) -> Option<Box<dyn Translate>> {
    None
}

/// How many lanes functions should have whose statements are to be translated.
pub const LANES: u16 = 4;

//! Machine code for the interpreter of loops, without a C compiler: runs of statements without
//! calls and nodes become code of x86-64 with AVX2 and FMA. The interpreter owns memory, calls and
//! nodes; regions allocate from it, and on other processors it runs everything.
//!
//! As in C, accesses are not compared with the sizes of buffers: the checker of anf and the checks
//! of the program ensure that they are in range. A loop takes fuel at every backward jump, and asks
//! whether to continue when none is left.

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod x86_64;

use lambada_loops::Translate;

/// A translator to machine code, if the processor has the instructions and the system allows it.
/// `contract`: whether `a * b + c` may be rounded once.
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
pub fn translator(contract: bool) -> Option<Box<dyn Translate>> {
    let known = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let unit = || Box::new(x86_64::unit::Unit::new(contract)) as Box<dyn Translate>;
    (known && x86_64::unit::is_allowed()).then(unit)
}

/// A translator to machine code: `None` on this platform.
#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
pub fn translator(_: bool) -> Option<Box<dyn Translate>> {
    None
}

/// The number of lanes of functions whose statements are to be translated.
pub const LANES: u16 = 4;

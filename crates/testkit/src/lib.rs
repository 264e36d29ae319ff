//! What the tests of all crates share. It knows no language, so every crate can test with it.
//!
//! - [`Random`]: the one generator of random numbers;
//! - [`Tolerance`], [`all_close`]: the one comparison of reals, in which NaN equals NaN and nothing
//!   else;
//! - [`confirm`]: derivatives against differences, component by component;
//! - [`parallel`]: the work of one test on all cores;
//! - [`mod@golden`]: files that hold what is expected, and how they are blessed;
//! - [`may_lack_c_compiler`]: whether tests of native code may run without one.

mod compare;
mod cores;
mod differences;
mod golden;
mod random;

pub use compare::{Tolerance, all_close, close};
pub use cores::parallel;
pub use differences::{Confirmed, confirm, confirm_above, confirm_within};
pub use golden::{blessing, golden};
pub use random::Random;

/// Is it fine that there is no C compiler? Only where `LAMBADA_NO_CC=1` says so: else tests of
/// native code would compare the interpreter with itself and pass.
pub fn may_lack_c_compiler() -> bool {
    std::env::var_os("LAMBADA_NO_CC").is_some_and(|value| !value.is_empty() && value != "0")
}

/// What a test of native code says where there is no C compiler.
pub const NO_C_COMPILER: &str = "there is no C compiler, so native code cannot be tested: install gcc or clang, or set LAMBADA_CC; LAMBADA_NO_CC=1 skips these tests";

//! Common parts of the tests of all crates. It knows no language, so every crate can test with it.
//!
//! - [`Random`], [`Tolerance`], [`confirm`] and others: all of `lambada-compare`;
//! - [`parallel`]: the work of one test on all cores;
//! - [`mod@golden`]: files of expected outputs, and how they are blessed;
//! - [`interruptible`]: a program that Ctrl-C ends;
//! - [`may_lack_c_compiler`]: whether tests of native code may run without one.

mod cores;
mod golden;

pub use cores::parallel;
pub use golden::{blessing, golden};
pub use lambada_compare::*;

/// Whether the C compiler may be missing, by `LAMBADA_NO_CC=1`. Otherwise tests of native code
/// would compare the interpreter with itself and pass.
pub fn may_lack_c_compiler() -> bool {
    std::env::var_os("LAMBADA_NO_CC").is_some_and(|value| !value.is_empty() && value != "0")
}

/// The message of a test of native code without a C compiler.
pub const NO_C_COMPILER: &str = "there is no C compiler, so native code cannot be tested: install gcc or clang, or set LAMBADA_CC; LAMBADA_NO_CC=1 skips these tests";

/// A program that signals end. Tests in the background of a shell ignore Ctrl-C, and their children
/// would inherit that.
pub fn interruptible(program: &str) -> std::process::Command {
    let mut command = std::process::Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", program]);
    command
}

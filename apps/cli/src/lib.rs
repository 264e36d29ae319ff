//! The `lambada` command: translates arguments to calls of the library, and results to text.
//! Contains no logic. It is a library because the Python package runs it, too, in its own process.

mod args;
mod commands;
mod fmt;
mod interrupt;
mod messages;
mod models;
mod new;
mod pages;
mod play;
mod plot;
mod progress;
mod repl;
mod report;
mod shell;

use std::ffi::OsString;

/// Stack sizes to try, for recursion over deeply nested programs. The address space is only
/// reserved; where it is scarce, a smaller size must do.
const STACKS: [usize; 4] = [1 << 30, 1 << 28, 1 << 26, 1 << 23];

/// Reports an error; returns the exit code.
fn ended(result: Result<(), String>) -> u8 {
    let Err(told) = result else { return SUCCESS };
    if interrupt::pressed() {
        return interrupt::INTERRUPTED;
    }
    report::tell(&told);
    if report::is_internal() { INTERNAL } else { 1 }
}

/// The exit code of a success.
const SUCCESS: u8 = 0;

/// The exit code of a bug in the compiler.
const INTERNAL: u8 = 101;

/// The exit code of an invalid command line.
const USAGE: u8 = 2;

/// Runs a command line, whose first word is the name of the program, and returns its exit code. It
/// takes over the process: a pressed Ctrl-C, or a closed pipe, ends it.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let args = match args::Args::of(words) {
        Ok(args) => args,
        Err(mut told) => {
            messages::without_far_suggestions(&mut told);
            return match (told.print(), told.use_stderr()) {
                (_, true) => USAGE,
                (Ok(()), false) => SUCCESS,
                (Err(error), false) => ended(report::ended(&error)),
            };
        }
    };
    report::tell_panics_in_a_line();
    let start = |size: usize| {
        let args = args.clone();
        std::thread::Builder::new().stack_size(size).spawn(move || commands::run(args)).ok()
    };
    let Some(worker) = STACKS.into_iter().find_map(start) else {
        report::tell(messages::NO_THREAD);
        return 1;
    };
    match worker.join() {
        Ok(result) => ended(result),
        Err(_) => INTERNAL, // reported by the panic hook
    }
}

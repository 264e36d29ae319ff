//! The `lambada` command: translates arguments to calls of the library, and results to text.
//! Contains no logic.

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

use std::process::ExitCode;

use clap::Parser as _;

/// Stack sizes to try, for recursion over deeply nested programs. The address space is only
/// reserved; where it is scarce, a smaller size must do.
const STACKS: [usize; 4] = [1 << 30, 1 << 28, 1 << 26, 1 << 23];

/// Reports an error; returns the exit code.
fn ended(result: Result<(), String>) -> ExitCode {
    let Err(told) = result else { return ExitCode::SUCCESS };
    if interrupt::pressed() {
        return ExitCode::from(interrupt::INTERRUPTED);
    }
    report::tell(&told);
    ExitCode::from(if report::is_internal() { INTERNAL } else { 1 })
}

/// The exit code of a bug in the compiler.
const INTERNAL: u8 = 101;

/// The exit code of an invalid command line.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(mut told) => {
            messages::without_far_suggestions(&mut told);
            return match (told.print(), told.use_stderr()) {
                (_, true) => ExitCode::from(USAGE),
                (Ok(()), false) => ExitCode::SUCCESS,
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
        return ExitCode::from(1);
    };
    match worker.join() {
        Ok(result) => ended(result),
        Err(_) => ExitCode::from(INTERNAL), // reported by the panic hook
    }
}

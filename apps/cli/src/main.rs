//! The `lambada` command: translates arguments to calls of the library and its answers to text. No logic of its own.

mod args;
mod commands;
mod report;

use std::process::ExitCode;

use clap::Parser as _;

/// Deeply nested programs are walked by recursion; the address space is reserved, not used.
const STACK: usize = 1 << 30;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || commands::run(args));
    let outcome = worker.expect("a thread can be started").join();
    match outcome {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(report)) => {
            eprint!("{report}");
            ExitCode::from(1)
        }
        Err(_) => {
            eprintln!("this is a bug in lambada: please report it, with the program and the command that caused it");
            ExitCode::from(101)
        }
    }
}

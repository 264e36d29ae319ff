//! `lambada repl`: reads definitions, expressions and commands from a terminal or a file, and
//! answers each.

mod commands;
mod input;
mod state;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::args::{Engine, Look};
use crate::interrupt::Interrupt;
use crate::report::Report;
use crate::shell::Shell;
use crate::{messages, report};
pub use input::is_interactive;
use input::{Input, Read};
use state::State;

/// Continuation after an answer.
enum Next {
    Continue,
    Quit,
}

/// Answers inputs until the end. Reports errors and continues; unless at a terminal, the exit code
/// is 1 after an error.
pub fn run(
    shell: &mut Shell,
    file: Option<&Path>,
    engine: Engine,
    look: Look,
) -> Result<(), Report> {
    let mut input = Input::new()?;
    let mut state = State::new(shell, engine, look);
    if let Some(file) = file {
        report::result(&state.load(file)?)?;
    }
    if input.terminal() {
        report::result(messages::WELCOME)?;
    }
    // Reading from a file, Ctrl-C ends the whole command.
    let interrupt = input.terminal().then(Interrupt::of_answers);
    let mut failed = false;
    loop {
        let names = state.names();
        let read = match &interrupt {
            Some(interrupt) => interrupt.waits(|| input.read(&names)),
            None => input.read(&names),
        };
        let text = match read? {
            Read::Text(text) => text,
            Read::Nothing => continue,
            Read::End => break,
        };
        let answer = catch_unwind(AssertUnwindSafe(|| match &interrupt {
            Some(interrupt) => interrupt.ends(|| state.answer(&text)),
            None => state.answer(&text),
        }));
        let ended = interrupt.as_ref().is_some_and(Interrupt::has_ended);
        match answer {
            Ok(Ok((text, Next::Continue))) => report::result(&text)?,
            Ok(Ok((_, Next::Quit))) => break,
            Ok(Err(_)) if ended => report::tell(messages::INTERRUPTED),
            Ok(Err(told)) => {
                failed = true;
                report::tell(&told);
            }
            Err(_) => failed = true, // reported by the panic hook
        }
    }
    if failed && !input.terminal() { Err(Report::new()) } else { Ok(()) }
}

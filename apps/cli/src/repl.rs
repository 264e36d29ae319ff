//! `lambada repl`: reads definitions, expressions and commands, from a terminal or from a file, and
//! answers each.

mod commands;
mod input;
mod state;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::args::{Engine, Look};
use crate::commands::{Report, Shell};
use crate::interrupt::Interrupt;
use crate::{messages, report};
pub use input::is_interactive;
use input::{Input, Read};
use state::State;

/// What is to be done after an answer.
enum Next {
    Continue,
    Quit,
}

/// Answers until there is no input any more. What goes wrong is told and the next input is read;
/// the exit code remembers it, unless a person has seen it.
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
    // What reads a file is ended as any other command.
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
            Err(_) => failed = true, // told by the hook
        }
    }
    if failed && !input.terminal() { Err(Report::new()) } else { Ok(()) }
}

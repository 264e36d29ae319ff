//! What goes to standard error, and how results look on standard output.

use std::io::IsTerminal as _;

use lambada::{Data, Failure, Problem, Session};

use crate::args::Color;

/// Colors on this stream?
pub fn colored(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Problems, rendered.
pub fn problems(session: &Session, problems: &[Problem], color: bool) -> String {
    session.render(problems, color)
}

/// A failure at run time, rendered.
pub fn failure(session: &Session, failure: &Failure, color: bool) -> String {
    session.render_failure(failure, color)
}

/// `name = value`, with long values on lines of their own.
pub fn named(name: &str, value: &Data) -> String {
    let text = value.to_string();
    if text.contains('\n') { format!("{name} =\n{}", indented(&text)) } else { format!("{name} = {text}") }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

//! Output to standard error, and the style of results on standard output.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use lambada::{Data, Failure, Precision, Problem, Session, Style};

use crate::args::{Color, Look};
use crate::{messages, progress};

/// Text for standard error after a failed command.
pub(crate) type Report = String;

/// Whether to color messages.
pub fn colored(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Whether to color pictures.
pub fn paints(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Writes a result to standard output. Exits successfully if the reader has closed the pipe
/// (`lambada … | head -1`).
pub fn result(text: &str) -> Result<(), String> {
    if !text.is_empty() && lambada::output_was_closed() {
        return Err(messages::not_printed(&std::io::Error::other("it is closed")));
    }
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) => ended(&error),
    }
}

/// Handles an error of standard output.
pub fn ended(error: &std::io::Error) -> Result<(), String> {
    match error.kind() {
        ErrorKind::BrokenPipe => std::process::exit(0),
        _ => Err(messages::not_printed(error)),
    }
}

/// Writes to standard error; ignores errors, because they cannot be reported.
pub fn tell(text: &str) {
    if !text.is_empty() {
        progress::suspended(|| drop(std::io::stderr().lock().write_all(text.as_bytes())));
    }
}

/// Installs a hook that reports panics, which are always bugs, in one line.
pub fn tell_panics_in_a_line() {
    std::panic::set_hook(Box::new(|info| {
        #[cfg(feature = "arrow")]
        if lambada::panics_are_told() {
            return;
        }
        let payload = info.payload();
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(payload.downcast_ref::<&str>().copied())
            .unwrap_or_default();
        let place =
            info.location().map(|l| format!("{}:{}: ", l.file(), l.line())).unwrap_or_default();
        let what = text.lines().next().unwrap_or_default();
        tell(&messages::internal(&place, what));
    }));
}

/// Whether a bug in the compiler was reported, which determines the exit code.
static INTERNAL: AtomicBool = AtomicBool::new(false);

fn note_internal(is_internal: bool) {
    INTERNAL.fetch_or(is_internal, Ordering::Relaxed);
}

/// Whether a bug in the compiler was reported.
pub fn is_internal() -> bool {
    INTERNAL.load(Ordering::Relaxed)
}

/// Renders problems.
pub fn problems(session: &Session, problems: &[Problem], color: bool) -> String {
    note_internal(problems.iter().any(Problem::is_internal));
    session.render(problems, color)
}

/// Renders a run-time failure.
pub fn failure(session: &Session, failure: &Failure, color: bool) -> String {
    note_internal(failure.is_internal());
    session.render_failure(failure, color)
}

/// Maximal line length of a result, in files and on wide terminals.
const WIDTH: usize = 100;

/// Minimal line length: numbers with sign and exponent take 25 columns.
const NARROWEST: usize = 40;

/// Number of array elements shown at a terminal; files and pipes get all.
const MOST: usize = 100;

/// The style of printed results.
pub fn style(look: Look, reals: Precision) -> Style {
    Style {
        width: Some(width()),
        digits: look.digits.map(usize::from),
        reals,
        most: std::io::stdout().is_terminal().then_some(MOST),
    }
}

/// Line length of pictures in files.
const PICTURE: usize = 80;

/// The line length for standard output.
fn width() -> usize {
    terminal_width().unwrap_or(WIDTH).clamp(NARROWEST, WIDTH)
}

/// The line length of pictures.
pub fn picture_width() -> usize {
    terminal_width().unwrap_or(PICTURE).max(NARROWEST)
}

fn terminal_width() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(columns.into())
}

/// `name = value`; long values start on a new line.
pub fn named(name: &str, value: &Data, style: Style) -> String {
    let room = style.width.map(|width| width.saturating_sub(name.chars().count() + 3));
    let text = value.show(Style { width: room, ..style });
    let text = if text.contains('\n') {
        value.show(Style { width: style.width.map(|width| width - 2), ..style })
    } else {
        text
    };
    if text.contains('\n') {
        format!("{name} =\n{}", indented(&text))
    } else {
        format!("{name} = {text}")
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

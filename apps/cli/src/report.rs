//! What goes to standard error, and how results look on standard output.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lambada::{Data, Failure, Problem, Session, Style};

use crate::args::{Color, Look};
use crate::messages;

/// Colors on this stream?
pub fn colored(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Writes a result to standard output. Where nobody reads any more (`lambada … | head -1`), there is nothing left to do.
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

/// Standard output takes no more.
pub fn ended(error: &std::io::Error) -> Result<(), String> {
    match error.kind() {
        ErrorKind::BrokenPipe => std::process::exit(0),
        _ => Err(messages::not_printed(error)),
    }
}

/// Writes to standard error; where that is closed, nobody can be told.
pub fn tell(text: &str) {
    let mut err = std::io::stderr().lock();
    if !text.is_empty() && PATIENT.swap(false, Ordering::Relaxed) {
        let _ = err.write_all(CLEAR);
    }
    let _ = err.write_all(text.as_bytes());
}

/// Is there a line on the terminal that says that something takes long?
static PATIENT: AtomicBool = AtomicBool::new(false);

/// Takes that line away.
const CLEAR: &[u8] = b"\r\x1b[K";

/// How long nothing is said of something that runs, and how often something is said after that.
const SILENCE: Duration = Duration::from_secs(2);
const BEAT: Duration = Duration::from_millis(250);

/// Something that may take long. On a terminal a line tells so, until this is dropped.
pub struct Working(Option<(mpsc::Sender<()>, JoinHandle<()>)>);

/// Something begins that may take long; a word says what.
pub fn working(what: &'static str) -> Working {
    if !std::io::stderr().is_terminal() {
        return Working(None);
    }
    let (send, receive) = mpsc::channel::<()>();
    let start = Instant::now();
    let telling = move || {
        let mut wait = SILENCE;
        while let Err(mpsc::RecvTimeoutError::Timeout) = receive.recv_timeout(wait) {
            let mut err = std::io::stderr().lock();
            let line = messages::takes_time(what, start.elapsed());
            let _ = err.write_all(CLEAR).and_then(|()| err.write_all(line.as_bytes()));
            let _ = err.flush();
            PATIENT.store(true, Ordering::Relaxed);
            wait = BEAT;
        }
        if PATIENT.swap(false, Ordering::Relaxed) {
            let _ = std::io::stderr().lock().write_all(CLEAR);
        }
    };
    // Without a thread nothing is said, and all else is the same.
    let thread = std::thread::Builder::new().spawn(telling);
    Working(thread.ok().map(|thread| (send, thread)))
}

impl Drop for Working {
    fn drop(&mut self) {
        if let Some((send, thread)) = self.0.take() {
            drop(send);
            let _ = thread.join();
        }
    }
}

/// From now on a panic, which is always a mistake in the compiler, is told in one line.
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

/// Problems, rendered.
pub fn problems(session: &Session, problems: &[Problem], color: bool) -> String {
    session.render(problems, color)
}

/// A failure at run time, rendered.
pub fn failure(session: &Session, failure: &Failure, color: bool) -> String {
    session.render_failure(failure, color)
}

/// How long the lines of a result are.
const WIDTH: usize = 100;

/// How many elements of an array a person is shown; a file or another program gets all.
const MOST: usize = 100;

/// How a result is printed.
pub fn style(look: Look) -> Style {
    Style {
        width: Some(WIDTH),
        precision: look.precision.map(usize::from),
        most: std::io::stdout().is_terminal().then_some(MOST),
    }
}

/// `name = value`, with long values on lines of their own.
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

/// How long nothing is said about something that takes long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Is told what begins. Where the next thing has not begun after a while, `words` are said about it.
pub fn watch(words: fn(&str) -> String) -> impl Fn(&str) {
    let (send, receive) = mpsc::channel::<String>();
    let watching = move || {
        let mut current = receive.recv();
        while let Ok(name) = current {
            current = match receive.recv_timeout(PATIENCE) {
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    tell(&words(&name));
                    receive.recv()
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Ok(next) => Ok(next),
            };
        }
    };
    // Without a thread nothing is said, and all else is the same.
    let _ = std::thread::Builder::new().spawn(watching);
    move |name| {
        let _ = send.send(name.to_string());
    }
}

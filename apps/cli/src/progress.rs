//! A line at the bottom of the terminal that says what takes long. Nothing is shown where standard
//! error is no terminal, nor of what is done within two seconds.

use std::io::IsTerminal as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::messages;

/// How long nothing is shown, and how often the line is drawn after that.
const SILENCE: Duration = Duration::from_secs(2);
const BEAT: Duration = Duration::from_millis(250);

/// The line that is on the terminal.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something with the terminal while the line is not there.
pub fn suspended<R>(run: impl FnOnce() -> R) -> R {
    match &*shown() {
        Some(line) => line.suspend(run),
        None => run(),
    }
}

/// Takes the line away for good: the process ends.
pub fn end() {
    if let Some(line) = shown().take() {
        line.finish_and_clear();
    }
}

/// Something that may take long. A line tells so until this is dropped.
pub struct Working(Option<Line>);

struct Line {
    bar: ProgressBar,
    /// Ends the thread that draws the line.
    end: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

/// Something begins that may take long; a word says what.
pub fn working(what: &'static str) -> Working {
    if !std::io::stderr().is_terminal() {
        return Working(None);
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    bar.set_style(style());
    bar.set_message(what);
    let (end, ended) = mpsc::channel();
    let drawn = bar.clone();
    let draw = move || {
        let mut wait = SILENCE;
        while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            if drawn.is_hidden() {
                drawn.set_draw_target(ProgressDrawTarget::stderr());
                *shown() = Some(drawn.clone());
            }
            drawn.tick();
            wait = BEAT;
        }
    };
    // Without a thread nothing is said, and all else is the same.
    let thread = std::thread::Builder::new().spawn(draw).ok();
    Working(thread.map(|thread| Line { bar, end, thread }))
}

impl Working {
    /// A definition is run at points drawn at random, perhaps forever.
    pub fn draws(&self, definition: &str) {
        if let Working(Some(line)) = self {
            line.bar.set_message(messages::draws(definition));
            line.bar.reset_elapsed();
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        if let Some(Line { bar, end, thread }) = self.0.take() {
            drop(end);
            let _ = thread.join();
            *shown() = None;
            bar.finish_and_clear();
        }
    }
}

/// `⠋ compiling for 3 s`
fn style() -> ProgressStyle {
    let seconds = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{}", state.elapsed().as_secs());
    };
    ProgressStyle::default_spinner()
        .template("{spinner} {msg} for {seconds} s")
        .expect("a template of this module")
        .with_key("seconds", seconds)
}

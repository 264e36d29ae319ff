//! A progress line at the bottom of the terminal. Nothing is shown if standard error is no
//! terminal, nor for activities below two seconds.

use std::io::IsTerminal as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::messages;

/// Delay before the line appears, and interval between updates.
const SILENCE: Duration = Duration::from_secs(2);
const BEAT: Duration = Duration::from_millis(250);

/// The visible progress line.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `run` with the line hidden.
pub fn suspended<R>(run: impl FnOnce() -> R) -> R {
    match &*shown() {
        Some(line) => line.suspend(run),
        None => run(),
    }
}

/// Removes the line before the process exits.
pub fn end() {
    if let Some(line) = shown().take() {
        line.finish_and_clear();
    }
}

/// Shows a progress line until dropped, if the activity takes long.
pub struct Working(Option<Line>);

struct Line {
    bar: ProgressBar,
    /// Dropping it ends the thread that draws the line.
    end: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts an activity with a description.
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
    // Without a thread no line is shown, but the activity goes on.
    let thread = std::thread::Builder::new().spawn(draw).ok();
    Working(thread.map(|thread| Line { bar, end, thread }))
}

impl Working {
    /// Changes the description to a definition that runs at random points, possibly forever.
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

/// Bars of the draws of chains; none if standard error is no terminal.
pub fn chains(count: usize, draws: u64) -> Vec<ProgressBar> {
    if !std::io::stderr().is_terminal() {
        return Vec::new();
    }
    let all = MultiProgress::new();
    let style = ProgressStyle::default_bar()
        .template("chain {prefix} {bar:40} {pos}/{len} {msg}")
        .expect("a template of this module");
    let bar = |k: usize| {
        let bar = all.add(ProgressBar::new(draws)).with_style(style.clone());
        bar.with_prefix((k + 1).to_string())
    };
    (0..count).map(bar).collect()
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

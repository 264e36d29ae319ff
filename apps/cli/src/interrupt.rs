//! Handling of Ctrl-C and of signals that end a process (SIGTERM, SIGHUP). At the prompt they end
//! an answer; elsewhere they end the command without leftovers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lambada::Cancel;

use crate::progress;

/// The exit code after SIGINT, as in shells.
pub const INTERRUPTED: u8 = 130;

/// Time for a command to end by itself. Then the process exits, because the checker and the
/// evaluators of `core` and `anf` cannot be cancelled.
const GRACE: Duration = Duration::from_millis(500);

/// Whether Ctrl-C was pressed while a command ran.
static PRESSED: AtomicBool = AtomicBool::new(false);

/// Whether the activity ends by itself after Ctrl-C, and keeps its results.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// Runs an activity that looks at [`pressed`]. Only a second Ctrl-C ends the process.
pub fn keeps<R>(run: impl FnOnce() -> R) -> R {
    KEEPS.store(true, Ordering::Relaxed);
    let result = run();
    KEEPS.store(false, Ordering::Relaxed);
    result
}

/// Whether Ctrl-C was pressed while a command ran, so that its messages are suppressed.
pub fn pressed() -> bool {
    PRESSED.load(Ordering::Relaxed)
}

/// Ends native code and the interpreter of loops inside [`Interrupt::ends`] on Ctrl-C.
pub struct Interrupt {
    cancel: Cancel,
    /// Whether the prompt waits for input.
    waits: Arc<AtomicBool>,
}

impl Interrupt {
    /// Makes Ctrl-C end the command and, after a grace period, the process.
    pub fn of_process() -> Interrupt {
        let cancel = Cancel::new();
        let told = cancel.clone();
        let end = move || {
            let first = !PRESSED.swap(true, Ordering::Relaxed);
            if first && KEEPS.load(Ordering::Relaxed) {
                return;
            }
            told.cancel();
            std::thread::sleep(GRACE);
            progress::end();
            lambada::remove_unfinished();
            std::process::exit(INTERRUPTED.into());
        };
        on_signals(end);
        Interrupt { cancel, waits: Arc::default() }
    }

    /// Makes Ctrl-C end an answer, and pressed again the process if the answer does not end. At the
    /// waiting prompt Ctrl-C is a key, so a signal ends the process.
    pub fn of_answers() -> Interrupt {
        let (cancel, waits) = (Cancel::new(), Arc::<AtomicBool>::default());
        let (told, idle) = (cancel.clone(), waits.clone());
        let end = move || {
            if told.is_cancelled() || idle.load(Ordering::Relaxed) {
                progress::end();
                lambada::remove_unfinished();
                std::process::exit(INTERRUPTED.into());
            }
            told.cancel();
        };
        on_signals(end);
        Interrupt { cancel, waits }
    }

    /// Runs `run`; Ctrl-C ends it.
    pub fn ends<R>(&self, run: impl FnOnce() -> R) -> R {
        self.cancel.reset();
        self.cancel.run(run)
    }

    /// Runs `read` as waiting for input.
    pub fn waits<R>(&self, read: impl FnOnce() -> R) -> R {
        self.waits.store(true, Ordering::Relaxed);
        let input = read();
        self.waits.store(false, Ordering::Relaxed);
        input
    }

    /// Whether Ctrl-C ended the last run.
    pub fn has_ended(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

/// Runs `end` at each signal that ends a process. An ignored one stays ignored, as for background
/// jobs of a shell and under `nohup`; the others are caught all the same.
#[cfg(unix)]
fn on_signals(end: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let caught = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| !lambada::is_ignored(*s));
    // Without a handler a signal kills the process at once.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(caught) {
        std::thread::spawn(move || signals.forever().for_each(|_| end()));
    }
}

/// A signal kills the process at once.
#[cfg(not(unix))]
fn on_signals(_end: impl Fn() + Send + 'static) {}

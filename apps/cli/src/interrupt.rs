//! What Ctrl-C does, and what the system does that ends a process (SIGTERM, SIGHUP). At the prompt
//! it ends an answer; elsewhere it ends the command, of which nothing stays behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lambada::Cancel;

use crate::progress;

/// The exit code of what SIGINT ends, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// How long a command may take to end by itself. Then the process ends: the checks of a program and
/// the evaluators of `core` and `anf` are not told to end.
const GRACE: Duration = Duration::from_millis(500);

/// Has Ctrl-C been pressed while a command ran?
static PRESSED: AtomicBool = AtomicBool::new(false);

/// Has Ctrl-C been pressed while a command ran? Then nobody waits for what it has to say.
pub fn pressed() -> bool {
    PRESSED.load(Ordering::Relaxed)
}

/// Ends what runs in [`Interrupt::ends`] when Ctrl-C is pressed: native code and the interpreter of
/// loops.
pub struct Interrupt {
    cancel: Cancel,
    /// Does the prompt wait for an input?
    waits: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on Ctrl-C ends the command, and after a while the process. Where interrupts are
    /// ignored, as they are in the background of a shell, they still are.
    pub fn of_process() -> Interrupt {
        let cancel = Cancel::new();
        let told = cancel.clone();
        let end = move || {
            PRESSED.store(true, Ordering::Relaxed);
            told.cancel();
            std::thread::sleep(GRACE);
            progress::end();
            lambada::remove_unfinished();
            std::process::exit(INTERRUPTED.into());
        };
        // Without a handler, Ctrl-C ends the process at once.
        let _ = ctrlc::try_set_handler(end);
        Interrupt { cancel, waits: Arc::default() }
    }

    /// From now on Ctrl-C ends an answer; the process if it is pressed again while the answer does
    /// not end. While the prompt waits, it is a key that the prompt reads, so a signal that comes
    /// then is one that ends the process.
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
        // Without a handler, Ctrl-C ends the process.
        let _ = ctrlc::set_handler(end);
        Interrupt { cancel, waits }
    }

    /// Does something that Ctrl-C ends.
    pub fn ends<R>(&self, run: impl FnOnce() -> R) -> R {
        self.cancel.reset();
        self.cancel.run(run)
    }

    /// Waits for an input.
    pub fn waits<R>(&self, read: impl FnOnce() -> R) -> R {
        self.waits.store(true, Ordering::Relaxed);
        let input = read();
        self.waits.store(false, Ordering::Relaxed);
        input
    }

    /// Was the last of these ended?
    pub fn has_ended(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

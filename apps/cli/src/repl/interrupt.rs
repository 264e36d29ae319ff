//! Ctrl-C ends an answer, not the session.

use lambada::Cancel;

/// What Ctrl-C does while an answer is computed: native code and the interpreter of loops end, and the next input is read. What cannot be ended, such as
/// checking a program, ends with the process when Ctrl-C is pressed again.
pub struct Interrupt(Cancel);

impl Interrupt {
    /// From now on, if a person is there; what reads a file is ended as any other program.
    pub fn new(terminal: bool) -> Interrupt {
        let cancel = Cancel::new();
        if terminal {
            let told = cancel.clone();
            // Without a handler, Ctrl-C ends the process.
            let _ = ctrlc::set_handler(move || {
                if told.is_cancelled() {
                    std::process::exit(INTERRUPTED);
                }
                told.cancel();
            });
        }
        Interrupt(cancel)
    }

    /// Does something that Ctrl-C ends.
    pub fn ends<R>(&self, run: impl FnOnce() -> R) -> R {
        self.0.reset();
        self.0.run(run)
    }
}

/// The exit code of what SIGINT ends, as shells have it.
const INTERRUPTED: i32 = 130;

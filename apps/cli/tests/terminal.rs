//! The prompt on a terminal, key by key.
#![cfg(unix)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A prompt on a pseudo-terminal.
struct Terminal {
    keys: File,
    shown: Receiver<Vec<u8>>,
    /// Output that was not yet waited for.
    text: String,
    child: Child,
}

impl Terminal {
    fn new(home: &Path) -> Terminal {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&keys).expect("it is ours");
        unlockpt(&keys).expect("it is ours");
        resize(&keys, 120);
        let name = ptsname(&keys, Vec::new()).expect("it has a name");
        let name = name.to_str().expect("names of terminals are ASCII");
        let screen = || File::options().read(true).write(true).open(name).expect("its other end");
        let child = Command::new(env!("CARGO_BIN_EXE_lambada"))
            .args(["repl", "--engine", "loops"])
            .env("HOME", home)
            .env("TERM", "xterm")
            .env_remove("XDG_STATE_HOME")
            .env_remove("NO_COLOR")
            .current_dir(home)
            .stdin(screen())
            .stdout(screen())
            .stderr(screen())
            .spawn()
            .expect("the command starts");
        let keys = File::from(keys);
        let mut reader = keys.try_clone().expect("a second handle");
        let (tell, shown) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading ends when the command closes the terminal.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if tell.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut terminal = Terminal { keys, shown, text: String::new(), child };
        terminal.until("> ");
        terminal
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Waits for a text, and returns the output up to its end.
    fn until(&mut self, expected: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(at) = self.text.find(expected) {
                return self.text.drain(..at + expected.len()).collect();
            }
            match self.shown.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
                Ok(bytes) => self.text += &without_controls(&bytes),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("`{expected}` is not shown, but:\n{}", self.text)
                }
            }
        }
    }

    /// Types an input and Enter, and waits for the answer and the next prompt, because the terminal
    /// loses keys while an answer is computed.
    fn answers(&mut self, keys: &str, answer: &str) {
        self.press(keys);
        self.press("\r");
        self.until(answer);
        self.until("\n> ");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The command may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sets the number of columns of a terminal.
fn resize(keys: impl AsFd, columns: u16) {
    let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(keys, size).expect("a terminal has a size");
}

/// Removes control sequences.
fn without_controls(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => _ = characters.by_ref().skip(1).find(char::is_ascii_alphabetic),
            '\r' => {}
            c => plain.push(c),
        }
    }
    plain
}

#[test]
fn results_fit_the_terminal() {
    let home = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::new(home.path());
    let mut longest = |columns: u16| {
        resize(&terminal.keys, columns);
        terminal.press("for i < 40 => 1 / real (i + 1)\r");
        terminal.until("\n[");
        let shown = terminal.until("]");
        terminal.until("\n> ");
        shown.lines().map(|line| line.trim_end().len()).max().unwrap_or(0)
    };
    let found = [60, 200].map(&mut longest);
    assert!((40..=60).contains(&found[0]) && (80..=100).contains(&found[1]), "{found:?}");
}

/// A signal is no key, and ends a waiting prompt.
#[test]
fn a_signal_ends_a_session() {
    let home = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::new(home.path());
    terminal.answers("1 + 1", "2");
    let kill = Command::new("kill").args(["-TERM", &terminal.child.id().to_string()]).status();
    assert!(kill.expect("`kill` starts").success());
    let start = Instant::now();
    let status = loop {
        match terminal.child.try_wait().expect("its state") {
            Some(status) => break status,
            None => assert!(start.elapsed() < PATIENCE, "it goes on"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130));
}

#[test]
fn a_session() {
    let home = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(home.path().join("model.lam"), "def twice (x : real) = 2 * x\n")
        .expect("a file");
    let mut terminal = Terminal::new(home.path());
    // An empty input and a comment have no answer.
    terminal.answers("", "");
    terminal.answers("-- nothing", "");
    terminal.answers("1 + 1", "2.0");
    // A line after a definition is the next input. A comment belongs to the definition after it.
    let keys = "--| its square\rdef g (x : real) : real =\r  let y = x\r  in x * y\rg 3";
    terminal.press(keys);
    terminal.press("\r");
    terminal.until("g : real -> real");
    terminal.until("9.0");
    terminal.until("\n> ");
    terminal.answers(":doc g", "its square");
    terminal.answers("h x =\r  x + 1\r", "h : ");
    // History and completion of names.
    terminal.answers("g 4", "16.0");
    terminal.answers("\u{1b}[A", "16.0");
    terminal.answers(":load mod\t", "twice : ");
    terminal.answers("twi\t 4", "8.0");
    terminal.answers(":derive g forward", "def g_forward");
    // Positions are those of the input.
    terminal.answers("1 + nosuch", "<repl>:1:5");
    // An abandoned line, and the end of input.
    terminal.press("1 + (2\u{3}");
    terminal.until("\n> ");
    terminal.answers("2 + 3", "5.0");
    terminal.press("\u{4}");
    let start = Instant::now();
    while terminal.child.try_wait().expect("it is ours").is_none() {
        assert!(start.elapsed() < PATIENCE, "it goes on after Ctrl-D");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The next session has the history.
    drop(terminal);
    let mut terminal = Terminal::new(home.path());
    terminal.answers("\u{1b}[A", "5.0");
}

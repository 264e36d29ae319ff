//! Commands that tests of libraries run.

use std::process::{Command, Output};

/// The folder with programs and their callers.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/build");

pub fn lambada(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambada"));
    command.args(args).current_dir(FOLDER);
    command
}

pub fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

pub fn succeeds(command: &mut Command) -> String {
    let output = output(command);
    let told = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    told
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether a program is installed.
pub fn there_is(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

//! `cargo xtask campaign`: builds the command and the campaign of `tests`, and starts it.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Passes the words on; the campaign explains them.
pub fn run(root: &Path, words: &[String]) -> ExitCode {
    let cargo = |words: &[&str]| Command::new("cargo").current_dir(root).args(words).status();
    match cargo(&["build", "--quiet", "--package", "lambada-cli"]) {
        Ok(status) if status.success() => {}
        _ => return ExitCode::from(1),
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let lambada = target.join("debug/lambada").display().to_string();
    let start = ["run", "--quiet", "--package", "lambada-tests", "--bin", "campaign", "--"];
    let words: Vec<&str> = start
        .into_iter()
        .chain(words.iter().map(String::as_str))
        .chain(["--command", &lambada])
        .collect();
    match cargo(&words) {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    }
}

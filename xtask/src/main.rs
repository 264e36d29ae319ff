//! Checks and chores of the repository: `cargo xtask tidy`.

mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    match command.as_str() {
        "tidy" => tidy::run(),
        _ => {
            eprintln!("usage: cargo xtask tidy    check the rules of the house that no compiler checks");
            ExitCode::from(1)
        }
    }
}

//! Checks and chores of the repository: `cargo xtask tidy`, `cargo xtask checklist`.

mod checklist;
mod messages;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask tidy         check the rules of the house that no compiler checks
       cargo xtask checklist    write the book's page on where the code has each item of the paper";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let command = std::env::args().nth(1).unwrap_or_default();
    match command.as_str() {
        "tidy" => tidy::run(root),
        "checklist" => checklist::run(root),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(1)
        }
    }
}

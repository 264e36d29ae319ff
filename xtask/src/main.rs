//! Checks and chores of the repository: `cargo xtask tidy`, and others.

mod campaign;
mod checklist;
mod layout;
mod limits;
mod locks;
mod messages;
mod mutants;
mod packages;
mod structure;
mod suite;
mod tidy;
mod words;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask tidy         check the rules of the house that no compiler checks
       cargo xtask suite        run all tests, and tell how long each takes and which is over its budget
       cargo xtask package [--verify]
                                make the packages of all crates that are published, and tell their sizes; --verify builds each of them
       cargo xtask limits       build the command as it is shipped and the library as a dependency: is one too large, or the other too slow?
       cargo xtask campaign --minutes N [--seed S] [--folder DIR]
                                random programs, texts and data, until the time is over; what fails is reduced and written as a test
       cargo xtask mutants [--crates A,B] [--count N] [--seed S] [--minutes N]
                                small mistakes in the code of the compiler, and which of them no test sees";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let command = words.first().cloned().unwrap_or_default();
    match command.as_str() {
        "tidy" => tidy::run(root),
        "suite" => suite::run(root),
        "package" => packages::run(root, &words[1..]),
        "limits" => limits::run(root),
        "campaign" => campaign::run(root, &words[1..]),
        "mutants" => mutants::run(root, &words[1..]),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(1)
        }
    }
}

//! Messages for programs with mistakes, word for word: each program under `tests/errors/syntax`,
//! `types`, `compile` and `mistakes` has its messages beside it. `BLESS=1` writes them. The test
//! `fixes` applies their helps.

use std::path::{Path, PathBuf};

use lambada::{Engine, Executable, Operator, Session};
use lambada_testkit::golden;

/// The programs of a folder.
fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors").join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder of programs");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "lam"));
    files.sort();
    files
}

/// The messages for a file, without the path of its folder; empty if there are none.
fn told(file: &Path) -> String {
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    let folder = file.parent().expect("a folder");
    let text = std::fs::read_to_string(file).expect("a file").replace('\r', "");
    let mut session = Session::new();
    let problems = match session.load_text(&name, &text, Some(folder.to_path_buf())) {
        Err(problems) => problems,
        Ok(unit) if !unit.warnings.is_empty() => unit.warnings,
        Ok(unit) => match unit.call("f", Operator::Value, None) {
            Err(problems) => problems,
            Ok(call) => {
                Executable::new(call.program, call.entry, Engine::Loops).err().unwrap_or_default()
            }
        },
    };
    session.render(&problems, false).replace(&format!("{}/", folder.display()), "")
}

fn check(folder: &str, at_least: usize) {
    let files = programs(folder);
    assert!(files.len() >= at_least, "only {} programs in {folder}", files.len());
    let complaint = |file: &PathBuf| {
        let found = told(file);
        assert!(!found.is_empty(), "{} has no problem", file.display());
        golden(&file.with_extension("stderr"), &found).err()
    };
    let wrong: Vec<String> = files.iter().filter_map(complaint).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_that_do_not_parse() {
    check("syntax", 32);
}

#[test]
fn programs_that_do_not_check() {
    check("types", 51);
}

#[test]
fn programs_with_a_typical_mistake() {
    check("mistakes", 40);
}

#[test]
fn programs_that_cannot_be_compiled() {
    check("compile", 8);
}

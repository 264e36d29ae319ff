//! Translations of small Stan programs, and the problems of wrong ones. `BLESS=1` writes the
//! expected texts.

use std::path::{Path, PathBuf};

use lambada_source::{Sources, render};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder of tests");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "stan"));
    files.sort();
    files
}

/// The translation and the text of the problems.
fn translated(file: &Path) -> (String, String) {
    let text = std::fs::read_to_string(file).expect("a program");
    let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut sources = Sources::new();
    let id = sources.add(format!("{name}.stan"), text.clone());
    let (out, problems) = lambada_stan::translate(&text, id, &name);
    (out, render(&sources, &problems, false))
}

fn compare(found: &str, expected: &Path) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(expected, found).expect("a file to write");
    }
    let wanted = std::fs::read_to_string(expected).unwrap_or_default();
    assert_eq!(found, wanted, "{}: BLESS=1 writes the new text", expected.display());
}

#[test]
fn translations() {
    for file in files("golden") {
        let (out, problems) = translated(&file);
        assert_eq!(problems, "", "{}", file.display());
        compare(&out, &file.with_extension("lam"));
    }
}

#[test]
fn problems() {
    for file in files("errors") {
        let (out, problems) = translated(&file);
        assert_eq!(out, "", "{}", file.display());
        compare(&problems, &file.with_extension("txt"));
    }
}

#[test]
fn statements_without_a_translation_become_comments() {
    for file in files("partly") {
        let text = std::fs::read_to_string(&file).expect("a program");
        let mut sources = Sources::new();
        let id = sources.add("partly.stan", text.clone());
        let (out, problems) = lambada_stan::translate_partly(&text, id, "partly");
        let told = render(&sources, &problems, false);
        let commented: String =
            told.lines().map(|line| format!("-- {line}").trim_end().to_string() + "\n").collect();
        compare(&(out + "\n" + &commented), &file.with_extension("lam"));
    }
}

//! Every program of `tests/errors/syntax` has a file with the exact text of its problems. `BLESS=1` writes these files.

use std::fs;
use std::path::{Path, PathBuf};

use lambada_source::{Sources, render};
use lambada_surface::parse;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors/syntax");
    let entries = fs::read_dir(folder).expect("the folder of programs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "lam"));
    paths.sort();
    paths
}

/// The problems of a program as a user sees them.
fn rendered(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a program").replace('\r', "");
    let mut sources = Sources::new();
    let file = sources.add(path.file_name().unwrap_or_default().to_string_lossy(), text.as_str());
    let (_, problems) = parse(&text, file);
    assert!(!problems.is_empty(), "{} has no problem", path.display());
    render(&sources, &problems, false)
}

#[test]
fn messages() {
    let mut different = Vec::new();
    for path in programs() {
        let expected = path.with_extension("stderr");
        let found = rendered(&path);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found).expect("the file can be written");
        } else if fs::read_to_string(&expected).unwrap_or_default().replace('\r', "") != found {
            different.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(different.is_empty(), "run with BLESS=1 if these are right:\n{}", different.join("\n"));
}

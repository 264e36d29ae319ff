//! The programs that people read first are in canonical layout: those of the prelude, the library
//! and the examples.

use std::fs;
use std::path::{Path, PathBuf};

use lambada_source::FileId;

/// The folders whose programs `lambada fmt` has written.
const FOLDERS: [&str; 2] = ["crates/lambada/library", "examples"];

/// Tells which of these programs `lambada fmt` would change.
pub fn complaints(root: &Path) -> Vec<String> {
    let mut programs = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut programs);
    }
    programs.sort();
    programs.into_iter().filter_map(|path| complaint(root, &path)).collect()
}

fn complaint(root: &Path, path: &Path) -> Option<String> {
    let name = path.strip_prefix(root).unwrap_or(path).display();
    let text = fs::read_to_string(path).expect("a listed file can be read");
    match lambada_surface::format(&text, FileId::default()) {
        Ok(formatted) if formatted == text => None,
        Ok(_) => Some(format!("{name} is not in canonical layout: lambada fmt {name}")),
        Err(_) => Some(format!("{name} has mistakes of syntax")),
    }
}

fn collect(folder: &Path, programs: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, programs);
        } else if path.extension().is_some_and(|extension| extension == "lam") {
            programs.push(path);
        }
    }
}

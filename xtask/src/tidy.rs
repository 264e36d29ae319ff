//! The rules of the house that no compiler checks: crates depend on each other as ARCHITECTURE.md
//! says, files and functions stay within reason, lock files are up to date, nothing is left
//! unfinished, no path of a machine slips in, and every item of the paper has its place and its
//! tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A file with more lines wants a wall.
const LONGEST_FILE: usize = 700;
/// A function with more lines wants a name for a part of it, unless it is a table; no table is
/// longer than this.
const LONGEST_FUNCTION: usize = 200;

/// Checks everything, tells all complaints.
pub fn run(root: &Path) -> ExitCode {
    let sources = rust_files(root);
    let mut complaints = Vec::new();
    complaints.extend(arrows(root));
    complaints.extend(crate::checklist::complaints(root));
    complaints.extend(crate::messages::complaints(root, &sources));
    complaints.extend(crate::structure::complaints(root));
    complaints.extend(crate::layout::complaints(root));
    complaints.extend(crate::locks::complaints(root));
    complaints.extend(crate::packages::complaints(root, &sources));
    complaints.extend(crate::words::complaints(&sources));
    for file in &sources {
        let text = fs::read_to_string(file).expect("a listed file can be read");
        let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
        complaints.extend(unfinished(&name, &text));
        complaints.extend(lengths(&name, &text));
        complaints.extend(machine_paths(&name, &text));
        complaints.extend(named_array_prims(&name, &text));
    }
    for complaint in &complaints {
        eprintln!("tidy: {complaint}");
    }
    println!("tidy: {} files, {} complaints", sources.len(), complaints.len());
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn rust_files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["crates", "apps", "xtask", "benches", "tests"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    files
}

/// The Rust files of a folder and the folders in it.
pub fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// The table in ARCHITECTURE.md against the manifests.
fn arrows(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md exists");
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines().filter(|l| l.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let [name, _, uses] = cells[..] {
            told.insert(
                name.trim_matches('`').to_string(),
                uses.split_whitespace().map(str::to_string).collect(),
            );
        }
    }
    let mut complaints = Vec::new();
    let entries = fs::read_dir(root.join("crates")).expect("crates/ exists").flatten();
    for entry in entries.filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let manifest =
            fs::read_to_string(entry.path().join("Cargo.toml")).expect("a crate has a manifest");
        let Some(allowed) = told.get(&name) else {
            complaints.push(format!("ARCHITECTURE.md does not mention the crate `{name}`"));
            continue;
        };
        let normal = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for line in normal.lines().filter_map(|l| l.strip_prefix("lambada-")) {
            let used = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if !allowed.iter().any(|a| a == used || a == "all") {
                complaints.push(format!(
                    "`{name}` depends on `{used}`, which ARCHITECTURE.md does not list"
                ));
            }
        }
    }
    complaints
}

fn unfinished(name: &str, text: &str) -> Vec<String> {
    let marks = [
        ["to", "do!("].concat(),
        ["unimple", "mented!("].concat(),
        ["FIX", "ME"].concat(),
        ["XX", "X"].concat(),
        ["#[ig", "nore"].concat(),
    ];
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, l)| marks.iter().any(|m| l.contains(m.as_str())))
        .map(|(k, l)| format!("{name}:{}: unfinished: {}", k + 1, l.trim()))
        .collect()
}

fn machine_paths(name: &str, text: &str) -> Vec<String> {
    let roots = [["/ho", "me/"].concat(), ["/ro", "ot/"].concat(), ["/wo", "rk/"].concat()];
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, l)| roots.iter().any(|r| l.contains(r.as_str())))
        .map(|(k, _)| format!("{name}:{}: a path of a machine", k + 1))
        .collect()
}

/// The languages below the surface and the passes between them, which ask the rows of array
/// primitives and know none by name.
const ASKS_ROWS: [&str; 15] = [
    "anf",
    "chad",
    "codegen",
    "core",
    "differentiate",
    "elaborate",
    "emit",
    "graph",
    "loops",
    "lower",
    "normalize",
    "optimize",
    "readback",
    "run",
    "schedule",
];
/// The generator of programs picks the primitives that it draws.
const DRAWS: &str = "crates/anf/src/generate.rs";

fn named_array_prims(name: &str, text: &str) -> Vec<String> {
    let mut parts = name.split('/');
    let asks = parts.next() == Some("crates")
        && parts.next().is_some_and(|part| ASKS_ROWS.contains(&part))
        && parts.next() == Some("src");
    if !asks || name == DRAWS || name.contains("/tests") {
        return Vec::new();
    }
    // The operators of the surface have names there.
    let operator = ["BinaryOp::Mat", "Mul"].concat();
    let product = ["Mat", "Mul"].concat();
    let names = |line: &str| {
        line.replace(&operator, "").contains(&product)
            || line
                .split("ArrayPrim::")
                .skip(1)
                .any(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| names(line))
        .map(|(k, _)| {
            format!("{name}:{}: an array primitive by name; ask its row in `prim`", k + 1)
        })
        .collect()
}

fn lengths(name: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() > LONGEST_FILE {
        complaints.push(format!("{name}: {} lines (at most {LONGEST_FILE})", lines.len()));
    }
    let mut start = None;
    for (k, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let head = line
            .trim_start()
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub(super) ");
        if start.is_none()
            && (head.starts_with("fn ") || head.starts_with("const fn "))
            && line.ends_with('{')
        {
            start = Some((k, indent));
        }
        if let Some((first, depth)) = start
            && line.trim_end() == format!("{}}}", " ".repeat(depth))
        {
            if k - first > LONGEST_FUNCTION {
                complaints.push(format!(
                    "{name}:{}: a function of {} lines (at most {LONGEST_FUNCTION})",
                    first + 1,
                    k - first + 1
                ));
            }
            start = None;
        }
    }
    complaints
}

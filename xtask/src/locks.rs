//! The workspaces beside the main one have lock files of their own, which nothing touches when a
//! crate gets a new dependency: their builds, which ask for `--locked`, would then fail at the next
//! run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The folders of these workspaces.
const WORKSPACES: [&str; 3] = ["crates/python", "examples/rust", "fuzz"];

/// Tells which lock files lack a dependency of a crate of ours, or the crate.
pub fn complaints(root: &Path) -> Vec<String> {
    let needed = manifests(root);
    WORKSPACES.into_iter().flat_map(|folder| stale(root, folder, &needed)).collect()
}

/// The dependencies of each package that are not optional.
fn manifests(root: &Path) -> BTreeMap<String, Vec<String>> {
    let crates = fs::read_dir(root.join("crates")).expect("crates/ exists").flatten();
    let manifest = |folder: &Path| fs::read_to_string(folder.join("Cargo.toml")).ok();
    crates.filter_map(|folder| described(&manifest(&folder.path())?)).collect()
}

/// The name of a package, and its dependencies that are not optional.
fn described(manifest: &str) -> Option<(String, Vec<String>)> {
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
    let listed = manifest.split("\n[dependencies]\n").nth(1)?.split("\n[").next()?;
    let lines = listed.lines().filter(|line| !line.contains("optional = true"));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    let names = names.filter(|name| !name.is_empty() && !name.starts_with('#'));
    Some((name.trim_matches('"').to_string(), names.map(str::to_string).collect()))
}

fn stale(root: &Path, folder: &str, needed: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let lock = format!("{folder}/Cargo.lock");
    let text = fs::read_to_string(root.join(&lock)).unwrap_or_default();
    let known: BTreeMap<&str, BTreeSet<&str>> =
        text.split("[[package]]").filter_map(locked).collect();
    let mut complaints = Vec::new();
    for (package, found) in &known {
        for dependency in needed.get(*package).into_iter().flatten() {
            if !found.contains(&**dependency) {
                complaints.push(format!(
                    "{lock} does not know that `{package}` depends on `{dependency}`: cargo metadata --manifest-path {folder}/Cargo.toml"
                ));
            }
        }
    }
    if known.is_empty() {
        complaints.push(format!("{lock} has no packages"));
    }
    complaints
}

/// A package of a lock file, and the names of its dependencies.
fn locked(package: &str) -> Option<(&str, BTreeSet<&str>)> {
    let name = package.lines().find_map(|line| line.strip_prefix("name = "))?;
    let listed = package.split("dependencies = [").nth(1).unwrap_or_default();
    let names = listed.lines().filter_map(|line| line.trim().strip_prefix('"'));
    let names = names.filter_map(|line| line.split(['"', ' ']).next());
    Some((name.trim_matches('"'), names.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_and_lock_files_are_read() {
        let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nb.workspace = true\nc = { version = \"1\", optional = true }\nd = \"2\"\n\n[dev-dependencies]\ne = \"1\"\n";
        assert_eq!(described(manifest), Some(("a".into(), vec!["b".into(), "d".into()])));
        let package =
            "\nname = \"a\"\nversion = \"1\"\ndependencies = [\n \"b\",\n \"d 2.0.0\",\n]\n\n";
        assert_eq!(locked(package), Some(("a", BTreeSet::from(["b", "d"]))));
    }
}

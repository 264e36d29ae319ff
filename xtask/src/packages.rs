//! The packages of the registry: each crate that is published has all of its files in its own
//! folder, has the fields that a registry shows, and depends on published crates only.
//!
//! `cargo xtask tidy` reads manifests and sources; `cargo xtask package` makes the packages, and
//! with `--verify` builds each of them from nothing but its package.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

/// The registry takes no larger package.
const LARGEST: u64 = 10 << 20;

/// Fields of a manifest that a registry shows or needs, or that keep tests out of the package.
const FIELDS: [&str; 10] = [
    "description",
    "version",
    "edition",
    "rust-version",
    "license",
    "repository",
    "readme",
    "keywords",
    "categories",
    "include",
];

/// The crate of the tests, which no package may need.
const TESTKIT: &str = "lambada-testkit";

/// Tells the faults that would make a package incomplete.
pub fn complaints(root: &Path, sources: &[PathBuf]) -> Vec<String> {
    let workspace = read(&root.join("Cargo.toml"));
    let included = listed(&workspace, "include");
    let mut complaints = unversioned(&workspace);
    for folder in published(root) {
        let manifest = read(&folder.join("Cargo.toml"));
        let name = folder.strip_prefix(root).unwrap_or(&folder).display().to_string();
        complaints.extend(lacking(&name, &manifest, folder.join("README.md").is_file()));
        for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
            if !folder.join(license).exists() {
                complaints.push(format!("{name} lacks {license}: ln -s ../../{license} {name}"));
            }
        }
        for file in sources.iter().filter(|file| file.starts_with(folder.join("src"))) {
            let place = file.strip_prefix(root).unwrap_or(file).display().to_string();
            for path in included_files(&read(file)) {
                let target = normal(&file.parent().unwrap_or(file).join(&path));
                let inside = target.strip_prefix(&folder).ok().and_then(|p| p.iter().next());
                let packaged = inside.is_some_and(|first| {
                    included
                        .iter()
                        .any(|part| part.split('/').nth(1).is_some_and(|own| own == first))
                });
                if !packaged {
                    complaints.push(format!(
                        "{place}: includes {path}, which is not in the package; it has {}",
                        included.join(" ")
                    ));
                }
            }
        }
    }
    complaints
}

/// The folders of the crates that are published.
fn published(root: &Path) -> Vec<PathBuf> {
    let folders = ["crates", "apps"].into_iter().flat_map(|folder| {
        fs::read_dir(root.join(folder)).into_iter().flatten().flatten().map(|entry| entry.path())
    });
    let mut found: Vec<PathBuf> = folders
        .filter(|folder| {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
            !manifest.is_empty() && !manifest.contains("\npublish = false\n")
        })
        .collect();
    found.sort();
    found
}

/// The crates of the workspace that others depend on without the version of the workspace.
fn unversioned(workspace: &str) -> Vec<String> {
    let version = workspace.lines().find_map(|line| line.strip_prefix("version = "));
    let version = version.unwrap_or_default();
    let complaint = |line: &str| {
        let (name, rest) = line.split_once(" = { ")?;
        let own = rest.contains("path = \"") && !name.starts_with('#');
        let versioned = rest.contains("version = ");
        let right = rest.contains(&format!("version = {version},"));
        match name {
            TESTKIT => versioned.then(|| {
                format!("Cargo.toml: {TESTKIT} has a version, so packages would ask for it")
            }),
            _ => (own && !right).then(|| {
                format!("Cargo.toml: {name} needs version = {version}, the one of the workspace")
            }),
        }
    };
    workspace.lines().filter_map(complaint).collect()
}

/// The fields that a manifest lacks, and whether it depends on the crate of the tests.
fn lacking(name: &str, manifest: &str, own_page: bool) -> Vec<String> {
    let package = manifest.split("\n[").next().unwrap_or_default();
    let has = |field: &str| {
        package.lines().any(|line| {
            line.starts_with(&format!("{field} = "))
                || line.starts_with(&format!("{field}.workspace"))
        })
    };
    let missing =
        FIELDS.into_iter().filter(|field| !(has(field) || *field == "readme" && own_page));
    let mut complaints: Vec<String> =
        missing.map(|field| format!("{name}/Cargo.toml does not say its {field}")).collect();
    let normal = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    if normal.contains(TESTKIT) {
        complaints.push(format!("{name} depends on {TESTKIT}, which is not published"));
    }
    complaints
}

/// The texts of an array of a manifest on one line.
fn listed(manifest: &str, field: &str) -> Vec<String> {
    let head = format!("{field} = [");
    let line = manifest.lines().find_map(|line| line.strip_prefix(&head)).unwrap_or_default();
    line.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

/// The files that a source includes by `include_str!` and its like.
fn included_files(text: &str) -> Vec<String> {
    let rests = ["include_str!(", "include_bytes!(", "include!("].into_iter().flat_map(|head| {
        text.split(head).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'))
    });
    rests.filter_map(|rest| Some(rest.split_once('"')?.0.to_string())).collect()
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Makes all packages and tells their sizes.
pub fn run(root: &Path, words: &[String]) -> ExitCode {
    let verify = match words {
        [] => false,
        [word] if word == "--verify" => true,
        _ => {
            eprintln!("usage: cargo xtask package [--verify]");
            return ExitCode::from(1);
        }
    };
    match packaged(root, verify) {
        Ok(()) => ExitCode::SUCCESS,
        Err(told) => {
            eprintln!("package: {told}");
            ExitCode::from(1)
        }
    }
}

fn packaged(root: &Path, verify: bool) -> Result<(), String> {
    let metadata = metadata(root)?;
    let members = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let private = |package: &&Value| package["publish"].as_array().is_some_and(Vec::is_empty);
    let named = |package: &Value| package["name"].as_str().unwrap_or_default().to_string();
    let excluded: BTreeSet<String> = members.iter().filter(private).map(named).collect();
    let mut command = Command::new("cargo");
    command.args(["package", "--workspace", "--locked", "--allow-dirty"]).current_dir(root);
    for name in &excluded {
        command.args(["--exclude", name]);
    }
    if !verify {
        command.arg("--no-verify");
    }
    let status = command.status().map_err(|error| format!("cargo package: {error}"))?;
    if !status.success() {
        return Err("cargo package failed".to_string());
    }
    let folder = PathBuf::from(metadata["target_directory"].as_str().unwrap_or("target"));
    let mut total = 0;
    for package in members.iter().filter(|package| !private(package)) {
        let version = package["version"].as_str().unwrap_or_default();
        let file = folder.join(format!("package/{}-{version}.crate", named(package)));
        let size = file.metadata().map_err(|error| format!("{}: {error}", file.display()))?.len();
        println!("{:>8} kB  {}", size.div_ceil(1000), named(package));
        total += size;
        if size > LARGEST {
            return Err(format!("{} is too large for the registry", file.display()));
        }
    }
    println!("{:>8} kB", total.div_ceil(1000));
    Ok(())
}

fn metadata(root: &Path) -> Result<Value, String> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root);
    let output = command.output().map_err(|error| format!("cargo metadata: {error}"))?;
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_are_found() {
        let text = "const A: &str = include_str!(\"a.lam\");\nconst B: &[u8] = include_bytes!(\n    \"../b.bin\"\n);\ninclude!(concat!(\"c\"));";
        assert_eq!(included_files(text), ["a.lam", "../b.bin"]);
        assert_eq!(normal(Path::new("/a/src/x/../../../b")), Path::new("/b"));
    }

    #[test]
    fn own_crates_need_the_version_of_the_workspace() {
        let told = |line: &str| unversioned(&format!("version = \"0.2.0\"\n{line}")).len();
        assert_eq!(told("a = { version = \"0.2.0\", path = \"crates/a\" }"), 0);
        assert_eq!(told("a = { version = \"0.1.0\", path = \"crates/a\" }"), 1);
        assert_eq!(told("a = { path = \"crates/a\" }"), 1);
        assert_eq!(told("lambada-testkit = { path = \"crates/testkit\" }"), 0);
        assert_eq!(told("lambada-testkit = { version = \"0.2.0\", path = \"crates/testkit\" }"), 1);
        assert_eq!(told("a = { version = \"1\", features = [\"b\"] }"), 0);
    }

    #[test]
    fn manifests_that_lack_something_are_told() {
        let whole: String =
            FIELDS.iter().map(|field| format!("{field}.workspace = true\n")).collect();
        let manifest = format!("[package]\nname = \"a\"\n{whole}");
        assert!(lacking("a", &manifest, false).is_empty());
        let less = manifest.replace("readme.workspace = true\n", "");
        assert_eq!(lacking("a", &less, false).len(), 1);
        assert!(lacking("a", &less, true).is_empty());
        let tested = format!("{manifest}\n[dependencies]\n{TESTKIT}.workspace = true\n");
        assert_eq!(lacking("a", &tested, false).len(), 1);
        assert!(lacking("a", &tested.replace("[dep", "[dev-dep"), false).is_empty());
    }

    #[test]
    fn a_list_of_a_manifest_is_read() {
        assert_eq!(listed("a = 1\ninclude = [\"/src\", \"/x\"]\n", "include"), ["/src", "/x"]);
    }
}

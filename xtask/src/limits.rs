//! `cargo xtask limits`: promises of a release that no test measures, since they need a full build:
//! the size of the command, and the time that the library takes to build as a dependency. Some ten
//! minutes on two cores.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::suite::processor_seconds;

/// The greatest size of the command, in bytes, as its profile `dist` makes it.
const COMMAND: u64 = 10_000_000;

/// The longest time to build the library as a dependency, with all its dependencies, in seconds of
/// the processor. It stops growth; the goal is 120, a minute on two cores.
const DEPENDENCY: f64 = 150.0;

/// A program of its own that uses the library.
const MANIFEST: &str = "[package]\nname = \"dependent\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n";

/// Builds both and prints their size and time; fails if one of them is beyond its limit.
pub fn run(root: &Path) -> ExitCode {
    let measured = command(root).and_then(|size| Ok((size, dependency(root)?)));
    let (size, seconds) = match measured {
        Ok(measured) => measured,
        Err(why) => {
            eprintln!("limits: {why}");
            return ExitCode::from(1);
        }
    };
    println!("the command has {size} bytes, of {COMMAND} that it may have");
    println!(
        "as a dependency, the library takes {seconds:.0} s of the processor, of {DEPENDENCY:.0} s that it may take"
    );
    ExitCode::from(u8::from(size >= COMMAND || seconds > DEPENDENCY))
}

/// The size of the command.
fn command(root: &Path) -> Result<u64, String> {
    let target = root.join("target/limits");
    built(
        Command::new("cargo")
            .current_dir(root)
            .args(["build", "--quiet", "--locked", "--profile", "dist", "-p", "lambada-cli"])
            .arg("--target-dir")
            .arg(&target),
    )?;
    let file = target.join("dist").join(format!("lambada{}", std::env::consts::EXE_SUFFIX));
    let size = std::fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(size.len())
}

/// The time to build a program that depends on the library as `cargo add` has it, after all
/// downloads.
fn dependency(root: &Path) -> Result<f64, String> {
    let folder = root.join("target/limits/dependent");
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(wrong)?;
    }
    std::fs::create_dir_all(folder.join("src")).map_err(wrong)?;
    let library = root.join("crates/lambada").display().to_string();
    let manifest = format!("{MANIFEST}lambada = {{ path = {library:?} }}\n");
    std::fs::write(folder.join("Cargo.toml"), manifest).map_err(wrong)?;
    let main = "fn main() {\n    println!(\"{}\", lambada::Model::compile(\"f.lam\", \"def f = 1.0\").is_ok());\n}\n";
    std::fs::write(folder.join("src/main.rs"), main).map_err(wrong)?;
    let cargo = |command: &str| {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(&folder).args([command, "--quiet"]);
        cargo
    };
    built(&mut cargo("fetch"))?;
    let begun = (Instant::now(), processor_seconds());
    // As a registry's packages are built.
    built(cargo("build").env("CARGO_INCREMENTAL", "0"))?;
    println!("it builds in {:.0} s here", begun.0.elapsed().as_secs_f64());
    let seconds = |ends: f64| Some(ends - begun.1?);
    processor_seconds().and_then(seconds).ok_or_else(|| "the system tells no times".into())
}

fn built(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} fails")) }
}

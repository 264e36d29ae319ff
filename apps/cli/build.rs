//! Asks the linker for a small binary in the profile `dist`: identical functions are merged, and
//! relative relocations are packed. Tries both options on a small program first, because not all
//! linkers and C libraries support them.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

const WISHES: [&str; 2] = ["-Wl,--icf=all", "-Wl,-z,pack-relative-relocs"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Only `dist` optimizes for size. A program for another system cannot be tried.
    if env::var("OPT_LEVEL").is_ok_and(|level| level == "z")
        && env::var("TARGET") == env::var("HOST")
    {
        for wish in WISHES.into_iter().filter(|wish| works(wish)) {
            println!("cargo::rustc-link-arg-bins={wish}");
        }
    }
}

/// Whether a program linked with the argument runs.
fn works(argument: &str) -> bool {
    let variable = |name: &str| env::var_os(name).unwrap_or_default();
    let folder = PathBuf::from(variable("OUT_DIR"));
    let (source, program) = (folder.join("tried.rs"), folder.join("tried"));
    if std::fs::write(&source, "fn main() { println!(\"{:?}\", std::env::args()); }").is_err() {
        return false;
    }
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.arg("-o").arg(&program).arg(&source);
    rustc.args(["-C", "debuginfo=0", "-C", &format!("link-arg={argument}")]);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = OsString::from("linker=");
        option.push(linker);
        rustc.arg("-C").arg(option);
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    let linked = rustc.output().is_ok_and(|linked| linked.status.success());
    linked && Command::new(&program).output().is_ok_and(|run| run.status.success())
}

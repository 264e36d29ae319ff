//! A Rust program that calls a model. Its module is generated as in a build script, and the program
//! depends on `ndarray` only.

use std::path::{Path, PathBuf};
use std::process::Command;

use lambada_build::Model;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program");

const SCRIPT: &str = r#"fn main() {
    println!("cargo:rustc-link-search=native={}", env!("CARGO_MANIFEST_DIR"));
    println!("cargo:rustc-env=MODEL={}", env!("CARGO_MANIFEST_DIR"));
}
"#;

fn write(place: &Path, text: &str) {
    std::fs::write(place, text).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
}

/// A package with the program and the module. Its target folder stays, so that later runs do not
/// recompile dependencies.
fn package() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("model-program");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock")).expect("the lock of the workspace");
    write(
        &folder.join("Cargo.toml"),
        "[package]\nname = \"model-program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nndarray = \"0.17\"\n\n[workspace]\n",
    );
    write(&folder.join("build.rs"), SCRIPT);
    std::fs::copy(format!("{FOLDER}/calls.rs"), folder.join("src/main.rs")).expect("the program");
    folder
}

#[test]
fn a_program_calls_its_model() {
    let folder = package();
    Model::new(format!("{FOLDER}/model.lam"))
        .entry("loss")
        .grad("loss", &["w", "b"])
        .jvp("loss", &["x"])
        .entry("turned")
        .vjp("positive", &[])
        .entry("pick")
        .entry("triangle")
        .entry("table")
        .output(&folder)
        .compile()
        .expect("the model is in order");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_is_wrong_is_told_as_the_command_tells_it() {
    let error =
        Model::new(format!("{FOLDER}/model.lam")).grad("los", &[]).output("nowhere").compile();
    let told = error.expect_err("there is no such definition").to_string();
    assert!(told.starts_with("error[E0") && told.contains("did you mean `loss`"), "{told}");
    assert!(!Path::new("nowhere").exists());
}

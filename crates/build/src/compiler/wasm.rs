//! Modules of WebAssembly: the text of a library, compiled by Clang with those parts of the C
//! library of `wasi-libc` that need no system.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::library::Sources;
use super::messages;

/// Tools that make modules.
pub(crate) struct Tools {
    /// Clang.
    clang: String,
    /// The folder with `include/wasm32-wasi` and `lib/wasm32-wasi`.
    root: PathBuf,
}

/// Clang's name for the machine of modules.
const MACHINE: &str = "wasm32-wasi";

/// Versions of Clang under whose names systems install it.
const VERSIONS: std::ops::RangeInclusive<u32> = 11..=30;

impl Tools {
    /// The first Clang that has all it needs among `$LAMBADA_WASM_CC`, `clang` and `clang-N`, the
    /// newest first; no other than `$LAMBADA_WASM_CC` if that is set. Otherwise the missing part.
    pub fn find() -> Result<Tools, Box<lambada_source::Problem>> {
        let set = std::env::var("LAMBADA_WASM_CC").ok().filter(|name| !name.trim().is_empty());
        let candidates: Vec<String> = match set {
            Some(name) => vec![name],
            None => {
                let numbered = VERSIONS.rev().map(|version| format!("clang-{version}"));
                std::iter::once("clang".to_string()).chain(numbered).collect()
            }
        };
        let mut first = None;
        let absent = format!("no `{}`", candidates[0]);
        for clang in candidates {
            let Some(version) = version(&clang) else { continue };
            match Tools::with(&clang) {
                Ok(tools) => return Ok(tools),
                Err(missing) => {
                    first.get_or_insert((missing, version));
                }
            }
        }
        let (missing, version) = first.unwrap_or((absent, None));
        Err(Box::new(messages::no_wasm(&missing, version)))
    }

    /// The tools with this Clang, or the part that it lacks.
    fn with(clang: &str) -> Result<Tools, String> {
        let targets = said(clang, &["--print-targets"]).unwrap_or_default();
        if !targets.lines().any(|line| line.split_whitespace().next() == Some("wasm32")) {
            return Err(format!("`{clang}` makes no code for `wasm32`"));
        }
        let linker = said(clang, &["--target=wasm32-wasi", "-print-prog-name=wasm-ld"]);
        if !linker.is_some_and(|linker| starts(linker.trim())) {
            return Err("no `wasm-ld`".to_string());
        }
        let root = roots().into_iter().find(|root| root.join("lib").join(MACHINE).is_dir());
        let root = root.ok_or_else(|| "no C library for `wasm32-wasi`".to_string())?;
        let machine = format!("--target={MACHINE}");
        let builtins = said(clang, &[&machine, "-print-libgcc-file-name"]).unwrap_or_default();
        if !Path::new(builtins.trim()).is_file() {
            return Err("no `libclang_rt.builtins-wasm32.a`".to_string());
        }
        Ok(Tools { clang: clang.to_string(), root })
    }

    /// The command that makes the module from the text in the folder where it runs.
    pub fn command(&self, sources: &Sources, output: &str) -> Command {
        let name = &sources.library.name;
        let flags = lambada_codegen::FLAGS;
        let flags = flags.iter().filter(|flag| !["-fPIC", "-shared"].contains(flag));
        let own = ["open", "message", "limit"].into_iter();
        let functions = sources.library.functions.iter().map(|function| &*function.name);
        let exports = own.chain(functions).map(|function| format!("{name}_{function}"));
        let exports = exports.chain(["malloc", "free"].map(str::to_string));
        let mut command = Command::new(&self.clang);
        command
            .args([&format!("--target={MACHINE}"), "--sysroot"])
            .arg(&self.root)
            .args(flags)
            .args(["-msimd128", "-mbulk-memory", "-mexec-model=reactor"])
            // The stack is before all data, so that a call that exceeds it stops.
            .args(["-Wl,--stack-first", "-Wl,-z,stack-size=4194304", "-Wl,--strip-all"])
            .arg(format!("-D{}_STACK=4063232", name.to_uppercase()))
            .args(exports.map(|export| format!("-Wl,--export={export}")))
            .args([&*format!("{name}.c"), "-o", output]);
        command
    }
}

/// The folders in which systems have the C library of modules.
fn roots() -> Vec<PathBuf> {
    let set = |name: &str, below: &str| std::env::var_os(name).map(|at| Path::new(&at).join(below));
    let own = [set("WASI_SYSROOT", ""), set("WASI_SDK_PATH", "share/wasi-sysroot")];
    let usual = [
        "/usr",
        "/usr/share/wasi-sysroot",
        "/opt/wasi-sdk/share/wasi-sysroot",
        "/opt/homebrew/opt/wasi-libc/share/wasi-sysroot",
        "/usr/local/opt/wasi-libc/share/wasi-sysroot",
    ];
    own.into_iter().flatten().chain(usual.map(PathBuf::from)).collect()
}

/// The major version of a Clang that works.
fn version(clang: &str) -> Option<Option<u32>> {
    let said = said(clang, &["--version"])?;
    let words = said.split_whitespace().skip_while(|word| *word != "version").nth(1);
    Some(words.and_then(|version| version.split('.').next()?.parse().ok()))
}

/// The output of a command that succeeds.
fn said(command: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(command).args(args).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn starts(command: &str) -> bool {
    said(command, &["--version"]).is_some()
}

//! Libraries for other machines: in C11 without extensions, in memory of the caller, for ARM
//! processors (under qemu), and in projects of CMake. Where a tool is absent, a test says so.

#[path = "build/tools.rs"]
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tools::{FOLDER, lambada, succeeds, there_is};

/// The definitions that the C programs call.
const ALL: &str = "model.lam loss --grad w,b --jvp x area total --grad all positive --vjp xs areas turned pick table triangle wider same depth careful";

/// As `ALL`, for `matrices.c`.
const MATRICES: &str = "matrices.lam solved eigen singular product scanned --grad all sorted";

/// C without extensions, and all warnings that matter.
const STRICT: [&str; 5] = ["-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-Werror"];

/// Sanitizers, whose frames are large.
const SANITIZED: [&str; 5] = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fwrapv",
    "-UMODEL_STACK",
    "-DMODEL_STACK=2097152",
];

fn built(args: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().display().to_string();
    let args = ["build"].into_iter().chain(args.split(' ')).chain(["-o", &out]);
    succeeds(&mut lambada(&args.collect::<Vec<_>>()));
    folder
}

fn source(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// Compiles files of a folder and others to a program.
fn compiled(compiler: &str, folder: &Path, args: &[&str]) -> PathBuf {
    let place = folder.join(format!("program-{}", compiler.replace('/', "-")));
    let mut command = Command::new(compiler);
    command.current_dir(folder).arg("-I.").args(args).arg("-o").arg(&place).arg("-lm");
    succeeds(&mut command);
    place
}

/// The compilers that are there.
fn compilers() -> Vec<&'static str> {
    ["gcc", "clang"].into_iter().filter(|compiler| there_is(compiler)).collect()
}

#[test]
fn c11_needs_no_extensions() {
    let folder = built(&format!("{ALL} --target c11"));
    let text = std::fs::read_to_string(folder.path().join("model.c")).expect("the text");
    for foreign in ["__attribute__", "__builtin", "__atomic", "__INT", "vector_size", "pthread"] {
        assert!(!text.contains(foreign), "`{foreign}`");
    }
    let callers = source("model.c");
    for compiler in compilers() {
        let args = [&STRICT[..], &["-DALONE", &*callers, "model.c"]].concat();
        succeeds(&mut Command::new(compiled(compiler, folder.path(), &args)));
        let args = [&args[..], &SANITIZED].concat();
        succeeds(&mut Command::new(compiled(compiler, folder.path(), &args)));
        let mut command = Command::new(compiler);
        if compiler == "clang" {
            command.args(["-fms-compatibility", "-fsyntax-only", "-std=c11", "model.c"]);
            succeeds(command.current_dir(folder.path()));
        }
    }
}

/// Matrices, mixtures and recurrences, for which GNU C has vectors.
#[test]
fn c11_has_no_vectors() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    for program in [
        format!("{FOLDER}/{MATRICES}"),
        format!("{examples}/gmm.lam objective --grad alpha,mu,q,l"),
        format!("{examples}/least_squares.lam residual --grad all"),
    ] {
        for target in ["c11", "embedded"] {
            let folder = built(&format!("{program} --target {target}"));
            let name = program.split(".lam").next().and_then(|path| path.rsplit('/').next());
            let file = format!("{}.c", name.expect("a name"));
            for compiler in compilers() {
                let mut command = Command::new(compiler);
                let flags = ["-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-c", &file];
                command
                    .current_dir(folder.path())
                    .args(flags)
                    .arg("-Wno-bitwise-conditional-parentheses");
                succeeds(&mut command);
            }
        }
    }
}

/// The definitions that `embedded.c` calls, in memory of the caller.
fn embedded() -> TempDir {
    let first = ALL.replace("model.lam", "model.lam softened --grad xs");
    let all = first.replace("areas turned pick", "pick --vjp xs areas turned");
    built(&format!("{all} outer small --target embedded"))
}

#[test]
fn all_memory_is_the_callers() {
    let folder = embedded();
    let callers = source("embedded.c");
    for compiler in compilers() {
        let args = [&STRICT[..], &["-DMODEL_STACK=131072", &*callers, "model.c"]].concat();
        succeeds(&mut Command::new(compiled(compiler, folder.path(), &args)));
        let args = [&args[..], &SANITIZED].concat();
        succeeds(&mut Command::new(compiled(compiler, folder.path(), &args)));
    }
    let matrices = built(&format!("{MATRICES} --target embedded"));
    let callers = source("matrices.c");
    let args = ["-std=c11", &*callers, "matrices.c"];
    let args = [&args[..], &SANITIZED].concat();
    succeeds(&mut Command::new(compiled("cc", matrices.path(), &args)));
    if !there_is("nm") {
        return println!("skipped: no nm");
    }
    let mut command = Command::new("cc");
    succeeds(command.current_dir(folder.path()).args(["-std=c11", "-O2", "-c", "model.c"]));
    let told = succeeds(Command::new("nm").arg("-u").arg(folder.path().join("model.o")));
    let pure =
        ["memcpy", "memmove", "memset", "exp", "log", "log1p", "sqrt", "_GLOBAL_OFFSET_TABLE_"];
    for name in told.split_whitespace().filter(|word| *word != "U") {
        assert!(pure.contains(&name.trim_start_matches('_')) || pure.contains(&name), "{told}");
    }
}

/// The portable C in all forms on ARM processors of 64 and of 32 bits, with their vectors and
/// without.
#[test]
fn arm_processors_run_it() {
    let portable = built(&format!("{ALL} --portable"));
    let strict = built(&format!("{ALL} --target c11"));
    let (embedded, matrices) = (embedded(), built(&format!("{MATRICES} --target embedded")));
    let machines =
        [("aarch64-linux-gnu-gcc", "qemu-aarch64"), ("arm-linux-gnueabihf-gcc", "qemu-arm")];
    for (compiler, machine) in machines {
        if let Some(absent) = [compiler, machine].into_iter().find(|needed| !there_is(needed)) {
            println!("skipped: no {absent}");
            continue;
        }
        let run = |folder: &Path, args: &str, callers: &str, library: &str| {
            let callers = source(callers);
            let flags = ["-static", "-O1", "-fwrapv", &*callers, library];
            let args: Vec<&str> = args.split(' ').chain(flags).collect();
            succeeds(Command::new(machine).arg(compiled(compiler, folder, &args)));
        };
        run(portable.path(), "-std=gnu99 -DALONE", "model.c", "model.c");
        run(strict.path(), "-std=c11 -Werror -DALONE", "model.c", "model.c");
        run(embedded.path(), "-std=c11 -Werror -DMODEL_STACK=131072", "embedded.c", "model.c");
        run(matrices.path(), "-std=c11 -Werror", "matrices.c", "matrices.c");
    }
}

/// Projects find a library by its package file, compiled or as a text.
#[test]
fn cmake_finds_the_library() {
    if !there_is("cmake") {
        return println!("skipped: no cmake");
    }
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let line = format!("{examples}/c/line.lam loss --grad w,b");
    let project = |kind: &str| {
        format!(
            "cmake_minimum_required(VERSION 3.13)\nproject(fit C)\n\
             find_package(line CONFIG REQUIRED PATHS ${{LINE}} NO_DEFAULT_PATH)\n\
             find_package(line CONFIG REQUIRED PATHS ${{LINE}} NO_DEFAULT_PATH)\n\
             add_executable(fit {examples}/c/line.c)\nset_target_properties(fit PROPERTIES C_STANDARD 99)\n\
             target_link_libraries(fit PRIVATE line::{kind})\n"
        )
    };
    for (options, kind) in
        [("--portable", "line"), ("--portable", "shared"), ("--target c11", "line")]
    {
        let folder = built(&format!("{line} {options}"));
        let place = TempDir::new().expect("a folder");
        std::fs::write(place.path().join("CMakeLists.txt"), project(kind)).expect("a project");
        let built = place.path().join("built");
        let mut command = Command::new("cmake");
        command.arg("-S").arg(place.path()).arg("-B").arg(&built);
        succeeds(command.arg(format!("-DLINE={}", folder.path().display())));
        succeeds(Command::new("cmake").arg("--build").arg(&built));
        let told = succeeds(&mut Command::new(built.join("fit")));
        assert!(told.contains("w = 2.0000 3.0000, b = 1.0000"), "{options} {kind}: {told}");
    }
    // Versions: those that serve, and those that do not.
    let folder = built(&format!("{line} --portable"));
    let own = env!("CARGO_PKG_VERSION");
    let series: Vec<&str> =
        own.split('.').take(if own.starts_with("0.") { 2 } else { 1 }).collect();
    let series = series.join(".");
    let place = TempDir::new().expect("a folder");
    let found = |version: &str| {
        let text = format!(
            "cmake_minimum_required(VERSION 3.19)\nproject(fit C)\n\
             find_package(line {version} CONFIG QUIET PATHS ${{LINE}} NO_DEFAULT_PATH)\n\
             message(STATUS \"found ${{line_FOUND}}\")\n"
        );
        std::fs::write(place.path().join("CMakeLists.txt"), text).expect("a project");
        let mut command = Command::new("cmake");
        command.arg("-S").arg(place.path()).arg("-B").arg(place.path().join("built"));
        let told = succeeds(command.arg(format!("-DLINE={}", folder.path().display())));
        told.contains("found 1")
    };
    for fits in ["", own, &series, &format!("{own} EXACT"), "0.0.1...<99", &format!("0...{own}")] {
        let is_known = !fits.contains("...") || cmake_has_ranges();
        assert!(found(fits) || !is_known, "{fits}");
    }
    for other in ["99", "0.0.1", &format!("{series}.99"), &format!("0.0.0...<{own}")] {
        assert!(!found(other), "{other}");
    }
}

/// Whether `find_package` takes ranges of versions.
fn cmake_has_ranges() -> bool {
    let told = succeeds(Command::new("cmake").arg("--version"));
    let version = told.split_whitespace().nth(2).unwrap_or_default().to_string();
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(3), Some(19))
}

/// A definition cannot have the name of a function that tells about memory.
#[test]
fn names_of_the_library_are_taken() {
    let folder = TempDir::new().expect("a folder");
    let text = "def loss_bytes (x : real) : real = x\ndef loss (x : real) : real = x\ndef peak (x : real) : real = x\n";
    std::fs::write(folder.path().join("names.lam"), text).expect("a program");
    for entries in ["loss_bytes loss", "loss loss_bytes", "peak"] {
        let run = |target: &str| {
            let args = format!("build names.lam {entries} --target {target} -o {target}");
            let mut command = lambada(&args.split(' ').collect::<Vec<_>>());
            command.current_dir(folder.path()).output().expect("the command runs")
        };
        let refused = run("embedded");
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(1) && told.contains("E0481"), "{told}");
        assert!(!folder.path().join("embedded").exists());
        assert!(run("c11").status.success(), "{entries}");
    }
}

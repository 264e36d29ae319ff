//! C libraries in C, C++ and Fortran programs: values, derivatives, errors, threads, exhausted
//! memory, and complete files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

#[path = "build/tools.rs"]
mod tools;

use tools::{FOLDER, lambada, output, succeeds, text, there_is};

/// Warning flags of C compilers.
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

/// A folder with the libraries `model` and `other`, built once.
fn folder() -> &'static Path {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = TempDir::new().expect("a folder");
        let out = folder.path().display().to_string();
        let entries = "loss --grad w,b --jvp x area total --grad all positive --vjp xs areas turned pick table triangle wider same depth careful";
        let mut args = vec!["build", "model.lam"];
        args.extend(entries.split(' '));
        args.extend(["-o", &out, "--portable"]);
        let told = succeeds(&mut lambada(&args));
        assert_eq!(told.lines().count(), 7, "{told}");
        succeeds(&mut lambada(&["build", "other.lam", "loss", "-o", &out]));
        folder
    })
    .path()
}

/// Compiles a program and returns its path.
fn program(compiler: &str, name: &str, args: &[&str], libraries: &[&str]) -> PathBuf {
    let place = folder().join(format!("program-{name}"));
    let mut command = Command::new(compiler);
    command.current_dir(folder()).arg("-I.").args(args).arg("-o").arg(&place).args(libraries);
    succeeds(&mut command);
    place
}

fn source(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

#[test]
fn c_calls_all_that_is_offered() {
    let file = source("model.c");
    let strict = [&["-std=c99", &*file][..], &STRICT].concat();
    let made = program("cc", "c", &strict, &["libmodel.a", "-lm"]);
    succeeds(&mut Command::new(made));
}

/// Tests in C and, if there is a compiler, in C++; also with sanitizers.
#[test]
fn a_library_of_32_bits_takes_floats() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().display().to_string();
    let args = "build single.lam distance --grad x longer --precision f32 --portable -o";
    let args: Vec<&str> = args.split(' ').chain([&*out]).collect();
    succeeds(&mut lambada(&args));
    let header = std::fs::read_to_string(folder.path().join("single.h")).expect("a header");
    for promised in ["#define SINGLE_REAL_BITS 32", "const float *x", "real(c_float)"] {
        assert!(header.contains(promised), "no `{promised}` in\n{header}");
    }
    assert!(!header.contains("double"), "{header}");
    let file = source("single.c");
    let mut ways = vec![
        ("cc", vec!["-std=c99", &*file], vec!["libsingle.a", "-lm"]),
        (
            "cc",
            vec!["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", &*file],
            vec!["single.c", "-lm"],
        ),
    ];
    if there_is("c++") {
        let args = vec!["-std=c++11", "-x", "c++", &*file, "-x", "none"];
        ways.push(("c++", args, vec!["libsingle.a", "-lm"]));
    }
    for (compiler, args, libraries) in ways {
        let place = folder.path().join("program");
        let mut command = Command::new(compiler);
        command.current_dir(folder.path()).arg("-I.").args(STRICT).args(args).arg("-o");
        succeeds(command.arg(&place).args(libraries));
        succeeds(&mut Command::new(&place));
    }
}

/// Derivatives by fields of parameters take the definition's parameters, and return a derivative
/// for each field under its name.
#[test]
fn fields_are_differentiated_by() {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    };
    write(
        "fields.lam",
        "type inner = {scale : real, shift : real}
type model = {weights : []real, k : int, inner : inner}
def loss [n] (p : {weights : [n]real, k : int, inner : inner}) (x : [n]real) : real =
  p.inner.scale * p.inner.scale * sum (p.weights * x) + p.inner.shift
",
    );
    write(
        "main.c",
        "#include \"fields.h\"
int main(void) {
    fields_context *ctx = fields_open();
    double weights[2] = {1, 2}, x[2] = {3, 4}, value, scale_ct, weights_ct[2], tan = 1, weights_tan[2] = {1, 0}, value_tan, x_ct[2];
    if (fields_loss_grad(ctx, 2, weights, 7, 2, 5, x, &value, &scale_ct, weights_ct)) return 1;
    if (value != 49 || scale_ct != 44 || weights_ct[0] != 12 || weights_ct[1] != 16) return 2;
    if (fields_loss_jvp(ctx, 2, weights, 7, 2, 5, x, weights_tan, &value, &value_tan)) return 3;
    if (value != 49 || value_tan != 12) return 4;
    if (fields_loss_vjp(ctx, 2, weights, 7, 2, 5, x, 2, &value, &tan, &scale_ct, x_ct)) return 5;
    if (tan != 88 || scale_ct != 2 || x_ct[0] != 8 || x_ct[1] != 16) return 6;
    fields_close(ctx);
    return 0;
}
",
    );
    let args = "build fields.lam loss --grad p.inner.scale,p.weights --jvp p.weights --vjp p.inner,x --portable -o .";
    succeeds(lambada(&args.split(' ').collect::<Vec<_>>()).current_dir(folder.path()));
    let header = std::fs::read_to_string(folder.path().join("fields.h")).expect("a header");
    for promised in ["double *p_inner_scale_ct", "double *p_weights_ct", "*p_weights_tan"] {
        assert!(header.contains(promised), "no `{promised}` in\n{header}");
    }
    let mut command = Command::new("cc");
    command.current_dir(folder.path()).args(STRICT).args(["-std=c99", "main.c", "libfields.a"]);
    succeeds(command.args(["-lm", "-o", "program"]));
    succeeds(&mut Command::new(folder.path().join("program")));
}

#[test]
fn cpp_calls_all_that_is_offered() {
    if !there_is("c++") {
        return println!("skipped: no C++ compiler");
    }
    let file = source("model.c");
    let strict = [&["-std=c++11", "-x", "c++", &*file, "-x", "none"][..], &STRICT].concat();
    let made = program("c++", "cpp", &strict, &["libmodel.a", "-lm"]);
    succeeds(&mut Command::new(made));
}

#[test]
fn the_text_itself_compiles_strictly_and_passes_the_sanitizers() {
    let file = source("model.c");
    let sanitized = ["-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let strict = [&sanitized[..], &STRICT].concat();
    // Follows the header comment: a single compilation without versions for wider vectors, or one
    // for each version.
    let text = std::fs::read_to_string(folder().join("model.c")).expect("the text is there");
    let runs = text.lines().take_while(|line| line.starts_with(['/', ' ']));
    let mut runs = runs.filter_map(|line| line.strip_prefix(" *   "));
    let alone = runs.next().expect("the text says how it is compiled");
    assert!(alone.starts_with("cc ") && alone.ends_with(" -c model.c"), "{alone}");
    let mut objects = Vec::new();
    for run in runs {
        let (flags, object) = run.split_once(" -o ").unwrap_or((run, "model.o"));
        let object = format!("sanitized-{object}");
        let flags = flags.split(' ').chain(["-o", &object]);
        let mut command = Command::new("cc");
        succeeds(command.current_dir(folder()).args(&strict).args(flags));
        objects.push(object);
    }
    if cfg!(target_arch = "x86_64") {
        assert_eq!(objects.len(), 3, "{text}");
    } else {
        objects = vec!["model.c".to_string()];
    }
    let linked: Vec<&str> = objects.iter().map(String::as_str).chain(["-lm"]).collect();
    let all = [&strict[..], &[&*file]].concat();
    let made = program("cc", "sanitized", &all, &linked);
    succeeds(&mut Command::new(made));
    // Without the other versions, calls use the portable one.
    let alone = [&strict[..], &["-DALONE", &*file, "model.c"]].concat();
    let made = program("cc", "alone", &alone, &["-lm"]);
    succeeds(&mut Command::new(made));
}

#[test]
fn two_models_and_threads_in_one_program() {
    let file = source("threads.c");
    let made = program(
        "cc",
        "threads",
        &["-std=c99", "-pthread", "-D_GNU_SOURCE", &file],
        &["libmodel.a", "libother.a", "-lm"],
    );
    succeeds(&mut Command::new(made));
}

#[test]
fn no_memory_is_a_code() {
    let made = program("cc", "memory", &[&source("memory.c")], &["libmodel.a", "-lm"]);
    succeeds(
        Command::new("sh").arg("-c").arg(format!("ulimit -v 1000000 && exec {}", made.display())),
    );
}

#[test]
fn fortran_calls_a_gradient() {
    if !there_is("gfortran") {
        return println!("skipped: no gfortran");
    }
    let made = program("gfortran", "fortran", &[&source("gradient.f90")], &["libmodel.a", "-lm"]);
    succeeds(&mut Command::new(made));
}

/// All examples fit the same line.
#[test]
fn the_examples_run() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let out = folder().display().to_string();
    let model = format!("{examples}/c/line.lam");
    succeeds(&mut lambada(&["build", &model, "loss", "--grad", "w,b", "-o", &out, "--portable"]));
    let sources = [
        ("cc", "c/line.c", &["-std=c99"][..]),
        ("c++", "cpp/line.cpp", &["-std=c++17"]),
        ("gfortran", "fortran/line.f90", &[]),
        ("mpicc", "c/sum.c", &["-std=c99"]),
    ];
    let mut run = 0;
    for (compiler, source, flags) in sources {
        if !there_is(compiler) {
            println!("skipped: no {compiler}");
            continue;
        }
        let file = format!("{examples}/{source}");
        let name = format!("example-{}", source.replace('/', "-"));
        let made = program(compiler, &name, &[flags, &[&*file]].concat(), &["libline.a", "-lm"]);
        let told = succeeds(&mut Command::new(made));
        let told: String = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("w = 2.0000 3.0000, b = 1.0000"), "{source}: {told}");
        run += 1;
    }
    assert!(run >= 1, "there is no C compiler");
}

#[test]
fn pkg_config_tells_how_to_link() {
    if !there_is("pkg-config") {
        return println!("skipped: no pkg-config");
    }
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", folder()).args(["--cflags", "--libs", "model"]);
    let told = succeeds(&mut command);
    let flags: Vec<&str> = told.split_whitespace().collect();
    let made = program("cc", "packaged", &[&source("model.c")], &flags);
    succeeds(&mut Command::new(made));
}

#[test]
fn every_name_begins_with_that_of_the_library() {
    if !there_is("nm") {
        return println!("skipped: no nm");
    }
    let told = succeeds(
        Command::new("nm").args(["-g", "--defined-only"]).arg(folder().join("libmodel.a")),
    );
    let symbols: Vec<&str> =
        told.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert!(symbols.len() > 15, "{told}");
    assert!(
        symbols.iter().all(|symbol| symbol.trim_start_matches('_').starts_with("model_")),
        "{symbols:?}"
    );
}

#[test]
fn what_fails_leaves_nothing() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out");
    let args = ["build", "other.lam", "loss", "-o", &out.display().to_string()].map(str::to_string);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let fails = |command: &mut Command, code: &str| {
        let output = output(command);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(output.stdout.is_empty() && text(&output.stderr).contains(code), "{output:?}");
    };
    fails(lambada(&args).env("LAMBADA_CC", "no-such-compiler"), "E0483");
    fails(lambada(&args).env("AR", "false"), "E0484");
    assert!(!out.exists());
    std::fs::create_dir_all(out.join("other.h")).expect("a folder");
    fails(&mut lambada(&args), "E0485");
    let left: Vec<_> = std::fs::read_dir(&out)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["other.h"]);
}

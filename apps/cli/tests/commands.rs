//! The command from outside: exit codes, output, and files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use lambada::{Inputs, Session};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the command lies in the repository")
        .to_path_buf()
}

fn lambada(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lambada"))
        .args(args)
        .current_dir(root())
        .output()
        .expect("the command starts")
}

/// Standard output of a command that succeeds without messages.
fn succeeds(args: &[&str]) -> String {
    let output = lambada(args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && err.is_empty(), "{args:?}: {:?}\n{err}", output.status);
    out
}

/// Standard error of a command that exits with 1 and prints no result.
fn fails(args: &[&str]) -> String {
    exits(args, 1)
}

/// Standard error of an invalid command line.
fn misused(args: &[&str]) -> String {
    exits(args, 2)
}

fn exits(args: &[&str], code: i32) -> String {
    let output = lambada(args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {out}{err}");
    assert!(out.is_empty(), "{args:?} prints {out}");
    assert!(!err.contains("panicked") && !err.contains("RUST_BACKTRACE"), "{err}");
    err
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

fn file(folder: &tempfile::TempDir, name: &str, content: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a temporary file can be written");
    path.display().to_string()
}

#[test]
fn the_first_command_of_the_readme() {
    let out = succeeds(&[
        "grad",
        "examples/gmm.lam",
        "objective",
        "--data",
        "examples/data/gmm_d2_k5.json",
        "--wrt",
        "alpha,mu,q,l",
    ]);
    assert!(out.starts_with("value = -3916.46482105446"), "{out}");
    for name in ["alpha", "mu", "q", "l"] {
        assert!(out.contains(&format!("gradient {name} =")), "{out}");
    }
}

#[test]
fn check_lists_definitions_or_tells_all_errors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let good = file(&folder, "good.lam", "def f (x : real) = x * x\n");
    assert_eq!(succeeds(&["check", &good]), "f : real -> real\n");
    let bad = file(&folder, "bad.lam", "def f (x : real) = y\n\ndef g (b : bool) = b + 1\n");
    let err = fails(&["check", &bad]);
    assert!(err.contains("bad.lam:1") && err.contains("bad.lam:3"), "{err}");
}

#[test]
fn run_takes_arguments_and_data() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = file(
        &folder,
        "p.lam",
        "def main (x : real) (ys : []real) = x * sum ys\n\ndef twice (x : real) = 2 * x\n",
    );
    assert_eq!(succeeds(&["run", &program, "x=2", "ys=[1,2,3]"]), "12.0\n");
    assert_eq!(succeeds(&["run", &program, "twice", "x=2"]), "4.0\n");
    let data = file(&folder, "d.json", "{\"ys\": [1, 2, 3]}");
    for engine in ["native", "loops", "anf", "core"] {
        assert_eq!(
            succeeds(&["run", &program, "--data", &data, "x=2", "--engine", engine]),
            "12.0\n"
        );
    }
    assert!(fails(&["run", &program, "twise", "x=2"]).contains("did you mean `twice`?"));
    assert!(fails(&["run", &program, "x=2"]).contains("`ys : [n]real`"));
    assert!(fails(&["run", &program, "x=2", "ys=[1,[2]]"]).contains("`ys`"));
    assert!(fails(&["run", "no_such_file.lam"]).contains("no_such_file.lam"));
}

/// A pattern parameter is called by its pattern, and values may come in the order of the
/// parameters.
#[test]
fn parameters_that_are_patterns() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "def f (a, b : real) {x, y = c} (_ : int) (_ : real) = a * b + x * c\ndef main (x : real) = 2 * x\n";
    let program = file(&folder, "patterns.lam", source);
    let run = |words: &[&str]| succeeds(&[&["run", &program], words].concat());
    assert_eq!(run(&["f", "[2, 3]", r#"{"x": 4, "y": 5}"#, "6", "-7.5"]), "26.0\n");
    assert_eq!(
        run(&["f", "{x,y=c}={\"x\": 4, \"y\": 5}", "(a,b)=[2, 3]", "argument 3=1", "argument 4=1"]),
        "26.0\n"
    );
    assert_eq!(run(&["-2.5"]), "-5.0\n");
    let data = file(&folder, "data.json", r#"{"(a, b)": [2, 3], "{x, y = c}": {"x": 4, "y": 5}}"#);
    let grad = succeeds(&[
        "grad",
        &program,
        "f",
        "--data",
        &data,
        "argument 3=1",
        "argument 4=1",
        "--wrt",
        "{x, y = c},(a, b)",
    ]);
    assert_eq!(
        grad,
        "value = 26.0\ngradient {x, y = c} = {x = 5.0, y = 4.0}\ngradient (a, b) = (3.0, 2.0)\n"
    );
    let truth =
        file(&folder, "truth.lam", "def main (b : bool) (x : real) = if b then x else 0.0\n");
    assert_eq!(succeeds(&["run", &truth, "true", "inf"]), "inf\n");
    assert!(fails(&["run", &program, "f"]).contains("its parameter `(a, b) : (real, real)`"));
    assert!(
        fails(&["run", &program, "main", "1", "2"])
            .contains("`main` takes 1 argument, and the argument `2` is one more")
    );
    assert!(
        fails(&["run", &program, "main", "y"])
            .contains("the argument `y` is no value, and not of the form name=value")
    );
    assert!(
        fails(&["run", &program, "main", "[1,"]).contains("the argument `[1,` is not valid JSON")
    );
}

#[test]
fn derivatives_in_both_modes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = file(
        &folder,
        "p.lam",
        "def f (x : real) (y : real) = (x * y, x + y)\n\ndef g (x : real) (y : real) = x * y\n",
    );
    assert_eq!(
        succeeds(&["grad", &program, "g", "x=2", "y=3"]),
        "value = 6.0\ngradient x = 3.0\ngradient y = 2.0\n"
    );
    assert_eq!(
        succeeds(&["grad", &program, "g", "x=2", "y=3", "--wrt", "y"]),
        "value = 6.0\ngradient = 2.0\n"
    );
    assert_eq!(
        succeeds(&["jvp", &program, "f", "x=2", "y=3", "--tangent", "x=1"]),
        "value = (6.0, 5.0)\ntangent = (3.0, 1.0)\n"
    );
    let vjp = succeeds(&["vjp", &program, "f", "x=2", "y=3", "--cotangent", "[1, 10]"]);
    assert_eq!(vjp, "value = (6.0, 5.0)\ncotangent x = 13.0\ncotangent y = 12.0\n");
    assert!(fails(&["grad", &program, "f", "x=2", "y=3"]).contains("no gradient"));
    assert!(fails(&["vjp", &program, "f", "x=2", "y=3"]).contains("--cotangent"));
    let value = file(&folder, "value.json", "[1, 10]");
    assert_eq!(succeeds(&["vjp", &program, "f", "x=2", "y=3", "--cotangent-data", &value]), vjp);
    assert!(
        misused(&["garde", &program, "f"]).contains("unrecognized")
            && misused(&["grda", &program, "f"]).contains("'grad'")
    );
    assert!(fails(&["jvp", &program, "f", "x=2", "y=3"]).contains("--tangent"));
    assert!(fails(&["grad", &program, "g", "x=2", "y=3", "--wrt", "z"]).contains("`z`"));
}

#[test]
fn results_go_to_files_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = file(
        &folder,
        "p.lam",
        "def f (x : real) = {a = [x, 2 * x], b = x}\n\ndef bad (xs : []real) = xs[3]\n",
    );
    let json = folder.path().join("out.json");
    assert_eq!(
        succeeds(&["run", &program, "f", "x=2", "--output", json.to_str().expect("a name")]),
        ""
    );
    assert_eq!(std::fs::read_to_string(&json).expect("written"), "{\"a\":[2.0,4.0],\"b\":2.0}\n");
    let npz = folder.path().join("out.npz");
    succeeds(&["run", &program, "f", "x=2", "--output", npz.to_str().expect("a name")]);
    let mut inputs = Inputs::new();
    inputs.read_file(&npz).expect("an archive");
    let reader = file(&folder, "q.lam", "def f (a : [2]real) (b : real) = b * a\n");
    assert_eq!(
        succeeds(&["run", &reader, "f", "--data", npz.to_str().expect("a name")]),
        "[4.0, 8.0]\n"
    );
    let never = folder.path().join("never.json");
    let err =
        fails(&["run", &program, "bad", "xs=[1, 2]", "--output", never.to_str().expect("a name")]);
    assert!(err.contains("index 3 is out of range for size 2") && err.contains("p.lam:3"), "{err}");
    assert!(!never.exists());
}

#[test]
fn derived_source_parses_checks_and_runs_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (example, entry, args) in [
        (
            "type shape = Circle real | Rect real (real, int)\n\ndef f (s : shape) (p : [](real, real)) = (match s | Circle r -> r * r | Rect w h -> w * h.0) * sum (for q in p => q.0 * q.1)\n",
            "f",
            vec!["s={\"Rect\": [2, [3, 1]]}", "p=[[1, 2], [3, 4]]"],
        ),
        (
            "def f (x : real) (ys : []real) = loop s = x for y in ys do sin (s * y)\n",
            "f",
            vec!["x=0.3", "ys=[1, 2, 3]"],
        ),
        (
            "def f (w : {a : [2]real, b : real}) = norm w.a * exp w.b\n",
            "f",
            vec!["w={\"a\": [3, 4], \"b\": 0.5}"],
        ),
    ] {
        let program = file(&folder, "p.lam", example);
        let derived =
            file(&folder, "d.lam", &succeeds(&["derive", &program, entry, "--mode", "reverse"]));
        let name = format!("{entry}_reverse");
        let mut direct = vec!["vjp", &program, entry];
        direct.extend(&args);
        let mut again = vec!["run", &derived, &name, "cotangent=1"];
        again.extend(&args);
        let numbers = |text: &str| -> Vec<f64> {
            text.split(|c: char| !(c.is_ascii_digit() || ".-e".contains(c)))
                .filter_map(|t| t.parse().ok())
                .collect()
        };
        let (a, b) = (numbers(&succeeds(&direct)), numbers(&succeeds(&again)));
        assert!(
            a.len() == b.len()
                && a.iter().zip(&b).all(|(x, y)| (x - y).abs() <= 1e-9 * x.abs().max(1.0)),
            "{a:?} against {b:?}"
        );
        let forward =
            file(&folder, "e.lam", &succeeds(&["derive", &program, entry, "--mode", "forward"]));
        succeeds(&["check", &forward]);
    }
}

#[test]
fn without_a_c_compiler_programs_run_and_it_says_so_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = file(&folder, "p.lam", "def f (x : real) = x * x\n");
    for (variable, value) in [("LAMBADA_CC", "/nonexistent/cc"), ("PATH", "/nonexistent")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lambada"));
        let command = command
            .args(["grad", &program, "f", "x=3", "--effort", "full"])
            .env_remove("CC")
            .env_remove("LAMBADA_CC")
            .env(variable, value);
        let output = command.output().expect("the command starts");
        assert!(output.status.success());
        assert_eq!(text(&output.stdout), "value = 9.0\ngradient = 6.0\n");
        assert_eq!(
            text(&output.stderr).matches("no C compiler found").count(),
            1,
            "{}",
            text(&output.stderr)
        );
    }
}

/// Whether Lambada generates machine code for this processor.
#[cfg(target_arch = "x86_64")]
fn has_own_machine_code() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_own_machine_code() -> bool {
    false
}

/// A run on small data uses the C compiler only if it takes long, and then starts over.
#[test]
fn a_long_run_goes_on_with_the_c_compiler() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "def f (n : int) (x : real) : real = loop s = x for i < n * n do 0.5 * s + 1.0\n";
    let program = file(&folder, "p.lam", source);
    for (n, expected, asks) in
        [("n=100", "2.0\n", !has_own_machine_code()), ("n=20000", "2.0\n", true)]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lambada"));
        let command = command.args(["run", &program, "f", n, "x=0.5"]);
        let output = command
            .env_remove("CC")
            .env("LAMBADA_CC", "/nonexistent/cc")
            .output()
            .expect("the command starts");
        assert_eq!(text(&output.stdout), expected);
        let told = text(&output.stderr);
        assert_eq!(told.contains("no C compiler found"), asks, "{told}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambada"));
    let command = command
        .args(["show", "examples/gmm.lam", "objective", "--stage", "c", "--of", "grad"])
        .current_dir(root());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{:?}: {}",
        output.status,
        text(&output.stderr)
    );
}

#[test]
fn odd_files_are_told_apart_from_programs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(succeeds(&["check", &file(&folder, "empty.lam", "")]), "");
    assert!(fails(&["run", &file(&folder, "empty.lam", "")]).contains("defines nothing"));
    let windows =
        file(&folder, "windows.lam", "\u{feff}-- a comment\r\ndef f (x : real) =\r\n  x * x\r\n");
    assert_eq!(succeeds(&["run", &windows, "f", "x=3"]), "9.0\n");
    let here = folder.path().display().to_string();
    assert!(fails(&["check", &here]).contains("cannot read"));
    let program = file(&folder, "p.lam", "def f (x : real) = x * x\n");
    assert!(fails(&["run", &program, "f", "--data", &here]).contains("cannot tell the format"));
    assert!(
        fails(&["run", &program, "f", "--data", &file(&folder, "empty.json", "")])
            .contains("not valid JSON")
    );
    assert!(
        fails(&["run", &program, "f", "--data", &file(&folder, "empty.npz", "")])
            .contains("empty.npz")
    );
    let marked = file(&folder, "marked.json", "\u{feff}{\"x\": 3}\r\n");
    assert_eq!(succeeds(&["run", &program, "f", "--data", &marked]), "9.0\n");
    assert!(
        fails(&["run", &program, "f", "x=1", "--output", "/nonexistent/out.json"])
            .contains("cannot write")
    );
    assert!(fails(&["run", &program, "f", "x=1", "--output", &here]).contains(&here));
    assert!(fails(&["run", &program, "f", "x=1", "--output", "out.txt"]).contains("out.txt"));
    std::fs::write(folder.path().join("bytes.lam"), [0xff, 0xfe, b'd'])
        .expect("a temporary file can be written");
    assert!(
        fails(&["check", &folder.path().join("bytes.lam").display().to_string()]).contains("UTF-8")
    );
}

#[test]
fn numpy_files_are_read_and_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = file(
        &folder,
        "p.lam",
        "def f [n] (xs : [n]real) (k : int) (m : [2][3]int) = (real k * xs, m[1], k)\n",
    );
    let path = folder.path().join("in.npz");
    let mut archive =
        ndarray_npy::NpzWriter::new(std::fs::File::create(&path).expect("a temporary file"));
    archive.add_array("xs", &ndarray::arr1(&[0.5f32, 1.5])).expect("written");
    archive.add_array("k", &ndarray::arr0(2i64)).expect("written");
    // Column-major order.
    archive
        .add_array("m", &ndarray::arr2(&[[1i32, 4], [2, 5], [3, 6]]).reversed_axes())
        .expect("written");
    archive.finish().expect("written");
    let input = path.display().to_string();
    assert_eq!(succeeds(&["run", &program, "f", "--data", &input]), "([1.0, 3.0], [4, 5, 6], 2)\n");
    let out = folder.path().join("out.npz").display().to_string();
    succeeds(&["run", &program, "f", "--data", &input, "--output", &out]);
    let mut archive = ndarray_npy::NpzReader::new(std::fs::File::open(&out).expect("written"))
        .expect("an archive");
    let xs: ndarray::Array1<f64> = archive.by_name("0").expect("the first component");
    assert_eq!(xs, ndarray::arr1(&[1.0, 3.0]));
    let row: ndarray::Array1<i64> = archive.by_name("1").expect("the second component");
    assert_eq!(row, ndarray::arr1(&[4, 5, 6]));
    let single = folder.path().join("xs.npy");
    ndarray_npy::write_npy(&single, &ndarray::arr1(&[1.0, 2.0])).expect("written");
    let sum = file(&folder, "sum.lam", "def main (xs : []real) = sum xs\n");
    assert_eq!(succeeds(&["run", &sum, "--data", &single.display().to_string()]), "3.0\n");
    let err = fails(&[
        "run",
        &file(&folder, "row.lam", "def main (xs : [3]real) = sum xs\n"),
        "--data",
        &single.display().to_string(),
    ]);
    assert!(err.contains("`xs`") && err.contains("[3]real"), "{err}");
}

#[test]
fn an_array_without_rows_tells_its_width() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = file(
        &folder,
        "width.lam",
        "def width [n] [d] (x : [n][d]real) = (d, for j < d => 1.0 + sum (for i < n => x[i, j]))\n",
    );
    let path = folder.path().join("x.npz");
    let mut archive =
        ndarray_npy::NpzWriter::new(std::fs::File::create(&path).expect("a temporary file"));
    archive.add_array("x", &ndarray::Array2::<f64>::zeros((0, 3))).expect("written");
    archive.finish().expect("written");
    for engine in ["core", "anf", "loops", "native"] {
        let input = path.display().to_string();
        let found = succeeds(&["run", &program, "width", "--data", &input, "--engine", engine]);
        assert_eq!(found, "(3, [1.0, 1.0, 1.0])\n", "{engine}");
    }
    // An empty list determines no inner size.
    assert_eq!(succeeds(&["run", &program, "width", "x=[]"]), "(0, [])\n");
}

#[test]
fn reals_of_32_bits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text =
        "def f [n] (xs : [n]real) = xs / 3.0\ndef main = 0.1 + 0.2\ndef big (x : real) = x * x\n";
    let program = file(&folder, "p.lam", text);
    let single =
        |args: &[&str]| succeeds(&[&["run", &program, "--precision", "f32"], args].concat());
    assert_eq!(single(&["main"]), "0.3\n");
    assert_eq!(succeeds(&["run", &program, "main"]), "0.30000000000000004\n");
    for engine in ["native", "loops", "anf", "core"] {
        assert_eq!(single(&["f", "xs=[1, 2]", "--engine", engine]), "[0.33333334, 0.6666667]\n");
        assert_eq!(single(&["big", "x=1e30", "--engine", engine]), "inf\n");
    }
    let eval = |args: &[&str]| succeeds(&[&["eval", "epsilon"], args].concat());
    assert_eq!(eval(&["--precision", "f32"]), "1.1920929e-7\n");
    assert_eq!(eval(&[]), "2.220446049250313e-16\n");
    assert_eq!(single(&["f", "xs=[1, 2]", "--digits", "3"]), "[0.333, 0.667]\n");
    let out = folder.path().join("out.npz").display().to_string();
    single(&["f", "xs=[1, 2]", "--output", &out]);
    let mut archive = ndarray_npy::NpzReader::new(std::fs::File::open(&out).expect("written"))
        .expect("an archive");
    let xs: ndarray::Array1<f32> = archive.by_name("result").expect("an array of float32");
    assert_eq!(xs, ndarray::arr1(&[1.0f32 / 3.0, 2.0f32 / 3.0]));
    let out = folder.path().join("out.json").display().to_string();
    single(&["f", "xs=[1, 2]", "--output", &out]);
    let text = std::fs::read_to_string(&out).expect("written");
    assert_eq!(text, "[0.33333334,0.6666667]\n");
    assert!(succeeds(&["grad", &program, "big", "x=3", "--precision", "f32"]).contains("6.0"));
    let shown = succeeds(&["show", &program, "big", "--stage", "c", "--precision", "f32"]);
    assert!(shown.contains("float x") && !shown.contains("double"), "{shown}");
    assert!(succeeds(&["verify", &program, "--precision", "f32"]).contains("big"));
    let old = misused(&["run", &program, "--precision", "3"]);
    assert!(old.contains("--digits 3"), "{old}");
    let large = fails(&["run", &program, "f", "xs=[1, -1e39]", "--precision", "f32"]);
    assert!(large.contains("has -1e39 at `xs[1]`, and no real of 32 bits is as large"), "{large}");
    assert_eq!(single(&["big", "x=\"inf\""]), "inf\n");
    assert!(
        fails(&["run", &program, "big", "x=3.5e38", "--precision", "f32"]).contains("3.5e38, ")
    );
}

/// In types and files, record fields have the order of their type, or else of the first expression
/// with these fields; printed results have alphabetical order.
#[test]
fn records_have_the_order_of_their_declaration() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "type point = {x : real, name : int, a : [2]real}
def f (p : point) : {zed : real, at : point} = {zed = p.x, at = p}
def g (n : int) = for i < n => {k = i, half = 0.5 * real i}
def h (p : {half : real, k : int}) = p.half
";
    let program = file(&folder, "p.lam", source);
    let scheme = "f : {x : real, name : int, a : [2]real} -> {zed : real, at : {x : real, name : int, a : [2]real}}\n";
    assert!(succeeds(&["check", &program]).starts_with(scheme));
    let p = "p={\"a\": [1, 2], \"name\": 2, \"x\": 1}";
    let printed = "{at = {a = [1.0, 2.0], name = 2, x = 1.0}, zed = 1.0}\n";
    assert_eq!(succeeds(&["run", &program, "f", p]), printed);
    let out = folder.path().join("out.json").display().to_string();
    succeeds(&["run", &program, "f", p, "-o", &out]);
    let written = "{\"zed\":1.0,\"at\":{\"x\":1.0,\"name\":2,\"a\":[1.0,2.0]}}\n";
    assert_eq!(std::fs::read_to_string(&out).expect("written"), written);
    let wrong = fails(&["run", &program, "h", "p={\"k\": 1}"]);
    assert!(wrong.contains("should be `{half : real, k : int}`"), "{wrong}");
    let out = folder.path().join("out.csv").display().to_string();
    succeeds(&["run", &program, "g", "n=2", "-o", &out]);
    assert_eq!(std::fs::read_to_string(&out).expect("written"), "half,k\n0.0,0\n0.5,1\n");
}

#[test]
fn every_stage_can_be_shown() {
    for stage in ["surface", "core", "anf", "loops", "c"] {
        for of in ["value", "grad"] {
            assert!(
                !succeeds(&["show", "examples/logsumexp.lam", "lse", "--stage", stage, "--of", of])
                    .is_empty()
            );
        }
    }
    assert!(
        fails(&[
            "show",
            "examples/logsumexp.lam",
            "lse",
            "--stage",
            "anf",
            "--after",
            "loop-fuzion"
        ])
        .contains("loop-fusion")
    );
}

#[test]
fn every_example_checks() {
    for entry in std::fs::read_dir(root().join("examples")).expect("examples").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "lam") {
            let mut session = Session::new();
            session
                .load(&path)
                .map(drop)
                .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
        }
    }
}

#[test]
fn logistic_regression_learns() {
    let out =
        succeeds(&["run", "examples/logistic.lam", "--data", "examples/data/breast_cancer.json"]);
    let accuracy = out
        .split("accuracy = ")
        .nth(1)
        .and_then(|rest| rest.split([',', '}', '\n']).next())
        .and_then(|n| n.trim().parse::<f64>().ok());
    assert!(accuracy.is_some_and(|a| a > 0.97), "{out}");
}

/// `lambada lsp` speaks the protocol on standard input and output; its tests are in `crates/lsp`.
#[test]
fn language_server() {
    let frame = |json: &str| format!("Content-Length: {}\r\n\r\n{json}", json.len());
    let initialize =
        frame(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#);
    let end = [
        frame(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#),
        frame(r#"{"jsonrpc":"2.0","method":"exit"}"#),
    ];
    let serve = |input: String| {
        let mut server = Command::new(env!("CARGO_BIN_EXE_lambada"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = server.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut stdin, input.as_bytes()).expect("the server reads");
        drop(stdin);
        server.wait_with_output().expect("the server ends")
    };
    let output = serve(initialize.clone() + &end.concat());
    let out = text(&output.stdout);
    assert!(output.status.success() && out.contains("hoverProvider"), "{out}");
    assert_eq!(out.matches("Content-Length: ").count(), 2, "{out}");
    let output = serve(initialize);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "error: the editor ended without `shutdown`\n");
}

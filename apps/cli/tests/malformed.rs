//! Malformed inputs of the command: each causes a clear error with the right exit code, no partial
//! files and no panic.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use lambada_testkit::interruptible;

/// Programs with one mistake each.
const SOURCES: [&str; 84] = [
    "def",
    "def f",
    "def f =",
    "def f x",
    "def f x = (",
    "def f x = x)",
    "def f x = [1, 2",
    "def f x = {a = 1",
    "def f x = x +",
    "def f x = * x",
    "def f x = x x x 1 +",
    "def 3 = x",
    "def f[0] = 1",
    "f x = x",
    "let x = 1",
    "def f x = let y = x",
    "def f x = let y = in y",
    "def f x = if x > 0 then 1",
    "def f x = if x then 1 else 2.0 +",
    "def f x = if x > 0 1 else 2",
    "def f x = match x",
    "def f x = match x | -> 1",
    "def f x = match x with | 0 -> 1",
    "def f x = for i => i",
    "def f x = for i < => i",
    "def f x = for i < 3 i",
    "def f x = loop for i < 3 do 1",
    "def f x = loop a = 1 do a",
    "def f x = accumulate h in 1",
    "def f x = \\ -> x",
    "def f x = \\x x",
    "def f x = xs[",
    "def f x = x[]",
    "def f x = x with [0]",
    "def f x = x with 0 = 1",
    "def f x = {x with}",
    "def f x = x.",
    "def f x = 1 == 2 == 3",
    "def f x = x = 1",
    "def f x = x && and",
    "def f x = x; ",
    "def f x = \"text",
    "def f x = \"text\"",
    "def f x = 'c'",
    "def f x = 12abc",
    "def f x = 1.2.3",
    "def f x = 99999999999999999999",
    "def f x = 1e999",
    "def f x = x # y",
    "def f x = x // y",
    "def f x = x ~ y",
    "def f x = $x",
    "def f (x : ) = x",
    "def f (x : [n) = x",
    "def f (x : real = x",
    "def f (x : rael) = x",
    "def f (x : [k]real) : [j]real = x",
    "def f [n = 1",
    "type",
    "type t",
    "type t =",
    "type T = A",
    "type t = A | ",
    "type t = a | b",
    "type t = A of real",
    "import",
    "import x",
    "import \"nowhere\"",
    "import \"std/nothing\"",
    "import \"../\"",
    "def f x = y",
    "def f x = true + 1",
    "def f x = not 3",
    "def f (x : real) : bool = x",
    "def f (x : real) = x x",
    "def f (x : real) = x[0]",
    "def f (x : []real) = x + true",
    "def f (x : {a : real}) = x.b",
    "def f (x : (real, real)) = x.5",
    "def f x = f x",
    "def f x = x\ndef f y = y",
    "type t = A | A",
    "def f x x = x",
    "def f (x : [2]real) (y : [3]real) = x + y",
];

/// Malformed contents of a `.json` file for
/// `def f (x : real) (xs : []real) (r : {a : real, b : int}) = …`.
const JSON: [&str; 40] = [
    "",
    " ",
    "{",
    "}",
    "[",
    "nothing",
    "1",
    "[1, 2]",
    "\"x\"",
    "null",
    "{\"x\"}",
    "{\"x\": }",
    "{\"x\": 1,}",
    "{\"x\": 1 \"xs\": []}",
    "{x: 1}",
    "{'x': 1}",
    "{\"x\": 01}",
    "{\"x\": .5}",
    "{\"x\": 1e}",
    "{\"x\": 0x10}",
    "{\"x\": tru}",
    "{\"x\": \"a\nb\"}",
    "{\"x\": \"\\q\"}",
    "{\"x\": 1} {\"x\": 2}",
    "{\"x\": 1, \"x\": 2}",
    "{\"x\": null, \"xs\": [], \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": true, \"xs\": [], \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": [1], \"xs\": [], \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": \"one\", \"xs\": [], \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": 1, \"xs\": 2, \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": 1, \"xs\": [[1], [2]], \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": 1, \"xs\": [1, true], \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": 1, \"xs\": [1, [2]], \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": 1, \"xs\": [], \"r\": {\"a\": 1}}",
    "{\"x\": 1, \"xs\": [], \"r\": {\"a\": 1, \"b\": 1.5}}",
    "{\"x\": 1, \"xs\": [], \"r\": {\"a\": 1, \"b\": 1, \"c\": 1}}",
    "{\"x\": 1, \"xs\": [], \"r\": [1, 1]}",
    "{\"x\": 1, \"xs\": []}",
    "{\"y\": 1, \"xs\": [], \"r\": {\"a\": 1, \"b\": 1}}",
    "{\"x\": NaNN, \"xs\": []}",
];

/// Malformed contents of a `.csv` file for a definition of `x : []real` and `k : []int`.
const TABLES: [&str; 16] = [
    "",
    "\n\n",
    "x\n1\n2\n",
    "x,k\n1\n",
    "x,k\n1,2\n3,4,5\n",
    "x,k\n1,2\n3\n4,5\n",
    "x,x\n1,2\n",
    "x,k\n1,2.5\n",
    "x,k\none,2\n",
    "x,k\ntrue,1\n",
    "x,k\n1,NA\n",
    "k\n1\n",
    "x k\n1 2\n",
    "\"x,k\n1,2\n",
    "1,2\n3,4\n",
    "x,k\n1,99999999999999999999\n",
];

/// Invalid command lines: exit code 2.
const USAGE: [&[&str]; 39] = [
    &[],
    &["nothing"],
    &["chekc", "good.lam"],
    &["check"],
    &["check", "good.lam", "more"],
    &["run"],
    &["run", "good.lam", "--engine", "warp"],
    &["run", "good.lam", "--engine"],
    &["run", "good.lam", "--data"],
    &["run", "good.lam", "--output"],
    &["run", "good.lam", "--digits", "0"],
    &["run", "good.lam", "--digits", "many"],
    &["run", "good.lam", "--precision", "many"],
    &["run", "good.lam", "--precision", "3"],
    &["run", "good.lam", "--digits", "99"],
    &["run", "good.lam", "--unknown"],
    &["grad"],
    &["grad", "good.lam"],
    &["jvp", "good.lam", "f", "--tangent"],
    &["vjp", "good.lam", "f", "--cotangent", "1", "--cotangent-data", "x.json"],
    &["derive", "good.lam"],
    &["run", "good.lam", "f", "x=1", "--threads", "0"],
    &["run", "good.lam", "f", "x=1", "--threads", "all"],
    &["run", "good.lam", "f", "x=1", "--max-memory", "much"],
    &["grad", "good.lam", "f", "x=1", "--wrt", ""],
    &["grad", "good.lam", "f", "x=1", "--wrt", "x,"],
    &["build", "good.lam"],
    &["build", "good.lam", "f", "--grad", ",x"],
    &["derive", "good.lam", "f", "--mode", "sideways"],
    &["derive", "good.lam", "f", "--stage", "last"],
    &["show", "good.lam", "f"],
    &["show", "good.lam", "f", "--stage", "z"],
    &["explain"],
    &["eval"],
    &["fmt"],
    &["new"],
    &["completions"],
    &["completions", "tcl"],
    &["repl", "good.lam", "more"],
];

/// Commands with unsuitable arguments: exit code 1.
const COMMANDS: [&[&str]; 50] = [
    &["check", "/dev/zero"],
    &["check", "nowhere.lam"],
    &["check", "."],
    &["check", "binary.lam"],
    &["check", "good.lma"],
    &["run", "good.lam"],
    &["run", "good.lam", "nothing"],
    &["run", "good.lam", "f"],
    &["run", "good.lam", "f", "x"],
    &["run", "good.lam", "f", "x=", "1"],
    &["run", "good.lam", "f", "x", "=", "1"],
    &["run", "good.lam", "f", "x=one"],
    &["run", "good.lam", "f", "x=[1"],
    &["run", "good.lam", "f", "x={}"],
    &["run", "good.lam", "f", "y=1"],
    &["run", "good.lam", "f", "1", "2"],
    &["run", "good.lam", "f", "1", "x=2"],
    &["run", "good.lam", "f", "x=1", "--data", "nowhere.json"],
    &["run", "good.lam", "f", "--data", "nowhere.csv"],
    &["run", "good.lam", "f", "--data", "nowhere.npz"],
    &["run", "good.lam", "f", "--data", "nowhere.npy"],
    &["run", "good.lam", "f", "--data", "good.lam"],
    &["run", "good.lam", "f", "--data", "."],
    &["run", "good.lam", "f", "--data", "empty.npz"],
    &["run", "good.lam", "f", "--data", "empty.npy"],
    &["run", "good.lam", "f", "--data", "text.npz"],
    &["run", "good.lam", "f", "--data", "text.npy"],
    &["run", "good.lam", "f", "--data", "short.npy"],
    &["run", "good.lam", "f", "--data", "binary.json"],
    &["run", "good.lam", "f", "--data", "binary.csv"],
    &["run", "good.lam", "f", "x=1", "-o", "out.txt"],
    &["run", "good.lam", "f", "x=1", "-o", "out"],
    &["run", "good.lam", "f", "x=1", "-o", "nowhere/out.json"],
    &["run", "good.lam", "ends", "xs=[1, 2]", "-o", "out.csv"],
    &["run", "good.lam", "some", "1", "-o", "out.npz"],
    &["run", "good.lam", "f", "x=1", "-o", "/dev/full.json/out.json"],
    &["run", "good.lam", "fails", "3"],
    &["run", "good.lam", "twice"],
    &["grad", "good.lam", "ends", "xs=[1]"],
    &["grad", "good.lam", "f", "x=1", "--wrt", "y"],
    &["grad", "good.lam", "count", "n=1", "--wrt", "n"],
    &["jvp", "good.lam", "f", "x=1"],
    &["jvp", "good.lam", "f", "x=1", "--tangent", "x=[1]"],
    &["vjp", "good.lam", "ends", "xs=[1]"],
    &["vjp", "good.lam", "f", "x=1", "--cotangent", "[1]"],
    &["explain", "E9999"],
    &["doc", "nothing_like_it"],
    &["new", "there"],
    &["fmt", "nowhere.lam"],
    &["eval", "1 + true"],
];

fn lambada(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambada"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn files(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A folder with programs, and with files whose contents contradict their names.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let good = "type maybe = None | Some real\n\
        def f (x : real) = 2 * x\n\
        def ends (xs : []real) = (xs[0], xs)\n\
        def some (x : real) = Some x\n\
        def count (n : int) = real n\n\
        def fails (n : int) = [1.0, 2.0][n]\n\
        def twice (g : real -> real) = g (g 1)\n\
        def data (x : real) (xs : []real) (r : {a : real, b : int}) = x + sum xs + r.a\n\
        def table (x : []real) (k : []int) = sum x + real (sum k)\n";
    let binary: &[u8] = &[0xff, 0xfe, 0x00, 0x80, b'd', b'e', b'f'];
    let short = b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }  \n";
    let contents: [(&str, &[u8]); 9] = [
        ("good.lam", good.as_bytes()),
        ("binary.lam", binary),
        ("binary.json", binary),
        ("binary.csv", binary),
        ("empty.npz", b""),
        ("empty.npy", b""),
        ("text.npz", b"no archive"),
        ("text.npy", b"no array"),
        ("short.npy", short),
    ];
    for (name, content) in contents {
        std::fs::write(folder.path().join(name), content).expect("a file can be written");
    }
    std::fs::create_dir(folder.path().join("there")).expect("a folder can be made");
    folder
}

/// The defect of a response to a malformed input, if it has one.
fn complaint(output: &Output, code: i32) -> Option<String> {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let clear = err.starts_with("error") && err.lines().any(|line| line.trim().len() > 12);
    let bug = ["panicked", "internal error", "RUST_BACKTRACE", "unwrap"];
    let wrong = if output.status.code() != Some(code) {
        format!("{:?} instead of exit code {code}", output.status)
    } else if !clear {
        "no clear error".to_string()
    } else if bug.iter().any(|word| err.contains(word)) {
        "a mistake of the compiler".to_string()
    } else if !out.is_empty() {
        "something on standard output".to_string()
    } else {
        return None;
    };
    Some(format!("{wrong}: {out}{err}"))
}

/// Runs all cases in parallel, and reports those that fail.
fn check<T: Sync>(cases: &[T], run: impl Fn(usize, &T) -> Option<String> + Sync) {
    let wrong = Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(case) = cases.get(k) else { return };
                    if let Some(told) = run(k, case) {
                        wrong.lock().expect("no thread has failed").push(told);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no thread has failed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn programs() {
    let folder = folder();
    check(&SOURCES, |k, source| {
        let name = format!("bad{k}.lam");
        std::fs::write(folder.path().join(&name), source).expect("a file can be written");
        let output = lambada(folder.path()).args(["check", &name]).output().expect("it starts");
        let err = text(&output.stderr);
        let placed = err.contains(&format!("{name}:")) && err.contains("error[E");
        complaint(&output, 1)
            .or_else(|| (!placed).then(|| format!("no place: {err}")))
            .map(|told| format!("{source}\n{told}"))
    });
}

#[test]
fn data() {
    let folder = folder();
    let cases: Vec<(&str, &str, &str)> = JSON
        .iter()
        .map(|json| ("data", "json", *json))
        .chain(TABLES.iter().map(|table| ("table", "csv", *table)))
        .collect();
    check(&cases, |k, (entry, extension, content)| {
        let name = format!("data{k}.{extension}");
        std::fs::write(folder.path().join(&name), content).expect("a file can be written");
        let args = ["run", "good.lam", entry, "--data", &name, "-o", "out.json"];
        let output = lambada(folder.path()).args(args).output().expect("it starts");
        complaint(&output, 1).map(|told| format!("{content}\n{told}"))
    });
    assert!(!files(folder.path()).contains("out.json"));
}

#[test]
fn command_lines() {
    let folder = folder();
    let before = files(folder.path());
    let cases: Vec<(&[&str], i32)> =
        USAGE.iter().map(|args| (*args, 2)).chain(COMMANDS.iter().map(|args| (*args, 1))).collect();
    check(&cases, |_, (args, code)| {
        let output = lambada(folder.path()).args(*args).output().expect("it starts");
        let told = match args.is_empty() {
            true => (output.status.code() != Some(2)).then(|| "no arguments".to_string()),
            false => complaint(&output, *code),
        };
        told.map(|told| format!("{args:?}\n{told}"))
    });
    assert_eq!(files(folder.path()), before, "something is left behind");
}

#[test]
fn full_disks() {
    let folder = folder();
    let before = files(folder.path());
    let commands: [&[&str]; 14] = [
        &["check", "good.lam"],
        &["run", "good.lam", "f", "1"],
        &["run", "good.lam", "f", "1", "--engine", "core"],
        &["grad", "good.lam", "f", "1"],
        &["derive", "good.lam", "f"],
        &["show", "good.lam", "f", "--stage", "c"],
        &["eval", "1 + 1"],
        &["doc"],
        &["explain", "E0301"],
        &["man"],
        &["completions", "zsh"],
        &["show", "good.lam", "f", "--stage", "surface"],
        &["--help"],
        &["verify", "good.lam", "f"],
    ];
    check(&commands, |_, args| {
        let full = File::options().write(true).open("/dev/full").expect("a full device");
        let output = lambada(folder.path()).args(*args).stdout(full).output().expect("it starts");
        let told = complaint(&output, 1);
        let why = text(&output.stderr).contains("No space left");
        told.or_else(|| (!why).then(|| text(&output.stderr)))
            .map(|told| format!("{args:?}\n{told}"))
    });
    assert_eq!(files(folder.path()), before, "something is left behind");
}

#[test]
fn closed_pipes_are_quiet() {
    let folder = folder();
    let long = "def main = for i < 300000 => real i\n";
    std::fs::write(folder.path().join("long.lam"), long).expect("a file can be written");
    let commands = [
        "lambada run long.lam --engine anf | head -1",
        "lambada doc | head -1",
        "lambada show long.lam --stage c | head -1",
        "lambada completions bash | head -1",
        "lambada man | head -1",
        "printf 'for i < 300000 => real i\\n' | lambada repl | head -1",
        "lambada --help | head -1",
    ];
    let binaries = Path::new(env!("CARGO_BIN_EXE_lambada")).parent().expect("a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    check(&commands, |_, command| {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(folder.path()).env("PATH", &path);
        let output = shell.output().expect("a shell");
        let quiet = output.stderr.is_empty() && !output.stdout.is_empty();
        (!quiet).then(|| format!("{command}\n{}", text(&output.stderr)))
    });
}

/// The system gives less memory than `--max-memory` allows, for a list and for the residuals of a
/// reverse `while`. Machine code frees its memory before the message is built.
#[cfg(target_os = "linux")]
#[test]
fn what_the_system_has_no_memory_for() {
    let folder = folder();
    let program = "type list = Nil | Cons real list\n\
        def rec build (n : int) (l : list) : list = if n == 0 then l else build (n - 1) (Cons 1.0 l)\n\
        def first (n : int) = match build n Nil | Nil -> 0.0 | Cons x _ -> x\n\
        def tape (x : real) (n : int) = let (y, _) = loop (y, k) = (x, 0) while k < n do (sin y, k + 1) in y\n\
        def long (n : int) = for i < n => real i\n";
    std::fs::write(folder.path().join("large.lam"), program).expect("a file can be written");
    let calls = [
        ("run", "first 1000000000", "this value needs"),
        ("grad", "tape 0.5 1000000000", "this value needs"),
        ("run", "long 1000000000", "array of 1000000000 elements needs 8 GB"),
    ];
    check(&calls, |_, (operator, call, message)| {
        let lambada = env!("CARGO_BIN_EXE_lambada");
        let line = format!("{lambada} {operator} --engine native large.lam {call}");
        let output = Command::new("sh")
            .current_dir(folder.path())
            .args(["-c", &format!("ulimit -v 1200000 && exec {line}")])
            .output()
            .expect("it runs");
        let told = text(&output.stderr);
        let place = told.contains("--> large.lam:");
        let fine = output.status.code() == Some(1) && place && told.contains(message);
        (!fine).then(|| format!("{line}\n{told}"))
    });
}

#[test]
fn what_is_read_from_a_pipe() {
    let folder = folder();
    let inputs: [(&[&str], &[u8]); 8] = [
        (&["run", "-"], b"def main = "),
        (&["run", "-"], b"\xff\xfe"),
        (&["run", "good.lam", "f", "--data", "-"], b"{\"x\": "),
        (&["run", "good.lam", "f", "--data", "-"], b""),
        (&["run", "good.lam", "f", "--data", "-"], b"\xff\xfe"),
        (&["fmt", "-"], b"def f = ("),
        (&["repl"], b"1 +\n\n:nothing\nx\n"),
        (&["repl"], b"\xff\xfe\n"),
    ];
    check(&inputs, |_, (args, input)| {
        let mut command = lambada(folder.path());
        command.args(*args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(input).expect("it reads");
        drop(pipe);
        let output = child.wait_with_output().expect("it ends");
        complaint(&output, 1).map(|told| format!("{args:?} {}\n{told}", text(input)))
    });
}

/// Ctrl-C and signals that end a process or close its terminal: the command ends within a second
/// with the shell's exit code, and without leftovers, whatever it was doing.
#[test]
fn interrupted_commands_leave_nothing() {
    let folder = folder();
    let cache = folder.path().join("cache");
    let endless = "def main (x : real) = loop a = x while a > 0.0 do a + 1.0\n";
    std::fs::write(folder.path().join("endless.lam"), endless).expect("a file can be written");
    let lines = (0..4000).map(|k| format!("  let x{} = sin (x{k} * x{k} + {k}.5)\n", k + 1));
    let large = format!("def large (x0 : real) =\n{}  in x4000\n", lines.collect::<String>());
    std::fs::write(folder.path().join("large.lam"), large).expect("a file can be written");
    std::fs::create_dir(&cache).expect("a folder can be made");
    let before = files(folder.path());
    let run = ["run", "endless.lam", "x=1", "-o", "out.json"];
    let build = ["build", "large.lam", "large", "--grad", "x0", "-o", "out"];
    let bench = ["bench", "large.lam", "large", "x0=1"];
    let commands: [(&[&str], &str); 8] = [
        (&run, "-INT"),
        (&["run", "endless.lam", "x=1", "-o", "out.json", "--engine", "loops"], "-INT"),
        (&["run", "endless.lam", "x=1", "--engine", "core"], "-INT"),
        (&build, "-INT"),
        (&run, "-HUP"),
        (&build, "-TERM"),
        (&bench, "-TERM"),
        (&build, "-KILL"),
    ];
    for (number, (args, signal)) in commands.into_iter().enumerate() {
        let mark = format!("LAMBADA_TEST_MARK={}-{number}", std::process::id());
        let mut command = interruptible(env!("CARGO_BIN_EXE_lambada"));
        command
            .args(args)
            .current_dir(folder.path())
            .env("LAMBADA_CACHE", &cache)
            .stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let (name, value) = mark.split_once('=').expect("it has both");
        let mut child = command.env(name, value).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(1500));
        assert!(child.try_wait().expect("its state").is_none(), "{args:?} has ended by itself");
        let pressed = Instant::now();
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.expect("`kill` starts").success());
        let output = child.wait_with_output().expect("it ends");
        assert!(pressed.elapsed() < Duration::from_secs(3), "{args:?}: {:?}", pressed.elapsed());
        none_is_left(&mark);
        if signal == "-KILL" {
            // SIGKILL permits no cleanup.
            continue;
        }
        assert_eq!(output.status.code(), Some(130), "{args:?}");
        assert_eq!((text(&output.stdout), text(&output.stderr)), (String::new(), String::new()));
        assert_eq!(files(folder.path()), before, "{args:?} has left something");
        let scratch = files(&cache).into_iter().filter(|name| name.starts_with("lambada-tmp-"));
        assert_eq!(scratch.count(), 0, "{args:?} has left something in the cache");
    }
}

/// Waits until no process has this mark in its environment: neither a C compiler nor a process
/// started by one. Effective on Linux only.
fn none_is_left(mark: &str) {
    let has_mark = |process: &std::fs::DirEntry| {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|each| each == mark.as_bytes())
    };
    let left = || -> Vec<String> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let left = processes.filter(has_mark);
        left.map(|process| std::fs::read_to_string(process.path().join("cmdline")))
            .filter_map(Result::ok)
            .collect()
    };
    let start = Instant::now();
    while !left().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(5), "{mark}: {:?}", left());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Infinite recursion ends with a message, before it exceeds the memory limit by much, on every
/// engine.
#[test]
fn recursion_stays_within_the_limit() {
    let folder = folder();
    let program = "def rec down (n : int) : int = 1 + down (n - 1)\n\
        def rec many (a : real) (b : real) (c : real) (d : real) : real =\n  \
        a + b * many (a + 1.0) (sin b) (cos c) (d * a) + c * d\n\
        type list = Nil | Cons real list\n\
        def rec up (n : real) : list = Cons n (up (n + 1.0))\n\
        def lists (x : real) : real = match up x | Nil -> 0.0 | Cons y r -> y\n";
    std::fs::write(folder.path().join("endless.lam"), program).expect("a file can be written");
    let calls: [&[&str]; 3] = [&["down", "0"], &["many", "1", "2", "3", "4"], &["lists", "1"]];
    for call in calls {
        for engine in ["native", "jit", "loops", "anf", "core"] {
            let mut command = lambada(folder.path());
            command.args(["run", "endless.lam"]).args(call);
            command.args(["--engine", engine, "--max-memory", "200MB"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().expect("it starts");
            let status = format!("/proc/{}/status", child.id());
            let mut most = 0;
            while child.try_wait().expect("its state").is_none() {
                // Only Linux has this file.
                let told = std::fs::read_to_string(&status).unwrap_or_default();
                let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let bytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
                most = most.max(bytes.unwrap_or(0) * 1024);
                std::thread::sleep(Duration::from_millis(5));
            }
            let output = child.wait_with_output().expect("it has ended");
            let told = text(&output.stderr);
            assert!(told.contains("the recursion is too deep"), "{call:?} {engine}: {told}");
            assert!(most < 320_000_000_u64, "{call:?} {engine}: {most} bytes");
        }
    }
}

#[test]
fn a_run_that_is_ended_leaves_nothing() {
    let folder = folder();
    let endless = "def main (x : real) = loop a = x while a > 0.0 do a + 1.0\n";
    std::fs::write(folder.path().join("endless.lam"), endless).expect("a file can be written");
    let before = files(folder.path());
    let args = ["run", "endless.lam", "x=1", "-o", "out.json", "--engine", "loops"];
    let mut command = lambada(folder.path());
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().expect("its state").is_none(), "it has ended by itself");
    // Background test runs ignore interrupts, and their children inherit that.
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.expect("`kill` starts").success());
    let status = child.wait().expect("it ends");
    assert!(!status.success());
    assert_eq!(files(folder.path()), before, "something is left behind");
}

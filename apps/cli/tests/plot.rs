//! `lambada plot`, and `:plot` of the prompt: pictures in text and in files, and messages.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn lambada(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lambada"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

/// A folder with a program `p.lam`.
fn program(source: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("p.lam"), source).expect("it can be written");
    folder
}

/// Standard output of `lambada plot p.lam …`.
fn plot(source: &str, args: &[&str]) -> String {
    let folder = program(source);
    let output = lambada(folder.path(), &[&["plot", "p.lam"], args].concat());
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && err.is_empty(), "{args:?}: {err}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    out
}

/// The message of `lambada plot p.lam …`, which exits with 1 and writes nothing.
fn fails(source: &str, args: &[&str]) -> String {
    let folder = program(source);
    let output = lambada(folder.path(), &[&["plot", "p.lam"], args].concat());
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{args:?}: {out}{err}");
    assert!(out.is_empty(), "{args:?} prints {out}");
    let files = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(files, 1, "{args:?} leaves a file");
    err
}

/// A file that `lambada plot p.lam … --output p.svg` writes.
fn file(source: &str, args: &[&str]) -> String {
    let folder = program(source);
    let output = lambada(folder.path(), &[&["plot", "p.lam"], args, &["-o", "p.svg"]].concat());
    assert!(output.status.success() && output.stdout.is_empty(), "{}", text(&output.stderr));
    std::fs::read_to_string(folder.path().join("p.svg")).expect("it is written")
}

/// Number of braille characters.
fn braille(line: &str) -> usize {
    line.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count()
}

const PARABOLA: &str = "def f (x : real) = x * x\n";

#[test]
fn a_curve_has_axes_and_a_name() {
    let out = plot(PARABOLA, &["f", "x=-1..1"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0].trim(), "f");
    assert!(lines.iter().any(|line| line.starts_with("1.0 ┤")), "{out}");
    assert!(lines[lines.len() - 2].trim_start().starts_with("-1.0"), "{out}");
    assert_eq!(lines[lines.len() - 1].trim(), "x");
    // The parabola touches each side, and not the middle of the first line.
    assert!((1..10).contains(&braille(lines[1])), "{out}");
    assert_eq!(plot(PARABOLA, &["f", "--", "-1..1"]), out);
}

#[test]
fn ends_may_be_expressions() {
    let sine = "def f (x : real) (a : real) = a * sin x\n";
    assert_eq!(
        plot(sine, &["f", "x=-pi..2*pi", "a=2"]),
        plot(sine, &["f", "x=-3.141592653589793..6.283185307179586", "a=2"])
    );
    assert_eq!(plot(sine, &["f", "x=0..1", "a=2"]), plot(sine, &["f", "0..1", "2"]));
    assert_eq!(plot(sine, &["f", "a=0..1", "x=2"]), plot(sine, &["f", "2", "0..1"]));
}

#[test]
fn derivatives_have_a_panel() {
    let source =
        "def f (x : real) (a : real) = sin (a * x)\n\ndef g (x : real) = (x, [x ** 2, 1])\n";
    let out = plot(source, &["f", "x=0..3", "a=2", "--grad"]);
    assert!(out.lines().any(|line| line.trim() == "f"), "{out}");
    assert!(out.lines().any(|line| line.trim() == "d f/d x"), "{out}");
    assert_eq!(plot(source, &["f", "x=0..3", "a=2", "--grad", "--mode", "reverse"]), out);
    let by_both = plot(source, &["f", "x=0..3", "a=2", "--grad", "--wrt", "x,a"]);
    assert!(by_both.contains(" d f/d x") && by_both.contains(" d f/d a"), "{by_both}");
    let several = plot(source, &["g", "x=0..3", "--grad"]);
    for name in ["g.0", "g.1[0]", "g.1[1]", "d g.0/d x", "d g.1[0]/d x"] {
        assert!(several.lines().any(|line| line.ends_with(&format!(" {name}"))), "{several}");
    }
}

#[test]
fn arrays_are_drawn_over_their_index() {
    let source = "def f (n : int) = for i < n => {square = i * i, cube = i ** 3}\n\ndef g (a : real) = for i < 5 => a * i\n";
    let out = plot(source, &["f", "n=5"]);
    assert!(out.contains(" f.cube") && out.contains(" f.square") && out.contains("index"), "{out}");
    let slopes = plot(source, &["g", "a=2", "--grad"]);
    assert!(slopes.lines().any(|line| line.trim() == "d g/d a"), "{slopes}");
    // An integer parameter takes all integers of the range.
    let squares = plot("def f (n : int) = n * n\n", &["f", "n=0..3"]);
    let labels = squares.lines().rev().nth(1).expect("labels of the axis");
    assert_eq!(labels.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}

#[test]
fn gaps_and_poles() {
    let source =
        "def f (x : real) = 1 / x\n\ndef g (x : real) = sqrt x\n\ndef h (x : real) = floor x\n";
    let paths = |entry: &str, range: &str| file(source, &[entry, range]).matches("<path").count();
    assert_eq!(paths("f", "x=-1..1"), 2);
    assert_eq!(paths("g", "x=-1..1"), 1);
    assert_eq!(paths("h", "x=0..3.5"), 4);
    // The root begins at zero, in the middle: nothing is left of it.
    let root = plot(source, &["g", "x=-1..1"]);
    assert!(
        root.lines().all(|line| braille(&line.chars().take(40).collect::<String>()) <= 1),
        "{root}"
    );
}

#[test]
fn files_are_svg() {
    let picture = file(PARABOLA, &["f", "x=-1..1", "--grad"]);
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("d f/d x") && picture.contains("prefers-color-scheme:dark"));
    assert_eq!(picture.matches("<path").count(), 2);
}

#[test]
fn mistakes_are_told() {
    let source = "type shape = Square real | Disk real\n\ndef f (x : real) (ys : []real) = x * sum ys\n\ndef g (x : real) = Square x\n\ndef h (n : int) = n\n\ndef k (x : real) = x + nan\n\ndef fails (x : real) = [1.0, 2.0][int x]\n";
    let ys = "ys=[1, 2]";
    let check = |args: &[&str], code: &str, says: &str| {
        let err = fails(source, args);
        assert!(err.contains(code) && err.contains(says), "{args:?}: {err}");
    };
    check(&["f", "z=0..1", ys], "E0607", "the argument `z=0..1`");
    check(&["f", "x=0..1"], "E0606", "`ys : [n]real`");
    check(&["f", "ys=0..1", "x=1"], "E0668", "a range of `x` is drawn");
    check(&["f", "x=1..1", ys], "E0669", "`run` gives the value at a point");
    check(&["f", "x=2..1", ys], "E0669", "the smaller end comes first");
    check(&["f", "x=..1", ys], "E0673", "lacks an end");
    check(&["f", "x=0..inf", ys], "E0673", "`inf`");
    check(&["f", "x=0..xx", ys], "E0101", "`xx`");
    check(&["f", "x=0..[1]", ys], "E0673", "`[1]`");
    check(&["f", "x=0..1", "x=2", ys], "E0608", "by the argument `x=0..1` and by");
    check(&["f", "x=1", ys], "E0666", "`x=0..10`");
    check(&["f", "x=0..1", "ys=0..1"], "E0667", "two ranges");
    check(&["g", "x=0..1"], "E0670", "`shape`");
    check(&["h", "n=0.5..2"], "E0674", "`n` is an `int`");
    check(&["h", "n=0..2", "--grad"], "E0", "`n`");
    check(&["k", "x=0..2"], "E0671", "no finite value");
    check(&["fails", "x=0..5"], "error", "index 2 is out of range");
    check(&["f", "x=0..1", ys, "-o", "p.png"], "E0604", ".svg");
    check(&["f", "x=0..1", ys, "-o", "nowhere/p.svg"], "E0601", "nowhere/p.svg");
    check(&["nothing", "x=0..1"], "E0114", "`nothing`");
}

#[test]
fn a_missing_range_is_no_value() {
    let folder = program(PARABOLA);
    let output = lambada(folder.path(), &["plot", "p.lam", "f", "x=0..1", "--wrt", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--grad"));
}

#[test]
fn the_prompt_draws_arrays_and_functions() {
    let answer = |input: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lambada"))
            .arg("repl")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = child.stdin.take().expect("its input is a pipe");
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        text(&output.stdout) + &text(&output.stderr)
    };
    let out = answer(":plot for i < 10 => i * i\n");
    assert!(out.contains("for i < 10 => i * i") && out.contains("index"), "{out}");
    let out = answer("f x = x ^ 2 - 1\n:plot f -2..2\n");
    assert!(out.lines().any(|line| line.trim() == "f") && out.contains("-2"), "{out}");
    assert!(answer(":plot sin 0..2*pi\n").contains("sin"));
    assert!(answer(":plot 3\n").contains("E0666"));
    assert!(answer(":plot sin\n").contains(":plot sin 0..10"));
    assert!(answer(":plot\n").contains("`:plot` needs an argument"));
}

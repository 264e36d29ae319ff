//! `lambada verify`: its results, and that it detects wrong derivatives.

use std::process::{Command, Output};

fn verify(program: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("model.lam");
    std::fs::write(&file, program).expect("a temporary file can be written");
    let file = file.display().to_string();
    Command::new(env!("CARGO_BIN_EXE_lambada"))
        .args([&["verify", &file], args].concat())
        .output()
        .expect("the command starts")
}

fn table(program: &str, args: &[&str]) -> String {
    let output = verify(program, args);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{told}");
    String::from_utf8(output.stdout).expect("a table is text")
}

const SHAPES: &str = "type shape = Disk real | Rect real real
def area (s : shape) : real = match s | Disk r -> pi * r ** 2 | Rect w h -> w * h
def areas (shapes : []shape) : []real = map area shapes
def triangle [d] (l : [d*(d-1)//2]real) (q : [d]real) : real = sum (l * l) * sum (log q)
def power (x : real) (n : int) : real = x ** n
def twice (f : real -> real) (x : real) : real = f (f x)
def next (n : int) : int = n + 1
def rounded (x : real) : int = int x
def eighth (xs : []real) : real = xs[7]
def constant : real = 3
";

#[test]
fn points_of_every_type_are_drawn() {
    let table = table(SHAPES, &[]);
    for name in ["area", "areas", "triangle", "power"] {
        let row = table.lines().find(|line| line.starts_with(&format!("{name} ")));
        let row = row.unwrap_or_else(|| panic!("no row for {name}:\n{table}"));
        assert!(row.contains("3 points") && row.matches("agree").count() == 2, "{row}");
    }
    for why in [
        "`twice` cannot be run",
        "no parameter of `next` holds real",
        "`rounded` has no reals in its result",
        "`eighth` fails at every point drawn: index 7",
    ] {
        assert!(table.contains(&format!("not checked: {why}")), "{why}\n{table}");
    }
    assert!(!table.contains("constant"), "{table}");
}

#[test]
fn every_engine_agrees() {
    for engine in ["native", "loops", "anf", "core"] {
        assert!(table(SHAPES, &["power", "1.5", "3", "--engine", engine]).contains("the data"));
    }
}

#[test]
fn differences_that_disagree_are_told() {
    let output = verify("def steps (x : real) : real = x * real (int (1e9 * x))\n", &["x=0.3"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("E0470") && told.contains("*differences*"), "{told}");
}

const RULES: &str = "def softplus (x : real) : real = if x > 30 then x else log1p (exp x)
  with jvp dx = sigmoid x * dx
  with vjp dy = sigmoid x * dy
def area (k : real) (b : real) : real = integrate (\\x -> k * x) 0.0 b
def integrate (f : real -> real) (a : real) (b : real) : real = (b - a) * (f a + f b) / 2
  with jvp (df, da, db) = (b - a) * (df a + df b) / 2 + f b * db - f a * da
";

#[test]
fn rules_are_verified_by_the_definitions_that_follow_them() {
    let table = table(RULES, &["--engine", "core"]);
    for name in ["softplus", "area"] {
        let row = table.lines().find(|line| line.starts_with(name)).unwrap_or(&table);
        assert!(row.contains("3 points") && row.matches("agree").count() == 2, "{table}");
    }
    for rule in
        ["with vjp dy = 2 * dy", "with jvp dx = x * dx", "with jvp dx = dx\n  with vjp dy = 2 * dy"]
    {
        let output =
            verify(&format!("def id (x : real) : real = x\n  {rule}\n"), &["--engine", "core"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("E0470") && told.contains("follows this rule of `id`"), "{told}");
    }
}

#[test]
fn rules_that_are_no_derivatives_are_named_and_do_not_fail() {
    let table = table(
        "def hard (x : real) : real = round x\n  with pseudo vjp dy = dy\ndef loss (x : real) : real = hard x * x\n",
        &["--engine", "core"],
    );
    assert!(
        table.contains("pseudo: `loss` follows rules that are no derivatives, of `hard`"),
        "{table}"
    );
    assert!(
        table.lines().any(|line| line.starts_with("hard") && line.contains("pseudo")),
        "{table}"
    );
    assert!(!table.contains("WRONG"), "{table}");
}

/// Derivatives treat an integrator's steps and a solver's solutions as constant, while finite
/// differences observe their changes.
#[test]
fn what_solvers_hold_constant_is_no_mistake() {
    let program = "import \"std/optimize\"
def flow (w : [2][2]real) (y0 : [2]real) : [3][2]real =
  odeint (\\y t -> tanh (w @ y) * cos t) y0 [0.0, 0.5, 1.0]
def fit (p : [2]real) : [2]real =
  (optimize.levenberg_marquardt
    (\\q -> for i < 4 =>
      q[0] * exp (-q[1] * real i) - p[0] * exp (-p[1] * real i) * (1 + 0.01 * real i))
    [0.8, 0.3]).x
";
    for args in
        [&["flow", "w=[[0.1, 0.2], [-0.3, 0.1]]", "y0=[1.0, 0.5]"][..], &["fit", "p=[1.0, 0.5]"]]
    {
        let table = table(program, args);
        assert!(!table.contains("WRONG"), "{table}");
    }
}

#[test]
fn a_gradient_that_jumps_is_not_decided_and_not_wrong() {
    let table = table("def kink (x : real) : real = abs x\n", &["x=0"]);
    assert!(table.lines().any(|line| line.trim_end().ends_with("0 of 1")), "{table}");
}

//! `--effort`: quick and full compilation give the same results, and the choice for a run depends
//! on its arguments alone.

use std::path::Path;
use std::process::Command;

/// Runs the command with a separate cache; returns its output.
fn lambada(cache: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_lambada"))
        .args(args)
        .env("LAMBADA_CACHE", cache)
        .output()
        .expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text")
}

/// Number of units in the cache.
fn units(cache: &Path) -> usize {
    std::fs::read_dir(cache)
        .map_or(0, |items| items.flatten().filter(|item| item.path().is_dir()).count())
}

/// All numbers in a text, in order.
fn numbers(text: &str) -> Vec<f64> {
    let words = text.split(|c: char| c.is_whitespace() || "[](){}=,".contains(c));
    words.filter_map(|word| word.parse().ok()).collect()
}

const RUNS: [&[&str]; 6] = [
    &["grad", "gmm.lam", "objective", "--data", "data/gmm_d2_k5.json", "--wrt", "alpha,mu,q,l"],
    &["grad", "least_squares.lam", "residual", "--data", "data/least_squares.json"],
    &["grad", "logsumexp.lam", "lse", "--data", "data/logsumexp.json"],
    &["grad", "lstm.lam", "objective", "--data", "data/lstm.json", "--wrt", "main_params"],
    &["grad", "ode.lam", "last", "--data", "data/ode.json"],
    &["run", "bundle_adjustment.lam", "errors", "--data", "data/bundle_adjustment.json"],
];

/// Both efforts contract products, in nearly all places the same ones, so results differ at most in
/// the last digits.
#[test]
fn both_efforts_agree() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    lambada_testkit::parallel(&RUNS, |run| {
        let args: Vec<String> = run
            .iter()
            .map(|arg| match arg.contains('.') {
                true => examples.join(arg).display().to_string(),
                false => (*arg).to_string(),
            })
            .collect();
        let with = |effort| {
            let args = args.iter().map(String::as_str).chain(["--effort", effort]);
            numbers(&lambada(cache.path(), &args.collect::<Vec<&str>>()))
        };
        let (quick, full) = (with("quick"), with("full"));
        assert!(!full.is_empty() && quick.len() == full.len(), "{run:?}");
        let largest = full.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        for (k, (a, b)) in quick.iter().zip(&full).enumerate() {
            assert!((a - b).abs() <= 1e-13 * largest, "{run:?}, number {k}: {a} and {b}");
        }
    });
}

const PROGRAM: &str = "def total (n : int) (x : real) : real = sum (for i < n => sin (x * real i))
def power (x : [3]real) : real = sum (x * x)
";

#[test]
fn small_arguments_are_compiled_quickly() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("model.lam");
    std::fs::write(&file, PROGRAM).expect("a temporary file can be written");
    let file = file.to_str().expect("a name of letters");
    let same = |args: &[&str], effort: &str| {
        let cache = tempfile::tempdir().expect("a temporary folder");
        lambada(cache.path(), &[&["run", file], args].concat());
        let before = units(cache.path());
        lambada(cache.path(), &[&["run", file], args, &["--effort", effort]].concat());
        before == units(cache.path())
    };
    // Without a C compiler nothing is compiled.
    let cache = tempfile::tempdir().expect("a temporary folder");
    lambada(cache.path(), &["run", file, "power", "[1, 2, 3]"]);
    if units(cache.path()) == 0 {
        return;
    }
    assert!(same(&["power", "[1, 2, 3]"], "quick") && !same(&["power", "[1, 2, 3]"], "full"));
    assert!(same(&["total", "10", "0.5"], "quick"));
    // An integer may be a trip count.
    assert!(same(&["total", "2000000", "0.5"], "full"));
}

/// Code from the C compiler may flush subnormal numbers to zero; evaluators never do.
#[test]
fn subnormal_numbers_may_be_zeros() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("half.lam");
    std::fs::write(&file, "def f (x : real) : real = 0.5 * x\n").expect("it is written");
    let half = |more: &[&str]| {
        let file = file.to_str().expect("a plain name");
        let args = [&["run", file, "f", "x=2.5e-308"], more].concat();
        numbers(&lambada(folder.path(), &args))
    };
    let has_mode = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    let kept = 0.5 * 2.5e-308;
    let flushed = if has_mode { 0.0 } else { kept };
    assert_eq!(half(&["--effort", "full"]), [kept]);
    assert_eq!(half(&["--effort", "full", "--flush-subnormals"]), [flushed]);
    assert_eq!(half(&["--engine", "loops", "--flush-subnormals"]), [kept]);
}

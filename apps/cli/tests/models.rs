//! `lambada sample`, `minimize`, `predict`, and pictures of draws.

use std::path::Path;
use std::process::{Command, Output};

use lambada_testkit::interruptible;

const SCHOOLS: &str = "import \"std/space\"
import \"std/dist\"
import \"std/random\"
def schools [j] (mu : real) (tau : space.positive) (theta : [j]real) (y : [j]real) (sigma : [j]real) : real =
  dist.normal_lpdf mu 0 5 + dist.cauchy_lpdf tau 0 5 + sum (for t in theta => dist.normal_lpdf t 0 1)
  + sum (for i < j => dist.normal_lpdf y[i] (mu + tau * theta[i]) sigma[i])
def replicated [j] (key : random.key) (mu : real) (tau : real) (theta : [j]real) (sigma : [j]real) =
  let noise = random.normal key j
  {y = for i < j => mu + tau * theta[i] + sigma[i] * noise[i]}
";

const DATA: &str =
    r#"{"y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18], "J": 8}"#;

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

fn folder(source: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("p.lam"), source).expect("it can be written");
    std::fs::write(folder.path().join("p.json"), DATA).expect("it can be written");
    folder
}

/// Standard output of a command that succeeds.
fn runs(folder: &Path, args: &[&str]) -> String {
    let output = lambada(folder, args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{args:?}: {out}{err}");
    out
}

/// The message of a command that fails with the exit code 1 and prints nothing.
fn fails(folder: &Path, args: &[&str]) -> String {
    let output = lambada(folder, args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{args:?}: {out}{err}");
    assert!(out.is_empty(), "{args:?} prints {out}");
    err
}

/// The numbers of a row of a table of draws.
fn row(table: &str, name: &str) -> Vec<f64> {
    let line = table.lines().find(|line| line.split_whitespace().next() == Some(name));
    let line = line.unwrap_or_else(|| panic!("no row {name} in {table}"));
    line.split_whitespace().skip(1).map(|x| x.parse().expect("a number")).collect()
}

#[test]
fn from_a_model_to_pictures() {
    let folder = folder(SCHOOLS);
    let at = folder.path();
    let draw = |output: &str, more: &[&str]| {
        let args = ["sample", "p.lam", "schools", "--data", "p.json", "--output", output];
        runs(at, &[&args, more].concat())
    };
    let table = draw("draws.nc", &["--threads", "1"]);
    // Means and deviations from integrals over a grid.
    let (mu, tau) = (row(&table, "mu"), row(&table, "tau"));
    assert!((mu[0] - 4.3968).abs() < 0.3 && (mu[1] - 3.3177).abs() < 0.3, "{table}");
    assert!((tau[0] - 3.5977).abs() < 0.4 && (tau[1] - 3.2200).abs() < 0.4, "{table}");
    assert_eq!(draw("draws.csv", &["--threads", "2"]), table);
    assert!(draw("draws.parquet", &["--json"]).contains("\"ess_bulk\""));

    let predict = ["predict", "p.lam", "replicated", "--data", "p.json"];
    let from = |file: &str, more: &[&str]| {
        runs(at, &[&predict, ["--draws", file].as_slice(), more].concat())
    };
    let table = from("draws.nc", &[]);
    assert_eq!(from("draws.csv", &[]), table);
    assert_eq!(from("draws.parquet", &[]), table);
    assert!((row(&table, "y[0]")[1] - (15f64.powi(2) + 6.0f64.powi(2)).sqrt()).abs() < 2.0);
    from("draws.nc", &["--output", "replicated.nc"]);

    for kind in ["trace", "density", "pairs", "forest", "rank", "energy"] {
        let of = if kind == "energy" { vec![] } else { vec!["--of", "mu,theta[2]"] };
        let args = ["plot", "draws.nc", "--kind", kind, "--output", "p.svg"];
        runs(at, &[&args[..], &of].concat());
        let svg = std::fs::read_to_string(at.join("p.svg")).expect("a picture");
        assert!(svg.starts_with("<svg"), "{kind}");
    }
    runs(at, &["plot", "replicated.nc", "--kind", "ppc", "--output", "p.svg"]);
    let why = fails(at, &["plot", "draws.nc", "--of", "nu", "--output", "p.svg"]);
    assert!(why.contains("`nu`"), "{why}");
    let why = fails(at, &["plot", "draws.nc"]);
    assert!(why.contains("--output"), "{why}");
    let why = fails(at, &["plot", "p.lam"]);
    assert!(why.contains("name the definition"), "{why}");
}

#[test]
fn normal_distributions_approximate_the_posterior() {
    let folder =
        folder("def f (x : real) (y : real) : real = -0.5 * ((x - 3) / 2) ** 2 - 0.5 * y * y\n");
    for (method, slack) in [("laplace", 1.0), ("pathfinder", 1.0), ("advi", 5.0)] {
        let table = runs(folder.path(), &["sample", "p.lam", "--method", method]);
        let (x, y) = (row(&table, "x"), row(&table, "y"));
        let near = |x: f64, wanted: f64, by: f64| (x - wanted).abs() < by * slack;
        assert!(near(x[0], 3.0, 0.2) && near(x[1], 2.0, 0.15), "{method}: {table}");
        assert!(near(y[0], 0.0, 0.1) && near(y[1], 1.0, 0.08), "{method}: {table}");
    }
}

#[test]
fn members_in_capitals_are_parameters() {
    let folder = folder("def f (n : int) (k : int) : int = n - k\n");
    std::fs::write(folder.path().join("c.json"), r#"{"N": 5, "K": 1, "k": 2}"#).expect("a file");
    let output = lambada(folder.path(), &["run", "p.lam", "f", "--data", "c.json"]);
    let note = "note: the parameter `n` is the member \"N\" of `c.json`\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("3\n".into(), note.into()));
}

#[test]
fn a_folder_that_is_not_there_is_told_before_anything_runs() {
    let folder = folder(SCHOOLS);
    let args = ["sample", "p.lam", "schools", "--data", "p.json", "--output", "no/draws.nc"];
    let why = fails(folder.path(), &args);
    assert!(why.contains("cannot write `no/draws.nc`"), "{why}");
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let folder = folder(SCHOOLS);
    let at = folder.path();
    let why = fails(at, &["sample", "p.lam"]);
    assert!(why.contains("E0904"), "{why}");
    let why = fails(at, &["sample", "p.lam", "--data", "p.json", "--output", "draws.txt"]);
    assert!(why.contains("`.nc`"), "{why}");
    let why = fails(at, &["predict", "p.lam", "replicated", "--draws", "p.json"]);
    assert!(why.contains("no file of draws"), "{why}");
    std::fs::write(at.join("draws.csv"), "chain,draw,mu\n0,0,zero\n").expect("it can be written");
    let why = fails(at, &["predict", "p.lam", "replicated", "--draws", "draws.csv"]);
    assert!(why.contains("line 2"), "{why}");
    assert!(!at.join("draws.txt").exists());
}

#[test]
fn a_model_that_is_nowhere_finite() {
    let folder = folder(
        "def f (x : real) (y : real) : real =\n  let z = x * x\n  -z - y * y + log (-z) + 1\n",
    );
    let why = fails(folder.path(), &["sample", "p.lam"]);
    assert!(
        why.contains("E0912") && why.contains("p.lam:3:16") && why.contains("not a number"),
        "{why}"
    );
}

#[cfg(unix)]
#[test]
fn interrupted_chains_are_kept() {
    let folder = folder(SCHOOLS);
    // Long enough to compile and to begin; longer on a machine that is busy.
    for seconds in [5, 20, 80] {
        let child = interruptible(env!("CARGO_BIN_EXE_lambada"))
            .args(["sample", "p.lam", "schools", "--data", "p.json", "--warmup", "50"])
            .args(["--target-accept", "0.9999", "--draws", "4000000000", "--threads", "4"])
            .args(["--output", "draws.csv"])
            .current_dir(folder.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the command starts");
        std::thread::sleep(std::time::Duration::from_secs(seconds));
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.expect("`kill` starts").success());
        let output = child.wait_with_output().expect("it ends");
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{err}");
        if let Ok(lines) = std::fs::read_to_string(folder.path().join("draws.csv")) {
            assert!(err.contains("interrupted") && lines.lines().count() > 10, "{err}");
            return;
        }
    }
    panic!("no draws after 80 seconds");
}

/// A command that is killed says nothing; the next one goes on from its chains.
#[cfg(unix)]
#[test]
fn killed_chains_go_on() {
    let folder = folder(SCHOOLS);
    let words = ["sample", "p.lam", "schools", "--data", "p.json", "--warmup", "50", "--threads"];
    let words = [&words[..], &["4", "--target-accept", "0.99", "--draws", "60000"]].concat();
    let run = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lambada"));
        command.args(&words).args(["--output", name]).current_dir(folder.path());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        command
    };
    let states = folder.path().join("killed.csv.chains");
    let mut child = run("killed.csv").spawn().expect("the command starts");
    let begun = std::time::Instant::now();
    while !states.join("chain-4").exists() {
        assert!(begun.elapsed().as_secs() < 100, "no state after 100 seconds");
        let ended = child.try_wait().expect("it can be asked");
        assert!(ended.is_none(), "it was done before it was killed");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().and_then(|()| child.wait()).expect("it is killed");
    assert!(!folder.path().join("killed.csv").exists());
    let output = run("killed.csv").output().expect("it runs");
    let err = text(&output.stderr);
    assert!(output.status.success() && err.contains("go on from `killed.csv.chains`"), "{err}");
    assert!(!states.exists());
    assert!(run("whole.csv").output().expect("it runs").status.success());
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("draws");
    assert!(read("killed.csv") == read("whole.csv"), "other draws");
}

#[test]
fn indices_of_data_are_told_as_they_are_in_the_file() {
    let folder = folder(
        "import \"std/space\"
def chosen [n] [k] (g : [n]{at : space.one_based}) (x : [k]real) : [n]real = for g in g => x[g.at]
def m [n] [k] (x : [k]real) (g : [n]space.one_based) : real = -sum (for g in g => x[g] * x[g])
",
    );
    let run = |g: &str| fails(folder.path(), &["run", "p.lam", "chosen", g, "x=[10, 20]"]);
    let why = run(r#"g=[{"at": 1}, {"at": 0}]"#);
    assert!(why.contains("`g[1].at` is 0 in the data, where 1 to 2 are allowed"), "{why}");
    let why = run(r#"g=[{"at": 3}, {"at": 2}]"#);
    assert!(why.contains("`g[0].at` is 3 in the data, where 1 to 2 are allowed"), "{why}");
    let why = fails(folder.path(), &["sample", "p.lam", "m", "g=[1, 0]", "--size", "k=1"]);
    assert!(why.contains("`g[1]` is 0 in the data, where only 1 is allowed"), "{why}");
}

#[test]
fn lists_of_lists_are_ragged_arrays() {
    let folder = folder(
        "import \"std/space\"
def sums [m] (x : {values : [m]real, starts : []int}) : []real =
  for i < length x.starts - 1 => sum x.values[x.starts[i]:x.starts[i + 1]]
def both [m] (x : {values : [m][2]real, starts : []int}) = x
def chosen [m] (x : {values : [m]space.one_based, starts : []int}) = x.values
",
    );
    let at = folder.path();
    assert_eq!(
        runs(at, &["run", "p.lam", "sums", "x=[[1, 2], [], [3, 4, 5]]"]),
        "[3.0, 0.0, 12.0]\n"
    );
    assert_eq!(runs(at, &["run", "p.lam", "sums", "x=[]"]), "[]\n");
    let record = r#"x={"values": [1, 2], "starts": [0, 2]}"#;
    assert_eq!(runs(at, &["run", "p.lam", "sums", record]), "[3.0]\n");
    let both = runs(at, &["run", "p.lam", "both", "x=[[[1, 2]], [[3, 4], [5, 6]]]"]);
    assert!(both.contains("starts = [0, 1, 3]"), "{both}");
    assert_eq!(runs(at, &["run", "p.lam", "chosen", "x=[[1], [3, 2]]"]), "[0, 2, 1]\n");
    let why = fails(at, &["run", "p.lam", "sums", "x=[[1, 2], 3]"]);
    assert!(why.contains("`x[1]`"), "{why}");
    let why = fails(at, &["run", "p.lam", "sums", r#"x=[[1], [2, "a"]]"#]);
    assert!(why.contains("`x[1][1]`"), "{why}");
    let why = fails(at, &["run", "p.lam", "both", "x=[[[1, 2]], [[3]]]"]);
    assert!(why.contains("another shape"), "{why}");
}

#[test]
fn faults_of_a_model_are_told_before_it_is_sampled() {
    let folder = folder(
        "def m [n] (a : real) (b : real) (y : [n]real) (z : [n]real) : real =
  -sum (for y in y => (y - a) ** 2)
",
    );
    let args = ["sample", "p.lam", "y=[1, 2]", "z=[3, 4]", "--warmup", "20", "--draws", "20"];
    let output = lambada(folder.path(), &args);
    let err = text(&output.stderr);
    assert!(err.contains("`b` does not occur in the log density `m`"), "{err}");
    assert!(err.contains("The data `z` meets no parameter"), "{err}");
}

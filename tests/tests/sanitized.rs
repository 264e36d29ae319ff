//! The generated C of the recursive programs and of the examples, value and derivatives up to the
//! second order, at every point that is tried anywhere, has no access out of bounds, no use of
//! freed memory and no undefined behavior; `programs` says so of all others. `ONLY=name` takes
//! those files.

use std::path::{Path, PathBuf};

use lambada::{Inputs, Operator, Raw, Session, Unit};
use lambada_testkit::parallel;
use lambada_tests::expectations::{PromiseKind, arguments, expectations, groups, programs};
use lambada_tests::natives::Native;
use lambada_tests::orders::Definitions;
use lambada_tests::sanitizer::{Sanitizers, sanitized_complaints};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests lie in the repository")
        .to_path_buf()
}

/// The calls to run, and complaints about those that could not be prepared.
#[derive(Default)]
struct Work {
    natives: Vec<Native>,
    complaints: Vec<String>,
}

impl Work {
    fn add(&mut self, place: &str, found: Result<Vec<Native>, String>) {
        match found {
            Ok(found) => self.natives.extend(found.into_iter().map(|n| n.inside(place))),
            Err(e) => self.complaints.push(format!("{place}: {e}")),
        }
    }
}

fn loaded(path: &Path) -> Unit {
    let mut session = Session::new();
    session.load(path).unwrap_or_else(|p| panic!("{}", session.render(&p, false)))
}

fn program(path: &Path, work: &mut Work) {
    let unit = loaded(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut definitions = Definitions::of(&unit);
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    for promise in
        expectations(&text).into_iter().filter(|promise| promise.kind != PromiseKind::Check)
    {
        let args = arguments(&unit, &promise);
        let found = args.and_then(|args| definitions.natives(&promise.entry, &args));
        work.add(&format!("{name}:{}", promise.line + 1), found);
    }
}

/// The examples with their data: file, definition, data.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("bundle_adjustment.lam", "errors", "examples/data/bundle_adjustment.json"),
    ("gmm.lam", "objective", "tests/evals/gmm_d2_k5.json"),
    ("kmeans.lam", "cost", "tests/evals/kmeans.json"),
    ("kmeans.lam", "direction", "tests/evals/kmeans.json"),
    ("least_squares.lam", "residual", "tests/evals/llsq.json"),
    ("logistic.lam", "main", "examples/data/breast_cancer.json"),
    ("logsumexp.lam", "lse", "tests/evals/lse.json"),
    ("logsumexp.lam", "compare", "tests/evals/lse.json"),
    ("lstm.lam", "objective", "tests/evals/lstm.json"),
    ("ode.lam", "primal", "tests/evals/ode.json"),
    ("ode.lam", "last", "tests/evals/ode.json"),
];

fn example(file: &str, entry: &str, data: &str, work: &mut Work) {
    let text = std::fs::read_to_string(root().join(data)).expect("data can be read");
    let data: Value = serde_json::from_str(&text).expect("data is JSON");
    let members = data.get("input").unwrap_or(&data);
    let unit = loaded(&root().join("examples").join(file));
    let args = unit.call(entry, Operator::Value, None).and_then(|call| {
        let mut inputs = Inputs::new();
        for name in call.parameters() {
            inputs.insert(&*name, Raw::Json(members[&*name].clone().into()), "the data");
        }
        call.arguments(&inputs)
    });
    let args = args.map_err(|p| format!("{p:?}"));
    let found = args.and_then(|args| Definitions::of(&unit).natives(entry, &args));
    work.add(file, found);
}

impl Work {
    fn run(&mut self, task: &Task) {
        match task {
            Task::Program(path) => program(path, self),
            Task::Example(file, entry, data) => example(file, entry, data, self),
        }
    }
}

/// The approximate number of files that are compiled together.
const CHUNK: usize = 4;

/// A task.
#[derive(Clone)]
enum Task {
    Program(PathBuf),
    Example(&'static str, &'static str, &'static str),
}

/// In groups that are compiled together.
fn tasks(only: &str) -> Vec<Vec<Task>> {
    let recursive = programs(&root().join("tests/programs/recursion")).into_iter();
    // The sanitizers run on the stack of the system, which is too small for a million calls.
    let recursive = recursive.filter(|path| path.file_stem().is_some_and(|name| name != "deep"));
    let programs = recursive.filter(|path| path.to_string_lossy().contains(only)).collect();
    let programs = groups(programs, CHUNK).into_iter();
    let examples = EXAMPLES.iter().filter(|(file, ..)| file.contains(only));
    let examples = examples.map(|(file, entry, data)| Task::Example(file, entry, data));
    let examples: Vec<Task> = examples.collect();
    let examples = examples.chunks(CHUNK).map(<[Task]>::to_vec);
    let programs = programs.map(|files| files.into_iter().map(Task::Program).collect());
    programs.chain(examples).collect()
}

/// The number of calls of some tasks, and the complaints.
fn complaints(tasks: &[Vec<Task>], sanitizers: Sanitizers) -> (usize, Vec<String>) {
    let found = parallel(tasks, |tasks| {
        let mut work = Work::default();
        tasks.iter().for_each(|task| work.run(task));
        let Work { mut natives, mut complaints } = work;
        // Threads are slow when they are watched.
        let watched = |n: &Native| sanitizers == Sanitizers::Memory || n.what.order() < 2;
        natives.retain(|n| watched(n) && n.is_chosen());
        let found = sanitized_complaints(&natives, sanitizers).unwrap_or_else(|e| panic!("{e}"));
        complaints.extend(found.iter().map(ToString::to_string));
        (natives.len(), complaints)
    });
    let calls = found.iter().map(|(calls, _)| calls).sum();
    (calls, found.into_iter().flat_map(|(_, complaints)| complaints).collect())
}

fn none(complaints: &[String]) {
    let shown: Vec<&str> = complaints.iter().take(30).map(String::as_str).collect();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), shown.join("\n"));
}

fn has_compiler() -> bool {
    lambada_run::Compiler::find().is_some() || !lambada_testkit::may_lack_c_compiler()
}

#[test]
fn no_program_touches_what_is_not_its_own() {
    if !has_compiler() {
        return;
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let (calls, found) = complaints(&tasks(&only), Sanitizers::Memory);
    println!("{calls} calls under the sanitizers");
    none(&found);
    assert!(calls >= 400 || !only.is_empty(), "only {calls} calls");
}

#[test]
fn threads_do_not_touch_what_others_write() {
    if !has_compiler() {
        return;
    }
    let mut examples = tasks("");
    examples.retain(|tasks| matches!(tasks[0], Task::Example(..)));
    let (calls, found) = complaints(&examples, Sanitizers::Threads);
    none(&found);
    assert!(calls >= 30, "only {calls} calls");
}

//! A program is a test: its expectations stand in its own comments.
//!
//! - `-- run f 3.0 [1, 2] = 5.0`: the value at the arguments, in JSON, to 1e-9
//! - `-- grad f 3.0 = 6.0`: the gradient with respect to all parameters that hold reals
//! - `-- check: f : real -> real`: the inferred type
//! - `-- fails f 3.0 = index 7 is out of range for size 2`: the message of a run-time failure
//! - `-- oracle f 3.0`: the whole oracle matrix; `run` and `grad` imply it
//! - `-- value f 3.0 = …`, `-- slope f 3.0 = …`: as `run` and `grad`, at points where finite
//!   differences mean nothing: kinks and infinities
//!
//! `BLESS=1` rewrites the values and types (never the verdicts of the oracle), where all engines
//! agree on them and the oracle matrix does.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use lambada::operators::Operator;
use lambada::{Data, Engine, Executable, Inputs, Options, Raw, Unit, to_json};
use lambada_testkit::Tolerance;
use serde_json::Value;

use crate::oracle::same;

/// A promise of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// From 0.
    pub line: usize,
    /// The kind of promise.
    pub kind: PromiseKind,
    /// The definition.
    pub entry: String,
    /// The arguments.
    pub args: Vec<Value>,
    /// The text after `=` or the type.
    pub expected: String,
}

/// The kinds of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromiseKind {
    /// A value, with the oracle matrix.
    Run,
    /// A value.
    Value,
    /// A gradient, with the oracle matrix.
    Grad,
    /// A gradient.
    Slope,
    /// A type.
    Check,
    /// A failure.
    Fails,
    /// Agreement of all oracles.
    Oracle,
}

/// All programs of a folder, in alphabetical order.
pub fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "lam"))
        .collect();
    files.sort();
    files
}

/// Sorts programs by text length, longest first. These take longest, so the short ones fill the
/// ends of the threads' schedules.
pub fn longest_first(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    let size = |file: &PathBuf| std::fs::metadata(file).map_or(0, |data| data.len());
    files.sort_by_cached_key(|file| std::cmp::Reverse(size(file)));
    files
}

/// Groups of `each` programs that take about as long as each other.
pub fn groups(files: Vec<PathBuf>, each: usize) -> Vec<Vec<PathBuf>> {
    let files = longest_first(files);
    let count = files.len().div_ceil(each);
    (0..count).map(|k| files.iter().skip(k).step_by(count).cloned().collect()).collect()
}

/// The promises in the comments of a program.
pub fn expectations(text: &str) -> Vec<Expectation> {
    text.lines()
        .enumerate()
        .filter_map(|(line, content)| expectation(line, content.strip_prefix("-- ")?))
        .collect()
}

fn expectation(line: usize, text: &str) -> Option<Expectation> {
    let (word, rest) = text.split_once(' ')?;
    let kind = match word {
        "run" => PromiseKind::Run,
        "value" => PromiseKind::Value,
        "slope" => PromiseKind::Slope,
        "grad" => PromiseKind::Grad,
        "check:" => PromiseKind::Check,
        "fails" => PromiseKind::Fails,
        "oracle" => PromiseKind::Oracle,
        _ => return None,
    };
    if kind == PromiseKind::Check {
        let (entry, ty) = rest.split_once(" : ")?;
        return Some(Expectation {
            line,
            kind,
            entry: entry.trim().to_string(),
            args: Vec::new(),
            expected: ty.trim().to_string(),
        });
    }
    let (call, expected) = rest.split_once(" = ").unwrap_or((rest, ""));
    let (entry, args) = call.trim().split_once(' ').unwrap_or((call.trim(), ""));
    Some(Expectation {
        line,
        kind,
        entry: entry.to_string(),
        args: values(args),
        expected: expected.trim().to_string(),
    })
}

/// JSON values one after the other.
fn values(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text)
        .into_iter::<Value>()
        .map(|v| v.unwrap_or_else(|e| panic!("{text}: {e}")))
        .collect()
}

/// The arguments of a promise, as the definition takes them.
pub fn arguments(unit: &Unit, expectation: &Expectation) -> Result<Vec<Data>, String> {
    let call =
        unit.call(&expectation.entry, Operator::Value, None).map_err(|p| format!("{p:?}"))?;
    let mut inputs = Inputs::new();
    let names = call.parameters();
    if names.len() != expectation.args.len() {
        return Err(format!("{} arguments for the parameters {names:?}", expectation.args.len()));
    }
    for (name, value) in names.iter().zip(&expectation.args) {
        inputs.insert(&**name, Raw::Json(value.clone().into()), "the comment");
    }
    call.arguments(&inputs).map_err(|p| format!("{p:?}"))
}

/// For programs that run once, on little data: compiled natively in a third of the time.
pub fn quick(engine: Engine) -> Options {
    Options { engine, quick: true, ..Options::default() }
}

/// The definitions of a file on engines, each compiled once for all points.
pub struct Executables<'a> {
    unit: &'a Unit,
    compiled: HashMap<(String, Operator, Engine), Executable>,
}

impl Executables<'_> {
    /// Nothing is compiled yet.
    pub fn of(unit: &Unit) -> Executables<'_> {
        Executables { unit, compiled: HashMap::new() }
    }

    /// The program's result for the expectation, as the text that belongs after `=` or `:`.
    pub fn found(&mut self, expectation: &Expectation) -> Result<String, String> {
        self.found_with(expectation, &[Engine::Core, Engine::Anf, Engine::Loops])
    }

    /// [`Executables::found`] with other engines, of which the first is the meaning.
    pub fn found_with(
        &mut self,
        expectation: &Expectation,
        engines: &[Engine],
    ) -> Result<String, String> {
        let unit = self.unit;
        let operator = match expectation.kind {
            PromiseKind::Check => {
                let definitions = unit.definitions();
                let definition = definitions
                    .iter()
                    .find(|d| *d.name == *expectation.entry)
                    .ok_or("no such definition")?;
                return Ok(definition.scheme.clone());
            }
            PromiseKind::Oracle => return Ok(String::new()),
            PromiseKind::Grad | PromiseKind::Slope => Operator::Grad,
            PromiseKind::Run | PromiseKind::Value | PromiseKind::Fails => Operator::Value,
        };
        let args = arguments(unit, expectation)?;
        let call = unit.call(&expectation.entry, operator, None).map_err(|p| format!("{p:?}"))?;
        let run = |engine: &Engine| {
            let executable =
                match self.compiled.entry((expectation.entry.clone(), operator, *engine)) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => place.insert(
                        Executable::with(call.program.clone(), call.entry, &quick(*engine))
                            .map_err(|p| format!("{p:?}"))?,
                    ),
                };
            Ok(executable.run(&args))
        };
        let results = engines.iter().map(run).collect::<Result<Vec<_>, String>>()?;
        for other in &results[1..] {
            same(call.program.precision, "an engine against the meaning", &results[0], other)?;
        }
        match (results[0].clone(), expectation.kind) {
            (Ok(Data::Tuple(pair)), PromiseKind::Grad | PromiseKind::Slope) => {
                Ok(to_json(&pair[1]).to_string())
            }
            (Ok(value), PromiseKind::Run | PromiseKind::Value) => Ok(to_json(&value).to_string()),
            (Err(failure), PromiseKind::Fails) => Ok(failure.message),
            (Ok(value), _) => Err(format!("gives {value}")),
            (Err(failure), _) => Err(format!("fails: {}", failure.message)),
        }
    }
}

/// Whether the result keeps the promise.
pub fn agrees(expectation: &Expectation, found: &str) -> bool {
    match expectation.kind {
        PromiseKind::Run | PromiseKind::Value | PromiseKind::Grad | PromiseKind::Slope => {
            match (serde_json::from_str(found), serde_json::from_str(&expectation.expected)) {
                (Ok(a), Ok(b)) => close(&a, &b),
                _ => false,
            }
        }
        PromiseKind::Check | PromiseKind::Fails => found == expectation.expected,
        PromiseKind::Oracle => true,
    }
}

/// [`agrees`] where tiny numbers count: the tolerance of a number is in proportion to the largest
/// one beside it, because sums that cancel leave roundings.
pub fn agrees_in_proportion(expectation: &Expectation, found: &str) -> bool {
    match (serde_json::from_str(found), serde_json::from_str(&expectation.expected)) {
        (Ok(a), Ok(b)) => {
            close_to(&a, &b, Tolerance::relative(1e-9).and_absolute(1e-15 * size(&b)))
        }
        _ => agrees(expectation, found),
    }
}

/// The largest finite magnitude of a number.
fn size(value: &Value) -> f64 {
    match value {
        Value::Number(x) => x.as_f64().map_or(0.0, f64::abs),
        Value::Array(parts) => parts.iter().map(size).fold(0.0, f64::max),
        Value::Object(fields) => fields.values().map(size).fold(0.0, f64::max),
        Value::Null | Value::Bool(_) | Value::String(_) => 0.0,
    }
}

/// The tolerance of promised values, and of recorded outputs of other implementations.
const TOLERANCE: Tolerance = Tolerance::relative(1e-9).and_absolute(1e-12);

/// Whether the values are equal, reals to 1e-9 relative.
pub fn close(a: &Value, b: &Value) -> bool {
    close_to(a, b, TOLERANCE)
}

fn close_to(a: &Value, b: &Value, tolerance: Tolerance) -> bool {
    let close = |a: &Value, b: &Value| close_to(a, b, tolerance);
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap_or(f64::NAN), y.as_f64().unwrap_or(f64::NAN));
            tolerance.accepts(x, y)
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(a, b)| close(a, b))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| close(v, w)))
        }
        (a, b) => a == b,
    }
}

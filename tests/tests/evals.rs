//! The standard cases: the functions of `examples/gradbench`, through the tool that speaks the
//! suite's protocol, against recorded outputs of independent implementations, to 1e-9 relative,
//! natively and through every evaluator.

use std::path::{Path, PathBuf};

use lambada::{Engine, Options, gradbench};
use lambada_testkit::Tolerance;
use serde_json::{Value, json};

const ENGINES: [Engine; 5] =
    [Engine::Native, Engine::Jit, Engine::Loops, Engine::Anf, Engine::Core];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests lie in the repository")
        .to_path_buf()
}

fn recorded(case: &str) -> Value {
    let path = root().join("tests/evals").join(case).with_extension("json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("recorded cases are JSON")
}

/// The tool's answers to these messages.
fn talk(engine: Engine, messages: &[Value]) -> Vec<Value> {
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let mut answers = Vec::new();
    gradbench(
        &root().join("examples/gradbench"),
        &Options { engine, ..Options::default() },
        lines.as_bytes(),
        &mut answers,
    )
    .unwrap_or_else(|ended| panic!("{ended:?}"));
    let text = String::from_utf8(answers).expect("answers are text");
    text.lines().map(|line| serde_json::from_str(line).expect("answers are JSON")).collect()
}

/// Close to 1e-9, place by place.
fn close(what: &str, found: &Value, expected: &Value) {
    match (found, expected) {
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            let pairs = a.iter().zip(b).enumerate();
            pairs.for_each(|(k, (x, y))| close(&format!("{what}[{k}]"), x, y));
        }
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            b.iter().for_each(|(k, y)| close(&format!("{what}.{k}"), &a[k], y));
        }
        (a, b) => {
            let number = |v: &Value| v.as_f64().unwrap_or_else(|| panic!("{what}: {v}"));
            lambada_testkit::close(&what, number(a), number(b), Tolerance::mixed(1e-9))
                .unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

/// Functions with their inputs and outputs.
fn calls(record: &Value) -> Vec<(String, Value, Value)> {
    let text = |value: &Value| value.as_str().expect("a name").to_string();
    if let Some(cases) = record["cases"].as_array() {
        let call =
            |case: &Value| (text(&case["function"]), case["input"].clone(), case["output"].clone());
        return cases.iter().map(call).collect();
    }
    let outputs = record["outputs"].as_object().expect("outputs by function");
    let call =
        |(name, output): (&String, &Value)| (name.clone(), record["input"].clone(), output.clone());
    outputs.iter().map(call).collect()
}

/// All functions of a recorded case, on these engines but for those named, which they have no time
/// for.
fn case(name: &str, engines: &[Engine], slow: &[&str]) {
    let record = recorded(name);
    if engines.contains(&Engine::Native) && !lambada_testkit::may_lack_c_compiler() {
        assert!(lambada_run::Compiler::find().is_some(), "{}", lambada_testkit::NO_C_COMPILER);
    }
    for engine in engines {
        let calls: Vec<_> = calls(&record)
            .into_iter()
            .filter(|(function, ..)| *engine != Engine::Core || !slow.contains(&&**function))
            .collect();
        let mut messages = vec![json!({"id": 0, "kind": "define", "module": record["module"]})];
        messages.extend(calls.iter().enumerate().map(|(k, (function, input, _))| {
            let kind = "evaluate";
            json!({"id": k + 1, "kind": kind, "module": record["module"], "function": function, "input": input})
        }));
        let answers = talk(*engine, &messages);
        assert_eq!(answers[0], json!({"id": 0, "success": true}), "{name}");
        for ((function, _, output), answer) in calls.iter().zip(&answers[1..]) {
            let what = format!("{name}: {function} by {engine:?}");
            assert_eq!(answer["success"], true, "{what}: {}", answer["error"]);
            assert!(answer["timings"].as_array().is_some_and(|t| !t.is_empty()), "{what}");
            close(&what, &answer["output"], output);
        }
    }
}

#[test]
fn hello() {
    case("hello", &ENGINES, &[]);
}

#[test]
fn gmm_d2_k5() {
    case("gmm_d2_k5", &ENGINES, &[]);
}

#[test]
fn gmm_d10_k5() {
    case("gmm_d10_k5", &ENGINES, &[]);
}

#[test]
fn lse() {
    case("lse", &ENGINES, &[]);
}

#[test]
fn llsq() {
    case("llsq", &ENGINES, &[]);
}

#[test]
fn lstm() {
    case("lstm", &ENGINES, &[]);
}

#[test]
fn det() {
    case("det", &ENGINES, &[]);
}

#[test]
fn ode() {
    case("ode", &ENGINES, &[]);
}

#[test]
fn kmeans() {
    case("kmeans", &ENGINES, &[]);
}

/// Bundle adjustment: the sparse Jacobian of 31 843 observations, of which the record has both
/// ends.
#[test]
fn ba1() {
    case("ba1", &ENGINES, &[]);
}

/// Hand tracking: the Jacobian of many residuals by 26 parameters, all columns at once. One
/// direction after the other takes core long.
#[test]
fn ht_simple_small() {
    case("ht_simple_small", &ENGINES, &["jacobian"]);
}

/// Hand tracking with two more parameters for each measurement, which share two columns.
#[test]
fn ht_complicated_small() {
    case("ht_complicated_small", &ENGINES, &["jacobian"]);
}

/// Derivatives of derivatives through loops with data-dependent trip counts, in all four
/// combinations of modes.
#[test]
fn particle() {
    case("particle", &ENGINES, &[]);
}

#[test]
fn saddle() {
    case("saddle", &ENGINES, &[]);
}

/// The suite's other messages, an order of members that no suite sends, and impossible requests.
#[test]
fn protocol() {
    let answers = talk(
        Engine::Anf,
        &[
            json!({"id": 0, "kind": "start", "eval": "lse", "config": {"d": [2, 10]}}),
            json!({"id": 1, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [0.0]}}),
            json!({"id": 2, "kind": "define", "module": "lso"}),
            json!({"id": 3, "kind": "define", "module": "lse"}),
            json!({"input": {"min_seconds": 0, "min_runs": 3, "x": [0, 0.0], "y": {"z": [null]}}, "function": "primal", "module": "lse", "kind": "evaluate", "id": 4}),
            json!({"id": 5, "kind": "analysis", "of": 4, "valid": true}),
            json!({"id": 6, "kind": "evaluate", "module": "lse", "function": "slope", "input": {"x": [0.0]}}),
            json!({"id": 7, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [[0.0]]}}),
            json!({"id": 8, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"y": [0.0]}}),
            json!({"id": 9, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": []}}),
            json!({"id": 10, "kind": "end"}),
        ],
    );
    let says = |k: usize, what: &str| {
        let error = answers[k]["error"].as_str().expect("an error");
        assert!(answers[k]["success"] == false && error.contains(what), "{error}");
    };
    assert_eq!(answers[0], json!({"id": 0, "tool": "lambada"}));
    says(1, "the eval `lse` has not been defined");
    says(2, "did you mean `lse`?");
    assert_eq!(answers[3], json!({"id": 3, "success": true}));
    close("primal", &answers[4]["output"], &json!(std::f64::consts::LN_2));
    assert_eq!(answers[4]["timings"].as_array().map(Vec::len), Some(3));
    assert_eq!(answers[5], json!({"id": 5}));
    says(6, "`gradient` and `primal`");
    says(7, "`x`");
    says(8, "no member `x`");
    says(9, "maximum of an empty array");
    assert_eq!(answers[10], json!({"id": 10}));
}

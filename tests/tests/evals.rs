//! The standard cases: value and derivative of every example against recorded outputs of independent implementations, to 1e-9 relative,
//! natively and through every evaluator.

use std::path::{Path, PathBuf};

use lambada::operators::Operator;
use lambada::{Data, Engine, Executable, Inputs, Raw, Session, label_gradient, to_json};
use lambada_testkit::Tolerance;
use serde_json::{Value, json};

const ENGINES: [Engine; 4] = [Engine::Native, Engine::Loops, Engine::Anf, Engine::Core];

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

/// What an entry of an example gives for the recorded input, of which only the named members are parameters.
fn compute(
    example: &str,
    entry: &str,
    operator: Operator,
    wrt: Option<&str>,
    input: &Value,
    members: &[&str],
    engine: Engine,
) -> Data {
    let mut session = Session::new();
    let unit = session
        .load(&root().join("examples").join(example))
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let wrt: Option<Vec<String>> = wrt.map(|names| names.split(',').map(str::to_string).collect());
    let call = unit
        .call(entry, operator, wrt.as_deref())
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let mut inputs = Inputs::new();
    for name in members {
        inputs.insert(*name, Raw::Json(input[*name].clone().into()), "the record");
    }
    let args = call.arguments(&inputs).unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let names = call.wrt_names();
    let executable = Executable::new(call.program, call.entry, engine)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    if engine == Engine::Native && !lambada_testkit::may_lack_c_compiler() {
        assert!(lambada_run::Compiler::find().is_some(), "{}", lambada_testkit::NO_C_COMPILER);
    }
    match executable.run(&args).unwrap_or_else(|f| panic!("{}", session.render_failure(&f, false)))
    {
        Data::Tuple(mut pair) if operator == Operator::Grad => {
            label_gradient(&names, pair.pop().expect("a gradient comes with the value"))
        }
        value => value,
    }
}

/// Close to 1e-9, place by place.
fn close(what: &str, found: &Value, expected: &Value) {
    match (found, expected) {
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            a.iter()
                .zip(b)
                .enumerate()
                .for_each(|(k, (x, y))| close(&format!("{what}[{k}]"), x, y));
        }
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            b.iter().for_each(|(k, y)| close(&format!("{what}.{k}"), &a[k], y));
        }
        (a, b) => {
            let (x, y) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            lambada_testkit::close(&what, x, y, Tolerance::mixed(1e-9))
                .unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

fn flat(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        scalar => vec![scalar.clone()],
    }
}

#[test]
fn hello() {
    let mut session = Session::new();
    let unit = session
        .load_text(
            "hello.lam",
            "def square (x : real) = x * x\n\ndef double x = grad square x\n",
            None,
        )
        .expect("it is well typed");
    for case in recorded("hello")["cases"].as_array().expect("cases") {
        for engine in ENGINES {
            let call = unit
                .call(case["function"].as_str().expect("a name"), Operator::Value, None)
                .expect("it is there");
            let mut inputs = Inputs::new();
            inputs.insert("x", Raw::Json(case["input"].clone().into()), "the record");
            let args = call.arguments(&inputs).expect("a number");
            let result = Executable::new(call.program, call.entry, engine)
                .expect("it compiles")
                .run(&args)
                .expect("it runs");
            close("hello", &to_json(&result), &case["output"]);
        }
    }
}

fn gmm(case: &str, engines: &[Engine]) {
    let record = recorded(case);
    let members = ["alpha", "mu", "q", "l", "x", "m", "gamma"];
    for engine in engines {
        let value = compute(
            "gmm.lam",
            "objective",
            Operator::Value,
            None,
            &record["input"],
            &members,
            *engine,
        );
        close("objective", &to_json(&value), &record["outputs"]["objective"]);
        let gradient = compute(
            "gmm.lam",
            "objective",
            Operator::Grad,
            Some("alpha,mu,q,l"),
            &record["input"],
            &members,
            *engine,
        );
        close(&format!("{engine:?} jacobian"), &to_json(&gradient), &record["outputs"]["jacobian"]);
    }
}

#[test]
fn gmm_d2_k5() {
    gmm("gmm_d2_k5", &ENGINES);
}

#[test]
fn gmm_d10_k5() {
    gmm("gmm_d10_k5", &ENGINES);
}

#[test]
fn lse() {
    let record = recorded("lse");
    for engine in ENGINES {
        let value = compute(
            "logsumexp.lam",
            "lse",
            Operator::Value,
            None,
            &record["input"],
            &["x"],
            engine,
        );
        close("primal", &to_json(&value), &record["outputs"]["primal"]);
        let gradient =
            compute("logsumexp.lam", "lse", Operator::Grad, None, &record["input"], &["x"], engine);
        close("gradient", &to_json(&gradient), &record["outputs"]["gradient"]);
    }
}

#[test]
fn llsq() {
    let record = recorded("llsq");
    for engine in ENGINES {
        let value = compute(
            "least_squares.lam",
            "residual",
            Operator::Value,
            None,
            &record["input"],
            &["x", "n"],
            engine,
        );
        close("primal", &to_json(&value), &record["outputs"]["primal"]);
        let gradient = compute(
            "least_squares.lam",
            "residual",
            Operator::Grad,
            None,
            &record["input"],
            &["x", "n"],
            engine,
        );
        close("gradient", &to_json(&gradient), &record["outputs"]["gradient"]);
    }
}

#[test]
fn lstm() {
    let record = recorded("lstm");
    let members = ["main_params", "extra_params", "state", "sequence"];
    for engine in ENGINES {
        let value = compute(
            "lstm.lam",
            "objective",
            Operator::Value,
            None,
            &record["input"],
            &members,
            engine,
        );
        close("objective", &to_json(&value), &record["outputs"]["objective"]);
        let gradient = to_json(&compute(
            "lstm.lam",
            "objective",
            Operator::Grad,
            Some("main_params,extra_params"),
            &record["input"],
            &members,
            engine,
        ));
        let all: Vec<Value> = ["main_params", "extra_params"]
            .iter()
            .flat_map(|name| flat(&gradient[*name]))
            .collect();
        close("jacobian", &json!(all), &record["outputs"]["jacobian"]);
    }
}

#[test]
fn ode() {
    let record = recorded("ode");
    for engine in ENGINES {
        let value = compute(
            "ode.lam",
            "primal",
            Operator::Value,
            None,
            &record["input"],
            &["x", "s"],
            engine,
        );
        close("primal", &to_json(&value), &record["outputs"]["primal"]);
        let gradient =
            compute("ode.lam", "last", Operator::Grad, None, &record["input"], &["x", "s"], engine);
        close("gradient", &to_json(&gradient), &record["outputs"]["gradient"]);
    }
}

#[test]
fn kmeans() {
    let record = recorded("kmeans");
    let members = ["points", "centroids"];
    for engine in ENGINES {
        let value = compute(
            "kmeans.lam",
            "cost",
            Operator::Value,
            None,
            &record["input"],
            &members,
            engine,
        );
        close("cost", &to_json(&value), &record["outputs"]["cost"]);
        let direction = compute(
            "kmeans.lam",
            "direction",
            Operator::Value,
            None,
            &record["input"],
            &members,
            engine,
        );
        close("dir", &to_json(&direction), &record["outputs"]["dir"]);
    }
}

/// Hand tracking: the Jacobian of many residuals by 26 parameters, all columns at once.
#[test]
fn ht_simple_small() {
    let record = recorded("ht_simple_small");
    let (data, model) = (&record["input"]["data"], &record["input"]["data"]["model"]);
    let input = json!({
        "parents": model["parents"],
        "base": model["base_relatives"],
        "inverse": model["inverse_base_absolutes"],
        "rest": model["base_positions"],
        "weights": model["weights"],
        "mirrored": model["is_mirrored"],
        "correspondences": data["correspondences"],
        "points": data["points"],
        "theta": record["input"]["theta"],
    });
    let members: Vec<&str> =
        input.as_object().expect("an object").keys().map(String::as_str).collect();
    let program = "../tests/evals/hand_tracking.lam";
    for engine in ENGINES {
        let run = |entry| compute(program, entry, Operator::Value, None, &input, &members, engine);
        close("objective", &to_json(&run("residuals")), &record["outputs"]["objective"]);
        // One direction after the other takes core long.
        if engine != Engine::Core {
            let jacobian = to_json(&run("residuals_jacobian"));
            close("jacobian", &jacobian, &record["outputs"]["jacobian"]);
        }
    }
}

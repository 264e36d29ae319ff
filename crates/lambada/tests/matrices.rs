//! Jacobians and Hessians of whole definitions, by one parameter and by several, on every engine.

use lambada::{Data, Engine, Executable, Inputs, Operator, Session, label, to_json};
use serde_json::{Value, json};

const PROGRAM: &str =
    "def path (x : [2]real) (scale : real) : [3]real = [scale * x[0] * x[1], x[0] * x[0], x[1]]
def sheet (x : [2]real) (scale : real) : [2][2]real = for i < 2, j < 2 => scale * x[i] * x[j]
def energy (x : [2]real) (scale : real) : real = scale * x[0] ** 3 + scale ** 2 * x[1]
def cube (x : real) : real = x ** 3
def area (size : (real, real)) (scale : real) : real = scale ** 2 * size.0 * size.1
def both (x : real) : (real, real) = (x, x)
";

/// The derivative, with the names of the parameters, on an engine.
fn derivative(
    entry: &str,
    operator: Operator,
    wrt: Option<&str>,
    args: &str,
    engine: Engine,
) -> Result<Value, String> {
    let mut session = Session::new();
    let unit = session.load_text("matrices.lam", PROGRAM, None).expect("it is well typed");
    let wrt: Option<Vec<String>> = wrt.map(|names| names.split(',').map(str::to_string).collect());
    let call = unit.call(entry, operator, wrt.as_deref());
    let call = call.map_err(|problems| problems[0].code.to_string())?;
    let mut inputs = Inputs::new();
    inputs.read_json(args, "the arguments").expect("JSON");
    let args = call.arguments(&inputs).expect("they fit");
    let names = call.wrt_names();
    let executable = Executable::new(call.program, call.entry, engine).expect("it compiles");
    let Data::Tuple(mut pair) = executable.run(&args).expect("it runs") else {
        panic!("derivatives come with the value")
    };
    Ok(to_json(&label(operator, &names, pair.pop().expect("a pair"))))
}

fn check(entry: &str, operator: Operator, wrt: Option<&str>, args: &str, expected: &Value) {
    for engine in [Engine::Native, Engine::Loops, Engine::Anf, Engine::Core] {
        let found = derivative(entry, operator, wrt, args, engine);
        assert_eq!(found.as_ref(), Ok(expected), "{entry} by {wrt:?} on {engine:?}");
    }
}

const POINT: &str = r#"{"x": [2, 3], "scale": 5}"#;

#[test]
fn a_jacobian_has_a_row_for_each_result() {
    let by_x = json!([[15.0, 10.0], [4.0, 0.0], [0.0, 1.0]]);
    let by_scale = json!([6.0, 0.0, 0.0]);
    check("path", Operator::Jacobian, Some("x"), POINT, &by_x);
    check("path", Operator::Jacobian, Some("scale"), POINT, &by_scale);
    check("path", Operator::Jacobian, None, POINT, &json!({"x": by_x, "scale": by_scale}));
    let gradient = json!({"x": [60.0, 25.0], "scale": 38.0});
    check("energy", Operator::Jacobian, None, POINT, &gradient);
}

#[test]
fn rows_of_a_matrix_stand_in_its_shape() {
    let by_x = json!([[[20.0, 0.0], [15.0, 10.0]], [[15.0, 10.0], [0.0, 30.0]]]);
    let by_scale = json!([[4.0, 6.0], [6.0, 9.0]]);
    check("sheet", Operator::Jacobian, None, POINT, &json!({"x": by_x, "scale": by_scale}));
}

#[test]
fn a_hessian_is_by_the_parameters_twice() {
    let hessian = json!({
        "x": {"x": [[60.0, 0.0], [0.0, 0.0]], "scale": [12.0, 10.0]},
        "scale": {"x": [12.0, 10.0], "scale": 6.0},
    });
    check("energy", Operator::Hessian, None, POINT, &hessian);
    check("energy", Operator::Hessian, Some("scale"), POINT, &json!(6.0));
    check("cube", Operator::Hessian, None, r#"{"x": 2}"#, &json!(12.0));
    check(
        "area",
        Operator::Hessian,
        Some("scale"),
        r#"{"size": [2, 3], "scale": 4}"#,
        &json!(12.0),
    );
}

#[test]
fn other_types_are_told() {
    let code = |entry, operator| derivative(entry, operator, None, "{}", Engine::Anf);
    assert_eq!(code("both", Operator::Jacobian), Err("E0473".to_string()));
    assert_eq!(code("path", Operator::Hessian), Err("E0474".to_string()));
    assert_eq!(code("area", Operator::Hessian), Err("E0475".to_string()));
}

//! Large and deep programs. On a thread with a small stack, the library finishes in near-linear
//! time or refuses the program with a source position. A stack overflow would end the process.

use lambada::{Data, Engine, Executable, Operator, Problem, Session, Tensor};

/// Runs on a thread with a stack of 256 KiB.
fn on_a_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(1 << 18).spawn(run).expect("a thread");
    thread.join().expect("it does not panic")
}

fn real(x: f64) -> Data {
    Data::Tensor(Tensor::reals(Vec::new(), vec![x]))
}

/// The value or a derivative of `f` at a real.
fn value(text: &str, operator: Operator, engine: Engine, x: f64) -> Result<Data, Vec<Problem>> {
    let unit = Session::new().load_text("f.lam", text, None)?;
    let call = unit.call("f", operator, None)?;
    let executable = Executable::new(call.program, call.entry, engine)?;
    Ok(executable.run(&[real(x)]).unwrap_or_else(|failure| panic!("{failure:?}")))
}

/// Checks the value of `f` and its gradient on engines without a C compiler.
fn check(text: impl Into<String>, x: f64, expected: f64, gradient: f64) {
    let text = text.into();
    on_a_small_stack(move || {
        for engine in [Engine::Core, Engine::Loops] {
            let found = value(&text, Operator::Value, engine, x).expect("it is compiled");
            assert_eq!(found, real(expected), "{engine:?}");
            let found = value(&text, Operator::Grad, engine, x).expect("it is compiled");
            assert_eq!(found, Data::Tuple(vec![real(expected), real(gradient)]), "{engine:?}");
        }
    });
}

/// The only problem of a program.
fn problem(text: impl Into<String>, engine: Engine) -> (String, bool) {
    let text = text.into();
    on_a_small_stack(move || {
        let problems = value(&text, Operator::Value, engine, 1.0).expect_err("it is refused");
        assert_eq!(problems.len(), 1, "{problems:?}");
        (problems[0].code.to_string(), !problems[0].labels.is_empty())
    })
}

#[test]
fn a_hundred_thousand_lets() {
    let mut text = "def f (x : real) : real =\n  let x0 = x\n".to_string();
    for k in 1..100_000 {
        text += &format!("  let x{k} = x{} + x\n", k - 1);
    }
    text += "  in x99999\n";
    on_a_small_stack(move || {
        let found = value(&text, Operator::Value, Engine::Core, 1.0).expect("it is evaluated");
        assert_eq!(found, real(100_000.0));
    });
}

#[test]
fn ten_thousand_nested_brackets_are_refused_with_a_place() {
    let text = format!("def f (x : real) = {}x{}", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(problem(text, Engine::Core), ("E0018".to_string(), true));
}

#[test]
fn ten_thousand_definitions_that_call_each_other() {
    let mut text = "def f0 (x : real) : real = x\n".to_string();
    for k in 1..10_000 {
        text += &format!("def f{k} (x : real) : real = f{} (x + 1.0)\n", k - 1);
    }
    text += "def f (x : real) : real = f9999 x\n";
    check(text, 1.0, 10_000.0, 1.0);
}

#[test]
fn calls_nested_too_deeply_are_refused_with_a_place() {
    let mut text = "def f0 (x : real) : real = x\n".to_string();
    for k in 1..25_000 {
        text += &format!("def f{k} (x : real) : real = f{} (x + 1.0)\n", k - 1);
    }
    text += "def f (x : real) : real = f24999 x\n";
    assert_eq!(problem(text, Engine::Loops), ("E0506".to_string(), true));
}

#[test]
fn a_long_chain_of_branches() {
    let mut text = "def f (x : real) : real =\n  ".to_string();
    for k in 0..500 {
        text += &format!("if x < {k}.0 then {k}.0 * x\n  else ");
    }
    text += "x\n";
    check(text, 10.5, 11.0 * 10.5, 11.0);
}

#[test]
fn ten_thousand_branches() {
    let mut text = "def f (x : real) : real =\n  ".to_string();
    for k in 0..10_000 {
        text += &format!("if x < {k}.0 then {k}.0 * x\n  else ");
    }
    text += "x\n";
    on_a_small_stack(move || {
        let found = value(&text, Operator::Value, Engine::Core, 10.5).expect("it is evaluated");
        assert_eq!(found, real(11.0 * 10.5));
    });
}

#[test]
fn what_grows_without_bound_is_refused_by_the_compiler_and_runs_in_core() {
    let twice = "def twice g x = g (g x)\n";
    let tower = format!("{twice}def f (x : real) : real = (twice twice twice twice twice) sin x\n");
    assert_eq!(problem(tower, Engine::Loops), ("E0506".to_string(), true));
    // More statements than the compiler accepts, but few enough for the evaluator.
    let text = format!(
        "{twice}def g (x : real) : real = (twice twice twice twice) (\\y -> y + 1.0) x\n\
         def f (x : real) : real = {}\n",
        (0..20).fold("x".to_string(), |inner, _| format!("g ({inner})"))
    );
    assert_eq!(problem(text.clone(), Engine::Loops), ("E0505".to_string(), true));
    on_a_small_stack(move || {
        let found = value(&text, Operator::Value, Engine::Core, 0.0).expect("it is evaluated");
        assert_eq!(found, real(20.0 * 65_536.0));
    });
}

#[test]
fn a_function_of_many_parameters() {
    for types in [" : real", ""] {
        let params: String = (0..2_000).map(|k| format!(" (x{k}{types})")).collect();
        let sum: Vec<String> = (0..2_000).map(|k| format!("x{k}")).collect();
        let sum = sum.join(" + ");
        let args = " x".repeat(2_000);
        let text = format!("def g{params} = {sum}\ndef f (x : real) : real = g{args}\n");
        on_a_small_stack(move || {
            let unit = Session::new().load_text("f.lam", &text, None).expect("it is checked");
            assert_eq!(unit.definitions().len(), 2);
            let found = value(&text, Operator::Grad, Engine::Loops, 0.5).expect("it is compiled");
            assert_eq!(found, Data::Tuple(vec![real(1_000.0), real(2_000.0)]));
        });
    }
}

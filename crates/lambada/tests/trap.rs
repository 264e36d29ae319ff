//! `--trap-nan` blames the first operation that makes a NaN from numbers, on every engine, and
//! leaves other programs unchanged.

use lambada::{Data, Engine, Executable, Operator, Session};

const ENGINES: [Engine; 4] = [Engine::Core, Engine::Anf, Engine::Loops, Engine::Native];

/// The message of `f` at a point, with its place, or the result, on every engine.
fn told(text: &str, operator: Operator, args: &[f64]) -> Vec<String> {
    let mut session = Session::new();
    let unit = session
        .load_text("m.lam", text, None)
        .unwrap_or_else(|problems| panic!("{}", session.render(&problems, false)));
    let args: Vec<Data> = args.iter().map(|x| Data::from(*x)).collect();
    let on = |engine| {
        let call = unit.call("f", operator, None).unwrap_or_else(|p| panic!("{p:?}"));
        let executable = Executable::trapping(call.program, call.entry, engine)
            .unwrap_or_else(|p| panic!("{p:?}"));
        match executable.run(&args) {
            Ok(value) => value.to_string(),
            Err(failure) => session.render_failure(&failure, false),
        }
    };
    ENGINES.into_iter().map(on).collect()
}

/// Checks that all engines blame the operation at the line and column.
fn trapped(text: &str, operator: Operator, args: &[f64], op: &str, place: &str) {
    for (engine, told) in ENGINES.iter().zip(told(text, operator, args)) {
        let message = format!("here `{op}` makes the first NaN");
        assert!(told.contains(&message), "{engine:?} of {text}: {told}");
        assert!(told.contains(&format!("m.lam:{place}\n")), "{engine:?} of {text}: {told}");
    }
}

fn runs(text: &str, args: &[f64], expected: &str) {
    for (engine, told) in ENGINES.iter().zip(told(text, Operator::Value, args)) {
        assert_eq!(told, expected, "{engine:?} of {text}");
    }
}

#[test]
fn operations() {
    let text = "def f (x : real) : real =\n  let y = x - x\n  let z = y / y\n  in z + 1.0\n";
    trapped(text, Operator::Value, &[1.0], "/", "3:11");
    trapped(text, Operator::Grad, &[1.0], "/", "3:11");
    let text = "def f (x : real) : real = loop y = x for i < 5 do log (y - 2.0)\n";
    trapped(text, Operator::Value, &[2.5], "log", "1:51");
}

/// Two of four elements are read, each often; the others have no logarithm.
#[test]
fn elements_that_no_one_reads() {
    let sums = "sum (for i < 40 => log xs[abs (i % 2)])";
    let text = format!("def f (x : real) : real = let xs = [x, 1.0, -1.0, x - 9.0] in {sums}\n");
    runs(&text, &[1.0], "0.0");
    let read = text.replace("% 2", "% 3");
    trapped(&read, Operator::Value, &[1.0], "log", &format!("1:{}", read.find("log").unwrap() + 1));
    let gradient = told(&text, Operator::Grad, &[1.0]);
    assert!(gradient.iter().all(|told| told.contains("20.0")), "{gradient:?}");
}

#[test]
fn recursion() {
    let text = "type list = Nil | Cons real list\n\
                def rec total (l : list) : real =\n\
                \x20 match l | Nil -> 0.0 | Cons x rest -> sqrt x + total rest\n\
                def f (x : real) : real = total (Cons 1.0 (Cons x Nil))\n";
    trapped(text, Operator::Value, &[-1.0], "sqrt", "3:41");
    runs(text, &[4.0], "3.0");
}

#[test]
fn derivatives() {
    let text = "def f (x : real) : real =\n  sqrt (x * x)\n";
    runs(text, &[0.0], "0.0");
    for (engine, told) in ENGINES.iter().zip(told(text, Operator::Grad, &[0.0])) {
        assert!(told.contains("here `*` makes the first NaN"), "{engine:?}: {told}");
        assert!(told.contains("m.lam:2:"), "{engine:?}: {told}");
    }
}

#[test]
fn a_nan_that_goes_in_may_come_out() {
    let text = "def f (x : real) : real = sum (for i < 3 => x * real i + 1.0) * exp x\n";
    runs(text, &[f64::NAN], "nan");
    runs("def f (x : real) : real = if x > 0 then nan else x\n", &[1.0], "nan");
    let text = "def f (x : real) : real = (accumulate h = [0.0, x] in for i < 2 => h[i] += x)[0]\n";
    runs(text, &[f64::NAN], "nan");
}

#[test]
fn infinities_are_numbers() {
    runs("def f (x : real) : real = (exp (1000.0 * x) + 1.0 / (x - x)) * 2.0\n", &[1.0], "inf");
}

#[test]
fn accumulators() {
    let text = "def f (x : real) : real =\n\
                \x20 (accumulate h = [0.0] in\n\
                \x20    for i < 2 => h[0] += (if i == 0 then x / 0.0 else 1.0 - x / 0.0))[0]\n";
    for (engine, told) in ENGINES.iter().zip(told(text, Operator::Value, &[1.0])) {
        assert!(told.contains("makes the first NaN"), "{engine:?}: {told}");
    }
}

//! `inspect` shows the same values in the same order on every engine, once for each evaluation,
//! also in derivatives.

use std::sync::{Arc, Mutex};

use lambada::{Data, Engine, Executable, Operator, Session};

const ENGINES: [Engine; 4] = [Engine::Core, Engine::Anf, Engine::Loops, Engine::Native];

/// The output of `f`, equal on every engine.
fn shown(text: &str, operator: Operator, args: &[Data]) -> String {
    let mut session = Session::new();
    let unit = session
        .load_text("m.lam", text, None)
        .unwrap_or_else(|problems| panic!("{}", session.render(&problems, false)));
    let on = |engine| {
        let call = unit.call("f", operator, None).unwrap_or_else(|p| panic!("{p:?}"));
        let (told, session) = (Arc::new(Mutex::new(String::new())), session.clone());
        let to = told.clone();
        let observer =
            move |site: &_, value: &Data| *to.lock().unwrap() += &session.inspected(site, value);
        let executable = Executable::new(call.program, call.entry, engine)
            .unwrap_or_else(|p| panic!("{p:?}"))
            .with_observer(Arc::new(observer));
        let outcome = executable.run(args).map(|_| ()).map_err(|failure| failure.message);
        let told = told.lock().unwrap().clone();
        (told, outcome)
    };
    let all: Vec<(String, Result<(), String>)> = ENGINES.into_iter().map(on).collect();
    for (engine, other) in ENGINES.iter().zip(&all) {
        assert_eq!(*other, all[0], "{engine:?} of {text}");
    }
    all[0].0.clone()
}

/// Checks the output of `f` and of its derivatives.
fn check(text: &str, args: &[f64], expected: &str) {
    let args: Vec<Data> = args.iter().map(|x| Data::from(*x)).collect();
    assert_eq!(shown(text, Operator::Value, &args), expected);
    assert_eq!(shown(text, Operator::Grad, &args), expected, "the gradient of {text}");
    let directions = args.iter().cloned();
    let tangents = args.iter().cloned().chain(directions).collect::<Vec<_>>();
    assert_eq!(shown(text, Operator::Jvp, &tangents), expected, "the tangent of {text}");
}

#[test]
fn values_of_every_type() {
    let text = "type shape = Circle real | Rect real real\n\
                def f (x : real) : real =\n\
                \x20 let (a, _) = inspect_as \"pair\" (x * x, [1, 2])\n\
                \x20 let r = inspect {m = [[x, 1.0], [2.0, a]], s = [Circle x, Rect 1.0 a], on = x > 1}\n\
                \x20 let g = inspect (\\z -> z + x)\n\
                \x20 let _ = inspect [(sin, x), (cos, a)]\n\
                \x20 let _ = inspect ()\n\
                \x20 in g r.m[0, 0]\n";
    let expected = "m.lam:3:16: pair = (4.0, [1.0, 2.0])\n\
                    m.lam:4:11:\n\
                    {m = [[2.0, 1.0],\n\
                    \x20     [2.0, 4.0]],\n\
                    \x20on = true,\n\
                    \x20s = [Circle 2.0, Rect 1.0 4.0]}\n\
                    m.lam:5:11: \\z -> z + x = <function>\n\
                    m.lam:6:11: [(sin, x), (cos, a)] = [(<function>, 2.0), (<function>, 4.0)]\n\
                    m.lam:7:11: () = ()\n";
    check(text, &[2.0], expected);
}

#[test]
fn recursive_values() {
    let text = "type list = Nil | Cons real list\n\
                def rec total (l : list) : real =\n\
                \x20 match inspect l | Nil -> 0.0 | Cons x rest -> x * x + total rest\n\
                def f (x : real) : real = total (Cons x (Cons 2.0 Nil))\n";
    let expected = "m.lam:3:9: l = Cons 3.0 (Cons 2.0 Nil)\n\
                    m.lam:3:9: l = Cons 2.0 Nil\n\
                    m.lam:3:9: l = Nil\n";
    check(text, &[3.0], expected);
}

#[test]
fn once_per_evaluation_in_the_order_of_the_text() {
    let text = "def twice g x = g (g x)\n\
                def f (x : real) : real =\n\
                \x20 let a = loop s = x for i < 3 do inspect (s * x)\n\
                \x20 let b = sum (for i < 2 => inspect_as \"i\" (real i) * x)\n\
                \x20 let c = if x > 10 then inspect x else inspect (-x)\n\
                \x20 let d = inspect (x * x) + inspect (x * x)\n\
                \x20 let _ = for i < 2 => (inspect_as \"row\" i, inspect_as \"again\" i)\n\
                \x20 in a + b + c + d + twice (\\y -> inspect (y + x)) x\n";
    let line = |place: &str, text: &str| format!("m.lam:{place}: {text}\n");
    let expected = [
        line("3:35", "s * x = 4.0"),
        line("3:35", "s * x = 8.0"),
        line("3:35", "s * x = 16.0"),
        line("4:29", "i = 0.0"),
        line("4:29", "i = 1.0"),
        line("5:41", "-x = -2.0"),
        line("6:11", "x * x = 4.0"),
        line("6:29", "x * x = 4.0"),
        line("7:25", "row = 0"),
        line("7:45", "again = 0"),
        line("7:25", "row = 1"),
        line("7:45", "again = 1"),
        line("8:35", "y + x = 4.0"),
        line("8:35", "y + x = 6.0"),
    ];
    check(text, &[2.0], &expected.concat());
}

#[test]
fn loops_that_are_run_again_show_nothing_again() {
    let body = |policy: &str| {
        format!("def f (x : real) : real = loop y = x for i < 5 {policy}do sin (inspect (y * x))\n")
    };
    let count = |text: &str| {
        let told = shown(text, Operator::Grad, &[Data::from(0.5)]);
        assert_eq!(told, shown(text, Operator::Value, &[Data::from(0.5)]), "{text}");
        told.lines().count()
    };
    assert_eq!(count(&body("")), 5);
    assert_eq!(count(&body("checkpoint sqrt ")), 5);
    assert_eq!(count(&body("checkpoint 2 ")), 5);
    let text = "def f (x : real) : real = loop y = x while inspect y < 10 do y * x + 6\n";
    // 0.5, 6.25, 9.125, 10.5625
    assert_eq!(count(text), 4);
}

#[test]
fn what_comes_before_a_failure_is_seen() {
    let text = "def f (x : real) : real =\n\
                \x20 let xs = [x, x]\n\
                \x20 in loop s = 0.0 for i < 5 do s + xs[inspect i]\n";
    let expected = "m.lam:3:39: i = 0\nm.lam:3:39: i = 1\nm.lam:3:39: i = 2\n";
    check(text, &[1.0], expected);
}

#[test]
fn derivatives_of_derivatives_and_of_many_directions() {
    let text = "def f (x : real) : real = grad (\\y -> grad (\\z -> inspect z * z * y) x) 2.0\n";
    check(text, &[3.0], "m.lam:1:51: z = 3.0\n");
    let text = "def g (v : [2]real) : [2]real = [inspect v[0] * v[1], v[0]]\n\
                def f (x : real) : real = sum (for w in [[1.0, 0.0], [0.0, 1.0]] => (jvp g [x, 2.0] w).0[0])\n";
    assert_eq!(shown(text, Operator::Value, &[Data::from(1.0)]).lines().count(), 2);
}

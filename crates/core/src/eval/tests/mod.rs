//! The evaluator on programs that no text produces: arguments of wrong types, places of failures,
//! terms made by passes only, and depth. Programs that people write are in
//! `tests/programs/normalize`.

mod generated;

use lambada_prim::{Prim, ReduceOp};
use lambada_source::{FileId, Span};

use super::run;
use crate::{
    Checkpoint, Data, LoopKind, Program, Signature, Term, TermKind, Ty, Var, app, for_, index, int,
    jvp, lam, let_, loop_, prim, proj, real, reduce, tuple, update, var, vjp,
};

const NOWHERE: Span = Span { file: FileId(0), start: 0, end: 0 };

/// A program with one definition.
fn main(mut program: Program, body: Term) -> Program {
    program.define("main", body, Signature::default(), NOWHERE);
    program
}

fn outcome(program: Program, body: Term, args: &[Data]) -> Result<Data, (Span, String)> {
    let program = main(program, body);
    if let Err(message) = crate::check(&program) {
        panic!("{message}\n{}", crate::print_program(&program));
    }
    run(&program, program.find("main").unwrap(), args)
        .map_err(|failure| (failure.span, failure.message))
}

fn check(program: Program, body: Term, args: &[Data], expect: impl Into<Data>) {
    outcome(program, body, args).unwrap().close(&expect.into(), 1e-12).unwrap();
}

/// `\x -> body`, with a fresh variable.
fn function(p: &mut Program, ty: Ty, body: impl FnOnce(&mut Program, &Var) -> Term) -> Term {
    let x = p.fresh("x", ty);
    let body = body(p, &x);
    lam(x, body)
}

#[test]
fn failures_say_where() {
    let p = &mut Program::default();
    let span = Span::new(FileId(0), 5, 9);
    let body = function(p, Ty::array(Ty::REAL), |p, xs| {
        function(p, Ty::INT, |_, i| index(var(xs), vec![var(i)], span))
    });
    let failure = outcome(p.clone(), body, &[vec![1.0].into(), (-1).into()]);
    assert_eq!(failure, Err((span, "index -1 is out of range for size 1".to_string())));
}

#[test]
fn arguments_are_checked() {
    let cases: [(&[Data], &str); 3] = [
        (&[3.into()], "argument 1: a value of type real was expected, not 3"),
        (&[], "the result contains a function"),
        (&[1.0.into(), 2.0.into()], "2 arguments were given, but 1 are taken"),
    ];
    for (args, expect) in cases {
        let p = &mut Program::default();
        let body = function(p, Ty::REAL, |_, x| var(x));
        let message = outcome(p.clone(), body, args).map_err(|(_, message)| message);
        assert_eq!(message, Err(expect.to_string()));
    }
}

/// A maximum without a check, as passes write it.
#[test]
fn the_maximum_of_nothing_is_neutral() {
    let p = &mut Program::default();
    let body = function(p, Ty::array(Ty::REAL), |_, xs| reduce(ReduceOp::Max, var(xs)));
    check(p.clone(), body, &[Vec::<f64>::new().into()], f64::NEG_INFINITY);
}

/// `select (x > 0) (sqrt x) x`: the alternative that is not selected has an infinite derivative.
#[test]
fn zero_times_infinity_does_not_arise_from_choices() {
    let derivatives: [fn(Term, Term) -> Term; 2] = [
        |f, x| proj(jvp(f, x, real(1.0), NOWHERE), 1),
        |f, x| app(proj(vjp(f, x, NOWHERE), 1), real(1.0)),
    ];
    for derivative in derivatives {
        let p = &mut Program::default();
        let f = function(p, Ty::REAL, |_, x| {
            let is_positive = prim(Prim::Lt, vec![real(0.0), var(x)]);
            prim(Prim::Select, vec![is_positive, prim(Prim::Sqrt, vec![var(x)]), var(x)])
        });
        let body = function(p, Ty::REAL, |_, x| derivative(f, var(x)));
        check(p.clone(), body, &[0.0.into()], 1.0);
    }
}

#[test]
fn long_spines_do_not_overflow() {
    let p = &mut Program::default();
    let body = function(p, Ty::REAL, |p, x| {
        let vars: Vec<Var> = (0..100_000).map(|_| p.fresh("y", Ty::REAL)).collect();
        let value =
            |k: usize| prim(Prim::Add, vec![var(if k == 0 { x } else { &vars[k - 1] }), real(1.0)]);
        (0..vars.len())
            .rev()
            .fold(var(&vars[99_999]), |body, k| let_(vars[k].clone(), value(k), body))
    });
    let copy = p.freshen(&body);
    assert!(copy.free_vars().is_empty());
    check(p.clone(), copy, &[0.5.into()], 100_000.5);
}

/// Very deep functions that hold functions, and constructors inside of tuples, arrays and
/// functions, are dropped iteratively.
#[test]
fn deep_values_are_dropped() {
    use crate::eval::value::Value;
    let around = |value: Value, k: usize| match k % 3 {
        0 => Value::con(0, vec![Value::tuple(vec![value, Value::Unit])]),
        1 => Value::con(0, vec![Value::array(vec![value])]),
        _ => Value::con(0, vec![value, Value::Real(1.0)]),
    };
    drop((0..300_000).fold(Value::Unit, around));
    let con =
        |name: &str, tag, args: Vec<Data>| Data::Con { name: name.into(), tag, args: args.into() };
    let deep = (0..300_000).fold(con("Nil", 0, vec![]), |rest, _| con("Cons", 1, vec![rest]));
    let copy = deep.clone();
    assert_eq!(deep.close(&copy, 0.0), Ok(()));
    assert!(deep == copy && deep.to_string().contains("Cons (Cons Nil)))"));
}

//! The evaluator on terms built by hand. Programs are checked before they run.

mod derivatives;
mod generated;
mod values;

use lambada_prim::{Prim, ReduceOp};
use lambada_source::{FileId, Span};

use super::run;
use crate::{
    Arm, Checkpoint, Data, LoopKind, Program, Signature, Term, TermKind, Ty, TypeDecl, TypeId, Var,
    app, dim, for_, index, int, jvp, lam, let_, loop_, match_, prim, proj, real, reduce, tuple,
    update, var, vjp,
};

const NOWHERE: Span = Span { file: FileId(0), start: 0, end: 0 };

/// A program with one definition.
fn main(mut program: Program, body: Term) -> Program {
    program.define("main", body, Signature::default(), NOWHERE);
    program
}

fn outcome(program: Program, body: Term, args: &[Data]) -> Result<Data, String> {
    let program = main(program, body);
    if let Err(message) = crate::check(&program) {
        panic!("{message}\n{}", crate::print_program(&program));
    }
    run(&program, program.find("main").unwrap(), args).map_err(|failure| failure.message)
}

fn check(program: Program, body: Term, args: &[Data], expect: impl Into<Data>) {
    outcome(program, body, args).unwrap().close(&expect.into(), 1e-12).unwrap();
}

fn check_failure(program: Program, body: Term, args: &[Data], expect: &str) {
    assert_eq!(outcome(program, body, args), Err(expect.to_string()));
}

fn reals() -> Ty {
    Ty::array(Ty::REAL)
}

fn mul(a: Term, b: Term) -> Term {
    prim(Prim::Mul, vec![a, b])
}

fn add(a: Term, b: Term) -> Term {
    prim(Prim::Add, vec![a, b])
}

fn at(xs: &Var, i: &Var) -> Term {
    index(var(xs), vec![var(i)], NOWHERE)
}

/// `\x -> body`, with a fresh variable.
fn function(p: &mut Program, ty: Ty, body: impl FnOnce(&mut Program, &Var) -> Term) -> Term {
    let x = p.fresh("x", ty);
    let body = body(p, &x);
    lam(x, body)
}

/// The derivative of a scalar function, forward.
fn forward(f: Term, x: Term) -> Term {
    proj(jvp(f, x, real(1.0), NOWHERE), 1)
}

/// The gradient of a function, reverse.
fn reverse(f: Term, x: Term) -> Term {
    app(proj(vjp(f, x, NOWHERE), 1), real(1.0))
}

/// `for i < length xs => body`
fn each(p: &mut Program, xs: &Var, body: impl FnOnce(&mut Program, &Var) -> Term) -> Term {
    let i = p.fresh("i", Ty::INT);
    let body = body(p, &i);
    for_(i, dim(var(xs), 0), body)
}

/// `sum (for i < length xs => xs[i] ** 3)`
fn cubes(p: &mut Program) -> Term {
    function(p, reals(), |p, xs| {
        let cubes = each(p, xs, |_, i| prim(Prim::PowInt, vec![at(xs, i), int(3)]));
        reduce(ReduceOp::Add, cubes)
    })
}

/// `\n -> loop (xs, k) = (iota n, 0.0) for i < n do (xs with [i] = xs[i] + k, k + 1.0)`, with the state taken apart by lets.
fn updates(p: &mut Program) -> Term {
    function(p, Ty::INT, |p, n| {
        let iota = {
            let i = p.fresh("i", Ty::INT);
            for_(i.clone(), var(n), prim(Prim::ToReal, vec![var(&i)]))
        };
        let state = p.fresh("state", Ty::tuple([reals(), Ty::REAL]));
        let (xs, k, i) = (p.fresh("xs", reals()), p.fresh("k", Ty::REAL), p.fresh("i", Ty::INT));
        let new = update(var(&xs), vec![var(&i)], add(at(&xs, &i), var(&k)), NOWHERE);
        let next = tuple(vec![new, add(var(&k), real(1.0))]);
        let body = let_(xs, proj(var(&state), 0), let_(k, proj(var(&state), 1), next));
        loop_(state, tuple(vec![iota, real(0.0)]), LoopKind::For(i, var(n), Checkpoint::All), body)
    })
}

/// `accumulate h = init in for i < length xs => h[places[i]] += xs[i] * xs[i]`, the final `h`.
fn histogram(p: &mut Program, places: &Var) -> Term {
    let places = places.clone();
    function(p, reals(), |p, xs| {
        let (h, i) = (p.fresh("h", reals()), p.fresh("i", Ty::INT));
        let square = mul(at(xs, &i), at(xs, &i));
        let index = vec![at(&places, &i)];
        let add =
            Term::new(TermKind::Add { acc: h.clone(), index, value: square }, Ty::unit(), NOWHERE);
        let body = for_(i, dim(var(xs), 0), add);
        let init = Term::new(TermKind::Array(vec![real(0.0), real(10.0)]), reals(), NOWHERE);
        let ty = Ty::tuple([body.ty().clone(), reals()]);
        proj(Term::new(TermKind::Accumulate { acc: h, init, body }, ty, NOWHERE), 1)
    })
}

/// `type shape = Circle real | Rect real real | Apply (real -> real)` without the last for what is first order.
fn shapes(higher: bool) -> Program {
    let mut constructors =
        vec![("Circle".into(), vec![Ty::REAL]), ("Rect".into(), vec![Ty::REAL, Ty::REAL])];
    if higher {
        constructors.push(("Apply".into(), vec![Ty::fun(Ty::REAL, Ty::REAL)]));
    }
    Program {
        types: vec![TypeDecl { name: "shape".into(), constructors, ..TypeDecl::default() }],
        ..Program::default()
    }
}

fn area(p: &mut Program, higher: bool) -> Term {
    function(p, Ty::Variant(TypeId(0)), |p, s| {
        let (r, w, h) = (p.fresh("r", Ty::REAL), p.fresh("w", Ty::REAL), p.fresh("h", Ty::REAL));
        let circle = Arm { vars: vec![r.clone()], body: mul(real(3.0), mul(var(&r), var(&r))) };
        let rect = Arm { vars: vec![w.clone(), h.clone()], body: mul(var(&w), var(&h)) };
        let mut arms = vec![circle, rect];
        if higher {
            let f = p.fresh("f", Ty::fun(Ty::REAL, Ty::REAL));
            arms.push(Arm { vars: vec![f.clone()], body: app(var(&f), real(10.0)) });
        }
        match_(var(s), arms)
    })
}

fn con(tag: usize, args: Vec<Term>) -> Term {
    Term::new(TermKind::Con(tag, args), Ty::Variant(TypeId(0)), NOWHERE)
}

fn con_data(name: &str, tag: usize, args: &[f64]) -> Data {
    Data::Con { name: name.into(), tag, args: args.iter().copied().map(Data::from).collect() }
}

/// An index whose id nothing else has.
fn fresh_index() -> Var {
    Var { id: 99, hint: "i".into(), ty: Ty::INT }
}

//! The rules of Figure 1 reject ill-typed terms, one by one. The constructors of terms annotate
//! correctly, so wrong annotations are made here.

use super::*;
use crate::op::Op;
use crate::source::REAL;
use crate::source::check;
use lambada_prim::Prim;

fn context() -> [Var; 2] {
    [Var::fresh("x", REAL), Var::fresh("f", REAL.to(Ty::Unit))]
}

#[track_caller]
fn rejected(context: &[Var], t: Term, why: &str) {
    let problem = check(context, &t).unwrap_err();
    assert!(problem.contains(why), "{problem}");
}

fn sin(t: Term) -> Term {
    op(Op::Each(Prim::Sin, 1), t)
}

/// S-1: a variable has the type that the context gives it.
#[test]
fn variables() {
    let [x, f] = context();
    check(&[x.clone(), f], &var(&x)).unwrap();
    rejected(&[], var(&x), "not in scope");
    let other = Var { ty: Ty::Unit, ..x.clone() };
    rejected(&[x], var(&other), "at another type");
}

/// S-2: an operation takes `Dom(op)` to `real^m`.
#[test]
fn operations() {
    let [x, _] = context();
    check(std::slice::from_ref(&x), &sin(var(&x))).unwrap();
    rejected(&[], sin(unit()), "an operation's argument");
    rejected(
        std::slice::from_ref(&x),
        op(Op::Each(Prim::Add, 1), var(&x)),
        "an operation's argument",
    );
    rejected(
        std::slice::from_ref(&x),
        Term::new(Kind::Op(Op::Each(Prim::Sin, 1), var(&x)), Ty::Real(2)),
        "annotated",
    );
}

/// S-3, S-4: `<>` and pairs have the types of their form.
#[test]
fn tuples() {
    let [x, _] = context();
    check(std::slice::from_ref(&x), &pair(unit(), var(&x))).unwrap();
    rejected(&[], Term::new(Kind::Unit, REAL), "annotated");
    rejected(
        std::slice::from_ref(&x),
        Term::new(Kind::Pair(unit(), var(&x)), REAL.times(Ty::Unit)),
        "annotated",
    );
}

/// S-5, S-6: only pairs have components, each of its type.
#[test]
fn projections() {
    let [x, _] = context();
    let both = pair(unit(), var(&x));
    check(std::slice::from_ref(&x), &fst(both.clone())).unwrap();
    check(std::slice::from_ref(&x), &snd(both.clone())).unwrap();
    rejected(std::slice::from_ref(&x), Term::new(Kind::Fst(var(&x)), REAL), "a component of");
    rejected(std::slice::from_ref(&x), Term::new(Kind::Snd(var(&x)), REAL), "a component of");
    rejected(std::slice::from_ref(&x), Term::new(Kind::Fst(both.clone()), REAL), "annotated");
    rejected(&[x], Term::new(Kind::Snd(both), Ty::Unit), "annotated");
}

/// S-7: a λ binds its variable in its body, and nowhere else.
#[test]
fn functions() {
    let [x, _] = context();
    let identity = abs(x.clone(), var(&x));
    check(&[], &identity).unwrap();
    rejected(&[], pair(identity, var(&x)), "not in scope");
    rejected(&[], Term::new(Kind::Lam(x.clone(), var(&x)), REAL.to(Ty::Unit)), "annotated");
}

/// S-8, S-9: only functions are applied, to arguments of their type; `let` is such an application.
#[test]
fn applications() {
    let [x, f] = context();
    let inside = [x.clone(), f.clone()];
    check(&inside, &app(var(&f), var(&x))).unwrap();
    rejected(&inside, app(var(&f), unit()), "a function's argument");
    rejected(&inside, Term::new(Kind::App(var(&x), var(&x)), REAL), "is applied");
    rejected(&inside, Term::new(Kind::App(var(&f), var(&x)), REAL), "annotated");
    check(&[], &let_::<Source>("y", unit(), |y| y)).unwrap();
    rejected(&[], app(abs(x.clone(), sin(var(&x))), unit()), "a function's argument");
}

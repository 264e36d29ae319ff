//! The rules of Figure 3 reject ill-typed terms, one by one. The constructors of terms annotate
//! correctly, so wrong annotations are made here.

use super::*;
use crate::linear::{check, check_linear};
use crate::op::Op;
use lambada_prim::Prim;

const R: LTy = LTy::Real(1);

fn vector() -> Lin {
    v(LTy::Real(2))
}

#[track_caller]
fn accepted(l: &Lin) {
    check_linear(&[], l).unwrap();
}

#[track_caller]
fn rejected(l: Lin, why: &str) {
    let problem = check_linear(&[], &l).unwrap_err();
    assert!(problem.contains(why), "{problem}");
}

#[track_caller]
fn term_rejected(t: Term, why: &str) {
    let problem = check(&[], &t).unwrap_err();
    assert!(problem.contains(why), "{problem}");
}

fn number() -> Term {
    op(Op::constant([1.0]), unit())
}

/// S-1 … S-8 in the Cartesian judgement of the target language.
#[test]
fn cartesian_terms() {
    let x = Var::fresh("x", Ty::Real(1));
    let other = Var { ty: Ty::Unit, ..x.clone() };
    term_rejected(var(&x), "not in scope");
    assert!(check(std::slice::from_ref(&x), &var(&other)).unwrap_err().contains("at another type"));
    term_rejected(op(Op::Each(Prim::Sin, 1), unit()), "an operation's argument");
    term_rejected(Term::new(Kind::Unit, Ty::Real(1)), "annotated");
    term_rejected(Term::new(Kind::Pair(unit(), number()), Ty::Unit), "annotated");
    term_rejected(Term::new(Kind::Fst(number()), Ty::Unit), "a component of");
    term_rejected(Term::new(Kind::Snd(number()), Ty::Unit), "a component of");
    term_rejected(Term::new(Kind::Lam(x.clone(), var(&x)), Ty::Real(1).to(Ty::Unit)), "annotated");
    term_rejected(app(abs(x.clone(), var(&x)), unit()), "a function's argument");
    term_rejected(Term::new(Kind::App(number(), number()), Ty::Unit), "is applied");
    term_rejected(Term::new(Kind::App(linlam(v(R)), number()), Ty::Real(1)), "is applied");
}

/// L-1: `v` has the type of the linear variable in scope.
#[test]
fn linear_variable() {
    accepted(&vector());
    rejected(Lin::new(LinKind::Var, R, LTy::Real(2)), "annotated");
    rejected(
        Lin::new(LinKind::Pair(v(R), vector()), R, R.times(LTy::Real(2))),
        "the linear variable is used at another type",
    );
}

/// L-2: a linear operation takes `Dom(lop)` and, linearly, `LDom(lop)`.
#[test]
fn linear_operations() {
    accepted(&lop(LOp::Mul(1), number(), v(R)));
    rejected(lop(LOp::Mul(1), unit(), v(R)), "Cartesian argument");
    rejected(lop(LOp::Mul(1), number(), vector()), "a linear operation's argument");
    rejected(
        Lin::new(LinKind::LOp(LOp::Sum(2), unit(), vector()), LTy::Real(2), LTy::Real(2)),
        "annotated",
    );
}

/// L-3, L-4: `<>` and pairs have the types of their form, and a pair one linear variable.
#[test]
fn linear_tuples() {
    accepted(&lpair(lunit(R), v(R)));
    rejected(Lin::new(LinKind::Unit, R, R), "annotated");
    rejected(Lin::new(LinKind::Pair(lunit(R), v(R)), R, R.times(R)), "annotated");
}

/// L-5, L-6: only pairs have components.
#[test]
fn linear_projections() {
    accepted(&lfst(lpair(v(R), lunit(R))));
    accepted(&lsnd(lpair(v(R), lunit(R))));
    rejected(Lin::new(LinKind::Fst(v(R)), R, R), "a component of");
    rejected(Lin::new(LinKind::Snd(v(R)), R, R), "a component of");
    rejected(Lin::new(LinKind::Snd(lpair(v(R), lunit(R))), R, R), "annotated");
}

/// L-7: a λ binds its variable in its body only.
#[test]
fn linear_functions() {
    let y = Var::fresh("y", Ty::Real(1));
    let scaled = labs(y.clone(), lop(LOp::Mul(1), var(&y), v(R)));
    accepted(&scaled);
    rejected(lapp(scaled, var(&y)), "not in scope");
    rejected(Lin::new(LinKind::Lam(y, v(R)), R, R.under(Ty::Unit)), "annotated");
}

/// L-8, L-15: only functions are applied, to Cartesian arguments of their type; `let` is such an
/// application.
#[test]
fn linear_applications() {
    let f = v(R.under(Ty::Real(1)));
    accepted(&lapp(f.clone(), number()));
    rejected(lapp(f, unit()), "a linear function's argument");
    rejected(Lin::new(LinKind::App(v(R), number()), R, R), "is applied");
    accepted(&let_lin("y", number(), |y| lop(LOp::Mul(1), y, v(R))));
    let y = Var::fresh("y", Ty::Real(1));
    rejected(
        lapp(labs(y.clone(), lop(LOp::Mul(1), var(&y), v(R))), unit()),
        "a linear function's argument",
    );
}

/// L-9: `!t (x) l` has the type of its form.
#[test]
fn tensors() {
    accepted(&tensor(number(), v(R)));
    rejected(Lin::new(LinKind::Tensor(number(), v(R)), R, R.tensor(Ty::Unit)), "annotated");
    rejected(tensor(var(&Var::fresh("y", Ty::Unit)), v(R)), "not in scope");
}

/// L-10: a `case` is on a tensor; it binds the key, at its type, and a new linear variable, at its.
#[test]
fn cases() {
    let (y, sum) = (Var::fresh("y", Ty::Real(1)), v(R.tensor(Ty::Real(1))));
    let body = lop(LOp::Mul(1), var(&y), v(R));
    accepted(&case(sum.clone(), y.clone(), body.clone()));
    rejected(case(v(R), y.clone(), body), "a case on");
    rejected(case(sum.clone(), Var::fresh("y", Ty::Unit), v(R)), "the variable of a case");
    rejected(case(sum.clone(), y.clone(), vector()), "the linear variable is used at another type");
    rejected(lpair(case(sum.clone(), y.clone(), v(R)), tensor(var(&y), sum)), "not in scope");
}

/// L-11: `\_v. l` has the type of its form; the linear variable outside of it cannot even be
/// written inside.
#[test]
fn linear_lambdas() {
    check(&[], &linlam(v(R))).unwrap();
    term_rejected(Term::new(Kind::Own(LinLam(v(R))), R.lolli(LTy::Unit)), "annotated");
    term_rejected(Term::new(Kind::Own(LinLam(v(R))), Ty::Real(1).to(Ty::Real(1))), "annotated");
}

/// L-12: only linear functions are applied linearly, to arguments of their type.
#[test]
fn linear_calls() {
    let f = linlam(lop(LOp::Sum(2), unit(), vector()));
    accepted(&linapp(f.clone(), vector()));
    rejected(linapp(f, v(R)), "the argument of a linear function");
    rejected(Lin::new(LinKind::LinApp(number(), v(R)), R, R), "is applied linearly");
    rejected(
        Lin::new(LinKind::LinApp(abs(Var::fresh("x", Ty::Unit), unit()), v(R)), R, R),
        "is applied linearly",
    );
}

/// L-13, L-14: `0` has every linear type; summands have one type, and one linear variable.
#[test]
fn sums() {
    accepted(&plus(zero_lin(R, R), v(R)));
    rejected(Lin::new(LinKind::Plus(v(R), lunit(R)), R, R), "the second summand");
    rejected(
        Lin::new(LinKind::Plus(v(R), lop(LOp::Sum(2), unit(), vector())), R, R),
        "the linear variable is used at another type",
    );
    rejected(Lin::new(LinKind::Plus(v(R), v(R)), R, LTy::Unit), "annotated");
}

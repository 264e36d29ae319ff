//! Appendix E, rule by rule: E-1 … E-24 and their results. `theorems::adequacy` has the theorems
//! about all of them.

use crate::applied::*;
use crate::op::{LOp, Op};
use crate::operational::{observe, run};
use lambada_prim::Prim;

const R: Ty = Ty::Real(1);

fn number(x: f64) -> Term {
    constant([x])
}

/// A term that is no constant, and comes out as one.
fn running(x: f64) -> Term {
    fst(pair(number(x), unit()))
}

fn two() -> Term {
    constant([1.0, 2.0])
}

fn sum() -> Term {
    lop(LOp::Sum(2), unit())
}

/// Typed, and `t ⇓ N`, up to the names of bound variables.
#[track_caller]
fn ends_in(t: Term, normal: &Term) {
    check(&[], &t).unwrap();
    assert_eq!(run(&t).canonical(), normal.canonical(), "{t}");
}

/// Asserts that a normal term ends in itself.
#[track_caller]
fn normal(t: Term) {
    ends_in(t.clone(), &t);
}

/// E-1: `op(t) ⇓ ⟦op⟧(c)`, where every leaf of `t` is run.
#[test]
fn operations() {
    ends_in(op(Op::Each(Prim::Add, 1), pair(running(1.0), running(2.0))), &number(3.0));
    ends_in(op(Op::Each(Prim::Neg, 1), running(2.0)), &number(-2.0));
    normal(number(1.0));
}

/// E-2, E-3: `fst t` runs the first component, which need not be normal.
#[test]
fn projections() {
    ends_in(fst(pair(running(1.0), unit())), &number(1.0));
    ends_in(snd(pair(unit(), running(2.0))), &number(2.0));
    normal(pair(running(1.0), running(2.0)));
    normal(unit());
}

/// E-4, E-5, E-6: a λ, `0` and a sum applied, once the head is run.
#[test]
fn applications() {
    let head = |f: Term| fst(pair(f, unit()));
    let f = || lam("x", R, |x| op(Op::Each(Prim::Neg, 1), x));
    ends_in(app(head(f()), running(2.0)), &number(-2.0));
    ends_in(app(head(zero(R.to(Ty::Real(2)))), running(2.0)), &constant([0.0, 0.0]));
    ends_in(app(head(plus(f(), f())), running(2.0)), &number(-4.0));
    ends_in(let_("x", running(2.0), |x| x), &number(2.0));
    normal(f());
}

/// E-7, E-8, E-9: `0` at vectors, `1` and products.
#[test]
fn zeros() {
    ends_in(zero(Ty::Real(2)), &constant([0.0, 0.0]));
    ends_in(zero(Ty::Unit), &unit());
    ends_in(zero(R.times(Ty::Unit)), &pair(zero(R), zero(Ty::Unit)));
    [R.to(R), R.lfun(R), R.tens(R)].into_iter().for_each(|ty| normal(zero(ty)));
}

/// E-10, E-11, E-12: `+` at vectors, `1` and products.
#[test]
fn sums() {
    ends_in(plus(running(1.0), running(2.0)), &number(3.0));
    ends_in(plus(unit(), snd(pair(unit(), unit()))), &unit());
    let [a, b] = [pair(number(1.0), unit()), pair(number(2.0), unit())];
    ends_in(plus(a, b), &pair(plus(number(1.0), number(2.0)), plus(unit(), unit())));
    [R.to(R), R.lfun(R), R.tens(R)]
        .into_iter()
        .for_each(|ty| normal(plus(zero(ty.clone()), zero(ty))));
}

/// E-13, E-14: `0` and a sum of linear functions, applied.
#[test]
fn linear_monoids() {
    ends_in(lapp(zero(Ty::Real(2).lfun(R.times(R))), two()), &pair(zero(R), zero(R)));
    ends_in(lapp(plus(sum(), sum()), two()), &number(6.0));
}

/// E-15, E-16: `lid` and `t;;s`, first `t`.
#[test]
fn composition() {
    ends_in(lapp(lid(R), running(1.0)), &number(1.0));
    ends_in(lapp(lthen(sum(), lop(LOp::Replicate(2), unit())), two()), &constant([3.0, 3.0]));
}

/// E-17: `lop(t)`, where both arguments are run.
#[test]
fn linear_operations() {
    ends_in(lapp(lop(LOp::Mul(1), running(3.0)), running(2.0)), &number(6.0));
}

/// E-18, E-19, E-20: `lfst`, `lsnd` and `lpair(t, s)`.
#[test]
fn linear_pairs() {
    let both = || pair(running(1.0), running(2.0));
    ends_in(lapp(lfst(R, R), both()), &number(1.0));
    ends_in(lapp(lsnd(R, R), both()), &number(2.0));
    let applied = pair(lapp(sum(), two()), lapp(lid(Ty::Real(2)), two()));
    ends_in(lapp(lpair(sum(), lid(Ty::Real(2))), two()), &applied);
}

/// E-21, E-22: `leval_t` applies to `t`; `lswap t` waits for its other argument.
#[test]
fn linear_functions() {
    let keyed = || lam("y", R, |y| lop(LOp::Mul(1), y));
    ends_in(lapp(leval(running(2.0), R), lam("x", R, |x| x)), &number(2.0));
    ends_in(
        lapp(lswap(keyed()), number(3.0)),
        &lam("y", R, |y| lapp(app(keyed(), y), number(3.0))),
    );
    ends_in(app(lapp(lswap(keyed()), number(3.0)), number(5.0)), &number(15.0));
}

/// E-23, E-24: `lapp({(t,-)}, s)` is normal; `lcur^-1 t` takes apart that, `0` and sums.
#[test]
fn folds() {
    let entry = |key: f64, value: f64| lapp(singleton(running(key), R), running(value));
    let fold = || lcur_inv(lam("y", R, |y| lop(LOp::Mul(1), y)));
    normal(entry(2.0, 3.0));
    ends_in(lapp(fold(), entry(2.0, 3.0)), &number(6.0));
    ends_in(lapp(fold(), zero(R.tens(R))), &number(0.0));
    ends_in(
        lapp(fold(), plus(entry(2.0, 3.0), plus(zero(R.tens(R)), entry(5.0, 7.0)))),
        &number(41.0),
    );
    assert_eq!(observe(&lapp(fold(), lapp(lid(R.tens(R)), entry(2.0, 3.0)))), Some(vec![6.0]));
}

//! T-3, T-4: the derivatives are right at first-order types, whatever is inside. T-5: they are
//! linear, at all types. T-11: primals are unchanged.

use super::*;
use crate::applied::{Abstract, Ty};
use crate::linear::LTy;

/// T-3, T-11: Appendix A. `⟦D(t)_1⟧ = ⟦t⟧`, `⟦D→(t)_2⟧ = D⟦t⟧` and `⟦D←(t)_2⟧ = (D⟦t⟧)^t`, of the
/// types M-1 … M-8.
#[test]
fn linear_language() {
    for mut s in Subject::all() {
        let (x, v, w) = (s.point(), s.tangent(), s.cotangent());
        let (forward, reverse) = (Derived::forward(&s.comb), Derived::reverse(&s.comb));
        for derived in [&forward, &reverse] {
            linear::check(std::slice::from_ref(&derived.x), &derived.first).unwrap();
            linear::check_linear(std::slice::from_ref(&derived.x), &derived.second).unwrap();
            assert_eq!(numbers(&derived.first(&x)), numbers(&s.value(&x)), "{}", s.term);
        }
        derivatives(&s, &x, &v, &w, &forward.second(&x, &v), &reverse.second(&x, &w));
    }
}

/// T-4, T-11: Appendix C. The same two theorems for the applied language.
#[test]
fn applied_language() {
    for mut s in Subject::all() {
        let (x, v, w) = (s.point(), s.tangent(), s.cotangent());
        let (forward, reverse) = (Applied::forward(&s.comb), Applied::reverse(&s.comb));
        for derived in [&forward, &reverse] {
            applied::check(std::slice::from_ref(&derived.x), &derived.first).unwrap();
            applied::check(std::slice::from_ref(&derived.x), &derived.second).unwrap();
            assert_eq!(numbers(&derived.first(&x)), numbers(&s.value(&x)), "{}", s.term);
        }
        derivatives(&s, &x, &v, &w, &forward.second(&x, &v), &reverse.second(&x, &w));
    }
}

/// The pushforward is the derivative along a line; the pullback is its transpose.
fn derivatives(s: &Subject, x: &Value, v: &Value, w: &Value, pushed: &Value, pulled: &Value) {
    let expect = slope(&|h| numbers(&s.value(&moved(x, v, h))));
    close(&numbers(pushed), &expect, 1e-5, &s.term);
    let (forward, reverse) =
        (inner(&numbers(pushed), &numbers(w)), inner(&numbers(v), &numbers(pulled)));
    close(&[forward], &[reverse], 1e-9, &s.term);
}

/// T-11: at first-order types, `D(T)_1 = T` and, up to linearity, `D(T)_2 = T`: in both modes, in
/// both appendices.
#[test]
fn first_order_types_are_unchanged() {
    for seed in 0..TERMS {
        let ty = Generator::new(seed).ty(0);
        let same = linear::of_source_ty(&ty);
        assert_eq!([forward::primal_ty(&ty), reverse::primal_ty(&ty)], [same.clone(), same]);
        assert_eq!(forward::tangent_ty(&ty), reverse::cotangent_ty(&ty));
        let [first, second] = [AppliedForward::primal_ty(&ty), AppliedForward::second_ty(&ty)];
        assert_eq!(
            [AppliedReverse::primal_ty(&ty), AppliedReverse::second_ty(&ty)],
            [first.clone(), second.clone()]
        );
        assert_eq!((first.to_string(), second.to_string()), (ty.to_string(), ty.to_string()));
    }
}

/// `f(0) = 0`, `f(a + b) = f(a) + f(b)` and `f(c·a) = c·f(a)`, for numbers.
fn linear(f: &dyn Fn(&Value) -> Vec<f64>, a: &Value, b: &Value, what: &dyn std::fmt::Display) {
    let none = moved(a, a, -1.0);
    close(&f(&none), &vec![0.0; f(a).len()], 0.0, what);
    close(
        &f(&a.plus(b)),
        &f(a).iter().zip(f(b)).map(|(a, b)| a + b).collect::<Vec<_>>(),
        1e-9,
        what,
    );
    close(&f(&moved(a, a, 1.5)), &f(a).iter().map(|a| 2.5 * a).collect::<Vec<_>>(), 1e-9, what);
}

/// T-5: second components are linear, both modes, both appendices.
#[test]
fn linearity() {
    for mut s in Subject::all() {
        let x = s.point();
        let inputs = [(s.tangent(), s.tangent()), (s.cotangent(), s.cotangent())];
        for ((derived, applied), (a, b)) in
            Derived::both(&s.comb).iter().zip(&Applied::both(&s.comb)).zip(&inputs)
        {
            linear(&|v| numbers(&derived.second(&x, v)), a, b, &s.term);
            linear(&|v| numbers(&applied.second(&x, v)), a, b, &s.term);
        }
    }
}

/// T-5 at function types. Tangents there are functions and cotangents formal sums, which have no
/// scalar multiples of their own: they are images of a number under generated linear terms, and
/// results are observed through such.
#[test]
fn linearity_at_function_types() {
    for mut s in Subject::higher() {
        let g = &mut s.generator;
        for derived in Derived::both(&s.comb) {
            let at = linear::eval(&g.cartesian(&[], &derived.x.ty, 12), &Env::default());
            let before = g.linear(&[], &LTy::Real(1), derived.second.from(), 16);
            let after = g.linear(&[], derived.second.to(), &LTy::Real(2), 16);
            let run = |l: &Lin, v: &Value| linear::eval_linear(l, &Env::default(), v);
            let f = |v: &Value| numbers(&run(&after, &derived.second(&at, &run(&before, v))));
            linear(&f, &Value::real([0.5]), &Value::real([-0.75]), &s.term);
            let [a, b] = [(); 2].map(|()| g.element(derived.second.from()));
            let [one, two, both] = [&a, &b, &a.plus(&b)].map(|v| derived.second(&at, v));
            g.same_linear(derived.second.to(), &both, &one.plus(&two), &s.term);
            let none = derived.second(&at, &linear::zero(derived.second.from()));
            g.same_linear(derived.second.to(), &none, &linear::zero(derived.second.to()), &s.term);
        }
        for derived in Applied::both(&s.comb) {
            let at = g.applied_element(&derived.x.ty);
            let Ty::Own(Abstract::LFun(from, to)) = derived.second.ty().clone() else {
                unreachable!("it is a linear function")
            };
            let [a, b] = [(); 2].map(|()| g.applied_element(&from));
            let [one, two, both] = [&a, &b, &a.plus(&b)].map(|v| derived.second(&at, v));
            g.same_applied(&to, &both, &one.plus(&two), &s.term);
            let none = derived.second(&at, &crate::linfun::zero(&from));
            g.same_applied(&to, &none, &crate::linfun::zero(&to), &s.term);
        }
    }
}

/// T-5, L-29, L-30 for every linear term: the purpose of the type system.
#[test]
fn linear_terms_are_linear() {
    for super::linear_terms::Sample { context, l, mut generator } in super::linear_terms::samples(2)
    {
        let g = &mut generator;
        let env = g.meanings(&context);
        let [a, b] = [(); 2].map(|()| g.element(l.from()));
        let [one, two, both] = [&a, &b, &a.plus(&b)].map(|v| linear::eval_linear(&l, &env, v));
        g.same_linear(l.to(), &both, &one.plus(&two), &l);
        let none = linear::eval_linear(&l, &env, &linear::zero(l.from()));
        g.same_linear(l.to(), &none, &linear::zero(l.to()), &l);
    }
}

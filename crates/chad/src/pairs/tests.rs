//! The laws of the categories of pairs, and that the functors are Appendix A.

use super::*;
use crate::combinators;
use crate::generate::Generator;
use crate::linear::{self, Var};
use crate::value::Value;
use crate::{forward, reverse};

fn equal(a: &Mor<Syntax>, b: &Mor<Syntax>) {
    assert_eq!((&a.from, &a.to), (&b.from, &b.to));
    let x = linear::var(&Var::fresh("x", a.from.0.clone()));
    assert_eq!(linear::normalize(&(a.first)(&x)), linear::normalize(&(b.first)(&x)));
    let (left, right) = ((a.second)(&x), (b.second)(&x));
    assert!(
        linear::normalize_linear(&left) == linear::normalize_linear(&right),
        "{left} and {right}"
    );
}

/// M-1 … M-8, Appendix A: the unique functors are the macros, on types of order up to 3.
#[test]
fn functors_are_macros() {
    for seed in 0..1000 {
        let mut g = Generator::new(seed);
        let (a, b) = (g.ty(2), g.ty(3));
        let t = g.morphism(&a, &b);
        let f = interpret::<Syntax, Forward<Syntax>>(&t);
        assert_eq!(f.to, Ob(forward::primal_ty(&b), forward::tangent_ty(&b)));
        let (one, two, v) = (t.clone(), t.clone(), linear::v(forward::tangent_ty(&a)));
        let first = open(move |x| forward::primal(&one, x));
        let second = open(move |x| forward::tangent(&two, x, &v));
        equal(&f, &Mor { from: f.from.clone(), to: f.to.clone(), first, second });
        let f = interpret::<Syntax, Reverse<Syntax>>(&t);
        assert_eq!(f.to, Ob(reverse::primal_ty(&b), reverse::cotangent_ty(&b)));
        let (one, two, v) = (t.clone(), t.clone(), linear::v(reverse::cotangent_ty(&b)));
        let first = open(move |x| reverse::primal(&one, x));
        let second = open(move |x| reverse::cotangent(&two, x, &v));
        equal(&f, &Mor { from: f.from.clone(), to: f.to.clone(), first, second });
    }
}

/// C-1 … C-8: the laws of a category, of products and of exponentials in both categories of pairs
/// (the propositions of §6.2), at types of order up to 2: their images under the functors, decided
/// by the normalizer.
#[test]
fn cartesian_closed() {
    for seed in 0..1000 {
        laws::<Forward<Syntax>>(&mut Generator::new(seed));
        laws::<Reverse<Syntax>>(&mut Generator::new(seed));
    }
}

fn laws<P: PairCategory<Syntax>>(g: &mut Generator) {
    use combinators as c;
    let [a, b, d, e] = [g.ty(2), g.ty(1), g.ty(2), g.ty(1)];
    let mut morphism = |from: &source::Ty, to: &source::Ty| {
        let x = crate::source::Var::fresh("x", from.clone());
        combinators::of_term(&x, &g.bounded(std::slice::from_ref(&x), to, 2, 6))
    };
    let (t, s, r) = (morphism(&a, &b), morphism(&b, &d), morphism(&d, &e));
    let of = |t: &Comb| interpret::<Syntax, P>(t);
    let law = |left: Comb, right: Comb| equal(&of(&left), &of(&right));
    law(c::then(c::id(a.clone()), t.clone()), t.clone());
    law(c::then(t.clone(), c::id(b.clone())), t.clone());
    law(
        c::then(c::then(t.clone(), s.clone()), r.clone()),
        c::then(t.clone(), c::then(s.clone(), r)),
    );
    let (u, before) = (morphism(&a, &d), morphism(&e, &a));
    let both = c::pair(t.clone(), u.clone());
    law(c::then(both.clone(), c::fst(b.clone(), d.clone())), t.clone());
    law(c::then(both.clone(), c::snd(b.clone(), d.clone())), u.clone());
    law(
        c::then(before.clone(), both),
        c::pair(c::then(before.clone(), t.clone()), c::then(before, u)),
    );
    law(
        c::pair(c::fst(a.clone(), b.clone()), c::snd(a.clone(), b.clone())),
        c::id(a.clone().times(b.clone())),
    );
    law(c::then(t, c::unit(b.clone())), c::unit(a.clone()));
    let apply = |f: Comb| {
        c::then(
            c::pair(c::then(c::fst(a.clone(), b.clone()), f), c::snd(a.clone(), b.clone())),
            c::ev(b.clone(), d.clone()),
        )
    };
    let f = morphism(&a.clone().times(b.clone()), &d);
    law(apply(c::curry(f.clone())), f);
    let f = morphism(&a, &b.clone().to(d.clone()));
    law(c::curry(apply(f.clone())), f);
}

/// T-3, T-12: the same construction over the evaluator: `f_1` is the program's meaning, and
/// `<f_2 v, w> = <v, r_2 w>` for the second components.
#[test]
fn semantics() {
    for seed in 0..1000 {
        let mut g = Generator::new(seed);
        let (x, t) = g.program();
        let comb = combinators::of_term(&x, &t);
        let (f, r) = (
            interpret::<Semantics, Forward<Semantics>>(&comb),
            interpret::<Semantics, Reverse<Semantics>>(&comb),
        );
        let (at, v, w) = (g.value(&x.ty), g.value(&x.ty), g.value(t.ty()));
        assert_eq!((f.first)(&at).flatten(), combinators::eval(&comb, &at).flatten());
        let (pushed, pulled) =
            ((f.second)(&at, &v).flatten().unwrap(), (r.second)(&at, &w).flatten().unwrap());
        let dot = |a: &[f64], b: &Value| {
            a.iter().zip(b.flatten().unwrap()).map(|(a, b)| a * b).sum::<f64>()
        };
        let (left, right) = (dot(&pushed, &w), dot(&pulled, &v));
        assert!((left - right).abs() <= 1e-9 * (1.0 + left.abs()), "{left} and {right}: {t}");
    }
}

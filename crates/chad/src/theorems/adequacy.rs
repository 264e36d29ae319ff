//! T-7: big-step results are denotations. T-8: `†` preserves meaning, and Appendix A through `†` is Appendix C. T-9: nobody can tell how a
//! copower is represented. T-10: everything terminates, or these tests would not.

use super::*;
use crate::operational::observe;

/// T-7: a program, its derivative at a point applied to a tangent or cotangent, run by the rules of Appendix E.
#[test]
fn operational_semantics() {
    for mut s in Subject::all() {
        let x = s.point();
        let inputs = [s.tangent(), s.cotangent()];
        for (derived, v) in Applied::both(&s.comb).iter().zip(&inputs) {
            close(&observe(&derived.first_at(&x)).unwrap(), &numbers(&derived.first(&x)), 1e-12, &s.term);
            close(&observe(&derived.second_at(&x, v)).unwrap(), &numbers(&derived.second(&x, v)), 1e-9, &s.term);
        }
    }
}

/// T-8
#[test]
fn dagger() {
    for mut s in Subject::all() {
        let x = s.point();
        let inputs = [s.tangent(), s.cotangent()];
        let both = Derived::both(&s.comb).into_iter().zip(Applied::both(&s.comb));
        for ((derived, applied), v) in both.zip(&inputs) {
            let through = derived.dagger();
            for term in [&through.first, &through.second] {
                crate::applied::check(std::slice::from_ref(&through.x), term).unwrap();
            }
            assert_eq!((through.first.ty(), through.second.ty()), (applied.first.ty(), applied.second.ty()));
            assert_eq!(numbers(&through.first(&x)), numbers(&derived.first(&x)));
            assert_eq!(numbers(&through.first(&x)), numbers(&applied.first(&x)));
            close(&numbers(&through.second(&x, v)), &numbers(&derived.second(&x, v)), 1e-9, &s.term);
            close(&numbers(&through.second(&x, v)), &numbers(&applied.second(&x, v)), 1e-9, &s.term);
        }
    }
}

/// T-9, E16: entries in another order, split, and with zero entries between them, as the cotangent of a function.
#[test]
fn quotient() {
    use crate::source::{REAL, Ty};
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let x = Var::fresh("x", g.ty(0));
        let t = g.bounded(std::slice::from_ref(&x), &REAL.to(Ty::Real(2)), 8, 24);
        let derived = Applied::reverse(&combinators::of_term(&x, &t));
        let at = g.value(&x.ty);
        let entries = (0..3).map(|_| {
            let (key, value) = (g.value(&REAL), g.value(&Ty::Real(2)));
            crate::linfun::LinFun::singleton(&key).lapp(&value)
        });
        let sum = entries.reduce(|a, b| a.plus(&b)).unwrap();
        let Value::Copower(copower) = &sum else { unreachable!() };
        let scrambled = Value::Copower(copower.scrambled(&Value::real([0.0, 0.0])));
        close(&numbers(&derived.second(&at, &sum)), &numbers(&derived.second(&at, &scrambled)), 1e-9, &t);
    }
}

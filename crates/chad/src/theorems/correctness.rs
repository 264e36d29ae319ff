//! T-3, T-4: the derivatives are right at first-order types, whatever is inside. T-5: they are linear. T-11: primals are what they were.
//! T-12: reverse is the transpose of forward.

use super::*;

/// T-3, T-11, T-12: Appendix A.
#[test]
fn linear_language() {
    for mut s in Subject::all() {
        let (x, v, w) = (s.point(), s.tangent(), s.cotangent());
        let (forward, reverse) = (Derived::forward(&s.comb), Derived::reverse(&s.comb));
        check_types(&forward, &reverse);
        let value = numbers(&s.value(&x));
        assert_eq!(numbers(&forward.first(&x)), value, "{}", s.term);
        assert_eq!(numbers(&reverse.first(&x)), value, "{}", s.term);
        derivatives(&s, &x, &v, &w, &forward.second(&x, &v), &reverse.second(&x, &w));
    }
}

fn check_types(forward: &Derived, reverse: &Derived) {
    for derived in [forward, reverse] {
        linear::check(std::slice::from_ref(&derived.x), &derived.first).unwrap();
        linear::check_linear(std::slice::from_ref(&derived.x), &derived.second).unwrap();
    }
}

/// T-4: Appendix C.
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
    let (forward, reverse) = (inner(&numbers(pushed), &numbers(w)), inner(&numbers(v), &numbers(pulled)));
    close(&[forward], &[reverse], 1e-9, &s.term);
}

/// T-5: `f(0) = 0`, `f(a + b) = f(a) + f(b)`, and `f(c·a) = c·f(a)`.
#[test]
fn linearity() {
    for mut s in Subject::all() {
        let x = s.point();
        let inputs = [(s.tangent(), s.tangent()), (s.cotangent(), s.cotangent())];
        for (derived, (a, b)) in Derived::both(&s.comb).iter().zip(&inputs) {
            let f = |v: &Value| numbers(&derived.second(&x, v));
            let none = moved(a, a, -1.0);
            close(&f(&none), &vec![0.0; f(a).len()], 0.0, &s.term);
            close(&f(&a.plus(b)), &f(a).iter().zip(f(b)).map(|(a, b)| a + b).collect::<Vec<_>>(), 1e-9, &s.term);
            close(&f(&moved(a, a, 1.5)), &f(a).iter().map(|a| 2.5 * a).collect::<Vec<_>>(), 1e-9, &s.term);
        }
    }
}

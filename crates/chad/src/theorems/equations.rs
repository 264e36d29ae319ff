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

/// The meanings are equal; those of functions at generated arguments.
fn agree(g: &mut Generator, left: &source::Term, right: &source::Term, env: &Env<Value>) {
    same(g, left.ty(), &source::eval(left, env), &source::eval(right, env));
}

fn same(g: &mut Generator, ty: &Ty, left: &Value, right: &Value) {
    match ty {
        Ty::Real(_) => close(&left.numbers(), &right.numbers(), 1e-12, &"both sides"),
        Ty::Unit => {}
        Ty::Prod(a, b) => {
            same(g, a, &left.fst(), &right.fst());
            same(g, b, &left.snd(), &right.snd());
        }
        Ty::Fun(a, b) => {
            let argument = source::eval(&g.term(&[], a, 3), &Env::default());
            same(g, b, &left.apply(&argument), &right.apply(&argument));
        }
    }
}

/// A row of Figure 4 from pieces of derivatives: `v : D←(B)_2`, τ = D←(A)_2, ρ = D←(C)_2.
fn linear_instance(g: &mut Generator, x: &linear::Var, types: [&Ty; 3]) -> linear::Instance {
    let [a, b, c] = types;
    let pull = |t: &Comb, x: &Term| reverse::cotangent(t, x, &linear::v(reverse::cotangent_ty(t.to())));
    let at = linear::var(x);
    let y = Var::fresh("y", reverse::primal_ty(c));
    let l = [(); 3].map(|()| pull(&g.morphism(a, b), &at));
    let t = reverse::primal(&g.morphism(a, c), &at);
    let k = pull(&g.morphism(c, a), &linear::var(&y));
    let p = linear::plus(linear::tensor(t.clone(), l[0].clone()), linear::tensor(reverse::primal(&g.morphism(a, c), &at), l[1].clone()));
    let r = linear::case(linear::v(p.to().clone()), y.clone(), k.clone());
    let f = linear::linlam(pull(&g.morphism(c, a), &t));
    linear::Instance { y, t, l, k, p, r, f }
}

/// T-1, Figure 4: the normalizer proves every row, at types of order up to 1.
#[test]
fn linear_equations_proved() {
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let [a, b, c] = [g.ty(1), g.ty(0), g.ty(0)];
        let x = Var::fresh("x", reverse::primal_ty(&a));
        let mut instance = linear_instance(&mut g, &x, [&a, &b, &c]);
        if seed % 2 == 0 {
            instance.f = linear::var(&Var::fresh("f", instance.f.ty().clone()));
        }
        for row in linear::equations() {
            let (left, right) = (row.sides)(&instance);
            assert_eq!((left.from(), left.to()), (right.from(), right.to()), "{}", row.name);
            assert!(linear::normalize_linear(&left) == linear::normalize_linear(&right), "{} {}: {left} and {right}", row.id, row.name);
        }
    }
}

/// T-1, Figure 4: every row holds in the semantics.
#[test]
fn linear_equations_hold() {
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let [a, b, c] = [g.ty(0), g.ty(0), g.ty(0)];
        let x = Var::fresh("x", reverse::primal_ty(&a));
        let instance = linear_instance(&mut g, &x, [&a, &b, &c]);
        let env = Env::default().with(&x, g.value(&a));
        for row in linear::equations() {
            let (left, right) = (row.sides)(&instance);
            linear::check_linear(std::slice::from_ref(&x), &left).unwrap();
            linear::check_linear(std::slice::from_ref(&x), &right).unwrap();
            let v = linear_value(&mut g, left.from());
            let [left, right] = [&left, &right].map(|l| fingerprint(&linear::eval_linear(l, &env, &v), l.to()));
            close(&left, &right, 1e-9, &row.name);
        }
    }
}

fn linear_value(g: &mut Generator, ty: &linear::LTy) -> Value {
    use crate::linear::LTy;
    match ty {
        LTy::Real(n) => g.value(&Ty::Real(*n)),
        LTy::Unit => Value::Unit,
        LTy::Prod(a, b) => Value::pair(linear_value(g, a), linear_value(g, b)),
        LTy::Fun(_, to) => {
            let value = linear_value(g, to);
            Value::fun(move |_| value.clone())
        }
        LTy::Tensor(key, to) => Value::Sum(vec![(ground(g, key), linear_value(g, to)), (ground(g, key), linear_value(g, to))].into()),
    }
}

fn ground(g: &mut Generator, ty: &linear::Ty) -> Value {
    use crate::linear::Ty;
    match ty {
        Ty::Real(n) => g.value(&source::Ty::Real(*n)),
        Ty::Unit => Value::Unit,
        Ty::Prod(a, b) => Value::pair(ground(g, a), ground(g, b)),
        Ty::Fun(..) | Ty::Lolli(..) => panic!("{ty} is not first-order"),
    }
}

/// Numbers that tell elements of a linear type apart, whatever their representation.
fn fingerprint(value: &Value, ty: &linear::LTy) -> Vec<f64> {
    use crate::linear::LTy;
    match (value, ty) {
        (Value::Sum(entries), LTy::Tensor(_, to)) => {
            let weighted = entries.iter().map(|(key, value)| {
                let weight = numbers(key).iter().enumerate().fold(1.0, |w, (k, x)| w + ((k + 1) as f64 + 3.0 * x).cos());
                fingerprint(value, to).into_iter().map(|x| weight * x).collect::<Vec<_>>()
            });
            let zero = fingerprint(&linear::zero(to), to);
            weighted.fold(zero, |sum, value| sum.iter().zip(value).map(|(a, b)| a + b).collect())
        }
        (Value::Fun(f), LTy::Fun(from, to)) => fingerprint(&f(&ground(&mut Generator::new(7), from)), to),
        (Value::Pair(_), LTy::Prod(a, b)) => [fingerprint(&value.fst(), a), fingerprint(&value.snd(), b)].concat(),
        (value, _) => numbers(value),
    }
}

/// T-2: the derivatives of a program and of its normal form have the same βη+-normal form.
#[test]
fn macros_respect_equality() {
    let mut compared = 0;
    for s in Subject::all() {
        let normal = source::normalize(&s.term);
        if normal.size() > 60 {
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
            body: g.bounded(&[c.clone(), x.clone()], &b, 2, 10),
            s: g.bounded(outer, &a, 2, 10),
            p: g.bounded(outer, &a.clone().times(b.clone()), 2, 10),
            f: g.bounded(outer, &a.clone().to(b.clone()), 2, 10),
            u: g.bounded(outer, &Ty::Unit, 2, 10),
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

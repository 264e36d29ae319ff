//! T-1: the equations hold in the semantics, and the normalizer proves them. T-2: the macros
//! respect βη: equal programs have equal derivatives.

use super::linear_terms::{Sample, samples};
use super::*;
use crate::lambda::{self, Source};
use crate::linear::{LTy, normalize, normalize_linear};
use crate::source::Ty;

/// T-1, Figure 2 (S-9 … S-15): every row is proved by the normalizer and holds in the semantics, at
/// types of order up to 3.
#[test]
fn source_equations() {
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let context = [Var::fresh("c", g.ty(0)), Var::fresh("h", g.ty(2))];
        let instance = source_instance(&mut g, &context, [2, 2], 16);
        let env = context.iter().fold(Env::default(), |env, x| {
            env.with(x, source::eval(&g.bounded(&[], &x.ty, 4, 16), &Env::default()))
        });
        for row in source::equations() {
            let (left, right) = (row.sides)(&instance);
            source::check(&context, &left).unwrap();
            source::check(&context, &right).unwrap();
            assert_eq!(
                source::normalize(&left),
                source::normalize(&right),
                "{}: {left} and {right}",
                row.name
            );
            let [a, b] = [&left, &right].map(|t| source::eval(t, &env));
            g.same_cartesian(&linear::of_source_ty(left.ty()), &a, &b, &row.name);
        }
    }
}

/// Terms for the rows of Figure 2, at types of these orders.
fn source_instance(
    g: &mut Generator,
    context: &[source::Var],
    orders: [usize; 2],
    size: usize,
) -> source::Instance {
    let [a, b] = orders.map(|order| g.ty(order));
    let x = Var::fresh("x", a.clone());
    let inside = [context, std::slice::from_ref(&x)].concat();
    let mut term = |context: &[source::Var], ty: &Ty| g.bounded(context, ty, 4, size);
    source::Instance {
        body: term(&inside, &b),
        s: term(context, &a),
        p: term(context, &a.clone().times(b.clone())),
        f: term(context, &a.clone().to(b.clone())),
        u: term(context, &Ty::Unit),
        x,
    }
}

/// T-1, Figure 2 (S-9 … S-15) in the Cartesian judgement of the target language, and L-24 in it.
#[test]
fn cartesian_equations() {
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let context = g.linear_context(2);
        let (a, b) = (g.cartesian_ty(2), g.cartesian_ty(2));
        let x = Var::fresh("x", a.clone());
        let inside = [context.as_slice(), std::slice::from_ref(&x)].concat();
        let m = g.linear_ty(1).lolli(g.linear_ty(2));
        let mut term = |context: &[linear::Var], ty: &linear::Ty| g.cartesian(context, ty, 20);
        let instance = lambda::Instance {
            body: term(&inside, &b),
            s: term(&context, &a),
            p: term(&context, &a.clone().times(b.clone())),
            f: term(&context, &a.clone().to(b.clone())),
            u: term(&context, &linear::Ty::Unit),
            x,
        };
        let m = term(&context, &m);
        let linear_eta = ("linear-eta", (m.clone(), linear::linear_eta(&m)));
        let env = g.meanings(&context);
        let rows = lambda::equations().map(|row| (row.name, (row.sides)(&instance)));
        for (name, (left, right)) in rows.into_iter().chain([linear_eta]) {
            linear::check(&context, &left).unwrap();
            linear::check(&context, &right).unwrap();
            assert_eq!(normalize(&left), normalize(&right), "{name}: {left} and {right}");
            let [a, b] = [&left, &right].map(|t| linear::eval(t, &env));
            g.same_cartesian(left.ty(), &a, &b, &name);
        }
    }
}

/// Terms for the rows of Figure 4, all of them generated: σ, ρ are of order up to 2; τ, T of order
/// up to 1.
fn linear_instance(g: &mut Generator, context: &[linear::Var]) -> linear::Instance {
    let [sigma, tau, rho] = [2, 1, 2].map(|order| g.linear_ty(order));
    let y = Var::fresh("y", g.cartesian_ty(1));
    let inside = [context, std::slice::from_ref(&y)].concat();
    let keyed = tau.clone().tensor(y.ty.clone());
    let o = g.linear_operation();
    let at = g.cartesian(context, &linear::Ty::dom(&o.dom()), 16);
    let mut term = |context: &[linear::Var], from: &LTy, to: &LTy| g.linear(context, from, to, 12);
    let k = [(); 2].map(|()| term(&inside, &tau, &rho));
    let p = [(); 2].map(|()| term(context, &sigma, &keyed));
    let d = [(); 2].map(|()| term(context, &sigma, &LTy::dom(&o.ldom())));
    let l = [(); 3].map(|()| term(context, &sigma, &tau));
    let (r, u) = (term(context, &keyed, &rho), term(context, &sigma, &LTy::Unit));
    let q = term(context, &sigma, &tau.clone().times(rho.clone()));
    let function = term(context, &sigma, &rho.clone().under(y.ty.clone()));
    let (t, f) = (g.cartesian(context, &y.ty, 16), g.cartesian(context, &tau.lolli(rho), 16));
    linear::Instance { y, t, l, k, p, r, f, u, q, g: function, lop: (o, at), d }
}

/// T-1, Figure 4 (L-20 … L-30 and the derived laws): every row is proved by the normalizer and
/// holds in the semantics, for generated terms of all constructs at types of higher order; and so
/// it does inside of a term that uses both sides.
#[test]
fn linear_equations() {
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let context = g.linear_context(2);
        let instance = linear_instance(&mut g, &context);
        let env = g.meanings(&context);
        for row in linear::equations() {
            let (left, right) = (row.sides)(&instance);
            assert_eq!((left.from(), left.to()), (right.from(), right.to()), "{}", row.name);
            linear::check_linear(&context, &left).unwrap();
            linear::check_linear(&context, &right).unwrap();
            assert!(
                normalize_linear(&left) == normalize_linear(&right),
                "{} {}: {left} and {right}",
                row.id,
                row.name
            );
            let v = g.element(left.from());
            let [a, b] = [&left, &right].map(|l| linear::eval_linear(l, &env, &v));
            g.same_linear(left.to(), &a, &b, &row.name);
        }
        let (left, right) =
            (linear::equations()[g.below(linear::equations().len())].sides)(&instance);
        let around = g.linear(&context, left.to(), &LTy::Real(1), 16);
        assert!(
            normalize_linear(&around.after(&left)) == normalize_linear(&around.after(&right)),
            "{around} around {left} and {right}"
        );
    }
}

/// T-1: normal forms have the meanings and types of the terms, and are normal.
#[test]
fn normalization_is_sound() {
    for Sample { context, l, mut generator } in samples(2) {
        let g = &mut generator;
        let normal = normalize_linear(&l);
        linear::check_linear(&context, &normal).unwrap();
        assert_eq!((l.from(), l.to()), (normal.from(), normal.to()));
        assert!(normalize_linear(&normal) == normal, "{l}\n{normal}");
        let (env, v) = (g.meanings(&context), g.element(l.from()));
        g.same_linear(
            l.to(),
            &linear::eval_linear(&l, &env, &v),
            &linear::eval_linear(&normal, &env, &v),
            &l,
        );
        let ty = g.cartesian_ty(3);
        let t = g.cartesian(&context, &ty, 40);
        let normal = normalize(&t);
        linear::check(&context, &normal).unwrap();
        assert_eq!(normalize(&normal), normal);
        g.same_cartesian(&ty, &linear::eval(&t, &env), &linear::eval(&normal, &env), &t);
    }
}

/// Whether the components of the derivatives of two programs in one variable are equal, up to βη+
/// and as values.
fn equal_derivatives(g: &mut Generator, left: &Comb, right: &Comb, what: &dyn std::fmt::Display) {
    for (a, b) in Derived::both(left).iter().zip(&Derived::both(right)) {
        let rename = Env::default().with(&b.x, linear::var(&a.x));
        assert!(normalize(&a.first) == normalize(&b.first.substitute(&rename)), "{what}");
        assert!(
            normalize_linear(&a.second) == normalize_linear(&b.second.substitute(&rename)),
            "{what}"
        );
        let at = linear::eval(&g.cartesian(&[], &a.x.ty, 16), &Env::default());
        let v = g.element(a.second.from());
        g.same_cartesian(a.first.ty(), &a.first(&at), &b.first(&at), what);
        g.same_linear(a.second.to(), &a.second(&at, &v), &b.second(&at, &v), what);
    }
}

/// T-2: the derivatives of a program and of its normal form have the same βη+-normal form and the
/// same values, in both modes; programs between first-order types with anything inside, and
/// programs between types of order up to 3.
#[test]
fn macros_respect_equality() {
    let mut reduced = 0;
    for mut s in Subject::all().chain(Subject::higher()) {
        let normal = source::normalize(&s.term);
        reduced += u64::from(normal != s.term.canonical());
        equal_derivatives(&mut s.generator, &s.comb, &combinators::of_term(&s.x, &normal), &s.term);
    }
    assert!(reduced > 1300, "only {reduced} programs are not normal already");
}

/// T-2 for Appendix C: the derivatives of a program and of its normal form have the same values.
#[test]
fn applied_macros_respect_equality() {
    for mut s in Subject::all() {
        let other = combinators::of_term(&s.x, &source::normalize(&s.term));
        let x = s.point();
        let inputs = [s.tangent(), s.cotangent()];
        for ((a, b), v) in Applied::both(&s.comb).iter().zip(&Applied::both(&other)).zip(&inputs) {
            close(&numbers(&a.first(&x)), &numbers(&b.first(&x)), 1e-9, &s.term);
            close(&numbers(&a.second(&x, v)), &numbers(&b.second(&x, v)), 1e-9, &s.term);
        }
    }
}

/// T-2, row by row (S-9 … S-15): redexes and η-expansions at all types.
#[test]
fn macros_respect_rows() {
    let sides = |seed: u64| {
        let mut g = Generator::new(seed);
        let c = Var::fresh("c", g.ty(2));
        let instance = source_instance(&mut g, std::slice::from_ref(&c), [1, 2], 8);
        let both = |row: &source::Equation| {
            <[source::Term; 2]>::from((row.sides)(&instance)).map(|t| combinators::of_term(&c, &t))
        };
        (g, source::equations().iter().map(both).collect::<Vec<_>>())
    };
    let small =
        |rows: &Vec<[Comb; 2]>| rows.iter().flatten().all(|t| literal::size(t) < LARGEST / 3.0);
    for (mut g, rows) in (0..).map(sides).filter(|(_, rows)| small(rows)).take(TERMS as usize) {
        for ([left, right], row) in rows.iter().zip(source::equations::<Source>()) {
            equal_derivatives(&mut g, left, right, &row.name);
        }
    }
}

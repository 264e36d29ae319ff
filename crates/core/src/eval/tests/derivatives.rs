//! Derivatives: nested, of all constructs, at kinks.

use lambada_prim::Scalar;

use super::*;
use crate::if_;

#[test]
fn perturbations_are_not_confused() {
    // d/dx (x * d/dy (x + y)) = 1
    type Derive = fn(Term, Term) -> Term;
    for outer in [forward as Derive, reverse] {
        for inner in [forward as Derive, reverse] {
            let p = &mut Program::default();
            let body = function(p, Ty::REAL, |p, x0| {
                let f = function(p, Ty::REAL, |p, x| {
                    let g = function(p, Ty::REAL, |_, y| add(var(x), var(y)));
                    mul(var(x), inner(g, var(x)))
                });
                outer(f, var(x0))
            });
            check(p.clone(), body, &[3.0.into()], 1.0);
        }
    }
}

#[test]
fn derivatives_nest_to_any_order_in_any_mode() {
    // The n-th derivative of sin, for all modes at all orders.
    for order in 0..5u32 {
        for modes in 0..1u32 << order {
            let p = &mut Program::default();
            let mut f = function(p, Ty::REAL, |_, x| prim(Prim::Sin, vec![var(x)]));
            for k in 0..order {
                let inner = f;
                f = function(p, Ty::REAL, |_, x| {
                    if modes >> k & 1 == 0 {
                        forward(inner, var(x))
                    } else {
                        reverse(inner, var(x))
                    }
                });
            }
            let x: f64 = 0.7;
            check(
                p.clone(),
                f,
                &[x.into()],
                [x.sin(), x.cos(), -x.sin(), -x.cos()][order as usize % 4],
            );
        }
    }
}

#[test]
fn captured_variables_carry_derivatives() {
    // grad (\x -> grad (\y -> x * y * y) x) 3 = d/dx 2 x² = 4 x
    let p = &mut Program::default();
    let body = function(p, Ty::REAL, |p, x0| {
        let f = function(p, Ty::REAL, |p, x| {
            let g = function(p, Ty::REAL, |_, y| mul(mul(var(x), var(y)), var(y)));
            reverse(g, var(x))
        });
        reverse(f, var(x0))
    });
    check(p.clone(), body, &[3.0.into()], 12.0);
}

#[test]
fn hessian_times_vector() {
    // The gradient's derivative in direction v: forward over reverse, and reverse over reverse.
    let (x, v) = (vec![1.0, 2.0, -3.0], vec![0.5, 1.0, 2.0]);
    let expect: Vec<f64> = x.iter().zip(&v).map(|(x, v)| 6.0 * x * v).collect();
    let p = &mut Program::default();
    let f = cubes(p);
    let gradient = function(p, reals(), |_, x| reverse(f.clone(), var(x)));
    let over_forward = function(p, reals(), |p, x| {
        function(p, reals(), |_, v| proj(jvp(gradient, var(x), var(v), NOWHERE), 1))
    });
    check(p.clone(), over_forward, &[x.clone().into(), v.clone().into()], expect.clone());

    let p = &mut Program::default();
    let f = cubes(p);
    let gradient = function(p, reals(), |_, x| reverse(f.clone(), var(x)));
    let twice = function(p, reals(), |p, x| {
        function(p, reals(), |_, v| app(proj(vjp(gradient, var(x), NOWHERE), 1), var(v)))
    });
    check(p.clone(), twice, &[x.into(), v.into()], expect);
}

#[test]
fn a_pullback_is_applied_many_times() {
    let p = &mut Program::default();
    // let r = vjp (\x -> (x * x, sin x)) x in (r.1 (1, 0), r.1 (0, 1))
    let f = function(p, Ty::REAL, |_, x| {
        tuple(vec![mul(var(x), var(x)), prim(Prim::Sin, vec![var(x)])])
    });
    let body = function(p, Ty::REAL, |p, x| {
        let pair = vjp(f, var(x), NOWHERE);
        let r = p.fresh("r", pair.ty().clone());
        let pull = |a, b| app(proj(var(&r), 1), tuple(vec![real(a), real(b)]));
        let both = tuple(vec![pull(1.0, 0.0), pull(0.0, 1.0), pull(1.0, 1.0)]);
        let_(r.clone(), pair, both)
    });
    let x: f64 = 0.3;
    let expect = Data::Tuple([2.0 * x, x.cos(), 2.0 * x + x.cos()].map(Data::from).to_vec());
    check(p.clone(), body, &[x.into()], expect);
}

/// A function with arrays, a loop, a branch and a maximum: `\xs -> (loop s = 0 for i < length xs do …, for i => exp xs[i] * maximum xs)`.
fn mixed(p: &mut Program) -> Term {
    function(p, reals(), |p, xs| {
        let (s, i) = (p.fresh("s", Ty::REAL), p.fresh("i", Ty::INT));
        let positive = prim(Prim::Lt, vec![real(0.0), at(xs, &i)]);
        let next = if_(
            positive,
            mul(add(var(&s), real(1.0)), at(xs, &i)),
            prim(Prim::Sub, vec![var(&s), at(xs, &i)]),
        );
        let total = loop_(s, real(0.5), LoopKind::For(i, dim(var(xs), 0), Checkpoint::All), next);
        let largest = reduce(ReduceOp::Max, var(xs));
        let scaled = each(p, xs, |_, i| mul(prim(Prim::Exp, vec![at(xs, i)]), largest));
        tuple(vec![total, scaled])
    })
}

#[test]
fn forward_and_reverse_are_transposes() {
    let (x, v) = (vec![0.5, -1.0, 2.0], vec![1.0, 0.25, -2.0]);
    let (w0, w) = (0.75, vec![1.5, -0.5, 0.125]);
    let p = &mut Program::default();
    let f = mixed(p);
    let push = function(p, reals(), |p, x| {
        function(p, reals(), |_, v| proj(jvp(f, var(x), var(v), NOWHERE), 1))
    });
    let pushed = outcome(p.clone(), push, &[x.clone().into(), v.clone().into()]).unwrap();

    let p = &mut Program::default();
    let f = mixed(p);
    let cotangent = Ty::tuple([Ty::REAL, reals()]);
    let pull = function(p, reals(), |p, x| {
        function(p, cotangent, |_, w| app(proj(vjp(f, var(x), NOWHERE), 1), var(w)))
    });
    let pulled =
        outcome(p.clone(), pull, &[x.into(), Data::Tuple(vec![w0.into(), w.clone().into()])])
            .unwrap();

    let list = |data: &Data| match data {
        Data::Tensor(tensor) => {
            (0..tensor.data.len()).map(|k| tensor.data.get(k).real()).collect::<Vec<f64>>()
        }
        other => panic!("{other}"),
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let Data::Tuple(parts) = pushed else { panic!() };
    let (left, right) =
        (w0 * list(&parts[0])[0] + dot(&w, &list(&parts[1])), dot(&v, &list(&pulled)));
    assert!((left - right).abs() < 1e-12, "{left} is not {right}");
    assert!(left.abs() > 0.1);
}

#[test]
fn what_is_not_real_has_no_derivative() {
    let p = &mut Program::default();
    // vjp (\(x, n) -> (x * real n, n, x < 1)) at (2, 3), pulled back
    let point = Ty::tuple([Ty::REAL, Ty::INT]);
    let f = function(p, point.clone(), |_, x| {
        let (a, n) = (proj(var(x), 0), proj(var(x), 1));
        tuple(vec![
            mul(a.clone(), prim(Prim::ToReal, vec![n.clone()])),
            n,
            prim(Prim::Lt, vec![a, real(1.0)]),
        ])
    });
    let cotangent = tuple(vec![real(1.0), int(7), crate::lit(Scalar::Bool(true))]);
    let reverse =
        function(p, point.clone(), |_, x| app(proj(vjp(f.clone(), var(x), NOWHERE), 1), cotangent));
    let args = [Data::Tuple(vec![2.0.into(), 3.into()])];
    check(p.clone(), reverse, &args, Data::Tuple(vec![3.0.into(), 0.into()]));

    let p = &mut Program::default();
    let f = p.freshen(&f);
    let forward =
        function(p, point, |_, x| jvp(f, var(x), tuple(vec![real(1.0), int(9)]), NOWHERE));
    let values = Data::Tuple(vec![6.0.into(), 3.into(), false.into()]);
    let tangents = Data::Tuple(vec![3.0.into(), 0.into(), false.into()]);
    check(p.clone(), forward, &args, Data::Tuple(vec![values, tangents]));
}

#[test]
fn zero_times_infinity_does_not_arise_from_choices() {
    let p = &mut Program::default();
    // select (x > 0) (sqrt x) x: the branch that is not taken has an infinite derivative.
    let f = function(p, Ty::REAL, |_, x| {
        let choice =
            vec![prim(Prim::Lt, vec![real(0.0), var(x)]), prim(Prim::Sqrt, vec![var(x)]), var(x)];
        prim(Prim::Select, choice)
    });
    let body = function(p, Ty::REAL, |_, x| tuple(vec![forward(f.clone(), var(x)), real(0.0)]));
    check(p.clone(), body, &[0.0.into()], Data::Tuple(vec![1.0.into(), 0.0.into()]));
    let p = &mut Program::default();
    let f = p.freshen(&f);
    let body = function(p, Ty::REAL, |_, x| reverse(f, var(x)));
    check(p.clone(), body, &[0.0.into()], 1.0);
}

#[test]
fn derivatives_do_not_leak_through_accumulators() {
    let p = &mut Program::default();
    // accumulate h = 0 in jvp (\x -> let _ = h += x in x * x) x 1: what is added is a plain number.
    let body = function(p, Ty::REAL, |p, x0| {
        let (h, unit) = (p.fresh("h", Ty::REAL), p.fresh("u", Ty::unit()));
        let f = function(p, Ty::REAL, |_, x| {
            let add = Term::new(
                TermKind::Add { acc: h.clone(), index: vec![], value: var(x) },
                Ty::unit(),
                NOWHERE,
            );
            let_(unit, add, mul(var(x), var(x)))
        });
        let body = jvp(f, var(x0), real(1.0), NOWHERE);
        let ty = Ty::tuple([body.ty().clone(), Ty::REAL]);
        Term::new(TermKind::Accumulate { acc: h, init: real(0.0), body }, ty, NOWHERE)
    });
    let both = Data::Tuple(vec![9.0.into(), 6.0.into()]);
    check(p.clone(), body, &[3.0.into()], Data::Tuple(vec![both, 3.0.into()]));
}

#[test]
fn variants_hold_functions() {
    let p = &mut shapes(true);
    let f = area(p, true);
    let body = function(p, Ty::REAL, |p, x| {
        let times = function(p, Ty::REAL, |_, y| mul(var(x), var(y)));
        app(f, con(2, vec![times]))
    });
    let gradient = function(p, Ty::REAL, |_, x| reverse(body, var(x)));
    check(p.clone(), gradient, &[4.0.into()], 10.0);
}

#[test]
fn ties_go_to_the_first() {
    let p = &mut Program::default();
    let f = function(p, reals(), |_, xs| reduce(ReduceOp::Max, var(xs)));
    let body = function(p, reals(), |_, xs| reverse(f, var(xs)));
    check(p.clone(), body, &[vec![1.0, 2.0, 2.0].into()], vec![0.0, 1.0, 0.0]);
}

#[test]
fn gradients_take_one_sweep() {
    // 200 000 passes over 200 000 elements would take hours.
    let p = &mut Program::default();
    let f = cubes(p);
    let body = function(p, reals(), |_, xs| reverse(f, var(xs)));
    let xs: Vec<f64> = (0..200_000).map(|k| k as f64 / 1000.0).collect();
    let expect: Vec<f64> = xs.iter().map(|x| 3.0 * x * x).collect();
    check(p.clone(), body, &[xs.into()], expect);
}

//! Higher-order code.

use super::*;

fn endo() -> Ty {
    Ty::fun(Ty::REAL, Ty::REAL)
}

/// `\x -> x * k`
fn scale(m: &mut Make, k: Term) -> Term {
    m.lam("x", Ty::REAL, |_, x| mul(x, k))
}

/// `\x -> x + k`
fn shift(m: &mut Make, k: Term) -> Term {
    m.lam("x", Ty::REAL, |_, x| add(x, k))
}

/// `compose f g`
fn compose(m: &mut Make, f: Term, g: Term) -> Term {
    m.lam("x", Ty::REAL, |_, x| app(g, app(f, x)))
}

#[test]
fn captured_returned_and_composed() {
    // twice f = \x -> f (f x); main k y = twice (twice (\x -> x * k)) y
    let mut m = Make::new();
    let twice = m.lam("f", endo(), |m, f| compose(m, f.clone(), f));
    let twice = m.def("twice", twice);
    let main = m.lam("k", Ty::REAL, |m, k| {
        m.lam("y", Ty::REAL, |m, y| {
            let f = scale(m, k);
            app(app(twice.clone(), app(twice, f)), y)
        })
    });
    m.def("main", main);
    m.check(&[2.0.into(), 3.0.into()], 48.0);
    assert_eq!(m.size(), 4);
}

#[test]
fn in_tuples_and_constants() {
    // c = 1.5 + 2.0; main x = let p = (\x -> x * c, 4.0) in p.0 p.1 + x
    let mut m = Make::new();
    let c = m.def("c", add(real(1.5), real(2.0)));
    let main = m.lam("x", Ty::REAL, |m, x| {
        let f = scale(m, c);
        m.let_("p", tuple(vec![f, real(4.0)]), |_, p| add(app(proj(p.clone(), 0), proj(p, 1)), x))
    });
    m.def("main", main);
    m.check(&[1.0.into()], 15.0);
}

#[test]
fn joined_by_if() {
    // main x k = let f = if x < 0 then \y -> y * k else (if x < 1 then \y -> y + x else \y -> y) in f (f x)
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |m, x| {
        m.lam("k", Ty::REAL, |m, k| {
            let (f, g) = (scale(m, k), shift(m, x.clone()));
            let id = m.lam("y", Ty::REAL, |_, y| y);
            let choice = if_(less(x.clone(), real(0.0)), f, if_(less(x.clone(), real(1.0)), g, id));
            m.let_("f", choice, |_, f| app(f.clone(), app(f, x)))
        })
    });
    m.def("main", main);
    m.check(&[(-2.0).into(), 3.0.into()], -18.0);
    m.check(&[0.5.into(), 3.0.into()], 1.5);
    m.check(&[5.0.into(), 3.0.into()], 5.0);
}

#[test]
fn joined_with_array_environments() {
    // the same λ with different captured arrays, of sizes that only the branches know
    let mut m = Make::new();
    let main = m.lam("b", Ty::BOOL, |m, b| {
        m.lam("n", Ty::INT, |m, n| {
            let sum_with = m.lam("xs", reals(), |m, xs| {
                m.lam("y", Ty::REAL, |_, y| add(reduce(ReduceOp::Add, xs), y))
            });
            m.let_("s", sum_with, |m, s| {
                let xs = m.for_(n.clone(), |_, i| prim(Prim::ToReal, vec![i]));
                let ys = m.for_(mul(n.clone(), n), |_, _| real(1.0));
                m.let_("f", if_(b, app(s.clone(), xs), app(s, ys)), |_, f| app(f, real(0.5)))
            })
        })
    });
    m.def("main", main);
    m.check(&[true.into(), 4.into()], 6.5);
    m.check(&[false.into(), 4.into()], 16.5);
    m.check(&[false.into(), (-4).into()], 16.5);
    m.check(&[true.into(), (-4).into()], 0.5);
}

#[test]
fn arrays_of_closures() {
    // fs = for i < n => \x -> x * ks[i] + sum ks; main = fs[j] 10.0
    let mut m = Make::new();
    let main = m.lam("ks", reals(), |m, ks| {
        m.lam("j", Ty::INT, |m, j| {
            let fs = m.for_(length(ks.clone()), |m, i| {
                m.lam("x", Ty::REAL, |_, x| {
                    add(mul(x, at(ks.clone(), i)), reduce(ReduceOp::Add, ks.clone()))
                })
            });
            m.let_("fs", fs, |_, fs| app(at(fs, j), real(10.0)))
        })
    });
    m.def("main", main);
    m.check(&[vec![1.0, 2.0, 3.0].into(), 1.into()], 26.0);
    m.check_fails(&[vec![1.0, 2.0, 3.0].into(), 3.into()], "index 3 is out of range for size 3");
}

#[test]
fn arrays_of_different_closures() {
    // [\x -> x * k, \x -> x + k, \x -> x], applied to all of xs, and with an update
    let mut m = Make::new();
    let main = m.lam("k", Ty::REAL, |m, k| {
        m.lam("j", Ty::INT, |m, j| {
            let items =
                vec![scale(m, k.clone()), shift(m, k.clone()), m.lam("x", Ty::REAL, |_, x| x)];
            let last = shift(m, mul(k.clone(), k));
            m.let_("fs", array(items), |m, fs| {
                let fs = update(fs, vec![j], last, Span::default());
                m.let_("gs", fs, |m, gs| {
                    m.for_(length(gs.clone()), |_, i| app(at(gs, i), real(1.0)))
                })
            })
        })
    });
    m.def("main", main);
    m.check(&[5.0.into(), 2.into()], vec![5.0, 6.0, 26.0]);
    m.check(&[5.0.into(), 0.into()], vec![26.0, 6.0, 1.0]);
}

#[test]
fn loops_that_carry_closures() {
    // loop f = \x -> x * k for i < n do (if i < 2 then f else \x -> x + i); applied to 1
    let mut m = Make::new();
    let main = m.lam("k", Ty::REAL, |m, k| {
        m.lam("n", Ty::INT, |m, n| {
            let init = scale(m, k);
            let f = m.loop_(init, n, |m, f, i| {
                let g = shift(m, prim(Prim::ToReal, vec![i.clone()]));
                if_(less(i, int(2)), f, g)
            });
            app(f, real(1.0))
        })
    });
    m.def("main", main);
    m.check(&[7.0.into(), 2.into()], 7.0);
    m.check(&[7.0.into(), 4.into()], 4.0);
    m.check(&[7.0.into(), 0.into()], 7.0);
}

#[test]
fn a_function_that_grows_is_unrolled_or_a_node() {
    let grows = |n: Term| {
        let mut m = Make::new();
        let main = m.lam("x", Ty::REAL, |m, x| {
            let init = m.lam("y", Ty::REAL, |_, y| y);
            let f = m.loop_(init, n, |m, f, _| {
                let double = scale(m, real(2.0));
                compose(m, f, double)
            });
            app(f, x)
        });
        m.def("main", main);
        m
    };
    grows(int(5)).check(&[1.0.into()], 32.0);
    grows(prim(Prim::ToInt, vec![real(9.0)])).check(&[1.0.into()], 512.0);
}

#[test]
fn functions_do_not_cross_the_boundary() {
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |m, x| {
        let f = scale(m, x.clone());
        tuple(vec![x, f])
    });
    m.def("main", main);
    let problems = m.normalized().expect_err("it cannot be compiled");
    assert_eq!(problems[0].title, "the result of `main` contains a function");
    let mut m = Make::new();
    let main = m.lam("f", endo(), |_, f| app(f, real(1.0)));
    m.def("main", main);
    assert_eq!(
        m.normalized().expect_err("it cannot be compiled")[0].title,
        "the parameter `f` of `main` contains a function"
    );
}

#[test]
fn a_long_spine() {
    let mut m = Make::new();
    let x = m.var("x", Ty::REAL);
    let vars: Vec<Var> = (0..20_000).map(|_| m.var("y", Ty::REAL)).collect();
    let last = vars.iter().fold(x.clone(), |_, y| y.clone());
    let mut body = var(&last);
    for k in (0..vars.len()).rev() {
        let before = if k == 0 { &x } else { &vars[k - 1] };
        body = let_(vars[k].clone(), add(var(before), real(1.0)), body);
    }
    m.def("main", lam(x, body));
    let normalized =
        normalize(&m.program, m.entry(), &Differentiate).expect("it can be normalized");
    assert_eq!(run(&normalized, &[0.5.into()]), Ok(20_000.5.into()));
    std::mem::forget(m); // core's terms are dropped recursively
}

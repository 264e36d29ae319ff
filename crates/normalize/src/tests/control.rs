//! Branches, loops, accumulators, failures.

use super::*;

fn span(start: usize) -> Span {
    Span::new(FileId(0), start, start + 1)
}

#[test]
fn checks_fail_where_they_stand() {
    // main xs i = let unused = xs[i] in if i < 0 then 1.0 else xs[i + 1]
    let mut m = Make::new();
    let main = m.lam("xs", reals(), |m, xs| {
        m.lam("i", Ty::INT, |m, i| {
            let unused = index(xs.clone(), vec![i.clone()], span(5));
            let next = index(xs, vec![add(i.clone(), int(1))], span(9));
            m.let_("unused", unused, |_, _| if_(less(i, int(0)), real(1.0), next))
        })
    });
    m.def("main", main);
    let xs = || Data::from(vec![1.0, 2.0]);
    m.check(&[xs(), 0.into()], 2.0);
    let failure = |i: i64| m.run(&[xs(), i.into()]).expect_err("it fails");
    assert_eq!(
        failure(1),
        Failure { span: span(9), message: "index 2 is out of range for size 2".into() }
    );
    assert_eq!(
        failure(-1),
        Failure { span: span(5), message: "index -1 is out of range for size 2".into() }
    );
}

#[test]
fn while_loops() {
    // loop (k, x) = (0, x0) while x < 100 do (k + 1, x * 2)
    let mut m = Make::new();
    let main = m.lam("x0", Ty::REAL, |m, x0| {
        let init = tuple(vec![int(0), x0]);
        m.while_(
            init,
            |s| less(proj(s, 1), real(100.0)),
            |_, s| tuple(vec![add(proj(s.clone(), 0), int(1)), mul(proj(s, 1), real(2.0))]),
        )
    });
    m.def("main", main);
    m.check(&[1.0.into()], pair(7, 128.0));
    m.check(&[1000.0.into()], pair(0, 1000.0));
}

#[test]
fn constant_conditions_and_parameters_vanish() {
    // loop (x, c) = (x0, 2.0) for i < 3 do (if true then x * c else xs[i], c)
    let mut m = Make::new();
    let main = m.lam("x0", Ty::REAL, |m, x0| {
        let s = m.loop_(tuple(vec![x0, real(2.0)]), int(3), |_, s, _| {
            let cond = lit(Scalar::Bool(true));
            tuple(vec![
                if_(cond, mul(proj(s.clone(), 0), proj(s.clone(), 1)), real(0.0)),
                proj(s, 1),
            ])
        });
        proj(s, 0)
    });
    m.def("main", main);
    m.check(&[1.0.into()], 8.0);
    assert_eq!(m.size(), 2);
}

#[test]
fn branches_with_sizes_of_their_own() {
    // let ys = if b then (for i < n => 1.0) else xs in (length ys, ys)
    let mut m = Make::new();
    let main = m.lam("b", Ty::BOOL, |m, b| {
        m.lam("n", Ty::INT, |m, n| {
            m.lam("xs", reals(), |m, xs| {
                let ones = m.for_(n, |_, _| real(1.0));
                m.let_("ys", if_(b, ones, xs), |_, ys| tuple(vec![length(ys.clone()), ys]))
            })
        })
    });
    m.def("main", main);
    m.check(&[true.into(), 2.into(), vec![5.0, 6.0, 7.0].into()], pair(2, vec![1.0, 1.0]));
    m.check(&[false.into(), 2.into(), vec![5.0, 6.0, 7.0].into()], pair(3, vec![5.0, 6.0, 7.0]));
    m.check(&[true.into(), (-2).into(), vec![5.0].into()], pair(0, Vec::<f64>::new()));
}

/// `accumulate acc = init in body acc`
fn accumulate(m: &mut Make, init: Term, body: impl FnOnce(&mut Make, &Var) -> Term) -> Term {
    let acc = m.var("h", init.ty().clone());
    let body = body(m, &acc);
    let ty = Ty::tuple(vec![body.ty().clone(), init.ty().clone()]);
    Term::new(TermKind::Accumulate { acc, init, body }, ty, Span::default())
}

fn add_to(acc: &Var, index: Vec<Term>, value: Term) -> Term {
    Term::new(TermKind::Add { acc: acc.clone(), index, value }, Ty::unit(), span(3))
}

#[test]
fn histograms() {
    // (accumulate h = zeros 3 in for i < length ks => h[ks[i]] += ws[i]).1
    let mut m = Make::new();
    let main = m.lam("ks", Ty::array(Ty::INT), |m, ks| {
        m.lam("ws", reals(), |m, ws| {
            let zeros = m.for_(int(3), |_, _| real(0.0));
            let sum = accumulate(m, zeros, |m, h| {
                m.for_(length(ks.clone()), |_, i| add_to(h, vec![at(ks, i.clone())], at(ws, i)))
            });
            proj(sum, 1)
        })
    });
    m.def("main", main);
    m.check(&[vec![0, 2, 0].into(), vec![1.0, 2.0, 4.0].into()], vec![5.0, 0.0, 2.0]);
    m.check_fails(
        &[vec![0, 3].into(), vec![1.0, 2.0].into()],
        "index 3 is out of range for size 3",
    );
}

#[test]
fn accumulators_in_closures_and_rows() {
    // accumulate h = m in let f = \row -> h[0] += row in (f xs; f xs; 1.0)
    let mut m = Make::new();
    let main = m.lam("m", Ty::array(reals()), |m, rows| {
        m.lam("xs", reals(), |m, xs| {
            accumulate(m, rows, |m, h| {
                let f = m.lam("row", reals(), |_, row| add_to(h, vec![int(0)], row));
                m.let_("f", f, |m, f| {
                    m.let_("u", app(f.clone(), xs.clone()), |m, _| {
                        m.let_("v", app(f, xs), |_, _| real(1.0))
                    })
                })
            })
        })
    });
    m.def("main", main);
    let matrix = Data::matrix(&[&[1.0, 2.0], &[3.0, 4.0]]);
    m.check(
        &[matrix.clone(), vec![10.0, 20.0].into()],
        pair(1.0, Data::matrix(&[&[21.0, 42.0], &[3.0, 4.0]])),
    );
    m.check_fails(&[matrix, vec![1.0].into()], "sizes differ: 2 and 1");
}

#[test]
fn nested_accumulators_of_one_definition() {
    // with f = accumulate h = 0.0 in f (\v -> h += v)
    // main = with (\a -> with (\b -> (a 1.0; b 2.0)))
    let mut m = Make::new();
    let adder = Ty::fun(Ty::REAL, Ty::unit());
    let with = m.lam("f", Ty::fun(adder.clone(), Ty::REAL), |m, f| {
        accumulate(m, real(0.0), |m, h| {
            let add = m.lam("v", Ty::REAL, |_, v| add_to(h, vec![], v));
            app(f, add)
        })
    });
    let with = m.def("with", with);
    let main = m.lam("x", Ty::REAL, |m, x| {
        let outer = m.lam("a", adder.clone(), |m, a| {
            let inner = m.lam("b", adder, |m, b| {
                let first = app(a.clone(), x);
                m.let_("u", first, |m, _| m.let_("v", app(b, real(2.0)), |_, _| real(7.0)))
            });
            proj(app(with.clone(), inner), 1)
        });
        app(with, outer)
    });
    m.def("main", main);
    m.check(&[5.0.into()], pair(2.0, 5.0));
}

#[test]
fn constants_that_fail_do_so_only_where_they_are_used() {
    let mut m = Make::new();
    let xs = m.for_(int(2), |_, i| i);
    let xs = m.def("xs", xs);
    let n = m.def("n", prim(Prim::DivInt, vec![at(xs.clone(), int(1)), int(1)]));
    let bad = m.def("bad", at(xs, add(n, int(4))));
    let main = m.lam("b", Ty::BOOL, |_, b| if_(b, bad.clone(), int(1)));
    m.def("main", main);
    m.check(&[false.into()], 1);
    m.check_fails(&[true.into()], "index 5 is out of range for size 2");
}

#[test]
fn explicit_checks() {
    let mut m = Make::new();
    let site = lambada_source::Site::new(span(1), "`n` is {0}");
    let main = m.lam("n", Ty::INT, |_, n| {
        lambada_core::build::check(
            less(int(0), n.clone()),
            site,
            vec![n.clone()],
            mul(n.clone(), n),
        )
    });
    m.def("main", main);
    m.check(&[3.into()], 9);
    m.check_fails(&[(-3).into()], "`n` is -3");
}

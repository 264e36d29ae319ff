//! Arrays of scalars, rows, tuples and arrays.

use lambada_prim::ArrayPrim;

use super::*;

fn matrix() -> Ty {
    Ty::array(reals())
}

#[test]
fn indices_and_updates() {
    // m with [0] = m[1] with [0] = 9.0 …
    let mut m = Make::new();
    let main = m.lam("m", matrix(), |m, a| {
        let row = update(at(a.clone(), int(1)), vec![int(0)], real(9.0), Span::default());
        let swapped = update(a.clone(), vec![int(0)], row, Span::default());
        m.let_("s", swapped, |_, s| {
            tuple(vec![s.clone(), index(s, vec![int(0), int(1)], Span::default())])
        })
    });
    m.def("main", main);
    let a = Data::matrix(&[&[1.0, 2.0], &[3.0, 4.0]]);
    m.check(&[a], pair(Data::matrix(&[&[9.0, 4.0], &[3.0, 4.0]]), 4.0));
}

#[test]
fn updates_keep_sizes() {
    let mut m = Make::new();
    let main = m.lam("m", matrix(), |m, a| {
        m.lam("r", reals(), |_, r| update(a, vec![int(0)], r, Span::default()))
    });
    m.def("main", main);
    m.check_fails(
        &[Data::matrix(&[&[1.0, 2.0]]), vec![1.0].into()],
        "the new value has size 1, the old one 2",
    );
}

#[test]
fn transposed_and_multiplied() {
    // transpose m @ m
    let mut m = Make::new();
    let main = m.lam("m", matrix(), |m, a| {
        let t = m.for_(dim(a.clone(), 1), |m, j| {
            m.for_(length(a.clone()), |_, i| index(a.clone(), vec![i, j], Span::default()))
        });
        Term::new(
            TermKind::ArrayPrim(ArrayPrim::MatMul, vec![t, a.clone()]),
            matrix(),
            Span::default(),
        )
    });
    m.def("main", main);
    m.check(
        &[Data::matrix(&[&[1.0, 2.0, 3.0]])],
        Data::matrix(&[&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], &[3.0, 6.0, 9.0]]),
    );
}

#[test]
fn products_need_equal_sizes() {
    let mut m = Make::new();
    let main = m.lam("a", matrix(), |m, a| {
        m.lam("x", reals(), |_, x| {
            Term::new(TermKind::ArrayPrim(ArrayPrim::MatMul, vec![a, x]), reals(), Span::default())
        })
    });
    m.def("main", main);
    let a = || Data::matrix(&[&[1.0, 2.0]]);
    m.check(&[a(), vec![3.0, 4.0].into()], vec![11.0]);
    m.check_fails(&[a(), vec![3.0].into()], "sizes differ: the inner sizes of `@` are 2 and 1");
}

#[test]
fn reductions() {
    let mut m = Make::new();
    let main = m.lam("m", matrix(), |_, a| {
        let rows = reduce(ReduceOp::Add, a.clone());
        tuple(vec![rows, reduce(ReduceOp::Max, at(a, int(1)))])
    });
    m.def("main", main);
    m.check(&[Data::matrix(&[&[1.0, 2.0], &[5.0, 4.0]])], pair(vec![6.0, 6.0], 5.0));
}

#[test]
fn literals() {
    // [[1, 2], [3, 4]] is a constant; [x, x + 1][1] is not even an array
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |_, x| {
        let constant =
            array(vec![array(vec![real(1.0), real(2.0)]), array(vec![real(3.0), real(4.0)])]);
        let picked = at(array(vec![x.clone(), add(x.clone(), real(1.0))]), int(1));
        tuple(vec![constant, picked, array(vec![array(vec![x.clone()]), array(vec![real(0.0)])])])
    });
    m.def("main", main);
    let expect = vec![
        Data::matrix(&[&[1.0, 2.0], &[3.0, 4.0]]),
        3.0.into(),
        Data::matrix(&[&[2.0], &[0.0]]),
    ];
    m.check(&[2.0.into()], Data::Tuple(expect));
}

#[test]
fn arrays_of_tuples() {
    // for i < n => (xs[i], i, row) with an invariant row; then the sum of x * row[i]
    let mut m = Make::new();
    let main = m.lam("xs", reals(), |m, xs| {
        let triples = m
            .for_(length(xs.clone()), |_, i| tuple(vec![at(xs.clone(), i.clone()), i, xs.clone()]));
        m.let_("ts", triples, |m, ts| {
            let products = m.for_(length(ts.clone()), |m, i| {
                m.let_("t", at(ts.clone(), i), |_, t| {
                    mul(proj(t.clone(), 0), at(proj(t.clone(), 2), proj(t, 1)))
                })
            });
            tuple(vec![reduce(ReduceOp::Add, products), ts])
        })
    });
    m.def("main", main);
    let triple = |x: f64, i: i64| Data::Tuple(vec![x.into(), i.into(), vec![2.0, 3.0].into()]);
    m.check(
        &[vec![2.0, 3.0].into()],
        pair(13.0, Data::Array(vec![triple(2.0, 0), triple(3.0, 1)])),
    );
}

#[test]
fn parameters_that_are_arrays_of_records() {
    let mut m = Make::new();
    let point = Ty::Record(Rc::from([("x".into(), Ty::REAL), ("y".into(), reals())]));
    let main = m.lam("ps", Ty::array(point), |m, ps| {
        m.for_(length(ps.clone()), |_, i| {
            add(proj(at(ps.clone(), i.clone()), 0), reduce(ReduceOp::Add, proj(at(ps, i), 1)))
        })
    });
    m.def("main", main);
    let point =
        |x: f64, y: Vec<f64>| Data::Record(vec![("x".into(), x.into()), ("y".into(), y.into())]);
    m.check(
        &[Data::Array(vec![point(1.0, vec![1.0, 2.0]), point(2.0, vec![3.0, 4.0])])],
        vec![4.0, 9.0],
    );
}

#[test]
fn empty_arrays() {
    // ([] : []real, sum [], for x in [] => x)
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |m, x| {
        let empty = Term::new(
            TermKind::Array(vec![]),
            Ty::array(Ty::tuple([Ty::REAL, Ty::fun(Ty::REAL, Ty::REAL)])),
            Span::default(),
        );
        m.let_("e", empty, |m, e| {
            let applied = m.for_(length(e.clone()), |_, i| app(proj(at(e.clone(), i), 1), x));
            m.let_("a", applied, |_, a| tuple(vec![reduce(ReduceOp::Add, a.clone()), a]))
        })
    });
    m.def("main", main);
    m.check(&[1.0.into()], pair(0.0, Vec::<f64>::new()));
}

#[test]
fn scalar_parameters_share_named_sizes() {
    let mut m = Make::new();
    let dot = m.lam("x", reals(), |m, x| {
        m.lam("y", reals(), |m, y| {
            m.for_(length(x.clone()), |_, i| mul(at(x, i.clone()), at(y, i)))
        })
    });
    let sized = |name: &str| {
        SizedTy::Array(Size::Var(name.into()), Box::new(SizedTy::Scalar(ScalarTy::Real)))
    };
    let params = vec![("x".into(), sized("n")), ("y".into(), sized("n"))];
    m.def_with("dot", dot, Signature { params, result: Some(sized("n")) });
    m.check(&[vec![1.0, 2.0].into(), vec![3.0, 4.0].into()], vec![3.0, 8.0]);
    let normalized = m.normalized().expect("it can be normalized");
    assert_eq!(normalized.function.sizes.len(), 1);
    assert_eq!(m.size(), 4, "no check is left: {}", anf::print(&normalized.function));
}

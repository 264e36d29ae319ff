//! Derivatives, against the meaning of core, which differentiates by operator overloading.

use super::*;

fn vjp(f: Term, x: Term) -> Term {
    lambada_core::vjp(f, x, Span::default())
}

fn jvp(f: Term, x: Term, dx: Term) -> Term {
    lambada_core::jvp(f, x, dx, Span::default())
}

/// `(vjp f x).1 1.0`
fn grad(f: Term, x: Term) -> Term {
    app(proj(vjp(f, x), 1), real(1.0))
}

fn sin(x: Term) -> Term {
    prim(Prim::Sin, vec![x])
}

fn sum(xs: Term) -> Term {
    reduce(ReduceOp::Add, xs)
}

fn close(m: &Make, args: &[Data], expect: impl Into<Data>) {
    m.run(args).expect("it runs").close(&expect.into(), 1e-12).expect("the value");
}

#[test]
fn gradients_of_scalars() {
    // grad (\x -> x * sin x)
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |m, x| {
        let f = m.lam("x", Ty::REAL, |_, x| mul(x.clone(), sin(x)));
        grad(f, x)
    });
    m.def("main", main);
    close(&m, &[2.0.into()], 2f64.sin() + 2.0 * 2f64.cos());
}

#[test]
fn no_perturbation_confusion() {
    // grad (\x -> grad (\y -> x * y * y) x) 3.0 = 4x
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |m, x| {
        let outer = m.lam("x", Ty::REAL, |m, x| {
            let inner = m.lam("y", Ty::REAL, |_, y| mul(mul(x.clone(), y.clone()), y));
            grad(inner, x)
        });
        grad(outer, x)
    });
    m.def("main", main);
    close(&m, &[3.0.into()], 12.0);
}

#[test]
fn pullbacks_are_values() {
    // let (y, pb) = vjp (\xs -> for i < n => xs[i] * sum xs) xs in for k < n => pb (one_hot k)
    let mut m = Make::new();
    let main = m.lam("xs", reals(), |m, xs| {
        let f = m.lam("xs", reals(), |m, xs| {
            m.for_(length(xs.clone()), |_, i| mul(at(xs.clone(), i), sum(xs)))
        });
        m.let_("p", vjp(f, xs.clone()), |m, p| {
            let rows = m.for_(length(xs.clone()), |m, k| {
                let hot = m.for_(length(xs), |_, j| {
                    if_(prim(Prim::EqInt, vec![j, k.clone()]), real(1.0), real(0.0))
                });
                app(proj(p.clone(), 1), hot)
            });
            tuple(vec![proj(p, 0), rows])
        })
    });
    m.def("main", main);
    let jacobian = Data::matrix(&[&[4.0, 1.0], &[2.0, 5.0]]);
    close(&m, &[vec![1.0, 2.0].into()], pair(vec![3.0, 6.0], jacobian));
}

#[test]
fn pullbacks_leave_their_scope() {
    // pullbacks joined by if, collected in an array, carried by a loop
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |m, x| {
        m.lam("n", Ty::INT, |m, n| {
            let square = m.lam("y", Ty::REAL, |_, y| mul(y.clone(), y));
            let wave = m.lam("y", Ty::REAL, |_, y| sin(sin(y)));
            let square = m.def("square", square);
            let wave = m.def("wave", wave);
            let (s, w) = (vjp(square.clone(), x.clone()), vjp(wave, x.clone()));
            let joined = app(proj(if_(less(x.clone(), real(0.0)), s, w), 1), real(1.0));
            let pullbacks = m.for_(n.clone(), |_, i| {
                proj(vjp(square.clone(), mul(x.clone(), prim(Prim::ToReal, vec![i]))), 1)
            });
            let array = m.let_("ps", pullbacks, |m, ps| {
                m.for_(length(ps.clone()), |_, i| app(at(ps, i), real(1.0)))
            });
            let first = proj(vjp(square.clone(), x.clone()), 1);
            let carried = m.loop_(first, n, |_, _, i| {
                proj(vjp(square.clone(), add(x.clone(), prim(Prim::ToReal, vec![i]))), 1)
            });
            tuple(vec![joined, array, app(carried, real(1.0))])
        })
    });
    m.def("main", main);
    close(
        &m,
        &[(-2.0).into(), 3.into()],
        Data::Tuple(vec![(-4.0).into(), vec![0.0, -4.0, -8.0].into(), 0.0.into()]),
    );
    let wave = 0.5f64.sin().cos() * 0.5f64.cos();
    close(
        &m,
        &[0.5.into(), 0.into()],
        Data::Tuple(vec![wave.into(), Vec::<f64>::new().into(), 1.0.into()]),
    );
}

#[test]
fn pullbacks_that_leave_take_their_arrays_along() {
    // for i < n => the pullback at (for j < 2 => x + i), each applied to [1, 10]
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |m, x| {
        m.lam("n", Ty::INT, |m, n| {
            let f = m.lam("v", reals(), |m, v| {
                m.for_(length(v.clone()), |_, j| mul(at(v.clone(), j.clone()), sin(at(v, j))))
            });
            let f = m.def("f", f);
            let pullbacks = m.for_(n, |m, i| {
                let point = m.for_(int(2), |_, j| add(x, prim(Prim::ToReal, vec![add(i, j)])));
                proj(vjp(f, point), 1)
            });
            m.let_("ps", pullbacks, |m, ps| {
                m.for_(length(ps.clone()), |_, i| {
                    app(at(ps, i), array(vec![real(1.0), real(10.0)]))
                })
            })
        })
    });
    m.def("main", main);
    let d = |x: f64| x.sin() + x * x.cos();
    close(
        &m,
        &[1.0.into(), 2.into()],
        Data::matrix(&[&[d(1.0), 10.0 * d(2.0)], &[d(2.0), 10.0 * d(3.0)]]),
    );
}

#[test]
fn forward_mode() {
    // jvp (\(x, k) -> (x * k, k, x * x)) (x, 3) (1.0, 7)
    let mut m = Make::new();
    let point = Ty::tuple([Ty::REAL, Ty::INT]);
    let main = m.lam("x", Ty::REAL, |m, x| {
        let f = m.lam("p", point, |_, p| {
            let (x, k) = (proj(p.clone(), 0), proj(p, 1));
            tuple(vec![mul(x.clone(), prim(Prim::ToReal, vec![k.clone()])), k, mul(x.clone(), x)])
        });
        jvp(f, tuple(vec![x, int(3)]), tuple(vec![real(1.0), int(7)]))
    });
    m.def("main", main);
    let triple = |a: f64, k: i64, b: f64| Data::Tuple(vec![a.into(), k.into(), b.into()]);
    close(&m, &[5.0.into()], pair(triple(15.0, 3, 25.0), triple(3.0, 0, 10.0)));
}

#[test]
fn points_with_integers_and_records() {
    // the gradient by {n : int, w : []real} of sum w * n
    let mut m = Make::new();
    let ty = Ty::Record(Rc::from([("n".into(), Ty::INT), ("w".into(), reals())]));
    let main = m.lam("p", ty.clone(), |m, p| {
        let f = m.lam("p", ty, |_, p| {
            mul(sum(proj(p.clone(), 1)), prim(Prim::ToReal, vec![proj(p, 0)]))
        });
        grad(f, p)
    });
    m.def("main", main);
    let record =
        |n: i64, w: Vec<f64>| Data::Record(vec![("n".into(), n.into()), ("w".into(), w.into())]);
    close(&m, &[record(3, vec![1.0, 2.0])], record(0, vec![3.0, 3.0]));
}

#[test]
fn points_that_are_variants() {
    // area of Circle r | Rect w h, and of an array of them
    let mut m = Make::new();
    let ty = m.type_("shape", &[("Circle", &[Ty::REAL]), ("Rect", &[Ty::REAL, Ty::REAL])]);
    let area = m.lam("s", ty.clone(), |m, s| {
        let (r, w, h) = (m.var("r", Ty::REAL), m.var("w", Ty::REAL), m.var("h", Ty::REAL));
        let circle = Arm { body: mul(real(3.0), mul(var(&r), var(&r))), vars: vec![r] };
        match_(s, vec![circle, Arm { body: mul(var(&w), var(&h)), vars: vec![w, h] }])
    });
    let area = m.def("area", area);
    let main = m.lam("s", ty.clone(), |m, s| {
        m.lam("all", Ty::array(ty.clone()), |m, all| {
            let total = m.lam("all", Ty::array(ty), |m, all| {
                let areas = m.for_(length(all.clone()), |_, i| app(area.clone(), at(all, i)));
                sum(areas)
            });
            tuple(vec![grad(area.clone(), s), grad(total, all)])
        })
    });
    m.def("main", main);
    let circle = |r: f64| Data::Con { name: "Circle".into(), tag: 0, args: vec![r.into()].into() };
    let rect = |w: f64, h: f64| Data::Con {
        name: "Rect".into(),
        tag: 1,
        args: vec![w.into(), h.into()].into(),
    };
    let all = Data::Array(vec![rect(2.0, 5.0), circle(1.0)]);
    close(
        &m,
        &[circle(2.0), all],
        pair(circle(12.0), Data::Array(vec![rect(5.0, 2.0), circle(6.0)])),
    );
}

#[test]
fn higher_order_inside() {
    // grad of \x -> (loop f = \y -> y * x for i < 2 do if i < 1 then f else \y -> f-free y + x * x) 3.0, through closures in arrays
    let mut m = Make::new();
    let main = m.lam("x", Ty::REAL, |m, x| {
        let f = m.lam("x", Ty::REAL, |m, x| {
            let a = m.lam("y", Ty::REAL, |_, y| mul(y, x.clone()));
            let b = m.lam("y", Ty::REAL, |_, y| add(y, mul(x.clone(), x.clone())));
            m.let_("fs", array(vec![a, b]), |m, fs| {
                let values = m.for_(int(4), |_, i| {
                    app(
                        at(fs, prim(Prim::RemInt, vec![i.clone(), int(2)])),
                        prim(Prim::ToReal, vec![i]),
                    )
                });
                sum(values)
            })
        });
        grad(f, x)
    });
    m.def("main", main);
    close(&m, &[3.0.into()], 2.0 + 4.0 * 3.0);
}

#[test]
fn sizes_of_cotangents_are_checked() {
    let mut m = Make::new();
    let main = m.lam("x", reals(), |m, x| {
        m.lam("d", reals(), |m, d| {
            let f = m.lam("x", reals(), |m, x| {
                m.for_(length(x.clone()), |_, i| mul(at(x.clone(), i.clone()), at(x, i)))
            });
            app(proj(vjp(f, x), 1), d)
        })
    });
    m.def("main", main);
    close(&m, &[vec![1.0, 2.0].into(), vec![1.0, 1.0].into()], vec![2.0, 4.0]);
    m.check_fails(
        &[vec![1.0, 2.0].into(), vec![1.0].into()],
        "an array in this tangent or cotangent has size 1, but 2 in the value that it belongs to",
    );
}

#[test]
fn constructors_of_tangents_are_checked() {
    // jvp and vjp of the identity on shapes
    let mut m = Make::new();
    let ty = m.type_("shape", &[("Circle", &[Ty::REAL]), ("Dot", &[])]);
    let id = m.lam("s", ty.clone(), |_, s| s);
    let id = m.def("id", id);
    let main = m.lam("s", ty.clone(), |m, s| {
        m.lam("d", ty, |_, d| {
            tuple(vec![jvp(id.clone(), s.clone(), d.clone()), app(proj(vjp(id, s), 1), d)])
        })
    });
    m.def("main", main);
    let circle = |r: f64| Data::Con { name: "Circle".into(), tag: 0, args: vec![r.into()].into() };
    let dot = || Data::Con { name: "Dot".into(), tag: 1, args: vec![].into() };
    close(&m, &[circle(1.0), circle(2.0)], pair(pair(circle(1.0), circle(2.0)), circle(2.0)));
    m.check_fails(&[circle(1.0), dot()], "the tangent has another constructor than the point");
}

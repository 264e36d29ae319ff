//! Variants: tags and fields.

use super::*;

/// `type figure = Circle real | Poly []real | Dot`
fn figure(m: &mut Make) -> Ty {
    m.type_("figure", &[("Circle", &[Ty::REAL]), ("Poly", &[reals()]), ("Dot", &[])])
}

/// `match t | Circle r -> r | Poly xs -> sum xs | Dot -> -1.0`
fn measure(m: &mut Make, t: Term) -> Term {
    let (r, xs) = (m.var("r", Ty::REAL), m.var("xs", reals()));
    let arms = vec![
        Arm { body: var(&r), vars: vec![r] },
        Arm { body: reduce(ReduceOp::Add, var(&xs)), vars: vec![xs] },
        Arm { vars: vec![], body: real(-1.0) },
    ];
    match_(t, arms)
}

fn data(name: &str, tag: usize, args: Vec<Data>) -> Data {
    Data::Con { name: name.into(), tag, args: args.into() }
}

fn circle(r: f64) -> Data {
    data("Circle", 0, vec![r.into()])
}

fn poly(xs: Vec<f64>) -> Data {
    data("Poly", 1, vec![xs.into()])
}

fn dot() -> Data {
    data("Dot", 2, vec![])
}

#[test]
fn in_and_out() {
    let mut m = Make::new();
    let ty = figure(&mut m);
    let main = m.lam("f", ty, |m, f| tuple(vec![measure(m, f.clone()), f]));
    m.def("main", main);
    m.check(&[circle(3.0)], pair(3.0, circle(3.0)));
    m.check(&[poly(vec![3.0, 4.0])], pair(7.0, poly(vec![3.0, 4.0])));
    m.check(&[dot()], pair(-1.0, dot()));
}

#[test]
fn known_constructors_take_no_branch() {
    let mut m = Make::new();
    let ty = figure(&mut m);
    let main = m.lam("x", Ty::REAL, |m, x| measure(m, con(&ty, 0, vec![mul(x, real(2.0))])));
    m.def("main", main);
    m.check(&[3.0.into()], 6.0);
    assert_eq!(m.size(), 1);
}

#[test]
fn joined_by_branches() {
    // if x < 0 then Dot else if x < 1 then Poly (for i < n => x) else Circle x
    let mut m = Make::new();
    let ty = figure(&mut m);
    let main = m.lam("x", Ty::REAL, |m, x| {
        m.lam("n", Ty::INT, |m, n| {
            let row = m.for_(n, |_, _| x.clone());
            let other = if_(
                less(x.clone(), real(1.0)),
                con(&ty, 1, vec![row]),
                con(&ty, 0, vec![x.clone()]),
            );
            let f = if_(less(x, real(0.0)), con(&ty, 2, vec![]), other);
            m.let_("f", f, |m, f| tuple(vec![measure(m, f.clone()), f]))
        })
    });
    m.def("main", main);
    m.check(&[(-1.0).into(), 2.into()], pair(-1.0, dot()));
    m.check(&[0.5.into(), 2.into()], pair(1.0, poly(vec![0.5, 0.5])));
    m.check(&[2.0.into(), (-2).into()], pair(2.0, circle(2.0)));
}

#[test]
fn arrays_of_variants() {
    // for i < n => if i < 1 then fs[i] else Poly [i, i]; and the measures
    let mut m = Make::new();
    let ty = figure(&mut m);
    let main = m.lam("fs", Ty::array(ty.clone()), |m, fs| {
        let all = m.for_(length(fs.clone()), |_, i| {
            let r = prim(Prim::ToReal, vec![i.clone()]);
            if_(less(i.clone(), int(1)), at(fs, i), con(&ty, 1, vec![array(vec![r.clone(), r])]))
        });
        m.let_("all", all, |m, all| {
            let measures = m.for_(length(all.clone()), |m, i| {
                let f = at(all.clone(), i);
                measure(m, f)
            });
            tuple(vec![measures, all])
        })
    });
    m.def("main", main);
    let result = |first: Data, size: f64| {
        pair(vec![size, 2.0], Data::Array(vec![first, poly(vec![1.0, 1.0])]))
    };
    m.check(&[Data::Array(vec![dot(), dot()])], result(dot(), -1.0));
    m.check(&[Data::Array(vec![poly(vec![2.0, 3.0]), dot()])], result(poly(vec![2.0, 3.0]), 5.0));
}

#[test]
fn updates_may_add_constructors() {
    // (for i < 3 => Circle 1.0) with [1] = Poly xs
    let mut m = Make::new();
    let ty = figure(&mut m);
    let main = m.lam("xs", reals(), |m, xs| {
        let circles = m.for_(int(3), |_, _| con(&ty, 0, vec![real(1.0)]));
        update(circles, vec![int(1)], con(&ty, 1, vec![xs]), Span::default())
    });
    m.def("main", main);
    m.check(
        &[vec![4.0, 5.0].into()],
        Data::Array(vec![circle(1.0), poly(vec![4.0, 5.0]), circle(1.0)]),
    );
}

#[test]
fn literals_of_different_constructors() {
    let mut m = Make::new();
    let ty = figure(&mut m);
    let main = m.lam("x", Ty::REAL, |m, x| {
        m.lam("i", Ty::INT, |m, i| {
            let items = vec![
                con(&ty, 2, vec![]),
                con(&ty, 0, vec![x.clone()]),
                con(&ty, 1, vec![array(vec![x.clone(), x])]),
            ];
            let item = at(array(items), i);
            m.let_("f", item, |m, f| tuple(vec![measure(m, f.clone()), f]))
        })
    });
    m.def("main", main);
    m.check(&[3.0.into(), 0.into()], pair(-1.0, dot()));
    m.check(&[3.0.into(), 1.into()], pair(3.0, circle(3.0)));
    m.check(&[3.0.into(), 2.into()], pair(6.0, poly(vec![3.0, 3.0])));
}

#[test]
fn loops_over_variants() {
    // loop f = Dot for i < n do match f | Dot -> Circle 1.0 | Circle r -> if r < 3 then Circle (r + 1) else Poly xs | Poly _ -> Dot
    let mut m = Make::new();
    let ty = figure(&mut m);
    let main = m.lam("xs", reals(), |m, xs| {
        m.lam("n", Ty::INT, |m, n| {
            m.loop_(con(&ty, 2, vec![]), n, |m, f, _| {
                let (r, ys) = (m.var("r", Ty::REAL), m.var("ys", reals()));
                let next = con(&ty, 0, vec![add(var(&r), real(1.0))]);
                let arms = vec![
                    Arm {
                        body: if_(less(var(&r), real(3.0)), next, con(&ty, 1, vec![xs])),
                        vars: vec![r],
                    },
                    Arm { vars: vec![ys], body: con(&ty, 2, vec![]) },
                    Arm { vars: vec![], body: con(&ty, 0, vec![real(1.0)]) },
                ];
                match_(f, arms)
            })
        })
    });
    m.def("main", main);
    let xs = || Data::from(vec![7.0, 8.0]);
    m.check(&[xs(), 0.into()], dot());
    m.check(&[xs(), 3.into()], circle(3.0));
    m.check(&[xs(), 4.into()], poly(vec![7.0, 8.0]));
    m.check(&[xs(), 5.into()], dot());
}

#[test]
fn known_nodes_are_not_read() {
    // type list = Nil | Cons real list: a known list is not read
    let mut m = Make::new();
    let ty = Ty::Variant(TypeId(0));
    m.type_("list", &[("Nil", &[]), ("Cons", &[Ty::REAL, ty.clone()])]);
    let main = m.lam("x", Ty::REAL, |m, x| {
        let list =
            con(&ty, 1, vec![x.clone(), con(&ty, 1, vec![mul(x, real(2.0)), con(&ty, 0, vec![])])]);
        let (h, t, h2, t2) = (
            m.var("h", Ty::REAL),
            m.var("t", ty.clone()),
            m.var("h", Ty::REAL),
            m.var("t", ty.clone()),
        );
        let inner = vec![
            Arm { vars: vec![], body: real(0.0) },
            Arm { body: add(var(&h), var(&h2)), vars: vec![h2, t2] },
        ];
        match_(
            list,
            vec![
                Arm { vars: vec![], body: real(0.0) },
                Arm { body: match_(var(&t), inner), vars: vec![h, t] },
            ],
        )
    });
    m.def("main", main);
    m.check(&[3.0.into()], 9.0);
}

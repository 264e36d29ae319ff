//! Recursive functions and types: calls of functions of the library, and nodes.

use lambada_core::SizedTy;

use super::*;

/// `def rec name = body self`, of type `ty`.
fn def_rec(m: &mut Make, name: &str, ty: &Ty, body: impl FnOnce(&mut Make, Term) -> Term) -> Term {
    let id = DefId(m.program.defs.len() as u32);
    let this = Term::new(TermKind::Global(id), ty.clone(), Span::default());
    let body = body(m, this);
    m.def(name, body)
}

fn int_sub(a: Term, k: i64) -> Term {
    sub(a, int(k))
}

fn is_zero(n: Term) -> Term {
    prim(Prim::EqInt, vec![n, int(0)])
}

/// `type list = Nil | Cons real list`
fn list(m: &mut Make) -> Ty {
    let ty = Ty::Variant(TypeId(m.program.types.len() as u32));
    m.type_("list", &[("Nil", &[]), ("Cons", &[Ty::REAL, ty.clone()])])
}

fn nil(ty: &Ty) -> Term {
    con(ty, 0, vec![])
}

fn cons(ty: &Ty, head: Term, tail: Term) -> Term {
    con(ty, 1, vec![head, tail])
}

/// `match t | Nil -> none | Cons x xs -> some x xs`
fn uncons(
    m: &mut Make,
    t: Term,
    none: Term,
    some: impl FnOnce(&mut Make, Term, Term) -> Term,
) -> Term {
    let (x, xs) = (m.var("x", Ty::REAL), m.var("xs", t.ty().clone()));
    let body = some(m, var(&x), var(&xs));
    match_(t, vec![Arm { vars: vec![], body: none }, Arm { vars: vec![x, xs], body }])
}

/// `def rec sum l = match l | Nil -> 0 | Cons x xs -> x + sum xs`
fn sum(m: &mut Make, ty: &Ty) -> Term {
    def_rec(m, "sum", &Ty::fun(ty.clone(), Ty::REAL), |m, sum| {
        m.lam("l", ty.clone(), |m, l| uncons(m, l, real(0.0), |_, x, xs| add(x, app(sum, xs))))
    })
}

fn items(values: &[f64]) -> Data {
    let nil = Data::Con { name: "Nil".into(), tag: 0, args: vec![].into() };
    values.iter().rev().fold(nil, |tail, x| Data::Con {
        name: "Cons".into(),
        tag: 1,
        args: vec![(*x).into(), tail].into(),
    })
}

fn functions(m: &Make) -> usize {
    m.normalized().expect("it can be normalized").function.library.functions.len()
}

#[test]
fn a_function_calls_itself() {
    // power x n = if n == 0 then 1 else x * power x (n - 1)
    let mut m = Make::new();
    let ty = Ty::fun(Ty::REAL, Ty::fun(Ty::INT, Ty::REAL));
    let power = def_rec(&mut m, "power", &ty, |m, power| {
        m.lam("x", Ty::REAL, |m, x| {
            m.lam("n", Ty::INT, |_, n| {
                let rest = app(app(power, x.clone()), int_sub(n.clone(), 1));
                if_(is_zero(n), real(1.0), mul(x, rest))
            })
        })
    });
    let main = m.lam("n", Ty::INT, |_, n| {
        tuple(vec![app(app(power.clone(), real(2.0)), n), app(app(power, real(3.0)), int(4))])
    });
    m.def("main", main);
    m.check(&[10.into()], pair(1024.0, 81.0));
    assert_eq!(functions(&m), 1, "the second call is written out");
}

#[test]
fn arrays_go_through_calls() {
    // grow n xs = if n == 0 then xs else grow (n - 1) (for i < length xs + 1 => if i < length xs then xs[i] else to_real n)
    let mut m = Make::new();
    let ty = Ty::fun(Ty::INT, Ty::fun(reals(), reals()));
    let grow = def_rec(&mut m, "grow", &ty, |m, grow| {
        m.lam("n", Ty::INT, |m, n| {
            m.lam("xs", reals(), |m, xs| {
                let more = m.for_(add(length(xs.clone()), int(1)), |_, i| {
                    let last = prim(Prim::ToReal, vec![n.clone()]);
                    if_(less(i.clone(), length(xs.clone())), at(xs.clone(), i), last)
                });
                if_(is_zero(n.clone()), xs, app(app(grow, int_sub(n, 1)), more))
            })
        })
    });
    let main = m.lam("n", Ty::INT, |m, n| m.lam("xs", reals(), |_, xs| app(app(grow, n), xs)));
    m.def("main", main);
    m.check(&[3.into(), vec![7.0].into()], vec![7.0, 3.0, 2.0, 1.0]);
    m.check(&[0.into(), vec![7.0].into()], vec![7.0]);
}

#[test]
fn functions_are_specialized_to_closures() {
    // repeat f n x = if n == 0 then x else f (repeat f (n - 1) x)
    let mut m = Make::new();
    let step = Ty::fun(Ty::REAL, Ty::REAL);
    let ty = Ty::fun(step.clone(), Ty::fun(Ty::INT, Ty::fun(Ty::REAL, Ty::REAL)));
    let repeat = def_rec(&mut m, "repeat", &ty, |m, repeat| {
        m.lam("f", step, |m, f| {
            m.lam("n", Ty::INT, |m, n| {
                m.lam("x", Ty::REAL, |_, x| {
                    let inner = app(app(app(repeat, f.clone()), int_sub(n.clone(), 1)), x.clone());
                    if_(is_zero(n), x, app(f, inner))
                })
            })
        })
    });
    let main = m.lam("n", Ty::INT, |m, n| {
        m.lam("a", Ty::REAL, |m, a| {
            let f = m.lam("x", Ty::REAL, |_, x| add(mul(a.clone(), x), real(1.0)));
            let g = m.lam("x", Ty::REAL, |_, x| mul(x, real(2.0)));
            let call = |f| app(app(app(repeat.clone(), f), n.clone()), real(1.0));
            tuple(vec![call(f), call(g)])
        })
    });
    m.def("main", main);
    m.check(&[3.into(), 2.0.into()], pair(15.0, 8.0));
    assert_eq!(functions(&m), 2);
}

#[test]
fn mutual_recursion_and_let_rec() {
    // let rec even = \n -> if n == 0 then c else odd (n - 1) and odd = \n -> if n == 0 then -c else even (n - 1) in (even n, odd n)
    let mut m = Make::new();
    let main = m.lam("n", Ty::INT, |m, n| {
        m.lam("c", Ty::REAL, |m, c| {
            let ty = Ty::fun(Ty::INT, Ty::REAL);
            let (even, odd) = (m.var("even", ty.clone()), m.var("odd", ty));
            let (k, l) = (m.var("k", Ty::INT), m.var("l", Ty::INT));
            let e = if_(is_zero(var(&k)), c.clone(), app(var(&odd), int_sub(var(&k), 1)));
            let o = sub(real(0.0), c);
            let o = if_(is_zero(var(&l)), o, app(var(&even), int_sub(var(&l), 1)));
            let body = tuple(vec![app(var(&even), n.clone()), app(var(&odd), n)]);
            let functions = vec![(even, lam(k, e)), (odd, lam(l, o))];
            let ty = body.ty().clone();
            Term::new(TermKind::LetRec(functions, body), ty, Span::default())
        })
    });
    m.def("main", main);
    m.check(&[4.into(), 1.5.into()], pair(1.5, -1.5));
    m.check(&[5.into(), 1.5.into()], pair(-1.5, 1.5));
}

#[test]
fn lists_in_and_out() {
    let mut m = Make::new();
    let ty = list(&mut m);
    let sum = sum(&mut m, &ty);
    let double = def_rec(&mut m, "double", &Ty::fun(ty.clone(), ty.clone()), |m, double| {
        m.lam("l", ty.clone(), |m, l| {
            uncons(m, l, nil(&ty), |_, x, xs| cons(&ty, mul(x, real(2.0)), app(double, xs)))
        })
    });
    let main = m.lam("l", ty, |_, l| tuple(vec![app(sum, l.clone()), app(double, l)]));
    m.def("main", main);
    m.check(&[items(&[1.0, 2.0, 3.0])], pair(6.0, items(&[2.0, 4.0, 6.0])));
    m.check(&[items(&[])], pair(0.0, items(&[])));
    m.check(&[items(&[-0.0])], pair(0.0, items(&[-0.0])));
}

#[test]
fn lists_that_loops_make() {
    // sum (loop l = Nil for i < n do Cons (to_real i) l)
    let mut m = Make::new();
    let ty = list(&mut m);
    let sum = sum(&mut m, &ty);
    let main = m.lam("n", Ty::INT, |m, n| {
        let made = m.loop_(nil(&ty), n, |_, l, i| cons(&ty, prim(Prim::ToReal, vec![i]), l));
        app(sum, made)
    });
    m.def("main", main);
    m.check(&[5.into()], 10.0);
    m.check(&[0.into()], 0.0);
}

#[test]
fn fields_of_all_kinds() {
    // type rose = Rose (int, bool) [](real, []int) [](rose) | Leaf figure, and figure = Dot | Box []real: as they are
    let mut m = Make::new();
    let figure = m.type_("figure", &[("Dot", &[]), ("Box", &[reals()])]);
    let rose = Ty::Variant(TypeId(1));
    let rows = Ty::array(Ty::tuple(vec![Ty::REAL, Ty::array(Ty::INT)]));
    let flags = Ty::tuple(vec![Ty::INT, Ty::BOOL]);
    m.type_("rose", &[("Rose", &[flags, rows, Ty::array(rose.clone())]), ("Leaf", &[figure])]);
    let copy = def_rec(&mut m, "copy", &Ty::fun(rose.clone(), rose.clone()), |m, copy| {
        m.lam("t", rose.clone(), |m, t| {
            let fields = m.program.types[1].constructors.clone();
            let vars: Vec<Var> = fields[0].1.iter().map(|ty| m.var("x", ty.clone())).collect();
            let figure = m.var("f", fields[1].1[0].clone());
            let children = m.for_(length(var(&vars[2])), |_, i| app(copy, at(var(&vars[2]), i)));
            let again = vec![var(&vars[0]), var(&vars[1]), children];
            let arms = vec![
                Arm { vars, body: con(&rose, 0, again) },
                Arm { body: con(&rose, 1, vec![var(&figure)]), vars: vec![figure] },
            ];
            match_(t, arms)
        })
    });
    let main = m.lam("ts", Ty::array(rose.clone()), |m, ts| {
        m.for_(length(ts.clone()), |_, i| app(copy, at(ts, i)))
    });
    m.def("main", main);
    let con =
        |name: &str, tag, args: Vec<Data>| Data::Con { name: name.into(), tag, args: args.into() };
    let leaf = |figure| con("Leaf", 1, vec![figure]);
    let boxed = leaf(con("Box", 1, vec![vec![1.5, 2.5].into()]));
    let row = |x: f64, ks: Vec<i64>| pair(x, ks);
    let rows = Data::Array(vec![row(1.0, vec![1, 2]), row(-2.0, vec![3, 4])]);
    let children = Data::Array(vec![boxed, leaf(con("Dot", 0, vec![]))]);
    let tree = con("Rose", 0, vec![pair(7, true), rows, children]);
    m.check(
        &[Data::Array(vec![tree.clone(), tree.clone()])],
        Data::Array(vec![tree.clone(), tree]),
    );
    m.check(&[Data::Array(vec![])], Data::Array(vec![]));
}

#[test]
fn functions_that_only_run_time_knows() {
    // iterate f n = if n == 0 then \x -> x else let g = iterate f (n - 1) in \x -> f (g x)
    let mut m = Make::new();
    let step = Ty::fun(Ty::REAL, Ty::REAL);
    let ty = Ty::fun(step.clone(), Ty::fun(Ty::INT, step.clone()));
    let iterate = def_rec(&mut m, "iterate", &ty, |m, iterate| {
        m.lam("f", step.clone(), |m, f| {
            m.lam("n", Ty::INT, |m, n| {
                let id = m.lam("x", Ty::REAL, |_, x| x);
                let rest = app(app(iterate, f.clone()), int_sub(n.clone(), 1));
                let more = m.let_("g", rest, |m, g| m.lam("x", Ty::REAL, |_, x| app(f, app(g, x))));
                if_(is_zero(n), id, more)
            })
        })
    });
    let main = m.lam("n", Ty::INT, |m, n| {
        m.lam("a", Ty::REAL, |m, a| {
            let f = m.lam("x", Ty::REAL, |_, x| add(mul(a, x), real(1.0)));
            app(app(app(iterate, f), n), real(1.0))
        })
    });
    m.def("main", main);
    m.check(&[3.into(), 2.0.into()], 15.0);
    m.check(&[0.into(), 2.0.into()], 1.0);
}

#[test]
fn continuations() {
    // sum l k = match l | Nil -> k 0 | Cons x xs -> sum xs (\r -> k (x + r))
    let mut m = Make::new();
    let ty = list(&mut m);
    let step = Ty::fun(Ty::REAL, Ty::REAL);
    let f = Ty::fun(ty.clone(), Ty::fun(step.clone(), Ty::REAL));
    let sum = def_rec(&mut m, "sum", &f, |m, sum| {
        m.lam("l", ty.clone(), |m, l| {
            m.lam("k", step, |m, k| {
                uncons(m, l, app(k.clone(), real(0.0)), |m, x, xs| {
                    let next = m.lam("r", Ty::REAL, |_, r| app(k, add(x, r)));
                    app(app(sum, xs), next)
                })
            })
        })
    });
    let main = m.lam("l", ty, |m, l| {
        let last = m.lam("r", Ty::REAL, |_, r| mul(r, real(10.0)));
        app(app(sum, l), last)
    });
    m.def("main", main);
    m.check(&[items(&[1.0, 2.0, 3.0])], 60.0);
    m.check(&[items(&[])], 0.0);
}

#[test]
fn types_that_contain_functions() {
    // type roll = Roll (roll -> int -> real): omega-style recursion: f r n = if n == 0 then 1 else match r | Roll g -> 2 * g r (n - 1)
    let mut m = Make::new();
    let roll = Ty::Variant(TypeId(0));
    let f = Ty::fun(roll.clone(), Ty::fun(Ty::INT, Ty::REAL));
    m.type_("roll", &[("Roll", std::slice::from_ref(&f))]);
    let main = m.lam("n", Ty::INT, |m, n| {
        let f = m.lam("r", roll.clone(), |m, r| {
            m.lam("k", Ty::INT, |m, k| {
                let g = m.var("g", f.clone());
                let rest = app(app(var(&g), r.clone()), int_sub(k.clone(), 1));
                let arms = vec![Arm { vars: vec![g], body: mul(real(2.0), rest) }];
                if_(is_zero(k), real(1.0), match_(r, arms))
            })
        });
        m.let_("f", f, |_, f| app(app(f.clone(), con(&roll, 0, vec![f])), n))
    });
    m.def("main", main);
    m.check(&[5.into()], 32.0);
}

#[test]
fn accumulators_go_through_calls() {
    // accumulate h = zeros in let rec f = \n -> if n == 0 then () else let _ = h[0] += x in f (n - 1) in f n
    let mut m = Make::new();
    let main = m.lam("n", Ty::INT, |m, n| {
        m.lam("x", Ty::REAL, |m, x| {
            let h = m.var("h", reals());
            let f = m.var("f", Ty::fun(Ty::INT, Ty::unit()));
            let k = m.var("k", Ty::INT);
            let added = TermKind::Add { acc: h.clone(), index: vec![int(0)], value: x.clone() };
            let added = Term::new(added, Ty::unit(), Span::default());
            let more = m.let_("u", added, |_, _| app(var(&f), int_sub(var(&k), 1)));
            let body = if_(is_zero(var(&k)), tuple(vec![]), more);
            let call = app(var(&f), n);
            let body = TermKind::LetRec(vec![(f, lam(k, body))], call);
            let body = Term::new(body, Ty::unit(), Span::default());
            let init = m.for_(int(2), |_, _| real(0.0));
            let ty = Ty::tuple(vec![Ty::unit(), reals()]);
            let all = TermKind::Accumulate { acc: h, init, body };
            proj(Term::new(all, ty, Span::default()), 1)
        })
    });
    m.def("main", main);
    m.check(&[3.into(), 1.5.into()], vec![4.5, 0.0]);
}

/// `vjp f x`, applied to the cotangent, and the value.
fn pulled(m: &mut Make, f: Term, x: Term, cotangent: Term) -> Term {
    let pair = lambada_core::vjp(f, x, Span::default());
    m.let_("p", pair, |_, p| tuple(vec![proj(p.clone(), 0), app(proj(p, 1), cotangent)]))
}

/// `type list` with `prod`: the product.
fn product(m: &mut Make, ty: &Ty) -> Term {
    def_rec(m, "product", &Ty::fun(ty.clone(), Ty::REAL), |m, product| {
        m.lam("l", ty.clone(), |m, l| uncons(m, l, real(1.0), |_, x, xs| mul(x, app(product, xs))))
    })
}

#[test]
fn gradients_of_recursive_functions() {
    let mut m = Make::new();
    let ty = Ty::fun(Ty::INT, Ty::fun(Ty::REAL, Ty::REAL));
    let power = def_rec(&mut m, "power", &ty, |m, power| {
        m.lam("n", Ty::INT, |m, n| {
            m.lam("x", Ty::REAL, |_, x| {
                let rest = app(app(power, int_sub(n.clone(), 1)), x.clone());
                if_(is_zero(n), real(1.0), mul(x, rest))
            })
        })
    });
    let main = m.lam("n", Ty::INT, |m, n| {
        m.lam("x", Ty::REAL, |m, x| pulled(m, app(power, n), x, real(1.0)))
    });
    m.def("main", main);
    m.check(&[3.into(), 2.0.into()], pair(8.0, 12.0));
    m.check(&[0.into(), 2.0.into()], pair(1.0, 0.0));
}

#[test]
fn gradients_of_lists() {
    let mut m = Make::new();
    let ty = list(&mut m);
    let product = product(&mut m, &ty);
    let main = m.lam("l", ty, |m, l| pulled(m, product, l, real(1.0)));
    m.def("main", main);
    m.check(&[items(&[2.0, 3.0, 4.0])], pair(24.0, items(&[12.0, 8.0, 6.0])));
    m.check(&[items(&[2.0, 0.0])], pair(0.0, items(&[0.0, 2.0])));
    m.check(&[items(&[])], pair(1.0, items(&[])));
}

#[test]
fn tangents_of_lists() {
    let mut m = Make::new();
    let ty = list(&mut m);
    let product = product(&mut m, &ty);
    let main = m.lam("l", ty.clone(), |m, l| {
        m.lam("d", ty, |_, d| lambada_core::jvp(product, l, d, Span::default()))
    });
    m.def("main", main);
    m.check(&[items(&[2.0, 3.0]), items(&[1.0, 10.0])], pair(6.0, 23.0));
}

#[test]
fn gradients_through_functions_that_only_run_time_knows() {
    // sum l k in continuation-passing style, as above: the derivative of k (x + r)
    let mut m = Make::new();
    let ty = list(&mut m);
    let step = Ty::fun(Ty::REAL, Ty::REAL);
    let f = Ty::fun(ty.clone(), Ty::fun(step.clone(), Ty::REAL));
    let product = def_rec(&mut m, "product", &f, |m, product| {
        m.lam("l", ty.clone(), |m, l| {
            m.lam("k", step, |m, k| {
                uncons(m, l, app(k.clone(), real(1.0)), |m, x, xs| {
                    let next = m.lam("r", Ty::REAL, |_, r| app(k, mul(x, r)));
                    app(app(product, xs), next)
                })
            })
        })
    });
    let main = m.lam("l", ty.clone(), |m, l| {
        m.lam("a", Ty::REAL, |m, a| {
            let f = m.lam("l", ty, |m, l| {
                let last = m.lam("r", Ty::REAL, |_, r| mul(r, a));
                app(app(product, l), last)
            });
            pulled(m, f, l, real(1.0))
        })
    });
    m.def("main", main);
    m.check(&[items(&[2.0, 3.0]), 10.0.into()], pair(60.0, items(&[30.0, 20.0])));
}

#[test]
fn derivatives_inside_of_recursion() {
    // f n x = if n == 0 then x * x else grad (\y -> y * y) (f (n - 1) x)
    let mut m = Make::new();
    let ty = Ty::fun(Ty::INT, Ty::fun(Ty::REAL, Ty::REAL));
    let f = def_rec(&mut m, "f", &ty, |m, f| {
        m.lam("n", Ty::INT, |m, n| {
            m.lam("x", Ty::REAL, |m, x| {
                let square = m.lam("y", Ty::REAL, |_, y| mul(y.clone(), y));
                let rest = app(app(f, int_sub(n.clone(), 1)), x.clone());
                let slope = pulled(m, square, rest, real(1.0));
                if_(is_zero(n), mul(x.clone(), x), proj(slope, 1))
            })
        })
    });
    let main = m.lam("n", Ty::INT, |m, n| m.lam("x", Ty::REAL, |_, x| app(app(f, n), x)));
    m.def("main", main);
    m.check(&[2.into(), 3.0.into()], 36.0);
}

#[test]
fn derivatives_of_the_recursion_itself() {
    // f n x = if n == 0 then x * x else grad (f (n - 1)) x
    let mut m = Make::new();
    let ty = Ty::fun(Ty::INT, Ty::fun(Ty::REAL, Ty::REAL));
    let f = def_rec(&mut m, "f", &ty, |m, f| {
        m.lam("n", Ty::INT, |m, n| {
            m.lam("x", Ty::REAL, |m, x| {
                let slope = pulled(m, app(f, int_sub(n.clone(), 1)), x.clone(), real(1.0));
                if_(is_zero(n), mul(x.clone(), x), proj(slope, 1))
            })
        })
    });
    let known = m.lam("x", Ty::REAL, |_, x| app(app(f.clone(), int(2)), x));
    m.def("known", known);
    m.check(&[3.0.into()], 2.0);
    let main = m.lam("n", Ty::INT, |m, n| m.lam("x", Ty::REAL, |_, x| app(app(f, n), x)));
    m.def("main", main);
    assert_eq!(
        m.normalized().expect_err("the order is not known")[0].title,
        "the order of differentiation is not known: `f` takes a derivative of itself"
    );
}

#[test]
fn pullbacks_come_out_of_calls() {
    // pull l = match l | Nil -> \c -> c | Cons x xs -> let (_, p) = vjp (\y -> y * y) x in \c -> p (pull xs c)
    let mut m = Make::new();
    let ty = list(&mut m);
    let step = Ty::fun(Ty::REAL, Ty::REAL);
    let pull = def_rec(&mut m, "pull", &Ty::fun(ty.clone(), step), |m, pull| {
        m.lam("l", ty.clone(), |m, l| {
            let id = m.lam("c", Ty::REAL, |_, c| c);
            uncons(m, l, id, |m, x, xs| {
                let square = m.lam("y", Ty::REAL, |_, y| mul(y.clone(), y));
                let both = lambada_core::vjp(square, x, Span::default());
                m.let_("p", both, |m, p| {
                    m.lam("c", Ty::REAL, |_, c| app(proj(p, 1), app(app(pull, xs), c)))
                })
            })
        })
    });
    let main = m.lam("l", ty, |_, l| app(app(pull, l), real(1.0)));
    m.def("main", main);
    m.check(&[items(&[2.0, 3.0])], 24.0);
}

#[test]
fn functions_do_not_go_in() {
    let mut m = Make::new();
    let ty = Ty::Variant(TypeId(0));
    m.type_("list", &[("Nil", &[]), ("Cons", &[Ty::fun(Ty::REAL, Ty::REAL), ty.clone()])]);
    let sized = SizedTy::Variant(TypeId(0));
    let main = m.lam("l", ty, |_, _| real(0.0));
    let params = vec![("l".into(), sized)];
    m.def_with("main", main, Signature { params, result: None });
    assert_eq!(
        m.normalized().expect_err("it cannot be compiled")[0].title,
        "the parameter `l` of `main` contains a function"
    );
}

#[test]
fn definitions_are_evaluated_before_calls() {
    // table = for i < 3 => to_real i * 2; f n = if n == 0 then 0 else table[n % 3] + f (n - 1): one loop, outside of f
    let mut m = Make::new();
    let table = m.for_(int(3), |_, i| mul(prim(Prim::ToReal, vec![i]), real(2.0)));
    let table = m.def("table", table);
    let f = def_rec(&mut m, "f", &Ty::fun(Ty::INT, Ty::REAL), |m, f| {
        m.lam("n", Ty::INT, |_, n| {
            let item = at(table.clone(), prim(Prim::RemInt, vec![n.clone(), int(3)]));
            if_(is_zero(n.clone()), real(0.0), add(item, app(f, int_sub(n, 1))))
        })
    });
    let main = m.lam("n", Ty::INT, |_, n| app(f, n));
    m.def("main", main);
    m.check(&[4.into()], 8.0);
    let normalized = m.normalized().expect("it can be normalized");
    let functions = normalized.function.library.functions.iter().flatten();
    let loops = |block: &anf::Block| {
        let nests =
            block.stms.iter().filter(|s| matches!(s.exp, anf::Exp::Nest(anf::Nest::For { .. })));
        nests.count()
    };
    assert_eq!(functions.map(|f| loops(&f.body)).sum::<usize>(), 0);
    assert_eq!(loops(&normalized.function.body), 1);
}

#[test]
fn tail_calls_are_loops() {
    // count n s = if n == 0 then s else if n % 2 == 0 then count (n - 1) (s + x) else count (n - 1) s, a million times
    let mut m = Make::new();
    let ty = Ty::fun(Ty::REAL, Ty::fun(Ty::INT, Ty::fun(Ty::REAL, Ty::REAL)));
    let count = def_rec(&mut m, "count", &ty, |m, count| {
        m.lam("x", Ty::REAL, |m, x| {
            m.lam("n", Ty::INT, |m, n| {
                m.lam("s", Ty::REAL, |_, s| {
                    let call =
                        |s: Term| app(app(app(count.clone(), x.clone()), int_sub(n.clone(), 1)), s);
                    let is_even = is_zero(prim(Prim::RemInt, vec![n.clone(), int(2)]));
                    let step = if_(is_even, call(add(s.clone(), x.clone())), call(s.clone()));
                    if_(is_zero(n.clone()), s, step)
                })
            })
        })
    });
    let main = m.lam("x", Ty::REAL, |m, x| {
        m.lam("n", Ty::INT, |m, n| {
            let f =
                m.lam("x", Ty::REAL, |_, x| app(app(app(count, x.clone()), n), mul(x.clone(), x)));
            pulled(m, f, x, real(1.0))
        })
    });
    m.def("main", main);
    m.check(&[0.5.into(), 1000.into()], pair(250.25, 501.0));
    let normalized = m.normalized().expect("it can be normalized");
    let count = &normalized.function.library.functions[0].as_ref().expect("it is complete").body;
    assert!(
        matches!(
            &count.stms[0].exp,
            anf::Exp::Nest(anf::Nest::Loop { kind: anf::LoopKind::While(_), .. })
        ),
        "{}",
        anf::print(&normalized.function)
    );
}

#[test]
fn functions_that_turn_up_after_a_derivative() {
    // slope (iterate (\x -> a * x) n) a, and then iterate (\x -> x + a) n a: another λ of the type
    let mut m = Make::new();
    let step = Ty::fun(Ty::REAL, Ty::REAL);
    let ty = Ty::fun(step.clone(), Ty::fun(Ty::INT, step.clone()));
    let iterate = def_rec(&mut m, "iterate", &ty, |m, iterate| {
        m.lam("f", step.clone(), |m, f| {
            m.lam("n", Ty::INT, |m, n| {
                let id = m.lam("x", Ty::REAL, |_, x| x);
                let rest = app(app(iterate, f.clone()), int_sub(n.clone(), 1));
                let more = m.let_("g", rest, |m, g| m.lam("x", Ty::REAL, |_, x| app(f, app(g, x))));
                if_(is_zero(n), id, more)
            })
        })
    });
    let main = m.lam("n", Ty::INT, |m, n| {
        m.lam("a", Ty::REAL, |m, a| {
            let scale = m.lam("x", Ty::REAL, |_, x| mul(a.clone(), x));
            let shift = m.lam("x", Ty::REAL, |_, x| add(a.clone(), x));
            let scaled = app(app(iterate.clone(), scale), n.clone());
            let slope = pulled(m, scaled, a.clone(), real(1.0));
            tuple(vec![proj(slope, 1), app(app(app(iterate, shift), n), a)])
        })
    });
    m.def("main", main);
    m.check(&[3.into(), 2.0.into()], pair(8.0, 8.0));
}

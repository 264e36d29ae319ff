//! Values, sizes and failures.

use lambada_prim::{ArrayPrim, Scalar};
use lambada_source::Site;

use super::*;
use crate::if_;

#[test]
fn functions() {
    let p = &mut Program::default();
    // let twice = \f x -> f (f x) in let add = \a b -> a + b in twice (add 3) x
    let endo = Ty::fun(Ty::REAL, Ty::REAL);
    let twice = function(p, endo.clone(), |p, f| {
        function(p, Ty::REAL, |_, x| app(var(f), app(var(f), var(x))))
    });
    let plus = function(p, Ty::REAL, |p, a| function(p, Ty::REAL, |_, b| add(var(a), var(b))));
    let (t, s) = (p.fresh("twice", twice.ty().clone()), p.fresh("add", plus.ty().clone()));
    let body = function(p, Ty::REAL, |_, x| {
        let call = app(app(var(&t), app(var(&s), real(3.0))), var(x));
        let_(t.clone(), twice, let_(s.clone(), plus, call))
    });
    check(p.clone(), body, &[1.0.into()], 7.0);
}

#[test]
fn closures_live_in_arrays_and_tuples() {
    let p = &mut Program::default();
    // let fs = for i < 3 => (\x -> x * real i, i) in fs[2].0 x
    let i = p.fresh("i", Ty::INT);
    let times = function(p, Ty::REAL, |_, x| mul(var(x), prim(Prim::ToReal, vec![var(&i)])));
    let fs = for_(i.clone(), int(3), tuple(vec![times, var(&i)]));
    let body = function(p, Ty::REAL, |p, x| {
        let f = p.fresh("fs", fs.ty().clone());
        let call = app(proj(index(var(&f), vec![int(2)], NOWHERE), 0), var(x));
        let_(f, fs, call)
    });
    check(p.clone(), body, &[5.0.into()], 10.0);
}

#[test]
fn loops_update_in_place() {
    let p = &mut Program::default();
    let body = updates(p);
    let expect = Data::Tuple(vec![vec![0.0, 2.0, 4.0].into(), 3.0.into()]);
    check(p.clone(), body.clone(), &[3.into()], expect);
    // With a copy of the array in each of 300 000 iterations this would take minutes.
    let start = std::time::Instant::now();
    outcome(p.clone(), body, &[300_000.into()]).unwrap();
    assert!(start.elapsed().as_secs() < 20, "took {:?}", start.elapsed());
}

#[test]
fn updates_do_not_reach_what_is_shared() {
    let p = &mut Program::default();
    let rows = Ty::array(reals());
    // let n = m with [0, 1] = 9 in (m, n)
    let body = function(p, rows.clone(), |p, m| {
        let n = p.fresh("n", rows);
        let new = update(var(m), vec![int(0), int(1)], real(9.0), NOWHERE);
        let_(n.clone(), new, tuple(vec![var(m), var(&n)]))
    });
    let (old, new) =
        (Data::matrix(&[&[1.0, 2.0], &[3.0, 4.0]]), Data::matrix(&[&[1.0, 9.0], &[3.0, 4.0]]));
    check(p.clone(), body, std::slice::from_ref(&old), Data::Tuple(vec![old.clone(), new]));
}

#[test]
fn a_value_in_a_loop_survives_the_iterations() {
    let p = &mut Program::default();
    // loop s = 0 for i < 3 do s + (if i < 1 then sum ys else ys[0]), where ys is not mentioned later
    let body = function(p, reals(), |p, ys| {
        let (s, i) = (p.fresh("s", Ty::REAL), p.fresh("i", Ty::INT));
        let c = prim(Prim::LtInt, vec![var(&i), int(1)]);
        let choice = if_(c, reduce(ReduceOp::Add, var(ys)), index(var(ys), vec![int(0)], NOWHERE));
        loop_(s.clone(), real(0.0), LoopKind::For(i, int(3), Checkpoint::All), add(var(&s), choice))
    });
    check(p.clone(), body, &[vec![1.0, 2.0].into()], 5.0);
}

#[test]
fn while_loops() {
    let p = &mut Program::default();
    // Newton's iteration for a square root, with its derivative.
    let f = function(p, Ty::REAL, |p, a| {
        let s = p.fresh("s", Ty::tuple([Ty::REAL, Ty::INT]));
        let x = proj(var(&s), 0);
        let mean = mul(real(0.5), add(x.clone(), prim(Prim::Div, vec![var(a), x])));
        let next = tuple(vec![mean, prim(Prim::AddInt, vec![proj(var(&s), 1), int(1)])]);
        let more = prim(Prim::LtInt, vec![proj(var(&s), 1), int(20)]);
        proj(loop_(s, tuple(vec![var(a), int(0)]), LoopKind::While(more), next), 0)
    });
    let body = function(p, Ty::REAL, |p, a| {
        let g = p.fresh("g", f.ty().clone());
        let both = tuple(vec![app(var(&g), var(a)), reverse(var(&g), var(a))]);
        let_(g, f, both)
    });
    check(
        p.clone(),
        body,
        &[2.0.into()],
        Data::Tuple(vec![2f64.sqrt().into(), (0.5 / 2f64.sqrt()).into()]),
    );
}

#[test]
fn accumulators() {
    let p = &mut Program::default();
    let places = p.fresh("places", Ty::array(Ty::INT));
    let f = histogram(p, &places);
    let body = lam(places, f);
    check(p.clone(), body, &[vec![0, 1, 0].into(), vec![1.0, 2.0, 3.0].into()], vec![10.0, 14.0]);

    let p = &mut Program::default();
    let places = p.fresh("places", Ty::array(Ty::INT));
    let f = histogram(p, &places);
    let body = function(p, reals(), |p, x| {
        function(p, reals(), |_, w| {
            lam(places.clone(), app(proj(vjp(f, var(x), NOWHERE), 1), var(w)))
        })
    });
    let args = [vec![1.0, 2.0, 3.0].into(), vec![1.0, -1.0].into(), vec![0, 1, 0].into()];
    check(p.clone(), body, &args, vec![2.0, -4.0, 6.0]);
}

#[test]
fn variants() {
    let p = &mut shapes(false);
    let body = area(p, false);
    check(p.clone(), body, &[con_data("Rect", 1, &[2.0, 5.0])], 10.0);

    let p = &mut shapes(false);
    let f = area(p, false);
    let body = function(p, Ty::Variant(TypeId(0)), |_, s| reverse(f, var(s)));
    check(
        p.clone(),
        body.clone(),
        &[con_data("Rect", 1, &[2.0, 5.0])],
        con_data("Rect", 1, &[5.0, 2.0]),
    );
    check(p.clone(), body, &[con_data("Circle", 0, &[2.0])], con_data("Circle", 0, &[12.0]));

    let p = &mut shapes(false);
    let f = area(p, false);
    let body = function(p, Ty::Variant(TypeId(0)), |_, s| {
        jvp(f, var(s), con(0, vec![real(1.0)]), NOWHERE)
    });
    check_failure(
        p.clone(),
        body,
        &[con_data("Rect", 1, &[2.0, 5.0])],
        "the tangent has another constructor than the point",
    );
}

#[test]
fn failures_say_what_and_where() {
    let p = &mut Program::default();
    let span = Span::new(FileId(0), 5, 9);
    let body = function(p, reals(), |p, xs| {
        function(p, Ty::INT, |_, i| index(var(xs), vec![var(i)], span))
    });
    let program = main(p.clone(), body);
    let failure =
        run(&program, program.find("main").unwrap(), &[vec![1.0].into(), (-1).into()]).unwrap_err();
    assert_eq!((failure.span, &*failure.message), (span, "index -1 is out of range for size 1"));

    let p = &mut Program::default();
    let rows = Ty::array(reals());
    let body = function(p, rows.clone(), |_, m| {
        update(var(m), vec![int(0)], crate::for_(fresh_index(), int(3), real(0.0)), NOWHERE)
    });
    p.next_var = 100;
    check_failure(
        p.clone(),
        body,
        &[Data::matrix(&[&[1.0, 2.0]])],
        "the new value has size 3, the old one 2",
    );

    let p = &mut Program::default();
    let (i, j) = (p.fresh("i", Ty::INT), p.fresh("j", Ty::INT));
    let body =
        for_(i.clone(), int(3), for_(j, prim(Prim::AddInt, vec![var(&i), int(2)]), real(0.0)));
    check_failure(p.clone(), body, &[], "elements have different sizes: 2 and 3");

    let p = &mut Program::default();
    let (s, i, j) = (p.fresh("s", reals()), p.fresh("i", Ty::INT), p.fresh("j", Ty::INT));
    let longer = for_(j, prim(Prim::AddInt, vec![dim(var(&s), 0), int(1)]), real(0.0));
    let body = function(p, reals(), |_, xs| {
        loop_(s, var(xs), LoopKind::For(i, int(3), Checkpoint::All), longer)
    });
    check_failure(
        p.clone(),
        body,
        &[vec![1.0].into()],
        "the loop's state changes size: 1 becomes 2",
    );

    let p = &mut Program::default();
    let site = Site::new(NOWHERE, "sizes differ: n is {0}, m is {1}");
    let body =
        crate::build::check(crate::lit(Scalar::Bool(false)), site, vec![int(3), int(4)], real(0.0));
    check_failure(p.clone(), body, &[], "sizes differ: n is 3, m is 4");

    let p = &mut Program::default();
    let f = cubes(p);
    let body =
        function(p, reals(), |p, x| function(p, reals(), |_, v| jvp(f, var(x), var(v), NOWHERE)));
    check_failure(
        p.clone(),
        body,
        &[vec![1.0].into(), vec![1.0, 2.0].into()],
        "an array in this tangent or cotangent has size 2, but 1 in the value that it belongs to",
    );
}

#[test]
fn arguments_are_checked() {
    let body = |p: &mut Program| function(p, Ty::REAL, |_, x| var(x));
    let p = &mut Program::default();
    let id = body(p);
    check_failure(
        p.clone(),
        id,
        &[3.into()],
        "argument 1: a value of type real was expected, not 3",
    );
    let p = &mut Program::default();
    let id = body(p);
    check_failure(p.clone(), id, &[], "the result contains a function");
    let p = &mut Program::default();
    let id = body(p);
    check_failure(
        p.clone(),
        id,
        &[1.0.into(), 2.0.into()],
        "2 arguments were given, but 1 are taken",
    );
}

#[test]
fn empty_arrays_know_their_inner_sizes() {
    let p = &mut Program::default();
    // let m = for i < 0 => for j < n => 1.0 in (dim m 1, sum m, m)
    let body = function(p, Ty::INT, |p, n| {
        let (i, j) = (p.fresh("i", Ty::INT), p.fresh("j", Ty::INT));
        let rows = for_(i, int(0), for_(j, var(n), real(1.0)));
        let m = p.fresh("m", rows.ty().clone());
        let all = tuple(vec![dim(var(&m), 1), reduce(ReduceOp::Add, var(&m)), var(&m)]);
        let_(m, rows, all)
    });
    let empty = Data::Tensor(lambada_prim::Tensor::reals(vec![0, 3], vec![]));
    check(p.clone(), body, &[3.into()], Data::Tuple(vec![3.into(), vec![0.0; 3].into(), empty]));
}

#[test]
fn products_of_matrices() {
    let product = ArrayPrim::from_operator("@").expect("a row");
    let matmul = |p: &mut Program, a: Ty, b: Ty, result: Ty| {
        function(p, a, |p, a| {
            function(p, b, |_, b| {
                Term::new(TermKind::ArrayPrim(product, vec![var(a), var(b)]), result, NOWHERE)
            })
        })
    };
    let rows = Ty::array(reals());
    let (m, v) =
        (Data::matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]), Data::from(vec![1.0, 0.0, -1.0]));
    let p = &mut Program::default();
    let body = matmul(p, rows.clone(), reals(), reals());
    check(p.clone(), body.clone(), &[m.clone(), v.clone()], vec![-2.0, -2.0]);
    check_failure(
        p.clone(),
        body,
        &[m.clone(), vec![1.0].into()],
        "sizes differ: the inner sizes of `@` are 3 and 1",
    );
    let p = &mut Program::default();
    let body = matmul(p, reals(), rows.clone(), reals());
    check(p.clone(), body, &[vec![1.0, 1.0].into(), m.clone()], vec![5.0, 7.0, 9.0]);
    let p = &mut Program::default();
    let body = matmul(p, rows.clone(), rows.clone(), rows);
    check(
        p.clone(),
        body,
        &[m, Data::matrix(&[&[1.0], &[0.0], &[2.0]])],
        Data::matrix(&[&[7.0], &[16.0]]),
    );
}

#[test]
fn reductions_of_nothing_are_neutral() {
    let p = &mut Program::default();
    let body = function(p, reals(), |_, xs| {
        tuple([ReduceOp::Add, ReduceOp::Mul, ReduceOp::Max].map(|op| reduce(op, var(xs))).to_vec())
    });
    let expect = Data::Tuple([0.0, 1.0, f64::NEG_INFINITY].map(Data::from).to_vec());
    check(p.clone(), body, &[Vec::<f64>::new().into()], expect);
}

#[test]
fn long_spines_do_not_overflow() {
    let p = &mut Program::default();
    let body = function(p, Ty::REAL, |p, x| {
        let vars: Vec<Var> = (0..100_000).map(|_| p.fresh("y", Ty::REAL)).collect();
        let value = |k: usize| add(var(if k == 0 { x } else { &vars[k - 1] }), real(1.0));
        (0..vars.len())
            .rev()
            .fold(var(&vars[99_999]), |body, k| let_(vars[k].clone(), value(k), body))
    });
    let copy = p.freshen(&body);
    assert!(copy.free_vars().is_empty());
    check(p.clone(), copy, &[0.5.into()], 100_000.5);
}

/// `let rec even n = if n == 0 then c else odd (n - 1) and odd n = …`, which captures and is captured.
#[test]
fn functions_call_each_other() {
    let p = &mut Program::default();
    let body = function(p, Ty::REAL, |p, c| {
        let ty = Ty::fun(Ty::INT, Ty::REAL);
        let (even, odd) = (p.fresh("even", ty.clone()), p.fresh("odd", ty));
        let member = |p: &mut Program, other: &Var, end: Term| {
            function(p, Ty::INT, |_, n| {
                let less = prim(Prim::SubInt, vec![var(n), int(1)]);
                let zero = prim(Prim::EqInt, vec![var(n), int(0)]);
                crate::if_(zero, end, app(var(other), less))
            })
        };
        let functions = vec![
            (even.clone(), member(p, &odd, var(c))),
            (odd.clone(), member(p, &even, real(-1.0))),
        ];
        let both = tuple(vec![app(var(&even), int(100)), app(var(&odd), int(100))]);
        crate::let_rec(functions, both)
    });
    let copy = p.freshen(&body);
    assert!(copy.free_vars().is_empty());
    check(p.clone(), copy, &[2.5.into()], Data::Tuple(vec![2.5.into(), (-1.0).into()]));
}

/// Functions that hold functions, and constructors inside of tuples, arrays and functions, very deep: dropped in a loop.
#[test]
fn deep_values_are_dropped() {
    use crate::eval::value::Value;
    let around = |value: Value, k: usize| match k % 3 {
        0 => Value::con(0, vec![Value::tuple(vec![value, Value::Unit])]),
        1 => Value::con(0, vec![Value::array(vec![value])]),
        _ => Value::con(0, vec![value, Value::Real(1.0)]),
    };
    drop((0..300_000).fold(Value::Unit, around));
    let cons =
        |rest: Data, _: usize| Data::Con { name: "Cons".into(), tag: 1, args: vec![rest].into() };
    let deep = (0..300_000).fold(con_data("Nil", 0, &[]), cons);
    let copy = deep.clone();
    assert_eq!(deep.close(&copy, 0.0), Ok(()));
    assert!(deep == copy && deep.to_string().contains("Cons (Cons Nil)))"));
}

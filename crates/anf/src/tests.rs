use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar, Tensor};

use crate::*;

mod bounds;
mod library;
mod rules;

/// `f [n] (xs : [n]real) (x : real)` whose body is built by the closure, which gives the results
/// and their types.
fn function(build: impl FnOnce(&mut Builder, Var, Var, Var) -> Vec<(Atom, Ty)>) -> Function {
    let mut names = Names::default();
    let (n, xs, x) = (names.fresh("n"), names.fresh("xs"), names.fresh("x"));
    let mut b = Builder::new(&mut names);
    let (results, types) = build(&mut b, n, xs, x).into_iter().unzip();
    let body = b.finish(results);
    let params = vec![
        Param { var: xs, ty: Ty::real().array_of(n.into()) },
        Param { var: x, ty: Ty::real() },
    ];
    Function {
        name: "f".into(),
        sizes: vec![n],
        params,
        results: types,
        body,
        names,
        ..Function::default()
    }
}

fn args(xs: &[f64], x: f64) -> Vec<Tensor> {
    vec![Tensor::reals(vec![xs.len()], xs.to_vec()), Tensor::scalar(Scalar::Real(x))]
}

/// `for i < n (outs) { build }`
fn for_(
    b: &mut Builder,
    extent: Atom,
    outs: Vec<(Out, Ty)>,
    build: impl FnOnce(&mut Builder, Atom) -> Vec<Atom>,
) -> Vec<Atom> {
    let index = b.names.fresh("i");
    let body = b.block(|b| build(b, index.into()));
    let (outs, types): (Vec<Out>, Vec<Ty>) = outs.into_iter().unzip();
    b.bind_all(
        types.into_iter().map(|ty| ("ys".into(), ty)).collect(),
        Nest::For { index, extent, outs, body },
    )
}

fn accepts(f: &Function) {
    if let Err(message) = check(f) {
        panic!("{message}\n{}", print(f));
    }
}

fn rejects(f: &Function, message: &str) {
    let error = check(f).expect_err("the function was accepted");
    assert!(error.contains(message), "{error}");
}

fn scaled_sum() -> Function {
    function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let outs = vec![(Out::Collect, ty.clone()), (Out::Reduce(ReduceOp::Add), Ty::real())];
        let both = for_(b, n.into(), outs, |b, i| {
            let e = b.index(xs, &ty, vec![i]);
            let t = b.prim(Prim::Mul, [x.into(), e]);
            vec![t, t]
        });
        vec![(both[0], ty), (both[1], Ty::real())]
    })
}

/// A histogram-like function: two accumulators, the second in a nested loop.
fn accumulating() -> Function {
    function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let zeros = b.zero(&ty);
        let acc = b.bind("h", ty.clone(), Op::Accumulator(zeros)).as_var().unwrap();
        let total = b.bind("total", Ty::real(), Op::Accumulator(Atom::real(1.0))).as_var().unwrap();
        for_(b, n.into(), vec![], |b, i| {
            let e = b.index(xs, &ty, vec![i]);
            let t = b.prim(Prim::Mul, [x.into(), e]);
            b.effect(Op::Accumulate { acc, index: vec![i], value: t });
            b.effect(Op::Accumulate { acc: total, index: vec![], value: t });
            vec![]
        });
        let h = b.bind("h", ty.clone(), Op::Freeze(acc));
        let s = b.bind("s", Ty::real(), Op::Freeze(total));
        vec![(h, ty), (s, Ty::real())]
    })
}

#[test]
fn generated_functions_are_well_typed_and_run() {
    let mut failed = 0;
    for seed in 0..400 {
        let (f, args) = generate(seed);
        accepts(&f);
        match eval(&f, &args) {
            Ok(outcome) => assert_eq!(outcome.results.len(), f.results.len()),
            Err(failure) => {
                assert!(
                    !failure.message.contains("internal"),
                    "{}\n{}",
                    failure.message,
                    print(&f)
                );
                failed += 1;
            }
        }
    }
    assert!((20..300).contains(&failed), "{failed} of 400 fail a check");
}

#[test]
fn generated_programs_with_libraries_are_well_typed_run_and_read_back() {
    let (mut failed, mut calls, mut nodes) = (0, 0, 0);
    for seed in 0..300 {
        let (f, args) = generate_with_library(seed);
        accepts(&f);
        let text = print(&f);
        let again = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
        assert_eq!(print(&again), text);
        let run = eval(&f, &args);
        if let Err(failure) = &run {
            assert!(!failure.message.contains("internal"), "{}\n{text}", failure.message);
            failed += 1;
        }
        let message = |run: Result<Outcome, lambada_source::Failure>| run.map_err(|f| f.message);
        assert_eq!(format!("{:?}", message(run)), format!("{:?}", message(eval(&again, &args))));
        calls += text.matches(" call ").count();
        nodes += text.matches(" node ").count();
    }
    assert!((10..200).contains(&failed), "{failed} of 300 fail a check");
    assert!(calls > 600 && nodes > 900, "{calls} calls, {nodes} nodes");
}

#[test]
fn collects_and_reduces() {
    let f = scaled_sum();
    accepts(&f);
    let outcome = eval(&f, &args(&[1.0, 2.0, 3.0], 2.0)).unwrap();
    assert_eq!(
        outcome.results,
        [Tensor::reals(vec![3], vec![2.0, 4.0, 6.0]), Tensor::scalar(Scalar::Real(12.0))]
    );
    assert_eq!(
        outcome.counts,
        Counts {
            reals: 6,
            loads: 3,
            stores: 3,
            written: 24,
            allocated: 24,
            peak: 24,
            ..Counts::default()
        }
    );
}

#[test]
fn empty_loops() {
    let outcome = eval(&scaled_sum(), &args(&[], 2.0)).unwrap();
    assert_eq!(
        outcome.results,
        [Tensor::reals(vec![0], vec![]), Tensor::scalar(Scalar::Real(0.0))]
    );
}

#[test]
fn accumulates() {
    let f = accumulating();
    accepts(&f);
    let outcome = eval(&f, &args(&[1.0, 2.0], 3.0)).unwrap();
    assert_eq!(
        outcome.results,
        [Tensor::reals(vec![2], vec![3.0, 6.0]), Tensor::scalar(Scalar::Real(10.0))]
    );
}

#[test]
fn updates_in_a_loop_are_in_place() {
    let f = function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let (s, i) = (b.names.fresh("s"), b.names.fresh("i"));
        let body = b.block(|b| {
            let old = b.index(s, &ty, vec![i.into()]);
            let value = b.prim(Prim::Add, [old, x.into()]);
            vec![b.bind("s", ty.clone(), Op::Update { array: s, index: vec![i.into()], value })]
        });
        let params = vec![Param { var: s, ty: ty.clone() }];
        let kind = LoopKind::counted(i, n.into());
        let r = b.bind("r", ty.clone(), Nest::Loop { params, inits: vec![xs.into()], kind, body });
        vec![(r, ty)]
    });
    accepts(&f);
    let n = 200_000;
    let start = std::time::Instant::now();
    let outcome = eval(&f, &args(&vec![1.0; n], 2.0)).unwrap();
    assert_eq!(outcome.results[0], Tensor::reals(vec![n], vec![3.0; n]));
    assert!(start.elapsed().as_secs() < 5, "updates copy the array");
}

/// `loop s = xs for i < n do s with [i] = …`, and perhaps a later use of what the loop begins with.
fn overwritten(start: bool, kept: bool) -> Function {
    function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let start = if start { b.zero(&ty) } else { xs.into() };
        let (s, i) = (b.names.fresh("s"), b.names.fresh("i"));
        let body = b.block(|b| {
            let update = Op::Update { array: s, index: vec![i.into()], value: x.into() };
            vec![b.bind("s", ty.clone(), update)]
        });
        let params = vec![Param { var: s, ty: ty.clone() }];
        let kind = LoopKind::counted(i, n.into());
        let r = b.bind("r", ty.clone(), Nest::Loop { params, inits: vec![start], kind, body });
        let mut results = vec![(r, ty.clone())];
        results.extend(kept.then_some((start, ty)));
        results
    })
}

#[test]
fn an_update_costs_a_copy_where_the_array_is_not_the_programs_or_still_needed() {
    // Of 10 reals: the array of zeros, the updates, and the copy.
    for (start, kept, written, allocated) in [
        (true, false, 80 + 80, 80),
        (true, true, 80 + 80 + 80, 80 + 80),
        (false, false, 80 + 80, 80),
        (false, true, 80 + 80, 80),
    ] {
        let counts = eval(&overwritten(start, kept), &args(&[1.0; 10], 2.0)).unwrap().counts;
        assert_eq!((counts.written, counts.allocated), (written, allocated), "{start} {kept}");
        assert_eq!(counts.stores, if start { 20 } else { 10 });
    }
}

#[test]
fn memory_is_given_back_at_the_last_use() {
    // A chain of arrays, each made from the one before; and the same in each iteration of a loop.
    let chain = |b: &mut Builder, n: Atom, xs: Var| {
        let ty = Ty::real().array_of(n);
        let last = (0..5).fold(xs, |x, _| {
            let outs = vec![(Out::Collect, ty.clone())];
            let next = for_(b, n, outs, |b, i| {
                let e = b.index(x, &ty, vec![i]);
                vec![b.prim(Prim::Sin, [e])]
            });
            next[0].as_var().unwrap()
        });
        b.index(last, &ty, vec![Atom::int(0)])
    };
    let once = function(|b, n, xs, _| vec![(chain(b, n.into(), xs), Ty::real())]);
    let counts = eval(&once, &args(&[1.0; 10], 2.0)).unwrap().counts;
    assert_eq!((counts.allocated, counts.peak), (5 * 80, 2 * 80));
    let repeated = function(|b, n, xs, _| {
        let outs = vec![(Out::Reduce(ReduceOp::Add), Ty::real())];
        let sum = for_(b, Atom::int(7), outs, |b, _| vec![chain(b, n.into(), xs)]);
        vec![(sum[0], Ty::real())]
    });
    let counts = eval(&repeated, &args(&[1.0; 10], 2.0)).unwrap().counts;
    assert_eq!((counts.allocated, counts.peak), (7 * 5 * 80, 2 * 80));
}

#[test]
fn a_view_costs_nothing() {
    let f = function(|b, n, xs, _| {
        let ty = Ty::real().array_of(n.into());
        let matrix = ty.array_of(Atom::int(3));
        let m = b.bind("m", matrix.clone(), Op::Array(vec![xs.into(); 3]));
        let row = b.index(m.as_var().unwrap(), &matrix, vec![Atom::int(1)]);
        vec![(b.index(row.as_var().unwrap(), &ty, vec![Atom::int(0)]), Ty::real())]
    });
    let counts = eval(&f, &args(&[1.0; 10], 2.0)).unwrap().counts;
    assert_eq!((counts.written, counts.allocated, counts.peak), (240, 240, 240));
}

#[test]
fn checker_finds_scope_errors() {
    rejects(&function(|_, _, _, _| vec![(Var(2).into(), Ty::int())]), "has type real, not int");
    rejects(
        &function(|b, n, xs, _| {
            let ty = Ty::real().array_of(n.into());
            let mut inner = Atom::int(0);
            for_(b, n.into(), vec![], |b, i| {
                inner = b.index(xs, &ty, vec![i]);
                vec![]
            });
            vec![(inner, Ty::real())]
        }),
        "is not in scope",
    );
    let mut twice = scaled_sum();
    let stm = twice.body.stms[0].clone();
    twice.body.stms.push(stm);
    rejects(&twice, "bound twice");
}

#[test]
fn checker_finds_size_errors_and_learns_from_checks() {
    let product = |with_check: bool| {
        function(|b, n, xs, _| {
            let m = b.bind("m", Ty::int(), Op::Prim(Prim::AddInt, vec![n.into(), Atom::int(1)]));
            let k = b.bind("k", Ty::int(), Op::Prim(Prim::SubInt, vec![m, Atom::int(1)]));
            let l = b.bind("l", Ty::int(), Op::Prim(Prim::MulInt, vec![m, Atom::int(2)]));
            let square = b.zero(&Ty { elem: Elem::REAL, dims: vec![k, l] });
            let row = b.bind(
                "row",
                Ty::real().array_of(l),
                Op::ArrayPrim(ArrayPrim::MatMul, vec![xs, square.as_var().unwrap()]),
            );
            if with_check {
                let cond = b.prim(Prim::EqInt, [l, n.into()]);
                let site =
                    lambada_source::Site::new(lambada_source::Span::default(), "sizes differ");
                b.effect(Op::Check { cond, site, values: vec![] });
            }
            vec![(row, Ty::real().array_of(n.into()))]
        })
    };
    accepts(&product(true));
    rejects(&product(false), "has type");
}

#[test]
fn checker_knows_that_accumulators_are_linear() {
    let f = accumulating();
    let mut unfrozen = f.clone();
    unfrozen.body.stms.pop();
    unfrozen.body.results.pop();
    unfrozen.results.pop();
    rejects(&unfrozen, "is not frozen");
    let mut late = f.clone();
    let loop_ = late.body.stms.remove(3);
    late.body.stms.push(loop_);
    rejects(&late, "frozen already");
    let mut escaped = f;
    escaped.body.results[0] = escaped.body.stms[1].binds[0].var.into();
    rejects(&escaped, "used as a value");
}

#[test]
fn prints_every_construct() {
    let text = print(&scaled_sum());
    let expect = "f [n] (xs : [n]real) (x : real) {
  ys : [n]real, ys1 : real = for i < n (collect, reduce add) {
    xs1 : real = xs[i]
    t : real = mul x, xs1
    => t, t
  }
  => ys : [n]real, ys1 : real
}
";
    assert_eq!(text, expect);
}

#[test]
fn deep_and_long() {
    let f = function(|b, _, _, x| {
        let mut y: Atom = x.into();
        for _ in 0..20_000 {
            y = b.prim(Prim::Sin, [y]);
        }
        vec![(y, Ty::real())]
    });
    accepts(&f);
    eval(&f, &args(&[], 1.0)).unwrap();
    print(&f);
}

#[test]
fn what_is_printed_reads_back() {
    for seed in 0..300 {
        let (f, args) = generate(seed);
        let text = print(&f);
        let again = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
        accepts(&again);
        assert_eq!(print(&again), text);
        let (expected, found) = (eval(&f, &args), eval(&again, &args));
        // Places are not printed, so failures are compared by their messages.
        match (expected, found) {
            (Ok(a), Ok(b)) => assert_eq!(format!("{a:?}"), format!("{b:?}"), "{text}"),
            (Err(a), Err(b)) => assert_eq!(a.message, b.message, "{text}"),
            (a, b) => panic!("{a:?}\n{b:?}\n{text}"),
        }
    }
}

#[test]
fn what_cannot_be_read_is_located() {
    let rejects = |text: &str, message: &str| {
        let error = read(text).expect_err(text);
        assert!(error.contains(message), "{error}");
    };
    rejects(
        "f (x : real) {\n  y : real = sine x\n  => y : real\n}",
        "line 2: `sine` is no primitive",
    );
    rejects("f (x : real) {\n  y : real = sin z\n  => y : real\n}", "line 2: `z` is not in scope");
    rejects("f (x : real) {\n  y : real = sin x x\n  => y : real\n}", "line 2: expected `,`");
    rejects("f (x : real) {\n  y : real = sin x\n}", "line 3: ");
    rejects("f (x : real) {\n  => x : real\n}\ng", "line 4: the function has ended");
    rejects("f (x : [2 real) {\n  => x : real\n}", "line 1: expected `]`");
    rejects(
        "f {\n  c : [3]real = constant [3]real {1.0, 2.0}\n  => c : [3]real\n}",
        "line 2: 2 elements",
    );
    rejects(
        "f (b : bool) {\n  t : int = if b {\n    k : int = add_int 1, 2\n    => k\n  } else {\n    => k\n  }\n  => t : int\n}",
        "line 6: `k` is not in scope",
    );
}

#[test]
fn all_elements_of_a_constant_are_printed() {
    let text = "f {\n  c : [3][4]int = constant [3][4]int {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -10, 11}\n  => c : [3][4]int\n}\n";
    assert_eq!(print(&read(text).unwrap()), text);
}

/// What is remembered of constants for people leads to no circle, so that it can be written down.
#[test]
fn no_constant_is_computed_of_itself() {
    use lambada_prim::{Prim, Scalar};
    let mut names = crate::Names::default();
    let real = Scalar::Real;
    let Scalar::Real(a) = names.fold(Prim::Log, &[real(3.0)]) else { panic!("a real") };
    let Scalar::Real(b) = names.fold(Prim::Neg, &[real(a)]) else { panic!("a real") };
    let Scalar::Real(c) = names.fold(Prim::Mul, &[real(b), real(0.7)]) else { panic!("a real") };
    // Back to what there was, at once and by steps.
    names.fold(Prim::Mul, &[real(a), real(1.0)]);
    names.fold(Prim::Div, &[real(c), real(-0.7)]);
    assert_eq!(names.computed(a), Some((Prim::Log, &[real(3.0)][..])));
    assert_eq!(names.computed(b), None, "the sign of what is known");
    assert_eq!(names.computed(c), Some((Prim::Mul, &[real(b), real(0.7)][..])));
    // What is in use as a number stays one.
    names.fold(Prim::Exp, &[real(0.7)]);
    names.fold(Prim::Sub, &[real(1.0), real(0.3)]);
    assert_eq!(names.computed(0.7), None);
}

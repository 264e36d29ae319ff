use lambada_anf::*;
use lambada_prim::{Data, Prim, ReduceOp, Scalar, Tensor};
use lambada_source::{Site, Span};
use lambada_testkit::Tolerance;

use crate::{Reader, optimize, passes, simplify, verify};

mod calls;
mod evidence;
mod handed_on;

fn close(a: &Tensor, b: &Tensor) -> bool {
    let equal = |x: &f64, y: &f64| Tolerance::mixed(1e-7).accepts(*x, *y);
    match (&a.data, &b.data) {
        (Data::Real(u), Data::Real(v)) => {
            a.dims == b.dims && u.iter().zip(v).all(|(x, y)| equal(x, y))
        }
        (Data::Int(_) | Data::Bool(_) | Data::Real(_), _) => a == b,
    }
}

/// The same results, or the same failure.
fn same(before: &Function, after: &Function, args: &[Tensor], what: &str) {
    let fail = |message: String| {
        panic!("{what}: {message}\nbefore:\n{}\nafter:\n{}", print(before), print(after))
    };
    match (eval(before, args), eval(after, args)) {
        (Ok(x), Ok(y)) => {
            if !x.results.iter().zip(&y.results).all(|(a, b)| close(a, b)) {
                fail(format!("{:?} is not {:?}", x.results, y.results));
            }
        }
        (Err(x), Err(y)) if x == y => {}
        (x, y) => fail(format!("{:?} is not {:?}", x.map(|o| o.results), y.map(|o| o.results))),
    }
}

#[test]
fn every_pass_keeps_generated_functions() {
    for seed in 0..400 {
        let (function, args) = generate(seed);
        for pass in passes() {
            let mut after = function.clone();
            let changed = pass.run(&mut after);
            assert_eq!(changed, after.body != function.body, "seed {seed}, {}", pass.name);
            verify(pass, &function, &after);
            same(&function, &after, &args, &format!("seed {seed}, {}", pass.name));
        }
    }
}

#[test]
fn every_pass_keeps_generated_programs_with_libraries() {
    for seed in 0..100 {
        let (function, args) = generate_with_library(seed);
        for pass in passes() {
            let mut after = function.clone();
            let changed = pass.run(&mut after);
            let same_text = print(&after) == print(&function);
            assert!(changed || same_text, "seed {seed}, {}", pass.name);
            verify(pass, &function, &after);
            same(&function, &after, &args, &format!("seed {seed}, {}", pass.name));
        }
    }
}

#[test]
fn the_pipeline_keeps_generated_programs_with_libraries() {
    for seed in 0..100 {
        let (function, args) = generate_with_library(seed);
        let after = optimize(function.clone());
        same(&function, &after, &args, &format!("seed {seed}"));
        assert_eq!(print(&optimize(after.clone())), print(&after), "seed {seed}");
    }
}

#[test]
fn simplifying_keeps_generated_programs_with_libraries() {
    for seed in 0..60 {
        let (function, args) = generate_with_library(seed);
        let mut after = function.clone();
        let (params, results) = (function.params.clone(), function.results.clone());
        let lambda = Lambda { params, results, body: function.body.clone() };
        let simple =
            simplify(&function.library, &mut after.names, &lambda, &[], None, Reader::Machine);
        (after.body, after.results) = (simple.body, simple.results);
        guard(&mut after);
        check(&after).unwrap_or_else(|message| panic!("seed {seed}: {message}"));
        same(&function, &after, &args, &format!("seed {seed}"));
    }
}

#[test]
fn the_pipeline_keeps_generated_functions_and_reaches_a_fixed_point() {
    for seed in 0..800 {
        let (function, args) = generate(seed);
        let after = optimize(function.clone());
        same(&function, &after, &args, &format!("seed {seed}"));
        assert_eq!(print(&optimize(after.clone())), print(&after), "seed {seed}");
    }
}

#[test]
fn simplifying_keeps_generated_functions() {
    for seed in 0..200 {
        let (function, args) = generate(seed);
        let mut after = function.clone();
        let lambda = Lambda {
            params: function.params.clone(),
            results: function.results.clone(),
            body: function.body.clone(),
        };
        let simple =
            simplify(&function.library, &mut after.names, &lambda, &[], None, Reader::Machine);
        (after.body, after.results) = (simple.body, simple.results);
        check(&after).unwrap_or_else(|message| panic!("seed {seed}: {message}"));
        same(&function, &after, &args, &format!("seed {seed}"));
    }
}

/// `f [n] (xs : [n]real) (x : real) (k : int)`, of real results of the given types.
struct Program<'a, 'b> {
    b: &'a mut Builder<'b>,
    n: Atom,
    xs: Var,
    x: Atom,
    k: Atom,
    row: Ty,
}

fn program(build: impl FnOnce(&mut Program) -> Vec<(Atom, Ty)>) -> Function {
    let mut names = Names::default();
    let [n, xs, x, k] = ["n", "xs", "x", "k"].map(|hint| names.fresh(hint));
    let row = Ty::real().array_of(n.into());
    let params = vec![
        Param { var: xs, ty: row.clone() },
        Param { var: x, ty: Ty::real() },
        Param { var: k, ty: Ty::int() },
    ];
    let mut b = Builder::new(&mut names);
    let results = build(&mut Program { b: &mut b, n: n.into(), xs, x: x.into(), k: k.into(), row });
    let (results, types) = results.into_iter().unzip();
    let body = b.finish(results);
    let function = Function {
        name: "f".into(),
        sizes: vec![n],
        params,
        results: types,
        body,
        names,
        ..Function::default()
    };
    check(&function).unwrap_or_else(|message| panic!("{message}\n{}", print(&function)));
    function
}

impl Program<'_, '_> {
    fn for_(
        &mut self,
        extent: Atom,
        outs: &[(Out, Ty)],
        fill: impl FnOnce(&mut Builder, Atom) -> Vec<Atom>,
    ) -> Vec<Atom> {
        for_(self.b, extent, outs, fill)
    }

    fn map(&mut self, fill: impl FnOnce(&mut Builder, Atom) -> Atom) -> Var {
        let outs = [(Out::Collect, self.row.clone())];
        self.for_(self.n, &outs, |b, i| vec![fill(b, i)])[0].as_var().unwrap()
    }

    fn sum(&mut self, fill: impl FnOnce(&mut Builder, Atom) -> Atom) -> Atom {
        self.for_(self.n, &[(Out::Reduce(ReduceOp::Add), Ty::real())], |b, i| vec![fill(b, i)])[0]
    }

    fn check(&mut self, cond: Atom, message: &str) {
        self.b.effect(Op::Check {
            cond,
            site: Site::new(Span::default(), message),
            values: vec![],
        });
    }
}

fn for_(
    b: &mut Builder,
    extent: Atom,
    outs: &[(Out, Ty)],
    fill: impl FnOnce(&mut Builder, Atom) -> Vec<Atom>,
) -> Vec<Atom> {
    let index = b.names.fresh("i");
    let body = b.block(|b| fill(b, index.into()));
    let (outs, types): (Vec<Out>, Vec<Ty>) = outs.iter().cloned().unzip();
    b.bind_all(
        types.into_iter().map(|ty| ("ys".into(), ty)).collect(),
        Nest::For { index, extent, outs, body },
    )
}

/// Optimizes, compares the values for several arguments, and gives the text.
fn optimized(function: &Function) -> String {
    let after = optimize(function.clone());
    for size in 0..5 {
        for k in -1..3 {
            let xs = (0..size).map(|i| 0.3 + f64::from(i as i32)).collect();
            let args = [
                Tensor::reals(vec![size], xs),
                Tensor::scalar(Scalar::Real(1.5)),
                Tensor::scalar(Scalar::Int(k)),
            ];
            same(function, &after, &args, "a program");
        }
    }
    print(&after)
}

/// The text has each of these as often as said.
fn has(function: &Function, counts: &[(&str, usize)]) {
    let text = optimized(function);
    for (what, count) in counts {
        assert_eq!(text.matches(what).count(), *count, "`{what}` in\n{text}");
    }
}

#[test]
fn a_primal_and_a_reverse_loop_become_one() {
    let f = program(|p| {
        let (xs, x, row) = (p.xs, p.x, p.row.clone());
        let tape = p.map(|b, i| {
            let e = b.index(xs, &row, vec![i]);
            let t = b.prim(Prim::Mul, [x, e]);
            b.prim(Prim::Exp, [t])
        });
        let value = p.sum(|b, i| b.index(tape, &row, vec![i]));
        let zeros = p.b.zero(&row);
        let acc = p.b.bind("acc", row.clone(), Op::Accumulator(zeros)).as_var().unwrap();
        p.for_(p.n, &[], |b, i| {
            let y = b.index(tape, &row, vec![i]);
            let t = b.prim(Prim::Mul, [y, x]);
            b.effect(Op::Accumulate { acc, index: vec![i], value: t });
            vec![]
        });
        let gradient = p.b.bind("g", row.clone(), Op::Freeze(acc));
        vec![(value, Ty::real()), (gradient, row)]
    });
    has(
        &f,
        &[("for ", 1), ("exp ", 1), ("(reduce add, collect)", 1), ("accumulat", 0), ("fill", 0)],
    );
}

#[test]
fn a_sum_that_the_second_loop_needs_keeps_them_apart() {
    let f = program(|p| {
        let (xs, row) = (p.xs, p.row.clone());
        let sum = p.sum(|b, i| b.index(xs, &row, vec![i]));
        let ys = p.map(|b, i| {
            let e = b.index(xs, &row, vec![i]);
            b.prim(Prim::Div, [e, sum])
        });
        vec![(ys.into(), row)]
    });
    has(&f, &[("for ", 2)]);
}

#[test]
fn reversed_reads_are_not_fused() {
    let f = program(|p| {
        let (xs, n, row) = (p.xs, p.n, p.row.clone());
        let ys = p.map(|b, i| {
            let e = b.index(xs, &row, vec![i]);
            b.prim(Prim::Exp, [e])
        });
        let zs = p.map(|b, i| {
            let last = b.prim(Prim::SubInt, [n, Atom::int(1)]);
            let j = b.prim(Prim::SubInt, [last, i]);
            let (a, b_) = (b.index(ys, &row, vec![i]), b.index(ys, &row, vec![j]));
            b.prim(Prim::Sub, [a, b_])
        });
        vec![(zs.into(), row)]
    });
    has(&f, &[("for ", 2)]);
}

#[test]
fn a_check_between_loops_is_not_passed_by_what_it_guards() {
    let f = program(|p| {
        let (xs, k, n, row) = (p.xs, p.k, p.n, p.row.clone());
        let ys = p.map(|b, i| b.index(xs, &row, vec![i]));
        let low = p.b.prim(Prim::LeInt, [Atom::int(0), k]);
        let high = p.b.prim(Prim::LtInt, [k, n]);
        let cond = p.b.prim(Prim::And, [low, high]);
        p.check(cond, "out of range");
        let zs = p.map(|b, i| {
            let (a, c) = (b.index(ys, &row, vec![i]), b.index(xs, &row, vec![k]));
            b.prim(Prim::Add, [a, c])
        });
        vec![(zs.into(), row)]
    });
    has(&f, &[("for ", 1), ("check", 1)]);
}

#[test]
fn evident_checks_go_and_others_stay() {
    let f = program(|p| {
        let (xs, n, k, row) = (p.xs, p.n, p.k, p.row.clone());
        let ys = p.map(|b, i| {
            let last = b.prim(Prim::SubInt, [n, Atom::int(1)]);
            let j = b.prim(Prim::SubInt, [last, i]);
            for at in [i, j] {
                let low = b.prim(Prim::LeInt, [Atom::int(0), at]);
                let high = b.prim(Prim::LtInt, [at, n]);
                let cond = b.prim(Prim::And, [low, high]);
                b.effect(Op::Check {
                    cond,
                    site: Site::new(Span::default(), "range"),
                    values: vec![],
                });
            }
            b.index(xs, &row, vec![j])
        });
        let positive = p.b.prim(Prim::LtInt, [Atom::int(0), k]);
        p.check(positive, "k is not positive");
        p.check(positive, "k is not positive, again");
        let more = p.b.prim(Prim::LeInt, [Atom::int(0), k]);
        p.check(more, "k is negative");
        vec![(ys.into(), row)]
    });
    has(&f, &[("check", 1), ("k is not positive", 1)]);
}

#[test]
fn sequential_sums_and_independent_updates_become_parallel() {
    let f = program(|p| {
        let (xs, n, row) = (p.xs, p.n, p.row.clone());
        let [s, ys, i] = ["s", "ys", "i"].map(|hint| p.b.names.fresh(hint));
        let params = vec![Param { var: s, ty: Ty::real() }, Param { var: ys, ty: row.clone() }];
        let body = p.b.block(|b| {
            let e = b.index(xs, &row, vec![i.into()]);
            let t = b.prim(Prim::Sin, [e]);
            let once = b.prim(Prim::Add, [s.into(), t]);
            let twice = b.prim(Prim::Add, [e, once]);
            vec![
                twice,
                b.bind(
                    "ys",
                    row.clone(),
                    Op::Update { array: ys, index: vec![i.into()], value: t },
                ),
            ]
        });
        let exp =
            Nest::Loop { params, inits: vec![p.x, xs.into()], kind: LoopKind::counted(i, n), body };
        let results = p.b.bind_all(vec![("s".into(), Ty::real()), ("ys".into(), row.clone())], exp);
        vec![(results[0], Ty::real()), (results[1], row)]
    });
    has(&f, &[("loop", 0), ("(reduce add, collect)", 1), (" with ", 0)]);
}

#[test]
fn state_that_only_feeds_itself_is_dead() {
    let f = program(|p| {
        let (x, n, row) = (p.x, p.n, p.row.clone());
        let [s, tape, i] = ["s", "tape", "i"].map(|hint| p.b.names.fresh(hint));
        let params = vec![Param { var: s, ty: Ty::real() }, Param { var: tape, ty: row.clone() }];
        let zeros = p.b.zero(&row);
        let body = p.b.block(|b| {
            let tape = b.bind(
                "tape",
                row.clone(),
                Op::Update { array: tape, index: vec![i.into()], value: s.into() },
            );
            vec![b.prim(Prim::Sin, [Atom::Var(s)]), tape]
        });
        let exp = Nest::Loop { params, inits: vec![x, zeros], kind: LoopKind::counted(i, n), body };
        let results = p.b.bind_all(vec![("s".into(), Ty::real()), ("tape".into(), row)], exp);
        vec![(results[0], Ty::real())]
    });
    has(&f, &[("tape", 0), ("fill", 0), ("loop", 1)]);
}

#[test]
fn small_vectors_live_in_registers() {
    let f = program(|p| {
        let (x, n) = (p.x, p.n);
        let vec3 = Ty::real().array_of(Atom::int(3));
        let start = for_(p.b, Atom::int(3), &[(Out::Collect, vec3.clone())], |b, c| {
            let c = b.prim(Prim::ToReal, [c]);
            vec![b.prim(Prim::Mul, [c, x])]
        })[0];
        let [v, i] = ["v", "i"].map(|hint| p.b.names.fresh(hint));
        let body = p.b.block(|b| {
            let vec3 = Ty::real().array_of(Atom::int(3));
            for_(b, Atom::int(3), &[(Out::Collect, vec3.clone())], |b, c| {
                let e = b.index(v, &vec3, vec![c]);
                let first = b.index(v, &vec3, vec![Atom::int(0)]);
                let sum = b.prim(Prim::Add, [e, first]);
                vec![b.prim(Prim::Sin, [sum])]
            })
        });
        let params = vec![Param { var: v, ty: vec3.clone() }];
        let exp = Nest::Loop { params, inits: vec![start], kind: LoopKind::counted(i, n), body };
        let v = p.b.bind("v", vec3.clone(), exp).as_var().unwrap();
        let total = p.for_(Atom::int(3), &[(Out::Reduce(ReduceOp::Add), Ty::real())], |b, c| {
            vec![b.index(v, &vec3, vec![c])]
        });
        vec![(total[0], Ty::real())]
    });
    has(&f, &[("[3]real", 0), ("for ", 1), ("loop", 1)]);
}

#[test]
fn scattered_additions_stay_and_others_do_not() {
    let f = program(|p| {
        let (xs, n, k, row) = (p.xs, p.n, p.k, p.row.clone());
        let zeros = p.b.zero(&row);
        let scattered = p.b.bind("h", row.clone(), Op::Accumulator(zeros)).as_var().unwrap();
        let total =
            p.b.bind("total", Ty::real(), Op::Accumulator(Atom::real(0.0))).as_var().unwrap();
        let square = p.row.array_of(n);
        let zeros = p.b.zero(&square);
        let matrix = p.b.bind("m", square.clone(), Op::Accumulator(zeros)).as_var().unwrap();
        p.for_(n, &[], |b, i| {
            let e = b.index(xs, &row, vec![i]);
            let at = b.prim(Prim::MulInt, [i, k]);
            let at = b.prim(Prim::RemInt, [at, n]);
            b.effect(Op::Accumulate { acc: scattered, index: vec![at], value: e });
            for_(b, n, &[], |b, j| {
                let f = b.index(xs, &row, vec![j]);
                let t = b.prim(Prim::Mul, [e, f]);
                b.effect(Op::Accumulate { acc: matrix, index: vec![i, j], value: t });
                let c = b.prim(Prim::LtInt, [i, j]);
                let then = b.block(|b| {
                    b.effect(Op::Accumulate { acc: total, index: vec![], value: t });
                    vec![]
                });
                b.effect(Nest::If { cond: c, then, otherwise: Block::default() });
                vec![]
            });
            vec![]
        });
        let results: Vec<Atom> = [(scattered, &row), (total, &Ty::real()), (matrix, &square)]
            .map(|(acc, ty)| p.b.bind("frozen", ty.clone(), Op::Freeze(acc)))
            .into();
        vec![(results[0], row), (results[1], Ty::real()), (results[2], square)]
    });
    has(&f, &[("accumulator", 1), ("accumulate ", 1), ("(reduce add, collect)", 2), ("select", 1)]);
}

#[test]
fn loops_that_are_equal_up_to_names_are_one() {
    let f = program(|p| {
        let (xs, row) = (p.xs, p.row.clone());
        let mut sum = || {
            p.sum(|b, i| {
                let e = b.index(xs, &row, vec![i]);
                b.prim(Prim::Exp, [e])
            })
        };
        let (a, b) = (sum(), sum());
        let product = p.b.prim(Prim::Mul, [a, b]);
        vec![(product, Ty::real())]
    });
    has(&f, &[("for ", 1), ("exp ", 1)]);
}

#[test]
fn invariant_sums_leave_loops_and_factors_leave_sums() {
    let f = program(|p| {
        let (xs, n, row) = (p.xs, p.n, p.row.clone());
        let s = p.sum(|b, i| {
            let e = b.index(xs, &row, vec![i]);
            let norm = for_(b, n, &[(Out::Reduce(ReduceOp::Add), Ty::real())], |b, j| {
                let f = b.index(xs, &row, vec![j]);
                vec![b.prim(Prim::Exp, [f])]
            })[0];
            let t = b.prim(Prim::Add, [e, norm]);
            b.prim(Prim::Mul, [Atom::real(3.0), t])
        });
        vec![(s, Ty::real())]
    });
    let text = optimized(&f);
    assert!(!text.contains("\n    for") && text.matches("for ").count() == 2, "{text}");
    let last = text.rfind("for ").expect("there is a loop");
    assert!(!text[..last].contains("mul") && text[last..].contains("mul"), "{text}");
    assert!(
        !text[last..].lines().any(|line| line.starts_with("    ") && line.contains("mul")),
        "{text}"
    );
}

/// `Σ x·v` and `Σ v/x` where `x` is infinite, NaN or 0, and where there are no terms.
#[test]
fn factors_that_may_not_be_finite_stay_in_sums() {
    for op in [Prim::Mul, Prim::Div] {
        let f = program(|p| {
            let (xs, x, row) = (p.xs, p.x, p.row.clone());
            let s = p.sum(|b, i| {
                let e = b.index(xs, &row, vec![i]);
                b.prim(op, [e, x])
            });
            vec![(s, Ty::real())]
        });
        let optimized = optimize(f.clone());
        for x in [f64::INFINITY, f64::NAN, 0.0] {
            for xs in [vec![], vec![2.0, -1.0], vec![0.0, 1.0], vec![3.0]] {
                let args = [
                    Tensor::reals(vec![xs.len()], xs.clone()),
                    Tensor::reals(vec![], vec![x]),
                    Tensor::scalar(Scalar::Int(0)),
                ];
                let run = |f: &Function| eval(f, &args).expect("it runs").results[0].as_scalar();
                let (expected, found) = (run(&f), run(&optimized));
                assert_eq!(
                    format!("{expected:?}"),
                    format!("{found:?}"),
                    "{} {x} {xs:?}",
                    op.name()
                );
            }
        }
    }
}

#[test]
fn failing_checks_in_loops_that_may_not_run_stay() {
    let f = program(|p| {
        let (x, row) = (p.x, p.row.clone());
        let never = p.b.prim(Prim::LtInt, [p.k, Atom::int(0)]);
        let ys = p.map(|b, _| {
            b.effect(Op::Check {
                cond: never,
                site: Site::new(Span::default(), "no"),
                values: vec![],
            });
            x
        });
        let dead = p.sum(|b, i| b.index(ys, &row, vec![i]));
        let _ = dead;
        vec![(x, Ty::real())]
    });
    has(&f, &[("check", 1), ("for ", 1)]);
}

/// Straight-line code, then sums over arrays that need each other, then arrays whose loops can run
/// together.
fn long_program(size: usize) -> Function {
    program(|p| {
        let (xs, row) = (p.xs, p.row.clone());
        let mut y = p.x;
        for k in 0..20 * size {
            let op = [Prim::Sin, Prim::Exp, Prim::Neg, Prim::Tanh][k % 4];
            let t = p.b.prim(op, [y]);
            y = p.b.prim(if k % 3 == 0 { Prim::Add } else { Prim::Mul }, [y, t]);
        }
        for _ in 0..size / 2 {
            let z = y;
            let ys = p.map(|b, i| {
                let e = b.index(xs, &row, vec![i]);
                b.prim(Prim::Add, [e, z])
            });
            y = p.sum(|b, i| {
                let e = b.index(ys, &row, vec![i]);
                b.prim(Prim::Sin, [e])
            });
        }
        let mut last = xs;
        for _ in 0..size {
            let zeros = p.b.zero(&row);
            let acc = p.b.bind("acc", row.clone(), Op::Accumulator(zeros)).as_var().unwrap();
            p.for_(p.n, &[], |b, i| {
                let e = b.index(last, &row, vec![i]);
                let value = b.prim(Prim::Sin, [e]);
                b.effect(Op::Accumulate { acc, index: vec![i], value });
                vec![]
            });
            last = p.b.bind("ys", row.clone(), Op::Freeze(acc)).as_var().unwrap();
        }
        let sum = p.sum(|b, i| b.index(last, &row, vec![i]));
        vec![(y, Ty::real()), (sum, Ty::real())]
    })
}

/// Time is nearly linear in the length of the program: four times the length takes less than ten
/// times the time, where sixteen would be quadratic. Of several runs the quickest counts.
#[test]
fn time_is_nearly_linear_in_the_length_of_the_program() {
    let programs = [100, 400].map(long_program);
    let mut quickest = [f64::INFINITY; 2];
    // In turn, as the machine may have other things to do for a while.
    for k in (0..5).flat_map(|_| 0..2) {
        let start = std::time::Instant::now();
        crate::optimize_observed(programs[k].clone(), crate::Reader::Machine, &mut |_, _, _| {});
        quickest[k] = start.elapsed().as_secs_f64().min(quickest[k]);
    }
    let [short, long] = quickest;
    println!("{short:.3} s, {long:.3} s");
    assert!(long < 10.0 * short, "{long:.3} s for four times what takes {short:.3} s");
}

#[test]
fn passes_have_names_of_their_own() {
    for (k, pass) in passes().enumerate() {
        assert!(passes().take(k).all(|other| other.name != pass.name) && !pass.what.is_empty());
    }
}

/// A loop that may not end is part of what a program does, whether something needs its result or
/// not; a counted one is not.
#[test]
fn loops_that_may_not_end_stay() {
    let f = program(|p| {
        let (x, n) = (p.x, p.n);
        for in_branch in [false, true] {
            let spin = |b: &mut Builder| {
                let y = b.names.fresh("y");
                let params = vec![Param { var: y, ty: Ty::real() }];
                let cond = b.block(|b| vec![b.prim(Prim::Lt, [Atom::real(0.0), y.into()])]);
                let body = Block { stms: vec![], results: vec![y.into()] };
                let kind = LoopKind::While(cond);
                b.bind_all(
                    vec![("y".into(), Ty::real())],
                    Nest::Loop { params, inits: vec![x], kind, body },
                )
            };
            if in_branch {
                for_(p.b, n, &[(Out::Collect, Ty::real().array_of(n))], |b, _| spin(b));
            } else {
                spin(p.b);
            }
        }
        p.map(|b, _| b.prim(Prim::Sin, [x]));
        vec![(x, Ty::real())]
    });
    let text = print(&optimize(f));
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("while"), count("for "), count("sin")), (2, 1, 0), "{text}");
}

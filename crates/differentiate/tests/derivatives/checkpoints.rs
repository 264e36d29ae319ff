//! Loops that keep fewer states: the same derivatives to the last bit, with the promised memory and
//! no more runs of the body than promised.

use lambada_anf::{Atom, Builder, Checkpoint, Counts, Op, Ty};
use lambada_prim::{Prim, Scalar, ScalarTy, Tensor};
use lambada_source::{Site, Span};

use crate::dsl::{Dsl, int, real};
use crate::program::{Point, Program, Writer, elements, reals};

use Prim::{Add, AddInt, EqInt, Mul, RemInt, Sin, SubInt, Tanh};

/// What builds a program with a loop of `n` iterations that keeps what it is told to.
type Build = fn(&mut Writer, Checkpoint, Atom) -> Vec<(Atom, Ty)>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Policy {
    All,
    Entries,
    Sqrt,
    States,
}

const POLICIES: [Policy; 3] = [Policy::Entries, Policy::Sqrt, Policy::States];

/// A program whose constants are the number of iterations and the number of states.
fn program(build: Build, policy: Policy) -> Program {
    Program::new(|w| {
        let (n, k) = (w.constant("n", Ty::int()), w.constant("states", Ty::int()));
        let checkpoint = match policy {
            Policy::All => Checkpoint::All,
            Policy::Entries => Checkpoint::Entries,
            Policy::Sqrt => Checkpoint::Sqrt,
            Policy::States => Checkpoint::States(k),
        };
        build(w, checkpoint, n)
    })
}

/// A point with `x : real`, `xs : [4]real`, and cotangents of results of the same types.
fn point(program: &Program, n: i64, k: i64) -> Point {
    let mut next = 0.3;
    let tensor = |ty: &Ty| {
        let len = if ty.dims.is_empty() { 1 } else { 4_usize.pow(ty.dims.len() as u32) };
        let data = (0..len).map(|_| {
            next = (next * 1.7 + 0.11) % 1.0;
            next
        });
        Tensor::reals(ty.dims.iter().map(|_| 4).collect(), data.collect())
    };
    let params = program.f.params.iter().map(|p| &p.ty).map(tensor).collect();
    let scalar = |k: i64| Tensor::scalar(Scalar::Int(k));
    Point { constants: vec![scalar(n), scalar(k)], params }
}

fn run(program: &Program, n: i64, k: i64) -> (Vec<Tensor>, Counts) {
    program.run(&point(program, n, k)).expect("the program runs")
}

fn step(b: &mut Builder, x: Atom, s: Atom) -> Atom {
    let y = b.op(Mul, &[s, x]);
    b.op(Sin, &[y])
}

fn scalar(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
    let x = w.param("x", &[]);
    let s = w.b.loop_keeping(keep, n, &[(x, Ty::real())], |b, _, s| vec![step(b, x, s[0])]);
    vec![(s[0], Ty::real())]
}

/// Two states, one an integer; an array that is replaced, and what is outside of the loop.
fn mixed(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
    let (four, array) = (int(4), reals(&[int(4)]));
    let (x, xs) = (w.param("x", &[]), w.param("xs", &[four]));
    let state = [(xs, array.clone()), (int(1), Ty::int()), (real(0.5), Ty::real())];
    let s = w.b.loop_keeping(keep, n, &state, |b, i, s| {
        let at = b.op(RemInt, &[s[1], four]);
        let ys = b.map(four, &[], |b, j| {
            let (e, f) = (b.at(s[0], &[j]), b.at(xs, &[at]));
            let e = b.op(Mul, &[e, f]);
            let e = b.op(Tanh, &[e]);
            b.op(Add, &[e, x])
        });
        let e = b.at(s[0], &[at]);
        let total = b.op(Mul, &[s[2], e]);
        let total = b.op(Add, &[total, x]);
        let next = b.op(AddInt, &[s[1], i]);
        vec![ys, next, total]
    });
    vec![(s[0], array), (s[2], Ty::real())]
}

/// An array that is updated in place, in both branches of an `if`.
fn updated(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
    let (four, array) = (int(4), reals(&[int(4)]));
    let (x, xs) = (w.param("x", &[]), w.param("xs", &[four]));
    let s = w.b.loop_keeping(keep, n, &[(xs, array.clone())], |b, i, s| {
        let at = b.op(RemInt, &[i, four]);
        let e = b.at(s[0], &[at]);
        let new = step(b, x, e);
        let first = b.op(EqInt, &[at, int(0)]);
        b.if_(
            first,
            std::slice::from_ref(&array),
            |b| vec![b.with(s[0], &array, &[at], new)],
            |b| {
                let before = b.op(SubInt, &[at, int(1)]);
                let before = b.op(Prim::MaxInt, &[before, int(0)]);
                let f = b.at(s[0], &[before]);
                let f = b.op(Mul, &[f, e]);
                let ys = b.with(s[0], &array, &[before], f);
                vec![b.with(ys, &array, &[at], new)]
            },
        )
    });
    vec![(s[0], array)]
}

/// Loops in loops, each with the policy, and one that keeps all.
fn nested(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
    let x = w.param("x", &[]);
    let (array, three) = (reals(&[int(4)]), int(3));
    let xs = w.param("xs", &[int(4)]);
    let state = [(x, Ty::real()), (xs, array.clone())];
    let s = w.b.loop_keeping(keep, n, &state, |b, i, s| {
        let inner =
            b.loop_keeping(keep, i, &[(s[0], Ty::real())], |b, _, t| vec![step(b, x, t[0])]);
        let filled = b.loop_(three, &[(s[1], array.clone())], |b, j, t| {
            let next = b.op(AddInt, &[j, int(1)]);
            let e = b.at(t[0], &[j]);
            let e = step(b, inner[0], e);
            vec![b.with(t[0], &array, &[next], e)]
        });
        let e = b.at(filled[0], &[three]);
        vec![b.op(Add, &[inner[0], e]), filled[0]]
    });
    vec![(s[0], Ty::real()), (s[1], array)]
}

/// In a `for`, and in an outer loop that keeps all and carries an array backwards.
fn inside(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
    let (four, array) = (int(4), reals(&[int(4)]));
    let xs = w.param("xs", &[four]);
    let ys = w.b.map(four, &[], |b, i| {
        let x = b.at(xs, &[i]);
        b.loop_keeping(keep, n, &[(x, Ty::real())], |b, _, s| vec![step(b, x, s[0])])[0]
    });
    let zs = w.b.loop_(four, &[(ys, array.clone())], |b, i, s| {
        let e = b.at(s[0], &[i]);
        let rows = b.loop_keeping(keep, n, &[(s[0], array.clone())], |b, j, t| {
            let at = b.op(RemInt, &[j, four]);
            let f = b.at(t[0], &[at]);
            let f = b.op(Mul, &[f, e]);
            let f = b.op(Tanh, &[f]);
            vec![b.with(t[0], &array, &[at], f)]
        });
        let f = b.at(rows[0], &[i]);
        let f = b.op(Mul, &[f, e]);
        vec![b.with(rows[0], &array, &[i], f)]
    });
    vec![(zs[0], array)]
}

/// Additions to an accumulator of outside, and one that each iteration makes.
fn accumulating(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
    let (four, array) = (int(4), reals(&[int(4)]));
    let (x, xs) = (w.param("x", &[]), w.param("xs", &[four]));
    let outer = w.b.accumulator(xs, &array);
    let s = w.b.loop_keeping(keep, n, &[(x, Ty::real())], |b, i, s| {
        let at = b.op(RemInt, &[i, four]);
        let own = b.accumulator(xs, &array);
        let e = step(b, x, s[0]);
        b.add_to(own, &[at], e);
        b.add_to(outer, &[at], e);
        let all = b.freeze(own, &array);
        let f = b.at(all, &[at]);
        vec![b.op(Mul, &[f, s[0]])]
    });
    let all = w.b.freeze(outer, &array);
    vec![(s[0], Ty::real()), (all, array)]
}

const PROGRAMS: [(&str, Build); 6] = [
    ("scalar", scalar),
    ("mixed", mixed),
    ("updated", updated),
    ("nested", nested),
    ("inside", inside),
    ("accumulating", accumulating),
];

fn bits(tensors: &[Tensor]) -> Vec<u64> {
    let reals = tensors.iter().filter(|t| t.elem() == ScalarTy::Real);
    reals.flat_map(elements).map(|x| x.to_bits()).collect()
}

/// The same operations in the same order: not only to rounding.
#[test]
fn the_derivative_does_not_depend_on_what_is_kept() {
    for (name, build) in PROGRAMS {
        let plain = program(build, Policy::All).reverse();
        for policy in POLICIES {
            let kept = program(build, policy).reverse();
            for n in [-1, 0, 1, 2, 3, 5, 9, 17] {
                for k in if policy == Policy::States { vec![1, 2, 3, 8, 30] } else { vec![1] } {
                    let ((expected, _), (found, _)) = (run(&plain, n, k), run(&kept, n, k));
                    let same = bits(&expected) == bits(&found);
                    assert!(same, "{name}, {policy:?}, n = {n}, k = {k}:\n{expected:?}\n{found:?}");
                }
            }
        }
    }
}

/// The derivative of the derivative sums in another order.
#[test]
fn the_second_derivative_does_not_either() {
    for (name, build) in PROGRAMS {
        let plain = program(build, Policy::All).reverse().reverse();
        for policy in POLICIES {
            let kept = program(build, policy).reverse().reverse();
            for (n, k) in [(0, 1), (1, 1), (4, 1), (4, 2), (7, 3), (3, 9)] {
                let ((expected, _), (found, _)) = (run(&plain, n, k), run(&kept, n, k));
                let pairs = expected.iter().zip(&found).filter(|(t, _)| t.elem() != ScalarTy::Int);
                for (a, b) in pairs.flat_map(|(a, b)| elements(a).iter().zip(elements(b))) {
                    let close = (a - b).abs() <= 1e-9 * (1.0 + a.abs());
                    assert!(close, "{name}, {policy:?}, n = {n}, k = {k}: {a} and {b}");
                }
            }
        }
    }
}

/// A state of 32 numbers, of which an iteration writes all.
fn wide(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
    let (size, x) = (int(32), w.param("x", &[]));
    let array = reals(&[size]);
    let first = w.b.map(size, &[], |b, j| {
        let j = b.op(Prim::ToReal, &[j]);
        b.op(Mul, &[j, x])
    });
    let s = w.b.loop_keeping(keep, n, &[(first, array.clone())], |b, _, s| {
        vec![b.map(size, &[], |b, j| {
            let e = b.at(s[0], &[j]);
            step(b, x, e)
        })]
    });
    let total = w.b.sum(size, |b, j| b.at(s[0], &[j]));
    vec![(total, Ty::real())]
}

/// One that it updates in one place.
fn narrow(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
    let (size, x) = (int(32), w.param("x", &[]));
    let array = reals(&[size]);
    let first = w.b.map(size, &[], |_, _| x);
    let s = w.b.loop_keeping(keep, n, &[(first, array.clone())], |b, i, s| {
        let at = b.op(RemInt, &[i, size]);
        let e = b.at(s[0], &[at]);
        let e = step(b, x, e);
        vec![b.with(s[0], &array, &[at], e)]
    });
    let total = w.b.sum(size, |b, j| b.at(s[0], &[j]));
    vec![(total, Ty::real())]
}

/// The most bytes that the derivative of the given order has in use at these numbers of iterations.
fn peaks(build: Build, policy: Policy, order: usize, sizes: &[i64], k: i64) -> Vec<f64> {
    let derivative = (0..order).fold(program(build, policy), |program, _| program.reverse());
    sizes.iter().map(|n| run(&derivative, *n, k).1.peak as f64).collect()
}

/// By which power of the size something grows from the first to the last.
fn exponent(sizes: &[i64], values: &[f64]) -> f64 {
    let last = sizes.len() - 1;
    (values[last] / values[0]).ln() / (sizes[last] as f64 / sizes[0] as f64).ln()
}

#[test]
fn memory_grows_like_the_root() {
    for (name, build) in [("wide", wide as Build), ("narrow", narrow)] {
        for (order, sizes) in [(1, [256, 1024, 4096]), (2, [64, 256, 1024])] {
            let kept = peaks(build, Policy::Sqrt, order, &sizes, 1);
            let all = peaks(build, Policy::All, order, &sizes, 1);
            let [slow, fast] = [&kept, &all].map(|peaks| exponent(&sizes, peaks));
            eprintln!("{name}, order {order}: {kept:?} ({slow:.2}) instead of {all:?} ({fast:.2})");
            assert!(slow <= 0.55, "{name}, order {order}: {kept:?} grows by the power {slow}");
            assert!(fast >= 0.75 && kept[2] < all[2], "{name}, order {order}: {all:?}");
        }
    }
}

#[test]
fn memory_is_bounded_by_the_number_of_states() {
    for (name, build) in [("wide", wide as Build), ("narrow", narrow)] {
        for (order, sizes, k) in [(1, [64, 512, 4096], 6), (2, [16, 32, 64], 3)] {
            let kept = peaks(build, Policy::States, order, &sizes, k);
            eprintln!("{name}, order {order}: {kept:?}");
            assert_eq!(kept[0], kept[2], "{name}, order {order}: memory grows with the loop");
        }
        // In proportion to k: each state is 256 bytes.
        let few = peaks(build, Policy::States, 1, &[512], 4)[0];
        let many = peaks(build, Policy::States, 1, &[512], 40)[0];
        let each = (many - few) / 36.0;
        assert!((256.0..=300.0).contains(&each), "{name}: {each} bytes for each state");
    }
}

/// The least number of runs of the body with which `n` iterations can be reversed, where `k` states
/// are kept: by trying all schedules.
fn least_runs(n: usize, k: usize) -> u64 {
    let mut table = vec![vec![0; n + 1]; k + 1];
    for c in 1..=k {
        for left in 2..=n {
            table[c][left] = if c == 1 {
                (left * (left - 1) / 2) as u64
            } else {
                let with = |m: usize| m as u64 + table[c][m] + table[c - 1][left - m];
                (1..left).map(with).min().unwrap_or(0)
            };
        }
    }
    table[k][n]
}

/// The operations on reals of a run of the body are counted: a run in the forward sweep, one to
/// reverse it, and those in between.
#[test]
fn the_body_runs_as_seldom_as_is_possible() {
    let derivative = program(scalar, Policy::States).reverse();
    let reals = |n: i64, k: i64| run(&derivative, n, k).1.reals;
    let body = run(&program(scalar, Policy::All), 7, 1).1.reals / 7;
    for (n, states) in [(2, 1..=3), (7, 1..=9), (20, 1..=22), (61, 1..=12)] {
        let once = reals(n, n);
        for k in states {
            let again = (reals(n, k) - once) / body;
            // The forward sweep has made the first way to the last iteration.
            let least = least_runs(n as usize, k.min(n) as usize) - (n as u64 - 1);
            assert_eq!(again, least, "n = {n}, k = {k}");
        }
    }
}

#[test]
fn a_failing_check_fails_once_and_where_it_is() {
    fn failing(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
        let (four, x) = (int(4), w.param("x", &[]));
        let xs = w.param("xs", &[four]);
        let s = w.b.loop_keeping(keep, n, &[(x, Ty::real())], |b, i, s| {
            let small = b.op(Prim::LtInt, &[i, four]);
            let site = Site::new(Span::default(), "{0} of {1}");
            b.effect(Op::Check { cond: small, site, values: vec![i, four] });
            let e = b.at(xs, &[i]);
            vec![step(b, e, s[0])]
        });
        vec![(s[0], Ty::real())]
    }
    for policy in POLICIES {
        let derivative = program(failing, policy).reverse();
        let at = |n: i64| derivative.run(&point(&derivative, n, 2));
        assert!(at(4).is_ok(), "{policy:?}");
        assert_eq!(at(6).expect_err("the check fails"), "4 of 4", "{policy:?}");
    }
}

#[test]
fn a_state_that_nothing_needs_is_not_kept() {
    fn sum(w: &mut Writer, keep: Checkpoint, n: Atom) -> Vec<(Atom, Ty)> {
        let xs = w.param("xs", &[int(4)]);
        let s = w.b.loop_keeping(keep, n, &[(real(0.0), Ty::real())], |b, i, s| {
            let at = b.op(RemInt, &[i, int(4)]);
            let e = b.at(xs, &[at]);
            vec![b.op(Add, &[s[0], e])]
        });
        vec![(s[0], Ty::real())]
    }
    for policy in POLICIES {
        let peaks = peaks(sum, policy, 1, &[10, 1000], 3);
        assert_eq!(peaks[0], peaks[1], "{policy:?}");
    }
}

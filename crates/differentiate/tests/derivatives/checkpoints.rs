//! Loops that keep fewer states: the same derivatives to the last bit, with the promised memory and
//! no more runs of the body than promised.

use lambada_anf::{Counts, Ty};
use lambada_prim::{Scalar, ScalarTy, Tensor};

use crate::program::{Point, Program, elements, text};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Policy {
    All,
    Entries,
    Sqrt,
    States,
}

const POLICIES: [Policy; 3] = [Policy::Entries, Policy::Sqrt, Policy::States];

/// A program of `programs/checkpoints`, whose loops of `n` iterations keep `states` states there,
/// with another policy.
fn program(name: &str, policy: Policy) -> Program {
    let keeping = match policy {
        Policy::All => "",
        Policy::Entries => " checkpoint entries",
        Policy::Sqrt => " checkpoint sqrt",
        Policy::States => " checkpoint states",
    };
    Program::read(&text(&format!("checkpoints/{name}")).replace(" checkpoint states", keeping))
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

const PROGRAMS: [&str; 6] = ["scalar", "mixed", "updated", "nested", "inside", "accumulating"];

fn bits(tensors: &[Tensor]) -> Vec<u64> {
    let reals = tensors.iter().filter(|t| t.elem() == ScalarTy::Real);
    reals.flat_map(elements).map(|x| x.to_bits()).collect()
}

/// Bitwise equality: the operations and their order are equal.
#[test]
fn the_derivative_does_not_depend_on_what_is_kept() {
    for name in PROGRAMS {
        let plain = program(name, Policy::All).reverse();
        for policy in POLICIES {
            let kept = program(name, policy).reverse();
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

/// The second derivative sums in another order.
#[test]
fn the_second_derivative_does_not_either() {
    for name in PROGRAMS {
        let plain = program(name, Policy::All).reverse().reverse();
        for policy in POLICIES {
            let kept = program(name, policy).reverse().reverse();
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

/// Peak bytes of the derivative of order `order`, by trip count.
fn peaks(name: &str, policy: Policy, order: usize, sizes: &[i64], k: i64) -> Vec<f64> {
    let derivative = (0..order).fold(program(name, policy), |program, _| program.reverse());
    sizes.iter().map(|n| run(&derivative, *n, k).1.peak as f64).collect()
}

/// The exponent of growth from the first size to the last.
fn exponent(sizes: &[i64], values: &[f64]) -> f64 {
    let last = sizes.len() - 1;
    (values[last] / values[0]).ln() / (sizes[last] as f64 / sizes[0] as f64).ln()
}

#[test]
fn memory_grows_like_the_root() {
    for name in ["wide", "narrow"] {
        for (order, sizes) in [(1, [256, 1024, 4096]), (2, [64, 256, 1024])] {
            let kept = peaks(name, Policy::Sqrt, order, &sizes, 1);
            let all = peaks(name, Policy::All, order, &sizes, 1);
            let [slow, fast] = [&kept, &all].map(|peaks| exponent(&sizes, peaks));
            eprintln!("{name}, order {order}: {kept:?} ({slow:.2}) instead of {all:?} ({fast:.2})");
            assert!(slow <= 0.55, "{name}, order {order}: {kept:?} grows by the power {slow}");
            assert!(fast >= 0.75 && kept[2] < all[2], "{name}, order {order}: {all:?}");
        }
    }
}

#[test]
fn memory_is_bounded_by_the_number_of_states() {
    for name in ["wide", "narrow"] {
        for (order, sizes, k) in [(1, [64, 512, 4096], 6), (2, [16, 32, 64], 3)] {
            let kept = peaks(name, Policy::States, order, &sizes, k);
            eprintln!("{name}, order {order}: {kept:?}");
            assert_eq!(kept[0], kept[2], "{name}, order {order}: memory grows with the loop");
        }
        // In proportion to k: each state is 256 bytes.
        let few = peaks(name, Policy::States, 1, &[512], 4)[0];
        let many = peaks(name, Policy::States, 1, &[512], 40)[0];
        let each = (many - few) / 36.0;
        assert!((256.0..=300.0).contains(&each), "{name}: {each} bytes for each state");
    }
}

/// Minimal number of runs of the body that reverse `n` iterations with `k` kept states, by trying
/// all schedules.
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
    let derivative = program("scalar", Policy::States).reverse();
    let reals = |n: i64, k: i64| run(&derivative, n, k).1.reals;
    let body = run(&program("scalar", Policy::All), 7, 1).1.reals / 7;
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
    for policy in POLICIES {
        let derivative = program("failing", policy).reverse();
        let at = |n: i64| derivative.run(&point(&derivative, n, 2));
        assert!(at(4).is_ok(), "{policy:?}");
        assert_eq!(at(6).expect_err("the check fails"), "4 of 4", "{policy:?}");
    }
}

#[test]
fn a_state_that_nothing_needs_is_not_kept() {
    for policy in POLICIES {
        let peaks = peaks("sum", policy, 1, &[10, 1000], 3);
        assert_eq!(peaks[0], peaks[1], "{policy:?}");
    }
}

//! The laws on random programs, to second order.

use lambada_anf::{Random, generate};
use lambada_prim::{ScalarTy, Tensor};

use crate::laws::{STRICT, Strictness, laws, like};
use crate::program::{Point, Program};
use crate::shrink::shrink;

fn at(program: &Program, args: Vec<Tensor>) -> Point {
    let (params, constants): (Vec<Tensor>, Vec<Tensor>) = args.into_iter().partition(|t| t.elem() == ScalarTy::Real);
    assert_eq!(params.len(), program.f.params.len());
    Point { constants, params }
}

/// Seeds of functions that are not differentiable at the point: an extremum of equal elements, a branch at its border.
fn test(seeds: std::ops::Range<u64>) {
    let (mut ran, mut problems) = (0, Vec::new());
    let total = seeds.end - seeds.start;
    for seed in seeds {
        let (f, args) = generate(seed);
        let program = Program::of(&f);
        let point = at(&program, args);
        match laws(&program, &point, &mut Random(seed), STRICT) {
            Ok(true) => ran += 1,
            Ok(false) => {}
            Err(message) => problems.push((seed, message)),
        }
    }
    if let Some((seed, message)) = problems.first() {
        let seeds: Vec<u64> = problems.iter().map(|p| p.0).collect();
        for (seed, message) in &problems {
            eprintln!("seed {seed}: {}", message.lines().next().unwrap_or_default());
        }
        panic!("{} of {total}: seeds {seeds:?}\nseed {seed}: {message}", problems.len());
    }
    assert!(2 * ran > total, "{ran}");
}

/// How many seeds: more with `SEEDS=20000`.
fn seeds(few: u64) -> std::ops::Range<u64> {
    0..std::env::var("SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

#[test]
fn first_order() {
    test(seeds(300));
}

#[test]
fn second_order() {
    for seed in seeds(60) {
        let (f, args) = generate(seed);
        let program = Program::of(&f);
        let point = at(&program, args);
        let Ok((primal, _)) = program.run(&point) else { continue };
        let real: Vec<Tensor> = primal.into_iter().filter(|t| t.elem() == ScalarTy::Real).collect();
        let mut random = Random(seed);
        let loose = Strictness { differences: Some(1e-3), dot: 1e-8 };
        for (what, derivative, extra) in
            [("forward", program.forward(), like(&mut random, &point.params)), ("reverse", program.reverse(), like(&mut random, &real))]
        {
            let point = Point { params: [point.params.clone(), extra].concat(), ..point.clone() };
            laws(&derivative, &point, &mut random, loose).unwrap_or_else(|e| panic!("seed {seed}, of the {what} derivative: {e}"));
        }
    }
}

/// For looking at one seed: `SEED=176 cargo test -p lambada-differentiate one_seed -- --ignored`.
#[test]
#[ignore = "for looking at one seed"]
fn one_seed() {
    let seed: u64 = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let (f, args) = generate(seed);
    let program = Program::of(&f);
    let point = at(&program, args);
    let verdict = |p: &Program| {
        let tested = std::panic::catch_unwind(|| laws(p, &point, &mut Random(seed), STRICT));
        tested.unwrap_or_else(|_| Err("panic".into())).err()
    };
    let kind = |message: &str| message.split([':', '=', ' ']).next().unwrap_or_default().to_string();
    let Some(message) = verdict(&program) else { return };
    let small = shrink(&program, &|p| verdict(p).is_some_and(|m| kind(&m) == kind(&message)));
    panic!("{}", verdict(&small).unwrap_or_default());
}

//! The laws on random programs, to second order.

use lambada_anf::{Random, generate};
use lambada_prim::{ScalarTy, Tensor};

use crate::laws::{STRICT, Strictness, laws, like};
use crate::program::{Point, Program, axpy};
use crate::shrink::shrink;

/// The arguments, moved a little so that no two are equal: at ties, extrema have no derivative to compare with.
fn at(program: &Program, args: Vec<Tensor>, random: &mut Random) -> Point {
    let (params, constants): (Vec<Tensor>, Vec<Tensor>) = args.into_iter().partition(|t| t.elem() == ScalarTy::Real);
    assert_eq!(params.len(), program.f.params.len());
    let nudges = like(random, &params);
    Point { constants, params: axpy(&params, 0.0137, &axpy(&nudges, 0.0123, &like(random, &params))) }
}

/// Checks the laws, also elsewhere before it complains.
fn test(seeds: std::ops::Range<u64>) {
    let (mut ran, mut problems) = (0, Vec::new());
    let total = seeds.end - seeds.start;
    for seed in seeds {
        let (f, args) = generate(seed);
        let (program, mut random) = (Program::of(&f), Random(seed));
        let point = at(&program, args.clone(), &mut random);
        let first = laws(&program, &point, &mut random, STRICT);
        let elsewhere = at(&program, args, &mut random);
        match first.or_else(|_| laws(&program, &elsewhere, &mut random, STRICT)) {
            Ok(true) => ran += 1,
            Ok(false) => {}
            Err(message) => problems.push((seed, message)),
        }
    }
    if let Some((seed, message)) = problems.first() {
        for (seed, message) in &problems {
            eprintln!("seed {seed}: {}", message.lines().next().unwrap_or_default());
        }
        panic!("{} of {total}, the first is seed {seed}: {message}", problems.len());
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
        let (program, mut random) = (Program::of(&f), Random(seed));
        let point = at(&program, args, &mut random);
        let Ok((primal, _)) = program.run(&point) else { continue };
        let real: Vec<Tensor> = primal.into_iter().filter(|t| t.elem() == ScalarTy::Real).collect();
        let loose = Strictness { differences: None, dot: 1e-8 };
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
    let point = at(&program, args, &mut Random(seed));
    let verdict = |p: &Program| {
        let tested = std::panic::catch_unwind(|| laws(p, &point, &mut Random(seed), STRICT));
        tested.unwrap_or_else(|_| Err("panic".into())).err()
    };
    let kind = |message: &str| message.split([':', '=', ' ']).next().unwrap_or_default().to_string();
    let Some(message) = verdict(&program) else { return };
    let small = shrink(&program, &|p| verdict(p).is_some_and(|m| kind(&m) == kind(&message)));
    panic!("{}", verdict(&small).unwrap_or_default());
}

//! The laws on random programs, to second order.

use lambada_anf::{Function, Random, generate, generate_with_library};
use lambada_prim::{ScalarTy, Tensor};
use lambada_testkit::{Confirmed, parallel};

use crate::laws::{CLOSELY, Outcome, laws, like};
use crate::program::{Point, Program, axpy};
use crate::shrink::shrink;

/// The arguments, moved a little so that no two are equal: at ties, extrema have no derivative to
/// compare with.
fn at(program: &Program, args: Vec<Tensor>, random: &mut Random) -> Point {
    let (params, constants): (Vec<Tensor>, Vec<Tensor>) =
        args.into_iter().partition(|t| t.elem() == ScalarTy::Real);
    assert_eq!(params.len(), program.f.params.len());
    let nudges = like(random, &params);
    Point {
        constants,
        params: axpy(&params, 0.0137, &axpy(&nudges, 0.0123, &like(random, &params))),
    }
}

/// The laws at a point; a panic breaks them, too.
fn verdict(program: &Program, point: &Point, seed: u64) -> Result<Outcome, String> {
    let tested = std::panic::catch_unwind(|| laws(program, point, &mut Random(seed), CLOSELY));
    tested.unwrap_or_else(|_| Err("panic".into()))
}

/// Statistics over many programs.
#[derive(Debug, Default)]
struct Counts {
    programs: usize,
    failing: usize,
    nan: usize,
    confirmed: Confirmed,
}

impl Counts {
    fn add(&mut self, outcome: Outcome) {
        self.programs += 1;
        match outcome {
            Outcome::Fails => self.failing += 1,
            Outcome::Nan => self.nan += 1,
            Outcome::Holds(confirmed) => self.confirmed.add(confirmed),
        }
    }

    /// Most programs run to their end, and differences decide nearly everything.
    fn tell_much(&self) {
        let Counts { programs, failing, nan, confirmed } = *self;
        assert!(2 * failing < programs && 50 * nan < programs, "{self:?}");
        assert!(confirmed.decided > 10 * confirmed.undecided, "{self:?}");
    }
}

/// Draws a program, and arguments for it.
type Generate = fn(u64) -> (Function, Vec<Tensor>);

/// Checks the laws; shrinks and shows the first program that breaks them.
fn test(seeds: std::ops::Range<u64>, generate: Generate) {
    let (mut counts, mut problems) = (Counts::default(), Vec::new());
    let total = seeds.end - seeds.start;
    let drawn = |seed: u64| {
        let (f, args) = generate(seed);
        let (program, mut random) = (Program::of(&f), Random(seed));
        let point = at(&program, args, &mut random);
        (program, point)
    };
    let seeds: Vec<u64> = seeds.collect();
    let verdicts = parallel(&seeds, |seed| {
        let (program, point) = drawn(*seed);
        verdict(&program, &point, *seed)
    });
    for (seed, verdict) in seeds.iter().zip(verdicts) {
        match verdict {
            Ok(outcome) => counts.add(outcome),
            Err(message) => problems.push((*seed, message)),
        }
    }
    if let Some((seed, message)) = problems.first() {
        for (seed, message) in &problems {
            eprintln!("seed {seed}: {}", message.lines().next().unwrap_or_default());
        }
        let (program, point) = drawn(*seed);
        panic!(
            "{} of {total}, the first is seed {seed}: {}",
            problems.len(),
            smallest(&program, &point, *seed, message)
        );
    }
    println!("{counts:?}");
    if total > 100 {
        counts.tell_much();
    }
}

fn smallest(program: &Program, point: &Point, seed: u64, message: &str) -> String {
    let kind =
        |message: &str| message.split([':', '=', ' ']).next().unwrap_or_default().to_string();
    let small =
        shrink(program, &|p| verdict(p, point, seed).is_err_and(|m| kind(&m) == kind(message)));
    verdict(&small, point, seed).err().unwrap_or_default()
}

/// Range of seeds; more with `SEEDS=20000`, one with `SEED=176`.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(few),
    }
}

#[test]
fn first_order() {
    test(seeds(300), generate);
}

#[test]
fn first_order_with_libraries() {
    test(seeds(300), generate_with_library);
}

#[test]
fn second_order() {
    twice(60, generate);
}

#[test]
fn second_order_with_libraries() {
    twice(60, generate_with_library);
}

fn twice(few: u64, generate: Generate) {
    let (mut counts, mut failing) = (Counts::default(), 0);
    let seeds = seeds(few);
    let total = seeds.end - seeds.start;
    let outcomes = parallel(&seeds.collect::<Vec<_>>(), |&seed| {
        let (f, args) = generate(seed);
        let (program, mut random) = (Program::of(&f), Random(seed));
        let point = at(&program, args, &mut random);
        // `None` if the program fails.
        let (primal, _) = program.run(&point).ok()?;
        let real: Vec<Tensor> = primal.into_iter().filter(|t| t.elem() == ScalarTy::Real).collect();
        let derivatives = [
            ("forward", program.forward(), like(&mut random, &point.params)),
            ("reverse", program.reverse(), like(&mut random, &real)),
        ];
        Some(derivatives.map(|(what, derivative, extra)| {
            let point = Point { params: [point.params.clone(), extra].concat(), ..point.clone() };
            laws(&derivative, &point, &mut random, 10.0 * CLOSELY)
                .unwrap_or_else(|e| panic!("seed {seed}, of the {what} derivative: {e}"))
        }))
    });
    for outcome in outcomes {
        match outcome {
            Some(both) => both.into_iter().for_each(|outcome| counts.add(outcome)),
            None => failing += 1,
        }
    }
    println!("{failing} fail; {counts:?}");
    if total >= 60 {
        assert!(2 * failing < total, "{failing} programs fail");
        counts.tell_much();
    }
}

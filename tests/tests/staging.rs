//! Programs drawn at random in two stages: the static part, of the last parameters, first, and
//! the rest from its results. Values must be those of the program as it is, bit for bit, because
//! both compute the same.

use lambada::operators::{self, Operator};
use lambada::{Precision, Session, Staged};
use lambada_anf::{check, eval, print};
use lambada_optimize::staged;
use lambada_tests::draw::{case_with, draw};
use lambada_tests::oracle::Case;
use lambada_tests::seeds;

const PROGRAMS: u64 = 400;

/// The results, all failures alike; NaNs have no bits to compare.
fn results(f: &lambada_anf::Function, args: &[lambada::Tensor]) -> Option<Vec<String>> {
    let run = eval(f, args).ok()?;
    Some(run.results.iter().map(|tensor| format!("{tensor:?}")).collect())
}

/// How many of the ways to divide the parameters save something.
fn compare(seed: u64, operator: Operator) -> usize {
    let drawn = draw(seed);
    let case = case_with(Precision::F64, &drawn.text, &drawn.args);
    let Case { mut program, entry, args, wrt, .. } =
        case.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    let entry = match operator {
        Operator::Value => Ok(entry),
        _ => operators::derive(&mut program, entry, operator, &wrt),
    };
    let Ok(entry) = entry else { return 0 };
    let Ok(normalized) = lambada_normalize::normalize(&program, entry, &Staged::default()) else {
        return 0;
    };
    let mut leaves = Vec::new();
    for ((_, layout), arg) in normalized.params.iter().zip(&args) {
        leaves.extend(layout.flatten(arg).expect("arguments that fit"));
    }
    let function = normalized.function;
    let expected = results(&function, &leaves);
    let mut count = 0;
    for known in 0..leaves.len() {
        let Some(stages) = staged(&function, known) else { continue };
        count += 1;
        for f in [&stages.first, &stages.rest] {
            check(f).unwrap_or_else(|why| {
                panic!("seed {seed}, from {known}: {why}\n{}\n{}", drawn.text, print(f))
            });
        }
        let first = eval(&stages.first, &leaves[known..]);
        let found = first.ok().and_then(|first| {
            let all: Vec<_> = leaves.iter().cloned().chain(first.results).collect();
            results(&stages.rest, &all)
        });
        assert_eq!(found, expected, "seed {seed}, from {known}\n{}", drawn.text);
    }
    count
}

#[test]
fn programs_in_two_stages_give_the_same() {
    let seeds: Vec<u64> = seeds(PROGRAMS).collect();
    let of = |seed: &u64| {
        [Operator::Value, Operator::Grad].map(|operator| compare(*seed, operator)).iter().sum()
    };
    let counts: Vec<usize> = lambada_testkit::parallel(&seeds, of);
    let divided = counts.iter().filter(|count| **count > 0).count();
    assert!(divided * 20 > seeds.len(), "only {divided} programs are divided");
}

/// The two stages of a program: all parameters but the first are known.
fn divided(text: &str) -> lambada_optimize::Staged {
    let unit = Session::new().load_text("f.lam", text, None).unwrap_or_else(|p| panic!("{p:?}"));
    let call = unit.call("f", Operator::Value, None).unwrap_or_else(|p| panic!("{p:?}"));
    let normalized = lambada_normalize::normalize(&call.program, call.entry, &Staged::default());
    let function = normalized.unwrap_or_else(|p| panic!("{p:?}")).function;
    staged(&function, 1).expect("a static part")
}

#[test]
fn arrays_between_the_stages_are_as_large_as_the_data() {
    // The numbers of all pairs are never stored in the program itself.
    let pairs = |n: usize| {
        format!(
            "def f (a : real) (x : [{n}]real) : real = sum (for i < {n} => sum (for j < {n} => exp (x[i] - x[j]) * sin (a * exp (x[j]))))"
        )
    };
    let ranks = |n: usize| -> Vec<usize> {
        divided(&pairs(n)).first.results.iter().map(|ty| ty.dims.len()).collect()
    };
    // A few are better stored.
    assert!(ranks(100).contains(&2));
    assert_eq!(ranks(100_000), [1]);
    let open = pairs(7).replace('7', "n").replace("def f", "def f [n]");
    let ranks: Vec<usize> = divided(&open).first.results.iter().map(|ty| ty.dims.len()).collect();
    assert_eq!(ranks, [1]);
}

#[test]
fn the_first_stage_grows_with_the_program() {
    // Each of the numbers depends on the one before, and the rest needs all.
    let size = |count: usize| {
        let steps: String =
            (1..=count).map(|k| format!("    let x{k} = exp (-x{})\n", k - 1)).collect();
        let all: Vec<String> = (1..=count).map(|k| format!("sin (a * x{k})")).collect();
        let text = format!(
            "def f (a : real) (x : [9]real) : real =\n  sum (for x0 in x =>\n{steps}    {})",
            all.join(" + ")
        );
        divided(&text).first.body.size()
    };
    let (small, large) = (size(40), size(160));
    assert!(large < 5 * small, "{small} and {large} statements");
}

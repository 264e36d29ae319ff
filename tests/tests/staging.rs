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
    staged(&normalized(text, "f"), 1).expect("a static part")
}

fn normalized(text: &str, entry: &str) -> lambada_anf::Function {
    let unit = Session::new().load_text("f.lam", text, None).unwrap_or_else(|p| panic!("{p:?}"));
    let call = unit.call(entry, Operator::Value, None).unwrap_or_else(|p| panic!("{p:?}"));
    let normalized = lambada_normalize::normalize(&call.program, call.entry, &Staged::default());
    normalized.unwrap_or_else(|p| panic!("{p:?}")).function
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

/// Each matrix with its shape, the uses of it, and whether the rest has it by columns.
#[test]
fn tall_matrices_lie_by_columns() {
    let product = "sum (for (m, y) in zip (x @ b) y => y * m - log1p (exp m))";
    let both = "sum ((x @ b) ^ 2) + dot (y @ x) b";
    let loops = "sum (for i < n => exp (sum (for j < k => x[i, j] * b[j])))";
    let steps = "loop s = 0.0 for i < n do tanh (s + sum (for j < k => x[i, j] * b[j]))";
    let centered =
        "let m = sum x / n let z = for r in x => r - m in sum ((z @ b) ^ 2) + dot (y @ z) b";
    let also = "sum (x @ b) + sum (for r in x => norm (r - b))";
    let table = [
        ((70, 3), product, true),
        ((70, 30), product, true),
        ((70, 30), both, true),
        ((70, 30), centered, true),
        ((70, 3), loops, true),
        ((70, 30), loops, false),
        ((70, 3), steps, false),
        ((70, 30), also, false),
        ((60, 3), product, false),
        ((70, 80), product, false),
    ];
    for ((n, k), body, expected) in table {
        let body = body.replace(" n ", &format!(" {n} "));
        let body = body.replace("< k", &format!("< {k}"));
        let text = format!(
            "def f (b : [{k}]real) (x : [{n}][{k}]real) (y : [{n}]real) : real = {body}
def g (b : [{k}]real) (x : [{n}][{k}]real) (y : [{n}]real) : [{k}]real = grad (\\b -> f b x y) b"
        );
        for entry in ["f", "g"] {
            let function = normalized(&text, entry);
            let stages = staged(&function, 1);
            let dims = [k, n].map(lambada_anf::Atom::int);
            let columns = |f: &lambada_anf::Function| f.results.iter().any(|ty| ty.dims == dims);
            let found = stages.as_ref().is_some_and(|stages| columns(&stages.first));
            assert_eq!(found, expected, "{text}");
            let Some(stages) = stages else { continue };
            for f in [&stages.first, &stages.rest] {
                check(f).unwrap_or_else(|why| panic!("{why}"));
            }
            let numbers = |dims: &[usize]| {
                let count: usize = dims.iter().product();
                let reals = (0..count).map(|at| ((at * at + 3) % 17) as f64 / 19.0).collect();
                lambada::Tensor::reals(dims.to_vec(), reals)
            };
            let [n, k] = [n, k].map(|size| size as usize);
            let args = [numbers(&[k]), numbers(&[n, k]), numbers(&[n])];
            let first = eval(&stages.first, &args[1..]).expect("a run").results;
            let all: Vec<_> = args.iter().cloned().chain(first).collect();
            assert_eq!(results(&stages.rest, &all), results(&function, &args), "{text}");
        }
    }
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

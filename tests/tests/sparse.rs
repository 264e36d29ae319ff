//! What sparse Jacobians and Hessians cost, also where a row is full: operations, and memory at a time, grow as the number of entries does, times its logarithm, where the
//! dense matrix grows with the square.

use lambada::operators::Operator;
use lambada::{Data, Scalar, Session, Tensor, arrays};

/// A band, the Hessian of a chain, a few cameras that see many points, and one result of many parameters. All take a size.
const PROGRAMS: &str = "\
def at n = for i < n => 1 + 0.5 * sin (real i)
def band (n : int) = sparse_jacobian (\\x -> for i < n => x[i] ** 2 + (if i > 0 then sin x[i - 1] * x[i] else 0.0)) (at n)
def chain (n : int) = sparse_hessian (\\x -> sum (for i < n - 1 => (x[i + 1] - x[i] ** 2) ** 2)) (at n)
def arrow (n : int) = sparse_hessian (\\x -> sum (for i < n => x[n - 1] ** 2 * x[i] ** 2)) (at n)
def tied (n : int) = sparse_hessian (\\x -> sum (for i < n - 1 => (x[i + 1] - x[i] ** 2) ** 2 * x[0] ** 2)) (at n)
def diagonal (n : int) = sparse_hessian (\\x -> sum (exp x)) (at n)
def sights (n : int) =
  let (cameras, points) = (n / 8 + 1, n / 4 + 1)
  let size = 3 * cameras + 2 * points + n
  let errors = \\(x : [size]real) ->
    flatten (for o < n =>
      let (c, p) = (3 * (o * 7 % cameras), 3 * cameras + 2 * (o * 5 % points))
      let weight = x[3 * cameras + 2 * points + o]
      let depth = sqrt (x[c] ** 2 + x[c + 1] ** 2 + x[c + 2] ** 2)
      in [weight * (depth * x[p] - x[c]), weight * (depth * x[p + 1] - x[c + 1]), 1 - weight ** 2])
  in sparse_jacobian errors (at size)
def total (n : int) = sparse_jacobian (\\x -> [sum (for i < n => x[i] ** 3)]) (at n)
";

/// Operations on reals and bytes at a time, and how many entries there are.
fn cost(session: &mut Session, entry: &str, n: usize) -> (f64, f64, usize) {
    let unit = session
        .load_text("sparse.lam", PROGRAMS, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let call = unit.call(entry, Operator::Value, None).expect("it is a definition");
    let arrays = arrays(&call.program, call.entry).expect("it normalizes");
    let (_, layout) = &arrays.normalized.params[0];
    let size = Data::Tensor(Tensor::scalar(Scalar::Int(n as i64)));
    let leaves = layout.flatten(&size).expect("an int");
    let ran = lambada_anf::eval(&arrays.optimized, &leaves).expect("it runs");
    let entries = ran
        .results
        .iter()
        .map(|leaf| leaf.dims.iter().product::<usize>())
        .max()
        .unwrap_or_default();
    (ran.counts.reals as f64, ran.counts.peak as f64, entries)
}

#[test]
fn sparse_matrices_cost_their_entries() {
    let mut session = Session::new();
    let expected = [
        ("band", [64, 512, 4096], 2.0),
        ("chain", [64, 512, 4096], 3.0),
        ("arrow", [64, 512, 4096], 3.0),
        ("tied", [64, 512, 4096], 5.0),
        ("diagonal", [64, 512, 4096], 1.0),
        ("sights", [32, 256, 2048], 11.0),
        ("total", [64, 512, 4096], 1.0),
    ];
    for (entry, sizes, each) in expected {
        let costs = sizes.map(|n| cost(&mut session, entry, n));
        println!("{entry}: {costs:?}");
        for (pair, n) in costs.windows(2).zip(&sizes[1..]) {
            // Eight times the size: eight times the work on each level, and one level more.
            let (operations, bytes) = (pair[1].0 / pair[0].0, pair[1].1 / pair[0].1);
            assert!(operations <= 13.0, "{entry} of {n}: {operations} times the operations");
            assert!(bytes <= 13.0, "{entry} of {n}: {bytes} times the memory");
            let entries = pair[1].2 as f64 / *n as f64;
            assert!((entries - each).abs() < 0.2 * each, "{entry} of {n}: {entries} for each");
        }
    }
}

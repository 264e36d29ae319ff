//! Sums of products: their cost before and after, and that captured and shared indices stay right.

use lambada_prim::{Data, Scalar, Tensor};
use lambada_testkit::Random;

use super::{agree, agrees};
use lambada_graph::Nominal;

use crate::{Leave, factored, simplified};
use lambada_graph::{self as graph, Graph};

/// Reals for the inputs of a graph, whose first inputs are its sizes.
fn arguments(graph: &Graph, sizes: &[i64], shapes: &[&[usize]]) -> Vec<Tensor> {
    let mut random = Random(5);
    let scalars = sizes.iter().map(|size| Tensor::scalar(Scalar::Int(*size)));
    let mut real = |shape: &&[usize]| {
        let dims: Vec<usize> = shape.iter().map(|k| sizes[*k] as usize).collect();
        let data = (0..dims.iter().product()).map(|_| random.between(-1.0, 1.0)).collect();
        Tensor { dims, data: Data::Real(data) }
    };
    let args: Vec<Tensor> = scalars.chain(shapes.iter().map(&mut real)).collect();
    assert_eq!(args.len(), graph.inputs.len());
    args
}

/// The numbers of operations on reals of a graph, as it is and factored; both give the same.
fn operations(text: &str, sizes: &[i64], shapes: &[&[usize]]) -> (u64, u64) {
    let before = graph::read(text).unwrap();
    graph::check(&before).unwrap();
    let nominal = Nominal::of((0..).zip(sizes.iter().copied()));
    let after = factored(&before, &nominal, Leave::All);
    graph::check(&after).unwrap_or_else(|e| panic!("{e}\n{}", graph::print(&after)));
    let args = arguments(&before, sizes, shapes);
    let (x, y) = (graph::eval(&before, &args).unwrap(), graph::eval(&after, &args).unwrap());
    agree(&Ok(x.results), &Ok(y.results))
        .unwrap_or_else(|e| panic!("{e}\n{}", graph::print(&after)));
    (x.reals, y.reals)
}

/// The cotangent of the means of a Gaussian mixture, as the derivative of
/// `Σᵢ Σⱼ (Σₘ Q[c,j,m]·(x[i,m] − μ[c,m]))²` adds it up.
const MEANS: &str = "
graph (n : int, k : int, d : int, q : [k][d][d]real, w : [n][k]real, y : [n][k][d]real) {
  axis i < n
  axis c < k
  axis j < d
  axis m < d
  v0 = q[c, j, m]
  v1 = w[i, c]
  v2 = y[i, c, j]
  v3 = mul v1, v2
  v4 = mul v0, v3
  v5 = reduce add [j] v4
  v6 = neg v5
  v7 = reduce add [i] v6
  a0 = map [c, m] v7
  => means = a0
}
";

#[test]
fn a_matrix_leaves_the_sum_over_points() {
    let shapes: &[&[usize]] = &[&[1, 2, 2], &[0, 1], &[0, 1, 2]];
    for (n, k, d) in [(10, 3, 4), (20, 3, 4), (10, 6, 4), (40, 2, 8)] {
        let (before, after) = operations(MEANS, &[n, k, d], shapes);
        let (n, k, d) = (n as u64, k as u64, d as u64);
        assert!(before >= 2 * n * k * d * d, "{before}");
        // w·y and its sum, then Q times it and that sum, and signs.
        assert!(after <= 2 * n * k * d + 2 * k * d * d + k * d, "{after} at {n} {k} {d}");
    }
}

/// `Σⱼ y·y` with `y = Σₘ Q·x`: the sum is there for both factors, so opening it saves nothing.
#[test]
fn a_square_of_a_sum_stays() {
    let text = "
graph (n : int, d : int, q : [d][d]real, x : [n][d]real) {
  axis i < n
  axis j < d
  axis m < d
  v0 = q[j, m]
  v1 = x[i, m]
  v2 = mul v0, v1
  v3 = reduce add [m] v2
  v4 = mul v3, v3
  v5 = reduce add [j] v4
  a0 = map [i] v5
  => squares = a0
}
";
    let (before, after) = operations(text, &[7, 5], &[&[1, 1], &[0, 1]]);
    assert_eq!(before, after);
}

/// `Σₘ (Σₘ x[m]·y[i,m])·z[m]`: the inner index is not the outer one.
#[test]
fn no_index_is_captured() {
    let text = "
graph (n : int, d : int, x : [d]real, y : [n][d]real, z : [d]real) {
  axis i < n
  axis m < d
  v0 = x[m]
  v1 = y[i, m]
  v2 = mul v0, v1
  v3 = reduce add [m] v2
  v4 = z[m]
  v5 = mul v3, v4
  v6 = reduce add [i, m] v5
  a0 = map [] v6
  => total = a0
}
";
    let (before, after) = operations(text, &[6, 5], &[&[1], &[0, 1], &[1]]);
    assert!(after < before, "{after} of {before}");
}

/// A sum that has another reader is computed anyway.
#[test]
fn a_sum_that_is_needed_elsewhere_is_not_saved() {
    let text = "
graph (n : int, d : int, q : [d][d]real, x : [n][d]real, w : [d]real) {
  axis i < n
  axis j < d
  axis m < d
  v0 = q[j, m]
  v1 = x[i, m]
  v2 = mul v0, v1
  v3 = reduce add [m] v2
  a0 = map [i, j] v3
  v4 = w[j]
  v5 = mul v3, v4
  v6 = reduce add [j] v5
  a1 = map [i] v6
  => products = a0, weighted = a1
}
";
    let (before, after) = operations(text, &[9, 6], &[&[1, 1], &[0, 1], &[1]]);
    assert!(after <= before, "{after} of {before}");
}

/// A factor that may be infinite stays, as users are promised.
#[test]
fn a_factor_that_may_be_infinite_stays() {
    let text = "
graph (n : int, x : [n]real, c : real) {
  axis i < n
  v0 = x[i]
  v1 = mul c, v0
  v2 = mul 2.0, v1
  v3 = reduce add [i] v2
  a0 = map [] v3
  => total = a0
}
";
    let before = graph::read(text).unwrap();
    let after = factored(&before, &Nominal::default(), Leave::Finite);
    let args = [
        Tensor::scalar(Scalar::Int(0)),
        Tensor { dims: vec![0], data: Data::Real(Vec::new()) },
        Tensor::scalar(Scalar::Real(f64::INFINITY)),
    ];
    let total = |graph: &Graph| graph::eval(graph, &args).unwrap().results[0].clone();
    assert_eq!(total(&after), Tensor::scalar(Scalar::Real(0.0)));
    let text = graph::print(&after);
    assert!(
        text.contains("mul 2.0, v2") && text.contains("mul v0, c") || text.contains("mul c, v0"),
        "{text}"
    );
}

/// `Σᵢ Σⱼ (m < j ? q[j,m]·w[i,j] : 0)`: the sum over the points, which has lost `m`, is asked for
/// where any `m` asks for it.
#[test]
fn what_leaves_a_sum_is_asked_for_where_any_of_its_readers_does() {
    let triangle = |condition: &str, size: &str| {
        format!(
            "
graph (n : int, d : int, e : int, q : [d][{size}]real, w : [n][d]real, s : [n][d]real) {{
  axis i < n
  axis j < d
  axis m < {size}
  v0 = {condition}
  v1 = q[j, m]
  v2 = w[i, j]
  v3 = mul v1, v2
  v4 = choose v0, v3, 0.0
  v5 = reduce add [i] v4
  a0 = map [j, m] v5
  => cotangent = a0
}}
"
        )
    };
    let prepared = |condition: &str, size: &str| {
        let graph = graph::read(&triangle(condition, size)).unwrap();
        graph::check(&graph).unwrap();
        let graph = crate::prepared(&graph, &Nominal::default(), Leave::Apart);
        assert!(crate::placeable(&graph), "{}", graph::print(&graph));
        graph::print(&graph)
    };
    // All but the first row: computed with the other sums over the points.
    let text = prepared("lt_int m, j", "d");
    let sum =
        |text: &str| text.lines().find(|line| line.contains("reduce add [i]")).map(String::from);
    let found = sum(&text).expect("a sum over the points");
    assert!(!found.contains("lazy") && found.ends_with("v2"), "{text}");
    // Of another size, which may be zero.
    let text = prepared("lt_int m, j", "e");
    let found = sum(&text).expect("a sum over the points");
    assert!(found.contains("lazy") && text.contains("lt_int 0, e"), "{text}");
}

#[test]
fn generated_programs_are_factored() {
    for seed in 0..400 {
        let (f, args) = lambada_anf::generate(seed);
        agrees(&f, &args, &mut |graph| {
            simplified(&factored(&simplified(&graph), &Nominal::default(), Leave::Finite))
        });
    }
}

/// The reals of generated programs are finite, but for the extrema of nothing.
#[test]
fn generated_programs_are_factored_as_if_all_were_finite() {
    let mut factored_differently = 0;
    for seed in 1_000..1_400 {
        let (f, args) = lambada_anf::generate(seed);
        if lambada_anf::print(&f).contains("reduce m") {
            continue;
        }
        agrees(&f, &args, &mut |graph| {
            let after = factored(&graph, &Nominal::default(), Leave::All);
            factored_differently += usize::from(graph::print(&after) != graph::print(&graph));
            after
        });
    }
    assert!(factored_differently > 20, "{factored_differently}");
}

/// `Σᵢ eˣ·c` with `c = 1 / Σᵢ eˣ`, where each `eˣ·c` is wanted, too: the sum is there already, so
/// only a product is added.
#[test]
fn a_sum_that_is_there_is_not_computed_again() {
    let text = "
graph (n : int, k : int, x : [k][n]real) {
  axis i < n
  axis j < k
  v0 = x[j, i]
  v1 = exp v0
  v4 = reduce add [i] v1
  v5 = div 1.0, v4
  v6 = mul v1, v5
  v7 = reduce add [i] v6
  a0 = map [j, i] v6
  a1 = map [j] v7
  => shares = a0, totals = a1
}
";
    for (n, k) in [(7, 3), (40, 2)] {
        let (before, after) = operations(text, &[n, k], &[&[1, 0]]);
        let (n, k) = (n as u64, k as u64);
        assert_eq!(before - after, n * k - k, "{after} of {before}");
    }
}

//! Sequential loops inside of nests: states in registers, states with other readers, and additions
//! in each iteration.

use super::placed::{SIZES, agrees, int, placements, reals};
use crate::tests::agree;
use lambada_graph::{Nominal, Plan, placed};

use crate::{Leave, best, placeable, prepared};
use lambada_graph::{self as graph, Graph};

/// A graph in which the axes that loops depend on are exact.
fn read(text: &str) -> Graph {
    let graph = graph::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let graph = graph::cleaned(&graph);
    graph::check(&graph).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(placements(&graph).len() > 2, "it is placed in blocks, too");
    graph
}

/// The gradient of a polynomial's residual by its coefficients: the power is a state, the sum by
/// the coefficients is added to in each iteration.
const POLYNOMIAL: &str = "
graph (n : int, m : int, x : [m]real, t : [n]real) {
  axis j < m sequential
  axis i < n
  a0 = map [] 1.0
  l0 = loop j (a0)
  v0 = t[i]
  v1 = l0.0[]
  v2 = mul v1, v0
  a1 = map [] v2
  next l0 = a1
  v3 = x[j]
  v4 = mul v3, v1
  v5 = reduce add [j] v4
  v6 = sub v0, v5
  v7 = mul v6, v6
  v8 = reduce add [i] v7
  a2 = map [] v8
  v9 = mul v1, v6
  v10 = reduce add [i] v9
  a3 = map [j] v10
  => value = a2, gradient = a3
}
";

#[test]
fn a_polynomial_is_placed() {
    let graph = read(POLYNOMIAL);
    for n in SIZES {
        for m in [0, 1, 2, 5] {
            agrees(&graph, &[int(n), int(m), reals(&[m]), reals(&[n])]);
        }
    }
}

/// In blocks of the points, the power is computed twice and never stored.
#[test]
fn a_power_is_in_registers() {
    let graph = read(POLYNOMIAL);
    let text: Vec<String> = placements(&graph).iter().map(placed::print).collect();
    let blocked = text.iter().find(|text| text.contains("for each block of i"));
    let blocked = blocked.expect("a placement in blocks of the points");
    assert_eq!(blocked.matches(" carrying l0").count(), 2, "{blocked}");
    let buffers = blocked.lines().filter(|line| line.contains(" = node "));
    let states: Vec<&str> = buffers.filter(|line| line.contains("j0, i1")).collect();
    assert!(states.is_empty(), "{blocked}");
}

/// A linear recurrence for each row: two states, one needed at the end and one in each iteration; a
/// sum over columns that depends on no state; and a product with a state as one factor.
#[test]
fn recurrences_are_placed() {
    let graph = read(
        "
graph (n : int, m : int, d : int, x : [n]real, w : [m]real, q : [d]real) {
  axis t < m sequential
  axis i < n
  axis j < d
  v0 = x[i]
  a0 = map [] v0
  a1 = map [] 0.5
  l0 = loop t (a0, a1)
  v1 = l0.0[]
  v2 = l0.1[]
  v3 = w[t]
  v4 = q[j]
  v5 = mul v4, v3
  v6 = reduce add [j] v5
  v7 = mul v1, v6
  v8 = add v7, v2
  v9 = sub v1, v2
  a2 = map [] v8
  a3 = map [] v9
  next l0 = a2, a3
  v10 = l0!0[]
  a4 = map [i] v10
  a5 = map [i, t] v2
  v11 = mul v1, v4
  v12 = reduce add [i, t] v11
  a6 = map [j] v12
  v13 = exp v1
  v14 = reduce max [t] v13
  v15 = mul v14, v10
  a7 = map [i] v15
  => last = a4, all = a5, products = a6, peaks = a7
}
",
    );
    for n in SIZES {
        for (m, d) in [(0, 1), (1, 0), (1, 1), (3, 2), (2, 9)] {
            agrees(&graph, &[int(n), int(m), int(d), reals(&[n]), reals(&[m]), reals(&[d])]);
        }
    }
}

/// A loop for each pair of indices, and one alone.
#[test]
fn loops_over_other_indices_are_placed() {
    let graph = read(
        "
graph (n : int, m : int, s : int, x : [n]real, w : [m]real) {
  axis t < s sequential
  axis i < n
  axis j < m
  v0 = x[i]
  v1 = w[j]
  a0 = map [] 1.0
  l0 = loop t (a0)
  v2 = l0.0[]
  v3 = mul v0, v1
  v4 = mul v2, v3
  v5 = add v4, 0.25
  a1 = map [] v5
  next l0 = a1
  v6 = reduce add [i] v2
  a2 = map [j, t] v6
  v7 = l0!0[]
  v8 = reduce add [i, j] v7
  a3 = map [] v8
  l1 = loop t (a3)
  v9 = l1.0[]
  v10 = mul v9, 0.5
  a4 = map [] v10
  next l1 = a4
  a5 = map [t] v9
  => sums = a2, halves = a5, last = l1!0
}
",
    );
    for n in SIZES {
        for (m, s) in [(0, 2), (1, 1), (3, 0), (2, 9), (9, 3)] {
            agrees(&graph, &[int(n), int(m), int(s), reals(&[n]), reals(&[m])]);
        }
    }
}

/// The nearest of several points: distances, the place of the smallest, and additions there.
#[test]
fn the_nearest_point_is_placed() {
    let text = include_str!("graphs/nearest.graph");
    let graph = graph::cleaned(&graph::read(text).unwrap_or_else(|e| panic!("{e}")));
    graph::check(&graph).unwrap_or_else(|e| panic!("{e}"));
    let ready = prepared(&graph, &Nominal::default(), Leave::Finite);
    graph::check(&ready).unwrap_or_else(|e| panic!("{e}\n{}", graph::print(&ready)));
    assert!(placeable(&ready), "{}", graph::print(&ready));
    assert!(placements(&ready).len() > 2, "{}", graph::print(&ready));
    assert!(
        best(
            &ready,
            &Nominal::default(),
            Plan::of(8),
            (lambada_prim::Precision::F64, lambada_graph::Runs::Often)
        )
        .is_some(),
        "it is worth it"
    );
    for n in SIZES {
        for (k, d) in [(0, 2), (1, 0), (1, 1), (3, 2), (9, 5)] {
            let args = [int(k), int(n), int(d), reals(&[n, d]), reals(&[k, d])];
            let expected = graph::eval(&graph, &args).map(|outcome| outcome.results);
            let found = graph::eval(&ready, &args).map(|outcome| outcome.results);
            agree(&expected, &found).unwrap_or_else(|e| panic!("{e}\n{}", graph::print(&ready)));
            agrees(&ready, &args);
        }
    }
}

/// Neighbors of inputs and of computed elements: those beyond the ends are out of range, and not
/// needed.
#[test]
fn neighbors_are_read_in_lanes() {
    let graph = graph::read(
        "
graph (n : int, m : int, x : [n]real, w : [m][n]real) {
  axis i < n
  v0 = eq_int i, 0
  v1 = sub_int i, 1
  v2 = x[i]
  v3 = x[v1]
  v4 = mul v3, v2
  v5 = choose v0, v2, v4
  v6 = exp v5
  a0 = map [i] v6
  v7 = a0[v1]
  v8 = choose v0, 1.0, v7
  v9 = mul v8, v5
  a1 = map [i] v9
  axis j < m
  v10 = add_int i, 2
  v11 = lt_int v10, n
  v12 = w[j, v10]
  v13 = choose v11, v12, 0.5
  v14 = mul v13, v9
  v15 = reduce add [i] v14
  a2 = map [j] v15
  => steps = a1, sums = a2
}
",
    );
    let graph = graph::cleaned(&graph.unwrap_or_else(|e| panic!("{e}")));
    graph::check(&graph).unwrap_or_else(|e| panic!("{e}"));
    let once = placements(&graph).remove(0);
    let reads = once.passes.iter().flat_map(|pass| &pass.nests);
    assert!(reads.clone().count() > 2 && reads.clone().all(|nest| nest.vector.is_some()));
    for n in SIZES {
        for m in [0, 1, 3] {
            agrees(&graph, &[int(n), int(m), reals(&[n]), reals(&[m, n])]);
        }
    }
}

/// Additions to arrays from outside, in lanes where the elements are one after the other; a sum
/// over other indices is added once.
#[test]
fn additions_in_place_are_placed() {
    let text = "
graph (n : int, m : int, p : int, x : [n]real, y : [m]real, a : [m]real, b : [p][p]real) {
  axis i < n
  axis j < m
  v0 = x[i]
  v1 = y[j]
  v2 = mul v0, v1
  v3 = exp v2
  v4 = reduce add [i] v3
  v5 = sub_int m, j
  v6 = sub_int v5, 1
  v7 = lt 0.0, v1
  a0 = scatter a
    add [j] : [j] += v4
    add [j] if v7 : [v6] += v1
  v8 = add_int j, 2
  v9 = exp v1
  a1 = scatter b
    add [j] : [1, v8] += v9
    add [j] : [v8, j] += v1
  v10 = reduce add [j] v9
  a2 = map [] v10
  => sum = a2, a = a0, b = a1
}
";
    let graph = graph::cleaned(&graph::read(text).unwrap_or_else(|e| panic!("{e}")));
    graph::check(&graph).unwrap_or_else(|e| panic!("{e}"));
    let mut graph = graph;
    graph.in_place = 2;
    let once = placed::print(&placements(&graph)[0]);
    assert!(!once.contains("copy"), "{once}");
    // One nest has the additions in lanes; additions of one index after the other have nests of
    // their own.
    assert!(once.contains("lanes j"), "{once}");
    for n in [0, 1, 9] {
        for m in SIZES {
            let p = m + 2;
            let args = [int(n), int(m), int(p), reals(&[n]), reals(&[m]), reals(&[m])];
            agrees(&graph, &[&args[..], &[reals(&[p, p])]].concat());
        }
    }
}

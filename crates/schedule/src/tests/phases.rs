//! The number of passes of programs over their points.

use crate::phases::Phases;
use lambada_graph::{self as graph, AxisId, Graph};

fn graph(text: &str) -> Graph {
    let graph = graph::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    graph::check(&graph).unwrap();
    graph
}

/// log-sum-exp and its gradient: the maximum, the sum, the shares.
#[test]
fn a_softmax_takes_three_passes() {
    let graph = graph(
        "
graph (n : int, x : [n]real) {
  axis i < n
  v0 = x[i]
  v1 = reduce max [i] v0
  v2 = sub v0, v1
  v3 = exp v2
  v4 = reduce add [i] v3
  v5 = log v4
  v6 = add v1, v5
  a0 = map [] v6
  v7 = div v3, v4
  a1 = map [i] v7
  => value = a0, gradient = a1
}
",
    );
    let mut phases = Phases::over(&graph, AxisId(0));
    assert_eq!(phases.of_array(graph.outputs[0].array), 4);
    assert_eq!(phases.of_array(graph.outputs[1].array), 5);
    assert_eq!(phases.passes(), 3);
}

/// A sum of squares and its gradient by another array: one pass, though there is a total.
#[test]
fn totals_that_nothing_inside_needs_take_one_pass() {
    let graph = graph(
        "
graph (n : int, m : int, x : [n][m]real, w : [m]real) {
  axis i < n
  axis j < m
  v0 = x[i, j]
  v1 = w[j]
  v2 = mul v0, v1
  v3 = reduce add [j] v2
  v4 = mul v3, v3
  v5 = reduce add [i] v4
  a0 = map [] v5
  v6 = mul v3, v0
  v7 = reduce add [i] v6
  a1 = map [j] v7
  => value = a0, gradient = a1
}
",
    );
    assert_eq!(Phases::over(&graph, AxisId(0)).passes(), 1);
    // Over the columns: the product, then its uses.
    assert_eq!(Phases::over(&graph, AxisId(1)).passes(), 2);
}

/// A state is a pass of its own loop; readers of the last state wait for it.
#[test]
fn a_loop_is_one_pass_over_its_axis() {
    let graph = graph(
        "
graph (n : int, x : [n]real) {
  axis t < n sequential
  a0 = map [] 0.0
  l0 = loop t (a0)
  v0 = l0.0[]
  v1 = x[t]
  v2 = add v0, v1
  a1 = map [] v2
  next l0 = a1
  v3 = l0!0[]
  v4 = exp v3
  a2 = map [] v4
  => last = a2
}
",
    );
    let graph = graph::cleaned(&graph);
    let mut phases = Phases::over(&graph, AxisId(0));
    assert_eq!(phases.of_array(graph.outputs[0].array), 2);
    assert_eq!(phases.passes(), 1);
}

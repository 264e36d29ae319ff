//! Loops that share an axis.

use lambada_anf::read;

use crate::{through_graphs, whole};
use lambada_graph::{Graph, print};

fn graph(text: &str) -> Graph {
    let f = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    lambada_anf::check(&f).unwrap();
    whole(&f).expect("one region").graph
}

/// A loop and its reader: the exponential is one definition.
#[test]
fn a_loop_and_its_reverse_share_their_axis() {
    let graph = graph(
        "f [n] (x : [n]real) (ct : [n]real) {
  e : [n]real = for i < n (collect) {
    a : real = x[i]
    b : real = exp a
    => b
  }
  xct : [n]real = for j < n (collect) {
    a : real = x[j]
    b : real = exp a
    c : real = ct[j]
    d : real = mul b, c
    => d
  }
  => e : [n]real, xct : [n]real
}
",
    );
    assert_eq!(graph.axes.len(), 1, "{}", print(&graph));
    assert_eq!(print(&graph).matches("exp").count(), 1);
}

/// Additions at their own index are sums, others are scattered.
#[test]
fn accumulators_become_sums_where_each_place_has_its_index() {
    let text = "f [n] [m] (x : [n][m]real) (place : [m]int) {
  zeros : [m]real = fill 0.0
  acc : [m]real = accumulator zeros
  other : [m]real = accumulator zeros
  for i < n () {
    for j < m () {
      a : real = x[i, j]
      p : int = place[j]
      low : bool = le_int 0, p
      high : bool = lt_int p, m
      both : bool = and low, high
      check both \"no\" ()
      accumulate acc[j] += a
      accumulate other[p] += a
      =>
    }
    =>
  }
  columns : [m]real = freeze acc
  placed : [m]real = freeze other
  => columns : [m]real, placed : [m]real
}
";
    let graph = graph(text);
    let printed = print(&graph);
    assert_eq!(printed.matches("reduce add [i]").count(), 1, "{printed}");
    assert_eq!(printed.matches("scatter").count(), 1, "{printed}");
    let mut back = read(text).unwrap();
    through_graphs(&mut back, &mut |graph| graph);
    lambada_anf::check(&back).unwrap();
    assert_eq!(lambada_anf::print(&back).matches("accumulate ").count(), 1);
}

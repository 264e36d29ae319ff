//! The kernel for a step of a recurrence: one nest, with lanes for few indices, that reads and adds
//! without conditions.

use lambada_anf::{Function, Kernel, check, read};
use lambada_emit::{Outputs, emit, explained};
use lambada_graph::{Array, Node, Plan};

use crate::{Along, Choice, schedule};

/// Two steps backwards: `weights` is added to at two places, one after the other in lanes.
const STEP: &str = "
step [n] [b] [c] (w : [n]real) (x : [c][b]real) {
  size : int = mul_int b, 2
  t : bool = eq_int n, size
  check t \"sizes differ\" ()
  zeros : [n]real = fill 0.0
  weights : [n]real = accumulator zeros
  start : [b]real = fill 1.0
  last : [b]real = loop (y : [b]real = start) for k < c {
    z : [b]real = for j < b (collect) {
      at : int = add_int b, j
      w1 : real = w[at]
      x1 : real = x[k, j]
      y1 : real = y[j]
      t1 : real = mul w1, x1
      t2 : real = add t1, y1
      t3 : real = exp t2
      accumulate weights[j] += t3
      accumulate weights[at] += t1
      => t3
    }
    => z
  }
  all : [n]real = freeze weights
  => last : [b]real, all : [n]real
}
";

fn function(text: &str) -> Function {
    let function = read(text).unwrap_or_else(|e| panic!("{e:?}"));
    check(&function).unwrap_or_else(|e| panic!("{e:?}"));
    function
}

/// The function with kernels, and these.
fn scheduled(text: &str, lanes: u16, choice: Choice) -> (Function, Vec<Kernel>) {
    let found = schedule(&function(text), Plan::of(lanes), choice);
    check(&found).unwrap_or_else(|e| panic!("{e}\n{}", lambada_anf::print(&found)));
    let kernels = found.kernels();
    (found, kernels)
}

/// The best kernel for eight lanes, the only one.
fn only(text: &str) -> Kernel {
    let (function, mut found) = scheduled(text, 8, Choice::Best);
    assert_eq!(found.len(), 1, "{}", lambada_anf::print(&function));
    found.remove(0)
}

fn loops(kernel: &Kernel) -> String {
    let code = emit(&kernel.placed, Plan::of(8), Outputs::Given, kernel.runs);
    lambada_loops::print(&code)
}

/// The number of outputs other than accumulators.
fn given(kernel: &Kernel) -> usize {
    kernel.placed.graph.outputs.len() - kernel.added.len() - usize::from(kernel.checked)
}

fn only_step() -> Kernel {
    let (_, found) = scheduled(STEP, 8, Choice::Best);
    let mut inside = found.into_iter().filter(|kernel| !kernel.added.is_empty());
    let kernel = inside.next().expect("the step is a kernel");
    assert!(inside.next().is_none());
    kernel
}

#[test]
fn a_step_is_one_nest() {
    let kernel = only_step();
    assert_eq!((given(&kernel), kernel.added.len()), (1, 1));
    let code = loops(&kernel);
    // Eight lanes, and the remainder.
    assert_eq!(code.matches("for j in").count(), 2, "{code}");
    assert!(code.contains("of 8]") && !code.contains("real x 4"), "{code}");
    // Nothing is in a buffer in between: the additions use the values computed for the result.
    assert_eq!(code.matches("exp(").count(), 2, "{code}");
    assert!(!code.contains("alloc"), "{code}");
}

/// Statements that make one accumulator, add to it and freeze it, between additions to another one:
/// no run has a part of that.
#[test]
fn an_accumulator_is_all_in_a_run_or_outside_of_it() {
    let text = "
f [n] (x : [n]real) (y : [n]real) {
  zeros : [n]real = fill 0.0
  a : [n]real = accumulator zeros
  u : [n]real = for i < n (collect) {
    x1 : real = x[i]
    t1 : real = exp x1
    accumulate a[i] += t1
    => t1
  }
  last : [n]real = loop (z : [n]real = y) for k < n {
    b : [n]real = accumulator zeros
    half : real = mul 0.5, 3.0
    v : [n]real = for i < n (collect) {
      z1 : real = z[i]
      t2 : real = mul z1, half
      accumulate b[i] += t2
      accumulate a[i] += z1
      => t2
    }
    c : [n]real = freeze b
    => v
  }
  w : [n]real = for i < n (collect) {
    y1 : real = y[i]
    t3 : real = exp y1
    accumulate a[i] += t3
    => t3
  }
  all : [n]real = freeze a
  => u : [n]real, w : [n]real, last : [n]real, all : [n]real
}
";
    for choice in [
        Choice::Best,
        Choice::Any(0, Along::Block),
        Choice::Any(0, Along::Rows),
        Choice::Any(usize::MAX, Along::Rows),
    ] {
        let (_, found) = scheduled(text, 4, choice);
        assert!(found.iter().any(|kernel| !kernel.added.is_empty()));
    }
}

/// `b + j` is in range for all `j`, as the program has checked before.
#[test]
fn indices_that_stay_in_range_are_not_asked_about() {
    let code = loops(&only_step());
    assert!(!code.contains("if "), "{code}");
}

/// A loop that no nest can do, before others, which are one run nevertheless.
#[test]
fn a_statement_that_fits_no_run_stands_apart() {
    let text = "
f [n] [m] (x : [n]real) (y : [m][n]real) (at : [n]int) {
  w : [n][n]real = for i < n (collect) {
    x1 : real = x[i]
    row : [n]real = fill x1
    k : int = at[i]
    low : bool = le_int 0, k
    high : bool = lt_int k, n
    fits : bool = and low, high
    check fits \"index {0} is out of range for size {1}\" (k, n)
    row1 : [n]real = row with [k] = 0.0
    => row1
  }
  z : [m]real = for j < m (collect) {
    s : real = for i < n (reduce add) {
      y1 : real = y[j, i]
      w1 : real = w[i, i]
      t1 : real = mul y1, w1
      => t1
    }
    => s
  }
  o : [m]real = for j < m (collect) {
    z1 : real = z[j]
    t1 : real = exp z1
    => t1
  }
  => o : [m]real
}
";
    assert_eq!(given(&only(text)), 1);
}

/// Conditions on an axis that has an index are decided, and a result is computed where it belongs,
/// from rows that are copied once for many reads.
#[test]
fn a_product_of_matrices_is_its_result() {
    let text = "
f [n] [k] [m] (a : [n][k]real) (b : [k][m]real) {
  runs : bool = lt_int 0, m
  p : [n][m]real = matmul a, b
  c : [n][m]real = for i < n (collect) {
    row : [m]real = for j < m (collect) {
      s : real = p[i, j]
      z : real = if runs {
        => s
      } else {
        => 0.0
      }
      => z
    }
    => row
  }
  => c : [n][m]real
}
";
    let kernel = only(text);
    let told = explained(&kernel.placed, None, false);
    assert!(told.contains("the result c"), "{told}");
    assert!(!told.contains("store the result"), "{told}");
    let items = kernel.placed.passes.iter().flat_map(|pass| &pass.nests);
    let items: Vec<_> = items.flat_map(|nest| &nest.items).collect();
    assert_eq!(items.len(), 2, "a copy of rows of `b`, and the sums: {told}");
    assert_eq!(kernel.placed.buffers.iter().filter(|buffer| buffer.local).count(), 1, "{told}");
    let code = loops(&kernel);
    assert!(!code.contains("select"), "{code}");
}

/// A costly sum that the program takes only where there is something to sum stays under that
/// condition, and is a kernel.
#[test]
fn a_sum_under_a_condition_keeps_it() {
    let text = "
f [n] [m] (x : [n][m]real) {
  runs : bool = lt_int 0, m
  c : [n]real = for i < n (collect) {
    z : real = if runs {
      s : real = for j < m (reduce add) {
        x1 : real = x[i, j]
        t : real = exp x1
        => t
      }
      => s
    } else {
      => 0.0
    }
    => z
  }
  => c : [n]real
}
";
    let kernel = only(text);
    assert!(loops(&kernel).contains("if "));
    let nests = kernel.placed.passes.iter().flat_map(|pass| &pass.nests);
    assert!(nests.into_iter().any(|nest| nest.guard.is_some()));
}

/// An addition at `i + 1` in a loop over `i` that adds to an outer accumulator, too: the neighbor
/// reads it, in lanes.
#[test]
fn what_neighbors_add_is_read() {
    let text = "
f [n] (x : [n]real) (y : [n]real) {
  zeros : [n]real = fill 0.0
  all : [n]real = accumulator zeros
  last : [n]real = loop (z : [n]real = y) for k < 3 {
    a : [n]real = accumulator zeros
    s : real = for i < n (reduce add) {
      first : bool = eq_int i, 0
      z1 : real = z[i]
      t1 : real = exp z1
      u : real = if first {
        => t1
      } else {
        before : int = add_int i, -1
        x1 : real = x[i]
        t2 : real = mul t1, x1
        accumulate a[before] += t2
        accumulate all[i] += t1
        => 0.0
      }
      => u
    }
    half : real = mul s, 0.5
    b : [n]real = freeze a
    c : [n]real = for i < n (collect) {
      b1 : real = b[i]
      t3 : real = mul b1, half
      => t3
    }
    => c
  }
  w : [n]real = freeze all
  => last : [n]real, w : [n]real
}
";
    let kernel = only(text);
    assert_eq!((given(&kernel), kernel.added.len()), (1, 1));
    let graph = &kernel.placed.graph;
    // `all` is the only scattered array; the sum with one term is that term.
    let scatters = graph.arrays.iter().filter(|a| matches!(a, Array::Scatter(..)));
    assert_eq!(scatters.count(), 1, "{}", lambada_graph::print(graph));
    let reduces = graph.nodes.iter().filter(|n| matches!(n, Node::Reduce(..)));
    assert_eq!(reduces.count(), 0, "{}", lambada_graph::print(graph));
    let nests = kernel.placed.passes.iter().flat_map(|pass| &pass.nests);
    assert!(
        nests.into_iter().all(|nest| nest.axes.is_empty() || nest.vector.is_some()),
        "{}",
        explained(&kernel.placed, None, false)
    );
}

/// A result that is a matrix row by row is computed there, and neither copied nor divided for.
#[test]
fn a_matrix_row_by_row_is_no_copy() {
    let text = "
f [n] (x : [n][3]real) {
  a : [n][3]real = for i < n (collect) {
    row : [3]real = for j < 3 (collect) {
      x1 : real = x[i, j]
      t1 : real = exp x1
      => t1
    }
    => row
  }
  size : int = mul_int n, 3
  flat : [size]real = for e < size (collect) {
    i : int = div_int e, 3
    j : int = rem_int e, 3
    a1 : real = a[i, j]
    => a1
  }
  => flat : [size]real
}
";
    let kernel = only(text);
    let code = loops(&kernel);
    assert!(!code.contains("alloc") && !code.contains('%'), "{code}");
}

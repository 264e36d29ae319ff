//! Loops that copy rows are copies, at all sizes; all other loops stay loops.

use lambada_anf::read;
use lambada_loops::{self as loops, Stmt};
use lambada_prim::{Scalar, Tensor};

use super::{agrees, copies, count};

/// The lowered program of one integer, after a comparison of results for each of `numbers`.
fn lowered(text: &str, numbers: &[i64]) -> loops::Function {
    let f = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let run = |n: &i64| agrees(&f, &[Tensor::scalar(Scalar::Int(*n))]);
    let mut all: Vec<loops::Function> = numbers.iter().map(run).collect();
    all.pop().expect("some number")
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Nest(loops::Nest::For { .. }))
}

/// A function of the matrix of `n` rows whose elements are their numbers.
fn of_matrix(body: &str) -> String {
    format!(
        "main (n : int) {{
  rows : int = max_int n, 0
  xs : [rows][rows]real = for i < rows (collect) {{
    first : int = mul_int i, rows
    row : [rows]real = for j < rows (collect) {{
      ij : int = add_int first, j
      x : real = to_real ij
      => x
    }}
    => row
  }}
  less : int = sub_int rows, 1
  size : int = max_int less, 0
{body}
}}
"
    )
}

#[test]
fn rows_without_an_element_are_two_copies() {
    let text = of_matrix(
        "  k : int = div_int rows, 3
  ys : [size][size]real = for i < size (collect) {
    i1 : int = add_int i, 1
    row : [size]real = for j < size (collect) {
      before : bool = lt_int j, k
      j1 : int = add_int j, 1
      at : int = select_int before, j, j1
      y : real = xs[i1, at]
      => y
    }
    => row
  }
  => ys : [size][size]real",
    );
    let f = lowered(&text, &[-1, 0, 1, 2, 3, 4, 7, 30]);
    // The matrix is made by two loops; its rows without an element by one.
    assert_eq!((copies(&f.body), count(&f.body, is_loop)), (2, 3), "{}", loops::print(&f));
}

#[test]
fn what_reads_or_writes_elsewhere_is_no_copy() {
    let bodies = [
        // In reverse order.
        "    last : int = sub_int size, 1
    at : int = sub_int last, j
    y : real = xs[i, at]
    => y",
        // Always one element.
        "    y : real = xs[i, i]
    => y",
        // Along a column.
        "    y : real = xs[j, i]
    => y",
        // With another step.
        "    twice : int = add_int j, j
    at : int = rem_int twice, rows
    y : real = xs[i, at]
    => y",
        // A computed value.
        "    x : real = xs[i, j]
    y : real = neg x
    => y",
    ];
    for body in bodies {
        let text = of_matrix(&format!(
            "  ys : [size][size]real = for i < size (collect) {{
  row : [size]real = for j < size (collect) {{
{body}
  }}
  => row
  }}
  => ys : [size][size]real"
        ));
        let f = lowered(&text, &[0, 1, 2, 9]);
        assert_eq!((copies(&f.body), count(&f.body, is_loop)), (0, 4), "{}", loops::print(&f));
    }
}

/// Rows of a known length, one after the other: a loop over all positions is split by quotients,
/// and the rest of it copies each row. The start of each row is computed once.
#[test]
fn rows_of_a_split_loop_are_copies() {
    let text = "main [n] (v : [n]real) {
  xs : [n][5]real = for i < n (collect) {
    x : real = v[i]
    row : [5]real = for j < 5 (collect) {
      t : real = to_real j
      y : real = mul x, t
      => y
    }
    => row
  }
  size : int = mul_int n, 5
  zs : [3][size]real = for e < 3 (collect) {
    ys : [size]real = for k < size (collect) {
      q : int = div_int k, 5
      r : int = rem_int k, 5
      y : real = xs[q, r]
      => y
    }
    => ys
  }
  => zs : [3][size]real
}
";
    let f = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for n in [0, 1, 2, 7] {
        let v = (0..n).map(|k| f64::from(k as u32).sin()).collect();
        let lowered = agrees(&f, &[Tensor::reals(vec![n], v)]);
        assert!(copies(&lowered.body) > 0, "{}", loops::print(&lowered));
    }
}

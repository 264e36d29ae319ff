//! Loops that are arithmetic of arrays.

use super::{function, shown};

/// The body of the text.
fn text(body: &str) -> String {
    let shown = shown(&function(body), &[]);
    shown.split_once(" =").map(|(_, body)| body.trim_start().to_string()).expect("a definition")
}

#[test]
fn a_value_that_several_results_share_is_an_array_with_a_name() {
    let body =
        "s : real, ys : [n]real, zs : [n][n]real = for i < n (reduce add, collect, collect) {
  e : real = xs[i]
  diff : real = sub e, x
  squared : real = mul diff, diff
  minus : real = neg diff
  row : [n]real = for j < n (collect) {
    e : real = xs[j]
    t : real = mul e, diff
    => t
  }
  => squared, minus, row
}
=> s : real, ys : [n]real, zs : [n][n]real
";
    assert_eq!(text(body), "let diff = xs - x\n  (dot diff diff, -diff, outer diff xs)");
}

#[test]
fn an_operation_is_written_once() {
    let body = "s : real = for i < n (reduce add) {
  e : real = xs[i]
  diff : real = sub e, x
  t : real = exp diff
  => t
}
ys : [n]real = for i < n (collect) {
  e : real = xs[i]
  t : real = sub e, x
  u : real = div t, s
  => u
}
=> ys : [n]real
";
    assert_eq!(text(body), "let diff = xs - x\n  diff / sum (exp diff)");
}

/// Matrices are read across, and products of transposes are turned.
#[test]
fn matrices_are_read_in_both_orders() {
    let body = "a : [n][n]real = for i < n (collect) {
  row : [n]real = for j < n (collect) {
    e : real = xs[i]
    d : real = xs[j]
    t : real = mul e, d
    => t
  }
  => row
}
turned : [n][n]real = for i < n (collect) {
  row : [n]real = for j < n (collect) {
    t : real = a[j, i]
    => t
  }
  => row
}
p : [n][n]real = matmul a, turned
both : [n][n]real = for i < n (collect) {
  row : [n]real = for j < n (collect) {
    s : real = p[j, i]
    t : real = a[i, j]
    u : real = add s, t
    => u
  }
  => row
}
=> both : [n][n]real
";
    assert_eq!(text(body), "let a = outer xs xs\n  a @ transpose a + a");
}

/// A value that does not depend on the iteration would be computed for an empty range, too.
#[test]
fn an_element_of_every_iteration_stays_in_the_loop() {
    let body = "ys : [n]real, zs : [n]real = for i < n (collect, collect) {
  e : real = xs[i]
  first : real = xs[0]
  t : real = sub e, first
  u : real = exp t
  => t, u
}
=> ys : [n]real, zs : [n]real
";
    assert!(text(body).contains("for i < n"), "{}", text(body));
}

#[test]
fn the_place_of_an_extremum_is_found_in_an_array() {
    let body = "last : int = sub_int n, 1
some : bool = lt_int 0, n
check some \"an empty array\" ()
m : real = for i < n (reduce max) {
  e : real = xs[i]
  t : real = mul e, x
  => t
}
k : int = for i < n (reduce min) {
  e : real = xs[i]
  t : real = mul e, x
  is_it : bool = eq t, m
  is_nan : bool = ne t, t
  found : bool = or is_it, is_nan
  at : int = select_int found, i, last
  => at
}
=> k : int
";
    assert_eq!(text(body), "argmax (xs * x)");
}

#[test]
fn an_array_is_added_to_a_row() {
    let body = "acc : [n]real = accumulator xs
s : real = for i < n (reduce add) {
  e : real = xs[i]
  t : real = sin e
  u : real = mul t, x
  accumulate acc[i] += t
  => u
}
h : [n]real = freeze acc
=> s : real, h : [n]real
";
    assert_eq!(text(body), "let t = sin xs\n  (sum (t * x), xs + t)");
}

/// Elements at computed places, and additions to such, are loops beside the arithmetic.
#[test]
fn gathers_and_scatters_are_apart() {
    let body = "last : int = sub_int n, 1
acc : [n]real = accumulator xs
s : real, ys : [n]real = for i < n (reduce add, collect) {
  at : int = sub_int last, i
  e : real = xs[at]
  t : real = xs[i]
  p : real = mul e, t
  q : real = exp p
  u : real = mul q, x
  v : real = sub u, t
  accumulate acc[at] += v
  => q, v
}
h : [n]real = freeze acc
=> s : real, ys : [n]real, h : [n]real
";
    assert_eq!(
        text(body),
        "let last = n - 1
  let q = exp ((for i < n => xs[last - i]) * xs)
  let ys = q * x - xs
  let h = accumulate acc = xs in for i < n => acc[last - i] += ys[i]
  (sum q, ys, h)"
    );
}

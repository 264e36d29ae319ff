//! Optimization of calls and nodes, by texts before and after.

use lambada_anf::{Function, check, print, read};

use lambada_optimize::optimize;

fn optimized(text: &str) -> String {
    let program: Function = read(text).unwrap_or_else(|message| panic!("{message}\n{text}"));
    check(&program).unwrap_or_else(|message| panic!("{message}\n{text}"));
    print(&optimize(program))
}

/// `x` to the power of `2 ^ d`, with a parameter and a result that nobody needs. How the recursion
/// goes on is up to the test.
fn power(condition: &str, entry: &str) -> String {
    format!(
        "def power (d : int) (x : real) (unused : real) {{
  goes_on : bool = {condition}
  r : real, calls : int = if goes_on {{
    less : int = sub_int d, 1
    square : real = mul x, x
    s : real, c : int = call power (less, square, unused)
    t : real = sin s
    t1 : real = cos t
    t2 : real = mul t, t1
    more : int = add_int c, d
    => t2, more
  }} else {{
    => x, d
  }}
  => r : real, calls : int
}}
main (x : real) (k : int) {{
{entry}}}
"
    )
}

const ENDS: &str = "lt_int 0, d";
const MAY_NOT_END: &str = "ne_int d, 100";

#[test]
fn a_call_that_ends_and_nobody_needs_is_dropped() {
    let entry = "  y : real, c : int = call power (k, x, 0.5)\n  => x : real\n";
    assert_eq!(optimized(&power(ENDS, entry)), "main (x : real) (k : int) {\n  => x : real\n}\n");
    assert!(optimized(&power(MAY_NOT_END, entry)).contains("call power (k, x)"));
}

#[test]
fn equal_calls_are_one_and_leave_loops() {
    let entry = "  y : real, c : int = call power (k, x, 0.5)
  s : real = for i < 10 (reduce add) {
    z : real, c1 : int = call power (k, x, 0.25)
    w : real, c2 : int = call power (k, 3.0, 0.25)
    t : real = mul z, w
    ti : real = to_real i
    t1 : real = mul ti, t
    => t1
  }
  r : real = mul y, s
  => r : real
";
    let after = optimized(&power(ENDS, entry));
    // The unused parameter is gone; the result `calls` stays, because the recursion itself uses it.
    let main = &after[after.find("main").expect("the entry")..];
    assert_eq!(main.matches("call power (k, x)").count(), 1, "{after}");
    let (calls, loop_) = (main.rfind("call").expect("calls"), main.find("for i").expect("a loop"));
    assert!(calls < loop_, "{after}");
}

#[test]
fn small_functions_are_written_out_and_nodes_are_taken_apart() {
    let text = "type pair {
  Pair (a : real, b : real)
}
def swapped (p : ref pair) into (acc : real) {
  a : real = field p Pair.a
  b : real = field p Pair.b
  accumulate acc[] += a
  q : ref pair = node pair.Pair (b, a)
  => q : ref pair
}
main (x : real) (y : real) {
  acc : real = accumulator 1.0
  p : ref pair = node pair.Pair (x, y)
  q : ref pair = call swapped (p) into acc
  b : real = field q Pair.b
  t : int = tag q
  none : real = field 0 0:1
  sum : real = freeze acc
  => b : real, sum : real, t : int, none : real
}
";
    let after = optimized(text);
    let main = &after[after.find("main").expect("the entry")..];
    assert_eq!(
        main,
        "main (x : real) (y : real) {\n  acc : real = add x, 1.0\n  => x : real, acc : real, 0 : int, 0.0 : real\n}\n"
    );
    assert!(!after.contains("def"), "{after}");
}

#[test]
fn cells_are_read_after_additions() {
    let text = "type box {
  Box (cell sum : real)
}
main [n] (xs : [n]real) {
  b : ref box = node box.Box (0.0)
  for i < n () {
    x : real = xs[i]
    acc : real = open b Box.sum
    accumulate acc[] += x
    =>
  }
  ys : [n]real = for i < n (collect) {
    s : real = cell b Box.sum
    t : real = sin s
    => t
  }
  => ys : [n]real
}
";
    let after = optimized(text);
    assert_eq!(after.matches("for i < n").count(), 2, "{after}");
}

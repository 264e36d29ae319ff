//! Functions that add to accumulators of their callers, as people read them.

use lambada_anf::read;

use crate::library::shown;

/// `spread` adds to the accumulator of `main`, and calls itself with it.
const SPREAD: &str = "def spread (n : int) (k : int) (x : real) into (h : [n]real) {
  t : bool = le_int k, 0
  s : real = if t {
    => x
  } else {
    m : int = sub_int k, 1
    t1 : bool = le_int 0, m
    t2 : bool = lt_int m, n
    t3 : bool = and t1, t2
    check t3 \"index {0} is out of range for size {1}\" (m, n)
    accumulate h[m] += x
    y : real = mul x, x
    s1 : real = call spread (n, m, y) into h
    s2 : real = add s1, x
    => s2
  }
  => s : real
}
main (k : int) (x : real) {
  n : int = max_int k, 0
  zeros : [n]real = fill 0.0
  h : [n]real = accumulator zeros
  s : real = call spread (n, n, x) into h
  y : [n]real = freeze h
  sum : real = for i < n (reduce add) {
    v : real = y[i]
    => v
  }
  r : real = mul s, sum
  => r : real
}
";

#[test]
fn a_function_is_local_where_what_it_adds_to_is_made() {
    let program = read(SPREAD).expect("a program");
    let expected = "\
def main (k : int) (x : real) =
  let n = max k 0
  let (s, y) =
    accumulate h = for _ < n => 0.0 in
      let rec spread (n : int) (k : int) (x : real) : real =
        if k <= 0 then x
        else
          let m = k - 1
          let s1 = spread n m (x * x)
          h[m] += x; s1 + x
      spread n n x
  s * sum y
";
    assert_eq!(shown(&program).expect("it has a form"), expected);
}

/// `both` calls itself with its two accumulators exchanged, and returns nothing.
const BOTH: &str = "def both (k : int) (x : real) into (a : real, b : real) {
  t : bool = le_int k, 0
  if t {
    =>
  } else {
    accumulate a[] += x
    m : int = sub_int k, 1
    y : real = mul x, x
    call once (y) into b
    call both (m, y) into b, a
    =>
  }
  =>
}
def once (x : real) into (a : real) {
  y : real = sin x
  accumulate a[] += y
  =>
}
main (k : int) (x : real) {
  a : real = accumulator 0.0
  b : real = accumulator 1.0
  call both (k, x) into a, b
  y : real = freeze a
  z : real = freeze b
  => y : real, z : real
}
";

#[test]
fn one_definition_for_each_choice_of_accumulators() {
    let program = read(BOTH).expect("a program");
    let expected = "\
def main (k : int) (x : real) =
  accumulate a = 0.0, b = 1.0 in
    let once (x : real) : () = a += sin x
    let once1 (x : real) : () = b += sin x
    let rec both (k : int) (x : real) : () =
      if k <= 0 then ()
      else
        let y = x * x
        a += x; once1 y; both1 (k - 1) y
    and both1 (k : int) (x : real) : () =
      if k <= 0 then ()
      else
        let y = x * x
        b += x; once y; both (k - 1) y
    both k x
";
    assert_eq!(shown(&program).expect("it has a form"), expected);
}

/// `nested` calls itself with an accumulator that it makes, in a loop.
const NESTED: &str = "def nested (k : int) (x : real) into (a : real) {
  t : bool = le_int k, 0
  if t {
    =>
  } else {
    m : int = sub_int k, 1
    b : real = accumulator 0.0
    for i < 2 () {
      call nested (m, x) into b
      =>
    }
    y : real = freeze b
    z : real = add x, y
    accumulate a[] += z
    =>
  }
  =>
}
main (k : int) (x : real) {
  a : real = accumulator 0.0
  call nested (k, x) into a
  y : real = freeze a
  => y : real
}
";

#[test]
fn a_function_is_not_written_inside_of_itself() {
    let refused = shown(&read(NESTED).expect("a program")).expect_err("it has no end");
    assert!(refused.contains("`nested` adds to an accumulator of its caller"), "{refused}");
}

/// `mixed` passes on the accumulator that it gets, and one that it makes.
const MIXED: &str = "def mixed (k : int) (x : real) into (a : real, b : real) {
  t : bool = le_int k, 0
  if t {
    =>
  } else {
    m : int = sub_int k, 1
    c : real = accumulator 0.0
    call mixed (m, x) into a, c
    y : real = freeze c
    z : real = mul x, y
    accumulate a[] += x
    accumulate b[] += z
    =>
  }
  =>
}
main (k : int) (x : real) {
  a : real = accumulator 0.0
  b : real = accumulator 1.0
  call mixed (k, x) into a, b
  y : real = freeze a
  z : real = freeze b
  => y : real, z : real
}
";

#[test]
fn what_costs_no_more_is_returned_by_local_functions_too() {
    let program = read(MIXED).expect("a program");
    let expected = "\
def main (k : int) (x : real) =
  let (b, y) =
    accumulate a = 0.0 in
      let rec mixed (k : int) (x : real) : real =
        accumulate b = 0.0 in
          if k <= 0 then ()
          else
            let c = mixed (k - 1) x
            a += x; b += x * c
      mixed k x
  (y, 1.0 + b)
";
    assert_eq!(shown(&program).expect("it has a form"), expected);
}

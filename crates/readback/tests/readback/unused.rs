//! Unused bindings are not printed.

use lambada_anf::read;

use crate::library::shown;

/// Only a check mentions the sum of the counts.
const CHECKED: &str = "main (k : int) (x : real) {
  n : int = max_int k, 0
  zeros : [n]int = fill 0
  h : [n]int = accumulator zeros
  for i < n () {
    accumulate h[i] += 1
    =>
  }
  counts : [n]int = freeze h
  sum : int = for i < n (reduce add) {
    c : int = counts[i]
    => c
  }
  t : bool = le_int 0, sum
  check t \"negative: {0}\" (sum)
  y : real = mul x, x
  => y : real
}
";

#[test]
fn what_only_a_check_mentions_is_not_printed() {
    let text = shown(&read(CHECKED).expect("a program")).expect("it has a form");
    assert_eq!(text, "def main (k : int) (x : real) = x * x\n");
}

/// Nothing reads the sum of the call; the call may not terminate, so it stays.
const UNREAD: &str = "def down (k : int) (x : real) into (a : real) {
  t : bool = eq_int k, 0
  r : real = if t {
    => x
  } else {
    accumulate a[] += x
    m : int = sub_int k, 1
    y : real = call down (m, x) into a
    => y
  }
  => r : real
}
main (k : int) (x : real) {
  a : real = accumulator 0.0
  y : real = call down (k, x) into a
  z : real = freeze a
  => y : real
}
";

#[test]
fn an_accumulator_that_nothing_reads_has_no_name_outside() {
    let text = shown(&read(UNREAD).expect("a program")).expect("it has a form");
    let expected = "\
def main (k : int) (x : real) =
  let (y, _) =
    accumulate a = 0.0 in
      let rec down (k : int) (x : real) : real =
        if k == 0 then x
        else
          let y = down (k - 1) x
          a += x; y
      down k x
  y
";
    assert_eq!(text, expected);
}

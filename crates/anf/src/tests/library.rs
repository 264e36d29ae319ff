//! Programs with functions and nodes: the checker, the text and the evaluator.

use super::{accepts, rejects};
use crate::*;

/// A list, its sum by recursion that is not in tail position, and the derivative of that: shadows with cells.
const LISTS: &str = "type list {
  Nil
  Cons (head : real, tail : ref list)
}
type list_ct {
  Nil
  Cons (cell head : real, tail : ref list_ct)
}
def from (xs : [1000]real) (k : int) (n : int) {
  more : bool = lt_int k, n
  in_range : bool = lt_int k, 1000
  low : bool = le_int 0, k
  fine : bool = and in_range, low
  goes_on : bool = and more, fine
  r : ref list = if goes_on {
    x : real = xs[k]
    k1 : int = add_int k, 1
    rest : ref list = call from (xs, k1, n)
    r1 : ref list = node list.Cons (x, rest)
    => r1
  } else {
    r1 : ref list = node list.Nil ()
    => r1
  }
  => r : ref list
}
def sum (xs : ref list) {
  t : int = tag xs
  is_cons : bool = eq_int t, 1
  s : real = if is_cons {
    x : real = field xs Cons.head
    rest : ref list = field xs Cons.tail
    s1 : real = call sum (rest)
    both : real = mul x, s1
    s2 : real = add x, both
    => s2
  } else {
    => 1.0
  }
  => s : real
}
def shadow (xs : ref list) {
  t : int = tag xs
  is_cons : bool = eq_int t, 1
  s : ref list_ct = if is_cons {
    rest : ref list = field xs Cons.tail
    rest_ct : ref list_ct = call shadow (rest)
    s1 : ref list_ct = node list_ct.Cons (0.0, rest_ct)
    => s1
  } else {
    => 0
  }
  => s : ref list_ct
}
def sum_ct (xs : ref list) (xs_ct : ref list_ct) (ct : real) {
  t : int = tag xs
  is_cons : bool = eq_int t, 1
  if is_cons {
    x : real = field xs Cons.head
    rest : ref list = field xs Cons.tail
    s1 : real = call sum (rest)
    rest_ct : ref list_ct = field xs_ct Cons.tail
    below : real = mul ct, x
    call sum_ct (rest, rest_ct, below)
    head_ct : real = open xs_ct Cons.head
    factor : real = add 1.0, s1
    own : real = mul ct, factor
    accumulate head_ct[] += own
    =>
  } else {
    =>
  }
  =>
}
def harvest (xs_ct : ref list_ct) (k : int) (n : int) into (acc : [n]real) {
  t : int = tag xs_ct
  is_cons : bool = eq_int t, 1
  low : bool = le_int 0, k
  high : bool = lt_int k, n
  inside : bool = and low, high
  fine : bool = and is_cons, inside
  if fine {
    ct : real = cell xs_ct Cons.head
    accumulate acc[k] += ct
    rest : ref list_ct = field xs_ct Cons.tail
    k1 : int = add_int k, 1
    call harvest (rest, k1, n) into acc
    =>
  } else {
    =>
  }
  =>
}
main (xs : [1000]real) (n : int) {
  l : ref list = call from (xs, 0, n)
  y : real = call sum (l)
  l_ct : ref list_ct = call shadow (l)
  call sum_ct (l, l_ct, 1.0)
  zeros : [1000]real = fill 0.0
  acc : [1000]real = accumulator zeros
  call harvest (l_ct, 0, 1000) into acc
  xs_ct : [1000]real = freeze acc
  => y : real, xs_ct : [1000]real
}
";

fn reads(text: &str) -> Function {
    read(text).unwrap_or_else(|message| panic!("{message}\n{text}"))
}

#[test]
fn a_program_with_a_library_is_well_typed_and_reads_back() {
    let program = reads(LISTS);
    accepts(&program);
    assert_eq!(print(&program), LISTS);
    assert_eq!(program.library.nodes.len(), 2);
    assert_eq!(program.library.functions.len(), 5);
}

#[test]
fn names_in_texts_are_unique_and_can_be_read() {
    let mut program = reads(LISTS);
    for node in &mut program.library.nodes {
        node.name = "list of ℝ".into();
        node.constructors[1].name = "2".into();
    }
    program.library.functions.iter_mut().flatten().for_each(|f| f.name = "f⇒".into());
    let text = print(&program);
    assert!(text.contains("def f1 ") && text.contains("ref list_of1"), "{text}");
    accepts(&reads(&text));
    assert_eq!(print(&reads(&text)), text);
}

#[test]
fn a_part_of_null_has_numbers_for_names() {
    let text = "type t {\n  C (x : real, cell y : real)\n}\nf {\n  x : real = field 0 0:0\n  y : real = cell 0 0:1\n  => x : real, y : real\n}\n";
    let program = reads(text);
    accepts(&program);
    assert_eq!(print(&program), text);
}

/// The program with another text for some of it is rejected, with this message.
fn broken(from: &str, to: &str, message: &str) {
    assert!(LISTS.contains(from), "{from}");
    rejects(&reads(&LISTS.replacen(from, to, 1)), message);
}

#[test]
fn checker_knows_calls_and_nodes() {
    let cases = [
        ("call from (xs, 0, n)", "call from (xs, 0)", "are 2, not 3"),
        ("call from (xs, 0, n)", "call from (xs, 0, xs)", "has type [Int(1000)]real, not int"),
        ("call sum (l)\n", "call sum (0.0)\n", "has type real, not ref list"),
        ("l : ref list = call from", "l : real = call from", "has type real, not ref list"),
        ("node list.Cons (x, rest)", "node list.Cons (x, 0.0)", "has type real, not ref list"),
        ("node list.Nil ()", "node list.Nil (k)", "1 fields, not 0"),
        ("t : int = tag xs", "t : int = tag 1", "Int(1) is int, not a handle"),
        ("field xs Cons.head", "cell xs Cons.head", "is a cell is false"),
        ("cell xs_ct Cons.head", "field xs_ct Cons.head", "is a cell is true"),
        ("head_ct : real = open", "head_ct : int = open", "is bound as int"),
        ("accumulate head_ct[] += own", "frozen : real = freeze head_ct", "made in another block"),
        (
            "call harvest (l_ct, 0, 1000) into acc",
            "call harvest (l_ct, 0, 1000)",
            "0 accumulators, not 1",
        ),
        (
            "call harvest (l_ct, 0, 1000) into acc",
            "call harvest (l_ct, 0, 999) into acc",
            "acc_6 has type",
        ),
        (
            "  call harvest (l_ct, 0, 1000) into acc\n  xs_ct : [1000]real = freeze acc\n",
            "  xs_ct : [1000]real = freeze acc\n  call harvest (l_ct, 0, 1000) into acc\n",
            "is frozen already",
        ),
        ("fine : bool = and in_range, low", "fine : bool = and low, low", "not evidently in range"),
        ("=> y : real, xs_ct", "=> l : ref list, xs_ct", "takes or gives handles"),
        ("cell head : real", "cell head : bool", "a cell holds numbers"),
        ("cell head : real", "cell head : real, more : [head]real", "its sizes are constants"),
    ];
    for (from, to, message) in cases {
        broken(from, to, message);
    }
    let mut unfinished = reads(LISTS);
    unfinished.library.functions[1] = None;
    rejects(&unfinished, "there is no function 1 yet");
}

/// Arrays in nodes, whose sizes are fields, and results with sizes.
const ARRAYS: &str = "type chunk {
  Chunk (n : int, xs : [n]real, next : ref chunk)
}
def make (m : int) {
  xs : [m]real = fill 2.5
  c : ref chunk = node chunk.Chunk (m, xs, 0)
  => c : ref chunk
}
def elements (c : ref chunk) {
  n : int = field c Chunk.n
  xs : [n]real = field c Chunk.xs
  => n : int, xs : [n]real
}
main (m : int) {
  c : ref chunk = call make (m)
  n : int, xs : [n]real = call elements (c)
  none : ref chunk = field c Chunk.next
  zeros : [m]real = field none Chunk.xs
  => n : int, xs : [n]real, zeros : [m]real
}
";

#[test]
fn arrays_in_nodes_have_the_sizes_of_fields() {
    let program = reads(ARRAYS);
    accepts(&program);
    assert_eq!(print(&program), ARRAYS);
    let rejected = |from: &str, to: &str, message: &str| {
        rejects(&reads(&ARRAYS.replacen(from, to, 1)), message)
    };
    rejected("node chunk.Chunk (m, xs, 0)", "node chunk.Chunk (3, xs, 0)", "the field xs has type");
    rejected("xs : [n]real = call", "xs : [m]real = call", "has type [m_0]real");
    rejected("xs : [n]real = field c", "xs : [n][n]real = field c", "is bound as");
}

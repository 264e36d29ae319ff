//! Programs with functions and nodes: their results, and that they make no unneeded copies and keep
//! no unneeded memory.

use lambada_anf::read;
use lambada_loops::{self as loops, Counts};
use lambada_prim::{Scalar, Tensor};

use super::{agrees, copies};

fn int(value: i64) -> Tensor {
    Tensor::scalar(Scalar::Int(value))
}

/// Lowers, checks, and compares with the evaluator of anf for these numbers.
fn program(text: &str, numbers: &[i64]) -> loops::Function {
    let f = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let lowered: Vec<loops::Function> = numbers.iter().map(|n| agrees(&f, &[int(*n)])).collect();
    lowered.into_iter().next().expect("some number")
}

fn costs(f: &loops::Function, n: i64) -> Counts {
    let outcome = loops::eval_counted(f, &[int(n)]);
    outcome.unwrap_or_else(|e| panic!("{}\n{}", e.message, loops::print(f))).1
}

/// The copies in all functions.
fn all_copies(f: &loops::Function) -> usize {
    f.all().map(|each| copies(&each.body)).sum()
}

const FILLED: &str = "def filled (i : int) (n : int) (xs : [n]real) {
  goes_on : bool = lt_int i, n
  r : [n]real = if goes_on {
    x : real = to_real i
    ys : [n]real = xs with [i] = x
    i1 : int = add_int i, 1
    zs : [n]real = call filled (i1, n, ys)
    => zs
  } else {
    => xs
  }
  => r : [n]real
}
main (n : int) {
  zeros : [n]real = fill 0.0
  xs : [n]real = call filled (0, n, zeros)
  => xs : [n]real
}
";

#[test]
fn an_array_that_is_handed_on_is_updated_in_place() {
    let f = program(FILLED, &[0, 1, 7]);
    assert_eq!(all_copies(&f), 0, "{}", loops::print(&f));
    let (few, many) = (costs(&f, 1_000), costs(&f, 10_000));
    assert_eq!((many.written, many.allocated), (10 * few.written, 10 * few.allocated));
}

#[test]
fn an_array_that_is_needed_later_is_copied_by_who_calls() {
    let both = FILLED.replacen(
        "  => xs : [n]real\n}\n",
        "  ys : [n]real = call filled (1, n, xs)\n  zs : [n]real = call filled (2, n, zeros)\n  => xs : [n]real, ys : [n]real, zs : [n]real\n}\n",
        1,
    );
    // The first call copies `zeros`, the second `xs`; the third takes `zeros` over.
    assert_eq!(all_copies(&program(&both, &[0, 1, 7])), 2);
}

#[test]
fn an_array_that_is_given_twice_is_not_written_to_under_the_other_name() {
    program(
        "def mixed (n : int) (xs : [n]real) (ys : [n]real) {
  x : real = ys[0]
  a : [n]real = xs with [0] = 7.0
  y : real = ys[0]
  b : [n]real = ys with [0] = 8.0
  z : real = a[0]
  s : real = add x, y
  t : real = add s, z
  => a : [n]real, t : real, b : [n]real
}
main (n : int) {
  ones : [n]real = fill 1.0
  a : [n]real, t : real, b : [n]real = call mixed (n, ones, ones)
  => a : [n]real, t : real, b : [n]real
}
",
        &[1, 3],
    );
}

#[test]
fn results_are_built_where_they_are_wanted() {
    let f = program(
        "def row (i : int) (n : int) {
  xs : [n]int = for j < n (collect) {
    x : int = mul_int i, j
    => x
  }
  => xs : [n]int
}
main (n : int) {
  m : [n][n]int = for i < n (collect) {
    xs : [n]int = call row (i, n)
    => xs
  }
  => m : [n][n]int
}
",
        &[0, 1, 5],
    );
    assert_eq!(all_copies(&f), 0, "{}", loops::print(&f));
    assert_eq!(costs(&f, 50).allocated, 50 * 50 * 8);
}

#[test]
fn what_a_function_makes_is_handed_out() {
    program(
        "def made (n : int) (again : int) {
  m : int = add_int n, again
  xs : [m]real = fill 1.5
  is_last : bool = le_int again, 0
  k : int, ys : [k]real = if is_last {
    => m, xs
  } else {
    less : int = sub_int again, 1
    k1 : int, zs : [k1]real = call made (n, less)
    => k1, zs
  }
  => m : int, xs : [m]real, k : int, ys : [k]real, again : int
}
main (n : int) {
  m : int, xs : [m]real, k : int, ys : [k]real, again : int = call made (n, 0)
  => m : int, xs : [m]real, k : int, ys : [k]real, again : int
}
"
        .replace("    k1 : int, zs : [k1]real = call made (n, less)\n    => k1, zs\n", "    k0 : int, us : [k0]real, k1 : int, zs : [k1]real, none : int = call made (n, less)\n    => k1, zs\n")
        .as_str(),
        &[1, 4],
    );
}

#[test]
fn accumulators_go_by_reference() {
    let f = program(
        "def count (i : int) (n : int) into (sum : real, all : [n]real) {
  goes_on : bool = lt_int i, n
  if goes_on {
    x : real = to_real i
    accumulate sum[] += x
    accumulate all[i] += x
    i1 : int = add_int i, 1
    call count (i1, n) into sum, all
    accumulate all[i] += 0.5
    =>
  } else {
    =>
  }
  =>
}
main (n : int) {
  sum : real = accumulator 0.25
  zeros : [n]real = fill 0.0
  all : [n]real = accumulator zeros
  call count (0, n) into sum, all
  s : real = freeze sum
  xs : [n]real = freeze all
  => s : real, xs : [n]real
}
",
        &[0, 1, 6],
    );
    assert_eq!(all_copies(&f), 0);
}

/// A list that is built and folded, as deep as it is long.
const LIST: &str = "type list {
  Nil
  Cons (head : real, tail : ref list)
}
def from (n : int) {
  goes_on : bool = lt_int 0, n
  r : ref list = if goes_on {
    x : real = to_real n
    m : int = sub_int n, 1
    rest : ref list = call from (m)
    r1 : ref list = node list.Cons (x, rest)
    => r1
  } else {
    r2 : ref list = node list.Nil ()
    => r2
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
    s2 : real = add x, s1
    => s2
  } else {
    => 0.0
  }
  => s : real
}
";

#[test]
fn lists_may_be_long() {
    let main = "main (n : int) {\n  l : ref list = call from (n)\n  s : real = call sum (l)\n  => s : real\n}\n";
    program(&format!("{LIST}{main}"), &[0, 3, 1_000_000]);
}

#[test]
fn iterations_release_their_nodes() {
    let main = "main (n : int) {
  s : real = for i < n (reduce add) {
    l : ref list = call from (5)
    t : real = call sum (l)
    => t
  }
  => s : real
}
";
    let f = program(&format!("{LIST}{main}"), &[0, 3]);
    assert_eq!(costs(&f, 10).peak, costs(&f, 1000).peak);
}

#[test]
fn iterations_keep_the_nodes_of_their_state() {
    let main = "main (n : int) {
  l : ref list = loop (l0 : ref list = 0) for i < n {
    xs : [3]real = fill 1.0
    x : real = xs[2]
    m : ref list = node list.Cons (x, l0)
    => m
  }
  all : [n]ref list = for i < n (collect) {
    m1 : ref list = call from (i)
    => m1
  }
  s : real = call sum (l)
  ss : [n]real = for i < n (collect) {
    m2 : ref list = all[i]
    s1 : real = call sum (m2)
    => s1
  }
  => s : real, ss : [n]real
}
";
    program(&format!("{LIST}{main}"), &[0, 1, 20]);
}

#[test]
fn a_function_that_makes_no_nodes_keeps_nothing() {
    let nth = "def nth (xs : ref list) (k : int) {
  goes_on : bool = lt_int 0, k
  scratch : [100]real = fill 1.0
  x : real = scratch[3]
  r : ref list = if goes_on {
    rest : ref list = field xs Cons.tail
    less : int = sub_int k, 1
    r1 : ref list = call nth (rest, less)
    => r1
  } else {
    => xs
  }
  y : real = field r Cons.head
  z : real = add x, y
  => r : ref list, z : real
}
"
    .replace("r1 : ref list = call", "r1 : ref list, z1 : real = call");
    let main = "main (n : int) {
  l : ref list = call from (20)
  s : real = for i < n (reduce add) {
    m : ref list, z : real = call nth (l, 7)
    x : real = field m Cons.head
    y : real = add x, z
    => y
  }
  => s : real
}
";
    let f = program(&format!("{LIST}{nth}{main}"), &[0, 3]);
    assert_eq!(costs(&f, 10).peak, costs(&f, 1000).peak);
}

/// Nodes with arrays and cells, and the parts of null.
#[test]
fn arrays_and_cells_of_nodes() {
    let f = program(
        "type chunk {
  End
  Chunk (n : int, xs : [n]real, next : ref chunk, cell sum : real, cell all : [n]real)
}
def make (m : int) {
  goes_on : bool = lt_int 0, m
  c : ref chunk = if goes_on {
    less : int = sub_int m, 1
    rest : ref chunk = call make (less)
    x : real = to_real m
    xs : [m]real = fill x
    zeros : [m]real = fill 0.0
    c1 : ref chunk = node chunk.Chunk (m, xs, rest, 0.0, zeros)
    => c1
  } else {
    => 0
  }
  => c : ref chunk
}
def add_all (c : ref chunk) (m : int) {
  goes_on : bool = lt_int 0, m
  if goes_on {
    n : int = field c Chunk.n
    xs : [n]real = field c Chunk.xs
    all : [n]real = open c Chunk.all
    sum : real = open c Chunk.sum
    for i < n () {
      x : real = xs[i]
      accumulate all[i] += x
      accumulate sum[] += x
      =>
    }
    accumulate all[] += xs
    call add_to (2.0) into sum
    next : ref chunk = field c Chunk.next
    less : int = sub_int m, 1
    call add_all (next, less)
    call add_all (next, less)
    =>
  } else {
    =>
  }
  =>
}
def add_to (x : real) into (sum : real) {
  accumulate sum[] += x
  =>
}
main (m : int) {
  c : ref chunk = call make (m)
  call add_all (c, m)
  more : int = add_int m, 2
  call add_all (c, more)
  sum : real = cell c Chunk.sum
  n : int = field c Chunk.n
  all : [n]real = cell c Chunk.all
  next : ref chunk = field c Chunk.next
  n1 : int = field next Chunk.n
  all1 : [n1]real = cell next Chunk.all
  sum1 : real = cell next Chunk.sum
  => sum : real, n : int, all : [n]real, n1 : int, all1 : [n1]real, sum1 : real
}
",
        &[0, 1, 3],
    );
    assert_eq!(all_copies(&f), 0, "{}", loops::print(&f));
}

/// A function and loops that make nodes, with arrays as temporaries.
const LISTS: &str = "type list {
  nil
  cons (x : real, next : ref list)
}
def cell (i : int) (next : ref list) {
  k : int = rem_int i, 7
  size : int = add_int k, 90
  xs : [size]real = for j < size (collect) {
    ij : int = mul_int i, j
    x : real = to_real ij
    => x
  }
  x : real = xs[1]
  list : ref list = node list.cons (x, next)
  => list : ref list
}
main (n : int) {
  all : [n]ref list = for i < n (collect) {
    size : int = add_int i, 1
    xs : [size]real = for j < size (collect) {
      ij : int = sub_int j, i
      x : real = to_real ij
      => x
    }
    x : real = xs[0]
    last : ref list = node list.cons (x, 0)
    list : ref list = call cell (i, last)
    => list
  }
  list : ref list = loop (list : ref list = 0) for i < n {
    next : ref list = call cell (i, list)
    => next
  }
  first : real = field list cons.x
  s : real = for i < n (reduce add) {
    list : ref list = all[i]
    x : real = field list cons.x
    next : ref list = field list cons.next
    y : real = field next cons.x
    z : real = add x, y
    => z
  }
  => first : real, s : real
}
";

#[test]
fn what_makes_nodes_keeps_nothing_else() {
    let f = program(LISTS, &[0, 1, 5, 20]);
    let text = loops::print(&f);
    assert_eq!(text.matches("scope, nodes stay").count(), 3, "{text}");
    let [few, many] = [200, 400].map(|n| costs(&f, n).peak);
    // Three nodes of three words for each number, one handle in an array, and an array of the
    // numbers so far.
    assert!(many - few <= 200 * 8 * (9 + 1 + 2), "{few} and {many} bytes");
}

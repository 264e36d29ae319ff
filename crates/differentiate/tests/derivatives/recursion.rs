//! Functions that call functions, and nodes: the laws to the second order, and costs.

use lambada_anf::Random;
use lambada_prim::Tensor;

use crate::laws::{CLOSELY, Outcome, laws, like, same};
use crate::program::{Point, Program};

/// Lists of reals, made from an array, folded, mapped.
pub const LISTS: &str = "type list {
  Nil
  Cons (head : real, tail : ref list)
}
def from (xs : [5]real) (k : int) {
  more : bool = lt_int k, 5
  low : bool = le_int 0, k
  fine : bool = and more, low
  r : ref list = if fine {
    x : real = xs[k]
    k1 : int = add_int k, 1
    rest : ref list = call from (xs, k1)
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
    s2 : real = sin both
    s3 : real = add x, s2
    => s3
  } else {
    => 1.0
  }
  => s : real
}
def square (xs : ref list) (by : real) {
  t : int = tag xs
  is_cons : bool = eq_int t, 1
  s : ref list = if is_cons {
    x : real = field xs Cons.head
    rest : ref list = field xs Cons.tail
    above : ref list = call square (rest, x)
    y : real = mul x, x
    z : real = mul y, by
    s1 : ref list = node list.Cons (z, above)
    => s1
  } else {
    => 0
  }
  => s : ref list
}
";

/// Reals for the parameters of a program, in which sizes are constants.
pub fn point(program: &Program, random: &mut Random) -> Point {
    let zeros = |p: &lambada_anf::Param| {
        let dims: Vec<usize> =
            p.ty.dims.iter().map(|d| d.as_lit().map_or(0, |n| n.int() as usize)).collect();
        let len = dims.iter().product();
        Tensor::reals(dims, vec![0.0; len])
    };
    let zeros: Vec<Tensor> = program.f.params.iter().map(zeros).collect();
    Point { constants: Vec::new(), params: like(random, &zeros) }
}

fn holds(what: &str, program: &Program, at: &Point, random: &mut Random, closely: f64) {
    match laws(program, at, random, closely) {
        Ok(Outcome::Holds(_)) => {}
        Ok(other) => panic!("{what}: {other:?}"),
        Err(message) => panic!("{what}: {message}"),
    }
}

/// The laws for a program and for its derivatives.
fn twice(library: &str, main: &str) {
    let program = Program::read(&format!("{library}{main}"));
    let mut random = Random(17);
    for _ in 0..3 {
        let at = point(&program, &mut random);
        holds("first", &program, &at, &mut random, CLOSELY);
        let (primal, _) = program.run(&at).expect("the program runs");
        let orders = [
            ("forward", program.forward(), like(&mut random, &at.params)),
            ("reverse", program.reverse(), like(&mut random, &primal)),
            ("reverse as source", program.reverse_as_source(), like(&mut random, &primal)),
        ];
        let both = Point { params: [&at.params[..], &orders[1].2].concat(), ..at.clone() };
        let [found, expected] =
            [&orders[2].1, &orders[1].1].map(|p| p.run(&both).expect("it runs").0);
        same(&found, &expected, CLOSELY).unwrap_or_else(|message| panic!("as source: {message}"));
        for (what, derivative, extra) in orders {
            let at = Point { params: [at.params.clone(), extra].concat(), ..at.clone() };
            holds(what, &derivative, &at, &mut random, 10.0 * CLOSELY);
        }
    }
}

#[test]
fn calls_of_functions_of_reals() {
    let power = "def power (x : real) (n : int) {
  more : bool = lt_int 0, n
  y : real = if more {
    n1 : int = sub_int n, 1
    y1 : real = call power (x, n1)
    y2 : real = mul y1, x
    y3 : real = sin y2
    => y3
  } else {
    => x
  }
  => y : real
}
";
    twice(power, "main (x : real) {\n  y : real = call power (x, 4)\n  => y : real\n}\n");
}

#[test]
fn folds_of_lists() {
    let main = "main (xs : [5]real) {
  l : ref list = call from (xs, 0)
  y : real = call sum (l)
  => y : real
}
";
    twice(LISTS, main);
}

#[test]
fn nodes_that_are_shared() {
    let main = "main (xs : [5]real) (x : real) {
  l : ref list = call from (xs, 0)
  m : ref list = call square (l, x)
  both : ref list = node list.Cons (x, m)
  y : real = call sum (both)
  z : real = call sum (m)
  w : real = call sum (l)
  t : real = mul y, z
  s : real = mul t, w
  => s : real, y : real
}
";
    twice(LISTS, main);
}

/// `main` over lists.
fn lists(main: &str) {
    twice(LISTS, main);
}

#[test]
fn arrays_of_handles() {
    lists(
        "main (xs : [5]real) {
  ls : [5]ref list = for i < 5 (collect) {
    l : ref list = call from (xs, i)
    => l
  }
  s : real = for i < 5 (reduce add) {
    l : ref list = ls[i]
    y : real = call sum (l)
    z : real = mul y, y
    => z
  }
  ms : [5]ref list = for i < 5 (collect) {
    j : int = sub_int 4, i
    l : ref list = ls[j]
    x : real = xs[i]
    m : ref list = node list.Cons (x, l)
    => m
  }
  l2 : ref list = ls[2]
  ns : [5]ref list = ms with [1] = l2
  u : real = for i < 5 (reduce add) {
    l : ref list = ns[i]
    y : real = call sum (l)
    => y
  }
  both : real = mul s, u
  => both : real
}
",
    );
}

#[test]
fn lists_that_loops_build() {
    let loops = |head: &str, index: &str, test: &str, next: &str| {
        format!(
            "main (xs : [5]real) (x : real) {{
  l : ref list, p : real{head}
    e : real = xs[{index}]
    m : real = mul e, q
    h1 : ref list = node list.Cons (m, h)
    s : real = call sum (h1)
    q1 : real = sin s
    {test}
    => h1, q1{next}
  }}
  y : real = call sum (l)
  z : real = mul y, p
  => z : real
}}
"
        )
    };
    let state = "h : ref list = 0, q : real = x";
    lists(&loops(&format!(" = loop ({state}) for i < 5 {{"), "i", "", ""));
    let head = format!(
        ", n : int = loop ({state}, k : int = 0) while {{\n a : bool = lt_int k, 5\n => a\n }} do {{"
    );
    lists(&loops(&head, "k", "k1 : int = add_int k, 1", ", k1"));
    for policy in ["sqrt", "2"] {
        let head = format!(" = loop ({state}) for i < 5 checkpoint {policy} {{");
        lists(&loops(&head, "i", "", ""));
    }
}

#[test]
fn branches_with_nodes() {
    lists(
        "main (xs : [5]real) (x : real) {
  l : ref list = call from (xs, 0)
  c : bool = lt x, 0.3
  m : ref list = if c {
    m1 : ref list = call square (l, x)
    => m1
  } else {
    => l
  }
  s : real = for i < 4 (reduce add) {
    r : real = xs[i]
    d : bool = lt r, x
    y : real = if d {
      n : ref list = node list.Cons (r, m)
      y1 : real = call sum (n)
      => y1
    } else {
      y2 : real = mul r, x
      => y2
    }
    => y
  }
  => s : real
}
",
    );
}

#[test]
fn arrays_that_are_passed() {
    let library = "def even (n : int) (xs : [n]real) (k : int) {
  more : bool = lt_int k, n
  y : real = if more {
    x : real = xs[k]
    k1 : int = add_int k, 1
    rest : real = call odd (n, xs, k1)
    p : real = mul x, rest
    s : real = sin p
    => s
  } else {
    => 1.5
  }
  => y : real
}
def odd (n : int) (xs : [n]real) (k : int) {
  more : bool = lt_int k, n
  y : real = if more {
    ys : [n]real = for i < n (collect) {
      e : real = xs[i]
      f : real = mul e, 0.9
      => f
    }
    x : real = xs[k]
    k1 : int = add_int k, 1
    rest : real = call even (n, ys, k1)
    q : real = mul x, x
    s : real = add q, rest
    => s
  } else {
    => 0.5
  }
  => y : real
}
def smooth (n : int) (xs : [n]real) (d : int) {
  go : bool = lt_int 0, d
  ys : [n]real = if go {
    zs : [n]real = for i < n (collect) {
      x : real = xs[i]
      s : real = sin x
      => s
    }
    d1 : int = sub_int d, 1
    ws : [n]real = call smooth (n, zs, d1)
    => ws
  } else {
    => xs
  }
  => ys : [n]real
}
";
    let main = "main (xs : [4]real) {
  y : real = call even (4, xs, 0)
  ws : [4]real = call smooth (4, xs, 3)
  s : real = for i < 4 (reduce add) {
    w : real = ws[i]
    v : real = mul w, y
    => v
  }
  => s : real, ws : [4]real
}
";
    twice(library, main);
}

/// Arrays whose sizes are results.
const GROW: &str = "def grow (x : real) (d : int) {
  go : bool = lt_int 0, d
  n : int, ys : [n]real = if go {
    d1 : int = sub_int d, 1
    x1 : real = sin x
    m : int, zs : [m]real = call grow (x1, d1)
    m1 : int = add_int m, 1
    ws : [m1]real = for i < m1 (collect) {
      first : bool = eq_int i, 0
      y : real = if first {
        => x
      } else {
        j : int = sub_int i, 1
        z : real = zs[j]
        zx : real = mul z, x
        => zx
      }
      => y
    }
    => m1, ws
  } else {
    one : [1]real = fill x
    => 1, one
  }
  => n : int, ys : [n]real
}
";

#[test]
fn arrays_whose_sizes_are_results() {
    let main = "main (x : real) {
  n : int, ys : [n]real = call grow (x, 3)
  s : real = for i < n (reduce add) {
    y : real = ys[i]
    z : real = mul y, y
    => z
  }
  => s : real
}
";
    twice(GROW, main);
    // In loops, they are kept in nodes.
    let sum = "n : int, ys : [n]real = call grow (e, i)
    s : real = for j < n (reduce add) {
      y : real = ys[j]
      z : real = mul y, y
      => z
    }";
    let main = format!(
        "main (xs : [4]real) {{
  t : real = for i < 4 (reduce add) {{
    e : real = xs[i]
    {sum}
    => s
  }}
  u : real = loop (q : real = t) for i < 4 {{
    e0 : real = xs[i]
    e1 : real = mul e0, q
    e : real = sin e1
    {sum}
    c : bool = lt s, 0.7
    r : real = if c {{
      m : int, ws : [m]real = call grow (s, i)
      k : int = sub_int m, 1
      w : real = ws[k]
      v : real = mul w, w
      => v
    }} else {{
      => s
    }}
    => r
  }}
  => u : real
}}
"
    );
    twice(GROW, &main);
}

#[test]
fn arrays_in_nodes() {
    let library = "type chunk {
  Nil
  Chunk (n : int, xs : [n]real, name : bool, next : ref chunk)
}
def build (k : int) (x : real) {
  go : bool = lt_int 0, k
  c : ref chunk = if go {
    xs : [k]real = for i < k (collect) {
      r : real = to_real i
      y : real = mul r, x
      z : real = cos y
      => z
    }
    k1 : int = sub_int k, 1
    x1 : real = mul x, 0.9
    rest : ref chunk = call build (k1, x1)
    c1 : ref chunk = node chunk.Chunk (k, xs, go, rest)
    => c1
  } else {
    c2 : ref chunk = node chunk.Nil ()
    => c2
  }
  => c : ref chunk
}
def fold (c : ref chunk) {
  t : int = tag c
  is : bool = eq_int t, 1
  y : real = if is {
    n : int = field c Chunk.n
    xs : [n]real = field c Chunk.xs
    s : real = for i < n (reduce add) {
      e : real = xs[i]
      q : real = mul e, e
      => q
    }
    e0 : real = xs[0]
    next : ref chunk = field c Chunk.next
    r : real = call fold (next)
    p : real = mul r, e0
    y1 : real = add s, p
    => y1
  } else {
    => 0.8
  }
  => y : real
}
";
    let main = "main (x : real) {
  c : ref chunk = call build (3, x)
  n : int = field c Chunk.n
  xs : [n]real = field c Chunk.xs
  d : ref chunk = node chunk.Chunk (n, xs, true, c)
  y : real = call fold (c)
  z : real = call fold (d)
  p : real = mul y, z
  => p : real
}
";
    twice(library, main);
}

#[test]
fn accumulators_that_are_passed() {
    let library = "def add_all (k : int) (x : real) (ys : [5]real) into (acc : [5]real) {
  go : bool = lt_int k, 5
  if go {
    y : real = ys[k]
    z : real = mul y, x
    accumulate acc[k] += z
    k1 : int = add_int k, 1
    x1 : real = sin x
    call add_all (k1, x1, ys) into acc
    =>
  } else {
    =>
  }
  =>
}
";
    let main = "main (x : real) (xs : [5]real) {
  acc : [5]real = accumulator xs
  call add_all (0, x, xs) into acc
  for i < 3 () {
    e : real = xs[i]
    call add_all (i, e, xs) into acc
    =>
  }
  ys : [5]real = freeze acc
  s : real = for i < 5 (reduce add) {
    y : real = ys[i]
    e : real = xs[i]
    z : real = mul y, e
    => z
  }
  => s : real, ys : [5]real
}
";
    twice(library, main);
}

/// The deciding iteration of an extremum runs a second time for its derivative, without additions.
#[test]
fn extrema_of_calls_that_add() {
    let library = "def step (k : int) (x : real) into (acc : [5]real) {
  y : real = sin x
  accumulate acc[k] += y
  => y : real
}
def most (x : real) (xs : [5]real) into (acc : [5]real) {
  m : real = for i < 5 (reduce max) {
    e : real = xs[i]
    p : real = mul e, x
    y : real = call step (i, p) into acc
    z : real = mul y, x
    => z
  }
  => m : real
}
";
    let main = "main (x : real) (xs : [5]real) {
  acc : [5]real = accumulator xs
  m : real = call most (x, xs) into acc
  n : real = for i < 5 (reduce min) {
    e : real = xs[i]
    y : real = call step (i, e) into acc
    => y
  }
  ys : [5]real = freeze acc
  => m : real, n : real, ys : [5]real
}
";
    twice(library, main);
}

#[test]
fn loops_with_updates_in_functions() {
    let library = "def go (n : int) (xs : [n]real) (d : int) {
  more : bool = lt_int 0, d
  n1 : int = sub_int n, 1
  y : real = if more {
    ys : [n]real = loop (zs : [n]real = xs) for i < n1 {
      a : real = zs[i]
      j : int = add_int i, 1
      b : real = zs[j]
      c : real = mul a, b
      e : real = sin c
      zs1 : [n]real = zs with [j] = e
      => zs1
    }
    d1 : int = sub_int d, 1
    r : real = call go (n, ys, d1)
    w : real = ys[n1]
    q : real = mul r, w
    => q
  } else {
    s : real = for i < n (reduce add) {
      x : real = xs[i]
      t : real = mul x, x
      => t
    }
    => s
  }
  => y : real
}
";
    let main = "main (xs : [4]real) {
  y : real = call go (4, xs, 3)
  => y : real
}
";
    twice(library, main);
}

#[test]
fn trees() {
    let library = "type tree {
  Leaf (x : real)
  Fork (left : ref tree, by : real, right : ref tree)
}
def grow (x : real) (d : int) {
  go : bool = lt_int 0, d
  t : ref tree = if go {
    d1 : int = sub_int d, 1
    d2 : int = sub_int d, 2
    y : real = sin x
    z : real = mul x, 1.1
    l : ref tree = call grow (y, d1)
    r : ref tree = call grow (z, d2)
    f : ref tree = node tree.Fork (l, x, r)
    => f
  } else {
    e : ref tree = node tree.Leaf (x)
    => e
  }
  => t : ref tree
}
def fold (t : ref tree) (by : real) {
  k : int = tag t
  is : bool = eq_int k, 1
  y : real = if is {
    l : ref tree = field t Fork.left
    b : real = field t Fork.by
    r : ref tree = field t Fork.right
    c : real = mul b, by
    p : real = call fold (l, c)
    q : real = call fold (r, p)
    s : real = mul p, q
    => s
  } else {
    x : real = field t Leaf.x
    s1 : real = add x, by
    => s1
  }
  => y : real
}
";
    let main = "main (x : real) (y : real) {
  t : ref tree = call grow (x, 4)
  z : real = call fold (t, y)
  => z : real
}
";
    twice(library, main);
}

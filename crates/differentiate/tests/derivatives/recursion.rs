//! Functions that call functions, and nodes: the laws to the second order, and costs.

use lambada_anf::{Random, read};
use lambada_prim::Tensor;

use crate::laws::{CLOSELY, Outcome, laws, like};
use crate::program::{Point, Program};

/// Lists of reals, made from an array, folded, mapped.
const LISTS: &str = "type list {
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

fn program(library: &str, main: &str) -> Program {
    let text = format!("{library}{main}");
    let function = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
    Program::of(&function)
}

/// Reals for the parameters of a program, in which sizes are constants.
fn point(program: &Program, random: &mut Random) -> Point {
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
    let program = program(library, main);
    let mut random = Random(17);
    for _ in 0..3 {
        let at = point(&program, &mut random);
        holds("first", &program, &at, &mut random, CLOSELY);
        let (primal, _) = program.run(&at).expect("the program runs");
        let orders = [
            ("forward", program.forward(), like(&mut random, &at.params)),
            ("reverse", program.reverse(), like(&mut random, &primal)),
        ];
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

//! Programs with functions and nodes, as people read them.

use std::rc::Rc;

use lambada_anf::{Function, check, generate_with_library, read};
use lambada_source::FileId;
use lambada_surface::ast::{Expr, ExprKind, Module};
use lambada_surface::{build, parse, print_module};

use lambada_readback::{Declared, Group, Interface, Leaf, Reading, items};

pub(super) fn shown(f: &Function) -> Result<String, String> {
    shown_with(f, Vec::new())
}

/// With recursive types defined elsewhere.
fn shown_with(f: &Function, types: Vec<Declared>) -> Result<String, String> {
    check(f).unwrap_or_else(|message| panic!("{message}\n{}", lambada_anf::print(f)));
    let compose = |results: Vec<Expr>| build::tuple(results);
    let interface = Interface {
        name: "main".into(),
        doc: None,
        sizes: f.sizes.iter().map(|s| f.names.hint(*s)).collect(),
        params: f
            .params
            .iter()
            .map(|p| (Rc::clone(&f.names.hint(p.var)), build::named_ty(p.ty.elem.to_string())))
            .collect(),
        leaves: (0..f.params.len()).map(|param| Leaf { param, reading: Reading::Whole }).collect(),
        result: None,
        results: Vec::new(),
        linear: true,
        compose: &compose,
        seeds: Vec::new(),
        types,
        place: &|_| None,
    };
    let text = print_module(&Module { items: items(f, &interface)?, ..Module::default() });
    let (_, problems) = parse(&text, FileId(0));
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    Ok(text)
}

/// Nodes of a type defined in the text are values of that type: with tuples, records, and arrays
/// that know their sizes.
#[test]
fn nodes_of_declared_types_are_values() {
    let text = "type tree {
  Leaf
  Node (x0 : real, x0 : int, x1_size : int, x1 : [x1_size]real, x2 : int, x3 : ref tree)
}
def next (t : ref tree) {
  tag1 : int = tag t
  is_node : bool = eq_int tag1, 1
  r : ref tree = if is_node {
    a : real = field t Node.x0
    n : int = field t Node.x1_size
    xs : [n]real = field t Node.x1
    k : int = field t Node.x2
    rest : ref tree = field t Node.x3
    b : real = mul a, 2.0
    more : ref tree = call next (rest)
    r1 : ref tree = node tree.Node (b, n, n, xs, k, more)
    => r1
  } else {
    => 0
  }
  => r : ref tree
}
main (t : ref tree) {
  r : ref tree = call next (t)
  => r : ref tree
}
";
    let f = read(text).unwrap_or_else(|message| panic!("{message}"));
    let record = Group::Record(vec![("k".into(), Group::One)]);
    let fields = vec![
        Group::Tuple(vec![Group::One; 2]),
        Group::Array(Box::new(Group::One)),
        record,
        Group::One,
    ];
    let tree = Declared {
        node: "tree".into(),
        ty: build::named_ty("bush"),
        constructors: vec![("Leaf".into(), Vec::new()), ("Bush".into(), fields)],
        filler: build::expr(ExprKind::Con("Leaf".into())),
    };
    assert_eq!(
        shown_with(&f, vec![tree]).expect("it has a form"),
        "def rec next (t : bush) : bush =
  match t
  | Bush (a, _) xs {k} rest -> Bush (2.0 * a, length xs) xs {k} (next rest)
  | Leaf -> Leaf

def main (t : ref_0) = next t
"
    );
}

const SUM: &str = "type list {
  Nil
  Cons (head : real, tail : ref list)
}
def upto (n : int) {
  more : bool = lt_int 0, n
  r : ref list = if more {
    m : int = sub_int n, 1
    rest : ref list = call upto (m)
    x : real = to_real n
    r1 : ref list = node list.Cons (x, rest)
    => r1
  } else {
    r1 : ref list = node list.Nil ()
    => r1
  }
  => r : ref list
}
def sum_and_count (xs : ref list) (scale : real) {
  t : int = tag xs
  is_nil : bool = eq_int t, 0
  s : real, n : int = if is_nil {
    => 0.0, 0
  } else {
    x : real = field xs Cons.head
    rest : ref list = field xs Cons.tail
    s1 : real, n1 : int = call sum_and_count (rest, scale)
    both : real = mul x, scale
    s2 : real = add both, s1
    n2 : int = add_int n1, 1
    => s2, n2
  }
  => s : real, n : int
}
main (n : int) {
  l : ref list = call upto (n)
  s : real, count : int = call sum_and_count (l, 2.0)
  => s : real
}
";

#[test]
fn recursive_data_and_functions() {
    let program = read(SUM).expect("a program");
    let expected = "\
type list = Nil | Cons real list

def rec upto (n : int) : list = if 0 < n then Cons (real n) (upto (n - 1)) else Nil

def rec sum_and_count (xs : list) (scale : real) : (real, int) =
  match xs
  | Nil -> (0.0, (0 : int))
  | Cons x rest ->
      let (s1, n1) = sum_and_count rest scale
      (x * scale + s1, n1 + 1)

def main (n : int) =
  let (s, _) = sum_and_count (upto n) 2.0
  s
";
    assert_eq!(shown(&program).expect("it has a form"), expected);
}

/// A tangent of a list, with null as its zero.
const TANGENT: &str = "type list {
  Nil
  Cons (head : real, tail : ref list)
}
def scaled (xs : ref list) (k : real) {
  t : int = tag xs
  is_cons : bool = eq_int t, 1
  r : ref list = if is_cons {
    x : real = field xs Cons.head
    rest : ref list = field xs Cons.tail
    y : real = mul k, x
    ys : ref list = call scaled (rest, k)
    r1 : ref list = node list.Cons (y, ys)
    => r1
  } else {
    => 0
  }
  => r : ref list
}
main (k : real) {
  one : ref list = node list.Cons (k, 0)
  l : ref list = call scaled (one, k)
  x : real = field l Cons.head
  => x : real
}
";

#[test]
fn null_is_a_constructor_and_one_that_is_never_made_is_none() {
    let program = read(TANGENT).expect("a program");
    let expected = "\
type list = No_list | Cons real list

def rec scaled (xs : list) (k : real) : list =
  match xs
  | Cons x rest -> Cons (k * x) (scaled rest k)
  | No_list -> No_list

def main (k : real) =
  match scaled (Cons k No_list) k
  | Cons x _ -> x
  | _ -> 0.0
";
    assert_eq!(shown(&program).expect("it has a form"), expected);
}

#[test]
fn what_has_no_form_is_refused() {
    let text = "type box {\n  Box (cell sum : real)\n}\nmain (x : real) {\n  b : ref box = node box.Box (x)\n  s : real = cell b Box.sum\n  => s : real\n}\n";
    let refused = shown(&read(text).expect("a program")).expect_err("it has cells");
    assert!(refused.contains("in place"), "{refused}");
}

#[test]
fn generated_programs_parse() {
    let mut written = 0;
    for seed in 0..60 {
        let (f, _) = generate_with_library(seed);
        written += usize::from(shown(&f).is_ok());
    }
    assert!(written > 5, "{written} of 60 are written");
}

//! Array programs as source.

use lambada_anf::{Atom, Function, NAMELESS, Ty, Var, check, generate, read};
use lambada_prim::Scalar;
use lambada_source::FileId;
use lambada_surface::ast::{Expr, TypeKind};
use lambada_surface::{build, parse, print_def};

use lambada_readback::{Interface, Leaf, Reading, definition};

mod arrays;
mod library;
mod locals;
mod unused;

/// The function with its own parameters and results.
fn shown(f: &Function, seeds: &[usize]) -> String {
    if let Err(message) = check(f) {
        panic!("{message}\n{}", lambada_anf::print(f));
    }
    let size = |atom: &Atom| match atom {
        Atom::Lit(Scalar::Int(k)) => Some(build::int(*k)),
        Atom::Lit(_) => None,
        Atom::Var(var) => f.sizes.contains(var).then(|| build::var(f.names.hint(*var))),
    };
    let ty = |ty: &Ty| {
        ty.dims.iter().rev().fold(build::named_ty(ty.elem.to_string()), |elem, dim| {
            build::ty(TypeKind::Array(size(dim).map(Box::new), Box::new(elem)))
        })
    };
    let compose = |results: Vec<Expr>| build::tuple(results);
    let interface = Interface {
        name: "g".into(),
        doc: None,
        sizes: f.sizes.iter().map(|s| f.names.hint(*s)).collect(),
        params: f.params.iter().map(|p| (f.names.hint(p.var), ty(&p.ty))).collect(),
        leaves: (0..f.params.len()).map(|param| Leaf { param, reading: Reading::Whole }).collect(),
        result: Some(build::tuple_ty(f.results.iter().map(ty).collect())),
        results: Vec::new(),
        linear: true,
        compose: &compose,
        seeds: seeds.to_vec(),
        types: Vec::new(),
        place: &|_| None,
    };
    let text = print_def(&definition(f, &interface));
    let (_, problems) = parse(&text, FileId(0));
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    text
}

/// `f [n] (xs : [n]real) (x : real)` with this body, in which variables called `t` have no name.
fn function(body: &str) -> Function {
    let text = format!("f [n] (xs : [n]real) (x : real) {{\n{body}}}\n");
    let mut f = read(&text).expect(body);
    for var in (0..f.names.len() as u32).map(Var) {
        if &*f.names.hint(var) == "t" {
            f.names.rename(var, NAMELESS);
        }
    }
    f
}

#[test]
fn what_is_generated_parses() {
    for seed in 0..400 {
        let (f, _) = generate(seed);
        shown(&f, &[]);
        // Any parameter may be called a cotangent: dependent statements keep their order.
        shown(&f, &[0]);
    }
}

#[test]
fn nothing_is_listed_twice() {
    let f = function(
        "ys : [n]real, s : real = for i < n (collect, reduce add) {
  e : real = xs[i]
  t : real = mul x, e
  => t, t
}
=> ys : [n]real, s : real
",
    );
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : ([n]real, real) =
  let ys = x * xs
  (ys, sum ys)"
    );
}

#[test]
fn results_that_share_no_work_are_apart() {
    let f = function(
        "ys : [n]real, s : real = for i < n (collect, reduce add) {
  xs : real = xs[i]
  t : real = mul x, xs
  => xs, t
}
=> ys : [n]real, s : real
",
    );
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : ([n]real, real) = (xs, sum (x * xs))"
    );
}

#[test]
fn accumulators_share_a_region() {
    let f = function(
        "zeros : [n]real = fill 0.0
h : [n]real = accumulator zeros
total : real = accumulator 1.0
for i < n () {
  e : real = xs[i]
  t : real = mul x, e
  accumulate h[i] += t
  accumulate total[] += t
  =>
}
h : [n]real = freeze h
s : real = freeze total
=> h : [n]real, s : real
",
    );
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : ([n]real, real) =
  accumulate h = for _ < n => 0.0, total = 1.0 in
    for i < n =>
      let t = x * xs[i]
      h[i] += t; total += t"
    );
}

#[test]
fn scalars() {
    let f = function(
        "ys : real = for i < n (reduce max) {
  e : real = xs[i]
  => e
}
s : real = for i < n (reduce add) {
  e : real = xs[i]
  d : real = sub e, ys
  y : real = exp d
  => y
}
l : real = log s
y : real = add ys, l
t : real = neg y
c : bool = lt t, -1.0
w : real = select c, x, t
=> w : real
",
    );
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : real =
  let ys = reduce max (-inf) xs
  let t = -(ys + log (sum (exp (xs - ys))))
  if t < -1.0 then x else t"
    );
}

#[test]
fn conditions_are_joined() {
    let f = function(
        "first : bool = lt x, 1.0
both : bool = if first {
  second : bool = lt x, 2.0
  => second
} else {
  => false
}
any : bool = if both {
  => true
} else {
  third : bool = lt x, 3.0
  => third
}
=> any : bool
",
    );
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : bool = x < 1.0 && x < 2.0 || x < 3.0"
    );
}

#[test]
fn names_that_are_called_are_not_taken() {
    let f = read(
        "f [n] (sum : [n]real) (exp : real) {
  s : real = for i < n (reduce add) {
    e : real = sum[i]
    => e
  }
  e : real = exp exp
  y : real = add s, e
  => y : real
}
",
    )
    .expect("a program");
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (sum1 : [n]real) (exp1 : real) : real = sum sum1 + exp exp1"
    );
}

/// The state of a loop is named like its initial value if no later statement mentions that, and
/// gets a number otherwise.
#[test]
fn names_are_used_again() {
    let text = |kept: bool| {
        let mut f = function(&format!(
            "s : real = sin x
r : real = loop (state : real = s) for i < n {{
  e : real = xs[i]
  t : real = mul e, {}
  u : real = add state, t
  => u
}}
=> r : real
",
            if kept { "s" } else { "x" }
        ));
        let state = (0..).map(Var).find(|var| &*f.names.hint(*var) == "state");
        f.names.rename(state.expect("the state"), "s");
        shown(&f, &[])
    };
    assert!(text(false).contains("loop s = sin x for i < n do s + xs[i] * x"), "{}", text(false));
    assert_eq!(
        text(true),
        "def g [n] (xs : [n]real) (x : real) : real =
  let s = sin x
  loop s1 = s for i < n do s1 + xs[i] * s"
    );
}

/// A size in a type of the head is a parameter, which keeps its name.
#[test]
fn parameters_that_are_sizes_keep_their_names() {
    let text = "f (n : int) (xs : [n]real) {\n  m : int = add_int n, 1\n  => m : int\n}\n";
    let f = read(text).expect("a program");
    let compose = |results: Vec<Expr>| build::tuple(results);
    let size = Some(Box::new(build::var("n")));
    let array = build::ty(TypeKind::Array(size, Box::new(build::named_ty("real"))));
    let interface = Interface {
        name: "g".into(),
        doc: None,
        sizes: Vec::new(),
        params: vec![("n".into(), build::named_ty("int")), ("xs".into(), array)],
        leaves: (0..2).map(|param| Leaf { param, reading: Reading::Whole }).collect(),
        result: Some(build::named_ty("int")),
        results: Vec::new(),
        linear: true,
        compose: &compose,
        seeds: Vec::new(),
        types: Vec::new(),
        place: &|_| None,
    };
    assert_eq!(
        print_def(&definition(&f, &interface)),
        "def g (n : int) (xs : [n]real) : int = n + 1"
    );
}

/// An inlined value means the same as at its definition, whatever names are in scope at its use.
#[test]
fn nothing_is_captured() {
    let f = function(
        "s : real = sin x
used_once : real = exp s
s : real = loop (s : real = s) for i < n {
  e : real = xs[i]
  p : real = mul s, e
  => p
}
=> s : real, used_once : real
",
    );
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : (real, real) =
  let s = sin x
  let s1 = loop s = s for i < n do s * xs[i]
  (s1, exp s)"
    );
}

/// Statements independent of the cotangent come first, and comments announce the loops.
#[test]
fn sweeps_are_apart() {
    let f = function(
        "seeded : real = mul x, 2.0
s : real = loop (s : real = 0.0) for _k < n {
  e : real = xs[_k]
  t : real = add s, e
  t : real = sin t
  t : real = sin t
  t : real = sin t
  t : real = sin t
  t : real = sin t
  t : real = sin t
  => t
}
last : int = sub_int n, 1
x_ct : real = loop (x_ct : real = seeded) for k < n {
  _k : int = sub_int last, k
  e : real = xs[_k]
  p : real = mul x_ct, e
  => p
}
=> s : real, x_ct : real
",
    );
    let text = shown(&f, &[1]);
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in\n{text}"));
    assert!(place("-- forward\n") < place("for k < n do"));
    assert!(place("for k < n do") < place("-- reverse of the loop over k\n"));
    assert!(!text.contains("_k"), "{text}");
}

/// A long program gives a long text, with one line after the other, and not a deep one.
#[test]
fn deep_and_long() {
    let run = || {
        let f = function(&format!("{}=> x : real\n", "x : real = sin x\n".repeat(20_000)));
        assert!(print_length(&f) > 20_000);
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run).unwrap();
    thread.join().unwrap();
}

fn print_length(f: &Function) -> usize {
    let compose = |results: Vec<Expr>| build::tuple(results);
    let real = || build::named_ty("real");
    let interface = Interface {
        name: "g".into(),
        doc: None,
        sizes: Vec::new(),
        params: vec![("xs".into(), real()), ("x".into(), real())],
        leaves: (0..2).map(|param| Leaf { param, reading: Reading::Whole }).collect(),
        result: Some(real()),
        results: Vec::new(),
        linear: true,
        compose: &compose,
        seeds: Vec::new(),
        types: Vec::new(),
        place: &|_| None,
    };
    print_def(&definition(f, &interface)).len()
}

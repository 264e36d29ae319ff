//! Programs with functions and nodes: the checker, the text and the evaluator.

use lambada_prim::{Data, Scalar, Tensor};

use super::{accepts, rejects};
use lambada_anf::*;

/// A list, its sum by recursion that is not in tail position, and the derivative of that: shadows
/// with cells.
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

/// The program with some of its text replaced is rejected, with this message.
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
        ("cell head : real", "cell head : bool", "a cell holds numbers"),
        ("cell head : real", "cell head : real, more : [head]real", "its sizes are constants"),
    ];
    for (from, to, message) in cases {
        broken(from, to, message);
    }
    // Only engines need arrays.
    let handles = reads(&LISTS.replace("=> y : real, xs_ct", "=> l : ref list, xs_ct"));
    assert_eq!(crate::check_entry(&reads(LISTS)), Ok(()));
    assert!(crate::check_entry(&handles).is_err_and(|e| e.contains("takes or gives handles")));
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

fn int(value: i64) -> Tensor {
    Tensor::scalar(Scalar::Int(value))
}

fn runs(text: &str, args: &[Tensor]) -> Outcome {
    let program = reads(text);
    accepts(&program);
    eval(&program, args).unwrap_or_else(|failure| panic!("{}\n{text}", failure.message))
}

#[test]
fn calls_and_nodes_run() {
    let xs: Vec<f64> = (0..1000).map(|k| 0.5 + f64::from(k) / 1000.0).collect();
    let args = |xs: &[f64]| vec![Tensor::reals(vec![1000], xs.to_vec()), int(3)];
    let value = |xs: &[f64]| match runs(LISTS, &args(xs)).results[0].as_scalar() {
        Some(Scalar::Real(y)) => y,
        other => panic!("{other:?}"),
    };
    let s = |xs: &[f64]| xs[..3].iter().rev().fold(1.0, |s, x| x + x * s);
    assert_eq!(value(&xs), s(&xs));
    let Data::Real(ct) = &runs(LISTS, &args(&xs)).results[1].data else { panic!() };
    for k in 0..4 {
        let (mut up, mut down) = (xs.clone(), xs.clone());
        up[k] += 1e-6;
        down[k] -= 1e-6;
        let difference = (value(&up) - value(&down)) / 2e-6;
        assert!((difference - ct[k]).abs() < 1e-8, "{k}: {difference} {}", ct[k]);
    }
}

#[test]
fn arrays_go_through_nodes_and_results() {
    let outcome = runs(ARRAYS, &[int(3)]);
    let (twos, zeros) = (vec![2.5; 3], vec![0.0; 3]);
    assert_eq!(
        outcome.results,
        [int(3), Tensor::reals(vec![3], twos), Tensor::reals(vec![3], zeros)]
    );
    // A node of other sizes than it is read with is an internal error, not an access out of bounds.
    let wrong = ARRAYS.replacen(
        "xs : [n]real = field c",
        "one : int = add_int n, 1\n  ys : [one]real = field c",
        1,
    );
    let wrong = wrong.replacen("=> n : int, xs : [n]real\n", "=> one : int, ys : [one]real\n", 1);
    let program = reads(&wrong);
    accepts(&program);
    let failure = eval(&program, &[int(3)]).expect_err("sizes differ");
    assert!(failure.message.contains("a field has the sizes [3], not [4]"), "{}", failure.message);
}

const COUNT: &str = "def count (n : int) {
  goes_on : bool = lt_int 0, n
  r : int = if goes_on {
    m : int = sub_int n, 1
    below : int = call count (m)
    r1 : int = add_int below, n
    => r1
  } else {
    => 0
  }
  => r : int
}
main (n : int) {
  r : int = call count (n)
  => r : int
}
";

#[test]
fn a_recursion_may_be_a_million_calls_deep() {
    let n = 1_000_000;
    let outcome = runs(COUNT, &[int(n)]);
    assert_eq!(outcome.results, [int(n * (n + 1) / 2)]);
    // A comparison, two sums and the call.
    assert_eq!(outcome.counts.ints as i64, 4 * n + 2);
}

#[test]
fn a_recursion_without_end_fails() {
    let text = COUNT.replacen("lt_int 0, n", "le_int n, n", 1);
    let program = reads(&text);
    accepts(&program);
    let limit = lambada_prim::Memory { limit: 1 << 24 };
    let failure = eval_within(&program, &[int(1)], limit, &|_, _| {}).expect_err("it does not end");
    assert!(failure.message.contains("the recursion is too deep"), "{}", failure.message);
}

/// A loop that makes a node in each iteration, which is its state or not.
fn loop_of_nodes(kept: bool) -> String {
    let state = if kept { "s : ref cons = 0, " } else { "" };
    let (node, next) = if kept { ("s", "c, ") } else { ("0", "") };
    let bind = if kept { "last : ref cons, " } else { "" };
    format!(
        "type cons {{
  Cons (x : real, next : ref cons)
}}
main (n : int) {{
  {bind}sum : real = loop ({state}t : real = 1.0) for i < n {{
    c : ref cons = node cons.Cons (t, {node})
    x : real = field c Cons.x
    u : real = mul x, 0.5
    => {next}u
  }}
  => sum : real
}}
"
    )
}

#[test]
fn nodes_that_no_result_of_an_iteration_holds_are_released() {
    // A word, a real and a handle.
    let counts = |kept| runs(&loop_of_nodes(kept), &[int(100)]).counts;
    assert_eq!((counts(false).allocated, counts(false).peak), (2400, 24));
    assert_eq!((counts(true).allocated, counts(true).peak), (2400, 2400));
    let program = reads(&loop_of_nodes(true));
    let limit = lambada_prim::Memory { limit: 1000 };
    let failure = eval_within(&program, &[int(100)], limit, &|_, _| {}).expect_err("no memory");
    assert!(
        failure.message.starts_with("out of memory: 984 bytes are in use"),
        "{}",
        failure.message
    );
}

/// A function that adds to its caller's accumulator in a loop, through another call, and to a cell
/// that a node holds.
const ADDS: &str = "type box {
  Box (n : int, cell sum : [n]real)
}
def add_one (k : int) (n : int) (x : real) into (acc : [n]real) {
  low : bool = le_int 0, k
  high : bool = lt_int k, n
  inside : bool = and low, high
  check inside \"index {0} is out of range for size {1}\" (k, n)
  accumulate acc[k] += x
  =>
}
def add_all (n : int) (x : real) into (acc : [n]real) {
  for i < n () {
    call add_one (i, n, x) into acc
    =>
  }
  =>
}
main (n : int) (k : int) {
  zeros : [n]real = fill 0.0
  acc : [n]real = accumulator zeros
  call add_all (n, 2.0) into acc
  call add_one (k, n, 0.5) into acc
  ones : [n]real = fill 1.0
  b : ref box = node box.Box (n, ones)
  cell1 : [n]real = open b Box.sum
  call add_all (n, 3.0) into cell1
  cell2 : [n]real = open b Box.sum
  call add_one (k, n, 0.25) into cell2
  lost : [n]real = open 0 0:1
  call add_all (n, 3.0) into lost
  sums : [n]real = cell b Box.sum
  y : [n]real = freeze acc
  => y : [n]real, sums : [n]real
}
";

#[test]
fn functions_add_to_accumulators_and_cells() {
    let outcome = runs(ADDS, &[int(3), int(1)]);
    assert_eq!(
        outcome.results,
        [Tensor::reals(vec![3], vec![2.0, 2.5, 2.0]), Tensor::reals(vec![3], vec![4.0, 4.25, 4.0])]
    );
    // The arrays that are filled, and the node of two words and an array: nothing is copied.
    assert_eq!(outcome.counts.allocated, 2 * 24 + 24);
    let failure = eval(&reads(ADDS), &[int(3), int(3)]).expect_err("out of range");
    assert_eq!(failure.message, "index 3 is out of range for size 3");
    assert_eq!(print(&reads(ADDS)), ADDS);
}

#[test]
fn effects_of_calls_and_cells() {
    let program = reads(ADDS);
    let [.., open, call, _, _, cell, freeze] = &program.body.stms[..] else { panic!() };
    let acc = |stm: &Stm| stm.binds[0].var;
    assert_eq!(open.exp.effect(), Effect::OpensCell);
    assert_eq!(call.exp.effect(), Effect::Calls);
    assert_eq!(cell.exp.effect(), Effect::ReadsCell);
    assert!(call.adds_to(&|var| var == acc(open)) && !call.adds_to(&|var| var == acc(freeze)));
    assert!(call.may_not_return() && call.touches_cells() && !call.is_pure());
    assert!(cell.touches_cells() && !cell.is_pure() && !cell.may_fail());
    let mut mentioned = Vec::new();
    call.mentioned(&mut |var| mentioned.push(var));
    assert!(mentioned.contains(&acc(open)));
    let add_all = program.library.functions[1].as_ref().expect("complete");
    let own: Vec<Var> = add_all.accumulators.iter().map(|p| p.var).collect();
    assert_eq!(add_all.body.stms[0].additions().into_iter().collect::<Vec<_>>(), own);
    let nodes: Vec<&Stm> =
        program.body.stms.iter().filter(|s| s.exp.effect() == Effect::MakesCells).collect();
    assert_eq!(nodes.len(), 1);
    // A copy of a call names the accumulators of the copy.
    let mut names = program.names.clone();
    let copy = Renaming::new().copy(&program.body, &mut names);
    assert_eq!(print_block(&names, &copy), print_block(&program.names, &program.body));
    assert!(free_vars(&copy).iter().all(|v| program.params.iter().any(|p| p.var == *v)));
}

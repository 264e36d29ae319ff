//! No access moves above its check, and which check fails first does not change.

use lambada_anf::{Block, Exp, Function, Nest, check, print, read};

use lambada_optimize::{optimize, passes};

fn parsed(body: &str) -> Function {
    let text = format!("f [n] (xs : [n]real) (is : [n]int) (m : int) {{\n{body}}}\n");
    let f = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
    check(&f).unwrap_or_else(|message| panic!("{message}\n{text}"));
    f
}

fn loops(block: &Block) -> usize {
    let own = |exp: &Exp| usize::from(matches!(exp, Exp::Nest(Nest::For { .. })));
    block
        .stms
        .iter()
        .map(|s| own(&s.exp) + s.exp.blocks().into_iter().map(loops).sum::<usize>())
        .sum()
}

/// A pass, which may not break the program; how many loops it leaves.
fn loops_after(name: &str, f: &Function) -> usize {
    let mut after = f.clone();
    let pass = passes().find(|pass| pass.name == name).expect("a pass of this name");
    pass.run(&mut after);
    check(&after).unwrap_or_else(|message| panic!("{message}\n{}", print(&after)));
    loops(&after.body)
}

/// Two loops: the first checks and reads `xs[is[i]]`, the second adds at `q`, which the lines
/// `second` compute.
fn two_loops(second: &str) -> Function {
    parsed(&format!(
        "acc : [n]real = accumulator xs
s : real = for i < n (reduce add) {{
  p : int = is[i]
  a : bool = le_int 0, p
  b : bool = lt_int p, n
  c : bool = and a, b
  check c \"index {{0}}\" (p)
  e : real = xs[p]
  => e
}}
l : int = sub_int n, 1
for k < n () {{
{second}  a : bool = le_int 0, q
  b : bool = lt_int q, n
  c : bool = and a, b
  check c \"index {{0}}\" (q)
  accumulate acc[q] += 1.0
  =>
}}
ys : [n]real = freeze acc
=> s : real, ys : [n]real
"
    ))
}

#[test]
fn loops_with_the_same_checks_are_fused() {
    assert_eq!(loops_after("loop-fusion", &two_loops("  q : int = is[k]\n")), 1);
}

#[test]
fn a_loop_that_checks_mirrored_indices_is_not_fused() {
    let mirrored = two_loops("  j : int = sub_int l, k\n  q : int = is[j]\n");
    assert_eq!(loops_after("loop-fusion", &mirrored), 2);
    // The whole pipeline neither, though it turns both into loops without order.
    assert_eq!(loops(&optimize(mirrored).body), 2);
}

#[test]
fn checks_in_nested_loops_are_compared_too() {
    let nest = |index: &str, read: &str| {
        format!(
            "s{index} : real = for {index} < n (reduce add) {{
  t : real = for j < n (reduce add) {{
    p : int = is[{read}]
    a : bool = le_int 0, p
    b : bool = lt_int p, n
    c : bool = and a, b
    check c \"index {{0}}\" (p)
    e : real = xs[p]
    => e
  }}
  => t
}}
"
        )
    };
    let both = |read: &str| {
        parsed(&format!("{}{}=> si : real, sk : real\n", nest("i", "j"), nest("k", read)))
    };
    assert_eq!(loops_after("loop-fusion", &both("j")), 2);
    assert_eq!(loops_after("loop-fusion", &both("k")), 4);
}

#[test]
fn an_element_is_not_computed_where_its_reads_are_not_checked() {
    let f = parsed(
        "a : bool = le_int 0, m
ys : [n]real = for i < n (collect) {
  check a \"low\" ()
  b : bool = lt_int m, n
  check b \"high\" ()
  e : real = xs[m]
  => e
}
s : real = for k < n (reduce add) {
  y : real = ys[k]
  z : real = sin y
  => z
}
=> s : real
",
    );
    assert_eq!(loops_after("producer-inlining", &f), 2);
}

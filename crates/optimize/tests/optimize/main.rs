//! Passes keep the meaning of programs, and do their work.

use lambada_anf::*;
use lambada_prim::{Data, Scalar, Tensor};
use lambada_testkit::Tolerance;

use lambada_optimize::{Pass, optimize, passes, simplify};

mod calls;
mod evidence;
mod exchanged;
mod handed_on;
mod laws;

fn close(a: &Tensor, b: &Tensor) -> bool {
    let equal = |x: &f64, y: &f64| Tolerance::mixed(1e-7).accepts(*x, *y);
    match (&a.data, &b.data) {
        (Data::Real(u), Data::Real(v)) => {
            a.dims == b.dims && u.iter().zip(v).all(|(x, y)| equal(x, y))
        }
        (Data::Int(_) | Data::Bool(_) | Data::Real(_), _) => a == b,
    }
}

/// Asserts that a pass gives a well-formed program.
fn verify(pass: &Pass, before: &Function, after: &Function) {
    if let Err(message) = check(after) {
        panic!("{}: {message}\nbefore:\n{}\nafter:\n{}", pass.name, print(before), print(after));
    }
}

/// Asserts equal results, or the same failure.
fn same(before: &Function, after: &Function, args: &[Tensor], what: &str) {
    let fail = |message: String| {
        panic!("{what}: {message}\nbefore:\n{}\nafter:\n{}", print(before), print(after))
    };
    match (eval(before, args), eval(after, args)) {
        (Ok(x), Ok(y)) => {
            if !x.results.iter().zip(&y.results).all(|(a, b)| close(a, b)) {
                fail(format!("{:?} is not {:?}", x.results, y.results));
            }
        }
        (Err(x), Err(y)) if x == y => {}
        (x, y) => fail(format!("{:?} is not {:?}", x.map(|o| o.results), y.map(|o| o.results))),
    }
}

#[test]
fn every_pass_keeps_generated_functions() {
    for seed in 0..400 {
        let (function, args) = generate(seed);
        for pass in passes() {
            let mut after = function.clone();
            let changed = pass.run(&mut after);
            assert_eq!(changed, after.body != function.body, "seed {seed}, {}", pass.name);
            verify(pass, &function, &after);
            same(&function, &after, &args, &format!("seed {seed}, {}", pass.name));
        }
    }
}

#[test]
fn every_pass_keeps_generated_programs_with_libraries() {
    for seed in 0..100 {
        let (function, args) = generate_with_library(seed);
        for pass in passes() {
            let mut after = function.clone();
            let changed = pass.run(&mut after);
            let same_text = print(&after) == print(&function);
            assert!(changed || same_text, "seed {seed}, {}", pass.name);
            verify(pass, &function, &after);
            same(&function, &after, &args, &format!("seed {seed}, {}", pass.name));
        }
    }
}

#[test]
fn the_pipeline_keeps_generated_programs_with_libraries() {
    for seed in 0..100 {
        let (function, args) = generate_with_library(seed);
        let after = optimize(function.clone());
        same(&function, &after, &args, &format!("seed {seed}"));
        assert_eq!(print(&optimize(after.clone())), print(&after), "seed {seed}");
    }
}

#[test]
fn simplifying_keeps_generated_programs_with_libraries() {
    for seed in 0..60 {
        let (function, args) = generate_with_library(seed);
        let mut after = function.clone();
        let (params, results) = (function.params.clone(), function.results.clone());
        let lambda = Lambda { params, results, body: function.body.clone() };
        let simple =
            simplify(&function.library, &mut after.names, &lambda, &[], None, Audience::Machine);
        (after.body, after.results) = (simple.body, simple.results);
        guard(&mut after);
        check(&after).unwrap_or_else(|message| panic!("seed {seed}: {message}"));
        same(&function, &after, &args, &format!("seed {seed}"));
    }
}

#[test]
fn the_pipeline_keeps_generated_functions_and_reaches_a_fixed_point() {
    for seed in 0..800 {
        let (function, args) = generate(seed);
        let after = optimize(function.clone());
        same(&function, &after, &args, &format!("seed {seed}"));
        assert_eq!(print(&optimize(after.clone())), print(&after), "seed {seed}");
    }
}

#[test]
fn simplifying_keeps_generated_functions() {
    for seed in 0..200 {
        let (function, args) = generate(seed);
        let mut after = function.clone();
        let lambda = Lambda {
            params: function.params.clone(),
            results: function.results.clone(),
            body: function.body.clone(),
        };
        let simple =
            simplify(&function.library, &mut after.names, &lambda, &[], None, Audience::Machine);
        (after.body, after.results) = (simple.body, simple.results);
        check(&after).unwrap_or_else(|message| panic!("seed {seed}: {message}"));
        same(&function, &after, &args, &format!("seed {seed}"));
    }
}

/// `f [n] (xs : [n]real) (x : real) (k : int)` with this body.
fn program(body: &str) -> Function {
    let text = format!("f [n] (xs : [n]real) (x : real) (k : int) {{\n{body}}}\n");
    let function = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
    check(&function).unwrap_or_else(|message| panic!("{message}\n{text}"));
    function
}

/// Optimizes, compares the values for several arguments, and gives the text.
fn optimized(function: &Function) -> String {
    let after = optimize(function.clone());
    for size in 0..5 {
        for k in -1..3 {
            let xs = (0..size).map(|i| 0.3 + f64::from(i as i32)).collect();
            let args = [
                Tensor::reals(vec![size], xs),
                Tensor::scalar(Scalar::Real(1.5)),
                Tensor::scalar(Scalar::Int(k)),
            ];
            same(function, &after, &args, "a program");
        }
    }
    print(&after)
}

/// The text has each of these as often as said.
fn has(function: &Function, counts: &[(&str, usize)]) {
    let text = optimized(function);
    for (what, count) in counts {
        assert_eq!(text.matches(what).count(), *count, "`{what}` in\n{text}");
    }
}

#[test]
fn a_primal_and_a_reverse_loop_become_one() {
    let f = program(
        "tape : [n]real = for i < n (collect) {
  e : real = xs[i]
  t : real = mul x, e
  y : real = exp t
  => y
}
value : real = for i < n (reduce add) {
  y : real = tape[i]
  => y
}
zeros : [n]real = fill 0.0
acc : [n]real = accumulator zeros
for i < n () {
  y : real = tape[i]
  t : real = mul y, x
  accumulate acc[i] += t
  =>
}
g : [n]real = freeze acc
=> value : real, g : [n]real
",
    );
    has(
        &f,
        &[("for ", 1), ("exp ", 1), ("(reduce add, collect)", 1), ("accumulat", 0), ("fill", 0)],
    );
}

#[test]
fn a_sum_that_the_second_loop_needs_keeps_them_apart() {
    let f = program(
        "sum : real = for i < n (reduce add) {
  e : real = xs[i]
  => e
}
ys : [n]real = for i < n (collect) {
  e : real = xs[i]
  q : real = div e, sum
  => q
}
=> ys : [n]real
",
    );
    has(&f, &[("for ", 2)]);
}

#[test]
fn reversed_reads_are_not_fused() {
    let f = program(
        "ys : [n]real = for i < n (collect) {
  e : real = xs[i]
  y : real = exp e
  => y
}
zs : [n]real = for i < n (collect) {
  last : int = sub_int n, 1
  j : int = sub_int last, i
  a : real = ys[i]
  b : real = ys[j]
  z : real = sub a, b
  => z
}
=> zs : [n]real
",
    );
    has(&f, &[("for ", 2)]);
}

#[test]
fn a_check_between_loops_is_not_passed_by_what_it_guards() {
    let f = program(
        "ys : [n]real = for i < n (collect) {
  e : real = xs[i]
  => e
}
low : bool = le_int 0, k
high : bool = lt_int k, n
fits : bool = and low, high
check fits \"out of range\" ()
zs : [n]real = for i < n (collect) {
  a : real = ys[i]
  b : real = xs[k]
  z : real = add a, b
  => z
}
=> zs : [n]real
",
    );
    has(&f, &[("for ", 1), ("check", 1)]);
}

#[test]
fn evident_checks_go_and_others_stay() {
    let f = program(
        "ys : [n]real = for i < n (collect) {
  last : int = sub_int n, 1
  j : int = sub_int last, i
  low : bool = le_int 0, i
  high : bool = lt_int i, n
  fits : bool = and low, high
  check fits \"range\" ()
  low1 : bool = le_int 0, j
  high1 : bool = lt_int j, n
  fits1 : bool = and low1, high1
  check fits1 \"range\" ()
  e : real = xs[j]
  => e
}
positive : bool = lt_int 0, k
check positive \"k is not positive\" ()
check positive \"k is not positive, again\" ()
more : bool = le_int 0, k
check more \"k is negative\" ()
=> ys : [n]real
",
    );
    has(&f, &[("check", 1), ("k is not positive", 1)]);
}

#[test]
fn sequential_sums_and_independent_updates_become_parallel() {
    let f = program(
        "sum : real, zs : [n]real = loop (s : real = x, ys : [n]real = xs) for i < n {
  e : real = xs[i]
  t : real = sin e
  once : real = add s, t
  twice : real = add e, once
  ys1 : [n]real = ys with [i] = t
  => twice, ys1
}
=> sum : real, zs : [n]real
",
    );
    has(&f, &[("loop", 0), ("(reduce add, collect)", 1), (" with ", 0)]);
}

#[test]
fn state_that_only_feeds_itself_is_dead() {
    let f = program(
        "zeros : [n]real = fill 0.0
y : real, tape : [n]real = loop (s : real = x, tape : [n]real = zeros) for i < n {
  tape1 : [n]real = tape with [i] = s
  t : real = sin s
  => t, tape1
}
=> y : real
",
    );
    has(&f, &[("tape", 0), ("fill", 0), ("loop", 1)]);
}

#[test]
fn small_vectors_live_in_registers() {
    let f = program(
        "start : [3]real = for c < 3 (collect) {
  r : real = to_real c
  t : real = mul r, x
  => t
}
w : [3]real = loop (v : [3]real = start) for i < n {
  ys : [3]real = for c < 3 (collect) {
    e : real = v[c]
    first : real = v[0]
    sum : real = add e, first
    y : real = sin sum
    => y
  }
  => ys
}
total : real = for c < 3 (reduce add) {
  e : real = w[c]
  => e
}
=> total : real
",
    );
    has(&f, &[("[3]real", 0), ("for ", 1), ("loop", 1)]);
}

#[test]
fn scattered_additions_stay_and_others_do_not() {
    let f = program(
        "zeros : [n]real = fill 0.0
h : [n]real = accumulator zeros
total : real = accumulator 0.0
square : [n][n]real = fill 0.0
m : [n][n]real = accumulator square
for i < n () {
  e : real = xs[i]
  ik : int = mul_int i, k
  at : int = rem_int ik, n
  accumulate h[at] += e
  for j < n () {
    f : real = xs[j]
    t : real = mul e, f
    accumulate m[i, j] += t
    c : bool = lt_int i, j
    if c {
      accumulate total[] += t
      =>
    } else {
      =>
    }
    =>
  }
  =>
}
a : [n]real = freeze h
b : real = freeze total
c : [n][n]real = freeze m
=> a : [n]real, b : real, c : [n][n]real
",
    );
    has(&f, &[("accumulator", 1), ("accumulate ", 1), ("(reduce add, collect)", 2), ("select", 1)]);
}

#[test]
fn loops_that_are_equal_up_to_names_are_one() {
    let f = program(
        "a : real = for i < n (reduce add) {
  e : real = xs[i]
  y : real = exp e
  => y
}
b : real = for j < n (reduce add) {
  f : real = xs[j]
  z : real = exp f
  => z
}
product : real = mul a, b
=> product : real
",
    );
    has(&f, &[("for ", 1), ("exp ", 1)]);
}

#[test]
fn invariant_sums_leave_loops_and_factors_leave_sums() {
    let f = program(
        "s : real = for i < n (reduce add) {
  e : real = xs[i]
  norm : real = for j < n (reduce add) {
    f : real = xs[j]
    y : real = exp f
    => y
  }
  t : real = add e, norm
  u : real = mul 3.0, t
  => u
}
=> s : real
",
    );
    let text = optimized(&f);
    assert!(!text.contains("\n    for") && text.matches("for ").count() == 2, "{text}");
    let last = text.rfind("for ").expect("there is a loop");
    assert!(!text[..last].contains("mul") && text[last..].contains("mul"), "{text}");
    assert!(
        !text[last..].lines().any(|line| line.starts_with("    ") && line.contains("mul")),
        "{text}"
    );
}

/// `Σ x·v` and `Σ v/x` where `x` is infinite, NaN or 0, and where there are no terms.
#[test]
fn factors_that_may_not_be_finite_stay_in_sums() {
    for op in ["mul", "div"] {
        let f = program(&format!(
            "s : real = for i < n (reduce add) {{
  e : real = xs[i]
  t : real = {op} e, x
  => t
}}
=> s : real
"
        ));
        let optimized = optimize(f.clone());
        for x in [f64::INFINITY, f64::NAN, 0.0] {
            for xs in [vec![], vec![2.0, -1.0], vec![0.0, 1.0], vec![3.0]] {
                let args = [
                    Tensor::reals(vec![xs.len()], xs.clone()),
                    Tensor::reals(vec![], vec![x]),
                    Tensor::scalar(Scalar::Int(0)),
                ];
                let run = |f: &Function| eval(f, &args).expect("it runs").results[0].as_scalar();
                let (expected, found) = (run(&f), run(&optimized));
                let [expected, found] = [expected, found].map(|value| format!("{value:?}"));
                assert_eq!(expected, found, "{op} {x} {xs:?}");
            }
        }
    }
}

#[test]
fn failing_checks_in_loops_that_may_not_run_stay() {
    let f = program(
        "never : bool = lt_int k, 0
ys : [n]real = for i < n (collect) {
  check never \"no\" ()
  => x
}
dead : real = for i < n (reduce add) {
  y : real = ys[i]
  => y
}
=> x : real
",
    );
    has(&f, &[("check", 1), ("for ", 1)]);
}

/// Straight-line code, then sums over arrays that need each other, then arrays whose loops can run
/// together.
fn long_program(size: usize) -> Function {
    let mut text = String::new();
    for k in 0..20 * size {
        let op = ["sin", "exp", "neg", "tanh"][k % 4];
        let both = if k % 3 == 0 { "add" } else { "mul" };
        text += &format!("t : real = {op} x\nx : real = {both} x, t\n");
    }
    for _ in 0..size / 2 {
        text += "ys : [n]real = for i < n (collect) {
  e : real = xs[i]
  y : real = add e, x
  => y
}
x : real = for i < n (reduce add) {
  y : real = ys[i]
  s : real = sin y
  => s
}
";
    }
    for _ in 0..size {
        text += "zeros : [n]real = fill 0.0
acc : [n]real = accumulator zeros
for i < n () {
  e : real = xs[i]
  s : real = sin e
  accumulate acc[i] += s
  =>
}
xs : [n]real = freeze acc
";
    }
    text += "sum : real = for i < n (reduce add) {
  e : real = xs[i]
  => e
}
=> x : real, sum : real
";
    program(&text)
}

/// Time is nearly linear in the length of the program: four times the length takes less than ten
/// times the time, where sixteen would be quadratic. Of several runs the quickest counts.
#[test]
fn time_is_nearly_linear_in_the_length_of_the_program() {
    let programs = [100, 400].map(long_program);
    let mut quickest = [f64::INFINITY; 2];
    // In turn, as the machine may have other things to do for a while.
    for k in (0..5).flat_map(|_| 0..2) {
        let start = std::time::Instant::now();
        lambada_optimize::optimize_observed(
            programs[k].clone(),
            lambada_anf::Audience::Machine,
            &mut |_, _, _| {},
        );
        quickest[k] = start.elapsed().as_secs_f64().min(quickest[k]);
    }
    let [short, long] = quickest;
    println!("{short:.3} s, {long:.3} s");
    assert!(long < 10.0 * short, "{long:.3} s for four times what takes {short:.3} s");
}

#[test]
fn passes_have_names_of_their_own() {
    for (k, pass) in passes().enumerate() {
        assert!(passes().take(k).all(|other| other.name != pass.name) && !pass.what.is_empty());
    }
}

/// A loop that may not end is an effect of a program, whether something needs its result or not; a
/// counted one is not.
#[test]
fn loops_that_may_not_end_stay() {
    let spin = "y : real = loop (y : real = x) while {
  more : bool = lt 0.0, y
  => more
} do {
  => y
}
";
    let f = program(&format!(
        "{spin}zs : [n]real = for i < n (collect) {{
{spin}=> y
}}
sins : [n]real = for i < n (collect) {{
  s : real = sin x
  => s
}}
=> x : real
"
    ));
    let text = print(&optimize(f));
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("while"), count("for "), count("sin")), (2, 1, 0), "{text}");
}

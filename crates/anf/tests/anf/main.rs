//! The printer, the reader, the checker and the evaluator agree.

use lambada_prim::{Scalar, Tensor};

use lambada_anf::*;

mod bounds;
mod library;
mod rules;

/// `f [n] (xs : [n]real) (x : real)` with this body.
fn function(body: &str) -> Function {
    read(&format!("f [n] (xs : [n]real) (x : real) {{\n{body}}}\n")).expect(body)
}

fn args(xs: &[f64], x: f64) -> Vec<Tensor> {
    vec![Tensor::reals(vec![xs.len()], xs.to_vec()), Tensor::scalar(Scalar::Real(x))]
}

fn accepts(f: &Function) {
    if let Err(message) = check(f) {
        panic!("{message}\n{}", print(f));
    }
}

fn rejects(f: &Function, message: &str) {
    let error = check(f).expect_err("the function was accepted");
    assert!(error.contains(message), "{error}");
}

fn scaled_sum() -> Function {
    function(
        "ys : [n]real, s : real = for i < n (collect, reduce add) {
  e : real = xs[i]
  t : real = mul x, e
  => t, t
}
=> ys : [n]real, s : real
",
    )
}

/// A histogram-like function with two accumulators.
fn accumulating() -> Function {
    function(
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
a : [n]real = freeze h
s : real = freeze total
=> a : [n]real, s : real
",
    )
}

#[test]
fn generated_functions_are_well_typed_and_run() {
    let mut failed = 0;
    for seed in 0..400 {
        let (f, args) = generate(seed);
        accepts(&f);
        match eval(&f, &args) {
            Ok(outcome) => assert_eq!(outcome.results.len(), f.results.len()),
            Err(failure) => {
                assert!(
                    !failure.message.contains("internal"),
                    "{}\n{}",
                    failure.message,
                    print(&f)
                );
                failed += 1;
            }
        }
    }
    assert!((20..300).contains(&failed), "{failed} of 400 fail a check");
}

#[test]
fn generated_programs_with_libraries_are_well_typed_run_and_read_back() {
    let (mut failed, mut calls, mut nodes) = (0, 0, 0);
    for seed in 0..300 {
        let (f, args) = generate_with_library(seed);
        accepts(&f);
        let text = print(&f);
        let again = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
        assert_eq!(print(&again), text);
        let run = eval(&f, &args);
        if let Err(failure) = &run {
            assert!(!failure.message.contains("internal"), "{}\n{text}", failure.message);
            failed += 1;
        }
        let message = |run: Result<Outcome, lambada_source::Failure>| run.map_err(|f| f.message);
        assert_eq!(format!("{:?}", message(run)), format!("{:?}", message(eval(&again, &args))));
        calls += text.matches(" call ").count();
        nodes += text.matches(" node ").count();
    }
    assert!((10..200).contains(&failed), "{failed} of 300 fail a check");
    assert!(calls > 600 && nodes > 900, "{calls} calls, {nodes} nodes");
}

#[test]
fn collects_and_reduces() {
    let f = scaled_sum();
    accepts(&f);
    let outcome = eval(&f, &args(&[1.0, 2.0, 3.0], 2.0)).unwrap();
    assert_eq!(
        outcome.results,
        [Tensor::reals(vec![3], vec![2.0, 4.0, 6.0]), Tensor::scalar(Scalar::Real(12.0))]
    );
    assert_eq!(
        outcome.counts,
        Counts {
            reals: 6,
            loads: 3,
            stores: 3,
            written: 24,
            allocated: 24,
            peak: 24,
            ..Counts::default()
        }
    );
}

#[test]
fn empty_loops() {
    let outcome = eval(&scaled_sum(), &args(&[], 2.0)).unwrap();
    assert_eq!(
        outcome.results,
        [Tensor::reals(vec![0], vec![]), Tensor::scalar(Scalar::Real(0.0))]
    );
}

#[test]
fn accumulates() {
    let f = accumulating();
    accepts(&f);
    let outcome = eval(&f, &args(&[1.0, 2.0], 3.0)).unwrap();
    assert_eq!(
        outcome.results,
        [Tensor::reals(vec![2], vec![3.0, 6.0]), Tensor::scalar(Scalar::Real(10.0))]
    );
}

#[test]
fn updates_in_a_loop_are_in_place() {
    let f = function(
        "r : [n]real = loop (s : [n]real = xs) for i < n {
  old : real = s[i]
  value : real = add old, x
  s : [n]real = s with [i] = value
  => s
}
=> r : [n]real
",
    );
    accepts(&f);
    let n = 200_000;
    let start = std::time::Instant::now();
    let outcome = eval(&f, &args(&vec![1.0; n], 2.0)).unwrap();
    assert_eq!(outcome.results[0], Tensor::reals(vec![n], vec![3.0; n]));
    assert!(start.elapsed().as_secs() < 5, "updates copy the array");
}

/// `loop s = xs for i < n do s with [i] = …`, and perhaps a later use of the initial array.
fn overwritten(start: bool, kept: bool) -> Function {
    let made = if start { "zeros : [n]real = fill 0.0\n" } else { "" };
    let start = if start { "zeros" } else { "xs" };
    let kept = if kept { format!(", {start} : [n]real") } else { String::new() };
    function(&format!(
        "{made}r : [n]real = loop (s : [n]real = {start}) for i < n {{
  s : [n]real = s with [i] = x
  => s
}}
=> r : [n]real{kept}
"
    ))
}

#[test]
fn an_update_costs_a_copy_where_the_array_is_not_the_programs_or_still_needed() {
    // Of 10 reals: the array of zeros, the updates, and the copy.
    for (start, kept, written, allocated) in [
        (true, false, 80 + 80, 80),
        (true, true, 80 + 80 + 80, 80 + 80),
        (false, false, 80 + 80, 80),
        (false, true, 80 + 80, 80),
    ] {
        let counts = eval(&overwritten(start, kept), &args(&[1.0; 10], 2.0)).unwrap().counts;
        assert_eq!((counts.written, counts.allocated), (written, allocated), "{start} {kept}");
        assert_eq!(counts.stores, if start { 20 } else { 10 });
    }
}

#[test]
fn memory_is_given_back_at_the_last_use() {
    // A chain of arrays, each made from the one before; and the same in each iteration of a loop.
    let next = "ys : [n]real = for i < n (collect) {
  e : real = ys[i]
  s : real = sin e
  => s
}
";
    let chain = format!("{}{}e : real = ys[0]\n", next.replace("ys[", "xs["), next.repeat(4));
    let once = function(&format!("{chain}=> e : real\n"));
    let counts = eval(&once, &args(&[1.0; 10], 2.0)).unwrap().counts;
    assert_eq!((counts.allocated, counts.peak), (5 * 80, 2 * 80));
    let repeated = function(&format!(
        "sum : real = for j < 7 (reduce add) {{\n{chain}=> e\n}}\n=> sum : real\n"
    ));
    let counts = eval(&repeated, &args(&[1.0; 10], 2.0)).unwrap().counts;
    assert_eq!((counts.allocated, counts.peak), (7 * 5 * 80, 2 * 80));
}

#[test]
fn a_view_costs_nothing() {
    let f = function(
        "m : [3][n]real = [xs, xs, xs]
row : [n]real = m[1]
e : real = row[0]
=> e : real
",
    );
    let counts = eval(&f, &args(&[1.0; 10], 2.0)).unwrap().counts;
    assert_eq!((counts.written, counts.allocated, counts.peak), (240, 240, 240));
}

#[test]
fn checker_finds_scope_errors() {
    rejects(&function("=> x : int\n"), "has type real, not int");
    let mut inner = scaled_sum();
    inner.body.results[1] = inner.body.stms[0].exp.blocks()[0].results[0];
    rejects(&inner, "is not in scope");
    let mut twice = scaled_sum();
    let stm = twice.body.stms[0].clone();
    twice.body.stms.push(stm);
    rejects(&twice, "bound twice");
}

#[test]
fn checker_finds_size_errors_and_learns_from_checks() {
    let product = |check: &str| {
        function(&format!(
            "m : int = add_int n, 1
k : int = sub_int m, 1
l : int = mul_int m, 2
square : [k][l]real = fill 0.0
row : [l]real = xs @ square
same : bool = eq_int l, n
{check}=> row : [n]real
"
        ))
    };
    accepts(&product("check same \"sizes differ\" ()\n"));
    rejects(&product(""), "has type");
}

#[test]
fn checker_knows_that_accumulators_are_linear() {
    let f = accumulating();
    let mut unfrozen = f.clone();
    unfrozen.body.stms.pop();
    unfrozen.body.results.pop();
    unfrozen.results.pop();
    rejects(&unfrozen, "is not frozen");
    let mut late = f.clone();
    let loop_ = late.body.stms.remove(3);
    late.body.stms.push(loop_);
    rejects(&late, "frozen already");
    let mut escaped = f;
    escaped.body.results[0] = escaped.body.stms[1].binds[0].var.into();
    rejects(&escaped, "used as a value");
}

#[test]
fn prints_every_construct() {
    let mut f = scaled_sum();
    // Two variables of one name.
    let both = f.body.stms[0].binds.iter().map(|p| p.var).collect::<Vec<Var>>();
    both.into_iter().for_each(|var| f.names.rename(var, "ys"));
    let expect = "f [n] (xs : [n]real) (x : real) {
  ys : [n]real, ys1 : real = for i < n (collect, reduce add) {
    e : real = xs[i]
    t : real = mul x, e
    => t, t
  }
  => ys : [n]real, ys1 : real
}
";
    assert_eq!(print(&f), expect);
}

#[test]
fn deep_and_long() {
    let f = function(&format!("{}=> x : real\n", "x : real = sin x\n".repeat(20_000)));
    accepts(&f);
    eval(&f, &args(&[], 1.0)).unwrap();
    print(&f);
}

#[test]
fn what_is_printed_reads_back() {
    for seed in 0..300 {
        let (f, args) = generate(seed);
        let text = print(&f);
        let again = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
        accepts(&again);
        assert_eq!(print(&again), text);
        let (expected, found) = (eval(&f, &args), eval(&again, &args));
        // Places are not printed, so failures are compared by their messages.
        match (expected, found) {
            (Ok(a), Ok(b)) => assert_eq!(format!("{a:?}"), format!("{b:?}"), "{text}"),
            (Err(a), Err(b)) => assert_eq!(a.message, b.message, "{text}"),
            (a, b) => panic!("{a:?}\n{b:?}\n{text}"),
        }
    }
}

#[test]
fn what_cannot_be_read_is_located() {
    let rejects = |text: &str, message: &str| {
        let error = read(text).expect_err(text);
        assert!(error.contains(message), "{error}");
    };
    rejects(
        "f (x : real) {\n  y : real = sine x\n  => y : real\n}",
        "line 2: `sine` is no primitive",
    );
    rejects("f (x : real) {\n  y : real = sin z\n  => y : real\n}", "line 2: `z` is not in scope");
    rejects("f (x : real) {\n  y : real = sin x x\n  => y : real\n}", "line 2: expected `,`");
    rejects("f (x : real) {\n  y : real = sin x\n}", "line 3: ");
    rejects("f (x : real) {\n  => x : real\n}\ng", "line 4: the function has ended");
    rejects("f (x : [2 real) {\n  => x : real\n}", "line 1: expected `]`");
    rejects(
        "f {\n  c : [3]real = constant [3]real {1.0, 2.0}\n  => c : [3]real\n}",
        "line 2: 2 elements",
    );
    rejects(
        "f (b : bool) {\n  t : int = if b {\n    k : int = add_int 1, 2\n    => k\n  } else {\n    => k\n  }\n  => t : int\n}",
        "line 6: `k` is not in scope",
    );
}

#[test]
fn all_elements_of_a_constant_are_printed() {
    let text = "f {\n  c : [3][4]int = constant [3][4]int {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -10, 11}\n  => c : [3][4]int\n}\n";
    assert_eq!(print(&read(text).unwrap()), text);
}

/// The recorded computations of constants have no cycle, so that they can be written down.
#[test]
fn no_constant_is_computed_of_itself() {
    use lambada_prim::{Prim, Scalar};
    let mut names = crate::Names::default();
    let real = Scalar::Real;
    let Scalar::Real(a) = names.fold(Prim::Log, &[real(3.0)]) else { panic!("a real") };
    let Scalar::Real(b) = names.fold(Prim::Neg, &[real(a)]) else { panic!("a real") };
    let Scalar::Real(c) = names.fold(Prim::Mul, &[real(b), real(0.7)]) else { panic!("a real") };
    // Back to an earlier constant, at once and by steps.
    names.fold(Prim::Mul, &[real(a), real(1.0)]);
    names.fold(Prim::Div, &[real(c), real(-0.7)]);
    assert_eq!(names.computed(a), Some((Prim::Log, &[real(3.0)][..])));
    assert_eq!(names.computed(b), None, "the sign of what is known");
    assert_eq!(names.computed(c), Some((Prim::Mul, &[real(b), real(0.7)][..])));
    // A constant in use as a number stays one.
    names.fold(Prim::Exp, &[real(0.7)]);
    names.fold(Prim::Sub, &[real(1.0), real(0.3)]);
    assert_eq!(names.computed(0.7), None);
}

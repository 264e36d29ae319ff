//! Control flow, cells, memory and failures, in handwritten functions.

mod common;

use common::*;
use lambada_loops::{Function, Nest, Return, Step, Stmt, While};
use lambada_prim::{Data, Prim, Scalar, Tensor};
use lambada_run::{Engine, Kernel, Settings};

fn ints(values: &[i64]) -> Tensor {
    Tensor { dims: vec![values.len()], data: Data::Int(values.to_vec()) }
}

fn reals(values: &[f64]) -> Tensor {
    Tensor::reals(vec![values.len()], values.to_vec())
}

/// `Σᵢ xᵢ yᵢ` in a cell.
fn dot() -> Function {
    let mut b = Builder::new("dot");
    let n = b.size("n");
    let (x, y) = (b.buffer(REAL, "x"), b.buffer(REAL, "y"));
    let sum = b.cell(REAL, 1, "sum", real(0.0));
    b.for_loop(int(0), n, 1, |b, i| {
        let (x, y) = (b.load(x, i, 1), b.load(y, i, 1));
        let product = b.prim(Prim::Mul, &[x, y]);
        let old = b.get(sum);
        let new = b.prim(Prim::Add, &[old, product]);
        b.set(sum, new);
    });
    let result = b.get(sum);
    b.finish(vec![Return::Scalar(result)])
}

#[test]
fn dot_product_reads_like_c() {
    let text = lambada_codegen::c_source(&dot());
    let kernel = "static int kernel_dot(struct lambada_context *ctx, union lambada_word *results, int64_t n, const double *restrict x, const double *restrict y) {
    double sum = 0.0;
    for (int64_t i_from = 0, i_to; i_from < n; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, n, 65536);
        for (int64_t i = i_from; i < i_to; i++) {
            sum += x[i] * y[i];
        }
    }
    results[0].real = sum;
    return 0;
}";
    assert!(text.contains(kernel), "{text}");
    assert!(!text.contains("#include"));
    let results =
        agree(&dot(), &[size(3), reals(&[1.0, 2.0, 3.0]), reals(&[4.0, 5.0, 6.0])]).unwrap();
    assert_eq!(results, [Tensor::scalar(Scalar::Real(32.0))]);
    agree(&dot(), &[size(0), reals(&[]), reals(&[])]).unwrap();
}

#[test]
fn pseudo_code_is_readable() {
    let expected = "dot[n](x : []real, y : []real)
  cell sum = 0.0
  for i in 0 .. n
    v = x[i]
    v_2 = y[i]
    t = v * v_2
    g = sum
    t_2 = g + t
    sum := t_2
  g = sum
  return g
";
    assert_eq!(lambada_loops::print(&dot()), expected);
}

/// The Fibonacci numbers below a limit, by `while` over two cells.
#[test]
fn while_loops() {
    let mut b = Builder::new("fibonacci");
    let limit = b.scalar(INT, "limit");
    let (x, y) = (b.cell(INT, 1, "x", int(0)), b.cell(INT, 1, "y", int(1)));
    b.open();
    let now = b.get(x);
    let test = b.prim(Prim::LtInt, &[now, limit]);
    let before = b.close();
    b.open();
    let (a, c) = (b.get(x), b.get(y));
    b.set(x, c);
    let sum = b.prim(Prim::AddInt, &[a, c]);
    b.set(y, sum);
    let body = b.close();
    b.put(Stmt::Nest(Nest::While { cond: While { before, test }, body }));
    let result = b.get(x);
    let function = b.finish(vec![Return::Scalar(result)]);
    assert!(lambada_codegen::c_source(&function).contains("while (x < limit) {"));
    for (limit, expected) in [(0, 0), (1, 1), (90, 144), (-5, 0)] {
        assert_eq!(
            agree(&function, &[size(limit)]).unwrap()[0].as_scalar(),
            Some(Scalar::Int(expected))
        );
    }
}

/// A condition that needs statements, whose names the body uses.
#[test]
fn while_with_statements_before_the_test() {
    let mut b = Builder::new("collatz");
    let start = b.scalar(INT, "start");
    let (x, steps) = (b.cell(INT, 1, "x", start), b.cell(INT, 1, "steps", int(0)));
    b.open();
    let now = b.get(x);
    let old = b.get(steps);
    let next = b.prim(Prim::AddInt, &[old, int(1)]);
    b.set(steps, next);
    let test = b.prim(Prim::NeInt, &[now, int(1)]);
    let before = b.close();
    b.open();
    let rest = b.prim(Prim::RemInt, &[now, int(2)]);
    let even = b.prim(Prim::EqInt, &[rest, int(0)]);
    b.choice(
        even,
        |b| {
            let half = b.prim(Prim::DivInt, &[now, int(2)]);
            b.set(x, half);
        },
        |b| {
            let triple = b.prim(Prim::MulInt, &[now, int(3)]);
            let odd = b.prim(Prim::AddInt, &[triple, int(1)]);
            b.set(x, odd);
        },
    );
    let body = b.close();
    b.put(Stmt::Nest(Nest::While { cond: While { before, test }, body }));
    let result = b.get(steps);
    let function = b.finish(vec![Return::Scalar(result)]);
    assert_eq!(agree(&function, &[size(27)]).unwrap()[0].as_scalar(), Some(Scalar::Int(112)));
}

/// `out[i] = x[i - 1] + x[i]` in two buffers that are swapped `t` times.
fn smooth() -> Function {
    let mut b = Builder::new("smooth");
    let n = b.size("n");
    let x = b.buffer(REAL, "x");
    let t = b.scalar(INT, "t");
    let (now, next) = (b.alloc(REAL, n, "now"), b.alloc(REAL, n, "next"));
    b.put(Stmt::Step(Step::Copy { to: now, from: x, len: n }));
    b.put(Stmt::Step(Step::Fill { buf: next, value: real(0.0), len: n }));
    b.for_loop(int(0), t, 1, |b, _| {
        b.for_loop(int(1), n, 1, |b, i| {
            let before = b.prim(Prim::SubInt, &[i, int(1)]);
            let (left, here) = (b.load(now, before, 1), b.load(now, i, 1));
            let sum = b.prim(Prim::Add, &[left, here]);
            b.store(next, i, sum);
        });
        b.put(Stmt::Step(Step::Swap(now, next)));
    });
    b.finish(vec![Return::Buffer(now, vec![n])])
}

#[test]
fn swaps_exchange_what_names_stand_for() {
    let one =
        |t| agree(&smooth(), &[size(4), reals(&[1.0, 2.0, 3.0, 4.0]), size(t)]).unwrap().remove(0);
    assert_eq!(one(0), reals(&[1.0, 2.0, 3.0, 4.0]));
    assert_eq!(one(1), reals(&[0.0, 3.0, 5.0, 7.0]));
    assert_eq!(one(3), reals(&[0.0, 4.0, 11.0, 20.0]));
    agree(&smooth(), &[size(0), reals(&[]), size(2)]).unwrap();
}

#[test]
fn views_and_constants() {
    let mut b = Builder::new("rows");
    let k = b.scalar(INT, "k");
    let table = b.constant(Tensor::reals(vec![3, 20], (0..60).map(f64::from).collect()));
    let flags =
        b.constant(Tensor { dims: vec![4], data: Data::Bool(vec![true, false, false, true]) });
    let nothing = b.constant(Tensor { dims: vec![0], data: Data::Int(vec![]) });
    let offset = b.prim(Prim::MulInt, &[k, int(20)]);
    let row = b.view(table, offset);
    let part = b.view(row, int(2));
    let out = b.alloc(REAL, int(8), "out");
    let inner = b.view(out, int(4));
    let four = b.load(part, int(1), 4);
    b.store(inner, int(0), four);
    b.put(Stmt::Step(Step::Copy { to: out, from: part, len: int(4) }));
    let mask = b.load(flags, int(0), 4);
    let chosen = b.prim(Prim::Select, &[mask, four, real(-1.0)]);
    let masked = b.alloc(REAL, int(4), "masked");
    b.store(masked, int(0), chosen);
    let bits = b.alloc(BOOL, int(4), "bits");
    let other = b.prim(Prim::Not, &[mask]);
    b.store(bits, int(0), other);
    let results = vec![
        Return::Buffer(out, vec![int(8)]),
        Return::Buffer(masked, vec![int(4)]),
        Return::Buffer(bits, vec![int(2), int(2)]),
        Return::Buffer(row, vec![int(3)]),
        Return::Buffer(nothing, vec![int(0), int(5)]),
    ];
    let results = agree(&b.finish(results), &[size(1)]).unwrap();
    assert_eq!(results[0], reals(&[22.0, 23.0, 24.0, 25.0, 23.0, 24.0, 25.0, 26.0]));
    assert_eq!(results[1], reals(&[23.0, -1.0, -1.0, 26.0]));
    assert_eq!(
        results[2],
        Tensor { dims: vec![2, 2], data: Data::Bool(vec![false, true, true, false]) }
    );
    assert_eq!(results[4].dims, [0, 5]);
}

/// Loads are delayed to their use, but not beyond a store to the same memory.
#[test]
fn a_load_does_not_move_beyond_a_store() {
    let mut b = Builder::new("rotate");
    let x = b.buffer(INT, "x");
    let y = b.alloc(INT, int(3), "y");
    b.put(Stmt::Step(Step::Copy { to: y, from: x, len: int(3) }));
    let alias = b.view(y, int(1));
    let first = b.load(y, int(0), 1);
    let second = b.load(y, int(1), 1);
    let cell = b.cell(INT, 1, "c", int(5));
    let old = b.get(cell);
    b.store(alias, int(0), first);
    b.store(y, int(0), second);
    b.set(cell, int(6));
    let new = b.get(cell);
    b.set(cell, int(7));
    let results = vec![Return::Buffer(y, vec![int(3)]), Return::Scalar(old), Return::Scalar(new)];
    let results = agree(&b.finish(results), &[ints(&[1, 2, 3])]).unwrap();
    assert_eq!(results, [ints(&[2, 1, 3]), size(5), size(6)]);
}

/// A check that holds, and one that fails with its numbers; the kernel works afterwards.
#[test]
fn failing_checks_say_their_numbers() {
    let mut b = Builder::new("checked");
    let n = b.size("n");
    let (x, k) = (b.buffer(REAL, "x"), b.scalar(INT, "k"));
    let scratch = b.alloc(REAL, int(100_000), "scratch");
    b.store(scratch, int(99_999), real(1.0));
    let low = b.prim(Prim::LeInt, &[int(0), k]);
    let high = b.prim(Prim::LtInt, &[k, n]);
    let both = b.prim(Prim::And, &[low, high]);
    b.check(both, "index {0} is out of range for size {1}", &[k, n]);
    b.for_loop(int(0), n, 1, |b, i| {
        let x = b.load(x, i, 1);
        let fine = b.prim(Prim::Le, &[real(0.0), x]);
        b.check(fine, "a \"negative\" element \\", &[]);
    });
    let value = b.load(x, k, 1);
    let function = b.finish(vec![Return::Scalar(value)]);
    let kernel = exact(&[&function]).remove(0);
    let run = |values: &[f64], k| {
        compare(&function, &kernel, &[size(values.len() as i64), reals(values), size(k)], 0.0)
    };
    assert_eq!(run(&[1.0, 2.0], 1).unwrap(), [Tensor::scalar(Scalar::Real(2.0))]);
    assert_eq!(run(&[1.0, 2.0], 7).unwrap_err().message, "index 7 is out of range for size 2");
    assert_eq!(run(&[1.0, -2.0], 0).unwrap_err().message, "a \"negative\" element \\");
    assert_eq!(run(&[f64::NAN], 0).unwrap_err().message, "a \"negative\" element \\");
    assert_eq!(run(&[3.0], 0).unwrap(), [Tensor::scalar(Scalar::Real(3.0))]);
}

#[test]
fn scopes_give_memory_back() {
    let function = scopes();
    let kernel = exact(&[&function]).remove(0);
    for n in [1, 10, 20_000, 3] {
        let results = compare(&function, &kernel, &[size(n)], 0.0).unwrap();
        assert_eq!(results[0].as_scalar(), Some(Scalar::Real(2000.0)));
    }
}

#[test]
fn too_much_memory_is_a_failure() {
    let mut b = Builder::new("huge");
    let n = b.size("n");
    let huge = b.alloc(REAL, n, "huge");
    b.store(huge, int(0), real(1.0));
    let value = b.load(huge, int(0), 1);
    let function = b.finish(vec![Return::Scalar(value)]);
    for n in [i64::MAX, i64::MAX / 8, 1 << 58] {
        let message = agree(&function, &[size(n)]).unwrap_err().message;
        assert!(message.starts_with("out of memory: this array"), "{message}");
    }
    agree(&function, &[size(1)]).unwrap();
}

#[test]
fn names_that_c_or_the_runtime_uses() {
    let mut b = Builder::new("main");
    let names = [
        "exp",
        "double",
        "ctx",
        "results",
        "results",
        "int64_t",
        "f64x4",
        "lam_alloc",
        "x",
        "_x",
        "x'",
        "",
        "9",
        "INFINITY",
        "mask2",
    ];
    let args: Vec<_> = names.iter().map(|name| b.scalar(REAL, name)).collect();
    let mut sum = real(0.0);
    for arg in args {
        let e = b.prim(Prim::Exp, &[arg]);
        let capped = b.prim(Prim::Min, &[e, real(f64::INFINITY)]);
        sum = b.prim(Prim::Add, &[sum, capped]);
    }
    let function = b.finish(vec![Return::Scalar(sum)]);
    let args: Vec<Tensor> = names.iter().map(|_| Tensor::scalar(Scalar::Real(0.0))).collect();
    assert_eq!(
        agree(&function, &args).unwrap()[0].as_scalar(),
        Some(Scalar::Real(names.len() as f64))
    );
}

#[test]
fn wrong_arguments_are_internal_errors() {
    let function = dot();
    for settings in
        [Settings::default(), Settings { engine: Engine::Interpreter, ..Settings::default() }]
    {
        let kernel = Kernel::compile_with(&[&function], settings).unwrap().remove(0);
        assert_eq!(kernel.engine(), settings.engine);
        let fails = |args: &[Tensor]| {
            assert!(
                kernel.call(args).unwrap_err().message.starts_with("internal error"),
                "{args:?}"
            )
        };
        fails(&[]);
        fails(&[size(1), reals(&[1.0]), ints(&[1])]);
        fails(&[reals(&[1.0]), reals(&[1.0]), reals(&[1.0])]);
        assert_eq!(kernel.time(&[size(1), reals(&[1.0]), reals(&[1.0])], 3).unwrap().len(), 3);
    }
}

/// Adds 1 as many times as its argument says.
fn counted() -> Function {
    let mut b = Builder::new("counted");
    let n = b.scalar(INT, "n");
    let sum = b.cell(REAL, 1, "sum", real(0.0));
    b.for_loop(int(0), n, 1, |b, _| {
        let old = b.get(sum);
        let new = b.prim(Prim::Add, &[old, real(1.0)]);
        b.set(sum, new);
    });
    let result = b.get(sum);
    b.finish(vec![Return::Scalar(result)])
}

/// The code of the C compiler replaces that of `lambada_jit` while a kernel is called, and a run
/// that lasts waits for it.
#[test]
fn calls_need_not_wait_for_the_c_compiler() {
    use lambada_prim::Precision::F64;
    if !lambada_run::translates(F64) || lambada_run::Compiler::find().is_none() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("lambada-meanwhile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let settings = Settings { meanwhile: true, ..Settings::default() };
    let lowered = || Kernel::lowered(F64, settings, Some(&folder), |_| counted()).unwrap();
    let kernel = lowered();
    assert_eq!(kernel.engine(), Engine::Jit);
    let sum = |n: i64| vec![Tensor::scalar(Scalar::Real(n as f64))];
    assert_eq!(kernel.call(&[size(5)]).unwrap(), sum(5));
    assert_eq!(kernel.call(&[size(1 << 30)]).unwrap(), sum(1 << 30));
    assert_eq!(kernel.engine(), Engine::Native);
    assert_eq!(kernel.call(&[size(5)]).unwrap(), sum(5));
    // The next one finds it.
    assert_eq!(lowered().engine(), Engine::Native);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_interpreter_catches_what_is_out_of_range() {
    let mut b = Builder::new("outside");
    let (x, k) = (b.buffer(REAL, "x"), b.scalar(INT, "k"));
    let view = b.view(x, k);
    let value = b.load(view, int(-1), 2);
    let out = b.alloc(REAL, int(2), "out");
    b.store(out, int(0), value);
    let function = b.finish(vec![Return::Buffer(out, vec![int(2)])]);
    let run = |k| lambada_loops::eval(&function, &[reals(&[1.0, 2.0, 3.0]), size(k)]);
    assert_eq!(run(2).unwrap(), [reals(&[2.0, 3.0])]);
    for k in [0, 3, i64::MAX, i64::MIN] {
        assert!(run(k).unwrap_err().message.starts_with("internal error: `outside` touches"));
    }
}

#[test]
fn functions_of_one_unit_may_have_one_name() {
    let functions = [dot(), smooth(), dot()];
    let kernels = exact(&functions.iter().collect::<Vec<_>>());
    for kernel in [&kernels[0], &kernels[2]] {
        let results = kernel.call(&[size(1), reals(&[2.0]), reals(&[3.0])]).unwrap();
        assert_eq!(results[0].as_scalar(), Some(Scalar::Real(6.0)));
    }
}

/// Long straight-line code with deeply nested expressions.
#[test]
fn twenty_thousand_statements() {
    let mut b = Builder::new("long");
    let x = b.scalar(REAL, "x");
    let mut value = x;
    for k in 0..20_000 {
        value = b.prim(
            if k % 3 == 0 { Prim::Mul } else { Prim::Add },
            &[value, if k % 5 == 0 { x } else { real(0.5) }],
        );
    }
    let function = b.finish(vec![Return::Scalar(value)]);
    agree(&function, &[Tensor::scalar(Scalar::Real(0.25))]).unwrap();
}

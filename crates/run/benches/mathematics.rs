//! Nanoseconds per element of each function, `cargo bench -p lambada-run --bench mathematics`: on
//! vectors of 8, 4 and 2 lanes, and on one lane, which for most is the function of the C library.
//! The minimum over many runs on 4096 elements in the cache.

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;
use lambada_loops::{Function, Return};
use lambada_prim::{Prim, Scalar, Tensor};
use lambada_run::{Kernel, Settings};

const COUNT: usize = 4096;

/// Functions with the ranges of their arguments.
const CASES: [(Prim, f64, f64); 23] = [
    (Prim::Exp, -20.0, 20.0),
    (Prim::Expm1, -2.0, 2.0),
    (Prim::Log, 0.0, 20.0),
    (Prim::Log1p, -0.9, 3.0),
    (Prim::Sqrt, 0.0, 20.0),
    (Prim::Sin, -20.0, 20.0),
    (Prim::Cos, -20.0, 20.0),
    (Prim::Tan, -20.0, 20.0),
    (Prim::Asin, -1.0, 1.0),
    (Prim::Acos, -1.0, 1.0),
    (Prim::Atan, -5.0, 5.0),
    (Prim::Atan2, -5.0, 5.0),
    (Prim::Hypot, -5.0, 5.0),
    (Prim::Sinh, -5.0, 5.0),
    (Prim::Cosh, -5.0, 5.0),
    (Prim::Tanh, -3.0, 3.0),
    (Prim::Pow, 0.1, 5.0),
    (Prim::Erf, -3.0, 3.0),
    (Prim::Erfc, -3.0, 5.0),
    (Prim::Lgamma, 0.1, 20.0),
    (Prim::Digamma, 0.1, 20.0),
    (Prim::Floor, -5.0, 5.0),
    (Prim::Round, -5.0, 5.0),
];

/// `for i { out[i] = prim(x[i] …) }`, with `lanes` lanes.
fn elementwise(prim: Prim, lanes: u16) -> Function {
    let mut b = Builder::new(&format!("{}_{lanes}", prim.name()));
    let n = b.size("n");
    let args: Vec<_> = prim.args().iter().map(|elem| b.buffer(*elem, "x")).collect();
    let out = b.alloc(prim.result(), n, "out");
    b.for_loop(int(0), n, i64::from(lanes), |b, i| {
        let args: Vec<_> = args.iter().map(|arg| b.load(*arg, i, lanes)).collect();
        let value = b.prim_lanes(prim, &args, lanes);
        b.store(out, i, value);
    });
    b.finish(vec![Return::Buffer(out, vec![n])])
}

/// log Σ exp x and its gradient, in two passes, as the scheduler writes it: the maximum and the sum
/// in lanes, then the quotients.
const LOG_SUM_EXP: &str = "lse[n](xs : []real)
  g = alloc real[n]
  cell most : real x 8 = -inf
  for i in 0 .. n by 8, reduction
    x : real x 8 = xs[i ..+ 8]
    old : real x 8 = most
    new : real x 8 = max(old, x)
    most := new
  all : real x 8 = most
  m = fold max all
  cell sum : real x 8 = 0.0
  for j in 0 .. n by 8, reduction
    y : real x 8 = xs[j ..+ 8]
    d : real x 8 = y - m
    e : real x 8 = exp(d)
    g[j ..+ 8] := e
    before : real x 8 = sum
    after : real x 8 = before + e
    sum := after
  sums : real x 8 = sum
  s = fold add sums
  r = 1.0 / s
  for k in 0 .. n by 8, independent
    h : real x 8 = g[k ..+ 8]
    q : real x 8 = h * r
    g[k ..+ 8] := q
  l = log(s)
  value = m + l
  return value, g[n]
";

/// A vectorized loop from text, for comparison with handwritten loops.
fn log_sum_exp() {
    const COUNT: usize = 100_000;
    let function = lambada_loops::read(LOG_SUM_EXP).expect("it is well-formed");
    let kernel = Kernel::compile(&function).expect("a C compiler");
    let xs = (0..COUNT).map(|k| ((k * 7919) % 1000) as f64 / 100.0).collect();
    let args = [Tensor::scalar(Scalar::Int(COUNT as i64)), Tensor::reals(vec![COUNT], xs)];
    let times = kernel.time(&args, 300).expect("it does not fail");
    let fastest = *times.iter().min().expect("it ran") as f64 / COUNT as f64;
    println!("log-sum-exp and its gradient, {COUNT} elements: {fastest:.2}");
}

fn main() {
    log_sum_exp();
    println!("{:8} {:>6} {:>6} {:>6} {:>6}", "ns", "x8", "x4", "x2", "x1");
    for (prim, low, high) in CASES {
        let functions = [8, 4, 2, 1].map(|lanes| elementwise(prim, lanes));
        let kernels =
            Kernel::compile_with(&functions.iter().collect::<Vec<_>>(), Settings::default())
                .expect("a C compiler");
        let column = |k: usize| {
            let x =
                |j| low + (high - low) * ((j * (7919 + 2 * k) + 13) % COUNT) as f64 / COUNT as f64;
            Tensor::reals(vec![COUNT], (0..COUNT).map(x).collect())
        };
        let mut args = vec![Tensor::scalar(Scalar::Int(COUNT as i64))];
        args.extend((0..prim.args().len()).map(column));
        let fastest = |kernel: &Kernel| {
            let times = kernel.time(&args, 300).expect("these functions do not fail");
            *times.iter().min().expect("it ran") as f64 / COUNT as f64
        };
        let times: Vec<String> =
            kernels.iter().map(|kernel| format!("{:6.2}", fastest(kernel))).collect();
        println!("{:8} {}", prim.name(), times.join(" "));
    }
}

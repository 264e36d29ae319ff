//! Overhead of a call from Rust: `cargo bench -p lambada --bench calls`.
//!
//! The function runs a chain of `k` multiply-adds. For `k = 0` the time is all overhead; for the
//! larger `k` the chain takes about a microsecond. Each time is the minimum over many rounds of
//! many calls. Rounds alternate between the two, so that both meet the same state of the machine.

use std::hint::black_box;
use std::time::Instant;

use lambada::{Model, args};
use ndarray::{Array1, Array2};

const TEXT: &str = "
def chain [n] [d] (w : [d]real) (x : [n][d]real) (a : real) (k : int) =
  loop y = a + w[0] + x[0, 0] for i < k do 0.5 * y + a
";

/// About a microsecond.
const LONG: i64 = 1000;

const CALLS: u32 = 1_000;
const ROUNDS: usize = 300;

/// Nanoseconds of a call.
fn round(call: &mut dyn FnMut(i64), k: i64) -> f64 {
    let start = Instant::now();
    for _ in 0..CALLS {
        call(black_box(k));
    }
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn measure(name: &str, mut call: impl FnMut(i64)) {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (best, k) in best.iter_mut().zip([0, LONG]) {
            *best = best.min(round(&mut call, k));
        }
    }
    println!("{name:<40} {:>9.0} {:>9.0}", best[0], best[1]);
}

fn main() -> Result<(), lambada::Error> {
    let model = Model::compile("chain.lam", TEXT)?;
    let f = model.function("chain")?;
    let (w, x) = (Array1::from_elem(4, 0.5), Array2::from_elem((3, 4), 0.25));
    let mut y: f64 = 0.0;
    println!("{:<40} {:>9} {:>9}", "nanoseconds", "k = 0", format!("k = {LONG}"));
    let prepared = [args![&w, &x, 1.5, 0], args![&w, &x, 1.5, LONG]];
    measure("call_into, arguments made before", |k| {
        f.call_into(&prepared[usize::from(k > 0)], &mut y).expect("it runs");
    });
    measure("call_into, arguments by position", |k| {
        f.call_into(&args![&w, &x, 1.5, k], &mut y).expect("it runs");
    });
    measure("call, arguments by position", |k| {
        y = f.call(args![&w, &x, 1.5, k]).and_then(f64::try_from).expect("it runs");
    });
    measure("call, arguments by name", |k| {
        let all = args![w: &w, x: &x, a: 1.5, k: k];
        y = f.call(all).and_then(f64::try_from).expect("it runs");
    });
    let gradient = f.value_and_grad(&["w", "a"])?;
    let mut out = (0.0, Array1::<f64>::zeros(4), 0.0);
    measure("value_and_grad, call_into", |k| {
        gradient.call_into(&prepared[usize::from(k > 0)], &mut out).expect("it runs");
    });
    measure("value_and_grad, call", |k| {
        black_box(gradient.call(args![&w, &x, 1.5, k])).expect("it runs");
    });
    Ok(())
}

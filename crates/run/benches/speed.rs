//! Speed of both engines: `cargo bench -p lambada-run`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;
use lambada_loops::{Function, Return};
use lambada_prim::{Prim, Tensor};
use lambada_run::{Engine, Kernel, Settings};

/// Multiplication of square matrices by three loops; the innermost has five operations and two
/// loads.
fn matmul() -> Function {
    let mut b = Builder::new("matmul");
    let n = b.size("n");
    let (x, y) = (b.buffer(REAL, "x"), b.buffer(REAL, "y"));
    let len = b.prim(Prim::MulInt, &[n, n]);
    let out = b.alloc(REAL, len, "out");
    b.for_loop(int(0), n, 1, |b, i| {
        let row = b.prim(Prim::MulInt, &[i, n]);
        b.for_loop(int(0), n, 1, |b, j| {
            let sum = b.cell(REAL, 1, "sum", real(0.0));
            b.for_loop(int(0), n, 1, |b, k| {
                let left = b.prim(Prim::AddInt, &[row, k]);
                let left = b.load(x, left, 1);
                let down = b.prim(Prim::MulInt, &[k, n]);
                let right = b.prim(Prim::AddInt, &[down, j]);
                let right = b.load(y, right, 1);
                let product = b.prim(Prim::Mul, &[left, right]);
                let old = b.get(sum);
                let new = b.prim(Prim::Add, &[old, product]);
                b.set(sum, new);
            });
            let place = b.prim(Prim::AddInt, &[row, j]);
            let total = b.get(sum);
            b.store(out, place, total);
        });
    });
    b.finish(vec![Return::Buffer(out, vec![n, n])])
}

fn main() {
    const N: usize = 200;
    let function = matmul();
    let matrix = |shift: usize| {
        Tensor::reals(vec![N, N], (0..N * N).map(|k| ((k + shift) % 17) as f64).collect())
    };
    let args = [size(N as i64), matrix(0), matrix(5)];
    for engine in [Engine::Native, Engine::Interpreter] {
        let kernel = Kernel::compile_with(&[&function], Settings { engine, ..Settings::default() })
            .unwrap()
            .remove(0);
        let best = kernel.time(&args, 5).unwrap().into_iter().min().unwrap();
        let operations = (N * N * N * 10) as f64;
        println!(
            "{engine:?}: {:.1} ms, {:.0} million operations a second",
            best as f64 * 1e-6,
            operations * 1e3 / best as f64
        );
    }
}

//! Vectorized loops from text: the interpreter and machine code agree at every size, tails
//! included.

mod common;

use common::*;
use lambada_prim::{Data, Scalar, Tensor};

const SOFTPLUS: &str = include_str!("../../codegen/tests/golden/vectors.loops");

fn ints(values: Vec<i64>) -> Tensor {
    Tensor { dims: vec![values.len()], data: Data::Int(values) }
}

#[test]
fn tails_gathers_and_scatters() {
    let function = lambada_loops::read(SOFTPLUS).unwrap();
    assert_eq!(lambada_loops::print(&function), SOFTPLUS);
    let kernels = exact(&[&function]);
    for n in [1, 2, 7, 8, 9, 15, 16, 17, 40] {
        let xs = (0..n).map(|k| f64::from(k * 7 % 19) * 3.0 - 20.0).collect();
        let m = n - n % 4;
        // Colliding offsets: the last of the lanes wins.
        let at = (0..m).map(|k| i64::from(k * k % n)).collect();
        let size = |size: i32| Tensor::scalar(Scalar::Int(size.into()));
        let args = [size(n), size(m), Tensor::reals(vec![n as usize], xs), ints(at)];
        compare(&function, &kernels[0], &args, 1e-14).unwrap();
    }
}

/// Inactive lanes repeat the last active one and access no memory; otherwise the interpreter would
/// notice.
#[test]
fn some_lanes_are_none_or_all() {
    for lanes in [2, 4, 8] {
        let text = format!(
            "f[count](xs : []real)
  n = count + 1
  ys = alloc real[n]
  fill ys[0 ..+ n] := 7.0
  v : real x {lanes} = xs[0 ..+ count of {lanes}]
  w : real x {lanes} = v + 1.0
  ys[1 ..+ count of {lanes}] := w
  total = fold add w
  return total, ys[n]
"
        );
        let function = lambada_loops::read(&text).unwrap();
        let kernels = exact(&[&function]);
        for count in 0..=lanes {
            let xs: Vec<f64> = (0..count).map(|k| k as f64 + 0.5).collect();
            let last = xs.last().copied().unwrap_or(0.0);
            let others = (lanes - count) as f64 * last;
            let total = xs.iter().sum::<f64>() + others + lanes as f64;
            let count = Tensor::scalar(Scalar::Int(count as i64));
            let args = [count, Tensor::reals(vec![xs.len()], xs)];
            let results = compare(&function, &kernels[0], &args, 0.0).unwrap();
            assert_eq!(results[0].as_scalar(), Some(Scalar::Real(total)));
        }
    }
}

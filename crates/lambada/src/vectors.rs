//! First-order values as vectors of their reals, for finite differences and inner products.

use lambada_core::data::Data;
use lambada_prim::{Scalar, Tensor};

/// All reals, in order.
pub fn reals(data: &Data) -> Vec<f64> {
    let mut out = Vec::new();
    visit(data, &mut |x| out.push(x));
    out
}

fn visit(data: &Data, f: &mut dyn FnMut(f64)) {
    match data {
        Data::Tensor(Tensor { data: elements, .. }) => {
            for k in 0..elements.len() {
                if let Scalar::Real(x) = elements.get(k) {
                    f(x);
                }
            }
        }
        Data::Tuple(items) | Data::Array(items) => items.iter().for_each(|d| visit(d, f)),
        Data::Record(fields) => fields.iter().for_each(|(_, d)| visit(d, f)),
        Data::Con { args, .. } => args.iter().for_each(|d| visit(d, f)),
    }
}

/// All reals and integers, and 0 or 1 for truth values, in order.
pub fn numbers(data: &Data) -> Vec<f64> {
    let scalar = |s: Scalar| match s {
        Scalar::Real(x) => x,
        Scalar::Int(k) => k as f64,
        Scalar::Bool(b) => f64::from(b),
    };
    match data {
        Data::Tensor(tensor) => {
            (0..tensor.data.len()).map(|k| scalar(tensor.data.get(k))).collect()
        }
        Data::Tuple(items) | Data::Array(items) => items.iter().flat_map(numbers).collect(),
        Data::Record(fields) => fields.iter().flat_map(|(_, d)| numbers(d)).collect(),
        Data::Con { tag, args, .. } => {
            std::iter::once(*tag as f64).chain(args.iter().flat_map(numbers)).collect()
        }
    }
}

/// The value with its reals replaced in order.
pub fn with_reals(data: &Data, next: &mut dyn FnMut() -> f64) -> Data {
    match data {
        Data::Tensor(tensor) => {
            let mut tensor = tensor.clone();
            for k in 0..tensor.data.len() {
                if let Scalar::Real(_) = tensor.data.get(k) {
                    tensor.data.set(k, Scalar::Real(next()));
                }
            }
            Data::Tensor(tensor)
        }
        Data::Tuple(items) => Data::Tuple(items.iter().map(|d| with_reals(d, next)).collect()),
        Data::Array(items) => Data::Array(items.iter().map(|d| with_reals(d, next)).collect()),
        Data::Record(fields) => {
            Data::Record(fields.iter().map(|(n, d)| (n.clone(), with_reals(d, next))).collect())
        }
        Data::Con { name, tag, args } => Data::Con {
            name: name.clone(),
            tag: *tag,
            args: args.iter().map(|d| with_reals(d, next)).collect(),
        },
    }
}

/// `a + h b`, on the reals only.
pub fn moved(a: &Data, h: f64, b: &Data) -> Data {
    let (x, d) = (reals(a), reals(b));
    assert_eq!(x.len(), d.len(), "a tangent has the shape of its point");
    let mut sums = x.iter().zip(&d).map(|(x, d)| x + h * d);
    with_reals(a, &mut || sums.next().expect("as many as in the point"))
}

/// `Σ a b`
pub fn inner(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

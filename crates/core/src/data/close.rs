//! Equality up to rounding; a failure names the first position that differs.

use lambada_prim::{Scalar, Tensor};
use lambada_source::stack;

use super::Data;
use super::text::show;

/// See [`Data::close`].
pub fn close(a: &Data, b: &Data, rtol: f64) -> Result<(), String> {
    let Some(Difference { what, mut path }) = differ(a, b, rtol) else { return Ok(()) };
    path.reverse();
    let path = path.concat();
    Err(if path.is_empty() { what } else { format!("at {path}: {what}") })
}

/// A difference, and the path to its position, last step first.
struct Difference {
    what: String,
    path: Vec<String>,
}

fn here(what: String) -> Option<Difference> {
    Some(Difference { what, path: Vec::new() })
}

/// The first position at which two values differ.
fn differ(a: &Data, b: &Data, rtol: f64) -> Option<Difference> {
    match (a, b) {
        (Data::Tensor(a), Data::Tensor(b)) => differ_tensor(a, b, rtol),
        (Data::Tuple(xs), Data::Tuple(ys)) if xs.len() == ys.len() => {
            differ_all(xs, ys, rtol, |k| format!(".{k}"))
        }
        (Data::Array(xs), Data::Array(ys)) if xs.len() == ys.len() => {
            differ_all(xs, ys, rtol, |k| format!("[{k}]"))
        }
        (Data::Array(xs), Data::Array(ys)) => {
            here(format!("the sizes {} and {} differ", xs.len(), ys.len()))
        }
        (Data::Record(xs), Data::Record(ys))
            if xs.iter().map(|(name, _)| name).eq(ys.iter().map(|(name, _)| name)) =>
        {
            xs.iter().zip(ys).find_map(|((name, x), (_, y))| {
                let step = || format!(".{name}");
                stack::deeper(|| differ(x, y, rtol)).map(|found| found.below(step()))
            })
        }
        (
            Data::Con { name, tag, args: xs },
            Data::Con { name: other, tag: other_tag, args: ys },
        ) => {
            if tag != other_tag || xs.len() != ys.len() {
                return here(format!("the constructors {name} and {other} differ"));
            }
            differ_all(xs, ys, rtol, |k| format!(".{name}.{k}"))
        }
        (
            Data::Tensor(_) | Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. },
            _,
        ) => here(format!("{a} and {b} are of different kinds")),
    }
}

impl Difference {
    fn below(mut self, step: String) -> Difference {
        self.path.push(step);
        self
    }
}

fn differ_all(
    xs: &[Data],
    ys: &[Data],
    rtol: f64,
    step: impl Fn(usize) -> String,
) -> Option<Difference> {
    xs.iter().zip(ys).enumerate().find_map(|(k, (x, y))| {
        stack::deeper(|| differ(x, y, rtol)).map(|found| found.below(step(k)))
    })
}

fn differ_tensor(a: &Tensor, b: &Tensor, rtol: f64) -> Option<Difference> {
    if a.dims != b.dims {
        return here(format!("the sizes {:?} and {:?} differ", a.dims, b.dims));
    }
    if a.elem() != b.elem() {
        return here(format!("{} and {} differ", a.elem(), b.elem()));
    }
    let k = (0..a.data.len()).find(|&k| !same(a.data.get(k), b.data.get(k), rtol))?;
    let what = format!("{} and {} differ", show(a.data.get(k)), show(b.data.get(k)));
    here(what).map(|found| found.below(position(&a.dims, k)))
}

fn same(a: Scalar, b: Scalar, rtol: f64) -> bool {
    match (a, b) {
        (Scalar::Real(a), Scalar::Real(b)) => {
            a == b
                || a.is_nan() && b.is_nan()
                || (a - b).abs() <= rtol * a.abs().max(b.abs()).max(1.0) && (a - b).is_finite()
        }
        (Scalar::Real(_) | Scalar::Int(_) | Scalar::Bool(_), _) => a == b,
    }
}

/// The indices of the k-th element, as `[i, j]`.
fn position(dims: &[usize], mut k: usize) -> String {
    if dims.is_empty() {
        return String::new();
    }
    let mut indices = Vec::new();
    for dim in dims.iter().rev() {
        indices.push((k % dim).to_string());
        k /= dim;
    }
    indices.reverse();
    format!("[{}]", indices.join(", "))
}

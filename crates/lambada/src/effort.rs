//! How much effort the C compiler is worth. What it makes in a third of the time runs a fifth longer or so, which a single run on little data does not notice.

use lambada_core::data::Data;
use lambada_prim::{Scalar, ScalarTy, Tensor};

/// The elements of all arguments of a small run; so does the sum of its integers, which may be sizes or numbers of iterations.
const SMALL: u64 = 1 << 20;

/// Is a single run on these arguments likely to end sooner with code that is compiled quickly ([`Options::quick`](crate::Options::quick))? That depends on the
/// arguments alone, so the same run is compiled in the same way each time and gives the same digits.
///
/// ```
/// use lambada::{Data, Tensor, soon};
///
/// assert!(soon(&[Data::Tensor(Tensor::reals(vec![1000], vec![0.0; 1000]))]));
/// assert!(!soon(&[Data::from(1_000_000_000_i64)]));
/// ```
pub fn soon(args: &[Data]) -> bool {
    args.iter().fold(0, |sum: u64, arg| sum.saturating_add(amount(arg))) <= SMALL
}

/// How many elements a value has, and what its integers are together.
fn amount(data: &Data) -> u64 {
    let sum = |items: &mut dyn Iterator<Item = &Data>| {
        items.fold(0, |sum: u64, item| sum.saturating_add(amount(item)))
    };
    match data {
        Data::Tensor(tensor) => elements(tensor),
        Data::Tuple(items) | Data::Array(items) => sum(&mut items.iter()),
        Data::Con { args, .. } => sum(&mut args.iter()),
        Data::Record(fields) => sum(&mut fields.iter().map(|(_, item)| item)),
    }
}

fn elements(tensor: &Tensor) -> u64 {
    let count = tensor.data.len() as u64;
    match tensor.elem() {
        ScalarTy::Int if count <= SMALL => (0..tensor.data.len())
            .map(|k| match tensor.data.get(k) {
                Scalar::Int(value) => value.unsigned_abs(),
                Scalar::Real(_) | Scalar::Bool(_) => 0,
            })
            .fold(count, u64::saturating_add),
        ScalarTy::Int | ScalarTy::Real | ScalarTy::Bool => count,
    }
}

//! Estimate of the effort of a run. The C compiler takes longer than a single run on small data, so
//! such a run starts without it ([`brief`](crate::brief)). If it must go on, it uses code that
//! compiles in a third of the time and runs about a fifth longer.

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Tensor};

/// Limit of a small run for the number of elements of all arguments plus the sum of its integers,
/// which may be sizes or trip counts.
const SMALL: u64 = 1 << 20;

/// Whether a single run on these arguments probably ends sooner if it does not wait for the C
/// compiler ([`Options::quick`](crate::Options::quick)). Depends on the arguments alone, so that
/// repeated runs yield the same digits.
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

/// Number of elements plus the sum of the absolute values of all integers.
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

fn elements(Tensor { data, .. }: &Tensor) -> u64 {
    let count = data.len() as u64;
    // The element count alone already exceeds the limit for larger arrays.
    if let Elements::Int(values) = data
        && count <= SMALL
    {
        return values.iter().fold(count, |sum, value| sum.saturating_add(value.unsigned_abs()));
    }
    count
}

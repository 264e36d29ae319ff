//! How much effort a run is worth. The C compiler takes longer than a single run on little data,
//! which begins without it ([`brief`](crate::brief)); what it makes in a third of the time runs a
//! fifth longer or so.

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Tensor};

/// The elements of all arguments of a small run; so does the sum of its integers, which may be
/// sizes or numbers of iterations.
const SMALL: u64 = 1 << 20;

/// Is a single run on these arguments likely to end sooner if it begins at once
/// ([`Options::quick`](crate::Options::quick))? That depends on the arguments alone, so the same
/// run is done in the same way each time and gives the same digits.
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

fn elements(Tensor { data, .. }: &Tensor) -> u64 {
    let count = data.len() as u64;
    // Of an array that is large already, more need not be known.
    if let Elements::Int(values) = data
        && count <= SMALL
    {
        return values.iter().fold(count, |sum, value| sum.saturating_add(value.unsigned_abs()));
    }
    count
}

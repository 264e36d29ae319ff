//! Reals of programs whose reals have 32 bits: data have 64.

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Tensor};
use lambada_source::stack;

/// The first real that one of 32 bits cannot be, though it is finite, and where it stands.
pub(super) fn beyond(data: &Data) -> Option<(String, f64)> {
    let is_large = |x: f64| x.is_finite() && (x as f32).is_infinite();
    let inside = |place: String, item: &Data| {
        stack::deeper(|| beyond(item)).map(|(rest, x)| (format!("{place}{rest}"), x))
    };
    let items = |items: &[Data]| {
        items.iter().enumerate().find_map(|(k, item)| inside(format!("[{k}]"), item))
    };
    match data {
        Data::Tensor(Tensor { dims, data: Elements::Real(values) }) => {
            let mut at = values.iter().position(|x| is_large(*x))?;
            let x = values[at];
            let mut places: Vec<String> = Vec::with_capacity(dims.len());
            for size in dims.iter().rev() {
                places.push(format!("[{}]", at % size));
                at /= size;
            }
            Some((places.into_iter().rev().collect(), x))
        }
        Data::Tensor(Tensor { data: Elements::Int(_) | Elements::Bool(_), .. }) => None,
        Data::Tuple(all) | Data::Array(all) => items(all),
        Data::Con { name, args, .. } => items(args).map(|(rest, x)| (format!(".{name}{rest}"), x)),
        Data::Record(fields) => {
            fields.iter().find_map(|(name, field)| inside(format!(".{name}"), field))
        }
    }
}

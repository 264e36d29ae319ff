//! Range check for programs with 32-bit reals, because data have 64 bits.

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Tensor};
use lambada_source::stack;

/// Longest path that is printed. A list of a million elements can be equally deep.
const STEPS: usize = 16;

/// The first finite real beyond the range of 32 bits, with its path unless that is too long.
pub(super) fn beyond(data: &Data) -> Option<(String, f64)> {
    let mut steps = Vec::new();
    let x = found(data, &mut steps)?;
    let place = if steps.len() > STEPS { String::new() } else { steps.into_iter().rev().collect() };
    Some((place, x))
}

/// Finds the number; adds its path in reverse, up to the length that is printed.
fn found(data: &Data, steps: &mut Vec<String>) -> Option<f64> {
    let mut inside = |item: &Data, step: &dyn Fn() -> String| {
        let x = stack::deeper(|| found(item, steps))?;
        if steps.len() <= STEPS {
            steps.push(step());
        }
        Some(x)
    };
    match data {
        Data::Tensor(Tensor { dims, data: Elements::Real(values) }) => {
            let mut at = values.iter().position(|x| x.is_finite() && (*x as f32).is_infinite())?;
            let x = values[at];
            for size in dims.iter().rev() {
                steps.push(format!("[{}]", at % size));
                at /= size;
            }
            Some(x)
        }
        Data::Tensor(Tensor { data: Elements::Int(_) | Elements::Bool(_), .. }) => None,
        Data::Tuple(items) | Data::Array(items) => {
            items.iter().enumerate().find_map(|(k, item)| inside(item, &|| format!("[{k}]")))
        }
        Data::Con { name, args, .. } => {
            args.iter().enumerate().find_map(|(k, item)| inside(item, &|| format!(".{name}[{k}]")))
        }
        Data::Record(fields) => {
            fields.iter().find_map(|(name, field)| inside(field, &|| format!(".{name}")))
        }
    }
}

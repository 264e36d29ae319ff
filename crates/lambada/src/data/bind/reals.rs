//! Reals of programs whose reals have 32 bits: data have 64.

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Tensor};
use lambada_source::stack;

/// Of how many steps a place is written out; a list of a million elements is as many deep.
const STEPS: usize = 16;

/// The first real that one of 32 bits cannot be, though it is finite, and where it stands, unless
/// that is deep inside.
pub(super) fn beyond(data: &Data) -> Option<(String, f64)> {
    let mut steps = Vec::new();
    let x = found(data, &mut steps)?;
    let place = if steps.len() > STEPS { String::new() } else { steps.into_iter().rev().collect() };
    Some((place, x))
}

/// The number; its place is added from the end on, and as far as it is written out.
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

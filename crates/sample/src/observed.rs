//! The data of a posterior as arrays, which files of draws keep.

use lambada::{Data, Posterior, vectors};
use lambada_draws::Array;

/// The arrays of the data. Fields of records have the names of variables: `p.scale`. Lists of
/// structures and variants are left out, because they are no arrays.
pub(crate) fn observed(posterior: &Posterior) -> Vec<Array> {
    let mut arrays = Vec::new();
    posterior.data().iter().for_each(|(name, data)| add(name, data, &mut arrays));
    arrays
}

fn add(name: &str, data: &Data, arrays: &mut Vec<Array>) {
    match data {
        Data::Tensor(tensor) => arrays.push(Array {
            name: name.to_string(),
            dims: tensor.dims.clone(),
            values: vectors::numbers(data),
        }),
        Data::Tuple(items) => {
            items.iter().enumerate().for_each(|(k, item)| add(&format!("{name}.{k}"), item, arrays))
        }
        Data::Record(fields) => {
            fields.iter().for_each(|(label, field)| add(&format!("{name}.{label}"), field, arrays))
        }
        Data::Array(_) | Data::Con { .. } => {}
    }
}

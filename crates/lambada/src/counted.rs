//! Failures of indices that count from 1 in files, in the numbers of the file: the program has one
//! less, and its message would speak of an index that the user did not write.

use lambada_prim::{Data as Elements, Tensor};
use lambada_source::Failure;

use crate::messages::data as messages;

/// The indices of the type `space.one_based` among the arguments of a call.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Arrays of indices, which count from 0, by their places in the arguments.
    arrays: Vec<(String, Tensor)>,
}

impl Counted {
    /// From arrays of indices, which count from 0, by their places in the arguments.
    pub(crate) fn new(arrays: Vec<(String, Tensor)>) -> Counted {
        Counted { arrays }
    }

    /// The failure in the numbers of the file, if the index is one of these.
    pub fn explained(&self, failure: Failure) -> Failure {
        let found = outside(&failure.message).and_then(|(index, size)| {
            let place = self.arrays.iter().find_map(|(place, array)| at(place, array, index))?;
            Some(messages::one_based_index(&place, index.wrapping_add(1), size))
        });
        Failure { message: found.unwrap_or(failure.message), ..failure }
    }
}

/// The place of an index in an array that has the place `array`.
fn at(array: &str, tensor: &Tensor, index: i64) -> Option<String> {
    let Elements::Int(values) = &tensor.data else { return None };
    let mut left = values.iter().position(|value| *value == index)?;
    let mut steps: Vec<String> = Vec::new();
    for size in tensor.dims.iter().rev() {
        steps.push(format!("[{}]", left % size));
        left /= size;
    }
    steps.push(array.to_string());
    steps.reverse();
    Some(steps.concat())
}

/// The index and the size of a failure that is an index out of range.
fn outside(message: &str) -> Option<(i64, i64)> {
    let (index, size) = message.strip_prefix("index ")?.split_once(" is out of range for size ")?;
    Some((index.parse().ok()?, size.parse().ok()?))
}

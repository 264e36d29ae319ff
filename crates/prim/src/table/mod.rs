//! The table: a file per family of primitives, a row per primitive.

mod arithmetic;
mod bits;
mod comparison;
mod elementary;
mod helpers;
mod integer;
mod special;

use crate::{Domain, Row};

pub(crate) use arithmetic::first_partials;
pub(crate) use helpers::HELPERS;

/// All rows, by family.
pub(crate) const FAMILIES: [&[Row]; 6] = [
    arithmetic::ROWS,
    elementary::ROWS,
    special::ROWS,
    integer::ROWS,
    bits::ROWS,
    comparison::ROWS,
];

/// The domain of primitives without derivatives.
const DISCRETE: Domain = Domain { text: "all; no derivative", samples: &[] };

#[cfg(test)]
pub(crate) mod numeric;
#[cfg(test)]
mod tests;

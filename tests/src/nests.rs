//! Runs of statements as nests with lanes, for tests that lower functions themselves.

use lambada::{Arrays, nested};
use lambada_anf::Function;
use lambada_loops as loops;
use lambada_lower::{Nested, Nests, lower_with};
use lambada_schedule::{Along, Around, Choice, Plan, kernels};

/// Nests with these lanes, and these placements.
#[derive(Clone, Copy, Debug)]
pub struct Lanes(pub Plan, pub Choice);

impl Nests for Lanes {
    fn of(&self, function: &Function, often: bool) -> Option<Nested> {
        let around = if often { Around::Loops } else { Around::Nothing };
        nested(kernels(function, self.0, self.1, around), true)
    }
}

/// The loops of a program with nests wherever there can be any, worth it or not, for all sizes.
pub fn everywhere(arrays: &Arrays) -> loops::Function {
    let lanes = Lanes(Plan::of(4), Choice::Any(0, Along::Block));
    lambada_source::stack::roomy(|| lower_with(&arrays.optimized, &lanes))
}

//! Indices that are in range whatever the program does: chosen outside of it, or for all indices of
//! axes.

use std::collections::BTreeMap;

/// `Σ coefficient · input + constant`
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    /// By input.
    pub terms: BTreeMap<u32, i64>,
    /// What is added.
    pub constant: i64,
}

/// An index of an input that is in range whenever the run of statements begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Which input.
    pub input: u32,
    /// Which of its axes.
    pub position: usize,
    /// The index, but for what depends on axes.
    pub index: Sum,
    /// What else is added to it: multiples of the indices of axes, with the extents of these; in
    /// order. It is in range for all of these indices.
    pub along: Vec<(i64, Sum)>,
}

impl Sum {
    /// `self + times · other`
    #[must_use]
    pub fn plus(mut self, times: i64, other: &Sum) -> Sum {
        self.constant = self.constant.wrapping_add(times.wrapping_mul(other.constant));
        for (input, coefficient) in &other.terms {
            let known = self.terms.entry(*input).or_default();
            *known = known.wrapping_add(times.wrapping_mul(*coefficient));
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        self
    }
}

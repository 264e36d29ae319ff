//! Indices that have been chosen outside of a program.

use std::collections::BTreeMap;

/// `Σ coefficient · input + constant`
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// The index.
    pub index: Sum,
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

//! Indices that are in range in every run of the program: chosen outside of it, or in range for all
//! indices of axes.

use std::collections::BTreeMap;

/// `Σ coefficient · input + constant`
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    /// By input.
    pub terms: BTreeMap<u32, i64>,
    /// The constant term.
    pub constant: i64,
}

/// An index of an input that is in range whenever the run of statements begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The input.
    pub input: u32,
    /// The position of the index.
    pub position: usize,
    /// The index, without the terms that depend on axes.
    pub index: Sum,
    /// The other terms: multiples of the indices of axes, with the extents of these; in order. The
    /// index is in range for all of these indices.
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

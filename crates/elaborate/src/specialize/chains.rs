//! Long chains of `else if`: groups of conditions first find the branch, as a number.
//!
//! ```text
//!   let found = if c0 then 0 else … if c7 then 7 else -1
//!   let found = if found < 0 then if c8 then 8 else … else found
//!   in if found < 4 then … else …                               each branch, by halves
//! ```
//!
//! As nested blocks, a chain of `n` conditions would be `n` deep. Data that a pass keeps for each
//! enclosing block would then be quadratic, and so would the values that each `if` returns to the
//! one around it.

use lambada_core::{self as core, Term};
use lambada_prim::Prim;
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::typed::{Exp, ExpKind};

/// Length of the longest chain written as nested blocks, which read better.
const LONG: usize = 64;

/// Number of conditions nested in each other.
const GROUP: usize = 8;

impl Specialize<'_> {
    /// `if` with its chain of `else if`.
    pub(super) fn branches(&mut self, exp: &Exp) -> Term {
        let (mut conditions, mut branches, mut last) = (Vec::new(), Vec::new(), exp);
        while let ExpKind::If(condition, then, otherwise) = &last.kind {
            conditions.push((&**condition, last.span));
            branches.push(&**then);
            last = otherwise;
        }
        if conditions.len() > LONG {
            return self.long_chain(&conditions, &branches, last);
        }
        let last = self.exp(last);
        conditions.into_iter().zip(branches).rev().fold(last, |otherwise, (test, then)| {
            let (condition, then) = (self.exp(test.0), self.exp(then));
            self.at(core::if_(condition, then, otherwise), test.1)
        })
    }

    fn long_chain(&mut self, conditions: &[(&Exp, Span)], branches: &[&Exp], last: &Exp) -> Term {
        let mut spine = Spine::default();
        let mut found = core::int(-1);
        for (k, group) in conditions.chunks(GROUP).enumerate() {
            let tests = group.iter().enumerate().rev();
            let here = tests.fold(core::int(-1), |others, (j, (condition, span))| {
                let number = core::int((k * GROUP + j) as i64);
                let condition = self.exp(condition);
                self.at(core::if_(condition, number, others), *span)
            });
            found = if k == 0 {
                here
            } else {
                let is_open = core::prim(Prim::LtInt, vec![found.clone(), core::int(0)]);
                core::if_(is_open, here, found)
            };
            found = self.share_as_var(&mut spine, "found", found);
        }
        let numbered = (-1..).zip(std::iter::once(&last).chain(branches).copied());
        let numbered: Vec<(i64, &Exp)> = numbered.collect();
        let term = self.select(&found, &numbered, &mut |this, branch| this.exp(branch));
        self.close(spine, term)
    }
}

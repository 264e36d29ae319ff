//! Sums over several indices, `sum (for i < n, j < m => e)`: they add rows, and are not the number
//! that a formula means. Problems about one axis too many say so.

use lambada_source::{Problem, Span};
use lambada_surface::ast::{Clause, Expr, ExprKind};

use crate::messages;
use crate::solve::ty::Ty;

use super::Infer;

/// The sums over several indices in a program.
#[derive(Default)]
pub(super) struct Sums(Vec<Span>);

impl Sums {
    /// Notes a call if it is such a sum.
    pub(super) fn note(&mut self, name: &str, args: &[&Expr], span: Span) {
        if let ("sum", [Expr { kind: ExprKind::For(clauses, _), .. }]) = (name, args)
            && clauses.len() > 1
            && !matches!(clauses.last(), Some(Clause::If(_)))
        {
            self.0.push(span);
        }
    }

    /// The sum that a problem at this place is about: one inside of the place, or else the only
    /// one.
    fn behind(&self, at: Span) -> Option<Span> {
        let inside =
            |sum: &&Span| sum.file == at.file && at.start <= sum.start && sum.end <= at.end;
        let only = || (self.0.len() == 1).then(|| self.0[0]);
        self.0.iter().find(inside).copied().or_else(only)
    }
}

impl Infer<'_> {
    /// Adds to a mismatch that a sum over several indices explains it.
    pub(super) fn explain_sum(
        &self,
        problem: Problem,
        found: Ty,
        expected: Ty,
        at: Span,
    ) -> Problem {
        let deeper = self.solver.rank(found) > self.solver.rank(expected)
            && self.solver.is_scalar(self.solver.base(expected));
        match self.sums.behind(at).filter(|_| deeper) {
            Some(sum) => problem.label(sum, messages::SUM_OF_ROWS).hint(messages::TOTAL),
            None => problem,
        }
    }
}

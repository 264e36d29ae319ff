//! `max xs` and `min xs` where `maximum xs` and `minimum xs` are meant: they are functions of another
//! argument, and the problems that this causes say so.

use lambada_source::{Problem, Span};
use lambada_surface::print_expr;

use crate::builtin::{Builtin, FunctionShape};
use crate::messages;
use crate::typed::{Exp, ExpKind};

use super::Infer;
use super::apply::Arg;

/// An application of `max` or `min` to one argument.
pub(super) struct Partial {
    span: Span,
    hint: String,
}

/// Length of the longest argument that a hint repeats.
const LONGEST_ARGUMENT: usize = 30;

impl Infer<'_> {
    /// Notes an application of `max` or `min` to one argument.
    pub(super) fn note_extremum(&mut self, head: &Exp, args: &[Arg], span: Span) {
        let ExpKind::Builtin(Builtin::Function(name, FunctionShape::Binary(_))) = head.kind else {
            return;
        };
        let ("max" | "min", [Arg::Written(array)]) = (name, args) else { return };
        let array = Some(print_expr(array)).filter(|text| {
            text.len() <= LONGEST_ARGUMENT && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        });
        let hint = messages::extremum_of_array(name, array.as_deref().unwrap_or("xs"));
        self.extrema.push(Partial { span, hint });
    }

    /// Replaces the hint "did you forget an argument" of problems about `max xs`, or about a
    /// variable of a definition with such an application.
    pub(super) fn hint_at_extrema(&mut self) {
        let definitions: Vec<Span> = self.globals.iter().map(|global| global.syntax.span).collect();
        let extrema = std::mem::take(&mut self.extrema);
        let hint_for = |problem: &Problem| {
            let at = problem.labels.first()?.span;
            let definition = definitions.iter().find(|def| contains(**def, at))?;
            let exact = extrema.iter().find(|partial| partial.span == at);
            let near = || extrema.iter().find(|partial| contains(*definition, partial.span));
            exact.or_else(near).map(|partial| partial.hint.clone())
        };
        for problem in &mut self.problems {
            if problem.hints.iter().any(|hint| hint == messages::FORGOTTEN_ARGUMENT)
                && let Some(hint) = hint_for(problem)
            {
                problem.hints = vec![hint];
            }
        }
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

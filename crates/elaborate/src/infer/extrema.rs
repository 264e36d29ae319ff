//! `max xs` and `min xs` where `maximum xs` and `minimum xs` are meant: they are functions of
//! another argument, and the problems that this causes say so.

use lambada_source::{Problem, Span};
use lambada_surface::print_expr;

use crate::builtin::{Builtin, FunctionShape};
use crate::messages;
use crate::typed::{Exp, ExpKind};

use super::apply::Arg;

/// The applications of `max` and `min` to one argument in a program.
#[derive(Default)]
pub(super) struct Extrema(Vec<Partial>);

struct Partial {
    span: Span,
    hint: String,
}

/// Length of the longest argument that a hint repeats.
const LONGEST_ARGUMENT: usize = 30;

impl Extrema {
    /// Notes an application if it is of `max` or `min` to one argument.
    pub(super) fn note(&mut self, head: &Exp, args: &[Arg], span: Span) {
        let ExpKind::Builtin(Builtin::Function(name, FunctionShape::Binary(_))) = head.kind else {
            return;
        };
        let ("max" | "min", [Arg::Written(array)]) = (name, args) else { return };
        let array = Some(print_expr(array)).filter(|text| {
            text.len() <= LONGEST_ARGUMENT && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        });
        let hint = messages::extremum_of_array(name, array.as_deref().unwrap_or("xs"));
        self.0.push(Partial { span, hint });
    }

    /// Replaces the hint "did you forget an argument" of problems about `max xs`, or about a
    /// variable of a definition with such an application.
    pub(super) fn explain(&self, problems: &mut [Problem], definitions: &[Span]) {
        for problem in problems {
            if problem.hints.iter().any(|hint| hint.text == messages::FORGOTTEN_ARGUMENT)
                && let Some(partial) = self.behind(problem, definitions)
            {
                problem.hints = vec![messages::sentence(partial.hint.clone())];
            }
        }
    }

    fn behind(&self, problem: &Problem, definitions: &[Span]) -> Option<&Partial> {
        let at = problem.labels.first()?.span;
        let definition = *definitions.iter().find(|def| contains(**def, at))?;
        let exact = self.0.iter().find(|partial| partial.span == at);
        exact.or_else(|| self.0.iter().find(|partial| contains(definition, partial.span)))
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

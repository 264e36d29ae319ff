//! Verifying derivatives.

use lambada_source::{Problem, Span};

/// `rules`: the functions with custom rules, and the places of the rules.
pub fn wrong(
    definition: &str,
    check: &str,
    why: &str,
    span: Span,
    rules: Vec<(&str, Span)>,
) -> Problem {
    let problem = Problem::error(
        "E0470",
        format!("a derivative of `{definition}` is wrong, by the check *{check}*"),
        span,
        why,
    );
    if !rules.is_empty() {
        let label = |problem: Problem, (function, span): (&str, Span)| {
            problem.label(span, format!("it follows this rule of `{function}`"))
        };
        return rules.into_iter().fold(problem, label).hint("a rule that is no derivative on purpose is marked: `with pseudo jvp`, `with pseudo vjp`");
    }
    problem.hint("a function that jumps, or has a kink at this very point, has differences that no derivative agrees with; if this one does not, please report it")
}

pub fn not_verified(definition: &str, why: &str) -> Problem {
    Problem::general("E0471", format!("no derivative of `{definition}` can be verified: it {why}"))
        .hint("give it a point with --data, or as name=value")
}

pub fn nothing_to_verify(skipped: &[String]) -> Problem {
    let problem =
        Problem::general("E0472", "the file has no definition whose derivatives can be verified");
    skipped.iter().fold(problem, |problem, why| problem.hint(why))
}

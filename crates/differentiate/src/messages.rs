//! Run-time messages about derivatives, and problems of rules.

use lambada_anf::{Function, Rules, Var};
use lambada_source::{Problem, Site, Span};

/// A function with rules captures a variable under differentiation.
pub(crate) fn captured(function: &Function, rules: &Rules, captured: Var) -> Problem {
    let (name, captured) = (&function.name, function.names.hint(captured));
    let title =
        format!("`{name}` has a rule for its derivative, which says nothing about `{captured}`");
    Problem::error(
        "E0540",
        title,
        rules.span,
        format!("`{captured}` is captured here, and is being differentiated"),
    )
    .hint(format!("make `{captured}` a parameter of `{name}`: rules speak of parameters only"))
}

/// The linear values that a rule maps.
fn mapped(rule: &str) -> &'static str {
    if rule == "jvp" { "tangent" } else { "cotangent" }
}

/// A rule that must be transposed and is not linear.
pub(crate) fn not_linear(
    name: &str,
    rule: Span,
    given: &str,
    missing: &str,
    place: Option<Span>,
) -> Problem {
    let title = format!(
        "the `{given}` rule of `{name}` is not linear, so no `{missing}` rule follows from it"
    );
    let what = mapped(given);
    let problem =
        Problem::error("E0541", title, rule, format!("the result is not linear in the {what}"));
    let problem = match place {
        Some(place) => problem.label(place, format!("the {what} is used here in another way")),
        None => problem,
    };
    problem.hint(format!("give a `{missing}` rule, too"))
}

/// A rule whose transpose would need itself.
pub(crate) fn without_end(name: &str, rule: Span, given: &str, missing: &str) -> Problem {
    let title = format!(
        "the `{given}` rule of `{name}` applies `{name}` again, so no `{missing}` rule follows from it"
    );
    let what = mapped(given);
    let label = format!(
        "this would be transposed inside of its own transposition, for `{name}` is applied to the {what}"
    );
    Problem::error("E0545", title, rule, label).hint(format!("give a `{missing}` rule, too"))
}

/// A tangent or cotangent with other constructors than its value.
pub(crate) fn another_constructor() -> Site {
    let message = "this tangent or cotangent is not built by the same constructors as the value that it belongs to";
    Site::new(Span::default(), message)
}

/// An array in a tangent or cotangent with another size than in the value.
pub(crate) fn another_size() -> Site {
    let message = "an array in this tangent or cotangent has size {0}, but {1} in the value that it belongs to";
    Site::new(Span::default(), message)
}

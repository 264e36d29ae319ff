//! Patterns and cases.

use lambada_source::{Fix, HOLE, Problem, Span};

use crate::matching::{ALTERNATIVES, MOST_CASES};

/// `witness`: a value that no arm matches; `None` if the search was given up. `end`: the place
/// behind the last arm, and the text between two arms.
pub(crate) fn missing_case(
    witness: Option<&str>,
    span: Span,
    end: Option<(Span, &str)>,
) -> Problem {
    let (label, hint) = match witness {
        Some(witness) => (
            format!("nothing matches `{witness}`"),
            format!("add an arm such as `| {witness} -> …`"),
        ),
        None => (
            format!("nothing is known to be missing, but {MOST_CASES} cases are not all"),
            "end the match with an arm `| _ -> …`".to_string(),
        ),
    };
    let pattern = witness.unwrap_or("_");
    let arm = |(end, between): (Span, &str)| {
        Fix::replace(end, format!("{between}| {pattern} -> {HOLE}")).with_holes()
    };
    Problem::error("E0401", "this match does not cover everything", span, label)
        .advice(hint, end.map(arm))
}

pub(crate) fn unreachable_arm(span: Span) -> Problem {
    Problem::error(
        "E0402",
        "this arm is never reached",
        span,
        "the arms above cover all that it matches",
    )
}

pub(crate) fn alternative_variables(name: &str, first: Span, other: Span) -> Problem {
    Problem::error(
        "E0404",
        "the alternatives of a case bind different variables",
        other,
        format!("`{name}` is not bound once in each"),
    )
    .label(first, "the first alternative")
    .hint(
        "give each alternative the same variables, and `_` for the other parts, or write two cases",
    )
}

pub(crate) fn too_many_alternatives(span: Span) -> Problem {
    let title = "the alternatives of this pattern have too many combinations";
    Problem::error("E0405", title, span, format!("more than {ALTERNATIVES}"))
        .hint("match one part after the other")
}

pub(crate) fn refutable(witness: &str, span: Span) -> Problem {
    Problem::error(
        "E0403",
        "this pattern does not match everything",
        span,
        format!("`{witness}` does not match"),
    )
    .hint("patterns that may fail are for `match`")
}

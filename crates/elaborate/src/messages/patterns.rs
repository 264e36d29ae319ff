//! Patterns and cases.

use lambada_source::{Problem, Span};

pub(crate) fn missing_case(witness: &str, span: Span) -> Problem {
    Problem::error(
        "E0401",
        "this match does not cover everything",
        span,
        format!("nothing matches `{witness}`"),
    )
    .hint(format!("add an arm such as `| {witness} -> …`"))
}

pub(crate) fn unreachable_arm(span: Span) -> Problem {
    Problem::error(
        "E0402",
        "this arm is never reached",
        span,
        "the arms above cover all that it matches",
    )
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

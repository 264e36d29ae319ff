//! Derivatives and accumulators.

use lambada_source::{Problem, Span};

pub(crate) fn holds_function(operator: &str, found: &str, span: Span) -> Problem {
    Problem::error(
        "E0501",
        format!("{operator} of a function whose argument or result contains a function"),
        span,
        format!("`{found}` is a function"),
    )
    .hint("derivatives are defined, and proved right, for functions between first-order types; the function may use any others inside")
}

pub(crate) fn not_real_result(operator: &str, found: &str, span: Span) -> Problem {
    Problem::error(
        "E0502",
        format!("`{operator}` differentiates functions that return a real"),
        span,
        format!("this one returns `{found}`"),
    )
    .hint("`vjp` and `jacobian` take functions with other results")
}

/// For a gradient at a point that the function maps elementwise.
pub(crate) const SCALAR_RESULT: &str = "the function must return one real, such as the `sum` of its elements; `vjp` and `jacobian` take functions with other results";

pub(crate) fn accumulate_function(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0503",
        "the value of an `accumulate` contains a function",
        span,
        format!("`{found}` is a function"),
    )
    .hint("it could add to the accumulator after that has its final value")
}

pub(crate) fn not_reals(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0504",
        format!("`jacobian` of a function that returns `{found}`"),
        span,
        "it must return a real or an array of reals",
    )
}

pub(crate) fn scalar_point(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0507",
        "`hessian` differentiates functions of an array",
        span,
        format!("this point is `{found}`"),
    )
    .hint("the second derivative of a function of one real is `grad (\\x -> grad f x) x`")
}

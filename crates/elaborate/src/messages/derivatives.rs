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

/// `more`: the remedy if the function only lacks arguments.
pub(crate) fn not_real_result(
    operator: &str,
    found: &str,
    span: Span,
    more: Option<String>,
) -> Problem {
    let others = "`vjp` and `jacobian` take functions with other results";
    let otherwise = if found.starts_with('[') {
        format!("return one real, such as the `sum` of the elements; {others}")
    } else {
        others.to_string()
    };
    Problem::error(
        "E0502",
        format!("`{operator}` differentiates functions that return a real"),
        span,
        format!("this one returns `{found}`"),
    )
    .hint(more.unwrap_or(otherwise))
}

/// How to fix the arguments of `f` that are not differentiated.
pub(crate) fn given_inside(
    operator: &str,
    f: &str,
    point: &str,
    rest: &str,
    more: usize,
) -> String {
    let parameters = lambada_source::counted(more, "more parameter");
    let w = if is_name(point) { point } else { "w" };
    format!(
        "`{f}` has {parameters}; give a function of the first alone: `{operator} (\\{w} -> {f} {w} {rest}) {point}`"
    )
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && text.starts_with(|c: char| c.is_lowercase())
}

/// Hint for the gradient of a function of a real at an array.
pub(crate) fn of_each_element(operator: &str, f: &str, point: &str) -> String {
    format!("`map ({operator} {f}) {point}` differentiates it at each element")
}

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

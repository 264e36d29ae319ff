//! Custom derivatives.

use lambada_source::{Problem, Span};

/// `wanted`: number of components of the tuple.
pub(crate) fn parts(mode: &str, wanted: usize, span: Span) -> Problem {
    let tangents = match (mode, wanted) {
        ("vjp", _) => "one cotangent, that of the result".to_string(),
        (_, 1) => "one tangent, that of the parameter".to_string(),
        (_, wanted) => format!("a tuple of {wanted} tangents, one for each parameter"),
    };
    let example = match (mode, wanted) {
        ("vjp", _) => "with vjp dy = …",
        (_, 1) => "with jvp dx = …",
        (_, 2) => "with jvp (da, db) = …",
        (_, 3) => "with jvp (da, db, dc) = …",
        _ => "with jvp (da, db, dc, dd) = …",
    };
    Problem::error("E0450", format!("`with {mode}` takes {tangents}"), span, "not what it takes")
        .hint(format!("for example `{example}`; the parameters of the function are in scope"))
}

pub(crate) fn twice(mode: &str, span: Span, first: Span) -> Problem {
    Problem::error("E0451", format!("two rules `with {mode}` for one function"), span, "the second")
        .label(first, "the first")
        .hint("a function has at most one rule `with jvp` and one rule `with vjp`")
}

pub(crate) fn of_value(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0452",
        format!("`{name}` has a derivative rule and no parameters"),
        span,
        "a derivative by what?",
    )
    .hint("a rule belongs to a function; write its parameters before the `=`")
}

pub(crate) fn holds_function(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0453",
        "a function with derivative rules takes or gives functions inside of something",
        span,
        format!("`{found}` is a function"),
    )
    .hint("a parameter may be a function from data to data, such as `f : real -> real`; one of several arguments takes them as a tuple, `f : (real, real) -> real`")
    .hint("a parameter that is a function says so by its type, `(f : a -> b)`; the result is data")
}

pub(crate) fn adds(function: &str, accumulator: &str, span: Span) -> Problem {
    Problem::error(
        "E0454",
        format!("`{function}` has a derivative rule and adds to `{accumulator}`"),
        span,
        "a rule does not speak of additions",
    )
    .hint("return what is to be added, and add it where the function is called")
}

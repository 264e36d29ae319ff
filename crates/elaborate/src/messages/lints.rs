//! Warnings.

use lambada_source::{Fix, Problem, Severity, Span};

pub(crate) fn unused_let(name: &str, span: Span, hidden: Option<Span>) -> Problem {
    let problem = Problem::warning(
        "E0801",
        format!("`{name}` is never used"),
        span,
        "bound here, and mentioned nowhere",
    );
    let problem = match hidden {
        Some(place) => problem.label(place, "hidden by this one"),
        None => problem,
    };
    problem.fix(
        format!("remove it, or call it `_{name}` if that is as it should be"),
        Fix::replace(span, format!("_{name}")).probable(),
    )
}

pub(crate) fn unused_function(name: &str, span: Span) -> Problem {
    Problem::warning("E0802", format!("the function `{name}` is never used"), span, "").fix(
        format!("remove it, or call it `_{name}` if that is as it should be"),
        Fix::replace(span, format!("_{name}")).probable(),
    )
}

/// Whether the problem is a name that is never used, which editors show faded.
pub fn is_unused(problem: &Problem) -> bool {
    problem.severity == Severity::Warning && problem.title.ends_with("is never used")
}

pub(crate) fn hides_parameter(name: &str, span: Span, parameter: Span) -> Problem {
    Problem::warning(
        "E0803",
        format!("`{name}` hides a parameter that is never used"),
        span,
        "from here on, this is meant",
    )
    .label(parameter, "the parameter")
    .hint("use another name for one of them")
}

pub(crate) fn index_hides(name: &str, span: Span, outer: Span) -> Problem {
    Problem::warning(
        "E0804",
        format!("the index `{name}` hides the index of the loop around it"),
        span,
        "",
    )
    .label(outer, "the other one")
    .hint("use another name for one of them")
}

pub(crate) fn loop_without_effect(span: Span) -> Problem {
    Problem::warning(
        "E0805",
        "this loop has no effect",
        span,
        "its result is thrown away, and it adds to nothing",
    )
    .hint("values do not change: a `loop` carries state, `accumulate h = … in …` sums into `h`")
}

pub(crate) fn ragged(index: &str, span: Span, outer: Span) -> Problem {
    Problem::warning(
        "E0806",
        "the rows of this array have different sizes",
        span,
        format!("it depends on `{index}`"),
    )
    .label(outer, "which is different for each row")
    .hint("arrays are regular, so this fails when it runs, unless there is at most one row")
    .hint(format!(
        "sum or reduce each row, or give all rows one size: `if j < {index} then … else 0`"
    ))
}

/// `operand`: the array of rows.
pub(crate) fn rows_added(fold: &str, span: Span, operand: Span) -> Problem {
    Problem::warning(
        "E0808",
        format!("`{fold}` takes the elements of an array, which are rows here"),
        span,
        "this has one number for each place of a row",
    )
    .fix(
        format!("for a single number write `{fold} (flatten (…))`"),
        Fix::around(operand, "(flatten ", ")").probable(),
    )
}

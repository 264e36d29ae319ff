//! Sizes.

use lambada_source::{Fix, Problem, Span};

use super::{Why, suggesting};

/// `one`: the edits that give both sizes the first name.
pub(crate) fn clashing_sizes(
    a: &str,
    b: &str,
    span: Span,
    why: Option<&Why>,
    one: Option<Fix>,
) -> Problem {
    let problem = Problem::error(
        "E0301",
        format!("this needs `{a}` and `{b}` to be the same size"),
        span,
        format!("the signature says that `{a}` and `{b}` are independent"),
    );
    let problem = match why.and_then(Why::place) {
        Some((place, text)) => problem.label(place, text),
        None => problem,
    };
    problem.advice(format!("use one name for both in the signature, such as `{a}`"), one)
}

/// Code for two sizes that are never equal.
const DIFFER: &str = "E0302";

/// Code for an index out of range.
const OUT_OF_RANGE: &str = "E0305";

/// Whether the problem is sizes that are never equal, or an index out of range.
pub fn is_of_sizes(problem: &Problem) -> bool {
    [DIFFER, OUT_OF_RANGE].contains(&problem.code)
}

pub(crate) fn is_size_difference(problem: &Problem) -> bool {
    problem.code == DIFFER
}

pub(crate) fn different_sizes(a: &str, b: &str, span: Span, why: Option<&Why>) -> Problem {
    let label = match why {
        Some(why) => format!("{} has size {a}, this has size {b}", why.reason()),
        None => format!("{a} and {b} are never equal"),
    };
    let problem = Problem::error(DIFFER, format!("sizes differ: {a} and {b}"), span, label);
    let problem = match why.and_then(Why::place) {
        Some((place, text)) => problem.label(place, text),
        None => problem,
    };
    match why {
        Some(Why::Element(_)) => problem.hint(
            "the elements of an array are of one size; a tuple `(a, b)` holds values of different sizes, as `.0` and `.1`",
        ),
        _ => problem,
    }
}

pub(crate) fn undetermined_size(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0303",
        format!("no parameter determines the size `{name}`"),
        span,
        "not the size of an array by itself",
    )
    .hint(format!(
        "a parameter of type `[{name}]…` determines it, and so does an `int` parameter `{name}`"
    ))
}

pub(crate) fn missing_size(name: &str, constructor: &str, span: Span) -> Problem {
    Problem::error(
        "E0310",
        format!("nothing says the size `{name}` of `{constructor}`"),
        span,
        "no argument has it, and no variable here",
    )
    .hint("write the type with its size, of what is in scope: a signature `… : t [n]`, or `let x : t [3] = …`")
}

const UNKNOWN_SIZE: &str = "E0304";

/// Whether the problem is an unknown size.
pub(crate) fn is_unknown_size(problem: &Problem) -> bool {
    problem.code == UNKNOWN_SIZE
}

pub(crate) fn unknown_size(name: &str, span: Span, near: Option<String>) -> Problem {
    suggesting(
        Problem::error(
            UNKNOWN_SIZE,
            format!("unknown size `{name}`"),
            span,
            "neither a size of the signature nor an `int`",
        ),
        near,
    )
}

pub(crate) fn index_out_of_range(index: &str, size: &str, span: Span) -> Problem {
    let problem = Problem::error(
        OUT_OF_RANGE,
        format!("index {index} is out of range for size {size}"),
        span,
        "indices go from 0 to the size less 1",
    );
    if index == size {
        let last = match size.parse::<i64>() {
            Ok(size) => (size - 1).to_string(),
            Err(_) => format!("{size} - 1"),
        };
        let hint = format!("the first element has the index 0, the last one `{last}`");
        problem.fix(hint, Fix::replace(span, last).probable())
    } else if index.starts_with('-') {
        problem.hint("the last element is `xs[length xs - 1]`")
    } else {
        problem
    }
}

pub(crate) fn slice_out_of_range(from: &str, to: &str, size: &str, span: Span) -> Problem {
    Problem::error(
        "E0306",
        format!("slice {from}:{to} is out of range for size {size}"),
        span,
        "a slice goes from 0 to the size at most, and not backwards",
    )
    .hint("bounds count from the start: all elements but the last are `xs[:length xs - 1]`")
}

pub(crate) fn too_many_indices(rank: usize, found: usize, span: Span, ty: &str) -> Problem {
    let s = if rank == 1 { "index" } else { "indices" };
    Problem::error("E0307", format!("`{ty}` takes {rank} {s}, not {found}"), span, "")
}

pub(crate) fn no_states(span: Span) -> Problem {
    Problem::error("E0309", "a loop keeps at least one state", span, "none").hint(
        "`checkpoint 1` keeps only the first one and runs the loop from there for every iteration",
    )
}

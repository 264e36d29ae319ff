//! The executable paper: what it does not speak of.

use lambada_chad::source::Outside;
use lambada_source::{Problem, Span};

/// A derivative whose text is longer than anybody reads; `size` is about how many parts it has.
pub fn too_large(entry: &str, span: Span, size: f64) -> Problem {
    let title = format!("the literal derivative of `{entry}` is too large to be written down");
    let label = format!(
        "it would have about 10^{:.0} parts: the macros of the paper copy what they substitute",
        size.log10()
    );
    Problem::error("E0521", title, span, label)
        .hint("`--stage shared` names it instead, and does not grow")
}

/// A derivation with so many steps and not more.
pub fn no_such_step(entry: &str, span: Span, count: usize) -> Problem {
    let title = format!("the derivation of `{entry}` has {count} steps");
    Problem::error("E0522", title, span, "this is what is explained")
        .hint(format!("`--step` takes a number from 1 to {count}"))
}

/// A construct that the paper has not.
pub fn outside_fragment(entry: &str, outside: &Outside) -> Problem {
    let title = format!("`{entry}` is outside the fragment of the executable paper");
    Problem::error("E0520", title, outside.span, outside.construct.clone())
        .hint("the fragment is: reals, arrays of reals of literal sizes, tuples, functions, application, `let`, arithmetic and elementary functions")
        .hint("a `for` or `map` over arrays may use their elements, a `loop` or `fold` has a real as its state and goes over one array")
        .hint("`lambada derive` without --stage differentiates any definition")
}

//! The executable paper: programs outside its fragment.

use lambada_chad::source::Outside;
use lambada_source::{Problem, Span};

/// A derivative too long to print; `size` estimates the number of its parts.
pub fn too_large(entry: &str, span: Span, size: f64) -> Problem {
    let title = format!("the literal derivative of `{entry}` is too large to be written down");
    let label = format!(
        "it would have about 10^{:.0} parts: the macros of the paper copy what they substitute",
        size.log10()
    );
    Problem::error("E0521", title, span, label)
        .hint("`--stage shared` names it instead, and does not grow")
}

/// A step number beyond the `count` steps of a derivation.
pub fn no_such_step(entry: &str, span: Span, count: usize) -> Problem {
    let title = format!("the derivation of `{entry}` has {count} steps");
    Problem::error("E0522", title, span, "this is what is explained")
        .hint(format!("`--step` takes a number from 1 to {count}"))
}

/// `--wrt` for a stage before any derivative.
pub fn no_derivative(span: Span) -> Problem {
    let title = "the combinators are the program before any derivative";
    Problem::error("E0523", title, span, "this is shown with all of its parameters")
        .hint("leave `--wrt` out, or choose another stage")
}

/// A derivation too long to print, except for its first `small` steps.
pub fn steps_too_large(entry: &str, span: Span, small: usize) -> Problem {
    let title = format!("the derivation of `{entry}` is too large to be written down");
    let label = "the macros of the paper copy what they substitute, in each step again";
    let single = match small {
        0 => "each step is too large by itself".to_string(),
        small => format!("`--step` explains one of the first {small} steps"),
    };
    Problem::error("E0524", title, span, label)
        .hint(single)
        .hint("`lambada derive --stage shared` names what is copied, and does not grow")
}

/// A construct outside the fragment of the paper.
pub fn outside_fragment(entry: &str, outside: &Outside) -> Problem {
    let title = format!("`{entry}` is outside the fragment of the executable paper");
    let problem = Problem::error("E0520", title, outside.span, outside.construct.clone());
    let problem = problem.hint(outside.instead);
    let problem = outside.extension().into_iter().fold(problem, Problem::hint);
    problem.hint("`lambada derive` without --stage differentiates any definition")
}

//! The wording of every problem of this crate, one short function each: code, title, labels, hints.

use std::rc::Rc;

use lambada_source::{Fix, Hint, Problem, Span};

mod derivatives;
pub(crate) mod foreign;
mod lints;
mod names;
mod patterns;
pub(crate) mod rules;
mod sizes;
mod types;

pub(crate) use derivatives::*;
pub use lints::is_unused;
pub(crate) use lints::*;
pub use names::*;
pub(crate) use patterns::*;
pub use sizes::is_of_sizes;
pub(crate) use sizes::*;
pub(crate) use types::*;

/// Why a type is expected.
#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// An argument of this function, counted from 1.
    Argument(Rc<str>, usize),
    /// A type was written there.
    Annotation(Span),
    /// The result type of a definition was written there.
    Result(Span),
    /// The other branch of an `if` or `match` is there.
    Branch(Span),
    /// A condition.
    Condition,
    /// A bound of a loop or slice.
    Bound,
    /// Number of states that a `checkpoint` keeps.
    States,
    /// An index.
    Index,
    /// The first element of an array literal is there.
    Element(Span),
    /// The initial state of a loop is there.
    State(Span),
    /// An operand of this operator.
    Operand(&'static str),
    /// The new value of an element or slice of an array that is there.
    Update(Span),
    /// A value added to this accumulator.
    Addition(Rc<str>),
    /// A pattern for a value that is there.
    Pattern(Span),
    /// The array of a `for … in` or `loop … in`.
    Array,
    /// Something of this form.
    Form(&'static str),
}

/// A hint at a probable mistake, if the pattern of an arm has another type.
pub(crate) fn arm_of_another_match() -> &'static str {
    "if this belongs to the `match` around, put the inner `match` in parentheses: it takes all arms that follow"
}

impl Why {
    /// As part of a sentence about the expected type.
    fn reason(&self) -> String {
        match self {
            Why::Argument(of, k) => format!("{} argument of {of}", ordinal(*k)),
            Why::Annotation(_) => "the type that is written".to_string(),
            Why::Result(_) => "the declared result".to_string(),
            Why::Branch(_) => "the type of the other branch".to_string(),
            Why::Condition => "a condition".to_string(),
            Why::Bound => "a size".to_string(),
            Why::States => "a number of states".to_string(),
            Why::Index => "an index".to_string(),
            Why::Element(_) => "the type of the first element".to_string(),
            Why::State(_) => "the type of the loop's first state".to_string(),
            Why::Operand(op) => format!("an operand of `{op}`"),
            Why::Update(_) => "the type of what it replaces".to_string(),
            Why::Addition(name) => format!("the type of what `{name}` accumulates"),
            Why::Pattern(_) => "the type of the value that is matched".to_string(),
            Why::Array => "an array to go over".to_string(),
            Why::Form(form) => (*form).to_string(),
        }
    }

    fn place(&self) -> Option<(Span, &'static str)> {
        match self {
            Why::Annotation(span) => Some((*span, "written here")),
            Why::Result(span) => Some((*span, "declared here")),
            Why::Branch(span) => Some((*span, "the other branch")),
            Why::Element(span) => Some((*span, "the first element")),
            Why::State(span) => Some((*span, "the first state")),
            Why::Update(span) => Some((*span, "the array")),
            Why::Pattern(span) => Some((*span, "the value")),
            Why::Argument(..)
            | Why::Condition
            | Why::States
            | Why::Bound
            | Why::Index
            | Why::Operand(_)
            | Why::Addition(_)
            | Why::Array
            | Why::Form(_) => None,
        }
    }
}

fn ordinal(k: usize) -> String {
    match k {
        1 => "the first".to_string(),
        2 => "the second".to_string(),
        3 => "the third".to_string(),
        _ => format!("the {k}th"),
    }
}

/// With "did you mean", and the similar name in the place of the problem.
fn suggesting(problem: Problem, near: Option<String>) -> Problem {
    let Some(near) = near else { return problem };
    let hint = format!("did you mean `{near}`?");
    let fix = problem.labels.first().map(|label| Fix::replace(label.span, near).probable());
    problem.advice(hint, fix)
}

/// A hint with a fix.
pub(crate) fn advice(text: impl Into<String>, fix: Fix) -> Hint {
    Hint { text: text.into(), fix: Some(fix) }
}

/// The hint with the fix that leaves out a word.
pub(crate) fn left_out(hint: Hint, word: Span) -> Hint {
    advice(hint.text, Fix::remove(word).probable())
}

/// A hint that is only a sentence.
pub(crate) fn sentence(text: impl Into<String>) -> Hint {
    Hint { text: text.into(), fix: None }
}

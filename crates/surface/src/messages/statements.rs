//! Statements of other languages: a name keeps its value.

use lambada_source::{Fix, Problem, Span};

use super::forms::NO_BRACES;
use super::items::NO_BODY;

/// The code of all statements.
const STATEMENT: &str = "E0100";

/// `better`: the statement as a `let`.
pub fn assigned(span: Span, better: Option<String>, fix: Option<Fix>) -> Problem {
    let better = better.unwrap_or_else(|| "let x = e".into());
    keeps_value(span, "a value is given by `let`")
        .advice(format!("write `{better}`, a new value for the lines below it"), fix)
}

/// `word`: `for` or `while`.
pub fn assigning_loop(span: Span, word: &str, better: Option<String>, fix: Option<Fix>) -> Problem {
    let better = better.unwrap_or_else(|| format!("let s = loop s {word} … do s + x"));
    keeps_value(span, &format!("this `{word}` changes a name")).advice(
        format!("a `loop` carries the value from one iteration to the next: `{better}`"),
        fix,
    )
}

/// `let mut x = e`
pub fn mutable(span: Span, word: Span) -> Problem {
    keeps_value(word, "leave it out")
        .fix("a later `let` may give the name a new value", Fix::remove(span))
}

pub fn returned(span: Span, fix: Option<Fix>) -> Problem {
    Problem::error(STATEMENT, "there is no `return`", span, "leave it out")
        .advice("the last expression of a body is its value, and each line before it a `let`", fix)
}

fn keeps_value(span: Span, label: &str) -> Problem {
    Problem::error(STATEMENT, "a name keeps its value", span, label)
}

/// `span`: the last token of the head.
pub fn no_equals(span: Span, fix: Option<Fix>) -> Problem {
    Problem::error(NO_BODY, "the body of a definition follows `=`", span, "expected `=` after this")
        .advice("write `def f x = e`: the body ends with the definition, without an `end`", fix)
}

pub fn begin(span: Span, fix: Option<Fix>) -> Problem {
    Problem::error(NO_BRACES, "bodies have no `begin` and `end`", span, "leave it out")
        .advice("the lines of a body begin in one column: each `let`, and then the result", fix)
}

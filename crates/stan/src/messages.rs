//! The wording of all problems of this crate.

use lambada_source::{Problem, Span};

/// A token that does not fit.
pub fn expected(what: &str, found: &str, span: Span) -> Problem {
    let found = if found.is_empty() { "the end".to_string() } else { format!("`{found}`") };
    syntax(format!("expected {what} in the Stan program"), span, format!("found {found}"))
}

/// A character that Stan does not have.
pub fn character(c: char, span: Span) -> Problem {
    syntax(format!("no Stan token begins with `{c}`"), span, "")
}

/// `/*` without `*/`.
pub fn open_comment(span: Span) -> Problem {
    syntax("a comment has no end", span, "`*/` is missing")
}

/// A text without its second quote.
pub fn open_text(span: Span) -> Problem {
    syntax("a text has no end", span, "the closing quote is missing")
}

/// Nesting beyond the limit.
pub fn too_deep(span: Span) -> Problem {
    syntax("the Stan program nests too deep", span, "at most 200 levels")
}

/// A block that Stan does not have.
pub fn block(name: &str, span: Span) -> Problem {
    syntax(format!("`{name}` is no block of a Stan program"), span, "").hint(
        "blocks are functions, data, transformed data, parameters, transformed parameters, \
             model and generated quantities",
    )
}

/// A type with another number of sizes.
pub fn sizes(wanted: usize, found: usize, span: Span) -> Problem {
    syntax(format!("this type takes {wanted} sizes, not {found}"), span, "")
}

/// A type that Stan does not have.
pub fn unknown_type(name: &str, span: Span) -> Problem {
    syntax(format!("`{name}` is no Stan type"), span, "")
}

/// A bound that Stan does not have.
pub fn bound(name: &str, span: Span) -> Problem {
    syntax(format!("`{name}` is no bound"), span, "")
        .hint("bounds are lower, upper, offset and multiplier")
}

/// An assignment to something that is no variable.
pub fn assignment(span: Span) -> Problem {
    syntax("only variables and their elements are assigned to", span, "")
}

/// `#include`.
pub fn include(span: Span) -> Problem {
    Problem::error("E0951", "`#include` is not translated", span, "the file is not read")
        .hint("`stanc --auto-format` writes the program with its included files")
}

/// A type without a counterpart.
pub fn refused_type(name: &str, span: Span) -> Problem {
    Problem::error("E0952", format!("the type `{name}` is not translated"), span, "")
}

/// A function or distribution without a counterpart.
pub fn function(name: &str, span: Span) -> Problem {
    unavailable(format!("the Stan function `{name}` is not translated"), span, "").hint(
        "define it in the block `functions`, or write the definition in the translation by hand",
    )
}

/// A call with another number of arguments than any translated form has.
pub fn arguments(name: &str, count: usize, span: Span) -> Problem {
    unavailable(format!("`{name}` with {count} arguments is not translated"), span, "")
}

/// A name without a declaration.
pub fn unknown(name: &str, span: Span) -> Problem {
    Problem::error("E0954", format!("`{name}` is not declared"), span, "")
}

/// `break` and `continue`.
pub fn jump(word: &str, span: Span) -> Problem {
    unstructured(format!("`{word}` is not translated"), span, "loops run to their end")
        .hint("put the rest of the loop's body into an `if`")
}

/// `return` in a loop.
pub fn return_in_loop(span: Span) -> Problem {
    unstructured("a `return` in a loop is not translated", span, "loops run to their end")
        .hint("compute the value in the loop, and return it after the loop")
}

/// A function that ends without a value.
pub fn no_return(name: &str, span: Span) -> Problem {
    unstructured(format!("`{name}` may end without a `return`"), span, "")
}

/// An index or assignment in a form without a counterpart.
pub fn index(span: Span) -> Problem {
    Problem::error("E0956", "this index is not translated", span, "")
}

/// A value that is neither a number nor an array of numbers.
pub fn expression(what: &str, span: Span) -> Problem {
    value(format!("{what} is not translated"), span, "")
}

/// Operands without a product.
pub fn operands(op: &str, left: &str, right: &str, span: Span) -> Problem {
    value(format!("`{op}` of {left} and {right} is not translated"), span, "")
}

/// A random number in a loop without a counter.
pub fn random_in_while(span: Span) -> Problem {
    Problem::error(
        "E0958",
        "a random number in a `while` is not translated",
        span,
        "its key needs the number of the round",
    )
    .hint("use a `for` loop")
}

/// A program without a model.
pub fn no_model(span: Span) -> Problem {
    Problem::error("E0959", "the Stan program has neither parameters nor a model", span, "")
}

/// A mistake in the Stan program.
fn syntax(title: impl Into<String>, span: Span, label: impl Into<String>) -> Problem {
    Problem::error("E0950", title, span, label)
}

/// Something that the library lacks.
fn unavailable(title: impl Into<String>, span: Span, label: impl Into<String>) -> Problem {
    Problem::error("E0953", title, span, label)
}

/// A jump.
fn unstructured(title: impl Into<String>, span: Span, label: impl Into<String>) -> Problem {
    Problem::error("E0955", title, span, label)
}

/// A value without a counterpart.
fn value(title: impl Into<String>, span: Span, label: impl Into<String>) -> Problem {
    Problem::error("E0957", title, span, label)
}

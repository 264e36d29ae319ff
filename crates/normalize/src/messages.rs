//! The wording of every problem of this crate, one short function each: programs with a meaning
//! that cannot be compiled.

use lambada_source::{Problem, Span};

/// Only data crosses the boundary of a program; `what` is a parameter or the result.
pub(crate) fn holds_function(what: &str, span: Span) -> Problem {
    Problem::error(
        "E0622",
        format!("{what} contains a function"),
        span,
        "only data goes in and out of a program",
    )
    .hint("define a function without it that calls this one")
}

/// `names`: the functions of the cycle.
pub(crate) fn circle(names: &[&str]) -> Problem {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let title =
        format!("the order of differentiation is not known: {}", quoted.join(", which needs "));
    Problem::general(CIRCLE, format!("{title} takes a derivative of itself"))
        .hint("each derivative inside of a recursion would be of one order more")
        .hint("let the program say the depth: a number, or the index of a loop with a known number of iterations")
}

/// `count`: the parameter with which the recursion counts.
pub(crate) fn count_is_real(mut circle: Problem, count: &str) -> Problem {
    circle.hints.clear();
    circle
        .hint(format!("`{count}` is a real, because nothing says that it is an integer: write `({count} : int)`"))
        .hint("the depth of a recursion is known only if integers count it")
}

/// The code of [`circle`].
const CIRCLE: &str = "E0530";

/// Whether it is the problem of a recursion that differentiates itself.
pub fn is_circle(problem: &Problem) -> bool {
    problem.code == CIRCLE
}

/// `name`: the function with rules.
pub(crate) fn dynamic_parameter(name: &str, span: Span) -> Problem {
    let title = format!(
        "`{name}` has a rule for its derivative, and a function that it takes is only known at run time"
    );
    Problem::error("E0542", title, span, "the rule needs what the function captures")
        .hint("pass a function that does not come out of data or of a recursion")
        .hint("`--engine core` runs the program without compiling it")
}

pub(crate) fn dynamic_tangent(span: Span) -> Problem {
    let title = "the tangent of a function would only be known at run time here";
    Problem::error("E0543", title, span, "this rule puts it into data, or hands it to a recursion")
        .hint("apply the tangent in the rule itself")
}

/// `name`: the function with rules.
pub(crate) fn captures_data(name: &str, span: Span) -> Problem {
    let title = format!("a function that `{name}` takes captures a value of a recursive type");
    Problem::error(
        "E0544",
        title,
        span,
        "this rule gives its cotangents as a sum, which such values have not",
    )
    .hint(format!("pass the value to `{name}` as a parameter"))
}

pub(crate) fn adds_dynamically() -> Problem {
    Problem::general(
        "E0531",
        "a function that adds to an accumulator would only be known at run time here",
    )
    .hint("give back what is to be added, and add it where the accumulator is")
}

pub(crate) fn array_of_nothing(what: &str, span: Span) -> Problem {
    Problem::error(
        "E0624",
        format!("{what} is an array of `()`"),
        span,
        "such an array holds no data",
    )
    .hint("use its length instead")
}

pub(crate) fn growing_function(span: Span) -> Problem {
    Problem::error(
        "E0508",
        "the function that this loop carries grows with every iteration",
        span,
        "each iteration wraps the function of the one before, and they add to an accumulator",
    )
    .hint("carry what the function is made of, and make the function after the loop")
}

pub(crate) fn frozen(accumulator: &str, span: Span) -> Problem {
    let title = format!("`{accumulator}` is added to outside of its `accumulate`");
    Problem::error("E0516", title, span, "the sum is final here")
}

pub(crate) fn different_accumulators() -> Problem {
    Problem::general("E0517", "functions that add to different accumulators come together here")
        .hint("make the choice inside of one function, which adds to the one or the other")
}

pub(crate) fn not_first_order(span: Span) -> Problem {
    Problem::error(
        "E0518",
        "only functions from data to data have derivatives",
        span,
        "the argument or the result contains a function",
    )
}

/// Too deeply nested calls; `most` is the most called function with its number of calls.
pub(crate) fn too_deep(limit: usize, most: Option<(&str, usize)>) -> Problem {
    let title =
        format!("calls are nested too deeply: more than {} inside each other", grouped(limit));
    explained(Problem::general("E0506", title), most)
}

/// More inlined statements or calls than the limit.
pub(crate) fn too_large(what: &str, limit: usize, most: Option<(&str, usize)>) -> Problem {
    let title = format!(
        "the program is too large: more than {} {what}, when all calls are written out",
        grouped(limit)
    );
    explained(Problem::general("E0505", title), most)
}

/// Adds hints: the most called function, and remedies.
fn explained(problem: Problem, most: Option<(&str, usize)>) -> Problem {
    let problem = match most {
        Some((name, count)) => problem.hint(format!(
            "the function that is called most is `{name}`: {} times before this",
            grouped(count)
        )),
        None => problem,
    };
    problem
        .hint("a `loop` applies a function many times, and its body is written out once")
        .hint("`--engine core` runs the program without compiling it")
}

/// With a space between groups of three digits.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Values of kinds that core's checker excludes.
pub(crate) fn ill_typed() -> Problem {
    Problem::general("E0799", "internal error: the program is not well typed")
}

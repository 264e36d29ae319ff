//! The message of a run-time error, whose details come from the program.

use crate::{Failure, Problem, Span};

/// The problem of a failed program; a failure without a place has only its message.
pub fn failed(failure: &Failure) -> Problem {
    let mut problem = Problem::general("E0700", "run-time error");
    if failure.span == Span::default() {
        problem.title = format!("{}: {}", problem.title, failure.message);
        problem
    } else {
        problem.label(failure.span, failure.message.clone())
    }
}

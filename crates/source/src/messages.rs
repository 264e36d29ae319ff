//! The wording of the one problem that a running program has: what happened is the program's own.

use crate::{Failure, Problem, Span};

/// What went wrong while a program ran; a failure without a place has its message only.
pub fn failed(failure: &Failure) -> Problem {
    let mut problem = Problem::general("E0700", "run-time error");
    if failure.span == Span::default() {
        problem.title = format!("{}: {}", problem.title, failure.message);
        problem
    } else {
        problem.label(failure.span, failure.message.clone())
    }
}

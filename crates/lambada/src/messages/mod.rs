//! The messages of this crate by topic, one short function for each: code, title, label, hints.

pub mod bench;
pub mod data;
pub mod derivatives;
pub mod gradbench;
#[cfg(feature = "paper")]
pub mod paper;
pub mod plot;
pub mod posterior;
pub mod program;
pub mod running;
pub mod verify;

use lambada_source::{Problem, suggest};

/// Suggests a similar name, or lists the known ones.
fn near_or(
    problem: Problem,
    name: &str,
    known: &[&str],
    otherwise: impl FnOnce() -> String,
) -> Problem {
    match suggest(name, known.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(otherwise()),
    }
}

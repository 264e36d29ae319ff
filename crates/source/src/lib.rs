//! Text and places in it, problems as data, and their rendering. This crate knows no language.

mod problem;
mod span;

pub use problem::{Failure, Label, Problem, Severity};
pub use span::{FileId, Site, Source, Sources, Span};

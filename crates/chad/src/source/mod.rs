//! §3: the source language `Syn`, which is the λ-calculus of [`crate::lambda`] alone, and the
//! equivalent fragment of `core`.

mod of_core;
mod term;
mod to_core;

pub use crate::lambda::{Meaning, REAL, check, equations, eval, normalize};
pub use of_core::{Outside, is_source, of_core, parameters};
pub use term::*;
pub use to_core::{data, define, to_core};

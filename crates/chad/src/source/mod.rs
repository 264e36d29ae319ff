//! §3: the source language `Syn`, a simply typed λ-calculus with products over `real^n`.

mod check;
mod equations;
mod eval;
mod normalize;
mod of_core;
mod print;
mod term;
mod to_core;
mod ty;

pub use check::check;
pub use equations::{Equation, Instance, equations};
pub use eval::{Meaning, eval};
pub use normalize::{canonical, normalize};
pub use of_core::{Outside, is_source, of_core, parameters};
pub use term::*;
pub use to_core::{data, define, to_core};
pub use ty::{REAL, Ty};

//! §2: the source language `Syn`, a simply typed λ-calculus with products over `real^n`.

mod check;
mod equations;
mod eval;
mod normalize;
mod print;
mod term;

pub use check::check;
pub use equations::{Equation, Instance, equations};
pub use eval::{Meaning, eval};
pub use normalize::{canonical, normalize};
pub use term::*;

//! Language 3: first-order array programs in administrative normal form.

mod build;
mod derivative;
mod syntax;
mod walk;

pub use build::{Builder, Names};
pub use derivative::{Derivatives, Lambda, Reverse};
pub use syntax::{Atom, Block, Exp, Function, LoopKind, Out, Param, Stm, Ty, Var};
pub use walk::{Renaming, free_vars, uses};

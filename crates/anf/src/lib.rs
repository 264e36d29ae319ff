//! Language 3: first-order array programs in administrative normal form.

mod build;
mod check;
mod code;
mod counts;
mod derivative;
mod eval;
#[cfg(any(test, feature = "generate"))]
mod generate;
mod hints;
mod naming;
mod print;
mod read;
mod room;
mod sizes;
mod syntax;
mod walk;

pub use build::{Builder, Names};
pub use check::check;
pub use counts::Counts;
pub use derivative::{Derivatives, Lambda, Reverse};
pub use eval::{Outcome, eval, eval_within};
#[cfg(any(test, feature = "generate"))]
pub use generate::{Random, generate};
pub use hints::name_values;
pub use naming::Naming;
pub use print::{print, print_block};
pub use read::read;
pub use syntax::{Atom, Block, Exp, Function, LoopKind, Out, Param, Stm, Ty, Var};
pub use walk::{Renaming, free_vars, uses};

#[cfg(test)]
mod tests;

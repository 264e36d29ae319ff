//! Language 2: the typed, higher-order, pure λ-calculus that surface programs elaborate to, and its meaning.

mod build;
mod program;
mod term;
mod ty;

pub use build::*;
pub use program::{Def, DefId, Program, Signature, Size, SizedTy};
pub use term::{Arm, LoopKind, Node, Term, TermKind, Var};
pub use ty::{Ty, TypeDecl, TypeId};

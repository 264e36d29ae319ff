//! §9 and Appendix C: the applied target language `ALSyn`, in which `LFun` and `Tens` are abstract
//! types of a module.

mod check;
mod dagger;
mod eval;
mod primitives;
mod print;
mod term;
mod tidy;
mod ty;

pub use crate::lambda::{check, eval, primal_prim};
pub use dagger::{dagger, dagger_linear, dagger_linear_ty, dagger_ty};
pub use primitives::{
    forward_op, forward_prim, forward_prim_from, reverse_op, reverse_prim, reverse_prim_from,
};
pub use term::*;
pub use tidy::tidy;
pub use ty::{Abstract, Ty};

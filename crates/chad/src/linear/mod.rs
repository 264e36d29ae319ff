//! §4: the linear target language. `CSyn` are its Cartesian terms, `LSyn` its linear ones. And its
//! mirror image, `transpose`.

mod check;
mod equations;
mod eval;
mod normalize;
mod ops;
mod primitives;
mod print;
mod term;
mod tidy;
mod transpose;
mod ty;

pub use crate::lambda::{check, eval, normalize, of_source_ty, primal_prim};
pub use check::check_linear;
pub use equations::{Equation, Instance, equations, linear_eta};
pub use eval::{eval_linear, zero};
pub use normalize::normalize_linear;
pub use ops::{forward_op, reverse_op};
pub use primitives::{forward_prim, reverse_prim};
pub use term::*;
pub use tidy::{tidy, tidy_linear};
pub use transpose::{
    transpose, transpose_linear, transposed_linear_ty, transposed_ty, transposed_var,
};
pub use ty::{LTy, Lolli, Ty};

//! What all languages of the compiler share: scalars, tensors of scalars, and the one table of scalar primitives.

mod expr;
mod prim;
mod scalar;
mod tensor;

pub use expr::Expr;
pub use prim::{Cost, Prim, ReduceOp};
pub use scalar::{Scalar, ScalarTy};
pub use tensor::{Data, Tensor};

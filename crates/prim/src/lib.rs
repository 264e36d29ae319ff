//! Common parts of all languages of the compiler: scalars, tensors of scalars, the one table of
//! scalar primitives, and that of array primitives.
//!
//! A primitive is a row of `table/`: its name, its type, how it is evaluated, its partial
//! derivatives, its C text, its documentation. Everything that the compiler knows of a primitive is
//! read off its row; no pass has a `match` over primitives.

mod array;
mod expr;
mod kinks;
mod memory;
mod poly;
mod precision;
mod prim;
mod row;
mod scalar;
mod special;
mod table;
mod tensor;
mod vector;

pub mod pages;

pub use array::{ArrayKernel, ArrayPrim, ArrayRow, Derivative, Spelling, Transpose, Version};
pub use expr::{Expr, Instance};
pub use kinks::{KINKS, Kink};
pub use memory::{MOST_FOR_CALLS, Memory, TOO_DEEP, elements, grow, made_nan, made_nan_by, size};
pub use poly::{Coefficient, Monomial, Poly};
pub use precision::Precision;
pub use prim::{Cost, Prim, ReduceOp};
pub use row::{CText, Domain, Helper, Row, Surface, c_helper};
pub use scalar::{Scalar, ScalarTy};
pub use special::{digamma, floor_div, floor_rem, int_pow, max, min, polygamma, powi};
pub use tensor::{Data, Tensor, tells};
pub use vector::{VectorHelper, single_helper, vector_helper};

//! Interface for Rust programs: a [`Model`] is a checked program, a [`Function`] one of its
//! definitions. Each derivative of a function is compiled once and called often. Everything here is
//! `Send + Sync`.
//!
//! - `model`, `ty`, `error`: programs, types and errors;
//! - `function`, `derivative`, `tangents`: calls of definitions and of their derivatives;
//! - `arg`, `value`, `output`: arguments and results;
//! - `plan`, `compiled`: conversion of arguments to those of compiled code.

mod arg;
mod compiled;
mod derivative;
mod error;
mod function;
mod model;
mod output;
mod plan;
mod tangents;
mod ty;
mod value;

pub(crate) use compiled::{Compiled, Extra};

pub use arg::{Arg, Args, Element, IntoArg, record, variant};
pub use derivative::{
    Blocks, Gradient, Hessian, Hvp, Jacobian, Jvp, Pullback, SparseMatrix, Triplets, ValueAndGrad,
    Vjp,
};
pub use error::{Diagnostic, Error, ErrorKind};
pub use function::{Derivation, Direction, Function};
pub use model::{Builder, Definition, Model, Parameter};
pub use output::{Output, Parts, ResultMemory};
pub use ty::{Type, Variant};
pub use value::Value;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_may_be_used_from_many_threads() {
        fn check<T: Send + Sync>() {}
        check::<Model>();
        check::<Function>();
        check::<(ValueAndGrad, Jvp, Vjp, Pullback, Jacobian, Hessian, Hvp, SparseMatrix)>();
        check::<(Value, Gradient, Blocks, Triplets, Args<'_>)>();
        check::<(Error, Diagnostic, Type, crate::Options, crate::Session)>();
    }
}

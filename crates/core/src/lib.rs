//! Language 2: the typed, higher-order, pure λ-calculus that surface programs elaborate to, and its
//! meaning.

pub mod build;
mod check;
pub mod data;
pub mod eval;
mod fields;
mod jacobian;
mod print;
mod program;
mod rules;
pub mod sized;
mod term;
mod ty;
mod walk;

pub use build::*;
pub use check::{check, first_order}; // the term constructor is `build::check`
pub use data::{Args, Data};
pub use fields::FieldOrder;
pub use jacobian::{hessian, jacobian};
pub use print::{print_program, print_term, print_type};
pub use program::{Def, DefId, Program, Signature};
pub use rules::{Rule, Ruled, adder, cotangent};
pub use term::{Arm, Checkpoint, LoopKind, Node, OPERAND, Term, TermKind, Var};
pub use ty::{Size, SizedTy, Ty, TypeDecl, TypeId};
pub use walk::Rebuild;

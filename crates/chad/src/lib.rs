//! The paper *Reverse AD at Higher Types* as running code: small, slow, obviously right, and the oracle for the compiler.
//!
//! Read it with the paper at hand; the ids (S-1, L-20, M-3, …) are those of the project's checklist of the paper, E1 … E27 its errata. In
//! reading order:

pub mod op; // the basic operations, and the one table of their derivatives
pub mod source; // §2: the source language
pub mod combinators; // §2: and as categorical combinators
pub mod linear; // §3, §4: the linear target language
pub mod forward; // Appendix A: forward mode
pub mod reverse; // Appendix A: reverse mode
pub mod pairs; // §5: the categories of pairs, whose functors the macros are
pub mod applied; // §8, Appendix C: the applied target language
pub mod applied_forward; // Appendix C: forward mode
pub mod applied_reverse; // Appendix C: reverse mode
pub mod operational; // Appendix E: big-step semantics
pub mod linfun; // its abstract types, implemented
pub mod primitives; // Appendix F: map and its kin
pub mod generate; // random terms, for tests
pub mod value; // meanings
mod var;

#[cfg(test)]
mod theorems;

pub use var::{Env, Var};

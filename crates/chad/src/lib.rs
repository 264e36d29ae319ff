//! The paper *Reverse AD at Higher Types* as running code: small, slow, obviously right, and the
//! oracle for the compiler.
//!
//! Read it with the paper at hand, in the order below. The ids (S-1, L-20, M-3, …) are those of the
//! project's checklist of the paper; E1 … E27 are its errata (and E-1 … E-24 the rules of Appendix
//! E): where an erratum concerns code, the code cites it and `errata` tests it.

// Variables, operations with the one table of their derivatives, the higher-order primitives of
// Appendix F, meanings.
pub mod op;
pub mod primitives;
mod print;
pub mod value;
mod var;

// §3: the λ-calculus that all three languages have, the source language, and as categorical
// combinators.
pub mod lambda;

pub mod source;

pub mod combinators;

// §4, §5: the linear target language, its equations, its semantics, and its mirror image (T-12).
pub mod linear;

// Appendix A: the macros into the linear language.
pub mod forward;
mod primal;
pub mod reverse;

// §9: the applied target language, and the module of its abstract types.
pub mod applied;
pub mod linfun;

// §6: the categories of pairs, whose functors the macros are; Appendix C: the macros into the
// applied language, as such functors.
pub mod pairs;

// Both as pairs of terms, and how large they are.
pub mod literal;

// Appendix E: big-step semantics.
pub mod operational;

// Beyond the paper: without the exponential blow-up (E26), then with closures converted too;
// variants.
pub mod shared;

pub mod closures;
pub mod variants;

// For users: the stages of a derivative, and a derivation step by step.
pub mod report;

// The test cases of the theorems T-1 … T-12.
pub mod generate;

#[cfg(test)]
mod costs;
#[cfg(test)]
mod errata;
#[cfg(test)]
mod theorems;

pub use var::{Env, Name, Var};

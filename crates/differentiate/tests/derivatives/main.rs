//! Derivatives against oracles: differences, the dot-product identity, the primal's bits, linearity, symmetry, counted operations.

mod cost;
mod generated;
mod dsl;
mod laws;
mod program;
mod programs;
mod shrink;
mod show;

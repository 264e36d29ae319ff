//! Derivatives against oracles: differences, the dot-product identity, the primal's bits, linearity, symmetry, counted operations.

mod checkpoints;
mod cost;
mod dsl;
mod generated;
mod laws;
mod program;
mod programs;
mod shrink;
mod updates;

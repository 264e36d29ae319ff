//! Derivatives against oracles: differences, the dot-product identity, the primal's bits,
//! linearity, symmetry, counted operations.

mod checkpoints;
mod cost;
mod generated;
mod lanes;
mod laws;
mod nodes;
mod program;
mod programs;
mod recursion;
mod shrink;
mod updates;

//! Surface to core.
mod builtin;
mod infer;
mod matching;
mod problems;
mod solve;
mod typed;

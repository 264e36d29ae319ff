//! Language 1: what a person writes.

pub mod ast;

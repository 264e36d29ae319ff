//! anf → surface: an array program as the syntax tree of a definition, or of a module with the
//! types and functions that it uses, that parses, checks, runs and can be differentiated again.
//! This is how derivatives are shown to people.
//!
//! Assumes: a function that `anf::check` accepts. Gives: a `def`. Keeps: the value, and the
//! failures of what is in the program; `Check`s are not printed, for what they guard checks itself,
//! and nor are functions that only check ([`checking`]).
//!
//! Accumulators become regions ([`regions`]), functions that are given some local functions in
//! these ([`locals`]), loops with several results tuples, cheap values that are used once are
//! written where they are used ([`uses`]), a `for` that gives the elements of an array is the array
//! ([`fors`]), tests of constructors are `match` ([`mod@matches`], [`choices`]), fields of nodes
//! are arguments of constructors again ([`group`]), what nothing mentions is dropped ([`unused`]),
//! names are given when all is said ([`names`]), and the two sweeps of a reverse derivative are put
//! apart ([`phases`]).

mod aligned;
mod checking;
mod choices;
mod constructs;
mod declared;
mod definition;
mod fields;
mod fors;
mod group;
mod interface;
mod library;
mod lines;
mod local_functions;
mod locals;
mod matches;
mod name_table;
mod names;
mod phases;
mod pieces;
mod printer;
mod regions;
mod returned;
mod unused;
mod uses;

pub use declared::Declared;
pub use definition::definition;
pub use group::{Constructors, Group};
pub use interface::{Interface, Leaf, Reading};
pub use library::items;

#[cfg(test)]
mod tests;

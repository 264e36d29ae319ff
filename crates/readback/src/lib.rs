//! anf → surface: an array program as the syntax tree of a definition, or of a module with the
//! types and functions that it uses. The result parses, checks, runs and can be differentiated
//! again. The compiler shows derivatives to people in this form.
//!
//! Assumes: a function that `anf::check` accepts. Gives: a `def`. Keeps: the value, and the
//! failures of the program's operations. `Check`s are not printed, because the printed operations
//! make the same checks themselves; neither are functions that only check ([`checking`]).
//!
//! - Accumulators become regions ([`regions`]), and functions with accumulator parameters local
//!   functions in these ([`locals`]).
//! - Loops over whole arrays become arithmetic of arrays ([`elementwise`]), one statement for each
//!   array that has a name ([`distributed`]).
//! - Other loops with several results become tuples; a `for` that copies an array becomes the array
//!   ([`fors`]).
//! - Cheap values that are used once are written where they are used ([`uses`]).
//! - Tests of constructors become `match` ([`mod@matches`], [`choices`]), and fields of nodes
//!   arguments of constructors ([`group`]).
//! - Unused bindings are dropped ([`unused`]), and variables get their names at the end
//!   ([`names`]).
//! - The two sweeps of a reverse derivative are separated ([`phases`]).

mod aligned;
mod checking;
mod choices;
mod constructs;
mod declared;
mod definition;
mod distributed;
mod elementwise;
mod extrema;
mod fields;
mod fors;
mod group;
mod interface;
mod known;
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
mod reading;
mod regions;
mod returned;
mod separate;
mod sums;
mod unused;
mod uses;

pub use declared::Declared;
pub use definition::definition;
pub use group::{Constructors, Group};
pub use interface::{Interface, Leaf, Reading};
pub use library::items;

//! Surface → core: names, types, sizes, overloads; every problem of a program at once.
//!
//! In reading order:
//!
//! - `solve` infers unknown types and sizes and knows no syntax.
//! - `infer` walks the syntax tree and leaves a `typed` tree with a scheme for each definition.
//! - `matching` makes decision trees of matches.
//! - `specialize` writes core for one entry.
//! - `lints` finds code that deserves a warning.
//! - `names` and `places` tell editors the meanings of names and the types of expressions.

mod builtin;
mod checked;
pub mod components;
mod infer;
mod input;
mod lints;
mod matching;
pub mod messages;
mod names;
mod places;
mod solve;
mod specialize;
mod typed;

pub use builtin::builtin_names;
pub use checked::{Checked, Definition, Quotient, elaborate};
pub(crate) use checked::{Elaborated, Global};
pub use input::{Input, import_key, import_name, library_module};
pub use messages::foreign::NAMES as FOREIGN;
pub use names::{Meaning, Names};
pub use solve::defaults::Shape;

//! The wording of every problem of this crate, one short function each: code, title, label, hint.

pub mod forms;
pub mod items;
pub mod lexical;
pub mod statements;
pub mod syntax;

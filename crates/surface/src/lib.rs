//! Language 1: the source language. Text becomes [`token`]s, [`parse`] makes tokens a syntax tree
//! ([`ast`]), and [`print_module`] writes a tree as text, which parses to the same tree. Nothing
//! here fails: problems are returned beside the tree.

pub mod ast;
pub mod build;
mod capitals;
mod format;
pub mod lexer;
mod messages;
pub mod names;
mod parser;
mod print;
pub mod scopes;
mod spans;
pub mod token;
pub mod visit;

pub use capitals::resolve;
pub use format::format;
pub use names::{
    FreeNames, all_names, defined, free_names, free_variables, looks_like_negative_argument,
};
pub use parser::{is_incomplete, parse, parse_expr, parse_type};
pub use print::{
    WIDTH, print_def, print_expr, print_item, print_module, print_pattern, print_type,
};
pub use spans::erase_spans;

//! Stan programs → Lambada programs that people read.
//!
//! `parse` makes a syntax tree of a Stan program; `translate` makes statements without types of it,
//! `raise` expressions of those, and `surface` a tree of Lambada, which the formatter lays out.
//! Absent: types of Lambada, whether the result checks.

mod ast;
mod functions;
mod lexer;
mod messages;
mod parser;
mod raise;
mod surface;
mod term;
mod translate;
mod types;

use lambada_source::{FileId, Problem};

/// The translation of a Stan program named `name`; empty if there are problems.
pub fn translate(text: &str, file: FileId, name: &str) -> (String, Vec<Problem>) {
    let program = match parser::parse(text, file) {
        Ok(program) => program,
        Err(problem) => return (String::new(), vec![problem]),
    };
    match translate::program(&program, file, name) {
        Ok(definitions) => {
            let marks = surface::Marks::default();
            let text = lambada_surface::print_module(&surface::module(&definitions, &marks));
            let text = surface::with_comments(&text, &marks);
            let formatted = lambada_surface::format(&text, file).unwrap_or(text);
            (formatted, Vec::new())
        }
        Err(problems) => (String::new(), problems),
    }
}

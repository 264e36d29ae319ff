//! Stan programs → Lambada programs that people read.
//!
//! `parser` makes a syntax tree of a Stan program; `translate` makes statements without types of
//! it, `raise` expressions of those, and `surface` a tree of Lambada, which the formatter lays out.
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

use lambada_source::{FileId, Problem, Severity};

/// The translation of a Stan program named `name`; empty if there are problems.
pub fn translate(text: &str, file: FileId, name: &str) -> (String, Vec<Problem>) {
    match translated(text, file, name, false) {
        Ok((text, _)) => (text, Vec::new()),
        Err(problems) => (String::new(), problems),
    }
}

/// The translation with comments in place of statements that have none, and a warning for each;
/// empty if no translation can be made.
pub fn translate_partly(text: &str, file: FileId, name: &str) -> (String, Vec<Problem>) {
    match translated(text, file, name, true) {
        Ok((text, mut problems)) => {
            problems.iter_mut().for_each(|problem| problem.severity = Severity::Warning);
            problems.dedup();
            (text, problems)
        }
        Err(problems) => (String::new(), problems),
    }
}

fn translated(
    text: &str,
    file: FileId,
    name: &str,
    partly: bool,
) -> Result<(String, Vec<Problem>), Vec<Problem>> {
    let program = parser::parse(text, file).map_err(|problem| vec![problem])?;
    let partly = partly.then(|| text.into());
    let (definitions, problems) = translate::program(&program, file, name, partly)?;
    let marks = surface::Marks::default();
    let text = lambada_surface::print_module(&surface::module(&definitions, &marks));
    let text = surface::with_comments(&text, &marks);
    let formatted = lambada_surface::format(&text, file).unwrap_or(text);
    Ok((formatted, problems))
}

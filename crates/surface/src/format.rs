//! The canonical layout of a file with all its comments.
//!
//! The tree holds doc comments only. So comments between items are copied from the text, and an item with a comment inside is
//! copied as it is: formatting never loses a word.

use lambada_source::{FileId, Problem, Span};

use crate::ast::Item;
use crate::lexer::tokenize;
use crate::parser::parse;
use crate::print::print_bare_item;

/// The text in canonical layout, or its problems. Formatting the result again changes nothing.
pub fn format(text: &str, file: FileId) -> Result<String, Vec<Problem>> {
    let (module, problems) = parse(text, file);
    if !problems.is_empty() {
        return Err(problems);
    }
    let comments = tokenize(text, file).comments;
    let mut out = String::new();
    let mut end = 0;
    let mut after_import = false;
    for item in &module.items {
        let span = item_span(item);
        let import = matches!(item, Item::Import { .. });
        let between = &text[end..span.start as usize];
        let joined = import && after_import && between.trim().is_empty();
        if !out.is_empty() && !joined {
            out.push('\n');
        }
        out.push_str(&comment_lines(between));
        out.push_str(&item_text(text, item, &comments));
        let rest = &text[span.end as usize..];
        let trailing = rest.split('\n').next().unwrap_or("");
        end = span.end as usize;
        if trailing.trim_start().starts_with("--") {
            out.push(' ');
            out.push_str(trailing.trim());
            end += trailing.len();
        }
        out.push('\n');
        after_import = import;
    }
    let last = comment_lines(&text[end..]);
    if !out.is_empty() && !last.is_empty() {
        out.push('\n');
    }
    Ok(out + last.trim_end_matches('\n') + if last.is_empty() { "" } else { "\n" })
}

fn item_span(item: &Item) -> Span {
    match item {
        Item::Def(def) => def.span,
        Item::Type(def) => def.span,
        Item::Import { span, .. } => *span,
    }
}

/// An item in canonical layout, or as it is if that would lose a comment.
fn item_text(text: &str, item: &Item, comments: &[Span]) -> String {
    let span = item_span(item);
    let first = comments.partition_point(|comment| comment.start < span.start);
    if comments.get(first).is_some_and(|comment| comment.start < span.end) {
        let lines: Vec<&str> =
            text[span.start as usize..span.end as usize].lines().map(str::trim_end).collect();
        return lines.join("\n");
    }
    print_bare_item(item)
}

/// The comments of a text without anything else, with at most one empty line in a row and none at the start.
fn comment_lines(text: &str) -> String {
    let mut out = String::new();
    let mut empty = false;
    // What stands before the first line break ends the line of something else, what stands behind the last starts another one.
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').split('\n').collect();
    for line in &lines
        [..lines.len() - usize::from(lines.len() > 1 && lines[lines.len() - 1].trim().is_empty())]
    {
        let line = line.trim();
        if line.is_empty() {
            empty = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut empty) {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
    }
    if empty { out + "\n" } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(format(text, FileId(0)).as_deref(), Ok(expect), "{text}");
        assert_eq!(format(expect, FileId(0)).as_deref(), Ok(expect), "{text}");
    }

    #[test]
    fn comments_are_kept() {
        check(
            "-- a\n\n\n--| b\ndef  f=1 -- c\n  -- d\ndef g=2\n-- e\n\n",
            "-- a\n\n--| b\ndef f = 1 -- c\n\n-- d\ndef g = 2\n\n-- e\n",
        );
        check(
            "def f =   -- why\n   1+1  \ndef g=1+1",
            "def f =   -- why\n   1+1\n\ndef g = 1 + 1\n",
        );
        check(
            "import \"a\"\n\n\nimport \"b\"\n-- c\nimport \"d\"",
            "import \"a\"\nimport \"b\"\n\n-- c\nimport \"d\"\n",
        );
        check("", "");
        check("  -- only\n", "-- only\n");
        check("--| File.\n\ndef f = 1", "--| File.\n\ndef f = 1\n");
        check("\u{feff}def f = 1\r\n-- x\r\ndef g = 2\r\n", "def f = 1\n\n-- x\ndef g = 2\n");
    }

    #[test]
    fn problems_are_told() {
        assert!(format("def f = (", FileId(0)).is_err());
    }
}

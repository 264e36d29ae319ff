//! The page of the book.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::items::{Item, Kind, Section};
use super::survey::{Entry, Place, Survey};

const HEAD: &str = "\
# The paper, item by item

Everything that the paper *Reverse AD at Higher Types* defines or promises, and where this project has it. The crate `chad` is the paper as running code. Its comments
cite the items by the ids below; this page is collected from those comments by `cargo xtask checklist`, and `cargo xtask tidy` complains when an item has no place or no
test, when a comment cites an id that does not exist, or when this page is out of date.

Formulas are in the notation of the paper, with `|-` for the turnstile, `\\x.t` for a λ-term, `-o` for linear functions, `!T (x) σ` for copowers; `τ`, `σ`, `ρ` are linear types. Files are in
`crates/chad/src`; after each are the item of Rust that cites it and, in parentheses, its arms or rows. A test is named by its module and function. A test of all rows of a
table of equations, or of generated terms, is a test of each item that its comment names. Errata are numbered `E1`, …, the rules of the operational semantics `E-1`, …
";

/// The folder of the sources, for those who read.
const FOLDER: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/HEAD/crates/chad/src");

/// The whole page.
pub fn page(sections: &[Section], survey: &Survey) -> String {
    let mut text = HEAD.to_string();
    let mut files = BTreeSet::new();
    for section in sections {
        write!(
            text,
            "\n## {}\n\n| id | what | where | tests |\n|---|---|---|---|\n",
            section.title
        )
        .expect("text grows");
        for item in section.items {
            let Some(entry) = item.id().and_then(|id| survey.entries.get(&id)) else { continue };
            files.extend(entry.places.iter().map(|place| place.file.as_str()));
            text.push_str(&row(item, entry));
        }
    }
    text.push('\n');
    for file in files {
        writeln!(text, "[`{file}`]: {FOLDER}/{file}").expect("text grows");
    }
    text
}

fn row(item: &Item, entry: &Entry) -> String {
    format!(
        "| {} | {} | {} | {} |\n",
        item.id,
        cell(item.text),
        cell(&places(&entry.places)),
        cell(&tests(item, &entry.tests))
    )
}

/// A bar would end the cell, in code as well.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn tests(item: &Item, tests: &[String]) -> String {
    let names = tests.iter().map(|test| format!("`{test}`")).collect::<Vec<_>>().join(", ");
    match (item.kind, tests.is_empty()) {
        (Kind::TextOnly(reason), true) => format!("text only: {reason}"),
        (Kind::TextOnly(reason), false) => format!("{names}; text only: {reason}"),
        (Kind::Code | Kind::Property, true) => "**none**".to_string(),
        (Kind::Code | Kind::Property, false) => names,
    }
}

/// A file once with its items, an item once with its arms or rows.
fn places(places: &[Place]) -> String {
    if places.is_empty() {
        return "**nowhere**".to_string();
    }
    let files = groups(places, |place| &place.file).into_iter().map(|(file, places)| {
        let items =
            groups(&places, |place| &place.item).into_iter().filter(|(item, _)| !item.is_empty());
        let items: Vec<String> = items.map(|(item, places)| within(item, &places)).collect();
        if items.is_empty() {
            format!("[`{file}`]")
        } else {
            format!("[`{file}`] {}", items.join(", "))
        }
    });
    files.collect::<Vec<_>>().join("; ")
}

fn within(item: &str, places: &[Place]) -> String {
    let details: Vec<String> = places
        .iter()
        .filter_map(|place| place.detail.as_ref())
        .map(|detail| format!("`{detail}`"))
        .collect();
    if details.is_empty() {
        format!("`{item}`")
    } else {
        format!("`{item}` ({})", details.join(", "))
    }
}

/// Those with one key together, in order of first appearance.
fn groups(places: &[Place], key: fn(&Place) -> &String) -> Vec<(&String, Vec<Place>)> {
    let mut found: Vec<(&String, Vec<Place>)> = Vec::new();
    for place in places {
        match found.iter_mut().find(|(k, _)| *k == key(place)) {
            Some((_, group)) => group.push(place.clone()),
            None => found.push((key(place), vec![place.clone()])),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checklist::source::module_mentions;
    use crate::checklist::survey::survey;

    #[test]
    fn rows() {
        let item = |id, text, kind| Item { id, text, kind };
        let items: &'static [Item] = Box::leak(Box::new([
            item("S-1", "`G |- x`", Kind::Code),
            item("S-2", "b", Kind::Code),
            item("S-3", "c", Kind::Property),
            item("E6", "d", Kind::TextOnly("prose")),
        ]));
        let sections = [Section { title: "A title", items }];
        let code = "//! S-2\n/// S-1\nfn f() { match x {\n // S-1\n A(_) | B => 1,\n // S-1\n C => 2 } }\n/// S-1\nstruct D;\n\
                    /// S-1, S-2, E6\n#[test]\nfn t() {}\n/// S-1\n#[test]\nfn s() {}\n";
        let (mentions, _) = module_mentions("a/b.rs", code, "a::b", false).unwrap();
        let page = page(&sections, &survey(&sections, &mentions));
        let table = "## A title\n\n| id | what | where | tests |\n|---|---|---|---|\n\
                     | S-1 | `G \\|- x` | [`a/b.rs`] `f` (`A \\| B`, `C`), `D` | `a::b::t`, `a::b::s` |\n\
                     | S-2 | b | [`a/b.rs`] | `a::b::t` |\n\
                     | S-3 | c | **nowhere** | **none** |\n\
                     | E6 | d | **nowhere** | `a::b::t`; text only: prose |\n\n\
                     [`a/b.rs`]: ";
        assert!(page.contains(table), "{page}");
    }
}

//! The reference of the library, for the command line and the book: doc comments of the prelude and
//! of the modules, the table of primitives, and the built-in names of the language.

use std::fmt::Write as _;

use lambada_prim::{Prim, Row, Scalar, Surface};
use lambada_source::{FileId, Problem, suggest};
use lambada_surface::ast::{Def, Item, TypeDef};

use crate::explain::wrapped;
use crate::library::{MODULES, PRELUDE};
use crate::messages::running as messages;

/// Documentation of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The qualified name: `random.normal`, `sum`.
    pub name: String,
    /// The name with its parameters or with its type; one line for each overload.
    pub heads: Vec<String>,
    /// Description with an example.
    pub text: String,
}

/// A module, or one of the groups that need no import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// The name of the module; `prelude`, `primitives`.
    pub name: &'static str,
    /// Its purpose.
    pub text: String,
    /// Its definitions, in source order.
    pub entries: Vec<Entry>,
}

/// Built-in names that are no scalar functions, with types and descriptions.
const BUILTINS: [(&str, &str, &str); 15] = [
    ("pi", "real", "The ratio of a circle's circumference to its diameter."),
    ("inf", "real", "Infinity."),
    ("nan", "real", "Not a number."),
    ("length", "[n]a -> int", "How many elements an array has: `length [1, 2, 3]` is `3`."),
    ("len", "[n]a -> int", "`length`, as other languages call it: `len [1, 2, 3]` is `3`."),
    (
        "sum",
        "[n]a -> a",
        "The sum of the elements, rows of a matrix included; 0 of none: `sum [1, 2, 3]` is `6.0`.",
    ),
    ("product", "[n]a -> a", "The product of the elements; 1 of none: `product [2, 3]` is `6.0`."),
    (
        "maximum",
        "[n]a -> a",
        "The largest element, or NaN if there is one; of nothing it is an error: `maximum [1, 3, 2]` is `3.0`.",
    ),
    (
        "minimum",
        "[n]a -> a",
        "The smallest element, or NaN if there is one; of nothing it is an error: `minimum [1, 3, 2]` is `1.0`.",
    ),
    (
        "jvp",
        "(a -> b) -> a -> a -> (b, b)",
        "Value and tangent of a function at a point along a tangent: `jvp (\\x -> x * x) 3.0 1.0` is `(9.0, 6.0)`.",
    ),
    (
        "vjp",
        "(a -> b) -> a -> (b, b -> a)",
        "Value and pullback of a function at a point: `(vjp (\\x -> x * x) 3.0).1 1.0` is `6.0`.",
    ),
    (
        "jacobian",
        "([n]real -> [m]real) -> [n]real -> [m][n]real",
        "The matrix of partial derivatives, by the cheaper mode: `jacobian (\\x -> [x[0] * x[1]]) [2.0, 3.0]` is `[[3.0, 2.0]]`.",
    ),
    (
        "ravel",
        "a -> []real",
        "The components of a vector (a real, or a tuple, a record or an array of vectors) one after the other: `ravel (1, [2.0, 3.0])` is `[1.0, 2.0, 3.0]`. Of an array of tuples or records the first components of all come first.",
    ),
    (
        "unravel",
        "a -> []real -> a",
        "A vector of the shape of the first argument with these components: `unravel (0, [0.0, 0.0]) [1.0, 2.0, 3.0]` is `(1.0, [2.0, 3.0])`. With `ravel`, what works for arrays works for all vectors.",
    ),
    (
        "inspect",
        "a -> a",
        "Its argument, which it prints with its place on standard error, once for each evaluation: `inspect (1 + 2)` is `3.0`. `inspect_as \"name\" e` prints it under a name.",
    ),
];

/// Everything, module by module.
pub fn chapters() -> Vec<Chapter> {
    let mut chapters = vec![primitives(), chapter("prelude", PRELUDE)];
    chapters.extend(MODULES.iter().map(|(name, text)| chapter(name, text)));
    chapters
}

/// The documentation of a name or module, or the list of all, for a terminal.
///
/// # Errors
/// The name is not defined; the message suggests the most similar one.
pub fn manual(name: Option<&str>) -> Result<String, Problem> {
    let chapters = chapters();
    let Some(name) = name else { return Ok(contents(&chapters)) };
    let wanted = name.strip_prefix("std/").unwrap_or(name);
    let mut text = String::new();
    if let Some(chapter) = chapters.iter().find(|chapter| chapter.name == wanted) {
        text += &overview(chapter);
    }
    let entries = || chapters.iter().flat_map(|chapter| &chapter.entries);
    let meant = |entry: &&Entry| entry.name == wanted || last_part(&entry.name) == wanted;
    for entry in entries().filter(meant) {
        let gap = if text.is_empty() { "" } else { "\n" };
        _ = write!(text, "{gap}{}\n\n{}\n", entry.heads.join("\n"), wrapped(&entry.text));
    }
    if !text.is_empty() {
        return Ok(text);
    }
    let names = chapters.iter().map(|chapter| chapter.name);
    let names = names.chain(entries().map(|entry| entry.name.as_str()));
    let parts = entries().map(|entry| last_part(&entry.name));
    let near = suggest(wanted, names).or_else(|| suggest(wanted, parts));
    Err(messages::no_documentation(name, near.as_deref()))
}

/// A page of the book.
pub fn page(chapter: &Chapter) -> String {
    let mut text = format!("# {}\n\n{}\n", chapter.name, chapter.text);
    for entry in &chapter.entries {
        let heads = entry.heads.join("\n");
        _ = write!(text, "\n## `{}`\n\n```text\n{heads}\n```\n\n{}\n", entry.name, entry.text);
    }
    text
}

/// Lists all chapters with the names of their entries.
fn contents(chapters: &[Chapter]) -> String {
    let one = |chapter: &Chapter| {
        let module = MODULES.iter().any(|(name, _)| *name == chapter.name);
        let path = if module { format!("std/{}", chapter.name) } else { chapter.name.to_string() };
        let names: Vec<&str> = chapter.entries.iter().map(|entry| last_part(&entry.name)).collect();
        let lines: String =
            wrapped(&names.join(" ")).lines().map(|line| format!("  {line}\n")).collect();
        format!("{path}\n{lines}")
    };
    let parts: Vec<String> = chapters.iter().map(one).collect();
    parts.join("\n") + "\n`lambada doc NAME` tells more of a module or a definition.\n"
}

/// The purpose of a chapter, and the heads of its entries.
fn overview(chapter: &Chapter) -> String {
    let mut text = format!("{}\n", wrapped(&chapter.text));
    for entry in &chapter.entries {
        _ = write!(text, "\n{}\n", entry.heads.join("\n"));
    }
    text
}

/// `random.normal` without its module.
fn last_part(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

fn chapter(name: &'static str, text: &str) -> Chapter {
    let (module, _) = lambada_surface::parse(text, FileId(0));
    let qualified = |own: &str| match name {
        "prelude" => own.to_string(),
        module => format!("{module}.{own}"),
    };
    let entries = module.items.iter().filter_map(|item| match item {
        Item::Def(def) => definition(def, text, &qualified(&def.name.text)),
        Item::Type(def) => type_definition(def, text),
        Item::Import(_) => None,
    });
    let doc = module.doc.as_deref().unwrap_or_default();
    Chapter { name, text: one_line(doc), entries: entries.collect() }
}

/// Hides helpers, which are called `_name` in modules and `prelude_name` in the prelude.
fn definition(def: &Def, text: &str, name: &str) -> Option<Entry> {
    let own = &def.name.text;
    if own.starts_with('_') || own.starts_with("prelude_") {
        return None;
    }
    let head = &text[def.name.span.end as usize..def.body.span.start as usize];
    // Comments between the head and the body are dropped.
    let lines = head.lines().filter_map(|line| line.split("--").next());
    let head = lines.collect::<Vec<_>>().join("\n");
    let head = one_line(head.trim_end().trim_end_matches(['=', '(']).trim_end());
    let gap = if head.is_empty() || head.starts_with(':') { "" } else { " " };
    Some(Entry {
        name: name.to_string(),
        heads: vec![format!("{name}{gap}{head}")],
        text: one_line(def.doc.as_deref().unwrap_or_default()),
    })
}

fn type_definition(def: &TypeDef, text: &str) -> Option<Entry> {
    let whole = one_line(&text[def.span.start as usize..def.span.end as usize]);
    // A record may be written over several lines.
    let whole = whole.replace("{ ", "{").replace(" }", "}");
    let doc = one_line(def.doc.as_deref()?);
    Some(Entry { name: def.name.text.to_string(), heads: vec![whole], text: doc })
}

/// The scalar functions with all their types, and the built-in names.
fn primitives() -> Chapter {
    let builtin = |(name, ty, text): &(&str, &str, &str)| Entry {
        name: (*name).to_string(),
        heads: vec![format!("{name} : {ty}")],
        text: (*text).to_string(),
    };
    let mut entries: Vec<Entry> = BUILTINS.iter().map(builtin).collect();
    for row in Prim::ALL.iter().map(|prim| prim.row()) {
        let Surface::Call(name) = row.surface else { continue };
        match entries.iter_mut().find(|entry| entry.name == name) {
            Some(entry) => entry.heads.push(head(name, row)),
            None => entries.push(Entry {
                name: name.to_string(),
                heads: vec![head(name, row)],
                text: described(name, row),
            }),
        }
    }
    Chapter {
        name: "primitives",
        text: "What the language itself defines: constants, functions of arrays, derivatives, and the scalar functions, which also work elementwise on arrays.".to_string(),
        entries,
    }
}

fn head(name: &str, row: &Row) -> String {
    let types: Vec<String> =
        row.args.iter().chain([&row.result]).map(ToString::to_string).collect();
    format!("{name} : {}", types.join(" -> "))
}

/// Description of a primitive, the domain of its derivative, and its example.
fn described(name: &str, row: &Row) -> String {
    let (args, value) = row.example;
    let args: Vec<String> = args.iter().map(|arg| written(*arg)).collect();
    let example = format!("`{name} {}` is `{}`", args.join(" "), literal(value));
    format!("{} Derivative: {}. {example}.", row.doc, row.domain.text)
}

/// A number as an argument, parenthesized if negative.
fn written(value: Scalar) -> String {
    let text = literal(value);
    if text.starts_with('-') { format!("({text})") } else { text }
}

fn literal(value: Scalar) -> String {
    match value {
        Scalar::Real(x) => format!("{x:?}"),
        Scalar::Int(n) => n.to_string(),
        Scalar::Bool(b) => b.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

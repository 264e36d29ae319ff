//! Syntax tree to text, in the canonical layout: lines of at most 100 columns where possible, and
//! as few parentheses as possible. If a person wrote the text, a construct that may be on one line
//! or on several stays as written ([`authored`]).
//!
//! Keeps: `parse(print(tree))` is `tree` up to places, for every tree that the parser can produce.

mod authored;
mod expr;
mod operators;
mod types;
mod weave;
mod whole;
mod words;

use std::rc::Rc;

use lambada_source::{About, Doc, Side};

use crate::ast::{
    Def, Expr, Import, Item, Module, Name, Param, Pattern, Rule, TypeBody, TypeDef, TypeExpr,
    TypeKind,
};
use expr::{Follow, expr, filled, leading};
use types::{argument_type, param, pattern, ty};
use weave::Written;

/// Width of lines, where possible.
pub const WIDTH: usize = 100;

/// The text of a file, with the comments and spellings of its source, if it has one.
pub fn print_module(module: &Module) -> String {
    match &module.written {
        Some(text) => whole::file(module, &Written::of(text)).render(WIDTH),
        None => plain(module).render(WIDTH),
    }
}

/// The text of an item of a file, with the comments that belong to it.
pub fn print_item(module: &Module, one: &Item) -> String {
    match &module.written {
        Some(text) => whole::one(&Written::of(text), one).render(WIDTH),
        None => (item(one) + Doc::hard_line()).render(WIDTH),
    }
}

/// A tree without a source text.
fn plain(module: &Module) -> Doc {
    let mut parts: Vec<Doc> = Vec::new();
    if let Some(doc) = &module.doc {
        parts.push(comment(doc));
    }
    for (k, one) in module.items.iter().enumerate() {
        let imports = k > 0 && is_import(one) && is_import(&module.items[k - 1]);
        if !parts.is_empty() && !imports {
            parts.push(Doc::empty_line());
        }
        parts.push(item(one) + Doc::hard_line());
    }
    Doc::concat(parts)
}

/// An item without its doc comment.
fn bare_item(one: &Item) -> Doc {
    match one {
        Item::Def(d) => bare_def(d),
        Item::Type(d) => bare_type_def(d),
        Item::Import(_) => item(one),
    }
}

/// The text of a definition, with its doc comment.
pub fn print_def(definition: &Def) -> String {
    def(definition).render(WIDTH)
}

/// The text of an expression, on one line where that is possible.
pub fn print_expr(e: &Expr) -> String {
    authored::joined(&expr(e, 0, Follow::NOTHING)).render(WIDTH)
}

/// The text of a type, on one line.
pub fn print_type(t: &TypeExpr) -> String {
    ty(t).render(usize::MAX)
}

/// The text of a pattern, on one line.
pub fn print_pattern(p: &Pattern) -> String {
    pattern(p).render(usize::MAX)
}

fn is_import(item: &Item) -> bool {
    matches!(item, Item::Import(_))
}

fn item(item: &Item) -> Doc {
    match item {
        Item::Def(d) => def(d),
        Item::Type(d) => type_def(d),
        Item::Import(one) => import(one),
    }
}

fn import(import: &Import) -> Doc {
    let alias = import.alias.iter().map(|alias| Doc::text(format!(" as {}", alias.text)));
    let listed = |names: &Vec<Name>| {
        Doc::text(" ") + filled(names.iter().map(|name| Doc::text(&*name.text)).collect()).nest(1)
    };
    let parts = alias.chain(import.names.iter().map(listed));
    Doc::text(format!("import \"{}\"", import.path)) + Doc::concat(parts)
}

/// `--|` lines, each with its line break.
fn comment(doc: &Rc<str>) -> Doc {
    let line = |line: &str| Doc::text(format!("--| {line}").trim_end()) + Doc::hard_line();
    Doc::concat(doc.split('\n').map(line))
}

fn optional_comment(doc: Option<&Rc<str>>) -> Doc {
    doc.map_or(Doc::nil(), comment)
}

fn def(def: &Def) -> Doc {
    optional_comment(def.doc.as_ref()) + bare_def(def)
}

fn bare_def(def: &Def) -> Doc {
    let keyword = if def.recursive { "def rec " } else { "def " };
    Doc::text(keyword) + function(def)
}

/// `f [n] x : t = e with jvp dx = e`, after its keyword.
fn function(def: &Def) -> Doc {
    let sizes = def.sizes.iter().map(|size| Doc::text(format!("[{}]", size.text)));
    let mut parts: Vec<Doc> = vec![Doc::text(&*def.name.text)];
    parts.extend(sizes.chain(def.params.iter().map(types::def_param)));
    match &def.result {
        Some(result) => parts.push(Doc::text(": ") + ty(result) + " =".into()),
        None => {
            let last = parts.pop().unwrap_or_else(Doc::nil);
            parts.push(last + " =".into());
        }
    }
    let rules = Doc::concat(def.rules.iter().map(|one| (Doc::hard_line() + rule(one)).nest(2)));
    (Doc::fill(parts).nest(4) + body(&def.body, 2)).group() + rules
}

/// `head = e`, with `e` on the next line where it does not fit.
fn equation(head: Doc, body: &Expr, indent: usize) -> Doc {
    (head + " =".into() + self::body(body, indent)).group()
}

/// The expression after an `=`.
fn body(e: &Expr, indent: usize) -> Doc {
    (Doc::line() + leading(e, 0, Follow::NOTHING)).nest(indent)
}

fn rule(rule: &Rule) -> Doc {
    let pseudo = if rule.pseudo { "pseudo " } else { "" };
    let params = Doc::concat(rule.params.iter().map(|one| Doc::text(" ") + param(one)));
    let value = rule.value.as_ref().map_or(Doc::nil(), |one| Doc::text(" of ") + param(one));
    equation(
        Doc::text(format!("with {pseudo}{}", rule.mode.name())) + params + value,
        &rule.body,
        2,
    )
}

fn type_def(def: &TypeDef) -> Doc {
    optional_comment(def.doc.as_ref()) + bare_type_def(def)
}

fn bare_type_def(def: &TypeDef) -> Doc {
    let sizes = def.sizes.iter().map(|name: &Name| format!(" [{}]", name.text));
    let params = sizes.chain(def.params.iter().map(|name: &Name| format!(" {}", name.text)));
    let head = Doc::text(format!("type {}{} =", def.name.text, params.collect::<String>()));
    let body = match &def.body {
        TypeBody::Alias(alias) => {
            if let TypeKind::Record(fields) = &alias.kind {
                Doc::text(" ") + types::record_block(fields)
            } else {
                (Doc::line() + ty(alias)).nest(2)
            }
        }
        TypeBody::Variant(constructors) => {
            let cases = constructors.iter().map(|(name, arguments)| constructor(name, arguments));
            let bar = Doc::if_broken("| ".into(), Doc::nil());
            (Doc::line() + bar + Doc::join(&(Doc::line() + "| ".into()), cases)).nest(2)
        }
    };
    (head + body).group()
}

fn constructor(name: &Name, arguments: &[TypeExpr]) -> Doc {
    Doc::text(&*name.text)
        + Doc::concat(arguments.iter().map(|argument| Doc::text(" ") + argument_type(argument)))
}

/// `open items, items close`: on one line, or one line for each item. If an author began the first
/// item on a line of its own, the closing bracket has one too.
fn brackets(open: &str, items: impl IntoIterator<Item = Doc>, close: &str) -> Doc {
    let items: Vec<Doc> = items.into_iter().collect();
    if items.is_empty() {
        return Doc::text(format!("{open}{close}"));
    }
    let items = Doc::join(&(Doc::text(",") + Doc::line()), items);
    let hanging = items.clone().nest(open.len());
    let block = (Doc::hard_line() + items).nest(2) + Doc::hard_line();
    let choice = Doc::choice(About::Break, hanging, block, Side::Joined);
    (Doc::text(open) + choice + Doc::text(close)).group()
}

/// The part of a `let` before its `=`: `p : t`.
fn let_param(param: &Param) -> Doc {
    let ty = param.ty.as_ref().map_or(Doc::nil(), |t| Doc::text(" : ") + ty(t));
    pattern(&param.pattern) + ty
}

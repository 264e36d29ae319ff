//! The local names in scope at a place.

use std::rc::Rc;

use lambada::Symbol;
use lambada_source::{Span, stack};
use lambada_surface::ast::{Expr, Name};
use lambada_surface::scopes::{Binder, Scopes, walk_scopes};

use crate::analysis::Analysis;

/// The local names in scope at an offset, each once.
pub(crate) fn in_scope(analysis: &Analysis, offset: usize) -> Vec<(Rc<str>, Symbol)> {
    // Behind the last token of a definition, its names may still be meant.
    let before = analysis.definitions().filter(|def| def.span.start as usize <= offset);
    let Some(def) = before.last() else { return Vec::new() };
    let mut scope = InScope { at: offset as u32, ..InScope::default() };
    stack::roomy(|| walk_scopes(def, &mut scope));
    let mut found: Vec<(Rc<str>, Symbol)> = Vec::new();
    for name in scope.found.into_iter().rev() {
        if found.iter().all(|(known, _)| *known != name.0) {
            found.push(name);
        }
    }
    found
}

/// Remembers the names at the last expression that begins before the place.
#[derive(Default)]
struct InScope {
    at: u32,
    bound: Vec<(Rc<str>, Symbol)>,
    scopes: Vec<usize>,
    found: Vec<(Rc<str>, Symbol)>,
}

impl InScope {
    fn note(&mut self, span: Span) {
        if span.start <= self.at {
            self.found = self.bound.clone();
        }
    }
}

impl Scopes for InScope {
    fn enter(&mut self) {
        self.scopes.push(self.bound.len());
    }

    fn leave(&mut self) {
        let start = self.scopes.pop().expect("leave follows enter");
        self.bound.truncate(start);
    }

    fn bind(&mut self, name: &Name, by: Binder) {
        if name.span.end <= self.at {
            self.bound.push((name.text.clone(), Symbol::Local(name.span, by)));
        }
    }

    fn mention(&mut self, _: &Rc<str>, span: Span) {
        self.note(span);
    }

    fn at(&mut self, expr: &Expr) {
        self.note(expr.span);
    }
}

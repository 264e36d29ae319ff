//! The context of a term: `let`s and checks in order, so that long programs are not deeply nested.

use std::rc::Rc;
use std::sync::Arc;

use lambada_core::{self as core, Term, TermKind, Var};
use lambada_source::{Site, Span};

use super::Specialize;
use crate::typed::{Function, FunctionId};

/// One binding or check around a term.
pub(super) enum Item {
    Let(Var, Term),
    Check(Term, Site, Vec<Term>),
    /// The instances of a local function that the rest uses.
    Function(FunctionId, Rc<Function>),
    /// The instances of functions that may call each other.
    Functions(Rc<[(FunctionId, Rc<Function>)]>),
}

/// The context of a term, outermost first.
#[derive(Default)]
pub(super) struct Spine(pub Vec<Item>);

impl Specialize<'_> {
    /// `let var = value`
    pub(super) fn let_in(&mut self, spine: &mut Spine, var: Var, value: Term) {
        self.scope.shapes.record(&var, &value);
        spine.0.push(Item::Let(var, value));
    }

    /// A term that may be mentioned repeatedly: a variable or literal, otherwise a new variable
    /// bound to it.
    pub(super) fn share(&mut self, spine: &mut Spine, hint: &str, term: Term) -> Term {
        if let TermKind::Var(_) | TermKind::Lit(_) = term.kind() {
            return term;
        }
        self.share_as_var(spine, hint, term)
    }

    /// A term as a variable.
    pub(super) fn share_as_var(&mut self, spine: &mut Spine, hint: &str, term: Term) -> Term {
        if let TermKind::Var(_) = term.kind() {
            return term;
        }
        let var = self.fresh(hint, term.ty().clone());
        let span = term.span();
        self.let_in(spine, var.clone(), term);
        Term::new(TermKind::Var(var.clone()), var.ty, span)
    }

    /// A check before the rest.
    pub(super) fn check_in(
        &mut self,
        spine: &mut Spine,
        cond: Term,
        span: Span,
        message: impl Into<Arc<str>>,
        values: Vec<Term>,
    ) {
        self.failing += 1;
        spine.0.push(Item::Check(cond, Site::new(self.span(span), message), values));
    }

    /// The term inside of its context.
    pub(super) fn close(&mut self, spine: Spine, body: Term) -> Term {
        let mut term = body;
        for item in spine.0.into_iter().rev() {
            term = match item {
                Item::Let(var, value) => core::let_(var, value, term),
                Item::Check(cond, site, values) => core::build::check(cond, site, values, term),
                Item::Function(id, function) => self.local_instances(id, &function, term),
                Item::Functions(functions) => self.recursive_instances(&functions, term),
            };
        }
        term
    }
}

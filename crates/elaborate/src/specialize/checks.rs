//! `check "text {e}" condition value`. The values in braces are evaluated first, then the condition,
//! and the value only if it holds.

use std::rc::Rc;

use lambada_core::{self as core, Term, Ty};
use lambada_prim::{Prim, ScalarTy};
use lambada_source::{Shown, Site, Span};

use super::Specialize;
use super::spine::{Item, Spine};
use crate::typed::Exp;

impl Specialize<'_> {
    /// `check "text"` as a function value.
    pub(super) fn check_value(
        &mut self,
        (words, values, written): (&[Rc<str>], &[Exp], bool),
        ty: &Ty,
        span: Span,
    ) -> Term {
        let Ty::Fun(bool, rest) = ty else { panic!("`check` of type {ty:?}") };
        let Ty::Fun(from, _) = &**rest else { panic!("`check` of type {ty:?}") };
        let (holds, value) =
            (self.fresh("holds", (**bool).clone()), self.fresh("x", (**from).clone()));
        let mut outside = Spine::default();
        let texts = self.shown(&mut outside, words, values);
        let mut inside = Spine::default();
        self.checked(&mut inside, texts, written, core::var(&holds), span);
        let body = self.close(inside, core::var(&value));
        let function = core::lam(holds, core::lam(value, body));
        self.close(outside, function)
    }

    /// The message, and the integers that stand for its values.
    pub(super) fn shown(
        &mut self,
        spine: &mut Spine,
        words: &[Rc<str>],
        values: &[Exp],
    ) -> (String, Vec<Term>) {
        let (mut message, mut integers) = (String::new(), Vec::new());
        for (k, word) in words.iter().enumerate() {
            message += &word.replace('{', "{{");
            let Some(value) = values.get(k) else { break };
            let value = self.exp(value);
            let (value, shown) = as_integer(value);
            message += &shown.placeholder(k);
            integers.push(self.share(spine, "shown", value));
        }
        (message, integers)
    }

    /// A check before the rest.
    pub(super) fn checked(
        &mut self,
        spine: &mut Spine,
        (message, values): (String, Vec<Term>),
        written: bool,
        cond: Term,
        span: Span,
    ) {
        self.failing += 1;
        let site = Site { written, ..Site::new(self.span(span), message) };
        spine.0.push(Item::Check(cond, site, values));
    }
}

/// A scalar as the integer that a failing check supplies, and how its message shows it.
fn as_integer(value: Term) -> (Term, Shown) {
    match value.ty() {
        Ty::Scalar(ScalarTy::Real) => (core::prim(Prim::RealBits, vec![value]), Shown::Real),
        Ty::Scalar(ScalarTy::Bool) => {
            (core::prim(Prim::SelectInt, vec![value, core::int(1), core::int(0)]), Shown::Bool)
        }
        _ => (value, Shown::Int),
    }
}

//! Array literals, comprehensions and slices.

use lambada_core::{self as core, Checkpoint, LoopKind, Term, TermKind, Ty};
use lambada_prim::{Prim, Scalar};
use lambada_source::Span;

use super::Specialize;
use super::expr::core_has_array;
use super::spine::Spine;
use crate::solve::ty as solve;
use crate::typed::{Clause, Exp};

impl Specialize<'_> {
    pub(super) fn array(&mut self, items: &[Exp], ty: solve::Ty, span: Span) -> Term {
        let items: Vec<Term> = items.iter().map(|item| self.exp(item)).collect();
        let ty = self.mono(ty);
        self.note_irregular(ty.elem());
        Term::new(TermKind::Array(items), ty, self.span(span))
    }

    /// Notes a possible failure: elements that contain arrays may have different sizes.
    pub(super) fn note_irregular(&mut self, elem: &Ty) {
        if core_has_array(elem) {
            self.failing += 1;
        }
    }

    pub(super) fn comprehension(&mut self, clause: &Clause, body: &Exp, span: Span) -> Term {
        let mut outside = Spine::default();
        let dimension = self.dimension(clause, &mut outside);
        let index = self.index_variable(clause, &dimension);
        let mut spine = Spine::default();
        self.bind_index(clause, &dimension, &index, &mut spine);
        let body = self.exp(body);
        let body = self.close(spine, body);
        self.note_irregular(body.ty());
        let built = self.at(core::for_(index, dimension.extent, body), span);
        if self.scope.shapes.size(&built, 0).is_none() {
            self.failing += 1; // a size that is computed may be too large
        }
        self.close(outside, built)
    }

    /// The bounds of a slice of `array`, checked: its start and its length.
    fn ends(
        &mut self,
        array: &Term,
        from: Option<&Exp>,
        to: Option<&Exp>,
        span: Span,
        spine: &mut Spine,
    ) -> (Term, Term) {
        let start = from.map_or_else(|| core::int(0), |from| self.exp(from));
        let start = self.share(spine, "from", start);
        let stop = to.map_or_else(|| core::dim(array.clone(), 0), |to| self.exp(to));
        let stop = self.share(spine, "to", stop);
        let size = core::dim(array.clone(), 0);
        let in_order = |a: &Term, b: &Term| core::prim(Prim::LeInt, vec![a.clone(), b.clone()]);
        let zero = core::int(0);
        let mut conditions = Vec::new();
        if from.is_some() {
            conditions.push(in_order(&zero, &start));
        }
        conditions.push(in_order(&start, &stop));
        if to.is_some() {
            conditions.push(in_order(&stop, &size));
        }
        let all = conditions
            .into_iter()
            .reduce(|a, b| core::prim(Prim::And, vec![a, b]))
            .expect("there is a condition");
        let message = "slice {0}:{1} is out of range for size {2}";
        self.check_in(spine, all, span, message, vec![start.clone(), stop.clone(), size]);
        let begins_at_zero = matches!(start.kind(), TermKind::Lit(Scalar::Int(0)));
        let length =
            if begins_at_zero { stop } else { core::prim(Prim::SubInt, vec![stop, start.clone()]) };
        (start, length)
    }

    pub(super) fn slice(
        &mut self,
        array: &Exp,
        from: Option<&Exp>,
        to: Option<&Exp>,
        span: Span,
    ) -> Term {
        let mut spine = Spine::default();
        let array = self.exp(array);
        let array = self.share_as_var(&mut spine, "array", array);
        let (start, length) = self.ends(&array, from, to, span, &mut spine);
        let i = self.fresh("i", Ty::INT);
        let place = core::prim(Prim::AddInt, vec![start, core::var(&i)]);
        let element = core::index(array, vec![place], self.span(span));
        let slice = self.at(core::for_(i, length, element), span);
        self.close(spine, slice)
    }

    /// `xs with [a:b] = ys` is a loop of updates, in place if `xs` is dead afterwards.
    pub(super) fn update_slice(
        &mut self,
        array: &Exp,
        from: Option<&Exp>,
        to: Option<&Exp>,
        value: &Exp,
        span: Span,
    ) -> Term {
        let mut spine = Spine::default();
        let array = self.exp(array);
        let array = self.share_as_var(&mut spine, "array", array);
        let (start, length) = self.ends(&array, from, to, span, &mut spine);
        let value = self.exp(value);
        let value = self.share_as_var(&mut spine, "value", value);
        let length = self.share(&mut spine, "length", length);
        let given = core::dim(value.clone(), 0);
        let wanted = self.scope.shapes.value(&length);
        if wanted.is_none() || wanted != self.scope.shapes.size(&value, 0) {
            let equal = core::prim(Prim::EqInt, vec![length.clone(), given.clone()]);
            let message = "the new value has size {1}, the old one {0}";
            self.check_in(&mut spine, equal, span, message, vec![length.clone(), given]);
        }
        let state = self.fresh("result", array.ty().clone());
        let i = self.fresh("i", Ty::INT);
        let place = core::prim(Prim::AddInt, vec![start, core::var(&i)]);
        let element = core::index(value, vec![core::var(&i)], self.span(span));
        let body = core::update(core::var(&state), vec![place], element, self.span(span));
        let updated = self
            .at(core::loop_(state, array, LoopKind::For(i, length, Checkpoint::All), body), span);
        self.close(spine, updated)
    }
}

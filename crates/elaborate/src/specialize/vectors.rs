//! Operations on vectors with parts: tuples, records and arrays of them, part by part.

use lambada_core::{self as core, Term, TermKind, Ty};
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;

/// An operation on parts that are scalars or arrays of scalars.
type OnParts<'o, 'e> = &'o mut dyn FnMut(&mut Specialize<'e>, Vec<Term>) -> Term;

impl<'e> Specialize<'e> {
    /// An operation on the parts of vectors of one type, and on scalars, which are combined with
    /// every part.
    pub(super) fn by_parts(&mut self, args: Vec<Term>, span: Span, op: OnParts<'_, 'e>) -> Term {
        let Some(whole) = args.iter().find(|arg| has_parts(arg.ty())) else {
            return op(self, args);
        };
        let ty = whole.ty().clone();
        let mut spine = Spine::default();
        let args: Vec<Term> =
            args.into_iter().map(|arg| self.share_as_var(&mut spine, "vector", arg)).collect();
        let combined = match &ty {
            Ty::Array(_) => self.by_elements(&args, &mut spine, span, op),
            Ty::Tuple(items) => self.by_items(&args, items.len(), &ty, span, op),
            Ty::Record(fields) => self.by_items(&args, fields.len(), &ty, span, op),
            Ty::Scalar(_) | Ty::Fun(..) | Ty::Variant(_) => unreachable!("it has parts"),
        };
        self.close(spine, combined)
    }

    fn by_items(
        &mut self,
        args: &[Term],
        count: usize,
        ty: &Ty,
        span: Span,
        op: OnParts<'_, 'e>,
    ) -> Term {
        let items = (0..count).map(|k| {
            let part = |arg: &Term| match arg.ty() {
                Ty::Tuple(_) | Ty::Record(_) => core::proj(arg.clone(), k),
                _ => arg.clone(),
            };
            let parts = args.iter().map(part).collect();
            self.by_parts(parts, span, op)
        });
        let items: Vec<Term> = items.collect();
        Term::new(TermKind::Tuple(items), ty.clone(), self.span(span))
    }

    fn by_elements(
        &mut self,
        args: &[Term],
        spine: &mut Spine,
        span: Span,
        op: OnParts<'_, 'e>,
    ) -> Term {
        let arrays: Vec<&Term> = args.iter().filter(|arg| has_parts(arg.ty())).collect();
        for other in &arrays[1..] {
            self.check_equal(arrays[0], other, 0, None, span, spine);
        }
        let extent = core::dim(arrays[0].clone(), 0);
        let i = self.fresh("i", Ty::INT);
        let element = |arg: &Term| match has_parts(arg.ty()) {
            true => core::index(arg.clone(), vec![core::var(&i)], arg.span()),
            false => arg.clone(),
        };
        let elements = args.iter().map(element).collect();
        let element = self.by_parts(elements, span, op);
        self.at(core::for_(i, extent, element), span)
    }
}

/// Whether the type, or that of the elements, is a tuple or a record.
pub(super) fn has_parts(ty: &Ty) -> bool {
    match ty {
        Ty::Tuple(_) | Ty::Record(_) => true,
        Ty::Array(elem) => has_parts(elem),
        Ty::Scalar(_) | Ty::Fun(..) | Ty::Variant(_) => false,
    }
}

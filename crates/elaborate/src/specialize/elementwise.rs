//! Operators on scalars, and elementwise on arrays: operands are evaluated once, sizes are checked,
//! and then a `for` applies the scalar operator.

use lambada_core::{self as core, OPERAND, Term, TermKind, Ty, Var};
use lambada_prim::{Prim, Scalar, ScalarTy, Surface};
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::builtin;
use crate::solve::ty as solve;
use crate::typed::Exp;

/// The inferred types of two operands, to name their sizes.
type Types = Option<(solve::Ty, solve::Ty)>;

/// An operation on parts that are scalars or arrays of scalars.
type OnParts<'o, 'e> = &'o mut dyn FnMut(&mut Specialize<'e>, Vec<Term>) -> Term;

impl Specialize<'_> {
    /// An overloaded operator.
    pub(super) fn arith(&mut self, spelling: &'static str, a: &Exp, b: &Exp, span: Span) -> Term {
        let types = Some((a.ty, b.ty));
        let (a, b) = (self.exp(a), self.exp(b));
        if has_parts(a.ty()) || has_parts(b.ty()) {
            return self.by_parts(vec![a, b], span, &mut |this, mut parts| {
                let (b, a) = (parts.pop(), parts.pop());
                let (Some(a), Some(b)) = (a, b) else { unreachable!("there are two operands") };
                this.arith_of(spelling, (a, b), None, span)
            });
        }
        self.arith_of(spelling, (a, b), types, span)
    }

    fn arith_of(
        &mut self,
        spelling: &'static str,
        (a, b): (Term, Term),
        types: Types,
        span: Span,
    ) -> Term {
        let scalars = [&a, &b].map(|operand| scalar_inside(operand.ty()));
        let (a, b) = match (spelling, scalars) {
            // A real has integer powers.
            ("**", [_, ScalarTy::Int]) => (a, b),
            ("/", [ScalarTy::Int, ScalarTy::Int]) => {
                let a = self.converted(a, ScalarTy::Real, span);
                (a, self.converted(b, ScalarTy::Real, span))
            }
            _ => self.of_one_scalar(a, b, span),
        };
        match (spelling, scalar_inside(a.ty())) {
            ("//", ScalarTy::Real) => {
                let quotient = self.binary(Surface::Infix("/"), a, b, types, span);
                self.unary(Surface::Call("floor"), quotient, span)
            }
            _ => self.binary(Surface::Infix(spelling), a, b, types, span),
        }
    }

    /// Two operands with scalars of one type: an int is converted if the other is a real.
    pub(super) fn of_one_scalar(&mut self, a: Term, b: Term, span: Span) -> (Term, Term) {
        match (scalar_inside(a.ty()), scalar_inside(b.ty())) {
            (ScalarTy::Int, ScalarTy::Real) => (self.converted(a, ScalarTy::Real, span), b),
            (ScalarTy::Real, ScalarTy::Int) => (a, self.converted(b, ScalarTy::Real, span)),
            _ => (a, b),
        }
    }

    /// A value of the same shape, in which ints are converted where the type has reals.
    pub(super) fn serving(&mut self, value: Term, ty: &Ty, span: Span) -> Term {
        if value.ty() == ty {
            return value;
        }
        let part_types: Vec<Ty> = match ty {
            Ty::Tuple(items) => items.to_vec(),
            Ty::Record(fields) => fields.iter().map(|(_, ty)| ty.clone()).collect(),
            Ty::Array(_) | Ty::Scalar(_) | Ty::Fun(..) | Ty::Variant(_) => Vec::new(),
        };
        let mut spine = Spine::default();
        let served = match ty {
            Ty::Tuple(_) | Ty::Record(_) => {
                let value = self.share_as_var(&mut spine, "parts", value);
                let parts = part_types.iter().enumerate();
                let part = |(k, ty)| self.serving(core::proj(value.clone(), k), ty, span);
                let parts: Vec<Term> = parts.map(part).collect();
                Term::new(TermKind::Tuple(parts), ty.clone(), self.span(span))
            }
            Ty::Array(element) if has_parts(element) => {
                let value = self.share_as_var(&mut spine, "elements", value);
                let i = self.fresh("i", Ty::INT);
                let at = core::index(value.clone(), vec![core::var(&i)], self.span(span));
                let served = self.serving(at, element, span);
                self.at(core::for_(i, core::dim(value, 0), served), span)
            }
            Ty::Array(_) | Ty::Scalar(_) | Ty::Fun(..) | Ty::Variant(_) => {
                return self.converted(value, scalar_inside(ty), span);
            }
        };
        self.close(spine, served)
    }

    /// A value whose ints are converted, if reals are wanted.
    pub(super) fn converted(&mut self, value: Term, wanted: ScalarTy, span: Span) -> Term {
        if scalar_inside(value.ty()) == wanted {
            return value;
        }
        self.unary(Surface::Call("real"), value, span)
    }

    /// A primitive of two arguments, elementwise; a scalar is combined with every element.
    pub(super) fn binary(
        &mut self,
        surface: Surface,
        a: Term,
        b: Term,
        types: Types,
        span: Span,
    ) -> Term {
        let prim = self.primitive(surface, &[&a, &b]);
        self.elementwise(vec![a, b], types, span, &mut |this, args| this.guarded(prim, args, span))
    }

    /// A primitive of one argument, elementwise.
    pub(super) fn unary(&mut self, surface: Surface, x: Term, span: Span) -> Term {
        let prim = self.primitive(surface, &[&x]);
        self.elementwise(vec![x], None, span, &mut |this, args| this.guarded(prim, args, span))
    }

    /// The primitive of a spelling on the scalars of these arguments.
    pub(super) fn primitive(&self, surface: Surface, args: &[&Term]) -> Prim {
        let scalars: Vec<ScalarTy> = args.iter().map(|arg| scalar_inside(arg.ty())).collect();
        builtin::primitive(surface, &scalars)
            .unwrap_or_else(|| panic!("no primitive {surface:?} on {scalars:?}"))
    }

    /// A primitive on scalars; division by zero is an error.
    fn guarded(&mut self, prim: Prim, mut args: Vec<Term>, span: Span) -> Term {
        if !matches!(prim, Prim::DivInt | Prim::RemInt) || is_nonzero_literal(&args[1]) {
            return self.at(core::prim(prim, args), span);
        }
        let mut spine = Spine::default();
        args[0] = self.share(&mut spine, "dividend", args[0].clone());
        args[1] = self.share(&mut spine, "divisor", args[1].clone());
        let nonzero = core::prim(Prim::NeInt, vec![args[1].clone(), core::int(0)]);
        self.check_in(&mut spine, nonzero, span, "division by zero", Vec::new());
        let quotient = self.at(core::prim(prim, args), span);
        self.close(spine, quotient)
    }

    /// A scalar operation on the elements of arrays of one shape; scalars are combined with each.
    pub(super) fn elementwise(
        &mut self,
        args: Vec<Term>,
        types: Types,
        span: Span,
        op: &mut dyn FnMut(&mut Self, Vec<Term>) -> Term,
    ) -> Term {
        let rank = args.iter().map(|arg| Self::rank(arg.ty())).max().unwrap_or(0);
        if rank == 0 {
            return op(self, args);
        }
        let mut spine = Spine::default();
        let args: Vec<Term> =
            args.into_iter().map(|arg| self.share(&mut spine, OPERAND, arg)).collect();
        let arrays: Vec<&Term> = args.iter().filter(|arg| Self::rank(arg.ty()) > 0).collect();
        for other in &arrays[1..] {
            for axis in 0..rank {
                self.check_equal(arrays[0], other, axis, types, span, &mut spine);
            }
        }
        let shape = arrays[0].clone();
        let vars: Vec<Var> = (0..rank).map(|_| self.fresh("i", Ty::INT)).collect();
        let at = |arg: &Term| match Self::rank(arg.ty()) {
            0 => arg.clone(),
            _ => core::index(arg.clone(), vars.iter().map(core::var).collect(), arg.span()),
        };
        let element = op(self, args.iter().map(at).collect());
        let nest = vars.into_iter().enumerate().rev().fold(element, |body, (axis, var)| {
            let extent = core::dim(shape.clone(), axis);
            self.at(core::for_(var, extent, body), span)
        });
        self.close(spine, nest)
    }

    /// Checks that two sizes are equal, unless that is evident.
    fn check_equal(
        &mut self,
        a: &Term,
        b: &Term,
        axis: usize,
        types: Types,
        span: Span,
        spine: &mut Spine,
    ) {
        let (m, n) = (self.scope.shapes.size(a, axis), self.scope.shapes.size(b, axis));
        if m.is_some() && m == n {
            return;
        }
        let a = core::dim(a.clone(), axis);
        let b = core::dim(b.clone(), axis);
        let equal = core::prim(Prim::EqInt, vec![a.clone(), b.clone()]);
        let message = types
            .and_then(|types| self.named_sizes(types, axis))
            .unwrap_or_else(|| "sizes differ: {0} and {1}".to_string());
        self.check_in(spine, equal, span, message, vec![a, b]);
    }

    fn named_sizes(&self, types: (solve::Ty, solve::Ty), axis: usize) -> Option<String> {
        let (m, n) = (self.from.size_name(types.0, axis)?, self.from.size_name(types.1, axis)?);
        (m != n).then(|| format!("sizes differ: {m} is {{0}}, {n} is {{1}}"))
    }
}

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
        Ty::Array(elem) => has_parts(elem),
        ty => matches!(ty, Ty::Tuple(_) | Ty::Record(_)),
    }
}

/// The scalar type inside of an array type.
pub(super) fn scalar_inside(ty: &Ty) -> ScalarTy {
    match ty {
        Ty::Scalar(scalar) => *scalar,
        Ty::Array(elem) => scalar_inside(elem),
        Ty::Tuple(_) | Ty::Record(_) | Ty::Fun(..) | Ty::Variant(_) => {
            panic!("an operator on {ty:?}")
        }
    }
}

/// Whether the term is an integer literal other than zero.
fn is_nonzero_literal(term: &Term) -> bool {
    matches!(term.kind(), TermKind::Lit(Scalar::Int(value)) if *value != 0)
}

//! Operators on scalars, and elementwise on arrays: operands are evaluated once, sizes are checked,
//! and then a `for` applies the scalar operator.

use lambada_core::{self as core, OPERAND, Term, Ty, Var};
use lambada_prim::{Prim, ScalarTy, Surface};
use lambada_source::Span;

use super::Specialize;
use super::expr::is_nonzero_literal;
use super::spine::Spine;
use super::vectors::has_parts;
use crate::builtin;
use crate::solve::ty as solve;
use crate::typed::Exp;

/// The inferred types of two operands, to name their sizes.
type Types = Option<(solve::Ty, solve::Ty)>;

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
    pub(super) fn check_equal(
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

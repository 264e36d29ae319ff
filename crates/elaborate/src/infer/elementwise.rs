//! Calls of definitions of scalars with arrays in the place of scalars: one call for each element.

use lambada_prim::ScalarTy;

use crate::messages::{self, Why};
use crate::solve::scheme::Quantified;
use crate::solve::ty::{Node, Ty};
use crate::typed::{Exp, ExpKind};

use super::Infer;
use super::apply::Bound;

impl Infer<'_> {
    /// The parameters of a function in whose place `count` arguments may have arrays: the scalars,
    /// if nothing else than numbers is taken, and a scalar is the result. A function that draws
    /// random numbers is none, because each element would get the same key.
    pub(super) fn scalar_parameters(&self, f: &Exp, bound: &Bound, count: usize) -> Vec<bool> {
        let (mut scalars, mut at) = (Vec::new(), f.ty);
        while let Node::Fun(from, to) = *self.solver.get(at) {
            if self.solver.as_scalar(self.solver.base(from)).is_none() {
                return Vec::new();
            }
            let sized = bound.iter().any(|(_, how)| *how == Quantified::Parameter(scalars.len()));
            scalars.push(self.solver.as_scalar(from).is_some() && !sized);
            at = to;
        }
        let complete = scalars.len() == count && self.solver.as_scalar(at).is_some();
        if complete && !matches!(f.kind, ExpKind::Builtin(_)) { scalars } else { Vec::new() }
    }

    /// Whether the one problem of an argument is that it is an array of what is expected.
    pub(super) fn is_array_of(&mut self, arg: &Exp, expected: Ty, before: usize) -> bool {
        let mismatch = self.problems.len() == before + 1
            && messages::is_mismatch(&self.problems[before])
            && self.problems[before].labels.first().is_some_and(|label| label.span == arg.span);
        let base = self.solver.base(arg.ty);
        if !mismatch || self.solver.rank(arg.ty) == 0 {
            return false;
        }
        let int_for_real = self.solver.as_scalar(base) == Some(ScalarTy::Int)
            && self.solver.as_scalar(expected) == Some(ScalarTy::Real);
        int_for_real || self.solver.unify(expected, base).is_ok()
    }

    /// A call with `count` arguments, some of which are arrays of one shape, as the array of its
    /// results.
    pub(super) fn elementwise(
        &mut self,
        call: Exp,
        count: usize,
        arrays: &[usize],
        name: &str,
    ) -> Exp {
        let (result, span) = (call.ty, call.span);
        let (mut f, mut args) = (call, Vec::new());
        for _ in 0..count {
            let ExpKind::Apply(inner, arg) = f.kind else { unreachable!("it has the arguments") };
            args.push(*arg);
            f = *inner;
        }
        args.reverse();
        let shape = args[arrays[0]].ty;
        for k in &arrays[1..] {
            let base = self.solver.base(args[*k].ty);
            let expected = self.solver.rebase(shape, base);
            let why = Why::Argument(format!("`{name}`").into(), k + 1);
            self.expect(&args[*k], expected, &why);
        }
        let ty = self.solver.rebase(shape, result);
        Exp { kind: ExpKind::Elementwise(Box::new(f), args), ty, span }
    }
}

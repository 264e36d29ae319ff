//! `y = p(a, b)` for an array primitive that is linear in each argument: its table row has the
//! transposes.
//!
//! ```text
//!   D→   ẏ = p(ȧ, b) + p(a, ḃ)
//!   D←   ā += p₁(ȳ, b)     b̄ += p₂(a, ȳ)
//! ```
//!
//! A primitive that is not linear occurs only in a function with rules, which replace its
//! derivative.

use lambada_anf::{Atom, Op, Param, Ty, Var};
use lambada_prim::{ArrayPrim, Transpose, Version};

use crate::arrays;
use crate::cotangents::Cotangents;
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn array_prim(&mut self, y: &Param, prim: ArrayPrim, args: &[Var]) {
        if args.iter().all(|arg| self.get_var(*arg).is_none()) {
            return;
        }
        linear_only(prim);
        if self.cx.reach {
            return self.reach_contraction(y, prim, args);
        }
        let hint = self.hint(y.var);
        let mut sum = None;
        for (k, arg) in args.iter().enumerate() {
            let Some(tangent) = self.get_var(*arg) else { continue };
            let mut args = args.to_vec();
            args[k] = tangent;
            let part = self.b.bind(&hint, y.ty.clone(), Op::ArrayPrim(prim, args));
            sum = Some(match sum {
                Some(sum) => arrays::plus(&mut self.b, &hint, &y.ty, sum, part),
                None => part,
            });
        }
        if let Some(sum) = sum {
            self.set(y.var, sum);
            self.contraction_is_there(y, args);
        }
    }
}

/// The version of a primitive, by the ranks of the result and of the arguments with known ranks. A
/// captured variable has no derivative, and its type is unknown here.
pub(crate) fn version(prim: ArrayPrim, ranks: &[Option<usize>], result: usize) -> &'static Version {
    let fits = |version: &&Version| {
        let known = version.args.iter().zip(ranks);
        let agree = |(axes, rank): (&&str, &Option<usize>)| rank.is_none_or(|k| k == axes.len());
        version.result().len() == result && known.into_iter().all(agree)
    };
    prim.row().versions.iter().find(fits).expect("the checker has seen the ranks")
}

fn linear_only(prim: ArrayPrim) {
    assert!(prim.is_contraction(), "the derivative of `{}` is a rule of its function", prim.name());
}

/// A cotangent under construction: of the argument `of`, in the version that the ranks choose.
struct Target<'a> {
    version: &'static Version,
    args: &'a [Var],
    of: usize,
    ty: Ty,
    y_ct: &'a Param,
}

impl Cotangents<'_> {
    pub(crate) fn array_prim(&mut self, y: &Param, prim: ArrayPrim, args: &[Var]) {
        let Some(y_ct) = self.take_var(y.var) else { return };
        let y_ct = Param { var: y_ct, ty: y.ty.clone() };
        let ranks: Vec<Option<usize>> =
            args.iter().map(|arg| self.facts.known_ty(*arg).map(Ty::rank)).collect();
        let version = version(prim, &ranks, y.ty.rank());
        for (of, arg) in args.iter().enumerate() {
            if self.wants(*arg).is_none() {
                continue;
            }
            linear_only(prim);
            let ty = self.ty(*arg).clone();
            let mut target = Target { version, args, of, ty, y_ct: &y_ct };
            let transpose = &version.transposes[of];
            target.ty = self.named_as_in(transpose, &target);
            let part = self.transposed(transpose, &target);
            self.add((*arg).into(), part, &target.ty);
        }
    }

    /// The type of the cotangent. Its sizes have the names that its source argument uses, so that
    /// the types evidently agree.
    fn named_as_in(&self, transpose: &Transpose, target: &Target) -> Ty {
        let mut ty = target.ty.clone();
        let Transpose::Apply(_, parts) = transpose else { return ty };
        let axes = target.version.args[target.of];
        for part in parts.iter() {
            let Transpose::Arg(k) = part else { continue };
            let Some(known) = self.facts.known_ty(target.args[*k]) else { continue };
            for (name, size) in target.version.args[*k].chars().zip(&known.dims) {
                if let Some(axis) = axes.find(name) {
                    ty.dims[axis] = *size;
                }
            }
        }
        ty
    }

    /// The cotangent of the argument.
    fn transposed(&mut self, transpose: &Transpose, target: &Target) -> Atom {
        let (of, ty) = (target.args[target.of], &target.ty);
        match transpose {
            Transpose::Outer(factors) => {
                let [u, v] = [&factors[0], &factors[1]].map(|part| self.part(part, target));
                let hint = self.hint(of);
                arrays::outer(&mut self.b, &hint, ty, u.into(), v.into())
            }
            Transpose::Apply(prim, parts) => {
                let parts = parts.iter().map(|part| self.part(part, target)).collect();
                self.bind_ct(of, ty, Op::ArrayPrim(*prim, parts))
            }
            Transpose::Flipped(_) | Transpose::Cotangent | Transpose::Arg(_) => {
                self.part(transpose, target).into()
            }
        }
    }

    /// An operand of a transpose.
    fn part(&mut self, part: &Transpose, target: &Target) -> Var {
        match part {
            Transpose::Cotangent => target.y_ct.var,
            Transpose::Arg(k) => target.args[*k],
            Transpose::Flipped(inner) => {
                let (x, axes) = match inner {
                    Transpose::Arg(k) => (target.args[*k], target.version.args[*k]),
                    Transpose::Cotangent => (target.y_ct.var, target.version.result()),
                    Transpose::Flipped(_) | Transpose::Outer(_) | Transpose::Apply(..) => {
                        unreachable!("what is computed is computed the right way round")
                    }
                };
                let dims = axes.chars().rev().map(|name| target.size(name)).collect();
                arrays::transpose(&mut self.b, &Ty { elem: target.ty.elem, dims }, x)
            }
            Transpose::Outer(_) | Transpose::Apply(..) => {
                let whole = self.transposed(part, target);
                whole.as_var().expect("an array is a variable")
            }
        }
    }
}

impl Target<'_> {
    /// The size of an axis, by the name that the cotangent uses, or that of the result.
    fn size(&self, name: char) -> Atom {
        let own = self.version.args[self.of].find(name).map(|axis| self.ty.dims[axis]);
        let of_result = || self.version.result().find(name).map(|axis| self.y_ct.ty.dims[axis]);
        own.or_else(of_result).expect("an axis of a transpose is one of the cotangents")
    }
}

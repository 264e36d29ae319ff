//! What a rule says of a parameter that is a function. The function itself does not vary with its argument here, but with what it captures.
//!
//! ```text
//!   df x   becomes   the tangent of f_c x along ċ
//!   the cotangent [(x₁, ȳ₁), …]   becomes   c̄ = Σ vjp (\c -> f_c xᵢ) ȳᵢ
//! ```
//!
//! * Assumes: which closures a function may be is known.
//! * Gives: tangents of data, cotangents of the slots of what is captured.

use lambada_anf as anf;
use lambada_anf::{Atom, Elem, Nest, Op};
use lambada_core::Ty as CoreTy;
use lambada_source::Span;

use super::super::Evaluator;
use super::super::derivatives::is_active;
use crate::Eval;
use crate::merge::ill_typed;
use crate::messages;
use crate::val::{CodeKind, Val};

impl Evaluator<'_> {
    /// `df`
    pub(super) fn function_tangent(
        &mut self,
        ty: &CoreTy,
        span: Span,
        f: &Val,
        tangent: &Val,
    ) -> Val {
        let known = self.function_tangents.get(ty).cloned();
        let code = known.unwrap_or_else(|| {
            let code = self.number(CodeKind::Tangent { ty: ty.clone(), span });
            self.function_tangents.insert(ty.clone(), code.clone());
            code
        });
        Val::closure(code, vec![f.clone(), tangent.clone()])
    }

    /// `df x`: the tangent of `f x` along the tangents of what `f` captures.
    pub(in crate::eval) fn tangent_at(
        &mut self,
        ty: &CoreTy,
        span: Span,
        env: &[Val],
        x: &Val,
    ) -> Eval<Val> {
        let ([f, tangent], CoreTy::Fun(_, to)) = (env, ty) else { return Err(ill_typed()) };
        let f = self.with_stored_reals(f)?;
        let says = "the tangent is of another function";
        let tangents = self.along(&f, tangent, span, says)?;
        let traced = self.traced(&f, span, &mut |this, f| this.apply(&f, x.clone(), to, None))?;
        let [_, tangent] = self.push(&traced, &tangents)?;
        Ok(tangent)
    }

    /// `c̄ += vjp (\c -> f_c xᵢ) ȳᵢ` for all points `xᵢ` with cotangents `ȳᵢ`.
    pub(super) fn formal_sum(
        &mut self,
        name: &str,
        span: Span,
        f: &Val,
        points: &Val,
        to: &CoreTy,
    ) -> Eval<Vec<Atom>> {
        let Val::Array(points) = points else { return Err(ill_typed()) };
        let f = self.with_stored_reals(f)?;
        let mut sums: Vec<(Atom, anf::Ty)> = Vec::new();
        let mut has_data = false;
        f.visit(
            &mut |leaf| match self.emit.elem_of(leaf) {
                elem @ Elem::Scalar(_) if is_active(elem) => {
                    sums.push((leaf.atom, self.emit.ty(leaf.atom)));
                }
                Elem::Scalar(_) => {}
                Elem::Ref(_) => has_data = true,
            },
            &mut |_| {},
        );
        if has_data {
            return Err(Box::new(messages::captures_data(name, span)));
        }
        let mut accumulators = Vec::new();
        for (leaf, ty) in &sums {
            let zero = self.emit.fill(Atom::real(0.0), ty.dims.clone());
            let hint = format!("{}_ct", self.emit.hint_of(*leaf));
            accumulators.push(self.emit.bind(&hint, ty.clone(), Op::Accumulator(zero)));
        }
        self.emit.enter();
        let index = self.emit.index("i", points.extent);
        let pair = points.elem.at(index.into());
        let Val::Tuple(pair) = pair else { return Err(ill_typed()) };
        let [x, cotangent] = &pair[..] else { return Err(ill_typed()) };
        let x = x.clone();
        let traced = self.traced(&f, span, &mut |this, f| this.apply(&f, x.clone(), to, None))?;
        let cotangents = self.pull_traced(&traced, cotangent, span)?;
        for (acc, value) in accumulators.iter().zip(cotangents) {
            let acc = acc.as_var().ok_or_else(ill_typed)?;
            self.emit.push(Vec::new(), Op::Accumulate { acc, index: Vec::new(), value });
        }
        let body = self.emit.leave().finish(Vec::new());
        let outs = Vec::new();
        self.emit.push(Vec::new(), Nest::For { index, extent: points.extent, outs, body });
        let mut atoms = Vec::new();
        for ((leaf, ty), acc) in sums.into_iter().zip(accumulators) {
            let acc = acc.as_var().ok_or_else(ill_typed)?;
            let sum = self.emit.bind("sum", ty, Op::Freeze(acc));
            // What is always zero has no slot.
            if leaf.as_var().is_some() {
                atoms.push(sum);
            }
        }
        Ok(atoms)
    }
}

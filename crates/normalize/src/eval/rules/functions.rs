//! What a rule says of a parameter that is a function. The function itself does not vary with its
//! argument here, but with what it captures.
//!
//! ```text
//!   df x   becomes   the tangent of f_c x along ċ
//!   the cotangent [(x₁, ȳ₁), …]   becomes   c̄ = Σ vjp (\c -> f_c xᵢ) ȳᵢ
//! ```
//!
//! A rule that adds is given a function that adds one term of this sum.
//!
//! * Assumes: which closures a function may be is known.
//! * Gives: tangents of data, cotangents of the slots of what is captured.

use std::cell::Cell;
use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Elem, Op};
use lambada_core::Ty as CoreTy;
use lambada_source::Span;

use super::super::Evaluator;
use super::super::leaves::is_active;
use crate::messages;
use crate::val::{AccVal, CodeKind, Leaf, Val};
use crate::{Eval, ill_typed};

impl Evaluator<'_> {
    /// `df`
    pub(super) fn function_tangent(
        &mut self,
        ty: &CoreTy,
        span: Span,
        f: &Val,
        tangent: &Val,
    ) -> Val {
        let code = self.codes.tangent(ty, span);
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
        let points = points.as_array()?;
        let sum = self.open_sum(name, span, f)?;
        let index = self.emit.enter_for(points.extent);
        let pair = points.elem.at(index.into());
        self.add_term(to, span, &sum.environment(), &pair)?;
        self.emit.leave_for_effect(index, points.extent);
        self.close_sum(sum)
    }

    /// The cotangent of what a function captures: nothing so far.
    pub(super) fn open_sum(&mut self, name: &str, span: Span, f: &Val) -> Eval<OpenSum> {
        let f = self.with_stored_reals(f)?;
        let mut leaves: Vec<(Atom, anf::Ty)> = Vec::new();
        let mut has_data = false;
        f.visit(
            &mut |leaf| match self.emit.elem_of(leaf) {
                elem @ Elem::Scalar(_) if is_active(elem) => {
                    leaves.push((leaf.atom, self.emit.ty(leaf.atom)));
                }
                Elem::Scalar(_) => {}
                Elem::Ref(_) => has_data = true,
            },
            &mut |_| {},
        );
        if has_data {
            return Err(Box::new(messages::captures_data(name, span)));
        }
        let mut sums = Vec::new();
        for (leaf, ty) in &leaves {
            let zero = self.emit.fill(Atom::real(0.0), ty.dims.clone());
            let hint = format!("{}_ct", self.emit.hint_of(*leaf));
            let acc = self.emit.bind(&hint, ty.clone(), Op::Accumulator(zero));
            let axes = vec![true; ty.dims.len()];
            let whole = Val::Leaf(Leaf { axes, ..Leaf::scalar(acc) });
            sums.push(ty.dims.iter().rev().fold(whole, |elem, n| Val::array(*n, elem)));
        }
        let structure = Val::tuple(sums);
        let sums = Rc::new(AccVal { structure, frozen: Cell::new(false) });
        Ok(OpenSum { f, leaves, sums })
    }

    /// What a rule adds terms with.
    pub(super) fn adder(&mut self, sum: &OpenSum, to: &CoreTy, span: Span) -> Val {
        let code = self.codes.number(CodeKind::Adder { to: to.clone(), span });
        Val::closure(code, sum.environment())
    }

    /// `c̄ += vjp (\c -> f_c x) ȳ`
    pub(in crate::eval) fn add_term(
        &mut self,
        to: &CoreTy,
        span: Span,
        env: &[Val],
        pair: &Val,
    ) -> Eval<Val> {
        let ([f, Val::Acc(sums)], Val::Tuple(pair)) = (env, pair) else { return Err(ill_typed()) };
        let [x, cotangent] = &pair[..] else { return Err(ill_typed()) };
        let x = x.clone();
        let traced = self.traced(f, span, &mut |this, f| this.apply(&f, x.clone(), to, None))?;
        let cotangents = self.pull_traced(&traced, cotangent, span)?;
        for (acc, value) in atoms(&sums.structure).into_iter().zip(cotangents) {
            let acc = acc.as_var().ok_or_else(ill_typed)?;
            self.emit.push(Vec::new(), Op::Accumulate { acc, index: Vec::new(), value });
        }
        Ok(Val::unit())
    }

    /// The cotangents of the slots of what the function captures.
    pub(super) fn close_sum(&mut self, sum: OpenSum) -> Eval<Vec<Atom>> {
        sum.sums.frozen.set(true);
        let mut slots = Vec::new();
        for ((leaf, ty), acc) in sum.leaves.into_iter().zip(atoms(&sum.sums.structure)) {
            let acc = acc.as_var().ok_or_else(ill_typed)?;
            let sum = self.emit.bind("sum", ty, Op::Freeze(acc));
            // What is always zero has no slot.
            if leaf.as_var().is_some() {
                slots.push(sum);
            }
        }
        Ok(slots)
    }
}

/// The cotangent of what a function captures, while terms are added to it.
pub(super) struct OpenSum {
    f: Val,
    /// The reals that it captures.
    leaves: Vec<(Atom, anf::Ty)>,
    /// An accumulator for each.
    sums: Rc<AccVal>,
}

impl OpenSum {
    fn environment(&self) -> Vec<Val> {
        vec![self.f.clone(), Val::Acc(self.sums.clone())]
    }
}

/// The accumulators in a value, in order.
fn atoms(structure: &Val) -> Vec<Atom> {
    let mut atoms = Vec::new();
    structure.visit(&mut |leaf| atoms.push(leaf.atom), &mut |_| {});
    atoms
}

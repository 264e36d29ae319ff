//! Rules and parameters that are functions. A function varies here with its captured values, not
//! with its argument.
//!
//! ```text
//!   df x   becomes   the tangent of f_c x along ċ
//!   the cotangent [(x₁, ȳ₁), …]   becomes   c̄ = Σ vjp (\c -> f_c xᵢ) ȳᵢ
//! ```
//!
//! A rule that adds receives a function that adds one term of this sum.
//!
//! * Assumes: the possible closures of a function are known.
//! * Gives: tangents of data, cotangents of the captured values' slots.

use std::cell::Cell;
use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Elem, Op};
use lambada_core::Ty as CoreTy;
use lambada_source::Span;

use super::super::Evaluator;
use super::super::leaves::is_active;
use crate::eval::{derivatives, leaves};
use crate::messages;
use crate::val::{AccVal, CodeKind, Leaf, Val};
use crate::{Eval, ill_typed};

/// `df`
pub(in crate::eval) fn function_tangent(
    of: &mut Evaluator,
    ty: &CoreTy,
    span: Span,
    f: &Val,
    tangent: &Val,
) -> Val {
    let code = of.codes.tangent(ty, span);
    Val::closure(code, vec![f.clone(), tangent.clone()])
}

/// `df x`: the tangent of `f x` along the tangents of `f`'s captured values.
pub(in crate::eval) fn tangent_at(
    of: &mut Evaluator,
    ty: &CoreTy,
    span: Span,
    env: &[Val],
    x: &Val,
) -> Eval<Val> {
    let ([f, tangent], CoreTy::Fun(_, to)) = (env, ty) else { return Err(ill_typed()) };
    let f = leaves::with_stored_reals(of, f)?;
    let says = "the tangent is of another function";
    let tangents = leaves::along(of, &f, tangent, span, says)?;
    let traced =
        derivatives::traced(of, &f, span, &mut |this, f| this.apply(&f, x.clone(), to, None))?;
    let [_, tangent] = derivatives::push(of, &traced, &tangents)?;
    Ok(tangent)
}

/// `c̄ += vjp (\c -> f_c xᵢ) ȳᵢ` for all points `xᵢ` with cotangents `ȳᵢ`.
pub(in crate::eval) fn formal_sum(
    of: &mut Evaluator,
    name: &str,
    span: Span,
    f: &Val,
    points: &Val,
    to: &CoreTy,
) -> Eval<Vec<Atom>> {
    let points = points.as_array()?;
    let sum = open_sum(of, name, span, f)?;
    let index = of.emit.enter_for(points.extent);
    let pair = points.elem.at(index.into());
    add_term(of, to, span, &sum.environment(), &pair)?;
    of.emit.leave_for_effect(index, points.extent);
    close_sum(of, sum)
}

/// The cotangent of a function's captured values, initially zero.
pub(in crate::eval) fn open_sum(
    of: &mut Evaluator,
    name: &str,
    span: Span,
    f: &Val,
) -> Eval<OpenSum> {
    let f = leaves::with_stored_reals(of, f)?;
    let mut leaves: Vec<(Atom, anf::Ty)> = Vec::new();
    let mut has_data = false;
    f.visit(
        &mut |leaf| match of.emit.elem_of(leaf) {
            elem @ Elem::Scalar(_) if is_active(elem) => {
                leaves.push((leaf.atom, of.emit.ty(leaf.atom)));
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
        let zero = of.emit.fill(Atom::real(0.0), ty.dims.clone());
        let hint = format!("{}_ct", of.emit.hint_of(*leaf));
        let acc = of.emit.bind(&hint, ty.clone(), Op::Accumulator(zero));
        let axes = vec![true; ty.dims.len()];
        let whole = Val::Leaf(Leaf { axes, ..Leaf::scalar(acc) });
        sums.push(ty.dims.iter().rev().fold(whole, |elem, n| Val::array(*n, elem)));
    }
    let structure = Val::tuple(sums);
    let sums = Rc::new(AccVal { structure, frozen: Cell::new(false) });
    Ok(OpenSum { f, leaves, sums })
}

/// The function with which a rule adds terms.
pub(in crate::eval) fn adder(of: &mut Evaluator, sum: &OpenSum, to: &CoreTy, span: Span) -> Val {
    let code = of.codes.number(CodeKind::Adder { to: to.clone(), span });
    Val::closure(code, sum.environment())
}

/// `c̄ += vjp (\c -> f_c x) ȳ`
pub(in crate::eval) fn add_term(
    of: &mut Evaluator,
    to: &CoreTy,
    span: Span,
    env: &[Val],
    pair: &Val,
) -> Eval<Val> {
    let ([f, Val::Acc(sums)], Val::Tuple(pair)) = (env, pair) else { return Err(ill_typed()) };
    let [x, cotangent] = &pair[..] else { return Err(ill_typed()) };
    let x = x.clone();
    let traced =
        derivatives::traced(of, f, span, &mut |this, f| this.apply(&f, x.clone(), to, None))?;
    let cotangents = derivatives::pull_traced(of, &traced, cotangent, span)?;
    for (acc, value) in atoms(&sums.structure).into_iter().zip(cotangents) {
        let acc = acc.as_var().ok_or_else(ill_typed)?;
        of.emit.push(Vec::new(), Op::Accumulate { acc, index: Vec::new(), value });
    }
    Ok(Val::unit())
}

/// The cotangents of the slots of the function's captured values.
pub(in crate::eval) fn close_sum(of: &mut Evaluator, sum: OpenSum) -> Eval<Vec<Atom>> {
    sum.sums.frozen.set(true);
    let mut slots = Vec::new();
    for ((leaf, ty), acc) in sum.leaves.into_iter().zip(atoms(&sum.sums.structure)) {
        let acc = acc.as_var().ok_or_else(ill_typed)?;
        let sum = of.emit.bind("sum", ty, Op::Freeze(acc));
        // A leaf that is always zero has no slot.
        if leaf.as_var().is_some() {
            slots.push(sum);
        }
    }
    Ok(slots)
}

/// The cotangent of a function's captured values, while terms are added to it.
pub(in crate::eval) struct OpenSum {
    f: Val,
    /// The captured reals.
    leaves: Vec<(Atom, anf::Ty)>,
    /// One accumulator per captured real.
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

//! `jvp` and `vjp`: the function is applied to parameters in its own block, the block is
//! differentiated, and the derivative is placed at the call.

use std::collections::{HashMap, HashSet};

use lambada_anf as anf;
use lambada_anf::{Atom, Param, Renaming};
use lambada_core::{Term, Ty as CoreTy};
use lambada_source::Span;

use super::leaves::{Results, first_order, is_active, with_reals};
use super::{Evaluator, leaves, order, pullbacks};
use crate::emit::Emit;
use crate::merge::merge;
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// A function as a block: `f` applied to parameters for the real leaves of the point.
pub(super) struct Traced {
    lambda: anf::Lambda,
    /// The atoms of the point that the parameters replace.
    pub(super) actuals: Vec<Atom>,
    /// The result, in terms of the block.
    value: Val,
    /// Positions of the block's results: the real leaves of the value, and its other leaves and
    /// sizes.
    reals: Vec<usize>,
    others: Vec<(Atom, usize)>,
}

/// The derivative information that accompanies values.
#[derive(Clone, Copy)]
pub(super) enum Forward {
    Tangent,
    Marks,
}

/// `vjp f x`, of type `ty = (b, b -> a)`
pub(super) fn vjp(of: &mut Evaluator, f: &Term, x: &Term, ty: &CoreTy, span: Span) -> Eval<Val> {
    let (traced, point) = trace(of, f, x, &ty.components()[0], span)?;
    let anf::Reverse { mut forward, pullback, again } = reverse(of, &traced)?;
    let renaming = pullbacks::actual(&forward.params, &traced.actuals);
    let written = place(of, &mut forward, &renaming);
    let value = traced.rebuild(&of.emit, &forward.body.results);
    let here = |map| substituted(substituted(map, &renaming), &written);
    let (once, map) = match again {
        Some(again) => (Some(here(pullback)), here(again)),
        None => (None, here(pullback)),
    };
    let pullback = pullbacks::pullback(of, map, once, [&value, &point], span)?;
    Ok(Val::tuple([value, pullback]))
}

/// `band f x`: two literals.
pub(super) fn band(of: &mut Evaluator, f: &Term, x: &Term, span: Span) -> Eval<Val> {
    let CoreTy::Fun(_, to) = f.ty() else { return Err(ill_typed()) };
    let (traced, _) = trace(of, f, x, to, span)?;
    let captured = traced.captured(&of.emit);
    let found = of.derivatives.band(of.emit.subject(&traced.lambda, &captured));
    let (low, high) = found.unwrap_or((0, -1));
    Ok(Val::tuple([low, high].map(|k| Val::scalar(Atom::int(k)))))
}

/// `jvp f x dx` or `reach f x marks`: the value of `f x`, and its tangent or marks.
pub(super) fn forward(
    of: &mut Evaluator,
    f: &Term,
    x: &Term,
    dx: &Term,
    ty: &CoreTy,
    span: Span,
    kind: Forward,
) -> Eval<[Val; 2]> {
    let f = of.eval(f, None)?;
    let point = point(of, x, span)?;
    let dx = of.eval(dx, None)?;
    let tangents =
        leaves::along(of, &point, &dx, span, "the tangent has another constructor than the point")?;
    let traced = trace_at(of, &f, &point, ty, span)?;
    pushed(of, &traced, &tangents, kind)
}

/// Value and tangent of a traced function.
pub(super) fn push(of: &mut Evaluator, traced: &Traced, tangents: &[Atom]) -> Eval<[Val; 2]> {
    pushed(of, traced, tangents, Forward::Tangent)
}

fn pushed(of: &mut Evaluator, traced: &Traced, tangents: &[Atom], kind: Forward) -> Eval<[Val; 2]> {
    let captured = traced.captured(&of.emit);
    let subject = of.emit.subject(&traced.lambda, &captured);
    let mut forward = match kind {
        Forward::Tangent => of.derivatives.forward(subject)?,
        Forward::Marks => of.derivatives.reach(subject)?,
    };
    of.local.directions.tangents += 1;
    let actuals: Vec<Atom> = traced.actuals.iter().chain(tangents).copied().collect();
    let renaming = pullbacks::actual(&forward.params, &actuals);
    place(of, &mut forward, &renaming);
    let (values, tangents) = forward.body.results.split_at(traced.lambda.results.len());
    let value = traced.rebuild(&of.emit, values);
    let skeleton = leaves::skeleton(of, &value)?;
    let tangent = with_reals(&of.emit, &skeleton, tangents);
    Ok([value, tangent])
}

/// The two sweeps of a traced function.
fn reverse(of: &mut Evaluator, traced: &Traced) -> Eval<anf::Reverse> {
    let captured = traced.captured(&of.emit);
    of.derivatives.reverse(of.emit.subject(&traced.lambda, &captured))
}

/// The cotangents of a traced function's actual arguments.
pub(super) fn pull_traced(
    of: &mut Evaluator,
    traced: &Traced,
    cotangent: &Val,
    span: Span,
) -> Eval<Vec<Atom>> {
    let anf::Reverse { mut forward, mut pullback, .. } = reverse(of, traced)?;
    let mut renaming = pullbacks::actual(&forward.params, &traced.actuals);
    let written = place(of, &mut forward, &renaming);
    let value = traced.rebuild(&of.emit, &forward.body.results);
    let skeleton = leaves::skeleton(of, &value)?;
    let message = "the cotangent has another constructor than the result";
    let cotangents = leaves::along(of, &skeleton, cotangent, span, message)?;
    pullback.params.iter().zip(cotangents).for_each(|(p, a)| renaming.insert(p.var, a));
    written.apply(&mut pullback.body);
    place(of, &mut pullback, &renaming);
    Ok(pullback.body.results)
}

/// The point of a derivative, with stored real leaves.
fn point(of: &mut Evaluator, x: &Term, span: Span) -> Eval<Val> {
    let value = of.eval(x, None)?;
    first_order(&value, span)?;
    leaves::with_stored_reals(of, &value)
}

/// `f` at parameters, as a block.
fn trace_at(of: &mut Evaluator, f: &Val, point: &Val, ty: &CoreTy, span: Span) -> Eval<Traced> {
    traced(of, point, span, &mut |this, x| this.apply(f, x, ty, None))
}

/// A function at a point, as a block.
fn trace(of: &mut Evaluator, f: &Term, x: &Term, ty: &CoreTy, span: Span) -> Eval<(Traced, Val)> {
    let f = of.eval(f, None)?;
    let point = point(of, x, span)?;
    Ok((trace_at(of, &f, &point, ty, span)?, point))
}

/// The code that depends on a value, as a block whose parameters are the real leaves of the value.
pub(super) fn traced(
    of: &mut Evaluator,
    point: &Val,
    span: Span,
    f: &mut dyn FnMut(&mut Evaluator, Val) -> Eval<Val>,
) -> Eval<Traced> {
    of.emit.enter();
    let (mut params, mut actuals) = (Vec::new(), Vec::new());
    let emit = &mut of.emit;
    let mut parameter = |leaf: &Leaf| {
        if !is_active(emit.elem_of(leaf)) {
            return leaf.clone();
        }
        let ty = anf::Ty { elem: emit.elem_of(leaf), ..emit.ty(leaf.atom) };
        let hint = if leaf.atom.as_var().is_some() { emit.hint_of(leaf.atom) } else { "x".into() };
        let var = emit.fresh(hint, ty.clone());
        params.push(Param { var, ty });
        actuals.push(leaf.atom);
        Leaf { atom: var.into(), ..leaf.clone() }
    };
    let x = point.map_leaves(&mut parameter);
    of.derivatives_around += 1;
    let value = f(of, x);
    of.derivatives_around -= 1;
    let value = value?;
    first_order(&value, span)?;
    let mut results = Results::at(of.emit.level());
    let value = merge(&mut results, &mut of.emit, &[Some(&value)])?;
    let mut body = of.emit.leave().finish(results.atoms);
    // Guards accesses that inner derivatives left unchecked, because fusion comes next.
    of.emit.guard(&mut body);
    order::ready(of, &body)?;
    let lambda = anf::Lambda { params, results: results.types, body };
    Ok(Traced { lambda, actuals, value, reals: results.reals, others: results.others })
}

/// Appends the body of a lambda, with atoms for its parameters. Returns the new names of results of
/// inlined calls.
fn place(of: &mut Evaluator, lambda: &mut anf::Lambda, renaming: &Renaming) -> Renaming {
    renaming.apply(&mut lambda.body);
    pullbacks::adopt(of, &mut lambda.body)
}

impl Traced {
    /// Outer variables that the block mentions, with types.
    fn captured(&self, emit: &Emit) -> Vec<Param> {
        let own: HashSet<anf::Var> = self.lambda.params.iter().map(|p| p.var).collect();
        let free = anf::free_vars(&self.lambda.body).into_iter().filter(|var| !own.contains(var));
        free.map(|var| Param { var, ty: emit.ty(var.into()) }).collect()
    }

    /// The value, with results of the differentiated block in place of the original ones.
    fn rebuild(&self, emit: &Emit, results: &[Atom]) -> Val {
        let reals: Vec<Atom> = self.reals.iter().map(|k| results[*k]).collect();
        let others: HashMap<Atom, Atom> =
            self.others.iter().map(|(atom, k)| (*atom, results[*k])).collect();
        let other = |atom: Atom| others.get(&atom).copied().unwrap_or(atom);
        let value = with_reals(emit, &self.value, &reals);
        let on_leaf = &mut |leaf: &Leaf| match is_active(emit.elem_of(leaf)) {
            true => leaf.clone(),
            false => Leaf { atom: other(leaf.atom), ..leaf.clone() },
        };
        value.map(on_leaf, &mut |size| other(size))
    }
}

pub(super) fn substituted(mut lambda: anf::Lambda, renaming: &Renaming) -> anf::Lambda {
    renaming.apply(&mut lambda.body);
    lambda.params.iter_mut().for_each(|p| p.ty = renaming.ty(&p.ty));
    lambda.results.iter_mut().for_each(|ty| *ty = renaming.ty(ty));
    lambda
}

//! `jvp` and `vjp`: the function is applied to parameters in a block of its own, that block is
//! differentiated, and the derivative is placed here.

use std::collections::{HashMap, HashSet};

use lambada_anf as anf;
use lambada_anf::{Atom, Param, Renaming, without_rules};
use lambada_core::{Term, Ty as CoreTy};
use lambada_source::Span;

use super::Evaluator;
use super::leaves::{Results, first_order, is_active, with_reals};
use crate::emit::Emit;
use crate::merge::merge;
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// A function as a block: `f` applied to parameters that stand for the real leaves of the point.
pub(super) struct Traced {
    lambda: anf::Lambda,
    /// What the parameters stand for.
    pub(super) actuals: Vec<Atom>,
    /// The result, in terms of the block.
    value: Val,
    /// Which results of the block are the real leaves of the value, and which are its other leaves
    /// and sizes.
    reals: Vec<usize>,
    others: Vec<(Atom, usize)>,
}

/// What goes along with the values.
#[derive(Clone, Copy)]
enum Forward {
    Tangent,
    Marks,
}

impl Evaluator<'_> {
    /// `vjp f x`, of type `ty = (b, b -> a)`
    pub(super) fn vjp(&mut self, f: &Term, x: &Term, ty: &CoreTy, span: Span) -> Eval<Val> {
        let (traced, point) = self.trace(f, x, &ty.components()[0], span)?;
        let anf::Reverse { mut forward, pullback, again } = self.reverse(&traced)?;
        let renaming = actual(&forward.params, &traced.actuals);
        let written = self.place(&mut forward, &renaming);
        let value = traced.rebuild(&self.emit, &forward.body.results);
        let here = |map| substituted(substituted(map, &renaming), &written);
        let (once, map) = match again {
            Some(again) => (Some(here(pullback)), here(again)),
            None => (None, here(pullback)),
        };
        let pullback = self.pullback(map, once, [&value, &point], span)?;
        Ok(Val::tuple([value, pullback]))
    }

    /// `jvp f x dx`, of type `ty = (b, b)`
    pub(super) fn jvp(
        &mut self,
        f: &Term,
        x: &Term,
        dx: &Term,
        ty: &CoreTy,
        span: Span,
    ) -> Eval<Val> {
        self.forward(f, x, dx, &ty.components()[0], span, Forward::Tangent).map(Val::tuple)
    }

    /// `reach f x marks`, of type `ty = b`
    pub(super) fn reach(
        &mut self,
        f: &Term,
        x: &Term,
        marks: &Term,
        ty: &CoreTy,
        span: Span,
    ) -> Eval<Val> {
        self.forward(f, x, marks, ty, span, Forward::Marks).map(|[_, reached]| reached)
    }

    /// `band f x`: two literals.
    pub(super) fn band(&mut self, f: &Term, x: &Term, span: Span) -> Eval<Val> {
        let CoreTy::Fun(_, to) = f.ty() else { return Err(ill_typed()) };
        let (traced, _) = self.trace(f, x, to, span)?;
        let captured = traced.captured(&self.emit);
        let (library, names) = (&self.emit.library, &mut self.emit.names);
        let found = self.derivatives.band(library, names, &traced.lambda, &captured);
        let (low, high) = found.unwrap_or((0, -1));
        Ok(Val::tuple([low, high].map(|k| Val::scalar(Atom::int(k)))))
    }

    /// The value of `f x`, and what comes of the tangents or marks.
    fn forward(
        &mut self,
        f: &Term,
        x: &Term,
        dx: &Term,
        ty: &CoreTy,
        span: Span,
        kind: Forward,
    ) -> Eval<[Val; 2]> {
        let f = self.eval(f, None)?;
        let point = self.point(x, span)?;
        let dx = self.eval(dx, None)?;
        let tangents =
            self.along(&point, &dx, span, "the tangent has another constructor than the point")?;
        let traced = self.trace_at(&f, &point, ty, span)?;
        self.pushed(&traced, &tangents, kind)
    }

    /// Value and tangent of a function that has been traced.
    pub(super) fn push(&mut self, traced: &Traced, tangents: &[Atom]) -> Eval<[Val; 2]> {
        self.pushed(traced, tangents, Forward::Tangent)
    }

    fn pushed(&mut self, traced: &Traced, tangents: &[Atom], kind: Forward) -> Eval<[Val; 2]> {
        let captured = traced.captured(&self.emit);
        let (library, names) = (&mut self.emit.library, &mut self.emit.names);
        let f = &traced.lambda;
        let mut forward = match kind {
            Forward::Tangent => self.derivatives.forward(library, names, f, &captured)?,
            Forward::Marks => self.derivatives.reach(library, names, f, &captured)?,
        };
        self.local.directions.tangents += 1;
        let actuals: Vec<Atom> = traced.actuals.iter().chain(tangents).copied().collect();
        let renaming = actual(&forward.params, &actuals);
        self.place(&mut forward, &renaming);
        let (values, tangents) = forward.body.results.split_at(traced.lambda.results.len());
        let value = traced.rebuild(&self.emit, values);
        let skeleton = self.skeleton(&value)?;
        let tangent = with_reals(&self.emit, &skeleton, tangents);
        Ok([value, tangent])
    }

    /// The two sweeps of a function that has been traced.
    fn reverse(&mut self, traced: &Traced) -> Eval<anf::Reverse> {
        let captured = traced.captured(&self.emit);
        let (library, names) = (&mut self.emit.library, &mut self.emit.names);
        self.derivatives.reverse(library, names, &traced.lambda, &captured)
    }

    /// The cotangents of what a function that has been traced was applied to.
    pub(super) fn pull_traced(
        &mut self,
        traced: &Traced,
        cotangent: &Val,
        span: Span,
    ) -> Eval<Vec<Atom>> {
        let anf::Reverse { mut forward, mut pullback, .. } = self.reverse(traced)?;
        let mut renaming = actual(&forward.params, &traced.actuals);
        let written = self.place(&mut forward, &renaming);
        let value = traced.rebuild(&self.emit, &forward.body.results);
        let skeleton = self.skeleton(&value)?;
        let message = "the cotangent has another constructor than the result";
        let cotangents = self.along(&skeleton, cotangent, span, message)?;
        pullback.params.iter().zip(cotangents).for_each(|(p, a)| renaming.insert(p.var, a));
        written.apply(&mut pullback.body);
        self.place(&mut pullback, &renaming);
        Ok(pullback.body.results)
    }

    /// The point of a derivative; its real leaves are stored.
    fn point(&mut self, x: &Term, span: Span) -> Eval<Val> {
        let value = self.eval(x, None)?;
        first_order(&value, span)?;
        self.with_stored_reals(&value)
    }

    /// `f` at parameters, as a block.
    fn trace_at(&mut self, f: &Val, point: &Val, ty: &CoreTy, span: Span) -> Eval<Traced> {
        self.traced(point, span, &mut |this, x| this.apply(f, x, ty, None))
    }

    /// A function at a point, as a block.
    fn trace(&mut self, f: &Term, x: &Term, ty: &CoreTy, span: Span) -> Eval<(Traced, Val)> {
        let f = self.eval(f, None)?;
        let point = self.point(x, span)?;
        Ok((self.trace_at(&f, &point, ty, span)?, point))
    }

    /// What depends on a value, as a block: the real leaves of the value are parameters.
    pub(super) fn traced(
        &mut self,
        point: &Val,
        span: Span,
        f: &mut dyn FnMut(&mut Self, Val) -> Eval<Val>,
    ) -> Eval<Traced> {
        self.emit.enter();
        let (mut params, mut actuals) = (Vec::new(), Vec::new());
        let emit = &mut self.emit;
        let mut parameter = |leaf: &Leaf| {
            if !is_active(emit.elem_of(leaf)) {
                return leaf.clone();
            }
            let ty = anf::Ty { elem: emit.elem_of(leaf), ..emit.ty(leaf.atom) };
            let hint =
                if leaf.atom.as_var().is_some() { emit.hint_of(leaf.atom) } else { "x".into() };
            let var = emit.fresh(hint, ty.clone());
            params.push(Param { var, ty });
            actuals.push(leaf.atom);
            Leaf { atom: var.into(), ..leaf.clone() }
        };
        let x = point.map_leaves(&mut parameter);
        self.derivatives_around += 1;
        let value = f(self, x);
        self.derivatives_around -= 1;
        let value = value?;
        first_order(&value, span)?;
        let mut results = Results::at(self.emit.level());
        let value = merge(&mut results, &mut self.emit, &[Some(&value)])?;
        let mut body = self.emit.leave().finish(results.atoms);
        // What derivatives inside have left out, before its loops are fused.
        self.emit.guard(&mut body);
        self.ready(&body)?;
        let lambda = anf::Lambda { params, results: results.types, body };
        Ok(Traced { lambda, actuals, value, reals: results.reals, others: results.others })
    }

    /// Appends the body of a lambda, with atoms for its parameters. Gives the new names of what
    /// calls have bound that are written out.
    fn place(&mut self, lambda: &mut anf::Lambda, renaming: &Renaming) -> Renaming {
        renaming.apply(&mut lambda.body);
        self.adopt(&mut lambda.body)
    }

    /// Appends the statements of a block. Where no derivative follows, functions with rules are
    /// functions like others.
    pub(super) fn adopt(&mut self, block: &mut anf::Block) -> Renaming {
        let written = match self.may_be_differentiated() {
            true => Renaming::new(),
            false => without_rules(&self.emit.library, &mut self.emit.names, block),
        };
        std::mem::take(&mut block.stms).into_iter().for_each(|stm| self.emit.adopt(stm));
        written
    }
}

impl Traced {
    /// What the block mentions of the code around it, with types.
    fn captured(&self, emit: &Emit) -> Vec<Param> {
        let own: HashSet<anf::Var> = self.lambda.params.iter().map(|p| p.var).collect();
        let free = anf::free_vars(&self.lambda.body).into_iter().filter(|var| !own.contains(var));
        free.map(|var| Param { var, ty: emit.ty(var.into()) }).collect()
    }

    /// The value, with the results of a differentiated block for those of the original.
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

/// Atoms for parameters.
pub(super) fn actual(params: &[Param], actuals: &[Atom]) -> Renaming {
    let mut renaming = Renaming::new();
    params.iter().zip(actuals).for_each(|(p, atom)| renaming.insert(p.var, *atom));
    renaming
}

pub(super) fn substituted(mut lambda: anf::Lambda, renaming: &Renaming) -> anf::Lambda {
    renaming.apply(&mut lambda.body);
    lambda.params.iter_mut().for_each(|p| p.ty = renaming.ty(&p.ty));
    lambda.results.iter_mut().for_each(|ty| *ty = renaming.ty(ty));
    lambda
}

//! `ys, s = for i < n { … yᵢ, sᵢ }`: independent iterations, so their derivatives are independent,
//! too.
//!
//! ```text
//!   D→   the same `for`, with the tangents of its results as further results
//!   D←   for i < n { ȳᵢ += ȳs[i]; s̄ᵢ += s̄; reverse of the body }
//! ```
//!
//! This is the rule of the paper for `map` (`zipWith (f; snd) v w` and `zip v w` folded into the
//! context), with arrays in place of lists. Contributions of the iterations to outer arrays are
//! added in place; the reverse loop sums contributions to scalars.
//!
//! Where cotangents of handles are values, an iteration returns that of its own element of an array
//! of handles. An iteration that adds to arbitrary elements takes the whole array from the
//! iteration before, so the reverse `for` is a `loop`, which updates it in place.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, LoopKind, Nest, Op, Out, Param, Stm, Ty, Var, free_vars};
use lambada_prim::ReduceOp;

use crate::cotangents::{Cotangents, FrameKind};
use crate::effects::bound_in;
use crate::elements::own_elements;
use crate::reach::combined;
use crate::residuals::{Body, EnclosingConstruct, Residuals, resolve};
use crate::tangents::Tangents;
use crate::there::ResultPresence;
use crate::values;

impl Tangents<'_> {
    pub(crate) fn for_(&mut self, stm: &Stm, index: Var, extent: Atom, outs: &[Out], body: &Block) {
        let (mut binds, mut outs) = (stm.binds.clone(), outs.to_vec());
        let mut present = Vec::new();
        let body = self.block(body, |t| {
            let mut results = body.results.clone();
            let given = outs.clone();
            for (k, result) in body.results.iter().enumerate() {
                if let Some(tangent) = t.get(*result).filter(|_| t.carries(stm.binds[k].var)) {
                    results.push(tangent);
                    outs.push(if t.cx.reach { combined(outs[k]) } else { outs[k] });
                    binds.push(t.param(&stm.binds[k]));
                }
            }
            present.extend(t.iterations_are_there((stm, index, &given), &mut results));
            results
        });
        for ResultPresence { of, when, flags } in present {
            if let Some((p, out)) = flags {
                binds.push(p);
                outs.push(out);
            }
            self.is_there(of, Some(when));
        }
        self.b.stms.push(Stm::new(binds, Nest::For { index, extent, outs, body }));
    }
}

impl Cotangents<'_> {
    pub(crate) fn for_(
        &mut self,
        stm: &Stm,
        index: Var,
        extent: Atom,
        outs: &[Out],
        body: &Block,
    ) -> Vec<Stm> {
        let seeds: Vec<_> = stm.binds.iter().map(|p| self.take_when(p.var)).collect();
        let own = own_elements(index, extent, body, &|x| self.is_table(x).then(|| self.ty(x)));
        let (first, rest) = body.stms.split_at(own.len());
        let bound = bound_in(&[index], body);
        let elsewhere = free_vars(&Block { stms: rest.to_vec(), results: body.results.clone() });
        let elsewhere = elsewhere.iter().any(|x| !bound.contains(x) && self.is_table(*x));
        self.push(if elsewhere { FrameKind::Loop } else { FrameKind::For }, bound);
        for (k, seed) in seeds.iter().enumerate() {
            self.seed(outs[k], &stm.binds[k], *seed, index, body.results[k]);
        }
        let after = self.stms(rest);
        let mut elements: Vec<(Var, Atom)> = Vec::new();
        let mut sweep = if elsewhere {
            self.stms(first)
        } else {
            elements.extend(own.iter().filter_map(|(y, x)| Some((*x, self.take(*y)?))));
            first.to_vec()
        };
        sweep.extend(after);
        let sums = self.touched();
        let (mut results, mut flags, mut always) = (Vec::new(), Vec::new(), Vec::new());
        for x in &sums {
            let (sum, when) = self.take_when(*x);
            results.push(sum.expect("a touched variable has a cotangent"));
            let matters = !elsewhere && self.facts.unbounded.matters_in_sum(*x);
            if when.is_none() && matters && self.has_flag(*x) {
                always.push(*x);
            }
            flags.extend(when.filter(|_| matters).map(|when| (*x, when)));
        }
        results.extend(elements.iter().map(|(_, element)| *element));
        results.extend(flags.iter().map(|(_, when)| *when));
        let flags: Vec<Var> = flags.into_iter().map(|(x, _)| x).collect();
        let elements: Vec<Var> = elements.into_iter().map(|(x, _)| x).collect();
        let frame = self.pop();
        let mut reverse = Block { stms: frame.stms, results };
        let again = self.b.names.again(index);
        let construct = EnclosingConstruct::Iteration { index, again: again.into(), extent };
        let body_of = Body {
            stms: &sweep,
            params: &[],
            whole: None,
            construct,
            homes: collected(stm, outs, body),
            undone: HashMap::new(),
            run_again: None,
        };
        let residuals =
            resolve(self.b.names, self.cx, self.facts, self.undo, body_of, &mut reverse);
        residuals.keep_in_boxes(&mut sweep);
        let Residuals { before, stored, outside, .. } = residuals;
        match elsewhere {
            true => self.for_in_turn(again, extent, (&sums, &frame.carried), reverse),
            false => {
                let known = if always.is_empty() { None } else { Some(self.runs(extent)) };
                let known = known.filter(|runs| *runs != Atom::bool(true));
                let known = always.iter().flat_map(|x| known.map(|runs| (*x, runs))).collect();
                self.for_reverse(again, extent, (&sums, &elements, &flags), known, reverse);
            }
        }
        // The forward sweep collects the residuals as well.
        let (mut binds, mut outs, mut results) =
            (stm.binds.clone(), outs.to_vec(), body.results.clone());
        sweep.iter_mut().for_each(|stm| outside.apply_stm(stm));
        results.iter_mut().for_each(|result| *result = outside.atom(*result));
        for residual in stored {
            results.push(residual.value.var.into());
            outs.push(Out::Collect);
            binds.push(residual.home);
        }
        let body = Block { stms: std::mem::take(&mut sweep), results };
        let mut forward = before;
        forward.push(Stm::new(binds, Nest::For { index, extent, outs, body }));
        forward
    }

    /// Seeds one iteration with its part of the cotangent of an out.
    fn seed(
        &mut self,
        out: Out,
        bind: &Param,
        (seed, when): (Option<Atom>, Option<Atom>),
        index: Var,
        result: Atom,
    ) {
        let (Some(seed), Some(x)) = (seed, self.wants(result)) else { return };
        match (out, seed) {
            (Out::Collect, Atom::Var(all)) => {
                let ty = self.ct_of(&bind.ty.indexed(1));
                let part = self.bind_ct(x, &ty, Op::Index(all, vec![index.into()]));
                let when = when.filter(|_| self.facts.unbounded.matters_in_sum(result));
                let when = self.presence_of_part((all, when), &[index.into()], part, &ty);
                self.add_when(result, part, &ty, when);
            }
            (Out::Reduce(ReduceOp::Add), seed) => {
                let when = when.filter(|_| self.facts.unbounded.matters_in_sum(result));
                self.add_when(result, seed, &Ty::real(), when);
            }
            (Out::Collect, Atom::Lit(_))
            | (
                Out::Reduce(
                    ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max | ReduceOp::And | ReduceOp::Or,
                ),
                _,
            ) => {
                unreachable!("active reductions are sums, and cotangents of arrays are variables")
            }
        }
    }

    /// Whether `x` is an array of handles whose cotangent is a value.
    fn is_table(&self, x: Var) -> bool {
        let array = self.facts.known_ty(x).is_some_and(|ty| !ty.dims.is_empty());
        array && self.wants(x).is_some() && self.facts.activity.node(x.into()).is_some()
    }

    /// The reverse loop, which sums the contributions of the iterations to outer scalars and
    /// handles, and collects the cotangents of `elements`. For `flags` it computes whether any
    /// iteration contributes; for other variables `present` says so.
    fn for_reverse(
        &mut self,
        index: Var,
        extent: Atom,
        (sums, elements, flags): (&[Var], &[Var], &[Var]),
        mut present: HashMap<Var, Atom>,
        body: Block,
    ) {
        if body.stms.is_empty() && body.results.is_empty() {
            return;
        }
        let (mut binds, mut outs) = (Vec::new(), Vec::new());
        for x in sums.iter().chain(elements) {
            let (ty, var) = (self.ct_ty(*x), self.b.names.fresh(self.hint(*x)));
            let handle = ty.elem.node().is_some();
            outs.push(if handle { Out::Collect } else { Out::Reduce(ReduceOp::Add) });
            let collected = handle && binds.len() < sums.len();
            binds.push(Param { var, ty: if collected { ty.array_of(extent) } else { ty } });
        }
        for x in flags {
            let p = Param { var: self.b.names.fresh("present"), ty: Ty::bool() };
            present.insert(*x, p.var.into());
            outs.push(Out::Reduce(ReduceOp::Or));
            binds.push(p);
        }
        self.b.stms.push(Stm::new(binds.clone(), Nest::For { index, extent, outs, body }));
        let (of_sums, of_elements) = binds.split_at(sums.len());
        for (x, bind) in sums.iter().zip(of_sums) {
            if bind.ty.elem.node().is_none() {
                let when = present.get(x).copied();
                self.add_when((*x).into(), bind.var.into(), &Ty::real(), when);
                continue;
            }
            let (so_far, hint) = (self.sum_or_zero(*x), self.hint(*x));
            let all = (bind.var.into(), so_far);
            let sum = values::total(self.cx, &mut self.b, &hint, &bind.ty, all);
            self.set(*x, sum);
        }
        for (x, bind) in elements.iter().zip(of_elements) {
            self.add((*x).into(), bind.var.into(), &bind.ty);
        }
    }

    /// The reverse loop as a `loop` that carries the sums.
    fn for_in_turn(
        &mut self,
        index: Var,
        extent: Atom,
        (sums, carried): (&[Var], &HashMap<Var, Var>),
        body: Block,
    ) {
        let params: Vec<Param> =
            sums.iter().map(|x| Param { var: carried[x], ty: self.ct_ty(*x) }).collect();
        let inits = sums.iter().map(|x| self.sum_or_zero(*x)).collect();
        let again = |p: &Param| Param { var: self.b.names.again(p.var), ty: p.ty.clone() };
        let binds: Vec<Param> = params.iter().map(again).collect();
        let kind = LoopKind::counted(index, extent);
        self.b.stms.push(Stm::new(binds.clone(), Nest::Loop { params, inits, kind, body }));
        sums.iter().zip(binds).for_each(|(x, p)| self.set(*x, p.var.into()));
    }
}

/// Results of the body that the `for` already collects.
fn collected(stm: &Stm, outs: &[Out], body: &Block) -> HashMap<Var, Param> {
    let all = body.results.iter().zip(outs).zip(&stm.binds);
    all.filter(|((_, out), _)| **out == Out::Collect)
        .filter_map(|((result, _), bind)| Some((result.as_var()?, bind.clone())))
        .collect()
}

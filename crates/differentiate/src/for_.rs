//! `ys, s = for i < n { … yᵢ, sᵢ }`: independent iterations, so their derivatives are independent too.
//!
//! ```text
//!   D→   the same `for`, with the tangents of what it gives as further results
//!   D←   for i < n { ȳᵢ += ȳs[i]; s̄ᵢ += s̄; reverse of the body }
//! ```
//!
//! This is the rule of the paper for `map` (`zipWith (f; snd) v w` and `zip v w` folded into the context), with arrays
//! in place of lists. What the iterations contribute to the outside is added in place, or summed by the reverse loop if
//! it is a scalar.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Nest, Op, Out, Param, Stm, Ty, Var};
use lambada_prim::ReduceOp;

use crate::cotangents::{Cotangents, Kind};
use crate::reach::combined;
use crate::residuals::{Body, Place, Residuals, resolve};
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn for_(&mut self, stm: &Stm, index: Var, extent: Atom, outs: &[Out], body: &Block) {
        let (mut binds, mut outs) = (stm.binds.clone(), outs.to_vec());
        let body = self.block(body, |t| {
            let mut results = body.results.clone();
            for (k, result) in body.results.iter().enumerate() {
                if let Some(tangent) = t.get(*result).filter(|_| t.carries(stm.binds[k].var)) {
                    results.push(tangent);
                    outs.push(if t.cx.reach { combined(outs[k]) } else { outs[k] });
                    binds.push(t.param(&stm.binds[k]));
                }
            }
            results
        });
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
        let seeds: Vec<Option<Atom>> = stm.binds.iter().map(|p| self.take(p.var)).collect();
        self.push(Kind::For, bound_in(&[index], body));
        for (k, seed) in seeds.iter().enumerate() {
            self.seed(outs[k], &stm.binds[k], *seed, index, body.results[k]);
        }
        let mut sweep = self.stms(&body.stms);
        let sums = self.touched();
        let results = sums
            .iter()
            .map(|x| self.take(*x).expect("a touched variable has a cotangent"))
            .collect();
        let mut reverse = Block { stms: self.pop().stms, results };
        let again = self.b.names.again(index);
        let place = Place::Iteration { index, again: again.into(), extent };
        let body_of = Body {
            stms: &sweep,
            params: &[],
            whole: None,
            place,
            homes: collected(stm, outs, body),
            undone: HashMap::new(),
            run_again: None,
        };
        let residuals =
            resolve(self.b.names, self.cx, self.facts, self.undo, body_of, &mut reverse);
        residuals.keep_in_boxes(&mut sweep);
        let Residuals { before, stored, outside, .. } = residuals;
        self.for_reverse(again, extent, &sums, reverse);
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

    /// What one iteration gets of the cotangent of an out.
    fn seed(&mut self, out: Out, bind: &Param, seed: Option<Atom>, index: Var, result: Atom) {
        let (Some(seed), Some(x)) = (seed, self.wants(result)) else { return };
        match (out, seed) {
            (Out::Collect, Atom::Var(all)) => {
                let ty = bind.ty.indexed(1);
                let part = self.bind_ct(x, &ty, Op::Index(all, vec![index.into()]));
                self.add(result, part, &ty);
            }
            (Out::Reduce(ReduceOp::Add), seed) => self.add(result, seed, &Ty::real()),
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

    /// The reverse loop, which sums what the iterations contribute to outer scalars.
    fn for_reverse(&mut self, index: Var, extent: Atom, sums: &[Var], body: Block) {
        if body.stms.is_empty() && sums.is_empty() {
            return;
        }
        let (mut binds, mut outs) = (Vec::new(), Vec::new());
        for x in sums {
            let (ty, var) = (self.ct_ty(*x), self.b.names.fresh(self.hint(*x)));
            let handle = ty.elem.node().is_some();
            outs.push(if handle { Out::Collect } else { Out::Reduce(ReduceOp::Add) });
            binds.push(Param { var, ty: if handle { ty.array_of(extent) } else { ty } });
        }
        self.b.stms.push(Stm::new(binds.clone(), Nest::For { index, extent, outs, body }));
        for (x, bind) in sums.iter().zip(binds) {
            let sum = match bind.ty.elem.node() {
                Some(_) => self.sum_of_all(*x, bind.var, index, extent),
                None => bind.var.into(),
            };
            self.add((*x).into(), sum, &Ty::real());
        }
    }
}

/// What a block binds, with its index and state.
pub(crate) fn bound_in(outer: &[Var], block: &Block) -> HashSet<Var> {
    block
        .stms
        .iter()
        .flat_map(|stm| &stm.binds)
        .map(|p| p.var)
        .chain(outer.iter().copied())
        .collect()
}

/// Results of the body that the `for` collects anyway.
fn collected(stm: &Stm, outs: &[Out], body: &Block) -> HashMap<Var, Param> {
    let all = body.results.iter().zip(outs).zip(&stm.binds);
    all.filter(|((_, out), _)| **out == Out::Collect)
        .filter_map(|((result, _), bind)| Some((result.as_var()?, bind.clone())))
        .collect()
}

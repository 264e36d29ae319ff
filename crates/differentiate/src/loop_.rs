//! `zs = loop (xs = as) for i < n { … bs }`: sequential, so the reverse sweep runs it from the last iteration to the first.
//!
//! ```text
//!   D→   the same `loop`, with the tangents of the active state as further state
//!   D←   ās += loop (x̄s = z̄s) for i = n-1 … 0 { reverse of the body, seeded with b̄s = x̄s }
//! ```
//!
//! Only the cotangent of the state is carried. That of an array that the loop only reads is an accumulator outside, and
//! costs nothing per iteration. The forward sweep writes what the reverse body needs on tapes, one element per
//! iteration.
//!
//! An array in the state may have a size that is state itself. Then the reverse loop carries that size too, and states that
//! the reverse body needs are computed again from the start, as there is no array to keep arrays of different sizes in.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Exp, LoopKind, Param, Renaming, Stm, Ty, Var};
use lambada_prim::Prim;

use crate::cotangents::{Cotangents, Kind};
use crate::for_::bound_in;
use crate::residuals::{Body, Place, Residual, Residuals, resolve};
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn loop_(
        &mut self,
        stm: &Stm,
        params: &[Param],
        inits: &[Atom],
        kind: &LoopKind,
        body: &Block,
    ) {
        let active: Vec<usize> =
            (0..params.len()).filter(|k| self.activity.active(params[*k].var)).collect();
        let first = naming(params, inits);
        let mut inits = inits.to_vec();
        for k in &active {
            let init = self.or_zero(inits[*k], &first.ty(&params[*k].ty));
            inits.push(init);
        }
        let next = naming(params, &body.results);
        let (mut params, mut binds) = (params.to_vec(), stm.binds.clone());
        for k in &active {
            params.push(self.param(&params[*k].clone()));
        }
        let body = self.block(body, |t| {
            let rates =
                active.iter().map(|k| t.or_zero(body.results[*k], &next.ty(&params[*k].ty)));
            [body.results.clone(), rates.collect()].concat()
        });
        binds.extend(active.iter().map(|k| self.param(&stm.binds[*k])));
        self.b.stms.push(Stm { binds, exp: Exp::Loop { params, inits, kind: kind.clone(), body } });
    }
}

/// The parameters under the names of the given values.
fn naming(params: &[Param], values: &[Atom]) -> Renaming {
    let mut naming = Renaming::new();
    params.iter().zip(values).for_each(|(p, value)| naming.insert(p.var, *value));
    naming
}

/// The parameters that are sizes of the given others.
fn sizes_of(params: &[Param], arrays: &[usize]) -> Vec<usize> {
    let is_size = |p: &Param| arrays.iter().any(|k| params[*k].ty.dims.contains(&p.var.into()));
    (0..params.len()).filter(|k| is_size(&params[*k])).collect()
}

impl Cotangents<'_> {
    pub(crate) fn loop_(
        &mut self,
        stm: &Stm,
        params: &[Param],
        inits: &[Atom],
        kind: &LoopKind,
        body: &Block,
    ) -> Vec<Stm> {
        let LoopKind::For { index, extent } = *kind else {
            unreachable!("active loops are counted")
        };
        let active: Vec<usize> =
            (0..params.len()).filter(|k| self.wants(params[*k].var).is_some()).collect();
        let sizes = sizes_of(params, &active);
        let mut starts: Vec<Atom> = sizes.iter().map(|k| stm.binds[*k].var.into()).collect();
        starts.extend(self.last_state(stm, params, &active));
        let owned: Vec<Var> = params.iter().map(|p| p.var).chain([index]).collect();
        self.push(Kind::Loop, bound_in(&owned, body));
        let mut state = self.seeded_state(params, &sizes, &active, body);
        let sweep = self.stms(&body.stms);
        let mut results: Vec<Atom> = sizes.iter().map(|k| params[*k].var.into()).collect();
        results.extend(active.iter().map(|k| self.take_or_zero(&params[*k])));
        let sums = self.touched();
        results.extend(
            sums.iter().map(|x| self.take(*x).expect("a touched variable has a cotangent")),
        );
        let frame = self.pop();
        let mut reverse = Block { stms: frame.stms, results };
        let again = self.b.names.again(index);
        let place = Place::Iteration { index, again: again.into(), extent };
        let body_of = Body { stms: &sweep, params, whole: Some(stm), place, homes: HashMap::new() };
        let residuals = resolve(self.b.names, self.facts, body_of, &mut reverse);
        // The sums of outer scalars are further state.
        state.extend(sums.iter().map(|x| Param { var: frame.carried[x], ty: Ty::real() }));
        starts.extend(sums.iter().map(|x| self.sum(*x).unwrap_or(Atom::real(0.0))));
        let ends = self.counting_down(again, extent, state, starts, reverse);
        let (first, sums_after) = ends[sizes.len()..].split_at(active.len());
        sums.iter().zip(sums_after).for_each(|(x, p)| self.set(*x, p.var.into()));
        active.iter().zip(first).for_each(|(k, p)| self.add(inits[*k], p.var.into(), &p.ty));
        self.taped(stm, body, sweep, residuals)
    }

    /// The cotangents of the final state, where the reverse loop starts.
    fn last_state(&mut self, stm: &Stm, params: &[Param], active: &[usize]) -> Vec<Atom> {
        let last: Vec<Atom> = stm.binds.iter().map(|bind| bind.var.into()).collect();
        let last = naming(params, &last);
        let mut seeds = Vec::new();
        for k in active {
            let (bind, param) = (&stm.binds[*k], &params[*k]);
            let ty = last.ty(&param.ty);
            let seed = match self.take(bind.var) {
                Some(seed) => self.fit(param.var, seed, &bind.ty, &ty),
                None => self.b.zero(&ty),
            };
            seeds.push(seed);
        }
        seeds
    }

    /// The state of the reverse loop: cotangents of what the iteration gives, after such of their sizes as are state themselves.
    fn seeded_state(
        &mut self,
        params: &[Param],
        sizes: &[usize],
        active: &[usize],
        body: &Block,
    ) -> Vec<Param> {
        let mut state: Vec<Param> = sizes
            .iter()
            .map(|k| Param { var: self.b.names.again(params[*k].var), ty: params[*k].ty.clone() })
            .collect();
        let mut now = Renaming::new();
        sizes.iter().zip(&state).for_each(|(k, p)| now.insert(params[*k].var, p.var.into()));
        for k in active {
            let p = Param {
                var: self.b.names.fresh(self.hint(params[*k].var)),
                ty: now.ty(&params[*k].ty),
            };
            self.add(body.results[*k], p.var.into(), &p.ty);
            state.push(p);
        }
        state
    }

    /// A loop whose index takes the values `extent - 1, …, 0`; gives what it binds.
    fn counting_down(
        &mut self,
        index: Var,
        extent: Atom,
        params: Vec<Param>,
        inits: Vec<Atom>,
        mut body: Block,
    ) -> Vec<Param> {
        let last =
            self.b.bind("last", Ty::int(), Exp::Prim(Prim::SubInt, vec![extent, Atom::int(1)]));
        let up = self.b.names.fresh("k");
        let down = Stm {
            binds: vec![Param { var: index, ty: Ty::int() }],
            exp: Exp::Prim(Prim::SubInt, vec![last, up.into()]),
        };
        body.stms.insert(0, down);
        let mut binds: Vec<Param> = params
            .iter()
            .map(|p| Param { var: self.b.names.again(p.var), ty: p.ty.clone() })
            .collect();
        let ends: Vec<Atom> = binds.iter().map(|bind| bind.var.into()).collect();
        let ends = naming(&params, &ends);
        binds.iter_mut().for_each(|bind| bind.ty = ends.ty(&bind.ty));
        let kind = LoopKind::For { index: up, extent };
        self.b
            .stms
            .push(Stm { binds: binds.clone(), exp: Exp::Loop { params, inits, kind, body } });
        binds
    }

    /// The forward sweep: the loop with tapes, each written as soon as its value is there, so that what is updated in
    /// place afterwards need not be copied.
    fn taped(
        &mut self,
        stm: &Stm,
        body: &Block,
        sweep: Vec<Stm>,
        residuals: Residuals,
    ) -> Vec<Stm> {
        let Exp::Loop { params, inits, kind, .. } = &stm.exp else {
            unreachable!("the statement is a loop")
        };
        let LoopKind::For { index, .. } = kind else { unreachable!("active loops are counted") };
        let (mut params, mut inits, mut binds) = (params.clone(), inits.clone(), stm.binds.clone());
        let mut body = Block { stms: sweep, results: body.results.clone() };
        let mut before = residuals.before;
        for Residual { value, home } in residuals.stored {
            let [tape, next, zeros] =
                [(); 3].map(|()| Param { var: self.b.names.again(home.var), ty: home.ty.clone() });
            before.push(Stm {
                binds: vec![zeros.clone()],
                exp: Exp::Fill(Atom::Lit(home.ty.elem.zero())),
            });
            let write = Exp::Update {
                array: tape.var,
                index: vec![(*index).into()],
                value: value.var.into(),
            };
            let at = body
                .stms
                .iter()
                .position(|stm| stm.binds.iter().any(|p| p.var == value.var))
                .map_or(0, |k| k + 1);
            body.stms.insert(at, Stm { binds: vec![next.clone()], exp: write });
            body.results.push(next.var.into());
            inits.push(zeros.var.into());
            params.push(tape);
            binds.push(home);
        }
        before.push(Stm { binds, exp: Exp::Loop { params, inits, kind: kind.clone(), body } });
        before
    }
}

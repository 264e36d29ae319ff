//! `zs = loop (xs = as) for i < n { … bs }`: sequential, so the reverse sweep visits its iterations
//! from the last to the first.
//!
//! ```text
//!   D→   the same `loop`, with the tangents of the active state as further state
//!   D←   ās += loop (x̄s = z̄s) for i = n-1 … 0 { reverse of the body, seeded with b̄s = x̄s }
//! ```
//!
//! The reverse loop carries only the cotangents of the state. The cotangent of an array that the
//! loop only reads is an accumulator outside, and costs nothing per iteration. The forward sweep
//! writes the residuals of the body on tapes, one element per iteration.
//!
//! A loop with a `checkpoint` policy other than `all` reruns its body in the reverse sweep, from
//! the state at the start of the iteration. The forward sweep keeps that state for each iteration
//! (`entries`, which [`crate::segments`] makes of `sqrt`), or it comes from a snapshot
//! ([`crate::snapshots`]). The loops of both sweeps have the policy too, for the next derivative.
//!
//! An array in the state may have a size that is itself state. Then the reverse loop carries that
//! size, too, and recomputes the states that the reverse body needs from the start, because no
//! array can hold arrays of different sizes.

use std::collections::HashMap;

use lambada_anf::{
    Atom, Block, Builder, Checkpoint, Exp, LoopKind, Names, Nest, Op, Param, Renaming, Stm, Ty, Var,
};
use lambada_prim::Prim;

use crate::cotangents::{Cotangents, FrameKind};
use crate::derived::Mode;
use crate::effects::bound_in;
use crate::presence::{StateFlag, SumFlags, carry};
use crate::residuals::{
    Body, EnclosingConstruct, Residual, Residuals, StartState, position_after, resolve,
};
use crate::snapshots::Snapshots;
use crate::tangents::Tangents;
use crate::there::Carried;
use crate::thread::{self, Outer, write_on};

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
            (0..params.len()).filter(|k| self.carries(params[*k].var)).collect();
        let first = naming(params, inits);
        let mut inits = inits.to_vec();
        for k in &active {
            let init = self.or_zero(inits[*k], &first.ty(&params[*k].ty));
            inits.push(init);
        }
        let next = naming(params, &body.results);
        let own = (stm, params, kind, body);
        let carried = self.states_are_there(own, (&inits, &first), &active);
        let (mut params, mut binds) = (params.to_vec(), stm.binds.clone());
        for k in &active {
            params.push(self.param(&params[*k].clone()));
        }
        for one in &carried {
            if let Carried::Flag { start, param, .. } = one {
                inits.push(*start);
                params.push(param.clone());
            }
        }
        let outer = std::mem::take(&mut self.b.stms);
        self.states_in_body(&carried, &params, kind);
        self.stms(&body.stms);
        let mut results = body.results.clone();
        for k in &active {
            results.push(self.or_zero(body.results[*k], &next.ty(&params[*k].ty)));
        }
        results.extend(self.next_states(&carried, (&params, &body.results), &next));
        let body = Block { stms: std::mem::replace(&mut self.b.stms, outer), results };
        binds.extend(active.iter().map(|k| self.param(&stm.binds[*k])));
        binds.extend(self.flags_bound(&carried, &stm.binds));
        self.b.stms.push(Stm::new(binds, Nest::Loop { params, inits, kind: kind.clone(), body }));
        self.states_after(&carried, &stm.binds, kind);
    }
}

/// Maps the parameters to `values`.
pub(crate) fn naming(params: &[Param], values: &[Atom]) -> Renaming {
    let mut naming = Renaming::new();
    params.iter().zip(values).for_each(|(p, value)| naming.insert(p.var, *value));
    naming
}

/// The parameters that are sizes of the parameters `arrays`.
pub(crate) fn sizes_of(params: &[Param], arrays: &[usize]) -> Vec<usize> {
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
        let (index, extent, checkpoint) = match kind {
            LoopKind::For { index, extent, checkpoint } => (*index, *extent, *checkpoint),
            LoopKind::While(cond) => return self.while_(stm, (params, inits), cond, body),
        };
        let active: Vec<usize> =
            (0..params.len()).filter(|k| self.wants(params[*k].var).is_some()).collect();
        let sizes = sizes_of(params, &active);
        // Carried by the reverse loop: sizes that are state, restored arrays, cotangents.
        let versions = self.carried_backwards(params);
        let mut starts: Vec<Atom> =
            sizes.iter().chain(&versions).map(|k| stm.binds[*k].var.into()).collect();
        let flags = self.state_flags((stm, body), (params, inits), &active);
        starts.extend(self.last_state(stm, params, &active));
        let owned: Vec<Var> = params.iter().map(|p| p.var).chain([index]).collect();
        self.push(FrameKind::Loop, bound_in(&owned, body));
        let mut state = self.seeded_state(params, (&sizes, &versions), (&active, &flags), body);
        let sweep = self.stms(&body.stms);
        let mut results: Vec<Atom> =
            sizes.iter().chain(&versions).map(|k| params[*k].var.into()).collect();
        let (states, there) = self.states_back(params, &active, &flags);
        let sums = self.touched();
        let (totals, whens) = self.sums_back(&sums);
        results.extend([states, totals, there].concat());
        let mut frame = self.pop();
        let mut reverse = Block { stms: std::mem::take(&mut frame.stms), results };
        let again = self.b.names.again(index);
        let construct = EnclosingConstruct::Iteration { index, again: again.into(), extent };
        let snapshots = self.snapshots(stm, params, checkpoint, extent);
        let back =
            snapshots.as_ref().map(|snapshots| snapshots.reverse(self.b.names, again.into()));
        let run_again = match (checkpoint, &back) {
            (Checkpoint::All, _) => None,
            (Checkpoint::Entries, _) => Some(StartState::Kept),
            (Checkpoint::States(_), Some(back)) => Some(StartState::Given(back.state.clone())),
            (Checkpoint::States(_), None) => Some(StartState::FromStart),
            (Checkpoint::Sqrt, _) => unreachable!("active loops are cut into segments"),
        };
        let keeps_entries = run_again.is_some();
        // The sums of outer scalars are further state.
        state.extend(sums.iter().map(|x| Param { var: frame.carried[x], ty: self.ct_ty(*x) }));
        starts.extend(sums.iter().map(|x| self.sum_or_zero(*x)));
        carry(&flags, &mut state, &mut starts);
        let known = (&frame, &sums[..], &whens[..]);
        let of_sums = self.sum_flags(known, &mut reverse, (&mut state, &mut starts));
        let (homes, undone) = (HashMap::new(), frame.undone);
        let body_of =
            Body { stms: &sweep, params, whole: Some(stm), construct, homes, undone, run_again };
        let residuals =
            resolve(self.b.names, self.cx, self.facts, self.undo, body_of, &mut reverse);
        if let Some(back) = back {
            state.extend(back.params);
            starts.extend(back.inits);
            reverse.stms.splice(0..0, back.before);
            reverse.results.extend(back.results);
        }
        let ends = self.counting_down((again, extent, checkpoint), state, starts, reverse);
        let (back, ends) = ends[sizes.len()..].split_at(versions.len());
        self.is_back(stm, &versions, back);
        let runs = |c: &mut Self| c.runs(extent);
        self.after_reverse((inits, &active, &flags), (&sums, &of_sums), ends, runs);
        match snapshots {
            Some(snapshots) => snapshots.forward(self.b.names),
            None if keeps_entries => self.taped(stm, body, body.stms.clone(), residuals),
            None => self.taped(stm, body, sweep, residuals),
        }
    }

    /// The variables that a reverse loop binds: cotangents of states, sums of outer scalars, flags
    /// of both.
    pub(crate) fn after_reverse(
        &mut self,
        (inits, active, flags): (&[Atom], &[usize], &[StateFlag]),
        (sums, of_sums): (&[Var], &SumFlags),
        ends: &[Param],
        ran: impl FnOnce(&mut Self) -> Atom,
    ) {
        let (first, ends) = ends.split_at(active.len());
        let (sums_after, ends) = ends.split_at(sums.len());
        let (there, ends) = ends.split_at(flags.len());
        sums.iter().zip(sums_after).for_each(|(x, p)| self.set(*x, p.var.into()));
        self.sums_are_there(of_sums, ends, ran);
        for (k, p) in active.iter().zip(first) {
            let flag = flags.iter().position(|flag| flag.state == *k);
            let when = flag.map(|k| there[k].var.into());
            self.add_when(inits[*k], p.var.into(), &p.ty, when);
        }
    }

    /// The arrays of the state whose updates the reverse loop undoes.
    pub(crate) fn carried_backwards(&self, params: &[Param]) -> Vec<usize> {
        (0..params.len()).filter(|k| self.facts.versions.contains(params[*k].var)).collect()
    }

    /// After the reverse loop, these arrays have their versions from before the loop.
    pub(crate) fn is_back(&mut self, stm: &Stm, versions: &[usize], back: &[Param]) {
        for (k, p) in versions.iter().zip(back) {
            if let Some(version) = self.facts.versions.before(stm.binds[*k].var) {
                self.top().undone.insert(version, p.var.into());
            }
        }
    }

    /// The snapshots of a loop with a limit on kept states, if the sizes of the state are known
    /// outside.
    fn snapshots<'s>(
        &mut self,
        stm: &'s Stm,
        params: &'s [Param],
        checkpoint: Checkpoint,
        extent: Atom,
    ) -> Option<Snapshots<'s>> {
        let limit = checkpoint.states()?;
        let all: Vec<usize> = (0..params.len()).collect();
        let regular = sizes_of(params, &all).is_empty();
        regular.then(|| Snapshots::new(self.b.names, stm, params, extent, limit))
    }

    /// The cotangents of the final state, the initial state of the reverse loop.
    pub(crate) fn last_state(
        &mut self,
        stm: &Stm,
        params: &[Param],
        active: &[usize],
    ) -> Vec<Atom> {
        let last: Vec<Atom> = stm.binds.iter().map(|bind| bind.var.into()).collect();
        let last = naming(params, &last);
        let mut seeds = Vec::new();
        for k in active {
            let (bind, param) = (&stm.binds[*k], &params[*k]);
            let ty = self.ct_of(&last.ty(&param.ty));
            let seed = match self.take(bind.var) {
                Some(seed) => self.fit(param.var, seed, &bind.ty, &ty),
                None => self.b.zero(&ty),
            };
            seeds.push(seed);
        }
        seeds
    }

    /// The state of the reverse loop: the state sizes of the cotangents, the restored arrays, and
    /// the cotangents of the iteration's results.
    pub(crate) fn seeded_state(
        &mut self,
        params: &[Param],
        (sizes, versions): (&[usize], &[usize]),
        (active, flags): (&[usize], &[StateFlag]),
        body: &Block,
    ) -> Vec<Param> {
        let mut state: Vec<Param> = sizes
            .iter()
            .map(|k| Param { var: self.b.names.again(params[*k].var), ty: params[*k].ty.clone() })
            .collect();
        let mut now = Renaming::new();
        sizes.iter().zip(&state).for_each(|(k, p)| now.insert(params[*k].var, p.var.into()));
        for k in versions {
            let p = self.version_back(params[*k].var);
            let last = body.results[*k].as_var().expect("an array is a variable");
            self.top().undone.insert(last, p.var.into());
            state.push(p);
        }
        for k in active {
            let ty = self.cx.ty(Mode::Tangent, &now.ty(&params[*k].ty));
            let p = Param { var: self.b.names.fresh(self.hint(params[*k].var)), ty };
            let flag = flags.iter().find(|flag| flag.state == *k);
            let when = flag.map(|flag| flag.param.into());
            self.add_when(body.results[*k], p.var.into(), &p.ty, when);
            state.push(p);
        }
        state
    }

    /// A loop whose index counts from `extent - 1` down to 0; returns its binds.
    fn counting_down(
        &mut self,
        (index, extent, checkpoint): (Var, Atom, Checkpoint),
        params: Vec<Param>,
        inits: Vec<Atom>,
        mut body: Block,
    ) -> Vec<Param> {
        let last = self.b.prim(Prim::SubInt, [extent, Atom::int(1)]);
        let up = self.b.names.fresh("k");
        let down = Stm::new(
            vec![Param { var: index, ty: Ty::int() }],
            Op::Prim(Prim::SubInt, vec![last, up.into()]),
        );
        body.stms.insert(0, down);
        let mut binds: Vec<Param> = params
            .iter()
            .map(|p| Param { var: self.b.names.again(p.var), ty: p.ty.clone() })
            .collect();
        let ends: Vec<Atom> = binds.iter().map(|bind| bind.var.into()).collect();
        let ends = naming(&params, &ends);
        binds.iter_mut().for_each(|bind| bind.ty = ends.ty(&bind.ty));
        let kind = LoopKind::For { index: up, extent, checkpoint };
        self.b.stms.push(Stm::new(binds.clone(), Nest::Loop { params, inits, kind, body }));
        binds
    }

    /// The forward sweep: the loop with tapes. Each value is written as soon as it is bound, so
    /// that a later update in place needs no copy.
    fn taped(
        &mut self,
        stm: &Stm,
        body: &Block,
        sweep: Vec<Stm>,
        residuals: Residuals,
    ) -> Vec<Stm> {
        let Exp::Nest(Nest::Loop { params, inits, kind, .. }) = &stm.exp else {
            unreachable!("the statement is a loop")
        };
        let LoopKind::For { index, .. } = kind else { unreachable!("a `while` keeps nodes") };
        let (mut params, mut inits, mut binds) = (params.clone(), inits.clone(), stm.binds.clone());
        let mut body = Block { stms: sweep, results: body.results.clone() };
        residuals.keep_in_boxes(&mut body.stms);
        residuals.outside.apply(&mut body);
        let mut before = residuals.before;
        for Residual { value, home } in residuals.stored {
            let place = |_: &mut Builder, inner: &[Atom]| [&[(*index).into()], inner].concat();
            let write = |_: &mut Names, tape: Var, next: &Param| {
                let (index, value) = (vec![(*index).into()], value.var.into());
                let exp = Op::Update { array: tape, index, value };
                (vec![Stm::new(vec![next.clone()], exp)], next.var.into())
            };
            let (tape, zeros, next) =
                self.tape(&mut body, &mut before, &value, &home, (0, &place), write);
            body.results.push(next);
            inits.push(zeros);
            params.push(tape);
            binds.push(home);
        }
        let mut starts: Vec<Var> = Vec::new();
        for flat in residuals.flat {
            let place = |b: &mut Builder, inner: &[Atom]| flat.place(b, inner);
            let write = |names: &mut Names, tape: Var, _: &Param| flat.write(names, tape);
            let (tape, zeros, next) = self.tape(
                &mut body,
                &mut before,
                &flat.value,
                &flat.home,
                (flat.axes, &place),
                write,
            );
            body.results.push(next);
            inits.push(zeros);
            params.push(tape);
            binds.push(flat.home.clone());
            if !starts.contains(&flat.start.var) {
                starts.push(flat.start.var);
                let (stms, next) = flat.next_start(self.b.names);
                body.stms.extend(stms);
                body.results.push(next);
                inits.push(Atom::int(0));
                params.push(flat.start.clone());
                binds.push(Param { var: self.b.names.again(flat.start.var), ty: Ty::int() });
            }
        }
        before.push(Stm::new(binds, Nest::Loop { params, inits, kind: kind.clone(), body }));
        before
    }

    /// One tape of a forward loop: its parameter, its initial value, and its value after an
    /// iteration. An inner loop writes its own tape into it; `write` adds any other value as soon
    /// as it is bound.
    fn tape(
        &mut self,
        body: &mut Block,
        before: &mut Vec<Stm>,
        value: &Param,
        home: &Param,
        (axes, place): (usize, thread::Reindexing),
        write: impl FnOnce(&mut Names, Var, &Param) -> (Vec<Stm>, Atom),
    ) -> (Param, Atom, Atom) {
        let [tape, next, zeros] =
            [(); 3].map(|()| Param { var: self.b.names.again(home.var), ty: home.ty.clone() });
        before.push(Stm::new(vec![zeros.clone()], Op::Fill(Atom::Lit(home.ty.elem.zero()))));
        let first = zeros.var.into();
        let at = position_after(&body.stms, value.var);
        let outer = Outer { tape: tape.var, ty: &home.ty, axes, place };
        let inner = at > 0 && self.undo.is_tape(value.var);
        self.undo.tape(home.var);
        if inner && write_on(self.b.names, &mut body.stms, at - 1, value.var, &next, &outer) {
            return (tape, first, next.var.into());
        }
        let (stms, after) = write(self.b.names, tape.var, &next);
        body.stms.splice(at..at, stms);
        (tape, first, after)
    }
}

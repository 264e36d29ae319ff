//! `zs = loop (xs = as) while c { … bs }`: the trip count is unknown, so each iteration leaves a
//! tape with a reference to the one before.
//!
//! ```text
//!   forward   zs, last = loop (xs = as, at = null) while c {
//!               …; next = node tape (residuals, at); => bs, next }
//!   reverse   ās += loop (x̄s = z̄s, at = last) while at is not null {
//!               reverse of the body; => …, field at.at }
//! ```
//!
//! A node takes the memory of its residuals and of one reference, whatever their sizes, and is a
//! scalar to the loops around. The reverse sweep restores arrays that iterations update
//! ([`crate::versions`]), so a node has the overwritten values and not the array.
//!
//! * Keeps: each iteration runs once, whatever its effects.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Builder, LoopKind, Nest, Op, Param, Renaming, Stm, Ty, Var};
use lambada_prim::Prim;

use crate::cotangents::{Cotangents, FrameKind};
use crate::derived::is_int;
use crate::effects::bound_in;
use crate::loop_::{naming, sizes_of};
use crate::presence::carry;
use crate::residuals::{Body, EnclosingConstruct, resolve};
use crate::tape::Layout;

impl Cotangents<'_> {
    pub(crate) fn while_(
        &mut self,
        stm: &Stm,
        (params, inits): (&[Param], &[Atom]),
        cond: &Block,
        body: &Block,
    ) -> Vec<Stm> {
        let active: Vec<usize> =
            (0..params.len()).filter(|k| self.wants(params[*k].var).is_some()).collect();
        let sizes = sizes_of(params, &active);
        let versions = self.carried_backwards(params);
        let mut starts: Vec<Atom> =
            sizes.iter().chain(&versions).map(|k| stm.binds[*k].var.into()).collect();
        let flags = self.state_flags((stm, body), (params, inits), &active);
        starts.extend(self.last_state(stm, params, &active));
        let owned: Vec<Var> = params.iter().map(|p| p.var).collect();
        self.push(FrameKind::Loop, bound_in(&owned, body));
        let mut state = self.seeded_state(params, (&sizes, &versions), (&active, &flags), body);
        let mut sweep = self.stms(&body.stms);
        let mut results: Vec<Atom> =
            sizes.iter().chain(&versions).map(|k| params[*k].var.into()).collect();
        let (states, there) = self.states_back(params, &active, &flags);
        let sums = self.touched();
        let (totals, whens) = self.sums_back(&sums);
        results.extend([states, totals, there].concat());
        let mut frame = self.pop();
        let mut reverse = Block { stms: std::mem::take(&mut frame.stms), results };
        state.extend(sums.iter().map(|x| Param { var: frame.carried[x], ty: self.ct_ty(*x) }));
        starts.extend(sums.iter().map(|x| self.sum_or_zero(*x)));
        carry(&flags, &mut state, &mut starts);
        let known = (&frame, &sums[..], &whens[..]);
        let of_sums = self.sum_flags(known, &mut reverse, (&mut state, &mut starts));
        let (homes, undone) = (HashMap::new(), frame.undone);
        let (whole, construct, run_again) = (None, EnclosingConstruct::Tape, None);
        let body_of = Body { stms: &sweep, params, whole, construct, homes, undone, run_again };
        let residuals =
            resolve(self.b.names, self.cx, self.facts, self.undo, body_of, &mut reverse);
        residuals.keep_in_boxes(&mut sweep);
        let mut kept: Vec<Param> =
            residuals.stored.into_iter().map(|stored| stored.value).collect();
        let tape = self.cx.new_tape("iteration");
        let at = Param { var: self.b.names.fresh("tape"), ty: Ty::handle(tape) };
        kept.push(at.clone());
        let layout = Layout::of(self.b.names, &kept);
        self.cx.set_tape(tape, layout.fields.clone());
        // The forward sweep: the loop with the tape so far.
        let [next, last] =
            [(); 2].map(|()| Param { var: self.b.names.again(at.var), ..at.clone() });
        sweep.push(layout.make(tape, next.var));
        let results = body.results.iter().copied().chain([next.var.into()]).collect();
        let forward = Nest::Loop {
            params: params.iter().cloned().chain([at.clone()]).collect(),
            inits: inits.iter().copied().chain([Atom::int(0)]).collect(),
            kind: LoopKind::While(cond.clone()),
            body: Block { stms: sweep, results },
        };
        if !versions.is_empty() {
            self.undo.log(last.var);
        }
        let binds = stm.binds.iter().cloned().chain([last.clone()]).collect();
        let forward = Stm::new(binds, forward);
        // The reverse sweep.
        let back = Param { var: self.b.names.again(at.var), ..at.clone() };
        state.push(back.clone());
        starts.push(last.var.into());
        let reverse = self.read_tape(&layout, &kept, &back, &at, reverse);
        let ends = self.until_null(state, starts, &back, reverse);
        let (back, ends) = ends[sizes.len()..].split_at(versions.len());
        self.is_back(stm, &versions, back);
        let ran = |c: &mut Self| {
            let tag = c.b.bind("tag", Ty::int(), Op::Tag(last.var.into()));
            c.b.prim(Prim::LeInt, [Atom::int(0), tag])
        };
        self.after_reverse((inits, &active, &flags), (&sums, &of_sums), ends, ran);
        vec![forward]
    }

    /// The body of the reverse loop, which reads the residuals under fresh names, and returns the
    /// tape before.
    fn read_tape(
        &mut self,
        layout: &Layout,
        kept: &[Param],
        back: &Param,
        at: &Param,
        mut reverse: Block,
    ) -> Block {
        let mut renaming = Renaming::new();
        let mut stms = Vec::new();
        let (ints, others): (Vec<&Param>, Vec<&Param>) = kept.iter().partition(|p| is_int(&p.ty));
        for p in ints.into_iter().chain(others) {
            let bind = Param { var: self.b.names.again(p.var), ty: renaming.ty(&p.ty) };
            renaming.insert(p.var, bind.var.into());
            stms.push(layout.read(back.var.into(), p.var, bind));
        }
        renaming.apply(&mut reverse);
        stms.append(&mut reverse.stms);
        reverse.results.push(renaming.atom(at.var.into()));
        Block { stms, results: reverse.results }
    }

    /// A loop that runs while the handle is not null; returns its binds.
    fn until_null(
        &mut self,
        params: Vec<Param>,
        inits: Vec<Atom>,
        back: &Param,
        body: Block,
    ) -> Vec<Param> {
        let cond = self.b.block(|b: &mut Builder| {
            let tag = b.bind("tag", Ty::int(), Op::Tag(back.var.into()));
            vec![b.prim(Prim::LeInt, [Atom::int(0), tag])]
        });
        let again = |p: &Param| Param { var: self.b.names.again(p.var), ty: p.ty.clone() };
        let mut binds: Vec<Param> = params.iter().map(again).collect();
        let ends: Vec<Atom> = binds.iter().map(|bind| bind.var.into()).collect();
        let ends = naming(&params, &ends);
        binds.iter_mut().for_each(|bind| bind.ty = ends.ty(&bind.ty));
        let kind = LoopKind::While(cond);
        self.b.stms.push(Stm::new(binds.clone(), Nest::Loop { params, inits, kind, body }));
        binds
    }
}

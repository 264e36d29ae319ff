//! `ys = if c { … } else { … }`: the taken branch is differentiated; the other does not run.
//!
//! ```text
//!   D→   the same `if`, with the tangents of its results as further results
//!   D←   if c { reverse of the one } else { reverse of the other }, each seeded with ȳs
//! ```
//!
//! The cotangents of outer variables enter a branch and leave it as results of the reverse `if`, so
//! that a branch without a contribution adds nothing.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Nest, Op, Param, Renaming, Stm, Ty, Var, free_vars};

use crate::cotangents::{Cotangents, Frame, FrameKind};
use crate::derived::is_int;
use crate::effects::bound_in;
use crate::known::Handles;
use crate::presence::Joined;
use crate::residuals::{Body, EnclosingConstruct, Residual, Residuals, resolve};
use crate::tangents::Tangents;
use crate::tape::Layout;

/// Minimal difference in words at which branches keep their residuals apart.
const APART: usize = 4;

/// Price of an array in words: an empty one takes about as much.
const ARRAY: usize = 4;

impl Tangents<'_> {
    pub(crate) fn if_(&mut self, stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) {
        let active: Vec<usize> =
            (0..stm.binds.len()).filter(|k| self.carries(stm.binds[*k].var)).collect();
        let open: Vec<usize> =
            active.iter().copied().filter(|k| self.absence.matters(stm.binds[*k].var)).collect();
        let mut branch = |block: &Block| {
            let mut there = Vec::new();
            let block = self.block(block, |t| {
                let rates =
                    active.iter().map(|k| t.or_zero(block.results[*k], &branch_ty(stm, block, *k)));
                let rates: Vec<Atom> = rates.collect();
                there.extend(open.iter().map(|k| t.there(block.results[*k])));
                [block.results.clone(), rates].concat()
            });
            (block, there)
        };
        let ((mut then, then_there), (mut otherwise, other_there)) =
            (branch(then), branch(otherwise));
        let mut binds = stm.binds.clone();
        binds.extend(active.iter().map(|k| self.param(&stm.binds[*k])));
        for ((k, a), b) in open.into_iter().zip(then_there).zip(other_there) {
            let types = [&then, &otherwise].map(|block| branch_ty(stm, block, k));
            let [ty, other_ty] = types;
            let blocks = [(&mut then, ty), (&mut otherwise, other_ty)];
            binds.extend(self.branches_are_there(cond, &stm.binds[k], [a, b], blocks));
        }
        self.b.stms.push(Stm::new(binds, Nest::If { cond, then, otherwise }));
    }
}

/// The type of the k-th result inside a branch, with the branch's own size results for those of the
/// `if`.
fn branch_ty(stm: &Stm, block: &Block, k: usize) -> Ty {
    let mut renaming = Renaming::new();
    stm.binds
        .iter()
        .zip(&block.results)
        .for_each(|(bind, result)| renaming.insert(bind.var, *result));
    renaming.ty(&stm.binds[k].ty)
}

impl Cotangents<'_> {
    pub(crate) fn if_(
        &mut self,
        stm: &Stm,
        cond: Atom,
        then: &Block,
        otherwise: &Block,
    ) -> Vec<Stm> {
        let seeds: Vec<Seed> = stm.binds.iter().map(|p| self.take_when(p.var)).collect();
        let back = self.versions_before(&stm.binds);
        let (then_sweep, then_frame) = self.branch(stm, then, &seeds, &back);
        let (other_sweep, other_frame) = self.branch(stm, otherwise, &seeds, &back);
        let (outer, then_block, other_block) =
            self.leave_both(cond, (then_frame, other_frame), &back);
        let (mut then_reverse, mut then_kept) = self.close(stm, then, &then_sweep, then_block);
        let (mut other_reverse, mut other_kept) =
            self.close(stm, otherwise, &other_sweep, other_block);
        let mut then = Block { stms: then_sweep, results: then.results.clone() };
        let mut otherwise = Block { stms: other_sweep, results: otherwise.results.clone() };
        then_kept.keep_in_boxes(&mut then.stms);
        other_kept.keep_in_boxes(&mut otherwise.stms);
        then_kept.outside.apply(&mut then);
        other_kept.outside.apply(&mut otherwise);
        let apart = self.keep_apart([
            (&mut then_kept, &mut then, &mut then_reverse),
            (&mut other_kept, &mut otherwise, &mut other_reverse),
        ]);
        let mut kept = self.share(then_kept, other_kept, &mut other_reverse);
        kept.slots.extend(apart);
        self.if_reverse(cond, &outer, &back, then_reverse, other_reverse);
        self.if_forward(stm, cond, then, otherwise, kept)
    }

    /// The forward and the reverse sweep of a branch.
    fn branch(
        &mut self,
        stm: &Stm,
        block: &Block,
        seeds: &[Seed],
        back: &[(usize, Var)],
    ) -> (Vec<Stm>, Frame) {
        let owned = bound_in(&[], block);
        let given: Vec<(Var, Atom)> =
            given(stm, block).into_iter().map(|(x, bind)| (x, bind.var.into())).collect();
        self.push(FrameKind::If, owned);
        given.into_iter().for_each(|(x, bind)| self.alias(x, bind));
        // A branch that hands an array through has nothing to undo.
        for (k, version) in back.iter().filter(|(k, x)| block.results[*k] == (*x).into()) {
            self.top().undone.insert(*version, stm.binds[*k].var.into());
        }
        for ((bind, result), (seed, when)) in stm.binds.iter().zip(&block.results).zip(seeds) {
            if let Some(seed) = seed {
                self.add_when(*result, *seed, &bind.ty, *when);
            }
        }
        let sweep = self.stms(&block.stms);
        (sweep, self.pop())
    }

    /// Ends both branches of the reverse sweep; returns the variables that they hand out, their
    /// blocks, and the versions that each has restored.
    pub(crate) fn leave_both(
        &mut self,
        cond: Atom,
        (then, otherwise): (Frame, Frame),
        back: &[(usize, Var)],
    ) -> (Outer, Left, Left) {
        let vars = self.outer(&then, &otherwise);
        let starts: Vec<Option<Atom>> =
            vars.iter().map(|x| if self.is_handed(*x) { self.sum(*x) } else { None }).collect();
        let presence = self.joined(cond, (&vars, &starts), [&then, &otherwise]);
        let outer = Outer { vars, presence };
        let then = self.leave(then, &outer, &starts, (back, 0));
        let otherwise = self.leave(otherwise, &outer, &starts, (back, 1));
        (outer, then, otherwise)
    }

    /// The outer variables whose cotangents the branches hand out. Contributions to an array with
    /// an accumulator in an outer block go there instead.
    fn outer(&mut self, then: &Frame, otherwise: &Frame) -> Vec<Var> {
        let mut outer = then.touched.clone();
        outer.extend(otherwise.touched.iter().filter(|x| !then.touched.contains(x)));
        outer.retain(|x| self.visible_accumulator(*x).is_none());
        outer
    }

    /// Ends a branch of the reverse sweep.
    fn leave(
        &mut self,
        frame: Frame,
        outer: &Outer,
        starts: &[Option<Atom>],
        (back, branch): (&[(usize, Var)], usize),
    ) -> Left {
        self.resume(frame);
        let results = outer.vars.iter().zip(starts).map(|(x, start)| {
            let p = Param { var: *x, ty: self.ct_ty(*x) };
            self.take(*x).or(*start).unwrap_or_else(|| self.b.zero(&p.ty))
        });
        let mut results: Vec<Atom> = results.collect();
        results.extend(back.iter().map(|(_, version)| Atom::from(*version)));
        results.extend(outer.flags().map(|(_, flags)| flags[branch]));
        for x in self.touched() {
            if let (Some(value), Some(acc)) = (self.take(x), self.outer_accumulator(x)) {
                self.b.effect(Op::Accumulate { acc, index: Vec::new(), value });
                self.whole_is_there(x, value);
            }
        }
        let frame = self.pop();
        (Block { stms: frame.stms, results }, frame.undone)
    }

    /// Resolves the residuals of a branch.
    fn close(
        &mut self,
        stm: &Stm,
        block: &Block,
        sweep: &[Stm],
        (mut reverse, undone): (Block, HashMap<Var, Atom>),
    ) -> (Block, Residuals) {
        let construct = EnclosingConstruct::Branch { repeated: self.repeated() };
        let homes: HashMap<Var, Param> = given(stm, block).into_iter().collect();
        let residuals = resolve(
            self.b.names,
            self.cx,
            self.facts,
            self.undo,
            Body {
                stms: sweep,
                params: &[],
                whole: None,
                construct,
                homes,
                undone,
                run_again: None,
            },
            &mut reverse,
        );
        (reverse, residuals)
    }

    pub(crate) fn if_reverse(
        &mut self,
        cond: Atom,
        outer: &Outer,
        back: &[(usize, Var)],
        then: Block,
        otherwise: Block,
    ) {
        if outer.vars.is_empty()
            && back.is_empty()
            && then.stms.is_empty()
            && otherwise.stms.is_empty()
        {
            return;
        }
        let bind = |c: &mut Self, x: Var| Param { var: c.b.names.fresh(c.hint(x)), ty: c.ct_ty(x) };
        let mut binds: Vec<Param> = outer.vars.iter().map(|x| bind(self, *x)).collect();
        for (_, version) in back {
            let p = self.version_back(*version);
            self.top().undone.insert(*version, p.var.into());
            binds.push(p);
        }
        let mut present: Vec<Option<Atom>> = outer.presence.iter().map(|p| p.known()).collect();
        for (k, _) in outer.flags() {
            let p = Param { var: self.b.names.fresh("present"), ty: Ty::bool() };
            present[k] = Some(p.var.into());
            binds.push(p);
        }
        self.b.stms.push(Stm::new(binds.clone(), Nest::If { cond, then, otherwise }));
        for ((x, p), present) in outer.vars.iter().zip(binds).zip(present) {
            if self.is_handed(*x) {
                self.set(*x, p.var.into());
                self.is_there(*x, present);
            } else {
                self.add_when((*x).into(), p.var.into(), &p.ty, present);
            }
        }
    }

    /// In a function, whose tape holds the residuals of both branches: if one branch has many more
    /// residuals than the other, each branch keeps its own in a node, and the tape of a call that
    /// takes the other branch has no room for them. The end of a recursion keeps next to nothing.
    ///
    /// ```text
    ///   forward   kept = if c { …; node kept.then (x, y, …) } else { …; null }
    ///   reverse   if c { x = field kept then.x; … } else { … }
    /// ```
    fn keep_apart(
        &mut self,
        branches: [(&mut Residuals, &mut Block, &mut Block); 2],
    ) -> Option<Slot> {
        // Source is shorter with one tape.
        if self.cx.handles == Handles::Values {
            return None;
        }
        // Residuals that the reverse sweep turned out not to need stay results of their branch,
        // which dead code elimination removes.
        let needed = branches.each_ref().map(|(_, _, reverse)| free_vars(reverse));
        let words = |branch: usize| -> usize {
            let stored = branches[branch].0.stored.iter();
            let stored = stored.filter(|r| needed[branch].contains(&r.home.var));
            stored.map(|r| if r.home.ty.dims.is_empty() { 1 } else { ARRAY }).sum()
        };
        let more = words(0).abs_diff(words(1));
        if !self.on_tape || self.repeated() || more < APART {
            return None;
        }
        let mut needed = needed.into_iter();
        let own = branches.map(|(residuals, sweep, reverse)| {
            let undo = &self.undo;
            let needed = needed.next().unwrap_or_default();
            let plain = |r: &mut Residual| {
                let in_place = undo.is_tape(r.value.var) || undo.keeps(r.home.var);
                !in_place && needed.contains(&r.home.var)
            };
            let mut own: Vec<Residual> = residuals.stored.extract_if(.., plain).collect();
            own.iter_mut().for_each(|r| r.value.ty = residuals.outside.ty(&r.value.ty));
            (own, sweep, reverse)
        });
        let layouts = [0, 1].map(|tag| {
            let values: Vec<Param> = own[tag].0.iter().map(|r| r.value.clone()).collect();
            let mut layout = Layout::of(self.b.names, &values);
            layout.tag = tag as u32;
            layout
        });
        let node = self.cx.either(layouts.each_ref().map(|layout| layout.fields.clone()));
        let fresh = |c: &mut Self| c.b.names.fresh("kept");
        let home = Param { var: fresh(self), ty: Ty::handle(node) };
        let mut kept = own.into_iter().zip(layouts).map(|((own, sweep, reverse), layout)| {
            if own.is_empty() {
                return None;
            }
            let made = fresh(self);
            sweep.stms.push(layout.make(node, made));
            // Sizes first, as the types of the arrays mention them.
            let (ints, others): (Vec<_>, Vec<_>) = own.iter().partition(|r| is_int(&r.home.ty));
            let read = ints.into_iter().chain(others);
            let read = read.map(|r| layout.read(home.var.into(), r.value.var, r.home.clone()));
            reverse.stms.splice(0..0, read);
            Some(made)
        });
        let (then, otherwise) = (kept.next().flatten(), kept.next().flatten());
        drop(kept);
        Some(Slot { then, otherwise, home })
    }

    /// Pairs residuals of equal types, because only one branch runs: the two share a result of the
    /// `if`.
    fn share(&mut self, then: Residuals, otherwise: Residuals, reverse: &mut Block) -> Kept {
        let mut kept = Kept { before: then.before, slots: Vec::new() };
        kept.before.extend(otherwise.before);
        kept.slots.extend(then.stored.into_iter().map(Slot::then));
        let mut renaming = Renaming::new();
        for Residual { value, home } in otherwise.stored {
            let tape = self.undo.is_tape(value.var);
            let fits = |slot: &Slot| {
                let same_kind = slot.then.is_some_and(|x| self.undo.is_tape(x) == tape);
                same_kind && slot.otherwise.is_none() && slot.home.ty == home.ty
            };
            let hint = |p: &Param| self.b.names.hint(p.var).to_string();
            let name = hint(&home);
            let like = |slot: &Slot| fits(slot) && hint(&slot.home) == name;
            let slot = kept.slots.iter().position(like).or(kept.slots.iter().position(fits));
            let Some(slot) = slot.map(|k| &mut kept.slots[k]) else {
                kept.slots.push(Slot { then: None, otherwise: Some(value.var), home });
                continue;
            };
            slot.otherwise = Some(value.var);
            renaming.insert(home.var, slot.home.var.into());
            if self.undo.keeps(home.var) {
                self.undo.log(slot.home.var);
            }
        }
        renaming.apply(reverse);
        kept
    }

    /// The forward sweep: each branch hands out its residuals, and zeros in place of the other's.
    fn if_forward(
        &mut self,
        stm: &Stm,
        cond: Atom,
        mut then: Block,
        mut otherwise: Block,
        kept: Kept,
    ) -> Vec<Stm> {
        let mut binds = stm.binds.clone();
        for Slot { then: one, otherwise: other, home } in kept.slots {
            let branches = [(one, &mut then), (other, &mut otherwise)];
            for (value, branch) in branches {
                let result = value.map(Atom::from);
                let result = result.unwrap_or_else(|| self.nothing(&binds, &home.ty, branch));
                branch.results.push(result);
            }
            if [one, other].into_iter().flatten().any(|x| self.undo.is_tape(x)) {
                self.undo.tape(home.var);
            }
            binds.push(home);
        }
        let mut sweep = kept.before;
        sweep.push(Stm::new(binds, Nest::If { cond, then, otherwise }));
        sweep
    }

    /// The zero that a branch hands out in place of the other's residual.
    fn nothing(&mut self, binds: &[Param], ty: &Ty, branch: &mut Block) -> Atom {
        // A size result of the `if` has the value of the branch's result.
        let mut sizes = Renaming::new();
        let given = binds.iter().zip(&branch.results);
        given.for_each(|(bind, result)| sizes.insert(bind.var, *result));
        let outer = std::mem::replace(&mut self.b.stms, std::mem::take(&mut branch.stms));
        let zero = self.b.zero(&sizes.ty(ty));
        branch.stms = std::mem::replace(&mut self.b.stms, outer);
        zero
    }
}

/// The cotangent of a result, with its presence.
type Seed = (Option<Atom>, Option<Atom>);

/// A branch of the reverse sweep, and the array versions that it has restored.
pub(crate) type Left = (Block, HashMap<Var, Atom>);

/// The variables of outer blocks whose cotangents the branches hand out.
pub(crate) struct Outer {
    vars: Vec<Var>,
    presence: Vec<Joined>,
}

impl Outer {
    /// The variables whose presence is a result of the branches.
    fn flags(&self) -> impl Iterator<Item = (usize, [Atom; 2])> {
        self.presence.iter().enumerate().filter_map(|(k, joined)| match joined {
            Joined::Result(then, otherwise) => Some((k, [*then, *otherwise])),
            Joined::Always | Joined::When(_) => None,
        })
    }
}

/// The residuals that the branches hand out.
struct Kept {
    /// Computed before the `if`.
    before: Vec<Stm>,
    slots: Vec<Slot>,
}

/// A further result of the `if`: the residual of one branch, or of both.
struct Slot {
    then: Option<Var>,
    otherwise: Option<Var>,
    home: Param,
}

impl Slot {
    fn then(residual: Residual) -> Slot {
        Slot { then: Some(residual.value.var), otherwise: None, home: residual.home }
    }
}

/// Variables that a branch binds and returns, each with the outer name of the result.
fn given(stm: &Stm, block: &Block) -> Vec<(Var, Param)> {
    let owned = bound_in(&[], block);
    let all = block.results.iter().zip(&stm.binds);
    all.filter_map(|(result, bind)| {
        Some((result.as_var().filter(|x| owned.contains(x))?, bind.clone()))
    })
    .collect()
}

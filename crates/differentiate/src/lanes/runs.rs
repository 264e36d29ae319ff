//! Blocks: uniform statements stay, and varying scalar operations are gathered into runs, each one
//! loop over the lanes.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, Nest, Op, Out, Param, Renaming, Stm, Ty, Var};

use super::{Lanes, Operand};

/// A part of a block.
enum StmtGroup<'s> {
    /// A statement by itself.
    One(&'s Stm),
    /// Scalar operations, one after the other in each lane.
    Run(Vec<&'s Stm>),
}

impl Lanes<'_> {
    /// A block with lanes. A result with a type in `wanted` is returned with its lanes; the others
    /// are uniform.
    pub(super) fn block(&mut self, block: &Block, wanted: &[Option<Ty>]) -> Block {
        let outer = std::mem::take(&mut self.b.stms);
        self.stms(block);
        let mut results = Vec::new();
        for (result, ty) in block.results.iter().zip(wanted) {
            results.push(match ty {
                Some(ty) => self.lanes(*result, ty).into(),
                None => *result,
            });
        }
        Block { stms: std::mem::replace(&mut self.b.stms, outer), results }
    }

    fn stms(&mut self, block: &Block) {
        let parts = self.parts(&block.stms);
        let kept = handed_on(&parts, &block.results);
        for (part, kept) in parts.into_iter().zip(kept) {
            match part {
                StmtGroup::One(stm) => self.stm(stm),
                StmtGroup::Run(stms) => self.run(&stms, &kept),
            }
        }
    }

    /// Cuts the block into maximal runs. Uniform statements do not depend on a run, so they move
    /// before it, except an update, which would copy an array that the run reads.
    fn parts<'s>(&self, stms: &'s [Stm]) -> Vec<StmtGroup<'s>> {
        let (mut parts, mut run) = (Vec::new(), Vec::new());
        for stm in stms {
            let touched = self.varying.touches(stm);
            if touched && self.is_scalar(stm) {
                run.push(stm);
                continue;
            }
            if !run.is_empty() && (touched || stm.any(&mut overwrites)) {
                parts.push(StmtGroup::Run(std::mem::take(&mut run)));
            }
            parts.push(StmtGroup::One(stm));
        }
        if !run.is_empty() {
            parts.push(StmtGroup::Run(run));
        }
        parts
    }

    /// Whether a lane runs the statement on its own, with scalars.
    fn is_scalar(&self, stm: &Stm) -> bool {
        match &stm.exp {
            Exp::Op(Op::Prim(..)) => true,
            Exp::Op(Op::Index(..)) => stm.binds[0].ty.dims.is_empty(),
            Exp::Op(Op::Accumulate { acc, index, .. }) => {
                self.varying.ty(*acc).rank() == index.len()
            }
            Exp::Op(
                Op::Fill(_)
                | Op::Array(_)
                | Op::Constant(_)
                | Op::Update { .. }
                | Op::ArrayPrim(..)
                | Op::Accumulator(_)
                | Op::Freeze(_)
                | Op::Check { .. }
                | Op::Inspect { .. }
                | Op::Call { .. }
                | Op::Node { .. }
                | Op::Tag(_)
                | Op::Field { .. }
                | Op::Open { .. }
                | Op::Cell { .. }
                | Op::Scheduled(_),
            ) => false,
            Exp::Nest(nest) => self.varying.is_per_lane(nest),
        }
    }

    /// `kept = for d < lanes { the run }`
    fn run(&mut self, stms: &[&Stm], kept: &[Param]) {
        let lane = self.b.names.fresh("d");
        let outer = std::mem::take(&mut self.b.stms);
        let renaming = self.reads(stms, lane.into());
        for stm in stms {
            let mut stm = (*stm).clone();
            self.in_lane(&mut stm, lane.into());
            renaming.apply_stm(&mut stm);
            self.b.stms.push(stm);
        }
        let results = kept.iter().map(|p| p.var.into()).collect();
        let body = Block { stms: std::mem::replace(&mut self.b.stms, outer), results };
        let binds: Vec<Param> = kept.iter().map(|p| self.lanes_param(p)).collect();
        let outs = vec![Out::Collect; binds.len()];
        let extent = self.direction.width;
        self.b.stms.push(Stm::new(binds, Nest::For { index: lane, extent, outs, body }));
    }

    /// Reads the scalars from before the run that it uses.
    fn reads(&mut self, stms: &[&Stm], lane: Atom) -> Renaming {
        let (mut known, mut mentioned) = (HashSet::new(), Vec::new());
        for stm in stms {
            stm.mentioned(&mut |var| mentioned.push(var));
            stm.each(&mut |inner| {
                known.extend(inner.binds.iter().map(|p| p.var));
                known.extend(inner.exp.bound());
            });
        }
        let mut renaming = Renaming::new();
        for var in mentioned.into_iter().filter(|var| known.insert(*var)) {
            let operand = self.operand(var.into());
            if matches!(operand, Operand::Uniform(_)) || !self.varying.ty(var).dims.is_empty() {
                continue;
            }
            // An accumulator is not read as a value.
            if self.of.get(&var).is_some_and(|lanes| self.accumulators.contains(lanes)) {
                continue;
            }
            let ty = self.varying.ty(var).clone();
            let value = operand.at(&mut self.b, &ty, self.direction, &[], lane);
            renaming.insert(var, value);
        }
        renaming
    }

    /// Redirects reads and additions to the lane.
    fn in_lane(&self, stm: &mut Stm, lane: Atom) {
        if let Exp::Op(Op::Index(x, index) | Op::Accumulate { acc: x, index, .. }) = &mut stm.exp
            && let Some(lanes) = self.of.get(x)
        {
            *x = *lanes;
            index.push(lane);
        }
        for block in stm.exp.blocks_mut() {
            block.stms.iter_mut().for_each(|stm| self.in_lane(stm, lane));
        }
    }
}

/// Whether the statement overwrites an array in place if no later statement reads it.
fn overwrites(stm: &Stm) -> bool {
    match &stm.exp {
        Exp::Op(op) => op.takes_over().is_some(),
        Exp::Nest(Nest::Loop { inits, .. }) => inits.iter().any(|init| init.as_var().is_some()),
        Exp::Nest(Nest::For { .. } | Nest::If { .. }) => false,
    }
}

/// Per part: the scalars of its run that are used later.
fn handed_on(parts: &[StmtGroup], results: &[Atom]) -> Vec<Vec<Param>> {
    let mut used: HashSet<Var> = results.iter().filter_map(|a| a.as_var()).collect();
    let mut kept = Vec::new();
    for part in parts.iter().rev() {
        match part {
            StmtGroup::One(stm) => {
                kept.push(Vec::new());
                stm.mentioned(&mut |var| _ = used.insert(var));
            }
            StmtGroup::Run(stms) => {
                let binds = stms.iter().flat_map(|stm| &stm.binds);
                kept.push(binds.filter(|p| used.contains(&p.var)).cloned().collect());
                stms.iter().for_each(|stm| stm.mentioned(&mut |var| _ = used.insert(var)));
            }
        }
    }
    kept.reverse();
    kept
}

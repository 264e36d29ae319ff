//! How often each variable will be mentioned in the printed text. Pure statements whose results nobody mentions are not printed, and
//! what only they mention does not count; types and checks are not printed either.

use std::collections::HashMap;

use super::regions::additions;
use crate::{Atom, Block, Exp, LoopKind, Stm, Var};

#[derive(Clone, Copy, Debug, Default)]
struct Use {
    count: usize,
    /// In how many loops the deepest mention is.
    deepest: usize,
}

/// The counts of a function.
#[derive(Debug, Default)]
pub(super) struct Uses {
    uses: HashMap<Var, Use>,
    /// In how many loops each binding is.
    depth_of: HashMap<Var, usize>,
}

impl Uses {
    pub(super) fn new(block: &Block) -> Uses {
        let mut uses = Uses::default();
        let all = vec![true; block.results.len()];
        uses.block(block, &all, 0);
        uses
    }

    /// Is it mentioned at all?
    pub(super) fn any(&self, var: Var) -> bool {
        self.count(var) > 0
    }

    pub(super) fn count(&self, var: Var) -> usize {
        self.uses.get(&var).map_or(0, |u| u.count)
    }

    /// Is it mentioned once, and not in a loop that its definition is outside of?
    pub(super) fn once(&self, var: Var) -> bool {
        self.uses
            .get(&var)
            .is_some_and(|u| u.count == 1 && self.depth_of.get(&var) == Some(&u.deepest))
    }

    /// Which bindings of a statement are mentioned.
    pub(super) fn kept(&self, stm: &Stm) -> Vec<bool> {
        stm.binds.iter().map(|p| self.any(p.var)).collect()
    }

    /// Is the statement printed?
    pub(super) fn printed(&self, stm: &Stm) -> bool {
        match &stm.exp {
            Exp::Check { .. } => false,
            Exp::Accumulator(_) | Exp::Freeze(_) | Exp::Accumulate { .. } => true,
            Exp::For { .. } | Exp::Loop { .. } | Exp::If { .. } => {
                stm.binds.iter().any(|p| self.any(p.var)) || !additions(stm).is_empty()
            }
            Exp::Prim(..)
            | Exp::Index(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::Update { .. }
            | Exp::MatMul(..) => self.any(stm.binds[0].var),
        }
    }

    fn atom(&mut self, atom: Atom, depth: usize) {
        if let Atom::Var(var) = atom {
            let entry = self.uses.entry(var).or_default();
            entry.count += 1;
            entry.deepest = entry.deepest.max(depth);
        }
    }

    fn block(&mut self, block: &Block, kept: &[bool], depth: usize) {
        for p in block.stms.iter().flat_map(|s| &s.binds) {
            self.depth_of.insert(p.var, depth);
        }
        for (atom, _) in block.results.iter().zip(kept).filter(|(_, kept)| **kept) {
            self.atom(*atom, depth);
        }
        for stm in block.stms.iter().rev() {
            if self.printed(stm) {
                self.statement(stm, depth);
            }
        }
    }

    fn statement(&mut self, stm: &Stm, depth: usize) {
        match &stm.exp {
            Exp::For { body, .. } => self.block(body, &self.kept(stm), depth + 1),
            Exp::If { then, otherwise, .. } => {
                let kept = self.kept(stm);
                self.block(then, &kept, depth);
                self.block(otherwise, &kept, depth);
            }
            Exp::Loop { kind, body, .. } => {
                self.block(body, &vec![true; body.results.len()], depth + 1);
                if let LoopKind::While(cond) = kind {
                    self.block(cond, &[true], depth + 1);
                }
            }
            Exp::Fill(_) => stm.binds[0].ty.dims.iter().for_each(|d| self.atom(*d, depth)),
            Exp::Prim(..)
            | Exp::Index(..)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => {}
        }
        let mut atoms = Vec::new();
        if let Exp::Loop { inits, kind, .. } = &stm.exp {
            // The sizes in the types of the state are not printed.
            atoms.extend(inits);
            if let LoopKind::For { extent, .. } = kind {
                atoms.push(*extent);
            }
        } else {
            stm.exp.atoms(&mut |a| atoms.push(a));
        }
        atoms.into_iter().for_each(|a| self.atom(a, depth));
    }
}

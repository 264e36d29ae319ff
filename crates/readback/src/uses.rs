//! Number of mentions of each variable in the printed text. Pure statements with unused results are
//! not printed, so mentions in them do not count; types and checks are not printed either.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Effect, Exp, FnId, LoopKind, Nest, Op, Stm, Var};

use crate::checking::{is_written_check, shows};
use crate::fors::Fors;
use crate::reading::Each;

#[derive(Clone, Copy, Debug, Default)]
struct Use {
    count: usize,
    /// Loop depth of the deepest mention.
    deepest: usize,
}

/// The counts of a function.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    uses: HashMap<Var, Use>,
    /// Loop depth of each binding.
    depth_of: HashMap<Var, usize>,
    /// The functions whose effects are not printed.
    silent: HashSet<FnId>,
    /// Whether the current block is printed as arithmetic of arrays.
    in_arithmetic: bool,
}

impl Uses {
    /// `types`: variables mentioned in printed types, as sizes of arrays of zeros. These get names.
    pub(crate) fn new<'b>(
        blocks: impl IntoIterator<Item = &'b Block>,
        types: &HashSet<Var>,
        silent: &HashSet<FnId>,
        fors: &Fors,
    ) -> Uses {
        let mut uses = Uses { silent: silent.clone(), ..Uses::default() };
        for var in types {
            uses.uses.insert(*var, Use { count: 1, deepest: usize::MAX });
        }
        for block in blocks {
            uses.block(fors, block, &vec![true; block.results.len()], 0);
        }
        uses
    }

    /// Whether the variable is mentioned at all.
    pub(crate) fn any(&self, var: Var) -> bool {
        self.count(var) > 0
    }

    pub(crate) fn count(&self, var: Var) -> usize {
        self.uses.get(&var).map_or(0, |u| u.count)
    }

    /// Whether the variable is mentioned at most `count` times, and in no loop that does not
    /// contain its definition.
    pub(crate) fn at_most(&self, count: usize, var: Var) -> bool {
        let here = |u: &Use| u.count <= count && self.depth_of.get(&var) == Some(&u.deepest);
        self.uses.get(&var).is_some_and(here)
    }

    /// For each binding of a statement, whether it is mentioned.
    pub(crate) fn kept(&self, stm: &Stm) -> Vec<bool> {
        stm.binds.iter().map(|p| self.any(p.var)).collect()
    }

    /// Whether the statement is printed.
    pub(crate) fn printed(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.any(p.var))
            || !stm.additions().is_empty()
            || match stm.exp.effect() {
                Effect::Makes | Effect::Freezes(_) => true,
                _ => stm.any(&mut |inner| self.acts(inner)),
            }
    }

    /// Whether the statement itself has an effect in the text, besides its bindings and additions.
    fn acts(&self, stm: &Stm) -> bool {
        match &stm.exp {
            Exp::Op(Op::Call { function, .. }) => !self.silent.contains(function),
            Exp::Op(_) | Exp::Nest(_) => {
                let effect = stm.exp.effect();
                effect == Effect::Calls || shows(effect) || is_written_check(stm)
            }
        }
    }

    fn atom(&mut self, atom: Atom, depth: usize) {
        if let Atom::Var(var) = atom {
            let entry = self.uses.entry(var).or_default();
            entry.count += 1;
            entry.deepest = entry.deepest.max(depth);
        }
    }

    fn block(&mut self, fors: &Fors, block: &Block, kept: &[bool], depth: usize) {
        for p in block.stms.iter().flat_map(|s| &s.binds) {
            self.depth_of.insert(p.var, depth);
        }
        for (atom, _) in block.results.iter().zip(kept).filter(|(_, kept)| **kept) {
            self.atom(*atom, depth);
        }
        for stm in block.stms.iter().rev() {
            if self.printed(stm) {
                self.statement(fors, stm, depth);
            }
        }
    }

    fn statement(&mut self, fors: &Fors, stm: &Stm, depth: usize) {
        match &stm.exp {
            Exp::Nest(Nest::For { .. })
                if let [p] = &stm.binds[..]
                    && let Some((_, array)) = fors.place(p.var) =>
            {
                return self.atom(array.into(), depth);
            }
            Exp::Nest(Nest::For { body, .. }) => {
                let kept = self.kept(stm);
                let each = Each::of(stm, &kept);
                // A loop inside of arithmetic is a part of it.
                let each = each.filter(|_| !self.in_arithmetic);
                let whole = each.and_then(|each| each.whole(fors));
                let around = self.in_arithmetic;
                let copies = stm.binds.first().is_some_and(|p| fors.array(p.var).is_some());
                self.in_arithmetic |= whole.is_some() || copies;
                let inside = if self.in_arithmetic { depth } else { depth + 1 };
                self.block(fors, body, &first_of_each(&body.results, &kept), inside);
                self.in_arithmetic = around;
                // Its text mentions an array as often as its elements are used.
                for (element, array) in whole.iter().flat_map(|(reading, _)| reading.elements()) {
                    (1..self.count(element)).for_each(|_| self.atom(array.into(), depth));
                }
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                let kept = self.kept(stm);
                self.block(fors, then, &kept, depth);
                self.block(fors, otherwise, &kept, depth);
            }
            Exp::Nest(Nest::Loop { kind, body, .. }) => {
                self.block(fors, body, &vec![true; body.results.len()], depth + 1);
                if let LoopKind::While(cond) = kind {
                    self.block(fors, cond, &[true], depth + 1);
                }
            }
            Exp::Op(Op::Fill(_)) => stm.binds[0].ty.dims.iter().for_each(|d| self.atom(*d, depth)),
            Exp::Op(_) => {}
        }
        let mut atoms = Vec::new();
        if let Exp::Nest(Nest::Loop { inits, kind, .. }) = &stm.exp {
            // Sizes in the types of the state are not printed.
            atoms.extend(inits);
            if let LoopKind::For { extent, checkpoint, .. } = kind {
                atoms.push(*extent);
                atoms.extend(checkpoint.states());
            }
        } else {
            stm.exp.atoms(&mut |a| atoms.push(a));
        }
        atoms.into_iter().for_each(|a| self.atom(a, depth));
    }
}

/// Marks each kept result once: an iteration lists nothing twice.
pub(crate) fn first_of_each(results: &[Atom], kept: &[bool]) -> Vec<bool> {
    let is_first = |k: usize| !(0..k).any(|before| kept[before] && results[before] == results[k]);
    (0..results.len()).map(|k| kept[k] && is_first(k)).collect()
}

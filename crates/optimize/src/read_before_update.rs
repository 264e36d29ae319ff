//! Reads the part that an update overwrites before the update:
//!
//! ```text
//!   ys = xs with [i] = row;  for j < n { x = xs[i, j]; … }
//!   becomes   old = xs[i];  ys = xs with [i] = row;  for j < n { x = old[j]; … }
//! ```
//!
//! Assumes: nothing; runs once, after all other passes, since they would merge the reads of rows.
//! Gives: an update of an array of which only the overwritten part is read later is the array's
//! last use, so it is done in place. Keeps: values and failures: the part is in range where the
//! update is done.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Exp, Function, Names, Op, Param, Renaming, Stm, Var};

use crate::calls::Calls;

/// The pass. It looks at each mention of an array once, because a tape has as many updates as
/// mentions.
pub(crate) fn read_before_update(function: &mut Function, _: &Calls) -> bool {
    let mut survey = Survey::default();
    survey.block(&function.body);
    let parts = survey.parts();
    if parts.is_empty() {
        return false;
    }
    let (mut image, mut next) = (Renaming::new(), 0);
    let mut parts = Parts { parts, read: HashMap::new(), image: &mut image, next: &mut next };
    parts.block(&mut function.names, &mut function.body);
    image.apply(&mut function.body);
    function.results.iter_mut().for_each(|ty| *ty = image.ty(ty));
    // Each part that is read earlier has a name of its own.
    true
}

/// The number of a statement that mentions an array, and the index where it is a read of an element
/// or a part.
type Mention = (usize, Option<Vec<Atom>>);

/// The mentions and the updates of arrays. Statements are numbered in the order of the text, each
/// before those in its blocks.
#[derive(Default)]
struct Survey {
    count: usize,
    mentions: HashMap<Var, Vec<Mention>>,
    updates: Vec<Updated>,
}

struct Updated {
    stm: usize,
    /// The number behind the last statement of its block.
    end: usize,
    array: Var,
    part: Vec<Atom>,
}

impl Survey {
    fn block(&mut self, block: &Block) {
        let mut own = Vec::new();
        for stm in &block.stms {
            let number = self.count;
            self.count += 1;
            match &stm.exp {
                Exp::Op(Op::Index(x, index)) => {
                    self.mention(*x, number, Some(index.clone()));
                    index.iter().for_each(|a| self.mentioned(*a, number));
                }
                exp => exp.atoms(&mut |a| self.mentioned(a, number)),
            }
            if let Exp::Op(Op::Update { array, index, .. }) = &stm.exp {
                own.push(self.updates.len());
                let (array, part) = (*array, index.clone());
                self.updates.push(Updated { stm: number, end: usize::MAX, array, part });
            }
            stm.exp.blocks().into_iter().for_each(|inner| self.block(inner));
        }
        // Results are behind all statements of the block, and have no number of their own.
        let end = self.count;
        self.count += 1;
        block.results.iter().for_each(|a| self.mentioned(*a, end));
        own.into_iter().for_each(|k| self.updates[k].end = end);
    }

    fn mentioned(&mut self, atom: Atom, stm: usize) {
        atom.as_var().into_iter().for_each(|x| self.mention(x, stm, None));
    }

    fn mention(&mut self, x: Var, stm: usize, index: Option<Vec<Atom>>) {
        self.mentions.entry(x).or_default().push((stm, index));
    }

    /// For each update, by its number, the array and the overwritten part, if only that part of the
    /// array is read later.
    fn parts(mut self) -> HashMap<usize, (Var, Vec<Atom>)> {
        let updated: Vec<Var> = self.updates.iter().map(|u| u.array).collect();
        for x in updated {
            let Some(all) = self.mentions.get_mut(&x) else { continue };
            all.sort_by_key(|(stm, _)| *stm);
        }
        let later = |u: &Updated| {
            let all = self.mentions.get(&u.array)?;
            let first = all.partition_point(|(stm, _)| *stm <= u.stm);
            let last = all.partition_point(|(stm, _)| *stm <= u.end);
            let reads = &all[first..last];
            // The last mention is the one that an update after this one would be.
            let is_part = |(_, index): &(usize, Option<Vec<Atom>>)| {
                index.as_ref().is_some_and(|index| index.starts_with(&u.part))
            };
            (!reads.is_empty() && reads.iter().rev().all(is_part))
                .then(|| (u.stm, (u.array, u.part.clone())))
        };
        self.updates.iter().filter_map(later).collect()
    }
}

/// Reads the parts before they are overwritten.
struct Parts<'a> {
    parts: HashMap<usize, (Var, Vec<Atom>)>,
    /// For each array, the variable of the part read before, and the number of its indices.
    read: HashMap<Var, (Var, usize)>,
    image: &'a mut Renaming,
    next: &'a mut usize,
}

impl Parts<'_> {
    fn block(&mut self, names: &mut Names, block: &mut Block) {
        let mut outside = Vec::new();
        for mut stm in std::mem::take(&mut block.stms) {
            let number = *self.next;
            *self.next += 1;
            if let Some((x, part)) = self.parts.remove(&number) {
                let ty = stm.binds[0].ty.indexed(part.len());
                let old = names.again(x);
                outside.push((x, self.read.insert(x, (old, part.len()))));
                let read = Op::Index(x, part);
                block.stms.push(Stm::new(vec![Param { var: old, ty }], read));
            }
            stm.exp.blocks_mut().into_iter().for_each(|inner| self.block(names, inner));
            if let Exp::Op(Op::Index(x, index)) = &mut stm.exp
                && let Some((old, shared)) = self.read.get(x)
            {
                if index.len() == *shared {
                    self.image.insert(stm.binds[0].var, (*old).into());
                    continue;
                }
                (*x, *index) = (*old, index.split_off(*shared));
            }
            block.stms.push(stm);
        }
        *self.next += 1;
        // Behind the block, the arrays have their old entries.
        for (x, before) in outside.into_iter().rev() {
            match before {
                Some(before) => self.read.insert(x, before),
                None => self.read.remove(&x),
            };
        }
    }
}

//! The facts of the blocks around a place. Each variable has a list of the blocks with facts about
//! it, because a search through all blocks would make every question as long as blocks are nested
//! deep.

use std::cell::RefCell;
use std::hash::Hash;

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

use super::{ANY, Bounds, Fact, Learned, ProgramPoint, Range, TRIED, both};
use crate::{Poly, Var};

/// The facts of one block.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Equations modulo 2⁶⁴; exact ones with `true`.
    pub(super) equal: HashMap<Var, (Poly, bool)>,
    /// Lower bounds (1) and upper bounds (-1) of variables.
    pub(super) facts: HashMap<(Var, i64), Vec<Poly>>,
    pub(super) ranges: HashMap<Var, Range>,
    /// No run reaches the block.
    pub(super) unreachable: bool,
}

impl Frame {
    /// Whether it has no facts beyond those of the block around it.
    pub(super) fn is_empty(&self) -> bool {
        self.equal.is_empty()
            && self.facts.is_empty()
            && self.ranges.is_empty()
            && !self.unreachable
    }

    /// Adds facts.
    pub(super) fn add(&mut self, learned: Learned) {
        self.note(learned, &mut Index::default(), 0);
    }

    /// Adds facts, to the index too.
    fn note(&mut self, learned: Learned, index: &mut Index, level: usize) {
        for fact in learned.0 {
            match fact {
                Fact::Never => self.unreachable = true,
                Fact::Equal(var, value, exact) => {
                    self.equal.insert(var, (value, exact));
                    index.equal.add(var, level);
                }
                Fact::AtLeastZero(poly) => {
                    self.unreachable |= poly.as_constant().is_some_and(|k| k < 0);
                    for (var, k) in poly.lone() {
                        let bounds = self.facts.entry((var, k)).or_default();
                        add_bound(bounds, poly.solved_for(var, k), k);
                        index.facts.add((var, k), level);
                    }
                }
            }
        }
        for (var, range) in learned.1 {
            let known = self.ranges.entry(var).or_insert(range);
            *known = both(*known, range);
            self.unreachable |= known.0 > known.1;
            index.ranges.add(var, level);
        }
        if self.unreachable {
            index.unreachable.add((), level);
        }
    }
}

/// Adds a lower bound (1) or an upper bound (-1) of a variable, the newest last. Of two bounds that
/// differ by a number the weaker one is forgotten, because a search would try both: after `xs[i]`,
/// …, `xs[i + n]` one bound says that `i + n` is in range.
fn add_bound(bounds: &mut Vec<Poly>, mut bound: Poly, k: i64) {
    for at in (bounds.len().saturating_sub(TRIED)..bounds.len()).rev() {
        if let Some(more) = bound.plus(&bounds[at], -1).as_constant() {
            let old = bounds.remove(at);
            if more.signum() == -k {
                bound = old;
            }
        }
    }
    bounds.push(bound);
}

/// The levels of the blocks with facts about each key, outermost first.
#[derive(Clone, Debug)]
struct Levels<K>(HashMap<K, SmallVec<[usize; 2]>>);

impl<K> Default for Levels<K> {
    fn default() -> Self {
        Levels(HashMap::default())
    }
}

impl<K: Copy + Eq + Hash> Levels<K> {
    fn add(&mut self, key: K, level: usize) {
        let levels = self.0.entry(key).or_default();
        let at = levels.partition_point(|l| *l < level);
        if levels.get(at) != Some(&level) {
            levels.insert(at, level);
        }
    }

    /// Forgets the innermost level of a key.
    fn pop(&mut self, key: K) {
        if let Some(levels) = self.0.get_mut(&key) {
            levels.pop();
            if levels.is_empty() {
                self.0.remove(&key);
            }
        }
    }

    /// The levels below a limit, innermost first.
    fn below(&self, key: K, limit: usize) -> impl Iterator<Item = usize> + '_ {
        let levels = self.0.get(&key).into_iter().flatten();
        levels.rev().copied().skip_while(move |l| *l >= limit)
    }
}

/// By variable: the blocks with facts about it.
#[derive(Clone, Debug, Default)]
struct Index {
    equal: Levels<Var>,
    facts: Levels<(Var, i64)>,
    ranges: Levels<Var>,
    unreachable: Levels<()>,
}

/// The facts of each of the blocks around a place, outermost first.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    frames: Vec<Frame>,
    index: Index,
}

impl Frames {
    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Enters a block with these facts.
    pub fn push(&mut self, frame: Frame) {
        let (level, index) = (self.frames.len(), &mut self.index);
        frame.equal.keys().for_each(|var| index.equal.add(*var, level));
        frame.facts.keys().for_each(|key| index.facts.add(*key, level));
        frame.ranges.keys().for_each(|var| index.ranges.add(*var, level));
        if frame.unreachable {
            index.unreachable.add((), level);
        }
        self.frames.push(frame);
    }

    /// Leaves the innermost block; returns its facts.
    pub fn pop(&mut self) -> Option<Frame> {
        let (frame, index) = (self.frames.pop()?, &mut self.index);
        frame.equal.keys().for_each(|var| index.equal.pop(*var));
        frame.facts.keys().for_each(|key| index.facts.pop(*key));
        frame.ranges.keys().for_each(|var| index.ranges.pop(*var));
        if frame.unreachable {
            index.unreachable.pop(());
        }
        Some(frame)
    }

    /// The facts of the innermost block.
    pub fn last(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// Adds facts to the innermost block.
    pub fn learn(&mut self, learned: Learned) {
        let level = self.frames.len() - 1;
        self.frames[level].note(learned, &mut self.index, level);
    }

    /// Learns that a variable bound in the block of this level is not negative.
    pub fn nonnegative(&mut self, var: Var, level: usize) {
        for (k, frame) in self.frames.iter_mut().enumerate().skip(level) {
            // Inner blocks may have narrower ranges.
            if k == level || frame.ranges.contains_key(&var) {
                let range = frame.ranges.entry(var).or_insert(ANY);
                *range = both(*range, (0, ANY.1));
                self.index.ranges.add(var, k);
            }
        }
    }

    /// Asks a question inside of the outermost `level` blocks.
    pub fn ask<T>(
        &self,
        bounds: &Bounds,
        level: usize,
        question: impl FnOnce(ProgramPoint<'_>) -> T,
    ) -> T {
        let ranges = &RefCell::default();
        question(ProgramPoint { bounds, frames: self, level, supposed: &[], ranges })
    }

    pub(super) fn is_unreachable(&self, limit: usize) -> bool {
        self.index.unreachable.below((), limit).next().is_some()
    }

    pub(super) fn has_equations(&self) -> bool {
        !self.index.equal.0.is_empty()
    }

    pub(super) fn range(&self, var: Var, limit: usize) -> Option<&Range> {
        self.index.ranges.below(var, limit).find_map(|k| self.frames[k].ranges.get(&var))
    }

    pub(super) fn equal(&self, var: Var, limit: usize) -> Option<&(Poly, bool)> {
        self.index.equal.below(var, limit).find_map(|k| self.frames[k].equal.get(&var))
    }

    /// The lower bounds (1) or the upper bounds (-1) of a variable, the newest first.
    pub(super) fn facts(&self, key: (Var, i64), limit: usize) -> impl Iterator<Item = &Poly> + '_ {
        let frames = self.index.facts.below(key, limit);
        frames.filter_map(move |k| self.frames[k].facts.get(&key)).flat_map(|f| f.iter().rev())
    }
}

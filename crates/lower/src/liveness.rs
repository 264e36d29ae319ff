//! May an array be overwritten? Yes, if its memory is ours and no variable that names any of it is mentioned again: later in its block, after
//! the statement around that block, or in the next iteration of a loop that it is bound outside of.

use std::rc::Rc;

use lambada_anf::{Block, Stm, Var};

use crate::Lower;
use crate::facts::Last;
use crate::places::{Place, StorageId, Value};

/// A block that is being lowered.
pub(crate) struct Frame<'a> {
    block: &'a Block,
    last: Rc<Last>,
    /// The statement that is being lowered.
    pub(crate) at: usize,
    /// Of a loop: the blocks that run again.
    again: Vec<Rc<Last>>,
}

impl<'a> Lower<'a> {
    /// Lowers something in a block; `again` are the blocks of the loop whose body it is.
    pub(crate) fn within<T>(
        &mut self,
        block: &'a Block,
        again: &[&'a Block],
        inside: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let again = again.iter().map(|b| self.facts.last(b)).collect();
        self.frames.push(Frame { block, last: self.facts.last(block), at: 0, again });
        let result = inside(self);
        self.frames.pop();
        result
    }

    pub(crate) fn frame(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("a block is being lowered")
    }

    /// The statements of the current block, and the number of the current one.
    pub(crate) fn rest(&self) -> (&'a [Stm], usize) {
        let frame = self.frames.last().expect("a block is being lowered");
        (&frame.block.stms, frame.at)
    }

    /// Is it mentioned again after the current statement, on some path?
    pub(crate) fn is_live(&self, var: Var) -> bool {
        self.is_live_after(var, self.rest().1)
    }

    /// Is it mentioned again after the given statement of the current block?
    fn is_live_after(&self, var: Var, at: usize) -> bool {
        let (depth, inner) = (self.depth(var), self.frames.len() - 1);
        self.frames.iter().enumerate().skip(depth).rev().any(|(k, frame)| {
            let at = if k == inner { at } else { frame.at };
            let later = frame.last.get(&var).is_some_and(|last| *last > at);
            later || k > depth && frame.again.iter().any(|last| last.contains_key(&var))
        })
    }

    /// Is the given statement of the current block the last that mentions it, on every path?
    pub(crate) fn ends_at(&self, var: Var, at: usize) -> bool {
        self.last_mention(var) == Some(at) && !self.is_live_after(var, at)
    }

    /// Is it mentioned by the current statement or after it?
    pub(crate) fn is_used(&self, var: Var) -> bool {
        let frame = self.frames.last().expect("a block is being lowered");
        frame.last.get(&var).is_some_and(|last| *last >= frame.at) || self.is_live(var)
    }

    /// Does the block mention it anywhere?
    pub(crate) fn mentions(&self, block: &Block, var: Var) -> bool {
        self.facts.last(block).contains_key(&var)
    }

    /// Where the current block mentions it last.
    pub(crate) fn last_mention(&self, var: Var) -> Option<usize> {
        self.frames.last().and_then(|frame| frame.last.get(&var).copied())
    }

    /// Is the storage ours, and not needed after the current statement?
    pub(crate) fn is_spent(&self, storage: StorageId) -> bool {
        self.store.is_writable(storage)
            && !self.store.names(storage).into_iter().any(|v| self.is_live(v))
    }

    /// Takes over the memory of an array, if it may be overwritten by the current statement, which has read it by then.
    pub(crate) fn take(&mut self, place: &Place) -> bool {
        let spent = self.is_spent(place.storage);
        if spent {
            self.forget(place.storage);
            self.store.promise(place.storage);
        }
        spent
    }

    /// As [`Lower::take`]; where only rows of the array are needed later, they are copied instead of all of it.
    pub(crate) fn take_but_rows(&mut self, place: &Place) -> bool {
        if self.store.is_writable(place.storage)
            && let Some(rows) = self.needed_rows(place)
        {
            for (var, row) in rows {
                let copy = self.duplicate(&row);
                self.store.unname(row.storage, var);
                self.bind(var, Value::Array(copy));
            }
        }
        self.take(place)
    }

    /// What is needed of the array after the current statement, if that is rows under names of the current block.
    fn needed_rows(&self, place: &Place) -> Option<Vec<(Var, Place)>> {
        let row = |var: Var| match self.value_of(var) {
            Value::Array(row) if self.is_here(var) && row.dims.len() < place.dims.len() => {
                Some((var, row.clone()))
            }
            Value::Array(_) | Value::Scalar(_) | Value::Elements(_) | Value::Cell(_) => None,
        };
        self.store
            .names(place.storage)
            .into_iter()
            .filter(|var| self.is_live(*var))
            .map(row)
            .collect()
    }

    /// Drops names of the current block that nobody mentions again, so that long chains of updates stay cheap. A name of an outer block
    /// stays: the other branch of an `if` may mention it.
    fn forget(&mut self, storage: StorageId) {
        let here = self.frames.len() - 1;
        let depths = &self.depths;
        self.store.forget(storage, &|var| depths[var.0 as usize] == here);
    }

    /// Is nothing in the place that the current statement or a later one mentions, but for `except`?
    pub(crate) fn is_free(&self, place: &Place, except: &[Var]) -> bool {
        self.store.names(place.storage).into_iter().all(|v| except.contains(&v) || !self.is_used(v))
    }

    /// Does the current block bind it, or its statement for it?
    pub(crate) fn is_here(&self, var: Var) -> bool {
        self.depth(var) == self.frames.len() - 1
    }

    /// How many blocks are around the one that binds the variable.
    fn depth(&self, var: Var) -> usize {
        self.depths[var.0 as usize]
    }

    /// Binds a variable in the current block.
    pub(crate) fn bind(&mut self, var: Var, value: Value) {
        self.depths[var.0 as usize] = self.frames.len().saturating_sub(1);
        if let Value::Array(place) = &value {
            self.store.name(place.storage, var);
        }
        self.values[var.0 as usize] = Some(value);
    }
}

//! May an array be overwritten? Yes, if its memory is ours and no variable that names any of it is
//! mentioned again.

use lambada_anf::Var;

use crate::Lower;
use crate::memory::{Place, StorageId, Value};

impl Lower<'_> {
    /// Is the storage ours, and not needed after the current statement?
    pub(crate) fn is_spent(&self, storage: StorageId) -> bool {
        self.memory.is_writable(storage)
            && !self.memory.names(storage).into_iter().any(|v| self.env.is_live(v))
    }

    /// Takes over the memory of an array, if it may be overwritten by the current statement, which
    /// has read it by then.
    pub(crate) fn take(&mut self, place: &Place) -> bool {
        let spent = self.is_spent(place.storage);
        if spent {
            self.forget(place.storage);
            self.memory.promise(place.storage);
        }
        spent
    }

    /// As [`Lower::take`]; where only rows of the array are needed later, they are copied instead
    /// of all of it.
    pub(crate) fn take_but_rows(&mut self, place: &Place) -> bool {
        if self.memory.is_writable(place.storage)
            && let Some(rows) = self.needed_rows(place)
        {
            for (var, row) in rows {
                let copy = self.duplicate(&row);
                self.memory.unname(row.storage, var);
                self.bind(var, Value::Array(copy));
            }
        }
        self.take(place)
    }

    /// What is needed of the array after the current statement, if that is rows under names of the
    /// current block.
    fn needed_rows(&self, place: &Place) -> Option<Vec<(Var, Place)>> {
        let row = |var: Var| match self.env.value_of(var) {
            Value::Array(row) if self.env.is_here(var) && row.dims.len() < place.dims.len() => {
                Some((var, row.clone()))
            }
            Value::Array(_) | Value::Scalar(_) | Value::Elements(_) | Value::Cell(_) => None,
        };
        self.memory
            .names(place.storage)
            .into_iter()
            .filter(|var| self.env.is_live(*var))
            .map(row)
            .collect()
    }

    /// Drops names of the current block that nobody mentions again, so that long chains of updates
    /// stay cheap. A name of an outer block stays: the other branch of an `if` may mention it.
    fn forget(&mut self, storage: StorageId) {
        let env = &self.env;
        self.memory.forget(storage, &|var| env.is_here(var));
    }

    /// Is nothing in the place that the current statement or a later one mentions, but for
    /// `except`?
    pub(crate) fn is_free(&self, place: &Place, except: &[Var]) -> bool {
        self.memory
            .names(place.storage)
            .into_iter()
            .all(|v| except.contains(&v) || !self.env.is_used(v))
    }
}

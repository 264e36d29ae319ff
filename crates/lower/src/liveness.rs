//! Whether an array may be overwritten: its memory must be writable, and all variables that name
//! any of it dead.

use lambada_anf::Var;

use crate::Lower;
use crate::memory::{LoweredValue, Place, StorageId};

impl Lower<'_> {
    /// Whether the storage is writable and dead after the current statement.
    pub(crate) fn is_spent(&self, storage: StorageId) -> bool {
        self.memory.is_writable(storage)
            && !self.memory.names(storage).into_iter().any(|v| self.env.is_live(v))
    }

    /// Takes over the memory of an array if the current statement may overwrite it, after its own
    /// reads.
    pub(crate) fn take(&mut self, place: &Place) -> bool {
        let spent = self.is_spent(place.storage);
        if spent {
            self.forget(place.storage);
            self.memory.promise(place.storage);
        }
        spent
    }

    /// [`Lower::take`]; if later code needs only rows of the array, copies these instead of the
    /// whole array.
    pub(crate) fn take_but_rows(&mut self, place: &Place) -> bool {
        if self.memory.is_writable(place.storage)
            && let Some(rows) = self.needed_rows(place)
        {
            for (var, row) in rows {
                let copy = self.duplicate(&row);
                self.memory.unname(row.storage, var);
                self.bind(var, LoweredValue::Array(copy));
            }
        }
        self.take(place)
    }

    /// The rows of the array that are live after the current statement; `None` if other parts are,
    /// or rows under names of outer blocks.
    fn needed_rows(&self, place: &Place) -> Option<Vec<(Var, Place)>> {
        let row = |var: Var| match self.env.value_of(var) {
            LoweredValue::Array(row)
                if self.env.is_here(var) && row.dims.len() < place.dims.len() =>
            {
                Some((var, row.clone()))
            }
            LoweredValue::Array(_)
            | LoweredValue::Scalar(_)
            | LoweredValue::Elements(_)
            | LoweredValue::Cell(_) => None,
        };
        self.memory
            .names(place.storage)
            .into_iter()
            .filter(|var| self.env.is_live(*var))
            .map(row)
            .collect()
    }

    /// Drops dead names of the current block, so that long chains of updates stay cheap. A name of
    /// an outer block stays, because the other branch of an `if` may mention it.
    fn forget(&mut self, storage: StorageId) {
        let env = &self.env;
        self.memory.forget(storage, &|var| env.is_here(var));
    }

    /// Whether the current and later statements mention no variable in the place, except `except`.
    pub(crate) fn is_free(&self, place: &Place, except: &[Var]) -> bool {
        self.memory
            .names(place.storage)
            .into_iter()
            .all(|v| except.contains(&v) || !self.env.is_used(v))
    }
}

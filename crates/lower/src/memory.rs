//! The places of arrays: a place is a part of a storage, contiguous and row-major. Storages form
//! trees, a slot of an array being a child of the array's storage, so that two slots are known to
//! be disjoint. Every storage has the variables that name it or parts of it; their liveness decides
//! whether it may be overwritten ([`crate::liveness`]).

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::Var;
use lambada_loops::{Buf, Cell, Operand};

/// The number of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StorageId(usize);

/// A contiguous, row-major array in a storage.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) storage: StorageId,
    /// In elements, from the start of the buffer of the storage.
    pub(crate) offset: Operand,
    pub(crate) dims: Rc<[Operand]>,
}

/// The lowered form of a variable.
#[derive(Clone, Debug)]
pub(crate) enum LoweredValue {
    /// A register or a constant.
    Scalar(Operand),
    /// An array in memory, or an accumulator of rank above 0.
    Array(Place),
    /// An array of scalars that is only read at constant indices.
    Elements(Vec<Operand>),
    /// An accumulator of rank 0, or a result of a branch in the cell of its `if`.
    Cell(Cell),
}

/// A whole buffer that the function allocates: its name may be swapped with that of another of the
/// same level and length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    /// The level whose body allocates it.
    pub(crate) level: usize,
    pub(crate) len: Operand,
}

#[derive(Debug)]
struct Storage {
    buf: Buf,
    parent: Option<StorageId>,
    children: Vec<StorageId>,
    names: Vec<Var>,
    writable: bool,
    home: Option<Home>,
    /// Whether a variable has it, and no promise to another array has been made since.
    given: bool,
}

/// All storages of a function, and the wanted places of planned arrays.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    all: Vec<Storage>,
    wanted: HashMap<Var, Place>,
}

impl Memory {
    /// Sets the wanted place of a planned array.
    pub(crate) fn want(&mut self, array: Var, place: Place) {
        self.wanted.insert(array, place);
    }

    /// The wanted place of an array, if any.
    pub(crate) fn wanted(&self, array: Var) -> Option<&Place> {
        self.wanted.get(&array)
    }

    fn add(
        &mut self,
        buf: Buf,
        parent: Option<StorageId>,
        writable: bool,
        home: Option<Home>,
    ) -> StorageId {
        let id = StorageId(self.all.len());
        self.all.push(Storage {
            buf,
            parent,
            children: Vec::new(),
            names: Vec::new(),
            writable,
            home,
            given: false,
        });
        if let Some(parent) = parent {
            self.all[parent.0].children.push(id);
        }
        id
    }

    /// Read-only memory: a parameter or a constant.
    pub(crate) fn foreign(&mut self, buf: Buf) -> StorageId {
        self.add(buf, None, false, None)
    }

    /// A writable buffer of the caller.
    pub(crate) fn lent(&mut self, buf: Buf) -> StorageId {
        self.add(buf, None, true, None)
    }

    /// A whole buffer that the function allocates.
    pub(crate) fn own(&mut self, buf: Buf, home: Home) -> StorageId {
        self.add(buf, None, true, Some(home))
    }

    /// A part of a storage that shares no element with other slots of it that are in use.
    pub(crate) fn slot(&mut self, parent: StorageId) -> StorageId {
        self.add(self.all[parent.0].buf, Some(parent), true, None)
    }

    pub(crate) fn buf(&self, id: StorageId) -> Buf {
        self.all[id.0].buf
    }

    pub(crate) fn home(&self, id: StorageId) -> Option<Home> {
        self.all[id.0].home
    }

    pub(crate) fn is_writable(&self, id: StorageId) -> bool {
        self.all[id.0].writable
    }

    pub(crate) fn set_writable(&mut self, id: StorageId, writable: bool) {
        self.all[id.0].writable = writable;
    }

    /// Whether its memory may hold another array once no variable needs it.
    pub(crate) fn is_given(&self, id: StorageId) -> bool {
        self.all[id.0].given
    }

    /// Reserves it for another array.
    pub(crate) fn promise(&mut self, id: StorageId) {
        self.all[id.0].given = false;
    }

    /// Records that the variable names the storage, or a part of it.
    pub(crate) fn name(&mut self, id: StorageId, var: Var) {
        self.all[id.0].given = true;
        self.all[id.0].names.push(var);
    }

    /// Removes the variable from the names of the storage.
    pub(crate) fn unname(&mut self, id: StorageId, var: Var) {
        self.all[id.0].names.retain(|v| *v != var);
    }

    /// Drops past names of the storage and its parts for good.
    pub(crate) fn forget(&mut self, id: StorageId, is_past: &dyn Fn(Var) -> bool) {
        for id in self.family(id) {
            self.all[id.0].names.retain(|v| !is_past(*v));
        }
    }

    /// Whether they may share elements.
    pub(crate) fn overlap(&self, a: StorageId, b: StorageId) -> bool {
        self.contains(a, b) || self.contains(b, a)
    }

    fn contains(&self, outer: StorageId, inner: StorageId) -> bool {
        let mut at = Some(inner);
        while let Some(id) = at {
            if id == outer {
                return true;
            }
            at = self.all[id.0].parent;
        }
        false
    }

    /// All storages that overlap with `id`.
    fn family(&self, id: StorageId) -> Vec<StorageId> {
        let mut family = vec![id];
        let mut k = 0;
        while k < family.len() {
            family.extend(&self.all[family[k].0].children);
            k += 1;
        }
        let mut at = self.all[id.0].parent;
        while let Some(parent) = at {
            family.push(parent);
            at = self.all[parent.0].parent;
        }
        family
    }

    /// The variables that name any of the elements.
    pub(crate) fn names(&self, id: StorageId) -> Vec<Var> {
        self.family(id).into_iter().flat_map(|id| self.all[id.0].names.iter().copied()).collect()
    }

    /// Whether two places start at the same element.
    pub(crate) fn same_start(&self, a: &Place, b: &Place) -> bool {
        self.buf(a.storage) == self.buf(b.storage) && a.offset == b.offset
    }

    /// Whether the place is a whole buffer that the function allocates; returns it.
    pub(crate) fn whole(&self, place: &Place) -> Option<Home> {
        if place.offset == Operand::int(0) { self.home(place.storage) } else { None }
    }
}

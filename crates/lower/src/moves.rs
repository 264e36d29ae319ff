//! Copies: the only place that makes them.

use lambada_loops::{Buf, Operand, Step};
use lambada_prim::Scalar;

use crate::Lower;
use crate::memory::Place;

/// Maximal number of elements that are copied and filled one by one.
pub(crate) const FEW: i64 = 4;

impl Lower<'_> {
    /// A buffer name that points to the start of the place.
    pub(crate) fn pointer(&mut self, place: &Place) -> Buf {
        self.code.view(self.memory.buf(place.storage), place.offset)
    }

    /// Copies between places that share no element.
    pub(crate) fn copy(&mut self, from: &Place, to: &Place) {
        let len = self.code.len(&to.dims);
        match few(len) {
            Some(count) => self.copy_few(from, to, count),
            None => {
                let (to, from) = (self.pointer(to), self.pointer(from));
                self.code.push(Step::Copy { to, from, len });
            }
        }
    }

    fn copy_few(&mut self, from: &Place, to: &Place, count: i64) {
        for k in 0..count {
            let at = self.code.sum(vec![from.offset, Operand::int(k)]);
            let source = self.memory.buf(from.storage);
            let hint = self.code.hint(source);
            let value = self.code.load(source, at, hint);
            let at = self.code.sum(vec![to.offset, Operand::int(k)]);
            self.code.store(self.memory.buf(to.storage), at, value);
        }
    }

    /// A new array with the elements of a place.
    pub(crate) fn duplicate(&mut self, place: &Place) -> Place {
        let buf = self.memory.buf(place.storage);
        let (elem, hint) = (self.code.elem(buf), self.code.hint(buf));
        let origin = self.code.origin(buf);
        let copy = self.alloc_at(self.code.level(), elem, place.dims.clone(), hint, origin);
        self.copy(place, &copy);
        copy
    }

    /// Moves arrays as if simultaneously: none is overwritten before it has been read. The
    /// destinations share no elements.
    pub(crate) fn move_all(&mut self, mut moves: Vec<(Place, Place)>) {
        moves.retain(|(from, to)| !self.memory.same_start(from, to));
        while !moves.is_empty() {
            match (0..moves.len()).find(|k| self.is_unread(&moves, *k)) {
                Some(k) => {
                    let (from, to) = moves.remove(k);
                    self.copy(&from, &to);
                }
                None => {
                    let reader = self.reader(&moves);
                    moves[reader].0 = self.duplicate(&moves[reader].0.clone());
                }
            }
        }
    }

    /// A move whose source the first move overwrites.
    fn reader(&self, moves: &[(Place, Place)]) -> usize {
        let target = moves[0].1.storage;
        moves
            .iter()
            .position(|(from, _)| self.memory.overlap(from.storage, target))
            .expect("the first move is in the way of another")
    }

    /// Whether no move reads the destination of this one.
    fn is_unread(&self, moves: &[(Place, Place)], k: usize) -> bool {
        moves.iter().all(|(from, _)| !self.memory.overlap(from.storage, moves[k].1.storage))
    }
}

/// A small constant number of elements.
pub(crate) fn few(len: Operand) -> Option<i64> {
    match len {
        Operand::Lit(Scalar::Int(len)) if len <= FEW => Some(len.max(0)),
        Operand::Lit(_) | Operand::Reg(_) => None,
    }
}

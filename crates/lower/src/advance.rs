//! From one state to the next: a parallel assignment of computed values. Each array stays in its
//! buffer, or swaps buffer names with its current place, or is copied.

use lambada_loops::Step;

use crate::Lower;
use crate::memory::{LoweredValue, Place, StorageId};
use crate::states::{Held, State};

/// The next value of an array of the state.
struct Next<'s> {
    held: &'s Held,
    from: Place,
    way: Way,
}

/// How the next value reaches its buffer.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// It is already there.
    Stay,
    /// The buffer swaps names with the one that holds the value.
    Swap(StorageId),
    Copy,
}

impl Lower<'_> {
    /// Makes the results of the body the current state.
    pub(crate) fn advance(&mut self, states: &[State], results: Vec<LoweredValue>) {
        let mut cells = Vec::new();
        let mut arrays = Vec::new();
        for (state, result) in states.iter().zip(results) {
            match (state, result) {
                (State::Cell(cell), LoweredValue::Scalar(value)) => cells.push((*cell, value)),
                (State::Array(held), LoweredValue::Array(from)) => {
                    arrays.push(Next { held, from, way: Way::Copy })
                }
                (State::Cell(_) | State::Array(_), _) => {
                    unreachable!("the next state is of the type of the state")
                }
            }
        }
        self.choose_ways(&mut arrays);
        self.make_room(&mut arrays);
        let copied = arrays.iter().filter(|next| next.way == Way::Copy);
        let moves = copied.map(|next| (next.from.clone(), next.held.place.clone())).collect();
        self.move_all(moves);
        self.swap(&arrays);
        for (cell, value) in cells {
            self.code.set(cell, value);
        }
    }

    /// Stay if possible, else swap if possible; each buffer serves one array.
    fn choose_ways(&self, arrays: &mut [Next]) {
        let mut claimed = Vec::new();
        for next in arrays.iter_mut() {
            if self.memory.same_start(&next.from, &next.held.place) {
                next.way = Way::Stay;
                claimed.push(next.held.place.storage);
            }
        }
        for k in 0..arrays.len() {
            let storage = arrays[k].from.storage;
            if arrays[k].way == Way::Copy
                && !claimed.contains(&storage)
                && self.is_exchangeable(arrays, k)
            {
                arrays[k].way = Way::Swap(storage);
                claimed.push(storage);
            }
        }
    }

    /// Whether the next value is a whole buffer of the state, or a spare one, that lives as long as
    /// the array's own.
    fn is_exchangeable(&self, arrays: &[Next], k: usize) -> bool {
        let (from, held) = (&arrays[k].from, arrays[k].held);
        let (Some(home), Some(own)) = (self.memory.whole(from), self.memory.whole(&held.place))
        else {
            return false;
        };
        if held.grows {
            return home.level == self.code.level();
        }
        let is_of = |place: &Place| place.storage == from.storage;
        let in_pool = arrays.iter().any(|other| {
            !other.held.grows
                && (is_of(&other.held.place) || other.held.spare.as_ref().is_some_and(is_of))
        });
        in_pool && home.level == own.level && home.len == own.len
    }

    /// Copies a next value to a new buffer if its own buffer holds the next value of another array,
    /// or has another size.
    fn make_room(&mut self, arrays: &mut [Next]) {
        for k in 0..arrays.len() {
            if arrays[k].way != Way::Copy {
                continue;
            }
            let place = arrays[k].held.place.clone();
            let in_the_way = arrays
                .iter()
                .enumerate()
                .any(|(j, other)| j != k && self.memory.overlap(other.from.storage, place.storage));
            let room =
                match (arrays[k].held.grows, in_the_way && self.memory.whole(&place).is_some()) {
                    (true, _) => self.duplicate(&arrays[k].from.clone()),
                    (false, true) => {
                        let room = self.spare(&place);
                        self.copy(&arrays[k].from.clone(), &room);
                        room
                    }
                    (false, false) => continue,
                };
            arrays[k].way = Way::Swap(room.storage);
        }
    }

    fn swap(&mut self, arrays: &[Next]) {
        let mut pairs: Vec<(StorageId, StorageId)> = Vec::new();
        for next in arrays {
            if let Way::Swap(storage) = next.way {
                pairs.push((next.held.place.storage, storage));
            }
        }
        for k in 0..pairs.len() {
            let (own, other) = pairs[k];
            if own == other {
                continue;
            }
            self.code.push(Step::Swap(self.memory.buf(own), self.memory.buf(other)));
            // The previous content of the state's buffer has the other name now.
            pairs[k + 1..]
                .iter_mut()
                .filter(|(_, wants)| *wants == own)
                .for_each(|(_, wants)| *wants = other);
        }
    }
}

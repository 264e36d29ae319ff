//! Rotating registers: of an array that a nest stores itself, neighbors are read in the last
//! vectors of it, which are in registers. Where indices go up, these are the vectors below; where
//! they go down, those above. Lanes of neighbors that do not exist hold anything; nobody asks for
//! them.

use lambada_loops::{Cell, Op, Operand, Step, Ty};
use lambada_prim::{Prim, ScalarTy};

use super::stride::Stride;
use super::sums::Sum;
use super::{Copy, Emitter};
use lambada_graph::placed::{Direction, Nest};
use lambada_graph::{Array, ArrayId, Node, NodeId, neighbor};

/// An array of which the last vectors are in registers.
pub(super) struct Rotating {
    /// An element, at the current indices.
    body: NodeId,
    direction: Direction,
    /// By how many vectors ago it was.
    before: Vec<Cell>,
}

impl Emitter<'_> {
    /// Does the loop over the axis at this depth have a direction? Which?
    pub(super) fn direction(&self, nest: &Nest, depth: usize) -> Option<Direction> {
        nest.direction.filter(|_| depth + 1 == nest.axes.len())
    }

    /// Registers for what a nest reads of its own arrays.
    pub(super) fn begin_rotation(&mut self, nest: &Nest) {
        let Some(direction) = nest.direction else { return };
        for (array, _) in self.placed.own_arrays(nest) {
            let Array::Map(_, body) = self.graph().array(array) else { continue };
            let reads = self.graph().nodes.iter().filter_map(|node| match node {
                Node::At(other, index) if *other == array => {
                    neighbor(self.graph(), &nest.axes, array, index)
                }
                _ => None, // of no array, or another one
            });
            let vectors = reads.filter_map(|away| self.vectors(direction, away)).max();
            let ty = Ty { elem: ScalarTy::Real, lanes: self.lanes };
            let zero = Operand::Lit(ScalarTy::Real.zero());
            let before = (0..vectors.unwrap_or(0)).map(|_| {
                let cell = self.code.function.cell(ty, "last");
                self.code.push(Step::Cell(cell, zero));
                cell
            });
            let before = before.collect();
            self.rotating.insert(array, Rotating { body: *body, direction, before });
        }
    }

    /// How many of the last vectors an element so far away needs; none if it comes later.
    fn vectors(&self, direction: Direction, away: i64) -> Option<usize> {
        let before = match direction {
            Direction::Up => -away,
            Direction::Down => away,
        };
        let lanes = usize::from(self.lanes);
        usize::try_from(before).ok().map(|before| before.div_ceil(lanes))
    }

    /// An element that the nest has computed.
    pub(super) fn rotated(
        &mut self,
        array: ArrayId,
        index: &[NodeId],
        copy: Copy,
    ) -> Option<Operand> {
        let Rotating { body, direction, .. } = *self.rotating.get(&array)?;
        let Array::Map(axes, _) = self.graph().array(array) else { return None };
        let away = neighbor(self.graph(), axes, array, index)?;
        let vectors = self.vectors(direction, away)?;
        let lanes = i64::from(self.lanes);
        let first = match direction {
            // From a lane of the vector so far below on, to the one above that.
            Direction::Up => (away + lanes * vectors as i64) as u16,
            Direction::Down => (away % lanes) as u16,
        };
        let (from, to) = match direction {
            Direction::Up => (vectors, vectors.saturating_sub(1)),
            Direction::Down => ((away / lanes) as usize, vectors),
        };
        let low = self.vector_before(array, body, from, copy);
        if first == 0 {
            return Some(low);
        }
        let high = self.vector_before(array, body, to, copy);
        let ty = self.code.ty(low);
        Some(self.code.bind(ty, Op::Splice([low, high], first)))
    }

    /// The vector of so many iterations ago; that of this one if it is 0.
    fn vector_before(
        &mut self,
        array: ArrayId,
        body: NodeId,
        before: usize,
        copy: Copy,
    ) -> Operand {
        match before.checked_sub(1) {
            Some(k) => {
                let cell = self.rotating[&array].before[k];
                self.code.get(cell)
            }
            None => {
                let value = self.node(body, copy);
                self.broadcast(value, self.lanes)
            }
        }
    }

    /// At the end of an iteration, its vector is the last one.
    pub(super) fn rotate(&mut self) {
        let mut arrays: Vec<ArrayId> = self.rotating.keys().copied().collect();
        arrays.sort_unstable();
        let mut set = Vec::new();
        for array in arrays {
            let Rotating { body, ref before, .. } = self.rotating[&array];
            for (k, cell) in before.clone().into_iter().enumerate() {
                set.push(Step::Set(cell, self.vector_before(array, body, k, Copy::FIRST)));
            }
        }
        set.into_iter().for_each(|step| self.code.push(step));
    }

    /// The loops over an axis with a direction, of which some ends may be apart.
    pub(super) fn in_order(
        &mut self,
        nest: &Nest,
        depth: usize,
        direction: Direction,
        sums: &mut Vec<Sum>,
    ) {
        let (start, end) = self.range(nest.axes[depth]);
        let whole = Stride::whole(1, self.lanes);
        let to = self.whole(start, end, whole.len());
        let rest = Stride { partial: true, ..whole };
        let mut loops = vec![(start, to, whole)];
        if self.lanes > 1 {
            loops.push((to, end, rest));
        }
        if direction == Direction::Down {
            loops.reverse();
        }
        for (from, to, stride) in loops {
            if from != to {
                self.counted(nest, depth, (from, to), stride, sums);
            }
        }
    }

    /// The index of an iteration: where a loop has a direction, mirrored in the middle of its
    /// indices.
    pub(super) fn mirrored(&mut self, (start, end): (Operand, Operand), step: i64) -> Operand {
        let last = self.code.int(Prim::SubInt, end, Operand::int(1));
        let last = self.code.int(Prim::SubInt, last, start);
        let last = self.code.int(Prim::BitAnd, last, Operand::int(-step));
        let last = self.code.int(Prim::AddInt, start, last);
        self.code.int(Prim::AddInt, start, last)
    }
}

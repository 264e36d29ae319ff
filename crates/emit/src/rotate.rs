//! Rotating registers: neighbors in an array that a nest stores itself are read from its last
//! vectors, which are in registers. With ascending indices these are the vectors below, with
//! descending ones those above. Lanes of nonexistent neighbors have arbitrary values, which no code
//! uses.

use lambada_loops::{Cell, Op, Operand, Step, Ty};
use lambada_prim::{Prim, ScalarTy};

use super::stride::Stride;
use super::sums::Sum;
use super::{Copy, Emitter};
use lambada_graph::placed::{Direction, Nest};
use lambada_graph::{Array, ArrayId, Node, NodeId, neighbor};

/// An array whose last vectors are in registers.
pub(super) struct Rotating {
    /// An element, at the current indices.
    body: NodeId,
    direction: Direction,
    /// By age in vectors.
    before: Vec<Cell>,
}

impl Emitter<'_> {
    /// The direction of the loop over the axis at this depth, if it has one.
    pub(super) fn direction(&self, nest: &Nest, depth: usize) -> Option<Direction> {
        nest.direction.filter(|_| depth + 1 == nest.axes.len())
    }

    /// Registers for the nest's reads of its own arrays.
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

    /// The number of last vectors that an element at this distance needs; `None` if it comes later.
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
            // From a lane of the vector at this distance below, to the vector above that.
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

    /// The vector from `before` iterations ago; 0 is the current one.
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

    /// Makes the vector of this iteration the last one.
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

    /// The loops over an axis with a direction, with some ends separated.
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

    /// The index of an iteration, mirrored about the middle of the range if the loop counts down.
    pub(super) fn mirrored(&mut self, (start, end): (Operand, Operand), step: i64) -> Operand {
        let last = self.code.int(Prim::SubInt, end, Operand::int(1));
        let last = self.code.int(Prim::SubInt, last, start);
        let last = self.code.int(Prim::BitAnd, last, Operand::int(-step));
        let last = self.code.int(Prim::AddInt, start, last);
        self.code.int(Prim::AddInt, start, last)
    }
}

//! The axes of loops. Loops whose extents are the same definition share an axis, unless one is
//! inside of the other. Among several axes, the one that has written or read most operands of the
//! loop wins, so a loop and its reverse share theirs.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Block, Exp, Op, Ty, Var};

use super::{Distributor, Surrounding, View};
use lambada_graph::{ArrayId, Axis, AxisId, NodeId};

/// The axes so far.
#[derive(Default)]
pub(super) struct Ranges {
    /// By extent, in order of creation.
    known: FxHashMap<NodeId, Vec<AxisId>>,
    /// The axis that first wrote or read the k-th index of an array or accumulator.
    seen: FxHashMap<(Indexed, usize), AxisId>,
}

/// An array or an accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Indexed {
    Array(ArrayId),
    Accumulator(Var),
}

impl Distributor<'_> {
    /// The axis for a loop with this index variable.
    pub(super) fn axis_of_loop(
        &mut self,
        index: Var,
        extent: NodeId,
        body: &Block,
        sequential: bool,
    ) -> AxisId {
        let places = self.places(index, body);
        let votes: Vec<AxisId> = places.iter().filter_map(|place| self.vote(*place)).collect();
        let hint = self.names.hint(index);
        let axis = self.axis(hint, extent, sequential, &votes, &[]);
        for place in places {
            self.ranges.seen.entry(place).or_insert(axis);
        }
        axis
    }

    /// An axis for the k-th remaining index of an array, other than those taken.
    pub(super) fn axis_along(&mut self, view: &View, k: usize, taken: &mut Vec<AxisId>) -> AxisId {
        let extent = self.dims(view)[k];
        let place = (Indexed::Array(view.base), view.prefix.len() + k);
        let votes: Vec<AxisId> = self.vote(place).into_iter().collect();
        let axis = self.axis("k".into(), extent, false, &votes, taken);
        self.ranges.seen.entry(place).or_insert(axis);
        taken.push(axis);
        axis
    }

    /// Axes for the sizes of a type, preferably those of an array.
    pub(super) fn axes_of(&mut self, ty: &Ty, like: Option<&View>) -> Vec<AxisId> {
        let mut taken = Vec::new();
        for (k, dim) in ty.dims.iter().enumerate() {
            let extent = self.scalar(*dim);
            let place = like.map(|view| (Indexed::Array(view.base), view.prefix.len() + k));
            let votes: Vec<AxisId> = place.and_then(|place| self.vote(place)).into_iter().collect();
            let axis = self.axis("k".into(), extent, false, &votes, &taken);
            taken.push(axis);
        }
        taken
    }

    /// An axis of that extent other than those taken.
    pub(super) fn free_axis(&mut self, hint: Rc<str>, extent: NodeId, taken: &[AxisId]) -> AxisId {
        self.axis(hint, extent, false, &[], taken)
    }

    fn vote(&self, (indexed, k): (Indexed, usize)) -> Option<AxisId> {
        let own = match indexed {
            Indexed::Array(array) => self.own_axes(array).get(k).copied(),
            Indexed::Accumulator(_) => None,
        };
        own.or_else(|| self.ranges.seen.get(&(indexed, k)).copied())
    }

    fn axis(
        &mut self,
        hint: Rc<str>,
        extent: NodeId,
        sequential: bool,
        votes: &[AxisId],
        taken: &[AxisId],
    ) -> AxisId {
        let graph = &self.to.graph;
        let used = |axis: AxisId| {
            let around = |place: &Surrounding| match place {
                Surrounding::Axis(other) => *other == axis,
                Surrounding::Branch(_) | Surrounding::Part(..) => false,
            };
            taken.contains(&axis) || self.around.iter().any(around)
        };
        let known = self.ranges.known.get(&extent).map_or(&[][..], |axes| axes);
        let fitting = known
            .iter()
            .copied()
            .filter(|axis| graph.axis(*axis).sequential == sequential && !used(*axis));
        let votes = |axis: &AxisId| votes.iter().filter(|vote| *vote == axis).count();
        // Of equals, the first.
        if let Some(axis) = fitting.rev().max_by_key(votes) {
            return axis;
        }
        let axis = self.to.axis(Axis { hint, extent, sequential });
        self.ranges.known.entry(extent).or_default().push(axis);
        axis
    }

    /// The positions at which the body of a loop uses its index, in arrays and accumulators from
    /// before the loop.
    fn places(&mut self, index: Var, body: &Block) -> Vec<(Indexed, usize)> {
        let mut accesses: Vec<(Var, usize, bool)> = Vec::new();
        body.each(&mut |stm| {
            let Exp::Op(op) = &stm.exp else { return };
            let Some((array, at)) = op.access() else { return };
            let adds = matches!(op, Op::Accumulate { .. });
            let positions = at.iter().enumerate().filter(|(_, i)| **i == Atom::Var(index));
            accesses.extend(positions.map(|(k, _)| (array, k, adds)));
        });
        let mut places = Vec::new();
        for (var, k, adds) in accesses {
            if adds {
                places.push((Indexed::Accumulator(var), k));
            } else if self.values.contains_key(&var) || !self.bound.contains(&var) {
                let view = self.view(var);
                places.push((Indexed::Array(view.base), view.prefix.len() + k));
            }
        }
        places
    }
}

//! Sequential loops inside of nests. Their states are scalars for each combination of the other
//! indices, so they stand in registers, and the loop is the innermost one. A nest over the indices
//! of a loop recomputes the states; other nests read them from a buffer.

use std::collections::BTreeSet;

use super::{NestKind, Placer};
use lambada_graph::{Aliases, Array, Axes, AxisId, Builder, Graph, LoopId, NodeId, Part, reach};
use rustc_hash::{FxHashMap, FxHashSet};

/// The definition that is being visited.
#[derive(Clone, Default)]
pub(super) struct Current {
    domain: Axes,
    reduced: Axes,
    guarded: bool,
    /// The scalars visited, each with its pass.
    pub(super) seen: FxHashSet<(NodeId, u32)>,
    /// The loops that its nest runs.
    pub(super) carries: BTreeSet<LoopId>,
}

/// Whether the states of all loops are scalars, and none is a reduction over states.
pub(super) fn fit(graph: &Graph) -> bool {
    let all = (0..graph.loops.len() as u32).map(LoopId);
    all.filter(|l| !graph.loop_(*l).carries.is_empty()).all(|l| fits(graph, l))
}

fn fits(graph: &Graph, l: LoopId) -> bool {
    let known = graph.loop_(l);
    let scalars = known.carries.iter().all(|c| graph.rank(c.init) == 0 && graph.rank(c.next) == 0);
    if !scalars || graph.loop_facts(l).1 {
        return false;
    }
    let simple = |part: Part| match part {
        Part::Node(node) => graph.reduction(node).is_none(),
        Part::Array(array) => match graph.array(array) {
            Array::Map(axes, _) => axes.is_empty(),
            array => matches!(array, Array::Carried(..)),
        },
        Part::Axis(_) | Part::Loop(_) => true,
    };
    dependents(graph, l).into_iter().all(simple)
}

/// The states of a loop and the parts of its next states that depend on them. All of them depend
/// on the axis of the loop, so the walk goes no further.
fn dependents(graph: &Graph, l: LoopId) -> FxHashSet<Part> {
    let known = graph.loop_(l);
    let nexts = known.carries.iter().map(|c| Part::Array(c.next)).collect();
    let (mut users, mut open) = (FxHashMap::<Part, Vec<Part>>::default(), Vec::new());
    reach(graph, &Aliases::default(), nexts, &mut |part, _| {
        let inside = match part {
            Part::Node(node) => graph.free(node).contains(known.axis),
            Part::Array(array) => graph.array_facts(array).free.contains(known.axis),
            Part::Axis(axis) => graph.free(graph.axis(axis).extent).contains(known.axis),
            Part::Loop(_) => false,
        };
        if inside {
            graph.parts(part, &mut |p| users.entry(p).or_default().push(part));
            if let Part::Array(array) = part
                && matches!(graph.array(array), Array::Carried(other, _) if *other == l)
            {
                open.push(part);
            }
        }
        inside
    });
    let mut found = FxHashSet::default();
    while let Some(part) = open.pop() {
        if found.insert(part) {
            open.extend(users.get(&part).into_iter().flatten());
        }
    }
    found
}

/// Adds a node for each scalar state of a loop, and for each scalar output.
pub(super) fn with_states(graph: &Graph) -> Graph {
    if graph.loops.is_empty() {
        return graph.clone();
    }
    let mut to = Builder::of(graph.clone());
    let states = graph.loops.iter().flat_map(|l| &l.carries).flat_map(|c| [c.init, c.next]);
    let last = graph.outputs.iter().map(|o| o.array);
    for array in states.chain(last).filter(|array| graph.rank(*array) == 0) {
        to.at(array, Vec::new());
    }
    to.graph
}

/// The axes that a loop runs through: its own, and those that its state depends on.
fn around(graph: &Graph, l: LoopId) -> Axes {
    graph.loop_facts(l).0.union(&Axes::one(graph.loop_(l).axis))
}

/// The loop of which a scalar is a state, and whether it is the state after the last iteration.
fn state(graph: &Graph, node: NodeId) -> Option<(LoopId, bool)> {
    let array = graph.read_of(node)?;
    if let Array::Final(l, _) = graph.array(array) {
        return Some((*l, true));
    }
    if let Array::Carried(l, _) = graph.array(array) { Some((*l, false)) } else { None }
}

impl Placer<'_> {
    /// Begins a definition; returns the interrupted one.
    pub(super) fn begin(&mut self, domain: &Axes, reduced: &Axes, guarded: bool) -> Current {
        let (domain, reduced) = (domain.clone(), reduced.clone());
        let new = Current { domain, reduced, guarded, ..Current::default() };
        std::mem::replace(&mut self.current, new)
    }

    /// Ends a definition; returns the loops that its nest runs.
    pub(super) fn end(&mut self, outer: Current) -> BTreeSet<LoopId> {
        std::mem::replace(&mut self.current, outer).carries
    }

    /// The kind, the domain and the reduced axes of the nest that computes a last state.
    pub(super) fn last(&self, node: NodeId) -> Option<(NestKind, Axes, Axes)> {
        let (l, true) = state(self.graph, node)? else { return None };
        Some((NestKind::Last, around(self.graph, l), Axes::one(self.graph.loop_(l).axis)))
    }

    /// The loop whose state a scalar is.
    pub(super) fn loop_of(&self, node: NodeId) -> Option<LoopId> {
        state(self.graph, node).map(|(l, _)| l)
    }

    /// Whether a scalar is a state that the nest computes itself, because it runs the loop.
    pub(super) fn is_carried(&self, node: NodeId) -> bool {
        matches!(state(self.graph, node), Some((l, false)) if self.may_carry(l))
    }

    /// Whether the nest of the current definition may run a loop.
    fn may_carry(&self, l: LoopId) -> bool {
        let (graph, current) = (self.graph, &self.current);
        let axis = graph.loop_(l).axis;
        let same = |other: &LoopId| graph.loop_(*other).axis == axis;
        // Elements that each iteration adds to are complete within a block only if the reduction
        // runs over the blocked axis.
        let registers = current.reduced.is_empty() || current.reduced.contains(axis);
        let added = registers || self.block.is_none_or(|block| current.reduced.contains(block));
        current.domain == around(graph, l)
            && current.carries.iter().all(same)
            && added
            && !current.guarded
            && self.block != Some(axis)
    }

    /// Runs a loop in the nest of the current definition.
    pub(super) fn carry(
        &mut self,
        l: LoopId,
        pass: u32,
        domain: &Axes,
        wanted: &mut BTreeSet<usize>,
    ) -> Option<()> {
        if !self.may_carry(l) {
            return None;
        }
        if !self.current.carries.insert(l) {
            return Some(());
        }
        for carry in &self.graph.loop_(l).carries {
            for array in [carry.init, carry.next] {
                let scalar = self.graph.scalar(array)?;
                self.visit(scalar, pass, domain, wanted)?;
            }
        }
        Some(())
    }

    /// Whether one of the loops runs over an axis.
    pub(super) fn runs(&self, axis: AxisId, carries: &BTreeSet<LoopId>) -> bool {
        carries.iter().any(|l| self.graph.loop_(*l).axis == axis)
    }
}

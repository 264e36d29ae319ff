//! Indices that are in range once the checks of the program have passed.

use lambada_prim::Prim;
use rustc_hash::FxHashSet;

use crate::algebra::ends;
use lambada_graph::{Affine, Axes, Effect, Graph, NodeId};

/// Indices that checks compare with sizes, with these sizes: once the checks have passed, the index
/// is in range for all values of its axes.
pub(crate) fn checked(graph: &Graph) -> FxHashSet<(NodeId, NodeId)> {
    let mut passed = Passed { graph, low: FxHashSet::default(), high: FxHashSet::default() };
    passed.effects(&graph.effects, &Axes::default());
    let Passed { low, high, .. } = passed;
    let natural = |index: NodeId| {
        let (least, _) = ends(graph, &Affine::of(graph, index), &Affine::default());
        least.is_some_and(|least| least >= 0)
    };
    let in_range = |(index, _): &(NodeId, NodeId)| low.contains(index) || natural(*index);
    high.into_iter().filter(in_range).collect()
}

/// Comparisons that are checked unconditionally.
struct Passed<'a> {
    graph: &'a Graph,
    /// Nodes that are not negative.
    low: FxHashSet<NodeId>,
    /// Pairs of which the first is less than the second.
    high: FxHashSet<(NodeId, NodeId)>,
}

impl Passed<'_> {
    fn effects(&mut self, effects: &[Effect], around: &Axes) {
        for effect in effects {
            match effect {
                Effect::Check { cond, .. } => self.holds(*cond, around),
                Effect::For(axis, body) => {
                    // If the extent depends on other indices, the check covers only a part of the
                    // axis.
                    if self.graph.free(self.graph.axis(*axis).extent).is_empty() {
                        self.effects(body, &around.union(&Axes::one(*axis)));
                    }
                }
                Effect::If(..) => {}
            }
        }
    }

    /// Records a condition that holds for all indices of the axes around. These must be the axes of
    /// the condition: if another one is empty, nothing has been checked.
    fn holds(&mut self, cond: NodeId, around: &Axes) {
        let graph = self.graph;
        match graph.operation(cond) {
            Some((Prim::And, parts)) => parts.iter().for_each(|part| self.holds(*part, around)),
            Some((Prim::LeInt, [a, b])) if graph.free(*b) == around => {
                let natural = graph.lit(*a).is_some_and(|least| least.int() >= 0);
                self.low.extend(natural.then_some(*b));
            }
            Some((Prim::LtInt, [a, b])) if graph.free(*a) == around => {
                _ = self.high.insert((*a, *b));
            }
            Some(_) | None => {}
        }
    }
}

//! Checks that cannot fail where they stand: what they ask for holds by the conditions and the
//! checks before. And what all checks together say of indices: that they are in range, for all that
//! come after the checks.
//!
//! *Keeps* which check fails first.

use lambada_prim::{Prim, Scalar};
use rustc_hash::FxHashSet;

use crate::algebra::ends;
use lambada_graph::{Affine, Axes, Effect, Graph, NodeId};

/// The graph without such checks.
pub(crate) fn without_evident_checks(graph: &Graph) -> Graph {
    let mut known = Known { graph, holds: Vec::new() };
    let effects = known.effects(&graph.effects);
    let mut graph = graph.clone();
    graph.effects = effects;
    graph
}

struct Known<'a> {
    graph: &'a Graph,
    /// What holds at this place.
    holds: Vec<NodeId>,
}

impl Known<'_> {
    fn holds(&self, cond: NodeId) -> bool {
        self.graph.lit(cond) == Some(Scalar::Bool(true))
            || self.holds.contains(&cond)
            || matches!(self.graph.operation(cond), Some((Prim::And, parts))
                if parts.iter().all(|part| self.holds(*part)))
    }

    /// A condition holds, and all of its parts.
    fn learn(&mut self, cond: NodeId) {
        self.holds.push(cond);
        let graph = self.graph;
        let is_no = |node: NodeId| graph.lit(node) == Some(Scalar::Bool(false));
        let parts = match (graph.choice(cond), graph.operation(cond)) {
            (Some((a, b, no)), _) if is_no(no) => [a, b],
            (_, Some((Prim::SelectBool, &[a, b, no]))) if is_no(no) => [a, b],
            (_, Some((Prim::And, &[a, b]))) => [a, b],
            _ => return, // it has none
        };
        parts.into_iter().for_each(|part| self.learn(part));
    }

    fn inside(&mut self, cond: Option<NodeId>, effects: &[Effect]) -> Vec<Effect> {
        let mark = self.holds.len();
        cond.into_iter().for_each(|cond| self.learn(cond));
        let effects = self.effects(effects);
        self.holds.truncate(mark);
        effects
    }

    fn effects(&mut self, effects: &[Effect]) -> Vec<Effect> {
        effects.iter().filter_map(|effect| self.effect(effect)).collect()
    }

    fn effect(&mut self, effect: &Effect) -> Option<Effect> {
        match effect {
            Effect::Check { cond, .. } => {
                let new = !self.holds(*cond);
                self.holds.push(*cond);
                new.then(|| effect.clone())
            }
            Effect::For(axis, body) => {
                let body = self.inside(None, body);
                (!body.is_empty()).then_some(Effect::For(*axis, body))
            }
            Effect::If(cond, then, otherwise) => {
                let then = self.inside(Some(*cond), then);
                let otherwise = self.inside(None, otherwise);
                let any = !then.is_empty() || !otherwise.is_empty();
                any.then_some(Effect::If(*cond, then, otherwise))
            }
        }
    }
}

/// Indices that checks compare with sizes, with these sizes: where the checks have passed, an index
/// is in range whatever the indices that it depends on are.
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

/// What has been checked without a condition around.
struct Passed<'a> {
    graph: &'a Graph,
    /// What is not negative.
    low: FxHashSet<NodeId>,
    /// What is less than something.
    high: FxHashSet<(NodeId, NodeId)>,
}

impl Passed<'_> {
    fn effects(&mut self, effects: &[Effect], around: &Axes) {
        for effect in effects {
            match effect {
                Effect::Check { cond, .. } => self.holds(*cond, around),
                Effect::For(axis, body) => {
                    // Where the extent depends on other indices, the check is made for some of the
                    // axis only.
                    if self.graph.free(self.graph.axis(*axis).extent).is_empty() {
                        self.effects(body, &around.union(&Axes::one(*axis)));
                    }
                }
                Effect::If(..) => {}
            }
        }
    }

    /// A condition that holds for all indices of the axes around. If one of these has no index,
    /// nothing has been checked; so they are those of the condition.
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

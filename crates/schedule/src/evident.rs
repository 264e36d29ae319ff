//! Checks that cannot fail where they stand: what they ask for holds by the conditions and the checks before.
//!
//! *Keeps* which check fails first.

use lambada_prim::{Prim, Scalar};

use crate::graph::{Effect, Graph, NodeId};

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

    fn inside(&mut self, cond: Option<NodeId>, effects: &[Effect]) -> Vec<Effect> {
        let mark = self.holds.len();
        self.holds.extend(cond);
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

//! Checks, hoisted out of loops that they do not depend on; a check that has passed is not
//! repeated.

use lambada_prim::{Prim, Scalar};
use rustc_hash::FxHashSet;

use super::Distributor;
use lambada_graph::{Axes, AxisId, Effect, Graph, NodeId, Part};

impl Distributor<'_> {
    /// `for axis { effects }`. The effects before the first that depends on the index happen once,
    /// if the loop runs at all: the first failure is the same.
    pub(super) fn effects_along(&mut self, axis: AxisId, mut effects: Vec<Effect>) {
        let own = Axes::one(axis);
        let graph = &self.to.graph;
        let first = effects.iter().position(|e| depends(graph, e, &own)).unwrap_or(effects.len());
        let inside = effects.split_off(first);
        if !effects.is_empty() {
            let extent = graph.axis(axis).extent;
            let none = self.to.lit(Scalar::Int(0));
            let runs = self.to.prim(Prim::LtInt, [none, extent]);
            self.effect(Effect::If(runs, effects, Vec::new()));
        }
        if !inside.is_empty() {
            self.effect(Effect::For(axis, inside));
        }
    }
}

fn depends(graph: &Graph, effect: &Effect, axes: &Axes) -> bool {
    let mut found = false;
    effect.parts(&mut |part| {
        found |= match part {
            Part::Node(node) => graph.free(node).meets(axes),
            Part::Array(array) => graph.array_facts(array).free.meets(axes),
            Part::Axis(axis) => graph.reach(axis).meets(axes),
            Part::Loop(l) => graph.loop_facts(l).0.meets(axes),
        }
    });
    found
}

/// A loop or a branch around a check.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Within {
    For(AxisId),
    If(NodeId, bool),
}

/// The checks that have passed, with the constructs around them.
#[derive(Default)]
pub(super) struct Passed {
    within: Vec<Within>,
    checks: FxHashSet<(Vec<Within>, NodeId)>,
}

impl Passed {
    /// Drops the checks that have passed before.
    pub(super) fn without(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        effects.into_iter().filter_map(|effect| self.effect(effect)).collect()
    }

    fn inside(&mut self, within: Within, effects: Vec<Effect>) -> Vec<Effect> {
        self.within.push(within);
        let effects = self.without(effects);
        self.within.pop();
        effects
    }

    fn effect(&mut self, effect: Effect) -> Option<Effect> {
        match effect {
            Effect::Check { cond, .. } => {
                // The earlier check may have had fewer constructs around it.
                let known = (0..=self.within.len())
                    .any(|k| self.checks.contains(&(self.within[k..].to_vec(), cond)));
                self.checks.insert((self.within.clone(), cond));
                (!known).then_some(effect)
            }
            Effect::For(axis, body) => {
                let body = self.inside(Within::For(axis), body);
                (!body.is_empty()).then_some(Effect::For(axis, body))
            }
            Effect::If(cond, then, otherwise) => {
                let then = self.inside(Within::If(cond, true), then);
                let otherwise = self.inside(Within::If(cond, false), otherwise);
                let any = !then.is_empty() || !otherwise.is_empty();
                any.then_some(Effect::If(cond, then, otherwise))
            }
        }
    }
}

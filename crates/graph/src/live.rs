//! Liveness: the definitions, and the parts of the states of loops, that a program needs.

use std::collections::BTreeSet;

use super::{Array, ArrayId, Carry, Graph, LoopId, NodeId, Part};
use rustc_hash::{FxHashMap, FxHashSet};

/// Replacements of arrays.
pub type Aliases = FxHashMap<ArrayId, ArrayId>;

/// The live parts of states.
#[derive(Debug, Default)]
pub(super) struct Live {
    states: FxHashMap<LoopId, BTreeSet<u32>>,
}

impl Live {
    pub(super) fn of(graph: &Graph, aliases: &Aliases) -> Live {
        let mut live = Live::default();
        reach(graph, aliases, roots(graph), &mut |part, _| {
            if let Part::Array(array) = part
                && let Array::Carried(l, k) | Array::Final(l, k) = graph.array(array)
            {
                live.states.entry(*l).or_default().insert(*k);
            }
            true
        });
        live
    }

    /// The number of a part among the live ones.
    pub(super) fn number(&self, l: LoopId, k: u32) -> u32 {
        self.states.get(&l).map_or(0, |live| live.range(..k).count() as u32)
    }

    pub(super) fn carries<'a>(&self, graph: &'a Graph, l: LoopId) -> Vec<&'a Carry> {
        let carries = &graph.loop_(l).carries;
        let live = self.states.get(&l).into_iter().flatten();
        live.map(|k| &carries[*k as usize]).collect()
    }
}

/// The outputs and effects of a program.
pub fn roots(graph: &Graph) -> Vec<Part> {
    let mut roots: Vec<Part> = graph.outputs.iter().map(|o| Part::Array(o.array)).collect();
    graph.effects.iter().for_each(|effect| effect.parts(&mut |part| roots.push(part)));
    roots
}

/// Visits the definitions that the roots need, each once. If `visit` returns false, only the parts
/// that it adds follow.
pub fn reach(
    graph: &Graph,
    aliases: &Aliases,
    roots: Vec<Part>,
    visit: &mut dyn FnMut(Part, &mut Vec<Part>) -> bool,
) {
    let (mut open, mut seen) = (roots, FxHashSet::default());
    while let Some(part) = open.pop() {
        let other = if let Part::Array(array) = part { aliases.get(&array) } else { None };
        let part = other.map_or(part, |other| Part::Array(*other));
        if !seen.insert(part) || !visit(part, &mut open) {
            continue;
        }
        graph.parts(part, &mut |p| open.push(p));
    }
}

/// The definitions that the roots need, each before its parts, but for the states of loops.
pub fn users_first(graph: &Graph, roots: Vec<Part>) -> Vec<Part> {
    let (mut order, mut seen) = (Vec::new(), FxHashSet::default());
    // The second time that a definition is met, its parts are done.
    let mut open: Vec<(Part, bool)> = roots.into_iter().map(|part| (part, false)).collect();
    while let Some((part, done)) = open.pop() {
        if done {
            order.push(part);
        } else if seen.insert(part) {
            open.push((part, true));
            graph.parts(part, &mut |p| open.push((p, false)));
        }
    }
    order.reverse();
    order
}

/// Whether some parts need an array, other than by way of others.
pub fn needs(graph: &Graph, from: Vec<Part>, array: ArrayId, besides: &[ArrayId]) -> bool {
    let mut found = false;
    reach(graph, &Aliases::default(), from, &mut |part, _| {
        found |= part == Part::Array(array);
        !besides.iter().any(|besides| part == Part::Array(*besides))
    });
    found
}

/// Whether `is` holds for a node reachable from `from`, each asked once; it also pushes the nodes
/// to visit.
pub fn any_below(from: NodeId, mut is: impl FnMut(NodeId, &mut Vec<NodeId>) -> bool) -> bool {
    let (mut open, mut seen) = (vec![from], FxHashSet::default());
    while let Some(node) = open.pop() {
        if seen.insert(node) && is(node, &mut open) {
            return true;
        }
    }
    false
}

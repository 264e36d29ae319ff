//! Placeable graphs, and the order of their axes.

use super::guards;
use lambada_graph::{
    Array, ArrayId, AxisId, Effect, Graph, Mechanism, Mechanisms, Node, NodeId, Part,
};
use rustc_hash::FxHashSet;

/// Whether a graph can be placed.
pub fn placeable(graph: &Graph) -> bool {
    let simple = |axis: &lambada_graph::Axis| graph.free(axis.extent).is_empty();
    let guarded = guards(graph);
    let costly = |k: usize| {
        let node = NodeId(k as u32);
        let lazy = graph.facts(node).lazy && graph.reduction(node).is_some();
        lazy && !guarded.contains_key(&node)
    };
    let array = |k: usize| {
        let (array, facts) = (&graph.arrays[k], graph.array_facts(ArrayId(k as u32)));
        let given = matches!(array, Array::Input(_) | Array::Constant(_));
        let map = matches!(array, Array::Map(..) | Array::Carried(..) | Array::Final(..));
        let updated = matches!(array, Array::Update(..));
        given || !updated && !facts.lazy && (map || facts.free.is_empty())
    };
    super::carries::fit(graph)
        && graph.axes.iter().all(simple)
        && !(0..graph.nodes.len()).any(costly)
        && (0..graph.arrays.len()).all(array)
        && is_plain(graph)
}

/// Whether no check and no extent needs a nest: they are computed before the nests.
fn is_plain(graph: &Graph) -> bool {
    let extents = graph.axes.iter().map(|axis| Part::Node(axis.extent));
    let mut wanted: Vec<Part> = extents.collect();
    graph.effects.iter().for_each(|effect: &Effect| effect.parts(&mut |part| wanted.push(part)));
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    while let Some(part) = wanted.pop() {
        match part {
            Part::Node(node) if seen.insert(node) => {
                if matches!(graph.node(node), Node::Reduce(..)) {
                    return false;
                }
                graph.node(node).parts(&mut |part| wanted.push(part));
            }
            Part::Axis(axis) => wanted.push(Part::Node(graph.axis(axis).extent)),
            Part::Array(array) => {
                if !matches!(graph.array(array), Array::Input(_) | Array::Constant(_)) {
                    return false;
                }
            }
            Part::Loop(_) => return false,
            Part::Node(_) => {}
        }
    }
    true
}

/// P6: the order of the axes: first the blocked one, then by the number of reads and outputs in
/// which an axis is contiguous.
pub(super) fn order(graph: &Graph, block: Option<AxisId>, by: Mechanisms) -> Vec<AxisId> {
    let mut score = vec![0i64; graph.axes.len()];
    for node in &graph.nodes {
        if let Node::At(_, index) = node
            && let Some(axis) = index.last().and_then(|i| graph.index(*i))
        {
            score[axis.0 as usize] += 1;
        }
    }
    for output in &graph.outputs {
        if let Array::Map(axes, _) = graph.array(output.array)
            && let Some(axis) = axes.last()
        {
            score[axis.0 as usize] += 1;
        }
    }
    let mut axes: Vec<AxisId> = (0..graph.axes.len() as u32).map(AxisId).collect();
    let contiguous = by.has(Mechanism::AxisOrder);
    let score = |axis: &AxisId| if contiguous { -score[axis.0 as usize] } else { 0 };
    axes.sort_by_key(|axis| (Some(*axis) != block, score(axis)));
    axes
}

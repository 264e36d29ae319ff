//! Short axes that a nest unrolls. Each copy of the body has a constant index, so comparisons with
//! constants are decided, and each element of a literal is computed for its own index only. So the
//! entries of a small matrix for each index of a long axis are one nest along that axis.

use lambada_prim::Prim;
use rustc_hash::FxHashSet;

use lambada_graph::placed::WHOLE;
use lambada_graph::{Axes, AxisId, Graph, NodeId};

/// The largest extent of an unrolled axis.
const INDICES: i64 = 32;
/// The most copies of the body.
const COPIES: i64 = 64;
/// The most operations of all copies together.
const OPERATIONS: i64 = 4096;
/// The axes of an array that the nest storing its elements unrolls.
pub(super) fn whole(graph: &Graph, axes: &[AxisId], body: NodeId, block: Option<AxisId>) -> Axes {
    let none = Axes::default();
    let few = |axis: &AxisId| Some(*axis) != block && indices(graph, *axis).is_some();
    let candidates: Axes = axes.iter().copied().filter(few).collect();
    // A state is computed by the nest that runs its loop.
    if candidates.is_empty() || !graph.loops.is_empty() {
        return none;
    }
    let operations = operations(graph, body);
    let decided = operations.iter().filter(|node| is_comparison(graph, **node));
    let decided = decided.map(|node| graph.free(*node)).filter(|free| free.is_subset(&candidates));
    let compared = decided.fold(none.clone(), |all, free| all.union(free));
    let (mut whole, mut copies) = (Vec::new(), 1);
    for axis in axes.iter().rev().filter(|axis| compared.contains(**axis)) {
        let indices = indices(graph, *axis).unwrap_or(INDICES);
        if whole.len() < WHOLE && copies * indices <= COPIES {
            whole.push(*axis);
            copies *= indices;
        }
    }
    let whole: Axes = whole.into_iter().collect();
    // Lanes need one axis that is not unrolled.
    if axes.iter().all(|axis| whole.contains(*axis)) {
        return none;
    }
    let times = |node: &NodeId| {
        let own = graph.free(*node).intersection(&whole);
        own.iter().filter_map(|axis| indices(graph, axis)).product::<i64>()
    };
    if operations.iter().map(times).sum::<i64>() > OPERATIONS { none } else { whole }
}

/// The extent of an axis, if it is small.
fn indices(graph: &Graph, axis: AxisId) -> Option<i64> {
    let extent = graph.lit(graph.axis(axis).extent)?.int();
    (2..=INDICES).contains(&extent).then_some(extent)
}

fn is_comparison(graph: &Graph, node: NodeId) -> bool {
    let op = graph.operation(node).map(|(op, _)| op);
    matches!(op, Some(Prim::EqInt | Prim::NeInt | Prim::LtInt | Prim::LeInt))
}

/// The scalars that a scalar is computed from, but for those inside of reductions and arrays.
fn operations(graph: &Graph, node: NodeId) -> FxHashSet<NodeId> {
    let (mut found, mut open) = (FxHashSet::default(), vec![node]);
    while let Some(node) = open.pop() {
        if found.insert(node) && graph.reduction(node).is_none() {
            graph.node(node).scalars(&mut |part| open.push(part));
        }
    }
    found
}

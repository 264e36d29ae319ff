//! Nominal sizes of a graph: which axes are those of data, and long?
//!
//! What is summed for each index of another axis is *within* that one. In a posterior the coordinates are within the components, and both within the points:
//! the points are the data. In its gradient each of them is within the others; then the data are what no result has an axis of.

use std::collections::HashSet;

use crate::cost::Nominal;
use crate::graph::{Array, AxisId, Graph, Node, NodeId};

/// The nominal number of data.
const MANY: i64 = 1024;

/// The nominal number of indices of what is within the data: coordinates, components, features are often few, and nests have to be right for these, too.
const FEW: i64 = 12;

/// Nominal sizes.
pub(crate) fn usual(graph: &Graph) -> Nominal {
    let given = |axis: AxisId| kept(graph, graph.axis(axis).extent);
    let (within, results) = (within(graph), of_results(graph));
    let sizes: HashSet<u32> =
        (0..graph.axes.len() as u32).filter_map(|k| given(AxisId(k))).collect();
    let outermost = |size: &u32| {
        !within.iter().any(|(inner, outer)| inner == size && !within.contains(&(*outer, *inner)))
    };
    let outside: Vec<u32> = sizes.iter().copied().filter(outermost).collect();
    let data: Vec<u32> = outside.iter().copied().filter(|size| !results.contains(size)).collect();
    let many = if data.is_empty() { outside } else { data };
    let nominal = |k: u32| (k, if many.contains(&k) { MANY } else { FEW });
    Nominal::of(sizes.into_iter().map(nominal))
}

/// Pairs of sizes: over the first one something is summed for each index of an axis of the second one.
fn within(graph: &Graph) -> HashSet<(u32, u32)> {
    let given = |axis: AxisId| kept(graph, graph.axis(axis).extent);
    let mut pairs = HashSet::new();
    for (k, node) in graph.nodes.iter().enumerate() {
        let Node::Reduce(_, axes, _) = node else { continue };
        let outer: Vec<u32> = graph.free(NodeId(k as u32)).iter().filter_map(given).collect();
        for inner in axes.iter().filter_map(given) {
            pairs.extend(outer.iter().filter(|size| **size != inner).map(|size| (inner, *size)));
        }
    }
    pairs
}

/// The sizes of the results.
fn of_results(graph: &Graph) -> HashSet<u32> {
    let axes = graph.outputs.iter().filter_map(|output| match graph.array(output.array) {
        Array::Map(axes, _) => Some(axes),
        Array::Input(_)
        | Array::Constant(_)
        | Array::Items(_)
        | Array::Scatter(..)
        | Array::Update(..)
        | Array::Carried(..)
        | Array::Final(..) => None,
    });
    axes.flatten().filter_map(|axis| kept(graph, graph.axis(*axis).extent)).collect()
}

/// The input that an extent is.
pub(crate) fn kept(graph: &Graph, extent: NodeId) -> Option<u32> {
    match graph.node(extent) {
        Node::At(array, _) => match graph.array(*array) {
            Array::Input(k) => Some(*k),
            Array::Constant(_)
            | Array::Items(_)
            | Array::Map(..)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => None,
        },
        Node::Lit(_) | Node::Index(_) | Node::Prim(..) | Node::Choose(..) | Node::Reduce(..) => {
            None
        }
    }
}

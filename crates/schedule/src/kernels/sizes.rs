//! The sizes for which a placement pays. If the axis of the lanes is short, most of its indices are
//! left over for narrower lanes or single steps, and plain loops without blocks and buffers are
//! faster.

use lambada_prim::Scalar;

use super::kept;
use lambada_graph::placed::{Nest, Placed};
use lambada_graph::{AxisId, Graph, NodeId, Nominal, any_below};

/// The least number of full vectors along a blocked axis, whose remainder runs one by one. Any
/// other axis needs one.
const TIMES: i64 = 2;

/// The sizes for which a placement pays.
pub(super) enum Enough {
    /// All sizes.
    Always,
    /// No sizes.
    Never,
    /// Sizes for which the node, arithmetic on inputs, is at least the number.
    AtLeast(i64, NodeId),
}

/// Whether the main axis is long enough for the lanes.
pub(super) fn enough(placed: &Placed, sizes: &Nominal, lanes: u16) -> Enough {
    let graph = &placed.graph;
    let Some(axis) = main_axis(placed, sizes) else { return Enough::Always };
    let extent = graph.axis(axis).extent;
    let times = if placed.block == Some(axis) { TIMES } else { 1 };
    let least = times * i64::from(lanes);
    if let Some(Scalar::Int(known)) = graph.lit(extent) {
        return if known >= least { Enough::Always } else { Enough::Never };
    }
    if !is_arithmetic(graph, extent) {
        return Enough::Never;
    }
    Enough::AtLeast(least, extent)
}

/// The blocked axis, or else the axis of the lanes in the nest with the largest volume.
fn main_axis(placed: &Placed, sizes: &Nominal) -> Option<AxisId> {
    let volume = |nest: &Nest| sizes.volume(&placed.graph, &nest.domain());
    let nests = placed.passes.iter().flat_map(|pass| &pass.nests);
    let most = nests.filter(|nest| nest.vector.is_some());
    let most = most.max_by(|a, b| volume(a).total_cmp(&volume(b)));
    placed.block.or(most.and_then(|nest| nest.vector))
}

/// Whether a node is arithmetic on scalar inputs.
fn is_arithmetic(graph: &Graph, node: NodeId) -> bool {
    let scalar = |k: u32| graph.inputs[k as usize].dims.is_empty();
    !any_below(node, |node, open| {
        let known = graph.lit(node).is_some() || kept(graph, node).is_some_and(scalar);
        let args = graph.operation(node).map(|(_, args)| args);
        open.extend(args.filter(|_| !known).into_iter().flatten());
        !known && args.is_none()
    })
}

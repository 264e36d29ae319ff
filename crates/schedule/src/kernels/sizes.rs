//! For which sizes is a placement worth it? Where the axis of the lanes has only a few indices,
//! most of them are done one by one or by fewer lanes, and today's loops, which have no blocks and
//! buffers, are faster.

use lambada_prim::Scalar;

use super::kept;
use lambada_graph::placed::{Nest, Placed};
use lambada_graph::{AxisId, Graph, NodeId, Nominal};

/// How many times the lanes have to fit an axis in blocks, of which what is left over is done one
/// by one; another one has to fit them once.
const TIMES: i64 = 2;

/// When a placement is worth it.
pub(super) enum Enough {
    /// Whatever the sizes are.
    Always,
    /// For no sizes.
    Never,
    /// If the node, which is arithmetic on inputs, is not less.
    AtLeast(i64, NodeId),
}

/// Whether there are indices enough for so many lanes.
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

/// The axis of the lanes of what is done most often.
fn main_axis(placed: &Placed, sizes: &Nominal) -> Option<AxisId> {
    let volume = |nest: &Nest| sizes.volume(&placed.graph, &nest.domain());
    let nests = placed.passes.iter().flat_map(|pass| &pass.nests);
    let most = nests.filter(|nest| nest.vector.is_some());
    let most = most.max_by(|a, b| volume(a).total_cmp(&volume(b)));
    placed.block.or(most.and_then(|nest| nest.vector))
}

/// Whether it is made of inputs that are scalars.
fn is_arithmetic(graph: &Graph, node: NodeId) -> bool {
    let scalar = |k: u32| graph.inputs[k as usize].dims.is_empty();
    graph.lit(node).is_some()
        || kept(graph, node).is_some_and(scalar)
        || graph
            .operation(node)
            .is_some_and(|(_, args)| args.iter().all(|arg| is_arithmetic(graph, *arg)))
}

//! The cost of a placement, and of the program without, in operations on vector registers:
//! decisions rest on it, values do not.

use lambada_prim::Precision;

use crate::fuse::fused;
use crate::lanes::along_cheapest;
use crate::place::{Along, Blocks, grouped, place_by};
use crate::share::shared;
use crate::tile::tiled;
use crate::work::{held, near, weight, work};
use lambada_graph::Runs;
use lambada_graph::cost;
use lambada_graph::placed::{BufferId, Item, Nest, Placed};
use lambada_graph::{Array, ArrayId, AxisId, Graph, Mechanism, NodeId, Nominal, Plan};

/// The most axes that are tried in blocks, those with the most work. Each trial places the whole
/// program, so without a limit many loops in a row would take quadratic time.
const TRIED: usize = 16;

/// The cheapest placement, if it beats the program as it is.
pub fn best(
    graph: &Graph,
    sizes: &Nominal,
    plan: Plan,
    (precision, around): (Precision, Runs),
) -> Option<Placed> {
    let plain = plain(graph, sizes);
    if plain < cost::LITTLE {
        return None;
    }
    let axes = if plan.has(Mechanism::Blocks) { heaviest(graph, sizes) } else { Vec::new() };
    let axes = axes.into_iter();
    let rows = plan.has(Mechanism::AxisOrder) && plan.has(Mechanism::Lanes);
    let along = if rows { &[Along::Block, Along::Rows][..] } else { &[Along::Block] };
    let axes =
        axes.flat_map(|axis| along.iter().map(move |lanes| Some(Blocks { axis, lanes: *lanes })));
    let blocks = std::iter::once(None).chain(axes);
    let mut best: Option<(f64, Placed)> = None;
    for placed in blocks.filter_map(|block| place_by(plan.mechanisms, graph, block, sizes)) {
        let placed = shared(placed, sizes, plan.lanes);
        let placed = if plan.has(Mechanism::Groups) { grouped(placed, sizes) } else { placed };
        if memory(&placed, sizes) > cost::ROOM * given(graph, sizes) {
            continue;
        }
        let rests = if is_along_rows(&placed) { cost::RESTS } else { 1.0 };
        let fused = plan.has(Mechanism::Fusion).then(|| fused(&placed, around)).flatten();
        let fused = fused.map(|fused| (cost::ALONE, fused));
        for (more, placed) in std::iter::once((1.0, placed)).chain(fused) {
            let cost = rests * more * cost(&placed, sizes, plan.lanes);
            if best.as_ref().is_none_or(|(known, _)| cost < *known) {
                best = Some((cost, placed));
            }
        }
    }
    let (_, placed) = best.filter(|(cost, _)| *cost < cost::CHEAPER * plain)?;
    let turns = plan.has(Mechanism::AxisOrder) && plan.has(Mechanism::Lanes);
    let placed = if turns { along_cheapest(placed, sizes, plan.lanes) } else { placed };
    Some(tiled(placed, sizes, plan, precision))
}

/// Whether each buffer has fewer axes of unknown extent than the largest nest, or at most as many
/// as `anyway`, the arrays that the statements allocate. Then allocations cost no more than the
/// work, however often the kernel runs.
pub(crate) fn is_light(placed: &Placed, anyway: usize) -> bool {
    let graph = &placed.graph;
    let unknown = |axes: &[AxisId]| {
        axes.iter().filter(|axis| graph.lit(graph.axis(**axis).extent).is_none()).count()
    };
    let nests = placed.passes.iter().flat_map(|pass| &pass.nests);
    let most = nests.map(|nest| unknown(&nest.axes)).max().unwrap_or(0);
    let is_given = |k: u32| placed.outputs.contains(&BufferId(k));
    let made = (0..).zip(&placed.buffers).filter(|(k, _)| !is_given(*k));
    made.map(|(_, buffer)| unknown(&buffer.axes)).all(|axes| axes <= anyway || axes < most)
}

/// The number of elements of inputs and outputs.
fn given(graph: &Graph, sizes: &Nominal) -> f64 {
    let inputs = graph.inputs.iter().map(|input| sizes.elements(graph, &input.dims));
    let outputs = graph.outputs.iter().map(|output| elements(graph, sizes, output.array));
    inputs.chain(outputs).sum()
}

fn elements(graph: &Graph, sizes: &Nominal, array: ArrayId) -> f64 {
    match graph.array(array) {
        Array::Map(axes, _) => sizes.volume(graph, &axes.iter().copied().collect()),
        Array::Scatter(init, _) => elements(graph, sizes, *init),
        Array::Input(k) => sizes.elements(graph, &graph.inputs[*k as usize].dims),
        Array::Constant(_)
        | Array::Items(_)
        | Array::Update(..)
        | Array::Carried(..)
        | Array::Final(..) => 1.0,
    }
}

/// Whether lanes run along rows in a block of rows.
fn is_along_rows(placed: &Placed) -> bool {
    let Some(block) = placed.block else { return false };
    let nests = placed.passes.iter().filter(|pass| pass.blocked).flat_map(|pass| &pass.nests);
    let mut along = nests.filter(|nest| nest.axes.contains(&block)).filter_map(|nest| nest.vector);
    along.any(|axis| axis != block)
}

/// The axes of unknown or large extent with the most work, in order.
fn heaviest(graph: &Graph, sizes: &Nominal) -> Vec<AxisId> {
    let all = (0..graph.axes.len() as u32).map(AxisId);
    let mut axes: Vec<AxisId> = all.filter(|axis| is_open(graph, *axis)).collect();
    if axes.len() > TRIED {
        let mut done = vec![0.0; graph.axes.len()];
        for node in (0..graph.nodes.len() as u32).map(NodeId) {
            let inner = graph.reduction(node).map(|(_, axes, _)| axes.clone()).unwrap_or_default();
            let around = graph.free(node).union(&inner);
            let work = weight(graph, node) * sizes.volume(graph, &around);
            around.iter().for_each(|axis| done[axis.0 as usize] += work);
        }
        axes.sort_by(|a, b| done[b.0 as usize].total_cmp(&done[a.0 as usize]));
        axes.truncate(TRIED);
        axes.sort_unstable();
    }
    axes
}

/// Whether the extent of an axis is unknown or large.
fn is_open(graph: &Graph, axis: AxisId) -> bool {
    let extent = graph.lit(graph.axis(axis).extent);
    extent.is_none_or(|extent| extent.int() >= 64)
}

/// The cost without placement: each scalar once for all indices that it depends on.
pub(crate) fn plain(graph: &Graph, sizes: &Nominal) -> f64 {
    let all = (0..graph.nodes.len() as u32).map(NodeId);
    let cost = |node: NodeId| {
        let inner = graph.reduction(node).map(|(_, axes, _)| axes.clone()).unwrap_or_default();
        weight(graph, node) * sizes.volume(graph, &graph.free(node).union(&inner))
    };
    let stored = graph.arrays.iter().map(|array| match array {
        Array::Map(axes, _) => sizes.volume(graph, &axes.iter().copied().collect()),
        Array::Scatter(_, terms) => {
            let volume = |axes: &[AxisId]| sizes.volume(graph, &axes.iter().copied().collect());
            terms.iter().map(|term| 2.0 * volume(&term.over)).sum()
        }
        Array::Input(_)
        | Array::Constant(_)
        | Array::Items(_)
        | Array::Update(..)
        | Array::Carried(..)
        | Array::Final(..) => 0.0,
    });
    all.map(cost).sum::<f64>() + stored.sum::<f64>()
}

/// The cost of a placement.
fn cost(placed: &Placed, sizes: &Nominal, lanes: u16) -> f64 {
    let block = |axis: AxisId| sizes.extent(&placed.graph, axis);
    let near = near(placed, sizes);
    let mut total = memory(placed, sizes);
    for pass in &placed.passes {
        let blocks =
            placed.block.filter(|_| pass.blocked).map_or(1.0, |a| (block(a) / 64.0).ceil());
        for nest in &pass.nests {
            total += cost::BEGIN * blocks + work(placed, nest, sizes, &near, lanes);
        }
        if let Some(axis) = placed.block.filter(|_| pass.blocked) {
            let times = (block(axis) / cost::USUAL_WITH_TOTALS as f64).ceil() - 1.0;
            total += times * folds(placed, &pass.nests, axis, sizes);
        }
    }
    // The buffers of a block compete for the cache.
    total + cost::HELD * held(placed, sizes)
}

/// The cost of folding the lanes of totals over an axis once.
fn folds(placed: &Placed, nests: &[Nest], axis: AxisId, sizes: &Nominal) -> f64 {
    let lanes = nests.iter().filter(|nest| nest.vector == Some(axis));
    let totals = lanes.flat_map(|nest| &nest.items).filter_map(|item| {
        let buffer = placed.buffer(item.buffer());
        let total = matches!(item, Item::Reduce(_)) && !buffer.axes.contains(&axis);
        total.then(|| sizes.volume(&placed.graph, &buffer.axes.iter().copied().collect()))
    });
    cost::FOLD * totals.sum::<f64>()
}

/// The cost of the buffers that are not block-local, because each call allocates them.
fn memory(placed: &Placed, sizes: &Nominal) -> f64 {
    let registers = placed.in_registers();
    let all = placed.buffers.iter().enumerate();
    let whole = all.filter(|(k, buffer)| {
        let id = BufferId(*k as u32);
        let given = placed.outputs.contains(&id) || registers.contains(&id);
        !buffer.local && !given && !buffer.axes.is_empty()
    });
    let volume = |axes: &[AxisId]| sizes.volume(&placed.graph, &axes.iter().copied().collect());
    whole.map(|(_, buffer)| volume(&buffer.axes)).sum()
}

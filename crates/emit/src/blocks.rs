//! The size of blocks. The buffers of a block and the inputs that several of its nests read fit a
//! cache of the core; the nearest one, with such inputs, if a block of that size is worth it.

use lambada_loops::Operand;
use lambada_prim::Prim;
use rustc_hash::FxHashMap;

use lambada_graph::cost;
use lambada_graph::placed::{BufferId, Content, Nest, Placed};
use lambada_graph::{Array, ArrayId, Axes, AxisId, Grain, Node, NodeId, any_below};

use crate::Emitter;

/// Elements that are read along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Array(ArrayId),
    Buffer(BufferId),
}

/// The axes of the elements, for each index of the block, that at least two groups of nests of a
/// pass over blocks read from memory outside of the block, by their source.
fn read_again(placed: &Placed, block: AxisId) -> Vec<Axes> {
    let mut again: FxHashMap<Source, Axes> = FxHashMap::default();
    for pass in placed.passes.iter().filter(|pass| pass.blocked) {
        let mut once: FxHashMap<Source, Axes> = FxHashMap::default();
        for (_, nests) in pass.groups() {
            let reads = nests.iter().flat_map(|nest| read(placed, nest, block));
            for (source, axes) in reads.collect::<FxHashMap<Source, Axes>>() {
                if once.insert(source, axes.clone()).is_some() {
                    again.insert(source, axes);
                }
            }
        }
    }
    again.into_values().collect()
}

/// The sources of a nest outside of the block, with the other axes of their elements.
fn read(placed: &Placed, nest: &Nest, block: AxisId) -> Vec<(Source, Axes)> {
    let graph = &placed.graph;
    let found: FxHashMap<Content, BufferId> = placed.found(nest).into_iter().collect();
    let others = |axes: &Axes| axes.without(&Axes::one(block));
    let mut all = Vec::new();
    let mut from_buffer = |id: BufferId| {
        let buffer = placed.buffer(id);
        if !buffer.local && buffer.axes.contains(&block) {
            all.push((Source::Buffer(id), others(&buffer.axes.iter().copied().collect())));
        }
    };
    found.values().for_each(|id| from_buffer(*id));
    let mut visit = |node: NodeId, open: &mut Vec<NodeId>| {
        if found.contains_key(&Content::Node(node)) {
            return false;
        }
        if let Node::At(array, _) = graph.node(node)
            && matches!(graph.array(*array), Array::Input(_) | Array::Constant(_))
            && graph.free(node).contains(block)
        {
            all.push((Source::Array(*array), others(graph.free(node))));
        }
        graph.node(node).scalars(&mut |part| open.push(part));
        false
    };
    placed.computed(nest).into_iter().for_each(|node| _ = any_below(node, &mut visit));
    all
}

/// Decides the number of indices of a block, a multiple of the lanes.
pub(super) fn block_size(e: &mut Emitter) {
    let Some(block) = e.placed.block else { return };
    let mut each = Operand::int(1);
    for k in 0..e.placed.buffers.len() {
        let id = BufferId(k as u32);
        if e.placed.buffer(id).local {
            let axes: Vec<AxisId> = e.held(id).into_iter().filter(|a| *a != block).collect();
            each = and_elements(e, each, &axes);
        }
    }
    let again = read_again(e.placed, block);
    for axes in &again {
        let axes: Vec<AxisId> = axes.iter().collect();
        // Sizes that depend on an index are small beside others.
        if axes.iter().all(|a| e.graph().free(e.graph().axis(*a).extent).is_empty()) {
            each = and_elements(e, each, &axes);
        }
    }
    let each = e.code.int(Prim::MaxInt, each, Operand::int(1));
    let [least, shared] = least_block(e);
    let fits = |e: &mut Emitter, cache: i64| {
        let fits = e.code.int(Prim::DivInt, Operand::int(cache), each);
        e.code.int(Prim::BitAnd, fits, Operand::int(-16))
    };
    let mut whole = fits(e, cost::LOCAL);
    if !again.is_empty() {
        let nearest = fits(e, cost::NEAREST);
        let worth = e.code.prim(Prim::LeInt, &[Operand::int(least), nearest]);
        whole = e.code.prim(Prim::SelectInt, &[worth, nearest, whole]);
    }
    let low = e.code.int(Prim::MaxInt, whole, Operand::int(least));
    let len = e.code.int(Prim::MinInt, low, Operand::int(e.grain.blocks[1]));
    let all = e.extent(block);
    // Threads share the blocks, so the number of blocks must not be too small.
    let share = e.code.int(Prim::DivInt, all, Operand::int(cost::BLOCKS));
    let share = e.code.int(Prim::BitAnd, share, Operand::int(-16));
    let share = e.code.int(Prim::MaxInt, share, Operand::int(shared));
    let len = e.code.int(Prim::MinInt, len, share);
    // At most all indices, so that memory for a block is not larger than that for all.
    let all = e.code.int(Prim::MaxInt, all, Operand::int(1));
    e.block_len = e.code.int(Prim::MinInt, len, all);
}

/// A number of elements, and those along these axes.
fn and_elements(e: &mut Emitter, others: Operand, axes: &[AxisId]) -> Operand {
    let dims: Vec<Operand> = axes.iter().map(|axis| e.extent(*axis)).collect();
    let size = e.product(&dims);
    e.code.int(Prim::AddInt, others, size)
}

/// The minimal worthwhile block size, and the minimal one that threads share. Blocks are larger
/// if totals are folded once per block.
fn least_block(e: &Emitter) -> [i64; 2] {
    let Grain { folded, blocks: [least, _], .. } = e.grain;
    if e.placed.has_totals() { folded } else { [least; 2] }
}

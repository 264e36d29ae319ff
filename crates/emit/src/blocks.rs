//! The size of blocks. What nests hand on in a block fits a cache of the core, together with what
//! several of them read; that fits the nearest cache if such a block is worth its beginning.

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

impl Emitter<'_> {
    /// Decides the number of indices of a block, a multiple of the lanes.
    pub(super) fn block_size(&mut self) {
        let Some(block) = self.placed.block else { return };
        let mut each = Operand::int(1);
        for k in 0..self.placed.buffers.len() {
            let id = BufferId(k as u32);
            if self.placed.buffer(id).local {
                let axes: Vec<AxisId> = self.held(id).into_iter().filter(|a| *a != block).collect();
                each = self.and_elements(each, &axes);
            }
        }
        let again = read_again(self.placed, block);
        for axes in &again {
            let axes: Vec<AxisId> = axes.iter().collect();
            // Sizes that depend on an index are small beside others.
            if axes.iter().all(|a| self.graph().free(self.graph().axis(*a).extent).is_empty()) {
                each = self.and_elements(each, &axes);
            }
        }
        let each = self.code.int(Prim::MaxInt, each, Operand::int(1));
        let [least, shared] = self.least_block();
        let fits = |e: &mut Self, cache: i64| {
            let fits = e.code.int(Prim::DivInt, Operand::int(cache), each);
            e.code.int(Prim::BitAnd, fits, Operand::int(-16))
        };
        let mut whole = fits(self, cost::LOCAL);
        if !again.is_empty() {
            let nearest = fits(self, cost::NEAREST);
            let worth = self.code.prim(Prim::LeInt, &[Operand::int(least), nearest]);
            whole = self.code.prim(Prim::SelectInt, &[worth, nearest, whole]);
        }
        let low = self.code.int(Prim::MaxInt, whole, Operand::int(least));
        let len = self.code.int(Prim::MinInt, low, Operand::int(self.grain.blocks[1]));
        let all = self.extent(block);
        // Threads share the blocks, so the number of blocks must not be too small.
        let share = self.code.int(Prim::DivInt, all, Operand::int(cost::BLOCKS));
        let share = self.code.int(Prim::BitAnd, share, Operand::int(-16));
        let share = self.code.int(Prim::MaxInt, share, Operand::int(shared));
        let len = self.code.int(Prim::MinInt, len, share);
        // At most all indices, so that memory for a block is not larger than that for all.
        let all = self.code.int(Prim::MaxInt, all, Operand::int(1));
        self.block_len = self.code.int(Prim::MinInt, len, all);
    }

    /// A number of elements, and those along these axes.
    fn and_elements(&mut self, others: Operand, axes: &[AxisId]) -> Operand {
        let dims: Vec<Operand> = axes.iter().map(|axis| self.extent(*axis)).collect();
        let size = self.product(&dims);
        self.code.int(Prim::AddInt, others, size)
    }

    /// The minimal worthwhile block size, and the minimal one that threads share. Blocks are larger
    /// if totals are folded once per block.
    fn least_block(&self) -> [i64; 2] {
        let Grain { folded, blocks: [least, _], .. } = self.grain;
        if self.placed.has_totals() { folded } else { [least; 2] }
    }
}

//! P4: nests that share an independent axis, such as the components of a mixture, run together, one
//! index after the other. The buffers between them hold one index only, so more of the blocked axis
//! fits a cache.
//!
//! *Keeps* values: only independent nests change places.

use lambada_prim::{Cost, Prim, ReduceOp};
use rustc_hash::FxHashMap;

use lambada_graph::cost::AGAIN;
use lambada_graph::placed::{BufferId, Content, Item, Nest, Pass, Placed};
use lambada_graph::{AxisId, Graph, Node, NodeId, Nominal};

/// Groups the nests along the batch axis of the large contractions, if they have one.
pub(crate) fn grouped(placed: Placed, sizes: &Nominal) -> Placed {
    let axis = batch(&placed.graph, sizes, placed.block);
    axis.and_then(|axis| batched(&placed, axis)).unwrap_or(placed)
}

/// The axis of both factors and of the result of each large contraction.
fn batch(graph: &Graph, nominal: &Nominal, block: Option<AxisId>) -> Option<AxisId> {
    let volume = |node: NodeId| {
        let Some((_, axes, body)) = graph.reduction(node) else { return 0.0 };
        nominal.volume(graph, &axes.union(graph.free(body)))
    };
    let nodes = (0..graph.nodes.len() as u32).map(NodeId);
    let all: Vec<(NodeId, [NodeId; 2])> =
        nodes.filter_map(|n| Some((n, contraction(graph, n)?))).collect();
    let largest = all.iter().map(|(n, _)| volume(*n)).fold(0.0, f64::max);
    let hot = all.into_iter().filter(|(n, _)| 2.0 * volume(*n) >= largest);
    let common = hot
        .map(|(n, [a, b])| graph.free(a).intersection(graph.free(b)).intersection(graph.free(n)));
    let common = common.reduce(|a, b| a.intersection(&b))?;
    common.iter().find(|axis| Some(*axis) != block)
}

/// The factors of a sum of products, each with an index that the other one lacks.
fn contraction(graph: &Graph, node: NodeId) -> Option<[NodeId; 2]> {
    let (ReduceOp::Add, _, mut body) = graph.reduction(node)? else { return None };
    while let Some((_, inner, _)) = graph.choice(body) {
        body = inner;
    }
    let (Prim::Mul, [a, b]) = graph.operation(body)? else { return None };
    let lacks = |a: &NodeId, b: &NodeId| !graph.free(*b).is_subset(graph.free(*a));
    (lacks(a, b) && lacks(b, a)).then_some([*a, *b])
}

/// The placement with the nests of blocked passes grouped along an axis, if that joins two nests at
/// least.
pub(crate) fn batched(placed: &Placed, axis: AxisId) -> Option<Placed> {
    if placed.block == Some(axis) {
        return None;
    }
    let mut placed = Placed { batch: Some(axis), ..placed.clone() };
    let mut passes = std::mem::take(&mut placed.passes);
    let mut together = false;
    for pass in passes.iter_mut().filter(|pass| pass.blocked) {
        let stages = Batch { placed: &placed, axis }.stages(pass);
        let mut nests: Vec<(u32, Nest)> =
            stages.into_iter().zip(std::mem::take(&mut pass.nests)).collect();
        repeat(&mut placed, &mut nests);
        nests.sort_by_key(|(stage, _)| *stage);
        for (stage, nest) in &mut nests {
            if *stage % 2 == 1 {
                nest.axes.sort_by_key(|own| *own != axis);
                nest.group = Some(*stage);
            }
        }
        together |= nests.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].0 % 2 == 1);
        pass.nests = nests.into_iter().map(|(_, nest)| nest).collect();
    }
    placed.passes = passes;
    let single: Vec<BufferId> = (0..placed.buffers.len() as u32)
        .map(BufferId)
        .filter(|id| is_single(&placed, axis, *id))
        .collect();
    single.into_iter().for_each(|id| placed.buffers[id.0 as usize].single = true);
    together.then_some(placed)
}

/// Recomputes the cheap stored scalars of one group in each other group that reads them, so that
/// each buffer holds one index only.
fn repeat(placed: &mut Placed, nests: &mut Vec<(u32, Nest)>) {
    let mut k = 0;
    while k < nests.len() {
        let (stage, nest) = nests[k].clone();
        let grouped = |reads: &[BufferId]| {
            let writes = |nest: &Nest| nest.items.iter().any(|item| reads.contains(&item.buffer()));
            nests.iter().any(|(stage, nest)| *stage % 2 == 1 && writes(nest))
        };
        let own: Vec<BufferId> = nest.items.iter().map(|item| item.buffer()).collect();
        let cheap = nest.items.iter().all(|item| is_cheap(placed, &nest, *item));
        if stage % 2 == 0 || !cheap || grouped(&nest.reads) {
            k += 1;
            continue;
        }
        let reads = |(other, nest): &(u32, Nest)| {
            let reads = nest.reads.iter().any(|id| own.contains(id));
            (reads && *other % 2 == 1 && *other > stage).then_some(*other)
        };
        let mut others: Vec<u32> = nests.iter().filter_map(reads).collect();
        others.dedup();
        for other in others {
            let mut again = nest.clone();
            for (old, item) in own.iter().zip(&mut again.items) {
                let new = BufferId(placed.buffers.len() as u32);
                placed.buffers.push(placed.buffer(*old).clone());
                *item = Item::Store(new);
                let readers = nests.iter_mut().filter(|(stage, _)| *stage == other);
                let reads = readers.flat_map(|(_, nest)| &mut nest.reads);
                reads.filter(|id| *id == old).for_each(|id| *id = new);
            }
            // Before all of its readers.
            nests.insert(k + 1, (other, again));
            k += 1;
        }
        k += 1;
    }
}

/// Whether an item stores a block-local scalar that takes at most [`AGAIN`] cheap operations.
fn is_cheap(placed: &Placed, nest: &Nest, item: Item) -> bool {
    let Item::Store(id) = item else { return false };
    let buffer = placed.buffer(id);
    let found = placed.found(nest);
    let graph = &placed.graph;
    let (mut stack, mut operations) = (placed.value(item).into_iter().collect::<Vec<_>>(), 0);
    while let Some(node) = stack.pop() {
        if found.iter().any(|(content, _)| *content == Content::Node(node)) {
            continue;
        }
        if let Some((_, args)) = graph.operation(node).filter(|(op, _)| op.cost() == Cost::Cheap) {
            operations += 1;
            stack.extend(args);
        } else if matches!(graph.node(node), Node::At(..)) {
            operations += usize::from(!graph.free(node).is_empty());
        } else if graph.lit(node).is_none() && graph.index(node).is_none() {
            return false;
        }
    }
    buffer.local && matches!(buffer.content, Content::Node(_)) && operations <= AGAIN
}

/// Whether a buffer is written and read within one group only.
fn is_single(placed: &Placed, axis: AxisId, id: BufferId) -> bool {
    let buffer = placed.buffer(id);
    let mut groups = Vec::new();
    for (k, pass) in placed.passes.iter().enumerate() {
        for nest in &pass.nests {
            let writes = nest.items.iter().any(|item| item.buffer() == id);
            if writes || nest.reads.contains(&id) {
                groups.push(nest.group.map(|group| (k, group)));
            }
        }
    }
    groups.dedup();
    buffer.local
        && buffer.axes.contains(&axis)
        && matches!(buffer.content, Content::Node(_))
        && !placed.outputs.contains(&id)
        && matches!(groups[..], [Some(_)])
}

struct Batch<'a> {
    placed: &'a Placed,
    axis: AxisId,
}

impl Batch<'_> {
    /// The stage of each nest, odd if the nest runs along the axis. The operands of a nest have a
    /// smaller stage, or the same one if they belong to the same index.
    fn stages(&self, pass: &Pass) -> Vec<u32> {
        let mut stages: Vec<u32> = Vec::new();
        let mut written: FxHashMap<BufferId, Vec<usize>> = FxHashMap::default();
        for (k, nest) in pass.nests.iter().enumerate() {
            let inside = self.is_inside(nest);
            let mut stage = u32::from(inside);
            let writes = nest.items.iter().map(|item| item.buffer());
            for id in nest.reads.iter().copied().chain(writes) {
                for writer in written.get(&id).into_iter().flatten() {
                    let other = stages[*writer];
                    let after = match (inside, other % 2 == 1) {
                        (true, true) if self.is_own(id) => other,
                        (true, true) => other + 2,
                        (true, false) | (false, true) => other + 1,
                        (false, false) => other,
                    };
                    stage = stage.max(after);
                }
            }
            stages.push(stage);
            nest.items.iter().for_each(|item| written.entry(item.buffer()).or_default().push(k));
        }
        stages
    }

    /// Whether a nest computes each index of the axis independently and completely.
    fn is_inside(&self, nest: &Nest) -> bool {
        let kept = |id: &BufferId| self.placed.buffer(*id).axes.contains(&self.axis);
        let own = |item: &Item| {
            let ends = !self.placed.comes_back(nest, *item);
            matches!(item, Item::Store(_)) || matches!(item, Item::Reduce(id) if kept(id) && ends)
        };
        nest.axes.contains(&self.axis)
            && nest.vector != Some(self.axis)
            && nest.carries.is_empty()
            && !nest.whole.contains(&self.axis)
            && nest.items.iter().all(own)
    }

    /// Whether the nests along the axis read a buffer at their own index only.
    fn is_own(&self, id: BufferId) -> bool {
        let buffer = self.placed.buffer(id);
        matches!(buffer.content, Content::Node(_)) && buffer.axes.contains(&self.axis)
    }
}

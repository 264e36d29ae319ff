//! The cost of a nest, in operations on vector registers.

use lambada_prim::{Cost, Prim};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::literals::ELEMENTS;
use lambada_graph::cost;
use lambada_graph::placed::{Buffer, BufferId, Content, Item, Nest, Placed};
use lambada_graph::runs_along;
use lambada_graph::{Array, Axes, AxisId, Graph, Node, NodeId, Nominal};

/// The cost of a scalar, apart from its operands.
pub(crate) fn weight(graph: &Graph, node: NodeId) -> f64 {
    match graph.node(node) {
        Node::Lit(_) | Node::Index(_) => 0.0,
        Node::Prim(op, _) => match op.cost() {
            Cost::Cheap => 1.0,
            Cost::Costly if *op != Prim::Sqrt && op.row().c.on_lanes().is_some() => cost::FUNCTION,
            Cost::Costly => cost::COSTLY,
        },
        Node::Choose(c, ..) if is_place(graph, *c) => 0.0,
        Node::Choose(..) | Node::At(..) | Node::Reduce(..) => 1.0,
    }
}

/// Whether a condition selects an element of a literal by the index of a short axis, which costs
/// nothing because each element is computed where it belongs.
fn is_place(graph: &Graph, cond: NodeId) -> bool {
    let Some((Prim::EqInt, [index, place])) = graph.operation(cond) else { return false };
    let few = |axis: AxisId| {
        let extent = graph.lit(graph.axis(axis).extent);
        extent.is_some_and(|extent| extent.int() <= ELEMENTS as i64)
    };
    graph.index(*index).is_some_and(few) && graph.lit(*place).is_some()
}

/// The number of elements of all local buffers together, in the smallest blocks.
pub(crate) fn held(placed: &Placed, sizes: &Nominal) -> f64 {
    let block = if placed.has_totals() { cost::SMALLEST_WITH_TOTALS } else { cost::SMALLEST };
    let block = placed
        .block
        .map_or(block as f64, |axis| sizes.extent(&placed.graph, axis).min(block as f64));
    let local = placed.buffers.iter().filter(|buffer| buffer.local);
    block * local.map(|buffer| held_by_index(placed, buffer, sizes)).sum::<f64>()
}

/// The number of elements of a local buffer for each index of the block.
fn held_by_index(placed: &Placed, buffer: &Buffer, sizes: &Nominal) -> f64 {
    let one =
        |axis: &AxisId| Some(*axis) == placed.block || buffer.single && Some(*axis) == placed.batch;
    let others: Axes = buffer.axes.iter().copied().filter(|axis| !one(axis)).collect();
    sizes.volume(&placed.graph, &others)
}

/// The price of an access, by buffer: zero in registers; the local buffers share the cache, in the
/// smallest blocks at least.
pub(crate) fn near(placed: &Placed, sizes: &Nominal) -> Vec<f64> {
    let (block, registers) = (held(placed, sizes), placed.in_registers());
    let cost = |(k, buffer): (u32, &Buffer)| {
        let all: Axes = buffer.axes.iter().copied().collect();
        let size = if buffer.local { block } else { sizes.volume(&placed.graph, &all) };
        match size <= cost::CACHED as f64 {
            _ if registers.contains(&BufferId(k)) => 0.0,
            true => 1.0,
            false => cost::FAR,
        }
    };
    (0..).zip(&placed.buffers).map(cost).collect()
}

/// The cost of a nest; `near` is the price of an access, by buffer.
pub(crate) fn work(placed: &Placed, nest: &Nest, sizes: &Nominal, near: &[f64], lanes: u16) -> f64 {
    Work { placed, nest, sizes, near, lanes: f64::from(lanes), seen: FxHashSet::default() }.total()
}

/// A nest that is to be weighed.
struct Work<'a> {
    /// The price of an access, by buffer.
    near: &'a [f64],
    placed: &'a Placed,
    nest: &'a Nest,
    sizes: &'a Nominal,
    lanes: f64,
    seen: FxHashSet<NodeId>,
}

impl Work<'_> {
    fn total(mut self) -> f64 {
        let graph = &self.placed.graph;
        let found: FxHashMap<Content, BufferId> =
            self.placed.found(self.nest).into_iter().collect();
        let mut total = 0.0;
        for (init, next) in self.nest.carries.iter().flat_map(|l| self.placed.states(*l)) {
            total += self.node(init, &found) + self.node(next, &found);
        }
        for item in &self.nest.items {
            let buffer = self.placed.buffer(item.buffer());
            let near = self.near[item.buffer().0 as usize];
            match item {
                Item::Store(_) => {
                    let value = self.placed.value(*item).into_iter();
                    total += value.map(|value| self.node(value, &found)).sum::<f64>();
                    let lane = buffer.axes.last().copied();
                    total += near * self.access(&self.nest.domain(), lane);
                }
                Item::Reduce(_) => {
                    let value = self.placed.value(*item).into_iter();
                    total += value.map(|value| self.node(value, &found)).sum::<f64>();
                    let kept: Axes = buffer.axes.iter().copied().collect();
                    total += self.volume(&self.nest.domain()) + cost::FOLD * self.volume(&kept);
                    // Where states are carried, the elements are few.
                    if self.placed.comes_back(self.nest, *item) && self.nest.carries.is_empty() {
                        total += 2.0 * near * self.volume(&self.nest.domain());
                    }
                }
                Item::List(_) | Item::Copy(_) => total += 4.0,
                Item::Last(_) => {
                    let kept: Axes = buffer.axes.iter().copied().collect();
                    total += near * self.volume(&kept);
                }
                Item::Add(_, k) => {
                    let Content::Array(array) = buffer.content else { continue };
                    let Array::Scatter(_, terms) = graph.array(array) else { continue };
                    let term = &terms[*k as usize];
                    for part in term.index.iter().chain(&term.when).chain([&term.value]) {
                        total += self.node(*part, &found);
                    }
                    total += 2.0 * self.volume(&self.nest.domain());
                }
            }
        }
        total
    }

    /// The number of computations of a scalar with these free axes, in vectors.
    fn volume(&self, free: &Axes) -> f64 {
        let axes = &self.nest.axes;
        let depth = axes.iter().rposition(|axis| free.contains(*axis)).map_or(0, |k| k + 1);
        let own = |axis: &AxisId| free.contains(*axis) || !self.nest.whole.contains(axis);
        let around: Axes = axes[..depth].iter().copied().filter(own).collect();
        let all = self.sizes.volume(&self.placed.graph, &around);
        let vector = self.nest.vector.filter(|axis| around.contains(*axis));
        let Some(axis) = vector else { return all };
        let extent = self.sizes.extent(&self.placed.graph, axis);
        all / extent * (extent / self.lanes).ceil()
    }

    /// The number of accesses of such a scalar, in vectors: lanes that are not contiguous access
    /// one element each.
    fn access(&self, free: &Axes, lane: Option<AxisId>) -> f64 {
        let strided = self.nest.vector.is_some_and(|v| free.contains(v) && lane != Some(v));
        self.volume(free) * if strided { self.lanes } else { 1.0 }
    }

    /// The factor by which lanes save nothing: no processor divides integers in lanes.
    fn one_by_one(&self, node: NodeId) -> f64 {
        let graph = &self.placed.graph;
        let divides = matches!(graph.operation(node), Some((Prim::DivInt | Prim::RemInt, _)));
        let lanes = self.nest.vector.is_some_and(|axis| graph.free(node).contains(axis));
        if divides && lanes { self.lanes } else { 1.0 }
    }

    fn node(&mut self, node: NodeId, found: &FxHashMap<Content, BufferId>) -> f64 {
        if !self.seen.insert(node) {
            return 0.0;
        }
        let graph = &self.placed.graph;
        let free = graph.free(node);
        if let Some(id) = found.get(&Content::Node(node)) {
            let lane = self.placed.buffer(*id).axes.last().copied();
            return self.near[id.0 as usize] * self.access(free, lane);
        }
        // The compiler folds scalars that depend on unrolled indices only.
        let decided = |node: NodeId| {
            let whole = |axis| self.nest.whole.contains(&axis);
            !graph.free(node).is_empty() && graph.free(node).iter().all(whole)
        };
        match graph.node(node) {
            Node::Lit(_) | Node::Index(_) => 0.0,
            Node::Prim(..) if decided(node) => 0.0,
            Node::Choose(c, a, b) if decided(*c) => self.node(*a, found) + self.node(*b, found),
            Node::Prim(_, args) => {
                let args: f64 = args.iter().map(|arg| self.node(*arg, found)).sum();
                args + weight(graph, node) * self.volume(free) * self.one_by_one(node)
            }
            Node::Choose(c, a, b) => {
                let parts: f64 = [c, a, b].into_iter().map(|n| self.node(*n, found)).sum();
                parts + self.volume(free)
            }
            // A state is in a register.
            Node::At(array, _) if graph.state_of(*array).is_some() => 0.0,
            Node::At(array, index) => {
                let parts: f64 = index.iter().map(|i| self.node(*i, found)).sum();
                let lane = self.nest.vector.filter(|axis| runs_along(graph, index, *axis));
                // Rows of an input are not aligned, and their distance may not suit the cache.
                let given = matches!(graph.array(*array), Array::Input(_));
                let apart = given && lane.is_some() && free.len() > 1;
                let domain = self.sizes.volume(graph, &self.nest.domain());
                let often = domain >= cost::OFTEN * self.sizes.volume(graph, free);
                parts + self.access(free, lane) * if apart && often { cost::APART } else { 1.0 }
            }
            Node::Reduce(..) => 0.0,
        }
    }
}

//! P7: register tiles, several iterations of up to two axes at once. The iterations read shared
//! operands once, and their sums are independent, so the processor need not wait for one to begin
//! the next. A contraction becomes the kernel of a matrix product without being recognized as one.
//! If the lanes run along the reduced axis, several vectors of partial results do the same for a
//! single reduction.
//!
//! The chosen tile has the least time for each iteration by [`Target`], among those whose sums fit
//! the registers. A step takes as long as its operations, its reads, or the wait for a sum,
//! whichever is longest.

use lambada_prim::{Cost, Precision, Prim, ReduceOp};
use rustc_hash::FxHashSet;

use lambada_graph::cost;
use lambada_graph::placed::{Content, Item, Nest, Placed};
use lambada_graph::{Axes, AxisId, Graph, Mechanism, Node, NodeId, Nominal, Plan, Target};

/// The most operations of the unrolled body of a tile.
const LARGE: usize = 96;

/// Tiles the nests of a program.
pub(crate) fn tiled(
    mut placed: Placed,
    sizes: &Nominal,
    plan: Plan,
    precision: Precision,
) -> Placed {
    if !plan.has(Mechanism::Tiles) {
        return placed;
    }
    let target = &Target::of(plan.width(), precision);
    let mut passes = std::mem::take(&mut placed.passes);
    for nest in passes.iter_mut().flat_map(|pass| &mut pass.nests) {
        if nest.carries.is_empty() && nest.whole.is_empty() && nest.direction.is_none() {
            nest.tile = tile(&placed, nest, sizes, target);
        }
    }
    placed.passes = passes;
    placed
}

/// The cheapest tile of a nest.
fn tile(placed: &Placed, nest: &Nest, sizes: &Nominal, target: &Target) -> Vec<(AxisId, u8)> {
    let Some(body) = Body::of(placed, nest) else { return Vec::new() };
    let mut best: Option<(f64, Vec<(AxisId, u8)>)> = None;
    for tile in candidates(&body, placed, nest, sizes, target) {
        let Some(cost) = body.cost(&tile, sizes, target) else { continue };
        if best.as_ref().is_none_or(|(known, _)| cost < *known) {
            best = Some((cost, tile));
        }
    }
    best.map(|(_, tile)| tile).unwrap_or_default()
}

/// The candidates: no tile, all tiles along one and two axes of the results, and those along the
/// lanes if these are reduced.
fn candidates(
    body: &Body,
    placed: &Placed,
    nest: &Nest,
    sizes: &Nominal,
    target: &Target,
) -> Vec<Vec<(AxisId, u8)>> {
    let counts = |axis: AxisId| {
        let lanes = if nest.vector == Some(axis) { target.lanes } else { 1 };
        let known = body.extent(axis, sizes);
        // At least two tiles fit the smallest block, so that little is left over.
        let block =
            if placed.block == Some(axis) { cost::SMALLEST as f64 / 2.0 } else { f64::INFINITY };
        let most = known.min(block);
        let fits = move |count: &u8| f64::from(*count) * f64::from(lanes) <= most;
        [2, 4, 8].into_iter().filter(fits)
    };
    let grouped = |axis: AxisId| nest.group.is_some() && placed.batch == Some(axis);
    let own = |axis: &AxisId| body.results.contains(*axis) && !grouped(*axis);
    let axes: Vec<AxisId> = nest.axes.iter().copied().filter(own).collect();
    let mut all = vec![Vec::new()];
    if let Some(lanes) = nest.vector.filter(|axis| body.reduced.contains(*axis)) {
        all.extend(counts(lanes).map(|u| vec![(lanes, u)]));
    }
    for (k, a) in axes.iter().enumerate() {
        for u in counts(*a) {
            all.push(vec![(*a, u)]);
            for b in &axes[k + 1..] {
                all.extend(counts(*b).map(|v| vec![(*a, u), (*b, v)]));
            }
        }
    }
    all
}

/// The body of a nest that may be tiled.
struct Body<'a> {
    graph: &'a Graph,
    vector: Option<AxisId>,
    found: FxHashSet<Content>,
    /// The axes that all results have.
    results: Axes,
    /// The reduced axes.
    reduced: Axes,
    /// The reads and the operations of each iteration.
    reads: Vec<NodeId>,
    operations: Vec<(NodeId, f64)>,
    /// The numbers of sums and of stores.
    sums: usize,
    stores: usize,
    /// The time that a result waits for the one before it, in sums.
    wait: f64,
}

impl<'a> Body<'a> {
    /// The body of a nest, if it reduces and has no costly operation.
    fn of(placed: &'a Placed, nest: &Nest) -> Option<Body<'a>> {
        let graph = &placed.graph;
        let found = placed.found(nest).into_iter().map(|(content, _)| content).collect();
        let mut body = Body {
            graph,
            vector: nest.vector,
            found,
            results: nest.domain(),
            reduced: Axes::default(),
            reads: Vec::new(),
            operations: Vec::new(),
            sums: 0,
            stores: 0,
            wait: 1.0,
        };
        let mut seen = FxHashSet::default();
        for item in &nest.items {
            let value = placed.value(*item)?;
            // Only an item that stores or reduces has a value.
            if let Item::Reduce(id) = item {
                let kept: Axes = placed.buffer(*id).axes.iter().copied().collect();
                body.results = body.results.intersection(&kept);
                body.sums += 1;
                if !is_sum(placed, *id) {
                    body.wait = cost::EXTREMUM;
                }
            } else {
                body.stores += 1;
            }
            body.visit(value, &mut seen)?;
            let fused =
                matches!(item, Item::Reduce(id) if is_sum(placed, *id)) && body.product(value);
            // A fused multiply-add makes the addition free.
            if matches!(item, Item::Reduce(_)) && !fused {
                body.operations.push((value, 1.0));
            }
        }
        body.reduced = nest.axes.iter().copied().filter(|a| !body.results.contains(*a)).collect();
        (body.sums > 0).then_some(body)
    }

    /// Whether a node is a product, perhaps under a condition.
    fn product(&self, node: NodeId) -> bool {
        let node = self.graph.choice(node).map_or(node, |(_, then, _)| then);
        self.graph.operation(node).is_some_and(|(op, _)| op == Prim::Mul)
            && !self.found.contains(&Content::Node(node))
    }

    /// Collects reads and operations; `None` if one is costly.
    fn visit(&mut self, node: NodeId, seen: &mut FxHashSet<NodeId>) -> Option<()> {
        if !seen.insert(node) {
            return Some(());
        }
        if self.found.contains(&Content::Node(node)) {
            self.reads.push(node);
            return Some(());
        }
        let mut parts = Vec::new();
        self.graph.node(node).scalars(&mut |part| parts.push(part));
        parts.into_iter().try_for_each(|part| self.visit(part, seen))?;
        match self.graph.node(node) {
            Node::Lit(_) | Node::Index(_) | Node::Reduce(..) => {}
            Node::Prim(op, _) => {
                if op.cost() == Cost::Costly {
                    return None;
                }
                self.operations.push((node, 1.0));
            }
            Node::Choose(..) => self.operations.push((node, 0.0)),
            Node::At(..) => self.reads.push(node),
        }
        Some(())
    }

    /// The number of indices of an axis. Lanes along an axis of the results are many, if nothing is
    /// known: what is left over of a tile runs vector by vector, while missing rows of a tile are
    /// computed in vain.
    fn extent(&self, axis: AxisId, sizes: &Nominal) -> f64 {
        let known = self.graph.lit(self.graph.axis(axis).extent);
        let nominal = sizes.extent(self.graph, axis);
        let lanes = self.vector == Some(axis) && !self.reduced.contains(axis);
        if known.is_none() && lanes { nominal.max(cost::TILED as f64) } else { nominal }
    }

    /// The time of an iteration, if the registers suffice.
    fn cost(&self, tile: &[(AxisId, u8)], sizes: &Nominal, target: &Target) -> Option<f64> {
        let free = |node: NodeId| self.graph.free(node);
        let copies = |axes: &Axes| -> f64 {
            let own = tile.iter().filter(|(axis, _)| axes.contains(*axis));
            own.map(|(_, count)| f64::from(*count)).product()
        };
        let all: f64 = tile.iter().map(|(_, count)| f64::from(*count)).product();
        let lanes = |axes: &Axes| self.vector.is_some_and(|axis| axes.contains(axis));
        // Scalars that are equal for all terms are computed before.
        let each = |node: &NodeId| free(*node).meets(&self.reduced);
        let operations = self.operations.iter().filter(|(node, _)| each(node));
        let work = operations.map(|(node, weight)| {
            weight * copies(free(*node)) * if lanes(free(*node)) { 1.0 } else { 0.5 }
        });
        let reads = self.reads.iter().filter(|node| each(node)).map(|node| {
            copies(free(*node)) * if lanes(free(*node)) { 1.0 } else { target.broadcast }
        });
        let (work, reads): (f64, f64) = (work.sum(), reads.sum());
        // Neighbors lie in the rows of one array.
        let array = |node: &NodeId| match self.graph.node(*node) {
            Node::At(array, _) => Content::Array(*array),
            _ => Content::Node(*node),
        };
        let vectors = self.reads.iter().filter(|node| each(node) && lanes(free(**node)));
        let rows = vectors.map(array).collect::<FxHashSet<Content>>().len();
        let stores = 2.0 * self.stores as f64 * all;
        let held = self.sums as f64 * all;
        let shared = self.reads.iter().map(|n| copies(free(*n))).fold(1.0, f64::min);
        let long = self.operations.len() as f64 * all > LARGE as f64;
        if all > 1.0 && (long || held + shared + 2.0 > f64::from(target.registers) - 3.0) {
            return None;
        }
        // A fused multiply-add counts as one operation.
        let reads = reads * target.read + stores;
        let step = work.max(reads).max(self.wait * target.wait)
            + cost::HIDDEN * work.min(reads)
            + cost::ROW * rows as f64
            + 0.3;
        let wasted = |(axis, count): &(AxisId, u8)| {
            let extent = self.extent(*axis, sizes);
            let step = f64::from(*count)
                * if self.vector == Some(*axis) { f64::from(target.lanes) } else { 1.0 };
            (extent / step).ceil() * step / extent
        };
        let waste: f64 = tile.iter().map(wasted).product();
        Some(step / all * waste * cost::LONGER.powf(all.log2()))
    }
}

fn is_sum(placed: &Placed, id: lambada_graph::placed::BufferId) -> bool {
    let Content::Node(node) = placed.buffer(id).content else { return false };
    placed.graph.reduction(node).is_some_and(|(op, _, _)| op == ReduceOp::Add)
}

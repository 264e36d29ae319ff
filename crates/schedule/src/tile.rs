//! P7: several iterations of an axis at once. What they share is read once, and their sums are independent of each other, so the processor need not wait for one
//! to do the next. A contraction becomes the kernel of a matrix product that way; nothing looks for one.

use std::collections::HashSet;

use lambada_prim::Cost;

use crate::graph::{AxisId, Graph, Node, NodeId};
use crate::placed::{Content, Item, Nest, Placed};

/// How many iterations at once.
const TOGETHER: u8 = 4;
/// How many times a read of lanes costs what another one does.
const LANES: usize = 4;
/// The largest body, in operations, that is written several times.
const SMALL: usize = 12;

/// The nests of a program with the axis unrolled that saves most reads.
pub(crate) fn tiled(mut placed: Placed) -> Placed {
    let mut passes = std::mem::take(&mut placed.passes);
    for nest in passes.iter_mut().flat_map(|pass| &mut pass.nests) {
        if nest.carries.is_empty() {
            nest.unroll = axis(&placed, nest).map(|axis| (axis, TOGETHER));
        }
    }
    placed.passes = passes;
    placed
}

fn axis(placed: &Placed, nest: &Nest) -> Option<AxisId> {
    let graph = &placed.graph;
    let mut results: Vec<AxisId> = Vec::new();
    for item in &nest.items {
        let Item::Reduce(id) = item else { return None };
        let kept = &placed.buffer(*id).axes;
        if results.is_empty() {
            results = nest.axes.iter().copied().filter(|axis| kept.contains(axis)).collect();
        }
    }
    results.retain(|axis| Some(*axis) != nest.vector && is_long(graph, *axis));
    let mut body =
        Body { graph, found: HashSet::new(), reads: Vec::new(), operations: 0, costly: false };
    body.found.extend(placed.found(nest).into_iter().map(|(content, _)| content));
    let mut seen = HashSet::new();
    for item in &nest.items {
        placed.value(*item).into_iter().for_each(|value| body.visit(value, &mut seen));
    }
    if body.costly || body.operations > SMALL {
        return None;
    }
    // What has lanes is worth more than what all lanes share.
    let vector = |n: &NodeId| nest.vector.is_some_and(|axis| graph.free(*n).contains(axis));
    let weight = |n: &NodeId| if vector(n) { LANES } else { 1 };
    let saves = |axis: AxisId| {
        let others = body.reads.iter().filter(|n| !graph.free(**n).contains(axis));
        others.map(weight).sum::<usize>()
    };
    let depends = |axis: AxisId| body.reads.iter().any(|n| graph.free(*n).contains(axis));
    results.retain(|axis| depends(*axis) && saves(*axis) > 0);
    results.into_iter().max_by_key(|axis| saves(*axis))
}

/// Has it perhaps several indices?
fn is_long(graph: &Graph, axis: AxisId) -> bool {
    let extent = graph.lit(graph.axis(axis).extent);
    extent.is_none_or(|extent| extent.int() >= i64::from(TOGETHER))
}

/// What is written out in a nest.
struct Body<'a> {
    graph: &'a Graph,
    found: HashSet<Content>,
    /// What is read.
    reads: Vec<NodeId>,
    operations: usize,
    costly: bool,
}

impl Body<'_> {
    fn visit(&mut self, node: NodeId, seen: &mut HashSet<NodeId>) {
        if !seen.insert(node) {
            return;
        }
        if self.found.contains(&Content::Node(node)) {
            self.reads.push(node);
            return;
        }
        self.graph.node(node).parts(&mut |part| {
            if let crate::graph::Part::Node(node) = part {
                self.visit(node, seen);
            }
        });
        match self.graph.node(node) {
            Node::Lit(_) | Node::Index(_) | Node::Reduce(..) => {}
            Node::Prim(op, _) => {
                self.operations += 1;
                self.costly |= op.cost() == Cost::Costly;
            }
            Node::Choose(..) => self.operations += 1,
            Node::At(..) => self.reads.push(node),
        }
    }
}

//! Buffers in the memory of outputs. A value that is stored for all indices, and read only for the
//! element of an output at the same indices, is stored in the place of that element: a gradient of
//! `n` numbers computed from `n` stored ones takes the memory of one array, and half the traffic.
//!
//! *Assumes* that in a nest the loads of an iteration precede its stores. *Keeps* every value.

use lambada_graph::placed::{BufferId, Content, Item, Nest, Placed};
use lambada_graph::{Array, Graph, Node, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The buffers in the memory of outputs, each with its output.
pub(super) fn in_outputs(placed: &Placed) -> FxHashMap<BufferId, BufferId> {
    let nests = || placed.passes.iter().flat_map(|pass| &pass.nests);
    let writers = |id: BufferId| nests().filter(move |nest| writes(nest, id));
    let readers = |id: BufferId| nests().filter(move |nest| nest.reads.contains(&id));
    let mut all = FxHashMap::default();
    for nest in nests() {
        let [Item::Store(output)] = *nest.items.as_slice() else { continue };
        let fits = placed.outputs.contains(&output)
            && writers(output).count() == 1
            && is_plain(nest)
            && element(placed, output).is_some_and(|body| is_at_own_indices(placed, nest, body));
        if !fits {
            continue;
        }
        let stands = |id: &BufferId| {
            let mut writers = writers(*id);
            let stored = writers
                .next()
                .is_some_and(|nest| nest.items.contains(&Item::Store(*id)) && is_plain(nest));
            stored
                && writers.next().is_none()
                && readers(*id).count() == 1
                && alike(placed, *id, output)
        };
        all.extend(nest.reads.iter().copied().find(stands).map(|id| (id, output)));
    }
    all
}

fn writes(nest: &Nest, id: BufferId) -> bool {
    nest.items.iter().any(|item| item.buffer() == id)
}

/// Whether the nest runs its items for all of its indices, in any order.
fn is_plain(nest: &Nest) -> bool {
    nest.guard.is_none() && nest.carries.is_empty()
}

/// The element of an output that is defined elementwise.
fn element(placed: &Placed, output: BufferId) -> Option<NodeId> {
    let Content::Array(array) = placed.buffer(output).content else { return None };
    match placed.graph.array(array) {
        Array::Map(_, body) => Some(*body),
        _ => None, // has parts
    }
}

/// Whether a stored scalar has the element type, the axes and the extent in memory of an output.
fn alike(placed: &Placed, id: BufferId, output: BufferId) -> bool {
    let (own, to) = (placed.buffer(id), placed.buffer(output));
    let (Content::Node(node), Content::Array(array)) = (own.content, to.content) else {
        return false;
    };
    let whole = !own.local && !to.local && !own.single && !to.single;
    whole
        && !placed.outputs.contains(&id)
        && own.axes == to.axes
        && placed.graph.facts(node).elem == placed.graph.array_facts(array).elem
}

/// Whether all reads of stored scalars in a nest are at the indices of its iteration: true unless
/// it sums its reads.
fn is_at_own_indices(placed: &Placed, nest: &Nest, body: NodeId) -> bool {
    let graph: &Graph = &placed.graph;
    let found: FxHashMap<Content, BufferId> = placed.found(nest).into_iter().collect();
    let (mut open, mut seen) = (vec![body], FxHashSet::default());
    while let Some(node) = open.pop() {
        if found.contains_key(&Content::Node(node)) || !seen.insert(node) {
            continue;
        }
        if let Node::Reduce(..) = graph.node(node) {
            return false;
        }
        graph.node(node).scalars(&mut |part| open.push(part));
    }
    true
}

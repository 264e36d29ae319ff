//! Merges two axes of the same extent if one reads the array that the other writes, or if both read
//! the same array. Definitions that differ in the name of an index only are thus computed once.
//!
//! *Keeps* everything: axes are merged only if no definition that one of them runs through depends
//! on the other.

use std::collections::{BTreeMap, BTreeSet};

use lambada_graph::{
    self as graph, Affine, Array, ArrayId, Axes, AxisId, Effect, Graph, Node, NodeId,
};

/// The graph with axes merged.
pub fn merged(graph: &Graph) -> Graph {
    let mut graph = graph::cleaned(graph);
    // Each round removes an axis.
    while let Some((axis, into)) = pair(&graph) {
        graph = graph::merged(&graph, axis, into);
    }
    graph
}

/// An axis, and another one that can replace it.
fn pair(graph: &Graph) -> Option<(AxisId, AxisId)> {
    let apart = Apart::of(graph);
    links(graph).into_iter().find(|(axis, into)| {
        let (a, b) = (graph.axis(*axis), graph.axis(*into));
        let same = |a: NodeId, b: NodeId| Affine::of(graph, a) == Affine::of(graph, b);
        !a.sequential && same(a.extent, b.extent) && !apart.contains(*axis, *into)
    })
}

/// Pairs of axes where one reads an array that the other writes or reads. Reads along the axis of a
/// sequential loop do not count.
fn links(graph: &Graph) -> BTreeSet<(AxisId, AxisId)> {
    let mut links = BTreeSet::new();
    let mut readers: BTreeMap<(ArrayId, usize), Vec<AxisId>> = BTreeMap::new();
    for node in &graph.nodes {
        let Node::At(array, index) = node else { continue };
        for (k, axis) in index.iter().enumerate().filter_map(|(k, i)| Some((k, graph.index(*i)?))) {
            if let Array::Map(own, _) = graph.array(*array) {
                links.insert((axis, own[k]));
            }
            readers.entry((*array, k)).or_default().push(axis);
        }
    }
    for axes in readers.values() {
        let parallel = axes.iter().filter(|axis| !graph.axis(**axis).sequential);
        let pairs = parallel.clone().flat_map(|a| parallel.clone().map(move |b| (*b, *a)));
        links.extend(pairs.filter(|(b, a)| b > a));
    }
    links.retain(|(axis, into)| axis != into);
    links
}

/// Pairs of axes that must stay two: a definition that one runs through depends on the other, or
/// both run together.
struct Apart(BTreeSet<(AxisId, AxisId)>);

impl Apart {
    fn of(graph: &Graph) -> Apart {
        let mut apart = Apart(BTreeSet::new());
        for node in (0..graph.nodes.len() as u32).map(NodeId) {
            apart.all(graph.free(node));
            if let Node::Reduce(_, axes, body) = graph.node(node) {
                apart.inside(axes, graph.free(*body));
            }
        }
        for (k, array) in graph.arrays.iter().enumerate() {
            apart.all(&graph.array_facts(ArrayId(k as u32)).free);
            apart.array(graph, array);
        }
        for (l, (free, _)) in graph.loops.iter().zip(graph.loop_facts_all()) {
            apart.inside(&Axes::one(l.axis), free);
        }
        apart.effects(&graph.effects, &Axes::default());
        apart
    }

    fn array(&mut self, graph: &Graph, array: &Array) {
        if let Array::Map(axes, body) = array {
            self.inside(&axes.iter().copied().collect(), graph.free(*body));
        }
        let Array::Scatter(_, terms) = array else { return };
        for term in terms {
            let parts = term.index.iter().chain(&term.when).chain([&term.value]);
            let free = parts.fold(Axes::default(), |all, n| all.union(graph.free(*n)));
            self.inside(&term.over.iter().copied().collect(), &free);
        }
    }

    fn effects(&mut self, effects: &[Effect], within: &Axes) {
        for effect in effects {
            match effect {
                Effect::Check { .. } => {}
                Effect::For(axis, body) => {
                    let within = within.union(&Axes::one(*axis));
                    self.all(&within);
                    self.effects(body, &within);
                }
                Effect::If(_, then, otherwise) => {
                    self.effects(then, within);
                    self.effects(otherwise, within);
                }
            }
        }
    }

    fn all(&mut self, axes: &Axes) {
        self.inside(axes, axes);
    }

    fn inside(&mut self, bound: &Axes, free: &Axes) {
        let all = bound.union(free);
        for a in bound.iter() {
            self.0.extend(all.iter().filter(|b| *b != a).flat_map(|b| [(a, b), (b, a)]));
        }
    }

    fn contains(&self, a: AxisId, b: AxisId) -> bool {
        self.0.contains(&(a, b))
    }
}

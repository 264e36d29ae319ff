//! Guards: the conditions that hold on every path from the outputs to a definition.

use std::collections::BTreeSet;

use lambada_graph::{Array, Axes, Graph, Node, NodeId, Part};
use rustc_hash::FxHashMap;

/// Conditions, each with the value that it has.
pub(crate) type Conditions = BTreeSet<(NodeId, bool)>;

/// Dataflow analysis: the conditions under which each part is needed, up to a fixpoint.
struct Guards<'a> {
    graph: &'a Graph,
    known: FxHashMap<Part, Conditions>,
    changed: Vec<Part>,
}

/// For each reduction that is needed in branches only: a necessary condition that is arithmetic on
/// the reduction's own indices and on sizes.
pub(crate) fn guards(graph: &Graph) -> FxHashMap<NodeId, (NodeId, bool)> {
    let plain =
        |conditions: Conditions| conditions.into_iter().find(|(cond, _)| is_plain(graph, *cond));
    let of_node = |(part, all): (Part, Conditions)| {
        let Part::Node(node) = part else { return None };
        Some((node, plain(all)?))
    };
    conditions(graph).into_iter().filter_map(of_node).collect()
}

/// For each reduction and each array that is needed in branches only: the necessary conditions on
/// its own indices.
pub(crate) fn conditions(graph: &Graph) -> FxHashMap<Part, Conditions> {
    let mut guards = Guards { graph, known: FxHashMap::default(), changed: Vec::new() };
    for output in &graph.outputs {
        guards.ask(Part::Array(output.array), &Conditions::new());
    }
    graph.effects.iter().for_each(|effect| {
        effect.parts(&mut |part| guards.ask(part, &Conditions::new()));
    });
    while let Some(part) = guards.changed.pop() {
        guards.spread(part);
    }
    let own = |(part, conditions): (&Part, &Conditions)| {
        let free = if let Part::Array(array) = part {
            &graph.array_facts(*array).free
        } else {
            let Part::Node(node) = part else { return None };
            graph.reduction(*node)?;
            graph.free(*node)
        };
        let mut own = conditions.clone();
        own.retain(|(cond, _)| graph.free(*cond).is_subset(free));
        (!own.is_empty()).then_some((*part, own))
    };
    guards.known.iter().filter_map(own).collect()
}

/// Whether a node is arithmetic on indices and sizes.
fn is_plain(graph: &Graph, node: NodeId) -> bool {
    match graph.node(node) {
        Node::Lit(_) | Node::Index(_) => true,
        Node::Prim(_, args) => args.iter().all(|arg| is_plain(graph, *arg)),
        Node::Choose(c, a, b) => [c, a, b].into_iter().all(|n| is_plain(graph, *n)),
        Node::At(_, index) => index.is_empty(),
        Node::Reduce(..) => false,
    }
}

impl Guards<'_> {
    fn ask(&mut self, part: Part, under: &Conditions) {
        let new = match self.known.get(&part) {
            Some(known) => known.intersection(under).copied().collect(),
            None => under.clone(),
        };
        if self.known.get(&part) != Some(&new) {
            self.known.insert(part, new);
            self.changed.push(part);
        }
    }

    fn spread(&mut self, part: Part) {
        let under = self.known[&part].clone();
        let with = |cond: NodeId, holds: bool| {
            let mut more = under.clone();
            more.insert((cond, holds));
            more
        };
        match part {
            Part::Node(node) => match self.graph.node(node) {
                Node::Choose(c, a, b) => {
                    self.ask(Part::Node(*c), &under);
                    self.ask(Part::Node(*a), &with(*c, true));
                    self.ask(Part::Node(*b), &with(*c, false));
                }
                Node::Reduce(_, axes, body) => {
                    let under = self.outside(&under, axes);
                    self.ask(Part::Node(*body), &under);
                }
                Node::Lit(_) | Node::Index(_) | Node::Prim(..) => {
                    self.graph.node(node).parts(&mut |part| self.ask(part, &under));
                }
                // Elements are needed at other indices than the read.
                Node::At(array, index) => {
                    index.iter().for_each(|i| self.ask(Part::Node(*i), &under));
                    let free = &self.graph.array_facts(*array).free;
                    let says = |(cond, _): &&_| self.graph.free(*cond).is_subset(free);
                    self.ask(Part::Array(*array), &under.iter().filter(says).copied().collect());
                }
            },
            Part::Array(array) => match self.graph.array(array) {
                Array::Scatter(init, terms) => {
                    self.ask(Part::Array(*init), &under);
                    for term in terms {
                        let under = self.outside(&under, &term.over.iter().copied().collect());
                        let mut inside = under.clone();
                        inside.extend(term.when.map(|when| (when, true)));
                        for node in term.index.iter().chain([&term.value]) {
                            self.ask(Part::Node(*node), &inside);
                        }
                        term.when.iter().for_each(|n| self.ask(Part::Node(*n), &under));
                    }
                }
                Array::Map(axes, body) => {
                    let under = self.outside(&under, &axes.iter().copied().collect());
                    self.ask(Part::Node(*body), &under);
                    axes.iter().for_each(|axis| self.ask(Part::Axis(*axis), &under));
                }
                array => array.parts(&mut |part| self.ask(part, &under)),
            },
            Part::Axis(axis) => {
                let extent = self.graph.axis(axis).extent;
                self.ask(Part::Node(extent), &Conditions::new());
            }
            Part::Loop(_) => {}
        }
    }

    /// The conditions that do not depend on axes bound inside.
    fn outside(&self, conditions: &Conditions, bound: &Axes) -> Conditions {
        let says = |(cond, _): &&(NodeId, bool)| !self.graph.free(*cond).meets(bound);
        conditions.iter().filter(says).copied().collect()
    }
}

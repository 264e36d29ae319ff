//! Under which conditions is a scalar asked for? Those that hold on every way from what the program gives to it.

use std::collections::{BTreeSet, HashMap};

use crate::graph::{Array, Axes, Graph, Node, NodeId, Part};

/// Conditions that hold, or do not.
pub(crate) type Conditions = BTreeSet<(NodeId, bool)>;

/// For each part that is asked for, the conditions under which it is.
struct Guards<'a> {
    graph: &'a Graph,
    known: HashMap<Part, Conditions>,
    changed: Vec<Part>,
}

/// For each reduction that is asked for in branches only: a condition without which it is not, arithmetic on its own indices and on sizes.
pub(crate) fn guards(graph: &Graph) -> HashMap<NodeId, (NodeId, bool)> {
    let plain =
        |conditions: Conditions| conditions.into_iter().find(|(cond, _)| is_plain(graph, *cond));
    conditions(graph).into_iter().filter_map(|(node, all)| Some((node, plain(all)?))).collect()
}

/// For each reduction that is asked for in branches only: the conditions of its own indices without which it is not.
pub(crate) fn conditions(graph: &Graph) -> HashMap<NodeId, Conditions> {
    let mut guards = Guards { graph, known: HashMap::new(), changed: Vec::new() };
    for output in &graph.outputs {
        guards.ask(Part::Array(output.array), &Conditions::new());
    }
    graph.effects.iter().for_each(|effect| {
        effect.parts(&mut |part| guards.ask(part, &Conditions::new()));
    });
    while let Some(part) = guards.changed.pop() {
        guards.spread(part);
    }
    let all = (0..graph.nodes.len() as u32).map(NodeId);
    let own = |node: NodeId| {
        let free = graph.free(node);
        let mut own = guards.known.get(&Part::Node(node))?.clone();
        own.retain(|(cond, _)| graph.free(*cond).is_subset(free));
        (!own.is_empty()).then_some((node, own))
    };
    all.filter(|node| graph.reduction(*node).is_some()).filter_map(own).collect()
}

/// Is it arithmetic on indices and sizes?
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
                // Elements are asked for at other indices.
                Node::At(array, index) => {
                    index.iter().for_each(|i| self.ask(Part::Node(*i), &under));
                    self.ask(Part::Array(*array), &Conditions::new());
                }
            },
            Part::Array(array) => match self.graph.array(array) {
                Array::Scatter(init, terms) => {
                    self.ask(Part::Array(*init), &Conditions::new());
                    for term in terms {
                        let holds = term.when.map(|when| (when, true));
                        let inside: Conditions = holds.into_iter().collect();
                        for node in term.index.iter().chain([&term.value]) {
                            self.ask(Part::Node(*node), &inside);
                        }
                        let always = Conditions::new();
                        term.when.iter().for_each(|n| self.ask(Part::Node(*n), &always));
                    }
                }
                array => array.parts(&mut |part| self.ask(part, &Conditions::new())),
            },
            Part::Axis(axis) => {
                let extent = self.graph.axis(axis).extent;
                self.ask(Part::Node(extent), &Conditions::new());
            }
            Part::Loop(_) => {}
        }
    }

    /// The conditions that say nothing of indices that are bound inside.
    fn outside(&self, conditions: &Conditions, bound: &Axes) -> Conditions {
        let says = |(cond, _): &&(NodeId, bool)| !self.graph.free(*cond).meets(bound);
        conditions.iter().filter(says).copied().collect()
    }
}

//! Guards: the conditions that hold on every path from the outputs to a definition.

use std::collections::BTreeSet;
use std::rc::Rc;

use lambada_graph::{Array, Axes, Graph, Node, NodeId, Part, any_below, roots, users_first};
use rustc_hash::FxHashMap;

/// Conditions, each with the value that it has.
pub(crate) type Conditions = BTreeSet<(NodeId, bool)>;

/// Dataflow analysis: the conditions under which each part is needed. Users come before their
/// parts, so that only the states of loops are visited twice.
struct Guards<'a> {
    graph: &'a Graph,
    known: FxHashMap<Part, Rc<Conditions>>,
    /// The places of the parts in the order of visits, and those that wait for theirs.
    places: FxHashMap<Part, usize>,
    waiting: BTreeSet<usize>,
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
    let order = users_first(graph, roots(graph));
    let places = order.iter().copied().zip(0..).collect();
    let known = FxHashMap::default();
    let mut guards = Guards { graph, known, places, waiting: BTreeSet::new() };
    let always = Rc::new(Conditions::new());
    roots(graph).into_iter().for_each(|part| guards.ask(part, &always));
    while let Some(place) = guards.waiting.pop_first() {
        guards.spread(order[place]);
    }
    let own = |(part, conditions): (&Part, &Rc<Conditions>)| {
        let free = if let Part::Array(array) = part {
            &graph.array_facts(*array).free
        } else {
            let Part::Node(node) = part else { return None };
            graph.reduction(*node)?;
            graph.free(*node)
        };
        let of_own = |(cond, _): &&(NodeId, bool)| graph.free(*cond).is_subset(free);
        let own: Conditions = conditions.iter().filter(of_own).copied().collect();
        (!own.is_empty()).then_some((*part, own))
    };
    guards.known.iter().filter_map(own).collect()
}

/// Whether a node is arithmetic on indices and sizes.
fn is_plain(graph: &Graph, node: NodeId) -> bool {
    !any_below(node, |node, open| match graph.node(node) {
        Node::At(_, index) => !index.is_empty(),
        Node::Reduce(..) => true,
        node => {
            node.scalars(&mut |part| open.push(part));
            false
        }
    })
}

fn with(conditions: &Conditions, cond: NodeId, holds: bool) -> Rc<Conditions> {
    let mut more = conditions.clone();
    more.insert((cond, holds));
    Rc::new(more)
}

impl Guards<'_> {
    fn ask(&mut self, part: Part, under: &Rc<Conditions>) {
        let new = match self.known.get(&part) {
            Some(known) if Rc::ptr_eq(known, under) || known.is_subset(under) => return,
            Some(known) => Rc::new(known.intersection(under).copied().collect()),
            None => under.clone(),
        };
        self.known.insert(part, new);
        self.waiting.insert(self.places[&part]);
    }

    fn spread(&mut self, part: Part) {
        let under = self.known[&part].clone();
        match part {
            Part::Node(node) => match self.graph.node(node) {
                Node::Choose(c, a, b) => {
                    self.ask(Part::Node(*c), &under);
                    self.ask(Part::Node(*a), &with(&under, *c, true));
                    self.ask(Part::Node(*b), &with(&under, *c, false));
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
                    let outside = under.iter().filter(says).copied().collect();
                    self.ask(Part::Array(*array), &Rc::new(outside));
                }
            },
            Part::Array(array) => match self.graph.array(array) {
                Array::Scatter(init, terms) => {
                    self.ask(Part::Array(*init), &under);
                    for term in terms {
                        let under = self.outside(&under, &term.over.iter().copied().collect());
                        let inside = match term.when {
                            Some(when) => with(&under, when, true),
                            None => under.clone(),
                        };
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
                // Each iteration needs the parts of the next state.
                Array::Carried(l, _) | Array::Final(l, _) => {
                    let under = self.outside(&under, &Axes::one(self.graph.loop_(*l).axis));
                    self.graph.parts(part, &mut |part| self.ask(part, &under));
                }
                array => array.parts(&mut |part| self.ask(part, &under)),
            },
            Part::Axis(axis) => {
                let extent = Part::Node(self.graph.axis(axis).extent);
                self.ask(extent, &Rc::new(Conditions::new()));
            }
            Part::Loop(_) => {}
        }
    }

    /// The conditions that do not depend on axes bound inside.
    fn outside(&self, conditions: &Rc<Conditions>, bound: &Axes) -> Rc<Conditions> {
        let depends = |(cond, _): &(NodeId, bool)| self.graph.free(*cond).meets(bound);
        if !conditions.iter().any(depends) {
            return conditions.clone();
        }
        Rc::new(conditions.iter().filter(|one| !depends(one)).copied().collect())
    }
}

//! P5: a graph becomes a placed program, from its outputs on.
//!
//! A definition gets a nest and a buffer of its own if it is costly, reduced, or needed for fewer
//! indices than its user has; any other is inlined into its users. It belongs to the pass over the
//! blocked axis that [`crate::phases`] assigns, so a value written and read in one pass is kept for
//! one block only.
//!
//! *Assumes* a graph whose sequential loops have scalar states, and whose extents depend on no
//! index; [`place`] gives nothing for others. *Keeps* values up to the order of sums. Scalars that
//! the program computes only in a branch are computed always; a reduction there needs a guard, else
//! there is no placement.

use std::collections::BTreeSet;

use lambada_prim::{Cost, Prim, ReduceOp};
use lambada_source::stack;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::evident;
use crate::guards::guards;
use crate::phases::Phases;
use lambada_graph::cost;
use lambada_graph::placed::{Content, Placed};
use lambada_graph::{
    Array, ArrayId, Axes, AxisId, Graph, LoopId, Mechanism, Mechanisms, Node, NodeId, Nominal,
    is_safe, runs_along, slides,
};

mod batch;
mod carries;
mod conditions;
mod direct;
mod flat;
mod nests;
mod whole;

#[cfg(test)]
pub(crate) use batch::batched;
pub(crate) use batch::grouped;
pub use conditions::placeable;
pub(crate) use flat::rows_of;

use carries::Current;
use conditions::order;
use direct::direct;

/// The most recomputations of a scalar in the nests of a placement, on average. A placement beyond
/// that would cost more than the program as it is, and finding out would take quadratic time,
/// because each of many nests would be expanded down to the inputs.
const EXPANDED: usize = 64;

/// An axis in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The axis.
    pub axis: AxisId,
    /// The axis of the lanes.
    pub lanes: Along,
}

/// The axis of the lanes in the nests of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// The blocked axis, which is innermost in the buffers of a block.
    Block,
    /// The axes of rows; the buffers of a block have the same layout as others.
    Rows,
}

/// The placement with these axes in blocks, if it exists.
pub fn place(graph: &Graph, block: Option<Blocks>, sizes: &Nominal) -> Option<Placed> {
    place_by(Mechanisms::ALL, graph, block, sizes)
}

/// [`place`], with the enabled mechanisms only.
pub(crate) fn place_by(
    by: Mechanisms,
    graph: &Graph,
    blocks: Option<Blocks>,
    sizes: &Nominal,
) -> Option<Placed> {
    if !placeable(graph) {
        return None;
    }
    let block = blocks.map(|blocks| blocks.axis);
    let across = blocks.filter(|blocks| blocks.lanes == Along::Block).map(|blocks| blocks.axis);
    if block.is_some_and(|axis| graph.loops.iter().any(|l| l.axis == axis)) {
        return None;
    }
    let mut graph = carries::with_states(graph);
    graph.checked = evident::checked(&graph);
    let graph = &graph;
    let order = order(graph, across, by);
    let phases = block.map(|axis| Phases::over(graph, axis));
    let mut placer = Placer {
        graph,
        block,
        across,
        phases,
        sizes,
        guards: guards(graph),
        definitions: Vec::new(),
        known: FxHashMap::default(),
        open: FxHashSet::default(),
        order,
        current: Current::default(),
        compared: compared(graph),
        again: if by.has(Mechanism::Rematerialization) { cost::AGAIN } else { 0 },
        left: EXPANDED * graph.nodes.len(),
    };
    let mut outputs = Vec::new();
    for output in &graph.outputs {
        let pass = placer.pass_of_array(output.array);
        outputs.push(placer.array(output.array, pass)?);
    }
    let distinct: BTreeSet<usize> = outputs.iter().copied().collect();
    (distinct.len() == outputs.len()).then(|| direct(placer.finish(&outputs)))
}

/// A definition with a buffer.
struct Definition {
    content: Content,
    pass: u32,
    /// The axes of its nest.
    domain: Axes,
    /// The reduced ones among them.
    reduced: Axes,
    /// The definitions that it reads.
    needs: BTreeSet<usize>,
    /// The passes that read it.
    readers: BTreeSet<u32>,
    kind: NestKind,
    /// The definition is needed only where the condition has this value.
    guard: Option<(NodeId, bool)>,
    /// The loops that its nest runs.
    carries: BTreeSet<LoopId>,
    /// The axes that its nest unrolls.
    whole: Axes,
}

/// The action of the nest of a definition.
#[derive(Clone, PartialEq)]
enum NestKind {
    Store,
    Reduce,
    List,
    /// The state of a loop after its last iteration.
    Last,
    /// Terms added to an array after its first elements: the axes, the number and the operands of
    /// each.
    Scatter(Vec<(Vec<AxisId>, u32, BTreeSet<usize>)>),
}

struct Placer<'a> {
    graph: &'a Graph,
    block: Option<AxisId>,
    /// The blocked axis, if lanes run along it.
    across: Option<AxisId>,
    phases: Option<Phases<'a>>,
    sizes: &'a Nominal,
    guards: FxHashMap<NodeId, (NodeId, bool)>,
    definitions: Vec<Definition>,
    known: FxHashMap<(Content, u32), usize>,
    /// The scalars whose definitions are in progress.
    open: FxHashSet<(NodeId, u32)>,
    order: Vec<AxisId>,
    current: Current,
    /// Scalars that are compared with their own extremum. Each is computed once, so that it equals
    /// the extremum somewhere.
    compared: FxHashSet<NodeId>,
    /// The most cheap operations that are recomputed rather than stored.
    again: usize,
    /// The number of scalars that may still be inlined, by [`EXPANDED`].
    left: usize,
}

impl Placer<'_> {
    fn pass_of(&mut self, node: NodeId) -> u32 {
        self.phases.as_mut().map_or(0, |phases| phases.of(node))
    }

    fn pass_of_array(&mut self, array: ArrayId) -> u32 {
        self.phases.as_mut().map_or(0, |phases| phases.of_array(array))
    }

    fn blocks(&self, axes: &Axes) -> bool {
        self.block.is_some_and(|axis| axes.contains(axis))
    }

    fn add(&mut self, definition: Definition) -> usize {
        let key = (definition.content, definition.pass);
        self.definitions.push(definition);
        self.known.insert(key, self.definitions.len() - 1);
        self.definitions.len() - 1
    }

    /// The definition of a scalar in a pass.
    fn node(&mut self, node: NodeId, pass: u32) -> Option<usize> {
        let content = Content::Node(node);
        if let Some(known) = self.known.get(&(content, pass)) {
            return Some(*known);
        }
        // A state that depends on its own stored value has no nest of its own.
        if !self.open.insert((node, pass)) {
            return None;
        }
        let graph = self.graph;
        let free = graph.free(node);
        let (kind, domain, reduced, body) = match graph.reduction(node) {
            Some((_, axes, body)) => (NestKind::Reduce, free.union(axes), axes.clone(), Some(body)),
            None => match self.last(node) {
                Some((kind, domain, reduced)) => (kind, domain, reduced, None),
                None => (NestKind::Store, free.clone(), Axes::default(), None),
            },
        };
        let guard = self.guards.get(&node).copied();
        let mut needs = BTreeSet::new();
        let outer = self.begin(&domain, &reduced, guard.is_some());
        match (body, self.loop_of(node)) {
            (Some(body), _) => self.visit(body, pass, &domain, &mut needs)?,
            (None, Some(l)) => self.carry(l, pass, &domain, &mut needs)?,
            (None, None) => self.parts(node, pass, &domain, &mut needs)?,
        }
        if let Some((cond, _)) = guard {
            self.visit(cond, pass, &domain, &mut needs)?;
        }
        let carries = self.end(outer);
        self.open.remove(&(node, pass));
        let (readers, whole) = (BTreeSet::new(), Axes::default());
        let definition = Definition {
            content,
            pass,
            domain,
            reduced,
            needs,
            readers,
            kind,
            guard,
            carries,
            whole,
        };
        Some(self.add(definition))
    }

    /// The definition of an array.
    fn array(&mut self, array: ArrayId, pass: u32) -> Option<usize> {
        let content = Content::Array(array);
        if let Some(known) = self.known.get(&(content, pass)) {
            return Some(*known);
        }
        let graph = self.graph;
        let (mut needs, mut domain) = (BTreeSet::new(), Axes::default());
        let (mut reduced, mut whole) = (Axes::default(), Axes::default());
        let outer = self.begin(&domain, &reduced, false);
        let kind = match graph.array(array) {
            Array::Map(axes, body) => {
                let own: Axes = axes.iter().copied().collect();
                let free = &graph.array_facts(array).free;
                if own.len() != axes.len() || own.meets(free) {
                    return None;
                }
                domain = own.union(free);
                self.begin(&domain, &reduced, false);
                whole = whole::whole(graph, axes, *body, self.block);
                self.visit(*body, pass, &domain.without(&whole), &mut needs)?;
                NestKind::Store
            }
            Array::Items(items) => {
                for item in items {
                    self.visit(*item, pass, &domain, &mut needs)?;
                }
                NestKind::List
            }
            Array::Scatter(init, terms) => {
                if let Array::Map(axes, body) = graph.array(*init) {
                    domain = axes.iter().copied().collect();
                    let before = self.before(pass);
                    self.visit(*body, before, &domain, &mut needs)?;
                } else if !self.is_given(*init) {
                    let (from, before) = (self.pass_of_array(*init), self.before(pass));
                    let known = self.array(*init, from)?;
                    self.need(known, before, &mut needs);
                }
                let mut all = Vec::new();
                for (k, term) in (0..).zip(terms) {
                    let over: Axes = term.over.iter().copied().collect();
                    let mut own = BTreeSet::new();
                    self.current.seen.clear();
                    let own_pass = if self.blocks(&over) { pass } else { self.before(pass) };
                    let in_lanes = self.lane_of(term).is_some() && !self.blocks(&over);
                    for part in term.index.iter().chain(&term.when).chain([&term.value]) {
                        if in_lanes {
                            self.visit(*part, own_pass, &over, &mut own)?;
                        } else {
                            self.wanted(*part, own_pass, &over, &mut own)?;
                        }
                    }
                    all.push((term.over.clone(), k, own));
                }
                NestKind::Scatter(all)
            }
            Array::Final(..) => {
                let (kind, around, own) = self.last(graph.scalar(array)?)?;
                (domain, reduced) = (around, own);
                self.begin(&domain, &reduced, false);
                let l = self.loop_of(graph.scalar(array)?)?;
                self.carry(l, pass, &domain, &mut needs)?;
                kind
            }
            Array::Input(_) | Array::Constant(_) | Array::Update(..) | Array::Carried(..) => {
                return None;
            }
        };
        let carries = self.end(outer);
        let (readers, guard) = (BTreeSet::new(), None);
        let definition = Definition {
            content,
            pass,
            domain,
            reduced,
            needs,
            readers,
            kind,
            guard,
            carries,
            whole,
        };
        Some(self.add(definition))
    }

    /// The unblocked pass that a blocked one follows; of an unblocked pass, itself.
    fn before(&self, pass: u32) -> u32 {
        pass - pass % 2
    }

    fn is_given(&self, array: ArrayId) -> bool {
        matches!(self.graph.array(array), Array::Input(_) | Array::Constant(_))
    }

    fn need(&mut self, known: usize, pass: u32, needs: &mut BTreeSet<usize>) {
        self.definitions[known].readers.insert(pass);
        needs.insert(known);
    }

    /// Visits an operand of a term that has a nest of its own: a costly operand is computed before,
    /// in lanes.
    fn wanted(
        &mut self,
        node: NodeId,
        pass: u32,
        domain: &Axes,
        needs: &mut BTreeSet<usize>,
    ) -> Option<()> {
        let same = self.pass_of(node) == pass;
        if same && !self.graph.free(node).is_empty() && self.cone(node) > self.again {
            let known = self.node(node, pass)?;
            self.need(known, pass, needs);
            return Some(());
        }
        self.visit(node, pass, domain, needs)
    }

    /// The number of cheap operations between a scalar and stored values, counted up to one more
    /// than the limit, because the operands of a sum may be sums to any depth.
    fn cone(&self, node: NodeId) -> usize {
        self.cone_within(node, cost::AGAIN + 1)
    }

    fn cone_within(&self, node: NodeId, most: usize) -> usize {
        match self.graph.node(node) {
            _ if most == 0 => 0,
            Node::Prim(op, args) if is_cheap(*op) => {
                let further = |sum, arg: &NodeId| sum + self.cone_within(*arg, most - sum);
                args.iter().fold(1, further)
            }
            Node::Prim(..) | Node::Choose(..) => most,
            Node::Lit(_) | Node::Index(_) | Node::At(..) | Node::Reduce(..) => 0,
        }
    }

    /// The number of cheap operations between a scalar and the values that its pass has stored
    /// anyway: costly results of earlier passes, and values that are equal for all indices. The
    /// search stops at the limit.
    fn again(&mut self, node: NodeId, own: u32, depth: usize) -> usize {
        let many = self.again + 1;
        let graph = self.graph;
        match graph.node(node) {
            Node::Prim(..) | Node::Choose(..) if depth > 0 && graph.free(node).is_empty() => 0,
            Node::Prim(op, _) if !is_cheap(*op) && self.pass_of(node) < own => 0,
            Node::Prim(op, args) if is_cheap(*op) && depth < many => {
                let args = args.iter().map(|arg| self.again(*arg, own, depth + 1));
                1 + args.fold(0, usize::saturating_add).min(many)
            }
            Node::Prim(..) | Node::Choose(..) => many,
            Node::Lit(_) | Node::Index(_) | Node::At(..) | Node::Reduce(..) => 0,
        }
    }

    /// Makes a scalar available in a pass, for the indices of a domain: as a definition of its own,
    /// or inline.
    fn visit(
        &mut self,
        node: NodeId,
        pass: u32,
        domain: &Axes,
        needs: &mut BTreeSet<usize>,
    ) -> Option<()> {
        let graph = self.graph;
        let free = graph.free(node);
        let own = self.pass_of(node);
        if !self.current.seen.insert((node, pass)) {
            return Some(());
        }
        self.left = self.left.checked_sub(1)?;
        if own == pass && self.is_carried(node) {
            let l = self.loop_of(node)?;
            return stack::deeper(|| self.carry(l, pass, domain, needs));
        }
        let home = match graph.node(node) {
            Node::Lit(_) | Node::Index(_) => return Some(()),
            Node::Reduce(..) => Some(own),
            Node::At(..) if self.loop_of(node).is_some() => Some(own),
            Node::At(array, index) => {
                let unsafe_ = !is_safe(graph, *array, index) && !slides(graph, *array, index);
                let again = domain.len() > free.len();
                let packed = self.is_given(*array)
                    && (again && self.is_strided(index) || self.is_packed(index, free, domain));
                let stored = (unsafe_ || packed) && !free.is_empty();
                stored.then_some(if self.is_given(*array) && self.blocks(free) {
                    pass
                } else {
                    own
                })
            }
            Node::Prim(..) | Node::Choose(..) if self.compared.contains(&node) => Some(own),
            Node::Prim(..) | Node::Choose(..) => {
                if own != pass && self.is_index(node) {
                    None
                } else if own != pass {
                    let hoisted = pass % 2 == 1 && !self.blocks(free);
                    (hoisted || self.again(node, own, 0) > self.again).then_some(own)
                } else {
                    let smaller = domain.len() > free.len()
                        && !free.is_empty()
                        && !self.is_index(node)
                        && self.volume(domain) >= cost::SMALLER * self.volume(free);
                    smaller.then_some(pass)
                }
            }
        };
        match home {
            Some(home) => {
                // A scalar without axes is computed where it is needed, once.
                let known = stack::deeper(|| self.node(node, home))?;
                self.need(known, pass, needs);
                Some(())
            }
            None => stack::deeper(|| self.parts(node, pass, domain, needs)),
        }
    }

    /// Whether a scalar is cheap arithmetic on indices.
    fn is_index(&self, node: NodeId) -> bool {
        let plain = |n: &NodeId| match self.graph.node(*n) {
            Node::Lit(_) | Node::Index(_) => true,
            Node::At(_, index) => index.is_empty(),
            Node::Prim(..) | Node::Choose(..) | Node::Reduce(..) => self.is_index(*n),
        };
        match self.graph.node(node) {
            Node::Prim(op, args) => {
                is_cheap(*op) && self.cone(node) <= cost::AGAIN && args.iter().all(plain)
            }
            Node::Lit(_) | Node::Index(_) | Node::Choose(..) | Node::At(..) | Node::Reduce(..) => {
                false
            }
        }
    }

    fn volume(&self, axes: &Axes) -> f64 {
        self.sizes.volume(self.graph, axes)
    }

    /// Whether a read steps through memory along the blocked axis.
    fn is_strided(&self, index: &[NodeId]) -> bool {
        let Some(block) = self.across else { return false };
        let inner = index.split_last().map_or(&[][..], |(_, inner)| inner);
        inner.iter().any(|i| self.graph.free(*i).contains(block))
    }

    /// Whether a read takes rows of the blocked axis that are not contiguous with each other, and
    /// so often that a copy pays: its vectors are aligned, and a block of it fits a cache wherever
    /// the rows are.
    fn is_packed(&self, index: &[NodeId], free: &Axes, domain: &Axes) -> bool {
        let Some(block) = self.across else { return false };
        free.len() > 1
            && runs_along(self.graph, index, block)
            && self.volume(domain) >= cost::OFTEN * self.volume(free)
    }

    fn parts(
        &mut self,
        node: NodeId,
        pass: u32,
        domain: &Axes,
        needs: &mut BTreeSet<usize>,
    ) -> Option<()> {
        let graph = self.graph;
        match graph.node(node) {
            Node::Lit(_) | Node::Index(_) | Node::Reduce(..) => {}
            Node::Prim(_, args) => {
                for arg in args {
                    self.visit(*arg, pass, domain, needs)?;
                }
            }
            Node::Choose(c, a, b) => {
                for part in [c, a, b] {
                    self.visit(*part, pass, domain, needs)?;
                }
            }
            Node::At(array, index) => {
                if !self.is_given(*array) {
                    let from = self.pass_of_array(*array);
                    let known = self.array(*array, from)?;
                    self.need(known, pass, needs);
                }
                for i in index {
                    self.visit(*i, pass, domain, needs)?;
                }
            }
        }
        Some(())
    }
}

/// The operations whose results are compared with their own extremum.
fn compared(graph: &Graph) -> FxHashSet<NodeId> {
    let computed =
        |node: &NodeId| graph.operation(*node).is_some() || graph.choice(*node).is_some();
    let is_extremum = |a: NodeId, b: NodeId| {
        let reduction = graph.reduction(b);
        reduction
            .is_some_and(|(op, _, body)| matches!(op, ReduceOp::Max | ReduceOp::Min) && body == a)
    };
    let all = (0..graph.nodes.len() as u32).map(NodeId);
    let found = all.filter_map(|node| match graph.operation(node) {
        Some((Prim::Eq, [a, b])) if is_extremum(*a, *b) => Some(*a),
        Some((Prim::Eq, [a, b])) if is_extremum(*b, *a) => Some(*b),
        Some(_) | None => None,
    });
    found.filter(computed).collect()
}

/// Whether an operation is recomputed rather than stored.
pub(crate) fn is_cheap(op: Prim) -> bool {
    op.cost() == Cost::Cheap
}

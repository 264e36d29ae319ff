//! P5: a graph  becomes  a placed program, from its outputs on.
//!
//! What is costly, reduced, or needed for fewer indices than its user has gets a nest and a buffer of its own; all else is written out where it is needed.
//! A definition belongs to the pass over the blocked axis that [`crate::phases`] gives it, so what is written and read in one pass is kept for one block only.
//!
//! *Assumes* a graph without sequential loops and with extents that depend on no index; [`place`] gives nothing for others. *Keeps* values up to the order
//! of sums. What the program computes only in a branch is computed always, if it is cheap; else there is no placement.

use std::collections::{BTreeSet, HashMap};

use lambada_prim::{Cost, Prim};
use lambada_source::stack;

use crate::cost::Nominal;
use crate::graph::{Array, ArrayId, Axes, AxisId, Graph, Node, NodeId};
use crate::phases::Phases;
use crate::placed::{Buffer, BufferId, Content, Item, Nest, Pass, Placed};

/// How many cheap operations are done again rather than stored.
const AGAIN: usize = 3;
/// How many times smaller a definition's domain is than that of its user, if it gets a nest of its own.
const SMALLER: f64 = 4.0;
/// An axis that is known to have fewer indices is never that of lanes.
const SHORT: i64 = 8;

/// The placement with the given axis in blocks, if there is one.
pub fn place(graph: &Graph, block: Option<AxisId>, sizes: &Nominal) -> Option<Placed> {
    if !placeable(graph) {
        return None;
    }
    let order = order(graph, block);
    let phases = block.map(|axis| Phases::over(graph, axis));
    let mut placer = Placer {
        graph,
        block,
        phases,
        sizes,
        definitions: Vec::new(),
        known: HashMap::new(),
        order,
    };
    let mut outputs = Vec::new();
    for output in &graph.outputs {
        let pass = placer.pass_of_array(output.array);
        outputs.push(placer.array(output.array, pass)?);
    }
    let distinct: BTreeSet<usize> = outputs.iter().copied().collect();
    (distinct.len() == outputs.len()).then(|| placer.finish(&outputs))
}

/// Is it a graph that we place?
pub fn placeable(graph: &Graph) -> bool {
    let simple = |axis: &crate::graph::Axis| graph.free(axis.extent).is_empty();
    let costly = |k: usize| {
        let node = NodeId(k as u32);
        graph.facts(node).lazy && graph.reduction(node).is_some()
    };
    let array = |k: usize| {
        let (array, facts) = (&graph.arrays[k], graph.array_facts(ArrayId(k as u32)));
        let given = matches!(array, Array::Input(_) | Array::Constant(_));
        given || !facts.lazy && facts.free.is_empty()
    };
    graph.loops.is_empty()
        && graph.axes.iter().all(simple)
        && !(0..graph.nodes.len()).any(costly)
        && (0..graph.arrays.len()).all(array)
}

/// P6: the axes, those first that are contiguous in most of what is read and written; the blocked one before all.
fn order(graph: &Graph, block: Option<AxisId>) -> Vec<AxisId> {
    let mut score = vec![0i64; graph.axes.len()];
    for node in &graph.nodes {
        if let Node::At(_, index) = node
            && let Some(axis) = index.last().and_then(|i| graph.index(*i))
        {
            score[axis.0 as usize] += 1;
        }
    }
    for output in &graph.outputs {
        if let Array::Map(axes, _) = graph.array(output.array)
            && let Some(axis) = axes.last()
        {
            score[axis.0 as usize] += 1;
        }
    }
    let mut axes: Vec<AxisId> = (0..graph.axes.len() as u32).map(AxisId).collect();
    axes.sort_by_key(|axis| (Some(*axis) != block, -score[axis.0 as usize]));
    axes
}

/// Is the access in range wherever its axes run?
pub(crate) fn is_safe(graph: &Graph, array: ArrayId, index: &[NodeId]) -> bool {
    let dims: Vec<Option<NodeId>> = match graph.array(array) {
        Array::Input(k) => graph.inputs[*k as usize].dims.iter().copied().map(Some).collect(),
        Array::Map(axes, _) => axes.iter().map(|axis| Some(graph.axis(*axis).extent)).collect(),
        Array::Scatter(init, _) => return is_safe(graph, *init, index),
        Array::Constant(_) | Array::Items(_) | Array::Carried(..) | Array::Final(..) => {
            vec![None; index.len()]
        }
    };
    let fits = |(i, dim): (&NodeId, &Option<NodeId>)| {
        graph.index(*i).is_some_and(|axis| Some(graph.axis(axis).extent) == *dim)
    };
    index.iter().zip(&dims).all(fits)
}

/// A definition with a buffer.
struct Definition {
    content: Content,
    pass: u32,
    /// The axes of its nest.
    domain: Axes,
    /// Those of them that are reduced.
    reduced: Axes,
    /// What it reads.
    needs: BTreeSet<usize>,
    /// The passes in which it is read.
    readers: BTreeSet<u32>,
    kind: Kind,
}

/// What the nest of a definition does.
#[derive(Clone, PartialEq)]
enum Kind {
    Store,
    Reduce,
    List,
    /// The array, the first elements, and terms with their axes and what they read.
    Scatter(Vec<(Vec<AxisId>, u32, BTreeSet<usize>)>),
}

struct Placer<'a> {
    graph: &'a Graph,
    block: Option<AxisId>,
    phases: Option<Phases<'a>>,
    sizes: &'a Nominal,
    definitions: Vec<Definition>,
    known: HashMap<(Content, u32), usize>,
    order: Vec<AxisId>,
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
        let graph = self.graph;
        let free = graph.free(node);
        let (kind, domain, reduced, body) = match graph.reduction(node) {
            Some((_, axes, body)) => (Kind::Reduce, free.union(axes), axes.clone(), Some(body)),
            None => (Kind::Store, free.clone(), Axes::default(), None),
        };
        let mut needs = BTreeSet::new();
        match body {
            Some(body) => self.visit(body, pass, &domain, &mut needs)?,
            None => self.parts(node, pass, &domain, &mut needs)?,
        }
        let readers = BTreeSet::new();
        Some(self.add(Definition { content, pass, domain, reduced, needs, readers, kind }))
    }

    /// The definition of an array.
    fn array(&mut self, array: ArrayId, pass: u32) -> Option<usize> {
        let content = Content::Array(array);
        if let Some(known) = self.known.get(&(content, pass)) {
            return Some(*known);
        }
        let graph = self.graph;
        let (mut needs, mut domain) = (BTreeSet::new(), Axes::default());
        let kind = match graph.array(array) {
            Array::Map(axes, body) => {
                domain = axes.iter().copied().collect();
                if domain.len() != axes.len() {
                    return None;
                }
                self.visit(*body, pass, &domain, &mut needs)?;
                Kind::Store
            }
            Array::Items(items) => {
                for item in items {
                    self.visit(*item, pass, &domain, &mut needs)?;
                }
                Kind::List
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
                    let own_pass = if self.blocks(&over) { pass } else { self.before(pass) };
                    for part in term.index.iter().chain(&term.when).chain([&term.value]) {
                        self.wanted(*part, own_pass, &over, &mut own)?;
                    }
                    all.push((term.over.clone(), k, own));
                }
                Kind::Scatter(all)
            }
            Array::Input(_) | Array::Constant(_) | Array::Carried(..) | Array::Final(..) => {
                return None;
            }
        };
        let (reduced, readers) = (Axes::default(), BTreeSet::new());
        Some(self.add(Definition { content, pass, domain, reduced, needs, readers, kind }))
    }

    /// The last pass before one over blocks.
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

    /// What is added at computed places is computed before, in lanes.
    fn wanted(
        &mut self,
        node: NodeId,
        pass: u32,
        domain: &Axes,
        needs: &mut BTreeSet<usize>,
    ) -> Option<()> {
        let same = self.pass_of(node) == pass;
        if same && !self.graph.free(node).is_empty() && self.cone(node) > AGAIN {
            let known = self.node(node, pass)?;
            self.need(known, pass, needs);
            return Some(());
        }
        self.visit(node, pass, domain, needs)
    }

    /// How many cheap operations lead from what is stored to a scalar.
    fn cone(&self, node: NodeId) -> usize {
        match self.graph.node(node) {
            Node::Prim(op, args) if is_cheap(*op) => {
                1 + args.iter().map(|arg| self.cone(*arg)).fold(0, usize::saturating_add).min(100)
            }
            Node::Prim(..) | Node::Choose(..) => 100,
            Node::Lit(_) | Node::Index(_) | Node::At(..) | Node::Reduce(..) => 0,
        }
    }

    /// A scalar is wanted in a pass, for indices of a domain.
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
        let home = match graph.node(node) {
            Node::Lit(_) | Node::Index(_) => return Some(()),
            Node::Reduce(..) => Some(own),
            Node::At(array, index) => {
                let unsafe_ = !is_safe(graph, *array, index);
                let packed = self.is_strided(index) && domain.len() > free.len();
                let stored = (unsafe_ || packed) && !free.is_empty();
                stored.then_some(if self.is_given(*array) && self.blocks(free) {
                    pass
                } else {
                    own
                })
            }
            Node::Prim(..) | Node::Choose(..) => {
                if own != pass {
                    let hoisted = pass % 2 == 1 && !self.blocks(free);
                    (hoisted || self.cone(node) > AGAIN).then_some(own)
                } else {
                    let smaller = domain.len() > free.len()
                        && !free.is_empty()
                        && self.volume(domain) >= SMALLER * self.volume(free);
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

    fn volume(&self, axes: &Axes) -> f64 {
        self.sizes.volume(self.graph, axes)
    }

    /// Does it step through memory along the blocked axis?
    fn is_strided(&self, index: &[NodeId]) -> bool {
        let Some(block) = self.block else { return false };
        let inner = index.split_last().map_or(&[][..], |(_, inner)| inner);
        inner.iter().any(|i| self.graph.free(*i).contains(block))
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

    // The program

    fn finish(self, outputs: &[usize]) -> Placed {
        let buffers = self.definitions.iter().map(|d| self.buffer_of(d)).collect();
        let last = self.definitions.iter().map(|d| d.pass).max().unwrap_or(0);
        let passes = (0..=last).map(|pass| self.nests(pass)).filter(|pass| !pass.nests.is_empty());
        Placed {
            graph: self.graph.clone(),
            block: self.block,
            buffers,
            passes: passes.collect(),
            outputs: outputs.iter().map(|k| BufferId(*k as u32)).collect(),
        }
    }

    fn buffer_of(&self, definition: &Definition) -> Buffer {
        let axes = match definition.content {
            Content::Node(node) => self.layout(self.graph.free(node)),
            Content::Array(array) => match self.graph.array(array) {
                Array::Map(axes, _) => axes.clone(),
                Array::Scatter(init, _) => match self.graph.array(*init) {
                    Array::Map(axes, _) => axes.clone(),
                    Array::Input(_)
                    | Array::Constant(_)
                    | Array::Items(_)
                    | Array::Scatter(..)
                    | Array::Carried(..)
                    | Array::Final(..) => Vec::new(),
                },
                Array::Input(_)
                | Array::Constant(_)
                | Array::Items(_)
                | Array::Carried(..)
                | Array::Final(..) => Vec::new(),
            },
        };
        let own = |pass: &u32| *pass == definition.pass;
        let local = matches!(definition.content, Content::Node(_))
            && definition.pass % 2 == 1
            && self.block.is_some_and(|block| axes.contains(&block))
            && definition.readers.iter().all(own);
        Buffer { content: definition.content, axes, local }
    }

    /// Axes as a buffer has them: the first in the order is contiguous.
    fn layout(&self, axes: &Axes) -> Vec<AxisId> {
        self.order.iter().rev().copied().filter(|axis| axes.contains(*axis)).collect()
    }

    /// The nests of a pass.
    fn nests(&self, pass: u32) -> Pass {
        let mut all: Vec<Built> = Vec::new();
        let mut placed: HashMap<usize, usize> = HashMap::new();
        for (k, definition) in self.definitions.iter().enumerate() {
            self.scattered(k, definition, pass, &mut all, &mut placed);
            if definition.pass != pass || matches!(definition.kind, Kind::Scatter(_)) {
                continue;
            }
            let joins = |need: &usize| {
                let at = *placed.get(need)?;
                let other = &self.definitions[*need];
                let here = all[at].domain == definition.domain
                    && other.kind == Kind::Store
                    && matches!(other.content, Content::Node(_));
                Some(if here { at } else { at + 1 })
            };
            let first = definition.needs.iter().filter_map(joins).max().unwrap_or(0);
            let alone = self.is_scalar(definition.content);
            let at = (first..all.len()).find(|at| !alone && all[*at].takes(definition));
            let at = at.unwrap_or_else(|| {
                all.push(Built { alone, ..Built::new(definition.domain.clone()) });
                all.len() - 1
            });
            let item = match definition.kind {
                Kind::Reduce => Item::Reduce(BufferId(k as u32)),
                Kind::List => Item::List(BufferId(k as u32)),
                Kind::Store | Kind::Scatter(_) => Item::Store(BufferId(k as u32)),
            };
            all[at].add(item, &definition.reduced, &definition.needs);
            placed.insert(k, at);
        }
        Pass {
            blocked: pass % 2 == 1,
            nests: all.into_iter().map(|built| self.nest(built, pass % 2 == 1)).collect(),
        }
    }

    /// The nests of an array that is added to: the first elements before the pass over blocks, then each term.
    fn scattered(
        &self,
        k: usize,
        definition: &Definition,
        pass: u32,
        all: &mut Vec<Built>,
        placed: &mut HashMap<usize, usize>,
    ) {
        let Kind::Scatter(terms) = &definition.kind else { return };
        let id = BufferId(k as u32);
        let before = self.before(definition.pass);
        if pass == before {
            let mut built = Built::new(definition.domain.clone());
            let copied = definition.domain.is_empty();
            let item = if copied { Item::Copy(id) } else { Item::Store(id) };
            built.add(item, &Axes::default(), &definition.needs);
            built.alone = true;
            all.push(built);
        }
        for (over, term, needs) in terms {
            let axes: Axes = over.iter().copied().collect();
            let own = if self.blocks(&axes) { definition.pass } else { before };
            if pass == own {
                let mut built = Built::new(axes.clone());
                built.add(Item::Add(id, *term), &axes, needs);
                built.alone = true;
                all.push(built);
            }
        }
        placed.insert(k, all.len().saturating_sub(1));
    }

    fn nest(&self, built: Built, blocked: bool) -> Nest {
        let scalar = |item: &Item| match item {
            Item::Add(..) | Item::List(_) | Item::Copy(_) => true,
            Item::Store(buffer) | Item::Reduce(buffer) => {
                self.is_scalar(self.definitions[buffer.0 as usize].content)
            }
        };
        let block = if blocked { self.block } else { None };
        let fit = |axis: &AxisId| built.domain.contains(*axis) && self.is_long(*axis);
        let vector = block.filter(fit).or_else(|| self.order.iter().copied().find(fit));
        let vector = vector.filter(|_| !built.items.iter().any(scalar));
        let mut axes: Vec<AxisId> = built.domain.iter().collect();
        let at = |axis: &AxisId| self.order.iter().position(|other| other == axis);
        axes.sort_by_key(|axis| {
            let contiguous = Some(*axis) == vector;
            (built.reduced.contains(*axis), contiguous, std::cmp::Reverse(at(axis)))
        });
        let reads = built.needs.into_iter().map(|k| BufferId(k as u32)).collect();
        Nest { axes, vector, unroll: None, reads, items: built.items }
    }

    /// Has it perhaps enough indices for lanes?
    fn is_long(&self, axis: AxisId) -> bool {
        let extent = self.graph.lit(self.graph.axis(axis).extent);
        extent.is_none_or(|extent| extent.int() >= SHORT)
    }

    /// Is it something that lanes cannot do: an access that may be out of range?
    fn is_scalar(&self, content: Content) -> bool {
        let Content::Node(node) = content else { return false };
        match self.graph.node(node) {
            Node::At(array, index) => !is_safe(self.graph, *array, index),
            Node::Lit(_)
            | Node::Index(_)
            | Node::Prim(..)
            | Node::Choose(..)
            | Node::Reduce(..) => false,
        }
    }
}

/// A nest that is being filled.
struct Built {
    domain: Axes,
    reduced: Axes,
    needs: BTreeSet<usize>,
    items: Vec<Item>,
    alone: bool,
}

impl Built {
    fn new(domain: Axes) -> Built {
        Built {
            domain,
            reduced: Axes::default(),
            needs: BTreeSet::new(),
            items: Vec::new(),
            alone: false,
        }
    }

    fn takes(&self, definition: &Definition) -> bool {
        let reduced = &definition.reduced;
        !self.alone
            && self.domain == definition.domain
            && (self.reduced.is_empty() || reduced.is_empty() || self.reduced == *reduced)
    }

    fn add(&mut self, item: Item, reduced: &Axes, needs: &BTreeSet<usize>) {
        self.items.push(item);
        self.reduced = self.reduced.union(reduced);
        self.needs.extend(needs);
    }
}

/// Is it done again rather than stored?
pub(crate) fn is_cheap(op: Prim) -> bool {
    op.cost() == Cost::Cheap
}

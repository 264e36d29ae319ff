//! The buffers of definitions, and their nests. Definitions of one pass with equal domains share a
//! nest, unless an operand of one lies between.

use std::collections::{BTreeMap, BTreeSet};

use super::{Definition, NestKind, Placer};
use lambada_graph::cost;
use lambada_graph::placed::{Buffer, BufferId, Content, Item, Nest, Pass, Placed};
use lambada_graph::{Array, Axes, AxisId, LoopId, Node, NodeId, Term, is_safe, runs_along, slides};
use rustc_hash::FxHashMap;

/// The number of vectors that run the iterations of a sequential loop together.
const TOGETHER: u8 = 4;

impl Placer<'_> {
    /// The program, once all definitions exist.
    pub(super) fn finish(self, outputs: &[usize]) -> Placed {
        let buffers = self.definitions.iter().map(|d| self.buffer_of(d)).collect();
        let passes = self.by_pass().into_iter().map(|(pass, own)| self.nests(pass, &own));
        let passes = passes.filter(|pass| !pass.nests.is_empty());
        Placed {
            graph: self.graph.clone(),
            block: self.block,
            batch: None,
            buffers,
            passes: passes.collect(),
            outputs: outputs.iter().map(|k| BufferId(*k as u32)).collect(),
        }
    }

    fn buffer_of(&self, definition: &Definition) -> Buffer {
        let axes = match definition.content {
            Content::Node(node) => self.layout(self.graph.free(node)),
            Content::Array(array) => match self.graph.array(array) {
                Array::Map(axes, _) if self.graph.array_facts(array).free.is_empty() => {
                    axes.clone()
                }
                Array::Map(..) => self.layout(&definition.domain),
                Array::Scatter(init, _) => match self.graph.array(*init) {
                    Array::Map(axes, _) => axes.clone(),
                    Array::Input(_)
                    | Array::Constant(_)
                    | Array::Items(_)
                    | Array::Scatter(..)
                    | Array::Update(..)
                    | Array::Carried(..)
                    | Array::Final(..) => Vec::new(),
                },
                Array::Input(_)
                | Array::Constant(_)
                | Array::Items(_)
                | Array::Update(..)
                | Array::Carried(..)
                | Array::Final(..) => Vec::new(),
            },
        };
        let own = |pass: &u32| *pass == definition.pass;
        let parts = match definition.content {
            Content::Node(node) => self.graph.free(node),
            Content::Array(array) => &self.graph.array_facts(array).free,
        };
        let local =
            self.blocks(parts) && definition.pass % 2 == 1 && definition.readers.iter().all(own);
        Buffer { content: definition.content, axes, local, single: false }
    }

    /// The axes in the layout of a buffer: the first one in the order is contiguous.
    fn layout(&self, axes: &Axes) -> Vec<AxisId> {
        self.order.iter().rev().copied().filter(|axis| axes.contains(*axis)).collect()
    }

    /// The definitions with nests in each pass, in order. An array that a blocked pass adds to
    /// begins in the pass before.
    fn by_pass(&self) -> BTreeMap<u32, Vec<usize>> {
        let mut passes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (k, definition) in self.definitions.iter().enumerate() {
            let scattered = matches!(definition.kind, NestKind::Scatter(_));
            let before = Some(self.before(definition.pass));
            let before = before.filter(|pass| scattered && *pass != definition.pass);
            for pass in before.into_iter().chain([definition.pass]) {
                passes.entry(pass).or_default().push(k);
            }
        }
        passes
    }

    /// The nests of a pass.
    fn nests(&self, pass: u32, own: &[usize]) -> Pass {
        let mut all: Vec<Built> = Vec::new();
        let mut placed: FxHashMap<usize, usize> = FxHashMap::default();
        for k in own.iter().copied() {
            let definition = &self.definitions[k];
            self.scattered(k, definition, pass, &mut all, &mut placed);
            if definition.pass != pass || matches!(definition.kind, NestKind::Scatter(_)) {
                continue;
            }
            let first = self.first(&definition.domain, &definition.needs, &all, &placed);
            let alone = self.is_scalar(definition.content);
            let at = (first..all.len()).find(|at| !alone && all[*at].takes(definition));
            let at = at.unwrap_or_else(|| {
                let (guard, carries) = (definition.guard, definition.carries.clone());
                let (domain, whole) = (definition.domain.clone(), definition.whole.clone());
                all.push(Built { alone, guard, carries, whole, ..Built::new(domain) });
                all.len() - 1
            });
            let item = match definition.kind {
                NestKind::Reduce => Item::Reduce(BufferId(k as u32)),
                NestKind::List => Item::List(BufferId(k as u32)),
                NestKind::Last => Item::Last(BufferId(k as u32)),
                NestKind::Store | NestKind::Scatter(_) => Item::Store(BufferId(k as u32)),
            };
            all[at].add(item, &definition.reduced, &definition.needs);
            placed.insert(k, at);
        }
        Pass {
            blocked: pass % 2 == 1,
            nests: all.into_iter().map(|built| self.nest(built, pass % 2 == 1)).collect(),
        }
    }

    /// The first nest that may take a definition or a term with these operands.
    fn first(
        &self,
        domain: &Axes,
        needs: &BTreeSet<usize>,
        all: &[Built],
        placed: &FxHashMap<usize, usize>,
    ) -> usize {
        let joins = |need: &usize| {
            let at = *placed.get(need)?;
            let other = &self.definitions[*need];
            let here = all[at].domain == *domain
                && other.kind == NestKind::Store
                && matches!(other.content, Content::Node(_));
            Some(if here { at } else { at + 1 })
        };
        needs.iter().filter_map(joins).max().unwrap_or(0)
    }

    /// The nests of an array with additions: the first elements before the blocked pass, then each
    /// term. Terms in lanes share a nest with others that have the same axes. In a blocked pass
    /// each term has a nest of its own, because nests may run together in groups.
    fn scattered(
        &self,
        k: usize,
        definition: &Definition,
        pass: u32,
        all: &mut Vec<Built>,
        placed: &mut FxHashMap<usize, usize>,
    ) {
        let NestKind::Scatter(terms) = &definition.kind else { return };
        let id = BufferId(k as u32);
        let before = self.before(definition.pass);
        let mut last = None;
        let in_place = match definition.content {
            Content::Array(array) => self.graph.added_in_place(array).is_some(),
            Content::Node(_) => false,
        };
        if pass == before && !in_place {
            let mut built = Built::new(definition.domain.clone());
            let copied = definition.domain.is_empty();
            let item = if copied { Item::Copy(id) } else { Item::Store(id) };
            built.add(item, &Axes::default(), &definition.needs);
            built.alone = true;
            all.push(built);
            last = Some(all.len() - 1);
        }
        // Additions come after the first elements.
        let begin = last.map_or(0, |at| at + 1);
        for (over, term, needs) in terms {
            let axes: Axes = over.iter().copied().collect();
            let own = if self.blocks(&axes) { definition.pass } else { before };
            if pass == own {
                let lane = self.lane_of_term(id, *term).filter(|_| !self.blocks(&axes));
                let first = self.first(&axes, needs, all, placed).max(begin);
                let at = (first..all.len()).find(|at| lane.is_some() && all[*at].adds(&axes, lane));
                let at = at.unwrap_or_else(|| {
                    all.push(Built { alone: lane.is_none(), ..Built::new(axes.clone()) });
                    all.len() - 1
                });
                all[at].lane = self.lane_of_term(id, *term);
                all[at].add(Item::Add(id, *term), &Axes::default(), needs);
                last = last.max(Some(at));
            }
        }
        placed.extend(last.map(|at| (k, at)));
    }

    fn nest(&self, built: Built, blocked: bool) -> Nest {
        let scalar = |item: &Item| match item {
            Item::List(_) | Item::Copy(_) => true,
            Item::Add(id, k) => self.lane_of_term(*id, *k).is_none(),
            Item::Store(buffer) | Item::Reduce(buffer) | Item::Last(buffer) => {
                self.is_scalar(self.definitions[buffer.0 as usize].content)
            }
        };
        let block = if blocked { self.across } else { None };
        let runs = |axis: &AxisId| self.runs(*axis, &built.carries);
        let fit =
            |axis: &AxisId| built.domain.contains(*axis) && self.is_long(*axis) && !runs(axis);
        let fit = |axis: &AxisId| fit(axis) && !built.whole.contains(*axis);
        let fit = |axis: &AxisId| fit(axis) && built.lane.is_none_or(|own| own == *axis);
        let vector = block.filter(fit).or_else(|| self.order.iter().copied().find(fit));
        let vector = vector.filter(|_| !built.items.iter().any(scalar));
        let mut axes: Vec<AxisId> = built.domain.iter().collect();
        let at = |axis: &AxisId| self.order.iter().position(|other| other == axis);
        axes.sort_by_key(|axis| {
            let contiguous = Some(*axis) == vector;
            let (reduced, whole) = (built.reduced.contains(*axis), built.whole.contains(*axis));
            (runs(axis), reduced, contiguous, whole, std::cmp::Reverse(at(axis)))
        });
        let reads = built.needs.into_iter().map(|k| BufferId(k as u32)).collect();
        let carries: Vec<LoopId> = built.carries.iter().copied().collect();
        // Each state waits for the one before; the states of several vectors do not wait for each
        // other.
        let apart = vector.filter(|_| !carries.is_empty()).map(|axis| (axis, TOGETHER));
        Nest {
            axes,
            vector,
            guard: built.guard,
            tile: apart.into_iter().collect(),
            group: None,
            carries,
            direction: None,
            whole: built.whole.iter().collect(),
            reads,
            items: built.items,
        }
    }

    /// The axis along which a term adds to consecutive elements.
    fn lane_of_term(&self, id: BufferId, k: u32) -> Option<AxisId> {
        let Content::Array(array) = self.definitions[id.0 as usize].content else { return None };
        let Array::Scatter(_, terms) = self.graph.array(array) else { return None };
        self.lane_of(&terms[k as usize])
    }

    /// [`Self::lane_of_term`] of a term.
    pub(super) fn lane_of(&self, term: &Term) -> Option<AxisId> {
        let over: Axes = term.over.iter().copied().collect();
        let along = |axis: &AxisId| {
            let when = term.when.is_none_or(|when| !self.graph.free(when).contains(*axis));
            when && runs_along(self.graph, &term.index, *axis)
        };
        over.iter().find(|axis| along(axis) && self.is_long(*axis))
    }

    /// Whether an axis may be long enough for lanes.
    fn is_long(&self, axis: AxisId) -> bool {
        let extent = self.graph.lit(self.graph.axis(axis).extent);
        extent.is_none_or(|extent| extent.int() >= cost::SHORT)
    }

    /// Whether lanes cannot compute a scalar, because it reads an array perhaps out of range.
    fn is_scalar(&self, content: Content) -> bool {
        let Content::Node(node) = content else { return false };
        match self.graph.node(node) {
            Node::At(array, index) => {
                !is_safe(self.graph, *array, index) && !slides(self.graph, *array, index)
            }
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
    /// The axis of lanes that add to consecutive elements.
    lane: Option<AxisId>,
    guard: Option<(NodeId, bool)>,
    carries: BTreeSet<LoopId>,
    whole: Axes,
}

impl Built {
    fn new(domain: Axes) -> Built {
        Built {
            domain,
            reduced: Axes::default(),
            needs: BTreeSet::new(),
            items: Vec::new(),
            alone: false,
            lane: None,
            guard: None,
            carries: BTreeSet::new(),
            whole: Axes::default(),
        }
    }

    fn takes(&self, definition: &Definition) -> bool {
        let reduced = &definition.reduced;
        !self.alone
            && self.guard == definition.guard
            && self.carries == definition.carries
            && self.whole == definition.whole
            && self.domain == definition.domain
            && (self.reduced.is_empty() || reduced.is_empty() || self.reduced == *reduced)
    }

    /// Whether the nest accepts a term that lanes along an axis add.
    fn adds(&self, over: &Axes, lane: Option<AxisId>) -> bool {
        !self.alone
            && self.guard.is_none()
            && self.carries.is_empty()
            && self.whole.is_empty()
            && self.domain == *over
            && self.reduced.is_empty()
            && (self.lane.is_none() || self.lane == lane)
    }

    fn add(&mut self, item: Item, reduced: &Axes, needs: &BTreeSet<usize>) {
        self.items.push(item);
        self.reduced = self.reduced.union(reduced);
        self.needs.extend(needs);
    }
}

//! The syntax. A pass is a sequence of nests. A *blocked* pass runs all of its nests for one block
//! of an axis after the other, so the buffers between them fit a cache. A nest computes its items
//! for each combination of indices; it reads some definitions from buffers, and inlines the others.

use crate::{Array, ArrayId, Axes, AxisId, Graph, LoopId, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most axes that a nest unrolls.
pub const WHOLE: usize = 2;

/// The largest distance of the elements that a nest keeps in registers for later indices.
pub const REACH: i64 = 8;

/// Index of a buffer in [`Placed::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// The content of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Content {
    /// A scalar, for all indices of its free axes.
    Node(NodeId),
    /// The elements of an array.
    Array(ArrayId),
}

/// Memory for a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its content.
    pub content: Content,
    /// Its axes; the last one is contiguous. None for a `Content::Array` that is no map: its sizes
    /// are those of the array.
    pub axes: Vec<AxisId>,
    /// Whether it holds one block of the blocked axis only.
    pub local: bool,
    /// Whether it holds one index of the batch axis only.
    pub single: bool,
}

/// The action of a nest for each combination of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// `buffer[axes] = value`
    Store(BufferId),
    /// `buffer[axes] ⊕= term`, over the axes of the nest that are not the buffer's. Its elements
    /// are units before the first term.
    Reduce(BufferId),
    /// All elements of an array literal.
    List(BufferId),
    /// The initial elements of an array with additions.
    Copy(BufferId),
    /// The k-th term of an array with additions.
    Add(BufferId, u32),
    /// The state of a loop that the nest runs, after the last iteration.
    Last(BufferId),
}

/// The order of the indices of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the first index on.
    Up,
    /// From the last index on.
    Down,
}

/// A nest of loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// The axes, outermost first.
    pub axes: Vec<AxisId>,
    /// The axis of the lanes.
    pub vector: Option<AxisId>,
    /// Its reductions are needed only where the condition has this value.
    pub guard: Option<(NodeId, bool)>,
    /// The tile: several iterations at once of at most two axes; of the axis of the lanes, several
    /// vectors. The axes belong to the results, or one is the axis of the lanes and reduced, which
    /// gives several partial results. A nest that carries states may tile any axes.
    pub tile: Vec<(AxisId, u8)>,
    /// Nests of one group, which stand side by side in a pass over blocks, run together for each
    /// index of the batch axis, the first of their axes.
    pub group: Option<u32>,
    /// Loops over its last axis, run in order, whose states are in registers: scalars for each
    /// combination of the other indices.
    pub carries: Vec<LoopId>,
    /// The order of its last axis, that of the lanes, if the nest reads elements that it stores
    /// itself, at earlier indices or the current one. Such elements are in registers.
    pub direction: Option<Direction>,
    /// Axes of few, known indices that the nest unrolls.
    pub whole: Vec<AxisId>,
    /// The buffers that it reads.
    pub reads: Vec<BufferId>,
    /// Its items.
    pub items: Vec<Item>,
}

/// Nests that run together, or one alone.
pub type Group<'a> = (Option<u32>, &'a [Nest]);

impl Pass {
    /// Its nests in groups.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let together = |a: &Nest, b: &Nest| a.group.is_some() && a.group == b.group;
        self.nests.chunk_by(together).map(|nests| (nests[0].group, nests))
    }
}

/// Nests, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// Whether it runs for one block of the axis after the other.
    pub blocked: bool,
    /// The nests.
    pub nests: Vec<Nest>,
}

/// A program.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The definitions.
    pub graph: Graph,
    /// The axis that is run through in blocks.
    pub block: Option<AxisId>,
    /// The axis along which groups of nests run together.
    pub batch: Option<AxisId>,
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// The passes, in order. Checks come before them.
    pub passes: Vec<Pass>,
    /// The buffers of the outputs.
    pub outputs: Vec<BufferId>,
}

impl Item {
    /// The buffer that it writes.
    pub fn buffer(self) -> BufferId {
        match self {
            Item::Store(buffer)
            | Item::Reduce(buffer)
            | Item::List(buffer)
            | Item::Copy(buffer)
            | Item::Last(buffer)
            | Item::Add(buffer, _) => buffer,
        }
    }
}

impl Nest {
    /// Its axes as a set.
    pub fn domain(&self) -> Axes {
        self.axes.iter().copied().collect()
    }
}

impl Placed {
    /// Whether a pass over blocks combines values of all blocks.
    pub fn has_totals(&self) -> bool {
        let passes = self.passes.iter().filter(|pass| pass.blocked);
        let mut items = passes.flat_map(|pass| &pass.nests).flat_map(|nest| &nest.items);
        let Some(block) = self.block else { return false };
        !items.all(|item| self.buffer(item.buffer()).axes.contains(&block))
    }

    /// A buffer.
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }

    /// The scalar that an item stores, or whose values it combines.
    pub fn value(&self, item: Item) -> Option<NodeId> {
        match (item, self.buffer(item.buffer()).content) {
            (Item::Store(_), Content::Node(node)) => Some(node),
            (Item::Store(_), Content::Array(array)) => self.element(array),
            (Item::Reduce(_), Content::Node(node)) => {
                self.graph.reduction(node).map(|(_, _, body)| body)
            }
            (Item::Reduce(_), Content::Array(_))
            | (Item::List(_) | Item::Copy(_) | Item::Add(..) | Item::Last(_), _) => None,
        }
    }

    /// The loop, and the part of its state, that an item stores.
    pub fn last(&self, item: Item) -> Option<(LoopId, u32)> {
        let Item::Last(id) = item else { return None };
        let array = match self.buffer(id).content {
            Content::Array(array) => array,
            Content::Node(node) => self.graph.read_of(node)?,
        };
        if let Array::Final(l, k) = self.graph.array(array) { Some((*l, *k)) } else { None }
    }

    /// The initial scalars of the state of a loop, each with its next one.
    pub fn states(&self, l: LoopId) -> Vec<(NodeId, NodeId)> {
        let scalar = |array: ArrayId| self.graph.scalar(array).expect("a state that is a scalar");
        let carries = self.graph.loop_(l).carries.iter();
        carries.map(|carry| (scalar(carry.init), scalar(carry.next))).collect()
    }

    /// The scalars that a nest computes for its items and states.
    pub fn computed(&self, nest: &Nest) -> Vec<NodeId> {
        let mut all = Vec::new();
        for item in &nest.items {
            all.extend(self.value(*item));
            let (Item::Add(id, k), graph) = (item, &self.graph) else { continue };
            let Content::Array(array) = self.buffer(*id).content else { continue };
            let Array::Scatter(_, terms) = graph.array(array) else { continue };
            let term = &terms[*k as usize];
            all.extend(term.index.iter().chain(&term.when).chain([&term.value]));
        }
        let states = nest.carries.iter().flat_map(|l| self.states(*l));
        all.extend(states.flat_map(|(first, next)| [first, next]));
        all
    }

    /// Whether an item adds to elements to which the nest comes back, rather than finishing one
    /// after the other. They are units before the nest runs.
    pub fn comes_back(&self, nest: &Nest, item: Item) -> bool {
        let axes = &self.buffer(item.buffer()).axes;
        let reduced = nest.axes.iter().position(|axis| !axes.contains(axis));
        let kept = nest.axes.iter().rposition(|axis| axes.contains(axis));
        matches!(item, Item::Reduce(_)) && reduced.is_some() && reduced < kept
    }

    /// Whether all sums that a nest finishes one after the other run over the same axes. Their
    /// registers begin at one place.
    pub fn finishes_at_once(&self, nest: &Nest) -> bool {
        let finishes =
            |item: &&Item| matches!(item, Item::Reduce(_)) && !self.comes_back(nest, **item);
        let kept =
            |item: &Item| -> Axes { self.buffer(item.buffer()).axes.iter().copied().collect() };
        let mut kept = nest.items.iter().filter(finishes).map(kept);
        let first = kept.next();
        kept.all(|other| Some(other) == first)
    }

    /// The axes, other than its own, that all readers of a nest's buffers have.
    pub fn read_along(&self, nest: &Nest) -> Vec<AxisId> {
        let given: Vec<BufferId> = nest.items.iter().map(|item| item.buffer()).collect();
        let all = self.passes.iter().flat_map(|pass| &pass.nests);
        let reads = |other: &&Nest| {
            let itself = std::ptr::eq(*other, nest);
            !itself && other.reads.iter().any(|id| given.contains(id))
        };
        let mut readers = all.filter(reads);
        let wanted = given.iter().any(|id| self.outputs.contains(id));
        let Some(first) = readers.next().filter(|_| !wanted) else { return Vec::new() };
        let others: Vec<&Nest> = readers.collect();
        // The state of a loop without iterations is its initial value.
        if !first.carries.is_empty() || others.iter().any(|nest| !nest.carries.is_empty()) {
            return Vec::new();
        }
        let all = |axis: &&AxisId| others.iter().all(|nest| nest.axes.contains(axis));
        first.axes.iter().filter(all).filter(|axis| !nest.axes.contains(axis)).copied().collect()
    }

    /// The initial element of an array, by index.
    fn element(&self, array: ArrayId) -> Option<NodeId> {
        match self.graph.array(array) {
            Array::Map(_, body) => Some(*body),
            Array::Scatter(init, _) => self.element(*init),
            Array::Input(_)
            | Array::Constant(_)
            | Array::Items(_)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => None,
        }
    }

    /// By axis of the buffer of an array: its position among the indices of an access; `None` if
    /// the array depends on it.
    pub fn positions(&self, array: ArrayId, id: BufferId) -> Vec<Option<usize>> {
        match self.graph.array(array) {
            Array::Map(own, _) => {
                let position = |axis: &AxisId| own.iter().position(|other| other == axis);
                self.buffer(id).axes.iter().map(position).collect()
            }
            Array::Input(_)
            | Array::Constant(_)
            | Array::Items(_)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => (0..self.graph.rank(array)).map(Some).collect(),
        }
    }

    /// The contents that a nest finds in buffers: its reads, except for scalars that it stores
    /// itself.
    pub fn found(&self, nest: &Nest) -> Vec<(Content, BufferId)> {
        let stored = nest.items.iter().filter(|item| matches!(item, Item::Store(_)));
        let stored = stored.map(|item| item.buffer());
        let scalar = |id: &BufferId| matches!(self.buffer(*id).content, Content::Node(_));
        let stored: FxHashSet<BufferId> = stored.filter(scalar).collect();
        let found = nest.reads.iter().filter(|id| !stored.contains(id));
        found.map(|id| (self.buffer(*id).content, *id)).collect()
    }

    /// The arrays of which a nest reads elements that it has stored itself.
    pub fn own_arrays(&self, nest: &Nest) -> Vec<(ArrayId, BufferId)> {
        let own = nest.items.iter().filter(|_| nest.direction.is_some()).filter_map(|item| {
            match (item, self.buffer(item.buffer()).content) {
                (Item::Store(id), Content::Array(array)) => Some((array, *id)),
                (_, _) => None, // no array, or one that is added to
            }
        });
        own.filter(|(_, id)| nest.reads.contains(id)).collect()
    }

    /// The buffers that are in no memory: a nest with a direction stores them, and no other one
    /// reads them.
    pub fn in_registers(&self) -> FxHashSet<BufferId> {
        let nests = || self.passes.iter().flat_map(|pass| &pass.nests);
        let directed = || nests().filter(|nest| nest.direction.is_some());
        if directed().next().is_none() {
            return FxHashSet::default();
        }
        let mut users: FxHashMap<BufferId, usize> = FxHashMap::default();
        for nest in nests() {
            let own = nest.items.iter().map(|item| item.buffer());
            let all: FxHashSet<BufferId> = nest.reads.iter().copied().chain(own).collect();
            all.into_iter().for_each(|id| *users.entry(id).or_default() += 1);
        }
        let outputs: FxHashSet<BufferId> = self.outputs.iter().copied().collect();
        let alone = |id: &BufferId| users.get(id) == Some(&1) && !outputs.contains(id);
        let stored = |nest: &Nest| {
            let reads: FxHashSet<BufferId> = nest.reads.iter().copied().collect();
            let stored = nest.items.iter().filter(|item| matches!(item, Item::Store(_)));
            let ids = stored.map(|item| item.buffer()).filter(|id| reads.contains(id) && alone(id));
            ids.collect::<Vec<BufferId>>()
        };
        directed().flat_map(stored).collect()
    }
}

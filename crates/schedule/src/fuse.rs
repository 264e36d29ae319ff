//! P7: loop fusion with rotating registers. Nests with lanes along one axis, of which one reads at
//! neighboring indices what another stores, as the stages of an integrator's step do, become one
//! nest that runs along the axis in one direction. Registers keep the last vectors that neighbors
//! read, and a value without other readers is not stored.
//!
//! *Keeps* the values of elements. Terms are added to an array in another order.

use std::collections::BTreeMap;

use lambada_prim::ScalarTy;
use rustc_hash::{FxHashMap, FxHashSet};

use lambada_graph::Runs;
use lambada_graph::neighbor;
use lambada_graph::placed::{BufferId, Content, Direction, Item, Nest, Pass, Placed};
use lambada_graph::{Array, ArrayId, Graph, Node, NodeId, Part};

/// The most arrays of which a nest keeps vectors in registers.
const ARRAYS: usize = 8;

/// Fuses such nests, if there are any. Threads do not share a nest along the axis of its direction,
/// so nests that may run on several threads and have no other axis stay apart.
pub(crate) fn fused(placed: &Placed, around: Runs) -> Option<Placed> {
    let alike = |a: &Nest, b: &Nest| {
        let shared = around == Runs::Once && a.axes.len() == 1;
        !shared && a.axes == b.axes && is_plain(placed, a) && is_plain(placed, b)
    };
    let mut fewer = false;
    let mut pass = |pass: &Pass| {
        if pass.blocked {
            return pass.clone();
        }
        let mut nests = Vec::new();
        for run in pass.nests.chunk_by(alike) {
            let fused = Stages::of(placed, run).and_then(|stages| stages.nests());
            fewer |= fused.is_some();
            nests.extend(fused.unwrap_or_else(|| run.to_vec()));
        }
        Pass { nests, ..*pass }
    };
    let passes = placed.passes.iter().map(&mut pass).collect();
    fewer.then(|| Placed { passes, ..placed.clone() })
}

/// Whether a nest stores or adds one value for each of its indices, and nothing else.
fn is_plain(placed: &Placed, nest: &Nest) -> bool {
    let item = |item: &Item| match item {
        Item::Store(id) => placed.buffer(*id).axes == nest.axes,
        other => matches!(other, Item::Add(..)),
    };
    nest.vector.is_some()
        && nest.vector == nest.axes.last().copied()
        && nest.guard.is_none()
        && nest.tile.is_empty()
        && nest.group.is_none()
        && nest.carries.is_empty()
        && nest.whole.is_empty()
        && nest.items.iter().all(item)
}

/// The indices at which an item reads a buffer.
#[derive(Clone, Copy)]
enum Access {
    /// Its own indices.
    Own,
    /// The least and the greatest distance along the axis of the lanes.
    Neighbors(i64, i64),
    Elsewhere,
}

impl Access {
    fn and(self, other: Access) -> Access {
        match (self, other) {
            (Access::Elsewhere, _) | (_, Access::Elsewhere) => Access::Elsewhere,
            (Access::Own, Access::Own) => Access::Own,
            (Access::Own, Access::Neighbors(a, b)) | (Access::Neighbors(a, b), Access::Own) => {
                Access::Neighbors(a.min(0), b.max(0))
            }
            (Access::Neighbors(a, b), Access::Neighbors(c, d)) => {
                Access::Neighbors(a.min(c), b.max(d))
            }
        }
    }
}

/// An item with its operands.
struct Stage {
    item: Item,
    reads: BTreeMap<BufferId, Access>,
}

/// The items of nests that have the same axes, in order.
struct Stages<'a> {
    like: &'a Nest,
    before: usize,
    all: Vec<Stage>,
}

/// Items that become one nest.
#[derive(Default)]
struct Group {
    /// The direction in which the nest has to run.
    direction: Option<Direction>,
    /// The buffers that it stores and reads as arrays.
    arrays: FxHashSet<BufferId>,
    stages: Vec<usize>,
}

/// The effect of an item on a group: its direction, and the buffers read as arrays.
#[derive(Default)]
struct Joined {
    direction: Option<Direction>,
    arrays: Vec<BufferId>,
}

/// For each buffer, the last group that stores it, and the last that adds to it.
#[derive(Default)]
struct Written {
    stored: FxHashMap<BufferId, usize>,
    added: FxHashMap<BufferId, usize>,
}

impl Written {
    fn last(&self, id: BufferId) -> Option<usize> {
        self.stored.get(&id).max(self.added.get(&id)).copied()
    }

    /// The first group in which all operands of an item are available, at its own indices at least.
    /// Terms come after the first elements.
    fn first(&self, stage: &Stage) -> usize {
        let reads = stage.reads.keys().filter_map(|id| self.last(*id)).max();
        let elements = match stage.item {
            Item::Add(id, _) => self.stored.get(&id).map(|at| at + 1),
            _ => None, // it is complete
        };
        reads.max(elements).unwrap_or(0)
    }
}

impl<'a> Stages<'a> {
    fn of(placed: &'a Placed, run: &'a [Nest]) -> Option<Stages<'a>> {
        let [like, _, ..] = run else { return None };
        let (mut all, mut given) = (Vec::new(), FxHashSet::default());
        for nest in run {
            for item in &nest.items {
                let mut search = Search::of(placed, nest);
                search.item(*item)?;
                given.extend(search.given);
                all.push(Stage { item: *item, reads: search.reads });
            }
        }
        // An addition in place changes an input, so no item may read it.
        let in_place = all.iter().filter_map(|stage| added_in_place(placed, stage.item));
        let moves = !in_place.into_iter().any(|array| given.contains(&array));
        moves.then_some(Stages { like, before: run.len(), all })
    }

    /// Fewer nests for the same items, if neighbors allow it.
    fn nests(&self) -> Option<Vec<Nest>> {
        let (mut groups, mut written): (Vec<Group>, _) = (Vec::new(), Written::default());
        for (k, stage) in self.all.iter().enumerate() {
            let fits = |at: usize| Some((at, self.joined(stage, at, &groups[at], &written)?));
            let found = (written.first(stage)..groups.len()).find_map(fits);
            let (at, joined) = found.unwrap_or_else(|| {
                groups.push(Group::default());
                (groups.len() - 1, Joined::default())
            });
            groups[at].direction = joined.direction;
            groups[at].arrays.extend(joined.arrays);
            groups[at].stages.push(k);
            let (Written { stored, added }, id) = (&mut written, stage.item.buffer());
            let by = if matches!(stage.item, Item::Add(..)) { added } else { stored };
            let last = by.entry(id).or_default();
            *last = at.max(*last);
        }
        let rotates = groups.iter().any(|group| !group.arrays.is_empty());
        let fewer = rotates && groups.len() < self.before;
        fewer.then(|| groups.iter().map(|group| self.nest(group)).collect())
    }

    /// The group at `at` with one more item, if the item's operands are available in time.
    fn joined(&self, stage: &Stage, at: usize, group: &Group, written: &Written) -> Option<Joined> {
        let mut joined = Joined { direction: group.direction, arrays: Vec::new() };
        for (id, access) in &stage.reads {
            if written.last(*id) != Some(at) {
                continue; // there before
            }
            let wanted = match access {
                Access::Own => continue,
                Access::Elsewhere => return None,
                Access::Neighbors(0, 0) => joined.direction,
                Access::Neighbors(_, ..=0) => Some(Direction::Up),
                Access::Neighbors(0.., _) => Some(Direction::Down),
                Access::Neighbors(..) => return None, // on both sides
            };
            if joined.direction.is_some() && joined.direction != wanted {
                return None;
            }
            joined.direction = wanted;
            joined.arrays.push(*id);
        }
        let more = joined.arrays.iter().filter(|id| !group.arrays.contains(id)).count();
        (group.arrays.len() + more <= ARRAYS).then_some(joined)
    }

    fn nest(&self, group: &Group) -> Nest {
        let stages = || group.stages.iter().map(|k| &self.all[*k]);
        let mut reads: Vec<BufferId> =
            stages().flat_map(|stage| stage.reads.keys().copied()).collect();
        reads.sort_unstable();
        reads.dedup();
        let direction = group.direction.unwrap_or(Direction::Up);
        Nest {
            direction: (!group.arrays.is_empty()).then_some(direction),
            reads,
            items: stages().map(|stage| stage.item).collect(),
            ..self.like.clone()
        }
    }
}

fn added_in_place(placed: &Placed, item: Item) -> Option<ArrayId> {
    let Content::Array(array) = placed.buffer(item.buffer()).content else { return None };
    placed.graph.added_in_place(array)
}

/// Finds the operands of the items of a nest.
struct Search<'a> {
    placed: &'a Placed,
    nest: &'a Nest,
    contents: FxHashMap<Content, BufferId>,
    reads: BTreeMap<BufferId, Access>,
    /// The inputs and constants that they read.
    given: FxHashSet<ArrayId>,
    seen: FxHashSet<(NodeId, bool)>,
}

impl<'a> Search<'a> {
    fn of(placed: &'a Placed, nest: &'a Nest) -> Search<'a> {
        let own = nest.items.iter().map(|item| item.buffer());
        let all = nest.reads.iter().copied().chain(own);
        Search {
            placed,
            nest,
            contents: all.map(|id| (placed.buffer(id).content, id)).collect(),
            reads: BTreeMap::new(),
            given: FxHashSet::default(),
            seen: FxHashSet::default(),
        }
    }

    fn item(&mut self, item: Item) -> Option<()> {
        let graph: &Graph = &self.placed.graph;
        if let (Item::Add(_, k), Content::Array(array)) =
            (item, self.placed.buffer(item.buffer()).content)
        {
            let Array::Scatter(_, terms) = graph.array(array) else { return None };
            let term = &terms[k as usize];
            let mut parts = term.index.iter().chain(&term.when).chain([&term.value]);
            return parts.try_for_each(|part| self.node(*part, false));
        }
        match self.placed.buffer(item.buffer()).content {
            Content::Node(node) => self.parts(node, false),
            Content::Array(_) => self.node(self.placed.value(item)?, false),
        }
    }

    /// Visits a scalar; `in_integer` if an integer depends on it. Where neighbors are in registers,
    /// lanes without an iteration do not repeat the last one. So no index depends on neighbors, and
    /// each lane reads an element that some iteration reads.
    fn node(&mut self, node: NodeId, in_integer: bool) -> Option<()> {
        let in_integer = in_integer || self.placed.graph.facts(node).elem == ScalarTy::Int;
        if let Some(id) = self.contents.get(&Content::Node(node)).copied() {
            self.access(id, if in_integer { Access::Elsewhere } else { Access::Own });
            return Some(());
        }
        if !self.seen.insert((node, in_integer)) {
            return Some(());
        }
        lambada_source::stack::deeper(|| self.parts(node, in_integer))
    }

    fn parts(&mut self, node: NodeId, in_integer: bool) -> Option<()> {
        let graph: &Graph = &self.placed.graph;
        let in_integer = in_integer || graph.facts(node).elem == ScalarTy::Int;
        if let Node::At(array, index) = graph.node(node) {
            if matches!(graph.array(*array), Array::Input(_) | Array::Constant(_)) {
                self.given.insert(*array);
            } else {
                let id = *self.contents.get(&Content::Array(*array))?;
                let fits = graph.array_facts(*array).elem == ScalarTy::Real && !in_integer;
                let away = neighbor(graph, &self.nest.axes, *array, index).filter(|_| fits);
                let access = away.map_or(Access::Elsewhere, |away| Access::Neighbors(away, away));
                self.access(id, access);
            }
        }
        let mut parts = Vec::new();
        graph.node(node).parts(&mut |part| {
            if let Part::Node(part) = part {
                parts.push(part);
            }
        });
        parts.into_iter().try_for_each(|part| self.node(part, in_integer))
    }

    fn access(&mut self, id: BufferId, access: Access) {
        let all = self.reads.entry(id).or_insert(access);
        *all = all.and(access);
    }
}

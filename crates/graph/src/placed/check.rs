//! The checker: Γ ⊢ placed program. It shares no code with the scheduler.
//!
//! Each buffer is written before it is read, a local one for the same block; the nest has the
//! indices of all that it computes; a reduction is read only when it is finished; the states of a
//! loop are available where the nest runs the loop, over its last axis.

use super::{Buffer, BufferId, Content, Direction, Item, Nest, Pass, Placed, REACH, WHOLE};
use crate::Affine;
use crate::{Array, ArrayId, Axes, AxisId, LoopId, Node, NodeId};
use rustc_hash::FxHashSet;

type Checked = Result<(), String>;

/// Checks a program.
pub fn check(placed: &Placed) -> Checked {
    let mut checker = Checker { placed, ready: FxHashSet::default(), block: FxHashSet::default() };
    for pass in &placed.passes {
        checker.pass(pass)?;
    }
    for id in &placed.outputs {
        ensure(checker.ready.contains(id), || format!("the output b{} is never written", id.0))?;
    }
    Ok(())
}

struct Checker<'a> {
    placed: &'a Placed,
    /// The complete buffers.
    ready: FxHashSet<BufferId>,
    /// The buffers available for the current block.
    block: FxHashSet<BufferId>,
}

impl Checker<'_> {
    fn pass(&mut self, pass: &Pass) -> Checked {
        let block = self.placed.block.filter(|_| pass.blocked);
        ensure(pass.blocked == block.is_some(), || "blocks of no axis".into())?;
        let mut complete = Vec::new();
        for (group, nests) in pass.groups() {
            ensure(group.is_none() || pass.blocked, || "a group outside of blocks".into())?;
            let mut after = Vec::new();
            for nest in nests {
                self.nest(nest, block).map_err(|problem| format!("{problem} in {nest:?}"))?;
                for item in &nest.items {
                    let (id, buffer) = (item.buffer(), self.placed.buffer(item.buffer()));
                    ensure(!buffer.local || pass.blocked, || format!("b{} has no block", id.0))?;
                    let alone = !buffer.single || group.is_some() && buffer.local;
                    ensure(alone, || format!("b{} is in no group", id.0))?;
                    let total = block.is_some_and(|axis| !buffer.axes.contains(&axis));
                    // Arrays are read at other indices too.
                    if !total && group.is_some() && matches!(buffer.content, Content::Array(_)) {
                        after.push(id);
                    } else if !total {
                        self.block.insert(id);
                    }
                    if !buffer.local {
                        complete.push(id);
                    }
                    if !pass.blocked {
                        self.ready.insert(id);
                    }
                }
            }
            self.block.retain(|id| !self.placed.buffer(*id).single);
            self.block.extend(after);
        }
        self.block.clear();
        self.ready.extend(complete);
        Ok(())
    }

    fn nest(&self, nest: &Nest, block: Option<AxisId>) -> Checked {
        let domain = nest.domain();
        ensure(domain.len() == nest.axes.len(), || "an axis twice".into())?;
        ensure(nest.vector.is_none_or(|axis| domain.contains(axis)), || "lanes of no axis".into())?;
        // Where states are carried, sums are in memory or share a register.
        let around = |axis| !nest.carries.is_empty() && nest.axes.last() != Some(&axis);
        // Elsewhere, each iteration of a reduction has a partial result of its own.
        let plain = |item: &Item| matches!(item, Item::Store(_) | Item::Reduce(_));
        let parts = nest.carries.is_empty() && nest.items.iter().all(plain);
        let split = |axis| parts && nest.vector == Some(axis) && nest.tile.len() == 1;
        let result = |axis| around(axis) || split(axis) || !self.is_reduced(nest, axis);
        let tiled = |axis: AxisId| domain.contains(axis) && result(axis);
        let tile =
            nest.tile.iter().all(|(axis, count)| tiled(*axis) && [1, 2, 4, 8].contains(count));
        ensure(tile && nest.tile.len() <= 2, || "a tile of no results".into())?;
        if nest.group.is_some() {
            let batch = self.placed.batch.ok_or("a group along no axis")?;
            let outermost = nest.axes.first() == Some(&batch) && nest.vector != Some(batch);
            let tiled = nest.tile.iter().any(|(axis, _)| *axis == batch);
            let own = outermost && !tiled && block != Some(batch) && !self.is_reduced(nest, batch);
            ensure(own, || "a group that shares more than an axis".into())?;
        }
        let graph = &self.placed.graph;
        let known = |axis: &AxisId| graph.lit(graph.axis(*axis).extent).is_some();
        let own = |axis: &AxisId| {
            let tiled = nest.tile.iter().any(|(other, _)| other == axis);
            domain.contains(*axis) && nest.vector != Some(*axis) && block != Some(*axis) && !tiled
        };
        let stores = nest.items.iter().all(|item| matches!(item, Item::Store(_)));
        let whole = nest.whole.iter().all(|axis| known(axis) && own(axis));
        let whole = whole && nest.whole.len() <= WHOLE && (nest.whole.is_empty() || stores);
        ensure(whole, || "axes that cannot be written out".into())?;
        let found = self.placed.found(nest);
        let own = self.placed.own_arrays(nest);
        if nest.direction.is_some() {
            let last = nest.vector.is_some() && nest.vector == nest.axes.last().copied();
            let alone = nest.group.is_none() && nest.carries.is_empty() && nest.guard.is_none();
            let plain = nest.tile.is_empty() && nest.whole.is_empty() && block.is_none();
            ensure(last && alone && plain, || "an order of what has none".into())?;
        }
        for (_, id) in &found {
            let own = own.iter().any(|(_, other)| other == id);
            let there = own || self.ready.contains(id) || self.block.contains(id);
            ensure(there, || format!("b{} is read before it is written", id.0))?;
        }
        let found = found.into_iter().map(|(content, _)| content).collect();
        let own = own.into_iter().map(|(array, _)| array).collect();
        let (placed, seen) = (self.placed, FxHashSet::default());
        let mut inside = Inside { placed, nest, domain, found, own, seen };
        inside.carries()?;
        nest.guard.iter().try_for_each(|(cond, _)| inside.node(*cond))?;
        nest.items.iter().try_for_each(|item| inside.item(*item, block))
    }

    fn is_reduced(&self, nest: &Nest, axis: AxisId) -> bool {
        nest.items.iter().any(|item| {
            let buffer = self.placed.buffer(item.buffer());
            !matches!(item, Item::Store(_)) && !buffer.axes.contains(&axis)
        })
    }
}

/// A nest that is being checked.
struct Inside<'a> {
    placed: &'a Placed,
    nest: &'a Nest,
    domain: Axes,
    found: FxHashSet<Content>,
    /// The arrays of which it reads elements that it stores itself.
    own: FxHashSet<ArrayId>,
    seen: FxHashSet<NodeId>,
}

impl Inside<'_> {
    fn item(&mut self, item: Item, block: Option<AxisId>) -> Checked {
        let graph = &self.placed.graph;
        let buffer = self.placed.buffer(item.buffer());
        match (item, buffer.content) {
            (Item::Store(_), _) => {
                let all: Axes = buffer.axes.iter().copied().collect();
                ensure(all == self.domain, || "a store for other indices".into())?;
                self.value(self.placed.value(item))
            }
            (Item::Reduce(_), Content::Node(node)) => {
                let (_, axes, _) = graph.reduction(node).ok_or("no reduction")?;
                let all = graph.free(node).union(axes);
                ensure(all == self.domain, || "a reduction over other indices".into())?;
                let split = block.is_none_or(|b| !axes.contains(b) || !buffer.axes.contains(&b));
                ensure(split, || "a total for each block".into())?;
                if self.placed.comes_back(self.nest, item) {
                    // Its units are made at the beginning of the pass, or of the nest.
                    let begins = block.is_none_or(|b| axes.contains(b));
                    let begins = begins || self.nest.carries.is_empty();
                    let runs = self.nest.guard.is_none() && self.nest.group.is_none();
                    ensure(begins && runs, || "a result inside of its reduction".into())?;
                } else {
                    self.grouped(buffer, axes)?;
                }
                let inner = self.nest.guard.is_some_and(|(cond, _)| graph.free(cond).meets(axes));
                ensure(!inner, || "a guard of what is reduced".into())?;
                self.value(self.placed.value(item))
            }
            (Item::List(_), Content::Array(array)) => match graph.array(array) {
                Array::Items(items) => items.iter().try_for_each(|node| self.node(*node)),
                _ => Err("no list".into()),
            },
            (Item::Copy(_), Content::Array(array)) => match graph.array(array) {
                Array::Scatter(init, _) => match graph.array(*init) {
                    Array::Input(_) | Array::Constant(_) => Ok(()),
                    _ => self.reads(Content::Array(*init)),
                },
                _ => Err("nothing to copy".into()),
            },
            (Item::Add(_, k), Content::Array(array)) => match graph.array(array) {
                Array::Scatter(_, terms) => {
                    let term = terms.get(k as usize).ok_or("no such term")?;
                    let over: Axes = term.over.iter().copied().collect();
                    ensure(over == self.domain, || "a term over other indices".into())?;
                    let parts = term.index.iter().chain(&term.when).chain([&term.value]);
                    parts.copied().collect::<Vec<_>>().into_iter().try_for_each(|n| self.node(n))
                }
                _ => Err("nothing is added".into()),
            },
            (Item::Last(_), _) => {
                let (l, _) = self.placed.last(item).ok_or("no last state")?;
                ensure(self.nest.carries.contains(&l), || "a loop that does not run".into())?;
                let own: Axes = buffer.axes.iter().copied().collect();
                let free = &graph.loop_facts(l).0;
                ensure(own == *free, || "a state for other indices".into())
            }
            (Item::Reduce(_), Content::Array(_))
            | (Item::List(_) | Item::Copy(_) | Item::Add(..), Content::Node(_)) => {
                Err("an item of another content".into())
            }
        }
    }

    /// The loops run over the last axis, and nothing else does.
    fn carries(&mut self) -> Checked {
        let (placed, nest) = (self.placed, self.nest);
        let always = nest.carries.is_empty() || nest.guard.is_none();
        ensure(always, || "loops that run under a condition".into())?;
        for l in &nest.carries {
            let axis = placed.graph.loop_(*l).axis;
            let all = placed.graph.loop_facts(*l).0.union(&Axes::one(axis));
            let last = nest.axes.last() == Some(&axis) && nest.vector != Some(axis);
            ensure(last && all == self.domain, || format!("the loop {} over others", l.0))?;
            for (init, next) in placed.states(*l) {
                let outside = self.domain.without(&Axes::one(axis));
                let known = placed.graph.free(init).is_subset(&outside);
                ensure(known, || format!("the loop {} begins inside of itself", l.0))?;
                self.node(init)?;
                self.node(next)?;
            }
        }
        Ok(())
    }

    /// The axes of a result come before the reduced ones.
    fn grouped(&self, buffer: &Buffer, reduced: &Axes) -> Checked {
        let last = self.nest.axes.iter().rposition(|axis| buffer.axes.contains(axis));
        let first = self.nest.axes.iter().position(|axis| reduced.contains(*axis));
        ensure(last.is_none() || last < first, || "a result inside of its reduction".into())
    }

    fn reads(&self, content: Content) -> Checked {
        ensure(self.found.contains(&content), || format!("{content:?} is not read"))
    }

    /// Whether an array is the state of a loop that the nest runs.
    fn is_carried(&self, array: ArrayId) -> bool {
        let runs = |l: &LoopId| self.nest.carries.contains(l);
        matches!(self.placed.graph.array(array), Array::Carried(l, _) if runs(l))
    }

    fn value(&mut self, value: Option<NodeId>) -> Checked {
        // A stored value is computed, though it may be found elsewhere.
        let Some(value) = value else { return Err("an item without a value".into()) };
        self.node(value)
    }

    /// An element of an array that the nest stores itself belongs to an earlier index, or to the
    /// current one.
    fn neighbor(&self, array: ArrayId, index: &[NodeId]) -> Checked {
        let graph = &self.placed.graph;
        let Array::Map(own, _) = graph.array(array) else { return Err("no elements".into()) };
        let (Some((last, outer)), Some((axis, axes))) = (index.split_last(), own.split_last())
        else {
            return Err("an array without axes".into());
        };
        let here = outer.iter().zip(axes).all(|(i, axis)| graph.index(*i) == Some(*axis));
        ensure(here && *own == self.nest.axes, || "an element of another row".into())?;
        let away = Affine::of(graph, *last);
        let mut terms = away.terms();
        let along = terms.next().is_some_and(|(i, k)| k == 1 && graph.index(i) == Some(*axis));
        ensure(along && terms.next().is_none(), || "an element of no neighbor".into())?;
        let before = match self.nest.direction {
            Some(Direction::Up) => -REACH..=0,
            Some(Direction::Down) => 0..=REACH,
            None => return Err("an array that is not there yet".into()),
        };
        ensure(before.contains(&away.constant), || "a neighbor that comes later".into())
    }

    fn node(&mut self, node: NodeId) -> Checked {
        if self.found.contains(&Content::Node(node)) || !self.seen.insert(node) {
            return Ok(());
        }
        let graph = &self.placed.graph;
        match graph.node(node) {
            Node::Lit(_) => Ok(()),
            Node::Index(axis) => {
                let name = &graph.axis(*axis).hint;
                ensure(self.domain.contains(*axis), || format!("the index {name} is not there"))
            }
            Node::Prim(_, args) => args.iter().try_for_each(|arg| self.node(*arg)),
            Node::Choose(c, a, b) => [c, a, b].into_iter().try_for_each(|n| self.node(*n)),
            Node::At(array, _) if self.is_carried(*array) => Ok(()),
            Node::At(array, index) => {
                if self.own.contains(array) {
                    self.neighbor(*array, index)?;
                }
                if !matches!(graph.array(*array), Array::Input(_) | Array::Constant(_)) {
                    self.reads(Content::Array(*array))?;
                    let free = &graph.array_facts(*array).free;
                    ensure(free.is_subset(&self.domain), || "a part of no array".into())?;
                }
                index.iter().try_for_each(|i| self.node(*i))
            }
            Node::Reduce(..) => Err(format!("the reduction {} is not read", node.0)),
        }
    }
}

fn ensure(condition: bool, problem: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(problem()) }
}

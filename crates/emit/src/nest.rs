//! Nests: loops, lanes and their bodies.

use lambada_loops::{Mode, Nest as Loops, Operand, Step, Ty};
use lambada_prim::{Prim, ReduceOp, Scalar};

use super::ranges::Range;
use super::stride::Stride;
use super::sums::Sum;
use super::{Bound, Copy, Emitter, Interior, Slot};
use lambada_graph::placed::{BufferId, Content, Direction, Item, Nest};
use lambada_graph::{Array, AxisId, Mechanism, NodeId, Term};

impl Emitter<'_> {
    /// A nest, for a block of an axis if `part_of` has one. Outer loops run through its first axes.
    pub(super) fn nest(&mut self, nest: &Nest, first: usize, part_of: Option<AxisId>) {
        self.found = self.placed.found(nest).into_iter().collect();
        self.since = self.code.depth();
        self.part_of = part_of;
        self.tile = nest.tile.iter().map(|(axis, _)| *axis).chain(nest.whole.clone()).collect();
        if !self.transposed(nest, first) {
            self.begin_additions_of_block(nest);
            self.loops(nest, first, &mut Vec::new());
        }
        // Values for one index of a written-out axis depend on no loop, but differ elsewhere.
        if !nest.whole.is_empty() {
            let graph = &self.placed.graph;
            let written_out =
                |node: NodeId| nest.whole.iter().any(|axis| graph.free(node).contains(*axis));
            self.code.forget(&written_out);
        }
        self.tile.clear();
        self.axes.clear();
        self.rotating.clear();
    }

    fn reduces(&self, nest: &Nest, axis: AxisId) -> bool {
        nest.items.iter().any(|item| {
            let buffer = self.placed.buffer(item.buffer());
            let finishes = !self.placed.comes_back(nest, *item);
            matches!(item, Item::Reduce(_)) && finishes && !buffer.axes.contains(&axis)
        })
    }

    fn loops(&mut self, nest: &Nest, depth: usize, sums: &mut Vec<Sum>) {
        let axis = nest.axes.get(depth).copied();
        let begins = sums.is_empty() && axis.is_some_and(|axis| self.reduces(nest, axis));
        let guard = if begins { self.guard(nest) } else { None };
        if guard.is_some() {
            self.code.open();
        }
        if begins {
            *sums = self.sums(nest, depth);
        }
        if self.carries(nest, depth) {
            self.first_states(nest);
        }
        if self.direction(nest, depth).is_some() {
            self.begin_rotation(nest);
        }
        match axis {
            None => {
                self.items(nest, sums);
                self.rotate();
                self.next_states(nest);
            }
            Some(axis) => self.axis(nest, depth, axis, sums),
        }
        if self.carries(nest, depth) {
            self.last_states(nest);
        }
        if begins {
            let all = std::mem::take(sums);
            all.into_iter().for_each(|sum| self.total(&sum));
        }
        if let Some(cond) = guard {
            let then = self.code.close();
            self.code.push(Loops::If { cond, then, otherwise: Vec::new() });
        }
    }

    /// The condition under which some copy needs the nest's reductions. `None` if it varies between
    /// lanes.
    fn guard(&mut self, nest: &Nest) -> Option<Operand> {
        let (cond, holds) = nest.guard?;
        let lanes = nest.vector.is_some_and(|axis| self.graph().free(cond).contains(axis));
        if lanes {
            return None;
        }
        let mut any = None;
        for copy in self.copies.clone() {
            let value = self.node(cond, copy);
            let value = if holds { value } else { self.code.prim(Prim::Not, &[value]) };
            any = Some(match any {
                None => value,
                Some(others) if others == value => others,
                Some(others) => self.code.prim(Prim::Or, &[others, value]),
            });
        }
        any
    }

    /// The indices of an axis: all, or those of the block.
    pub(super) fn range(&mut self, axis: AxisId) -> (Operand, Operand) {
        if self.part_of == Some(axis) {
            return (self.block_start, self.block_end);
        }
        (Operand::int(0), self.extent(axis))
    }

    /// The loops over an axis: several iterations at once, with all lanes; then the remainder, with
    /// fewer and fewer lanes.
    fn axis(&mut self, nest: &Nest, depth: usize, axis: AxisId, sums: &mut Vec<Sum>) {
        if nest.whole.contains(&axis) {
            return self.written_out(nest, depth, axis, sums);
        }
        let stride = self.stride(nest, axis);
        let lanes = stride.lanes;
        if stride == Stride::ONE && !sums.is_empty() && nest.carries.is_empty() {
            for Range { start, end, assumed } in self.ranges(nest, axis, sums) {
                let outer = self.assumed;
                self.assumed = assumed.or(outer);
                self.counted(nest, depth, (start, end), Stride::ONE, sums);
                self.assumed = outer;
            }
            return;
        }
        if stride.repeats {
            let range = self.range(axis);
            return self.counted(nest, depth, range, stride, sums);
        }
        let mut strides = vec![stride, Stride::whole(1, lanes)];
        strides.dedup();
        let apart = lanes > 1 && self.mechanisms.has(Mechanism::Interior);
        if apart
            && let Some(interior) = Interior::of(self.placed, nest)
            && self.ends_apart(nest, depth, interior, &strides, sums)
        {
            return;
        }
        if let Some(direction) = self.direction(nest, depth) {
            return self.in_order(nest, depth, direction, sums);
        }
        let (mut start, end) = self.range(axis);
        for stride in strides {
            let to = if stride.len() == 1 { end } else { self.whole(start, end, stride.len()) };
            // A known extent may leave no iterations.
            if start != to {
                self.counted(nest, depth, (start, to), stride, sums);
            }
            start = to;
        }
        if let Some(stride) = Stride::tail((start, end), lanes) {
            self.counted(nest, depth, (start, end), stride, sums);
        }
    }

    /// The iterations of an axis that run at once.
    pub(super) fn stride(&self, nest: &Nest, axis: AxisId) -> Stride {
        let tile = nest.tile.iter().find(|(own, _)| *own == axis);
        let count = tile.map_or(1, |(_, count)| usize::from(*count));
        let lanes = if nest.vector == Some(axis) { self.lanes } else { 1 };
        let repeats = count > 1 && lanes == 1 && self.repeats(nest, axis);
        Stride { repeats, ..Stride::whole(count, lanes) }
    }

    /// Whether an iteration may run twice: it stores what belongs to its index, and adds to
    /// nothing. A sum over blocks adds up what each block gives.
    fn repeats(&self, nest: &Nest, axis: AxisId) -> bool {
        nest.items.iter().all(|item| {
            let axes = &self.placed.buffer(item.buffer()).axes;
            let whole = self.part_of.is_none_or(|part| axes.contains(&part));
            let stores = matches!(item, Item::Store(_)) || matches!(item, Item::Reduce(_)) && whole;
            stores && axes.contains(&axis) && !self.placed.comes_back(nest, *item)
        })
    }

    /// All iterations of an axis at once, each with its own index.
    fn written_out(&mut self, nest: &Nest, depth: usize, axis: AxisId, sums: &mut Vec<Sum>) {
        let Operand::Lit(Scalar::Int(count)) = self.extent(axis) else {
            unreachable!("only axes of known extents are written out")
        };
        let all = (0..count).map(Operand::int).collect();
        self.axes.insert(axis, Bound { copies: all, lanes: 1, left: None });
        let tile = &self.tile;
        let with =
            |copy: &Copy| (0..count as usize).map(|k| copy.with(tile, axis, k)).collect::<Vec<_>>();
        let copies = self.copies.iter().flat_map(with).collect();
        let outer = std::mem::replace(&mut self.copies, copies);
        self.loops(nest, depth + 1, sums);
        self.copies = outer;
        self.axes.remove(&axis);
    }

    /// `for index in start..end`, with the iterations of one stride at once.
    pub(super) fn counted(
        &mut self,
        nest: &Nest,
        depth: usize,
        (start, end): (Operand, Operand),
        Stride { count, lanes, partial, repeats }: Stride,
        sums: &mut Vec<Sum>,
    ) {
        let axis = nest.axes[depth];
        let step = count as i64 * i64::from(lanes);
        let down = self.direction(nest, depth) == Some(Direction::Down);
        let mirrored = down.then(|| self.mirrored((start, end), step));
        self.code.open();
        let hint = self.graph().axis(axis).hint.clone();
        let counter = self.code.reg(Ty::scalar(lambada_prim::ScalarTy::Int), hint);
        let index = match mirrored {
            Some(both) => self.code.int(Prim::SubInt, both, counter.into()),
            None => counter.into(),
        };
        let mut all = vec![index];
        let last = repeats.then(|| self.code.int(Prim::SubInt, end, Operand::int(1)));
        for k in 1..count {
            let more = Operand::int(k as i64 * i64::from(lanes));
            let next = self.code.int(Prim::AddInt, index, more);
            all.push(last.map_or(next, |last| self.code.int(Prim::MinInt, next, last)));
        }
        // After the last whole step.
        let left = partial.then(|| self.code.int(Prim::SubInt, end, index));
        let left = match left {
            Some(left) if self.apart => {
                Some(self.code.int(Prim::MinInt, left, Operand::int(lanes.into())))
            }
            left => left,
        };
        self.axes.insert(axis, Bound { copies: all, lanes, left });
        let tile = &self.tile;
        let with = |copy: &Copy| (0..count).map(|k| copy.with(tile, axis, k)).collect::<Vec<_>>();
        let copies = self.copies.iter().flat_map(with).collect();
        let outer = std::mem::replace(&mut self.copies, copies);
        self.loops(nest, depth + 1, sums);
        self.copies = outer;
        self.axes.remove(&axis);
        let body = self.code.close();
        let mode = Mode::Sequential;
        self.code.push(Loops::For { index: counter, start, end, step, mode, body });
    }

    /// The end of the last whole step; a step is a power of two.
    pub(super) fn whole(&mut self, start: Operand, end: Operand, step: i64) -> Operand {
        let all = self.code.int(Prim::SubInt, end, start);
        let all = self.code.int(Prim::MaxInt, all, Operand::int(0));
        let whole = self.code.int(Prim::BitAnd, all, Operand::int(-step));
        self.code.int(Prim::AddInt, start, whole)
    }

    // Items

    pub(super) fn store(&mut self, id: BufferId, copy: Copy, value: Operand) {
        match self.slots[id.0 as usize] {
            Slot::Scalar(_) => unreachable!("a given scalar is not written"),
            Slot::Cell(cell) => self.code.push(Step::Set(cell, value)),
            Slot::Memory(buf) => {
                let (offset, consecutive) = self.place(id, copy);
                let lanes = consecutive.unwrap_or(self.code.ty(offset).lanes);
                let value = self.broadcast(value, lanes);
                self.store_at((buf, offset), value);
            }
        }
    }

    /// The value in all lanes.
    pub(super) fn broadcast(&mut self, value: Operand, lanes: u16) -> Operand {
        let ty = self.code.ty(value);
        if ty.lanes == lanes {
            return value;
        }
        let cell = self.code.cell(Ty { lanes, ..ty }, value);
        self.code.get(cell)
    }

    fn items(&mut self, nest: &Nest, sums: &[Sum]) {
        for item in &nest.items {
            match *item {
                Item::Store(id) => {
                    let value = self.placed.value(*item).expect("what is stored has a value");
                    for copy in self.copies.clone() {
                        let value = self.node(value, copy);
                        if !self.in_registers.contains(&id) {
                            self.store(id, copy, value);
                        }
                    }
                }
                Item::Reduce(_) if self.placed.comes_back(nest, *item) => {
                    self.addition_to(nest, *item);
                }
                Item::Reduce(id) => {
                    let sum = sums.iter().find(|sum| sum.buffer == id);
                    self.terms(sum.expect("a reduction has cells"));
                }
                Item::List(id) => self.list(id),
                Item::Copy(id) => self.copied(id),
                Item::Add(id, k) => self.term(id, k as usize),
                // Stored after the loop.
                Item::Last(_) => {}
            }
        }
    }

    fn list(&mut self, id: BufferId) {
        let (Content::Array(array), Slot::Memory(buf)) =
            (self.placed.buffer(id).content, self.slots[id.0 as usize])
        else {
            return;
        };
        let Array::Items(items) = self.graph().array(array) else { return };
        for (k, item) in items.iter().enumerate() {
            let value = self.node(*item, Copy::FIRST);
            self.code.push(Step::Store { buf, offset: Operand::int(k as i64), value });
        }
    }

    fn copied(&mut self, id: BufferId) {
        let (Content::Array(array), Slot::Memory(to)) =
            (self.placed.buffer(id).content, self.slots[id.0 as usize])
        else {
            return;
        };
        let Array::Scatter(init, _) = self.graph().array(array) else { return };
        let Slot::Memory(from) = self.array(*init) else { return };
        let dims = self.dims(*init);
        let len = self.product(&dims);
        self.code.push(Step::Copy { to, from, len });
    }

    fn term(&mut self, id: BufferId, k: usize) {
        let Content::Array(array) = self.placed.buffer(id).content else { return };
        let Array::Scatter(_, terms) = self.graph().array(array) else { return };
        let term = &terms[k];
        match term.when {
            None => self.addition(id, term),
            Some(when) => {
                let cond = self.node(when, Copy::FIRST);
                self.code.open();
                self.addition(id, term);
                let then = self.code.close();
                self.code.push(Loops::If { cond, then, otherwise: Vec::new() });
            }
        }
    }

    /// `buffer[index] += value`, where the index is in range.
    fn addition(&mut self, id: BufferId, term: &Term) {
        let Content::Array(array) = self.placed.buffer(id).content else { return };
        let Slot::Memory(buf) = self.slots[id.0 as usize] else { return };
        let dims = self.dims(array);
        let value = self.node(term.value, Copy::FIRST);
        // Lanes add to consecutive elements.
        let lane = term.over.iter().copied().find(|axis| self.lanes(*axis) > 1);
        let (index, value): (Vec<Operand>, Operand) = match lane {
            Some(axis) => {
                let first = |i: &NodeId| self.first_lane(*i, axis, Copy::FIRST);
                let index = term.index.iter().map(first).collect();
                (index, self.broadcast(value, self.lanes(axis)))
            }
            None => (term.index.iter().map(|i| self.node(*i, Copy::FIRST)).collect(), value),
        };
        let offset = self.offset(&index, &dims);
        let ty = self.code.ty(value);
        let old = self.load_now((buf, offset), ty.lanes);
        let value = self.code.prim(ReduceOp::Add.prim(ty.elem), &[old, value]);
        self.store_at((buf, offset), value);
    }

    /// Fills a buffer with the unit of its reduction.
    pub(super) fn units(&mut self, id: BufferId) {
        let Content::Node(node) = self.placed.buffer(id).content else { return };
        let (Some((op, _, body)), Slot::Memory(buf)) =
            (self.graph().reduction(node), self.slots[id.0 as usize])
        else {
            return;
        };
        let unit: Scalar = op.unit(self.graph().facts(body).elem);
        let dims = self.held_sizes(id);
        let len = self.product(&dims);
        self.code.push(Step::Fill { buf, value: Operand::Lit(unit), len });
    }
}

//! Nests: loops, lanes, and what is done inside. The last iterations, too few for all lanes, are done one by one.

use lambada_loops::{Cell, Mode, Nest as Loops, Op, Operand, Step, Ty};
use lambada_prim::{Prim, ReduceOp, Scalar};

use super::{Bound, Emitter, Slot};
use crate::graph::{Array, AxisId, Node, NodeId, Term};
use crate::placed::{BufferId, Content, Item, Nest};

/// A reduction in registers.
struct Sum {
    buffer: BufferId,
    op: ReduceOp,
    body: NodeId,
    /// By copy: with one lane, and with all of them.
    cells: Vec<(Cell, Option<Cell>)>,
}

impl Emitter<'_> {
    /// A nest, of a block if it is in one.
    pub(super) fn nest(&mut self, nest: &Nest, blocked: bool) {
        self.found = self.placed.found(nest).into_iter().collect();
        self.since = self.code.depth();
        self.blocked = blocked;
        self.unrolled = nest.unroll.map(|(axis, _)| axis);
        self.loops(nest, 0, &mut Vec::new());
        self.unrolled = None;
        self.axes.clear();
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
        match axis {
            None => {
                self.items(nest, sums);
                self.next_states(nest);
            }
            Some(axis) if nest.vector == Some(axis) && self.lanes > 1 => {
                self.vector(nest, depth, axis, sums);
            }
            Some(axis) => match nest.unroll {
                Some((own, count)) if own == axis => self.unroll(nest, depth, count, sums),
                Some(_) | None => {
                    let (start, end) = self.range(axis);
                    self.counted(nest, depth, (start, end, 1), (1, 1), sums);
                }
            },
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

    /// Is what is reduced here asked for, of any copy? Lanes are not told apart.
    fn guard(&mut self, nest: &Nest) -> Option<Operand> {
        let (cond, holds) = nest.guard?;
        let lanes = nest.vector.is_some_and(|axis| self.graph().free(cond).contains(axis));
        if lanes {
            return None;
        }
        let mut any = None;
        for copy in 0..self.copies {
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
    fn range(&mut self, axis: AxisId) -> (Operand, Operand) {
        if self.blocked && self.placed.block == Some(axis) {
            return (self.block_start, self.block_end);
        }
        (Operand::int(0), self.extent(axis))
    }

    /// `for index in start..end`, `copies` iterations at once, each of so many lanes.
    fn counted(
        &mut self,
        nest: &Nest,
        depth: usize,
        (start, end, step): (Operand, Operand, i64),
        (copies, lanes): (usize, u16),
        sums: &mut Vec<Sum>,
    ) {
        let axis = nest.axes[depth];
        self.code.open();
        let hint = self.graph().axis(axis).hint.clone();
        let index = self.code.reg(Ty::scalar(lambada_prim::ScalarTy::Int), hint);
        let mut all = vec![Operand::from(index)];
        for k in 1..copies {
            let offset = Operand::int(k as i64 * i64::from(lanes));
            all.push(self.code.int(Prim::AddInt, index.into(), offset));
        }
        self.axes.insert(axis, Bound { copies: all, lanes });
        let outer = self.copies;
        self.copies = outer.max(copies);
        self.loops(nest, depth + 1, sums);
        self.copies = outer;
        self.axes.remove(&axis);
        let body = self.code.close();
        self.code.push(Loops::For { index, start, end, step, mode: Mode::Sequential, body });
    }

    fn vector(&mut self, nest: &Nest, depth: usize, axis: AxisId, sums: &mut Vec<Sum>) {
        let (mut start, end) = self.range(axis);
        let lanes = i64::from(self.lanes);
        if let Some((_, count)) = nest.unroll.filter(|(own, _)| *own == axis) {
            let step = lanes * i64::from(count);
            let middle = self.whole(start, end, step);
            let all = (usize::from(count), self.lanes);
            self.counted(nest, depth, (start, middle, step), all, sums);
            start = middle;
        }
        let middle = self.whole(start, end, lanes);
        self.counted(nest, depth, (start, middle, lanes), (1, self.lanes), sums);
        self.counted(nest, depth, (middle, end, 1), (1, 1), sums);
    }

    fn unroll(&mut self, nest: &Nest, depth: usize, count: u8, sums: &mut Vec<Sum>) {
        let (start, end) = self.range(nest.axes[depth]);
        let middle = self.whole(start, end, i64::from(count));
        let count = (usize::from(count), 1);
        self.counted(nest, depth, (start, middle, count.0 as i64), count, sums);
        self.counted(nest, depth, (middle, end, 1), (1, 1), sums);
    }

    /// Where the last whole step ends.
    fn whole(&mut self, start: Operand, end: Operand, step: i64) -> Operand {
        let all = self.code.int(Prim::SubInt, end, start);
        let all = self.code.int(Prim::MaxInt, all, Operand::int(0));
        let rest = self.code.int(Prim::RemInt, all, Operand::int(step));
        self.code.int(Prim::SubInt, end, rest)
    }

    // Reductions

    fn sums(&mut self, nest: &Nest, depth: usize) -> Vec<Sum> {
        let vector = nest.vector.filter(|_| self.lanes > 1);
        let within = vector.is_some_and(|axis| nest.axes[depth..].contains(&axis));
        let around = vector.and_then(|axis| self.axes.get(&axis)).map_or(1, |bound| bound.lanes);
        let mut sums = Vec::new();
        for item in &nest.items {
            let (Item::Reduce(id), Some(body)) = (*item, self.placed.value(*item)) else {
                continue;
            };
            if self.placed.comes_back(nest, *item) {
                continue;
            }
            let Content::Node(node) = self.placed.buffer(id).content else { continue };
            let Some((op, _, _)) = self.graph().reduction(node) else { continue };
            let elem = self.graph().facts(body).elem;
            let unit = Operand::Lit(op.unit(elem));
            let varies = |axis: AxisId| self.graph().free(body).contains(axis);
            let lanes = if vector.is_some_and(varies) { around } else { 1 };
            let many = within;
            let cells = (0..self.copies)
                .map(|_| {
                    let one = self.code.cell(Ty { elem, lanes }, unit);
                    let all = Ty { elem, lanes: self.lanes };
                    (one, many.then(|| self.code.cell(all, unit)))
                })
                .collect();
            sums.push(Sum { buffer: id, op, body, cells });
        }
        sums
    }

    /// What has been combined goes where it belongs.
    fn total(&mut self, sum: &Sum) {
        for (copy, (one, all)) in sum.cells.iter().enumerate() {
            let mut value = self.code.get(*one);
            if let Some(all) = all {
                let lanes = self.code.get(*all);
                let elem = self.code.ty(value).elem;
                let folded = self.code.bind(Ty::scalar(elem), Op::Fold(sum.op, lanes));
                value = self.code.prim(sum.op.prim(elem), &[folded, value]);
            }
            let split = self.blocked
                && self
                    .placed
                    .block
                    .is_some_and(|b| !self.placed.buffer(sum.buffer).axes.contains(&b));
            if split {
                self.add(sum.buffer, copy, sum.op, value);
            } else {
                self.store(sum.buffer, copy, value);
            }
        }
    }

    /// `buffer ⊕= value`
    pub(super) fn add(&mut self, id: BufferId, copy: usize, op: ReduceOp, value: Operand) {
        let combine = op.prim(self.code.ty(value).elem);
        match self.slots[id.0 as usize] {
            Slot::Scalar(_) => unreachable!("a given scalar is not written"),
            Slot::Cell(cell) => {
                let old = self.code.get(cell);
                let new = self.code.prim(combine, &[old, value]);
                self.code.push(Step::Set(cell, new));
            }
            Slot::Memory(buf) => {
                let (offset, _) = self.place(id, copy);
                let ty = self.code.ty(value);
                let old = self.code.bind(ty, Op::Load(buf, offset));
                let value = self.code.prim(combine, &[old, value]);
                self.code.push(Step::Store { buf, offset, value });
            }
        }
    }

    pub(super) fn store(&mut self, id: BufferId, copy: usize, value: Operand) {
        match self.slots[id.0 as usize] {
            Slot::Scalar(_) => unreachable!("a given scalar is not written"),
            Slot::Cell(cell) => self.code.push(Step::Set(cell, value)),
            Slot::Memory(buf) => {
                let (offset, consecutive) = self.place(id, copy);
                let lanes = consecutive.unwrap_or(self.code.ty(offset).lanes);
                let value = self.broadcast(value, lanes);
                self.code.push(Step::Store { buf, offset, value });
            }
        }
    }

    /// The same value in all lanes.
    pub(super) fn broadcast(&mut self, value: Operand, lanes: u16) -> Operand {
        let ty = self.code.ty(value);
        if ty.lanes == lanes {
            return value;
        }
        let cell = self.code.cell(Ty { lanes, ..ty }, value);
        self.code.get(cell)
    }

    // Items

    fn items(&mut self, nest: &Nest, sums: &[Sum]) {
        for item in &nest.items {
            match *item {
                Item::Store(id) => {
                    let value = self.placed.value(*item).expect("what is stored has a value");
                    for copy in 0..self.copies {
                        let value = self.node(value, copy);
                        self.store(id, copy, value);
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
                // When the loop has ended.
                Item::Last(_) => {}
            }
        }
    }

    /// Combines a term of each copy. Terms that are units where a condition does not hold are left out there: at once, if it holds for all copies.
    fn terms(&mut self, sum: &Sum) {
        let Some((cond, then)) = self.optional(sum) else {
            self.every(sum, sum.body, 0..self.copies);
            return;
        };
        let conds: Vec<Operand> = (0..self.copies).map(|copy| self.node(cond, copy)).collect();
        let mut all = conds[0];
        for cond in &conds[1..] {
            all = if all == *cond { all } else { self.code.prim(Prim::And, &[all, *cond]) };
        }
        self.code.open();
        self.every(sum, then, 0..self.copies);
        let together = self.code.close();
        self.code.open();
        if conds.iter().any(|cond| *cond != all) {
            for (copy, cond) in conds.into_iter().enumerate() {
                self.code.open();
                self.every(sum, then, copy..copy + 1);
                let then = self.code.close();
                self.code.push(Loops::If { cond, then, otherwise: Vec::new() });
            }
        }
        let otherwise = self.code.close();
        self.code.push(Loops::If { cond: all, then: together, otherwise });
    }

    /// The condition of terms that are units where it does not hold, if all lanes share it, and the terms where it does.
    fn optional(&self, sum: &Sum) -> Option<(NodeId, NodeId)> {
        let graph = self.graph();
        let Node::Choose(cond, then, otherwise) = graph.node(sum.body) else { return None };
        let unit = graph.lit(*otherwise) == Some(sum.op.unit(graph.facts(sum.body).elem));
        let lanes = |axis: AxisId| self.axes.get(&axis).is_some_and(|bound| bound.lanes > 1);
        let shared = !graph.free(*cond).iter().any(lanes);
        let plain = !self.found.contains_key(&Content::Node(sum.body));
        (unit && shared && plain).then_some((*cond, *then))
    }

    fn every(&mut self, sum: &Sum, body: NodeId, copies: std::ops::Range<usize>) {
        for copy in copies {
            // Where the axis of the copies is reduced, they share a cell.
            let (one, all) = sum.cells[copy.min(sum.cells.len() - 1)];
            let value = self.node(body, copy);
            let elem = self.code.ty(value).elem;
            // A value that all lanes share is combined once for each of them.
            let lanes = self.axes.values().any(|bound| bound.lanes > 1);
            let cell = all.filter(|_| lanes).unwrap_or(one);
            let old = self.code.get(cell);
            let new = self.code.prim(sum.op.prim(elem), &[old, value]);
            self.code.push(Step::Set(cell, new));
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
            let value = self.node(*item, 0);
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
                let cond = self.node(when, 0);
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
        let value = self.node(term.value, 0);
        // Lanes add to elements that are one after the other.
        let lane = term.over.iter().copied().find(|axis| self.lanes(*axis) > 1);
        let (index, value): (Vec<Operand>, Operand) = match lane {
            Some(axis) => {
                let first = |i: &NodeId| self.first_lane(*i, axis, 0);
                let index = term.index.iter().map(first).collect();
                (index, self.broadcast(value, self.lanes(axis)))
            }
            None => (term.index.iter().map(|i| self.node(*i, 0)).collect(), value),
        };
        let offset = self.offset(&index, &dims);
        let ty = self.code.ty(value);
        let old = self.code.bind(ty, Op::Load(buf, offset));
        let value = self.code.prim(ReduceOp::Add.prim(ty.elem), &[old, value]);
        self.code.push(Step::Store { buf, offset, value });
    }

    /// Nothing has been combined yet.
    pub(super) fn units(&mut self, id: BufferId) {
        let Content::Node(node) = self.placed.buffer(id).content else { return };
        let (Some((op, _, body)), Slot::Memory(buf)) =
            (self.graph().reduction(node), self.slots[id.0 as usize])
        else {
            return;
        };
        let unit: Scalar = op.unit(self.graph().facts(body).elem);
        let axes = self.placed.buffer(id).axes.clone();
        let dims: Vec<Operand> = axes.iter().map(|axis| self.extent(*axis)).collect();
        let len = self.product(&dims);
        self.code.push(Step::Fill { buf, value: Operand::Lit(unit), len });
    }
}

//! Reductions in registers: a cell for each iteration that runs at once, and the destination of the
//! combined value.

use lambada_loops::{Cell, Nest as Loops, Op, Operand, Step, Ty};
use lambada_prim::{Prim, ReduceOp};

use super::{Copy, Emitter, Slot};
use lambada_graph::placed::{BufferId, Content, Item, Nest};
use lambada_graph::{Axes, AxisId, Mechanism, Node, NodeId};

/// A reduction in registers.
pub(super) struct Sum {
    pub(super) buffer: BufferId,
    op: ReduceOp,
    body: NodeId,
    /// The reduced axis along which several iterations run at once, each with its own cells.
    split: Option<AxisId>,
    cells: Vec<Cells>,
}

/// The cells of one iteration.
#[derive(Clone, Copy)]
struct Cells {
    copy: Copy,
    one: Cell,
    /// With all lanes.
    all: Option<Cell>,
}

impl Emitter<'_> {
    /// Cells for the reductions of a nest, initially units.
    pub(super) fn sums(&mut self, nest: &Nest, depth: usize) -> Vec<Sum> {
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
            let split = self.split(nest, id);
            let count = split.map_or(1, |(_, count)| usize::from(count));
            let split = split.map(|(axis, _)| axis);
            let mut cells = Vec::new();
            for copy in self.copies.clone() {
                let one = self.code.cell(Ty { elem, lanes }, unit);
                for k in 0..count {
                    let copy = split.map_or(copy, |axis| copy.with(&self.tile, axis, k));
                    let all = Ty { elem, lanes: self.lanes };
                    let all = within.then(|| self.code.cell(all, unit));
                    cells.push(Cells { copy, one, all });
                }
            }
            sums.push(Sum { buffer: id, op, body, split, cells });
        }
        sums
    }

    /// The reduced axis of the tile, and its number of iterations at once. If states are carried,
    /// these share a cell.
    fn split(&self, nest: &Nest, id: BufferId) -> Option<(AxisId, u8)> {
        let kept = &self.placed.buffer(id).axes;
        let mut tile = nest.tile.iter().copied().filter(|_| nest.carries.is_empty());
        tile.find(|(axis, _)| !kept.contains(axis))
    }

    /// Combines the cells and stores the total in its destination.
    pub(super) fn total(&mut self, sum: &Sum) {
        for cells in sum.cells.chunk_by(|a, b| a.one == b.one) {
            let Cells { copy, one, .. } = cells[0];
            let mut value = self.code.get(one);
            let elem = self.code.ty(value).elem;
            let combine = sum.op.prim(elem);
            let mut all: Vec<Operand> =
                cells.iter().filter_map(|cells| cells.all).map(|all| self.code.get(all)).collect();
            while all.len() > 1 {
                let both = |pair: &[Operand]| match pair {
                    [alone] => *alone,
                    pair => self.code.prim(combine, pair),
                };
                all = all.chunks(2).map(both).collect();
            }
            if let Some(lanes) = all.pop() {
                let folded = self.code.bind(Ty::scalar(elem), Op::Fold(sum.op, lanes));
                value = self.code.prim(combine, &[folded, value]);
            }
            let kept = &self.placed.buffer(sum.buffer).axes;
            let split = self.part_of.is_some_and(|axis| !kept.contains(&axis));
            if split {
                self.add(sum.buffer, copy, sum.op, value);
            } else {
                self.store(sum.buffer, copy, value);
            }
        }
    }

    /// `buffer ⊕= value`
    pub(super) fn add(&mut self, id: BufferId, copy: Copy, op: ReduceOp, value: Operand) {
        let combine = op.prim(self.code.ty(value).elem);
        match self.slots[id.0 as usize] {
            Slot::Scalar(_) => unreachable!("a given scalar is not written"),
            Slot::Cell(cell) => {
                let old = self.code.get(cell);
                let new = self.code.prim(combine, &[old, value]);
                self.code.push(Step::Set(cell, new));
            }
            Slot::Memory(buf) => {
                let (offset, consecutive) = self.place(id, copy);
                let lanes = consecutive.unwrap_or(self.code.ty(offset).lanes);
                let old = self.load_now((buf, offset), lanes);
                let value = self.code.prim(combine, &[old, value]);
                self.store_at((buf, offset), value);
            }
        }
    }

    /// Combines a term of each copy. If terms are units unless a condition holds, they are skipped
    /// where it fails, and combined at once if it holds for all copies.
    pub(super) fn terms(&mut self, sum: &Sum) {
        let cells = self.cells(sum);
        let Some((cond, then)) = self.optional(sum) else {
            self.every(sum, sum.body, &cells);
            return;
        };
        if self.assumed == Some(cond) {
            self.every(sum, then, &cells);
            return;
        }
        let mut groups: Vec<(Operand, Vec<Cells>)> = Vec::new();
        for cells in &cells {
            let cond = self.node(cond, cells.copy);
            match groups.iter_mut().find(|(known, _)| *known == cond) {
                Some((_, group)) => group.push(*cells),
                None => groups.push((cond, vec![*cells])),
            }
        }
        let mut all = groups[0].0;
        for (cond, _) in &groups[1..] {
            all = self.code.prim(Prim::And, &[all, *cond]);
        }
        self.code.open();
        self.every(sum, then, &cells);
        let together = self.code.close();
        self.code.open();
        if groups.len() > 1 {
            for (cond, group) in groups {
                self.code.open();
                self.every(sum, then, &group);
                let then = self.code.close();
                self.code.push(Loops::If { cond, then, otherwise: Vec::new() });
            }
        }
        let otherwise = self.code.close();
        self.code.push(Loops::If { cond: all, then: together, otherwise });
    }

    /// The cells of the current iterations; iterations along a reduced axis share one, except along
    /// the split axis.
    fn cells(&self, sum: &Sum) -> Vec<Cells> {
        let kept = self.placed.buffer(sum.buffer).axes.iter().copied();
        let kept: Axes = kept.chain(sum.split).collect();
        let own = |copy: Copy| {
            let place = copy.along(&self.tile, &kept);
            let cells = sum.cells.iter().find(|cells| cells.copy == place);
            Cells { copy, ..*cells.expect("a cell for each result") }
        };
        self.copies.iter().map(|copy| own(*copy)).collect()
    }

    /// The condition without which the terms are units, if all lanes share it, and the terms under
    /// it.
    fn optional(&self, sum: &Sum) -> Option<(NodeId, NodeId)> {
        let (cond, then) = self.asked(sum)?;
        let lanes = |axis: AxisId| self.axes.get(&axis).is_some_and(|bound| bound.lanes > 1);
        let shared =
            self.mechanisms.has(Mechanism::Branches) && !self.graph().free(cond).iter().any(lanes);
        shared.then_some((cond, then))
    }

    /// The condition without which the terms are units, and the terms under it.
    pub(super) fn asked(&self, sum: &Sum) -> Option<(NodeId, NodeId)> {
        let graph = self.graph();
        let Node::Choose(cond, then, otherwise) = graph.node(sum.body) else { return None };
        let unit = graph.lit(*otherwise) == Some(sum.op.unit(graph.facts(sum.body).elem));
        let plain = !self.found.contains_key(&Content::Node(sum.body));
        (unit && plain).then_some((*cond, *then))
    }

    fn every(&mut self, sum: &Sum, body: NodeId, cells: &[Cells]) {
        for Cells { copy, one, all } in cells.iter().copied() {
            let mut value = self.node(body, copy);
            let elem = self.code.ty(value).elem;
            if all.is_some() {
                value = self.masked(value, sum.op);
            }
            // A value shared by all lanes is combined once per lane.
            let lanes = self.axes.values().map(|bound| bound.lanes).max().unwrap_or(1);
            let (cell, value) = match all {
                Some(all) if lanes == self.lanes => (all, value),
                // The remainder with fewer lanes comes once, after all others.
                Some(_) if lanes > 1 => {
                    let value = self.broadcast(value, lanes);
                    (one, self.code.bind(Ty::scalar(elem), Op::Fold(sum.op, value)))
                }
                Some(_) | None => (one, value),
            };
            let old = self.code.get(cell);
            let new = self.code.prim(sum.op.prim(elem), &[old, value]);
            self.code.push(Step::Set(cell, new));
        }
    }
}

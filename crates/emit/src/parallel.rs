//! Several threads: runs of blocks, or runs of indices of the outermost axis of a nest outside
//! blocks, are the iterations of a parallel loop. Each iteration has its own memory for block-local
//! buffers, and for the totals over blocks, which are combined in the order of the iterations. The
//! number of iterations depends on sizes only, so the results do not depend on the number of
//! threads.

use lambada_loops::{Buf, Mode, Nest as Loops, Op, Operand, Step, Ty};
use lambada_prim::{Prim, ReduceOp, ScalarTy};
use rustc_hash::FxHashSet;

use lambada_graph::Runs;
use lambada_graph::cost;

use super::{Emitter, Slot};
use lambada_graph::placed::{BufferId, Content, Item, Nest, Pass, Placed};
use lambada_graph::{AxisId, Node};

/// A total: its buffer for all iterations, and its location afterwards.
struct Total {
    id: BufferId,
    all: Buf,
    outside: Slot,
}

/// The reductions over the blocks of a pass, if blocks share nothing else.
pub(crate) fn totals(placed: &Placed, pass: &Pass) -> Option<Vec<BufferId>> {
    let block = placed.block.filter(|_| pass.blocked)?;
    totals_over(placed, block, pass.nests.iter().flat_map(|nest| &nest.items))
}

/// The reductions over an axis by `items`, if its indices share nothing else.
fn totals_over<'i>(
    placed: &Placed,
    axis: AxisId,
    items: impl Iterator<Item = &'i Item>,
) -> Option<Vec<BufferId>> {
    let mut totals = Vec::new();
    for item in items {
        let along = placed.buffer(item.buffer()).axes.contains(&axis);
        match item {
            Item::Reduce(id) => totals.extend((!along).then_some(*id)),
            other if along && matches!(other, Item::Store(_) | Item::Last(_)) => {}
            _ => return None, // cannot be divided
        }
    }
    totals.sort_unstable();
    totals.dedup();
    Some(totals)
}

impl Emitter<'_> {
    /// Block-local buffers of passes whose blocks run on several threads.
    pub(super) fn of_iterations(&self) -> FxHashSet<BufferId> {
        let parallel = self.placed.passes.iter().filter(|pass| totals(self.placed, pass).is_some());
        parallel.flat_map(|pass| self.locals(pass)).collect()
    }

    fn locals(&self, pass: &Pass) -> Vec<BufferId> {
        let items = pass.nests.iter().flat_map(|nest| &nest.items);
        let mut locals: Vec<BufferId> = items.map(|item| item.buffer()).collect();
        locals.retain(|id| self.placed.buffer(*id).local);
        locals.sort_unstable();
        locals.dedup();
        locals
    }

    /// The nests of a pass for `count` blocks, on several threads.
    pub(super) fn blocks_in_parts(
        &mut self,
        pass: &Pass,
        (block, count): (AxisId, Operand),
        totals: &[BufferId],
    ) {
        self.in_parts(&pass.nests, count, totals, |emitter, blocks| {
            for id in emitter.locals(pass) {
                emitter.slots[id.0 as usize] = emitter.slot(id);
            }
            emitter.begin_additions(&pass.nests, true);
            emitter.blocks(pass, block, blocks);
            emitter.end_additions();
        });
    }

    /// The outermost axis of a nest outside blocks, and the reductions over it, if its indices
    /// share nothing else.
    pub(super) fn divided(&self, nest: &Nest) -> Option<(AxisId, Vec<BufferId>)> {
        let axis = *nest.axes.iter().find(|axis| !nest.whole.contains(axis))?;
        let in_order = !nest.carries.is_empty() || nest.direction.is_some();
        let sequential = in_order && nest.axes.len() == 1;
        // A buffer with copies for lanes is combined in all of its elements.
        let copied = nest.items.iter().any(|item| {
            let along = self.placed.buffer(item.buffer()).axes.contains(&axis);
            along && self.placed.comes_back(nest, *item)
        });
        if self.runs == Runs::Often || sequential || copied {
            return None;
        }
        totals_over(self.placed, axis, nest.items.iter()).map(|totals| (axis, totals))
    }

    /// A nest outside blocks, on several threads.
    pub(super) fn nest_in_parts(&mut self, nest: &Nest, axis: AxisId, totals: &[BufferId]) {
        let end = self.extent(axis);
        totals.iter().for_each(|id| self.units(*id));
        // Parts start at whole vectors, and at whole tiles: a part with a few rows of its own would
        // run the rest of a tile only.
        let lanes = if nest.vector == Some(axis) { self.grain.unit } else { 1 };
        let unit = Operand::int(lanes.max(self.stride(nest, axis).len()));
        let above = self.code.int(Prim::AddInt, end, unit);
        let above = self.code.int(Prim::SubInt, above, Operand::int(1));
        let count = self.code.int(Prim::DivInt, above, unit);
        self.in_parts(std::slice::from_ref(nest), count, totals, |emitter, (start, stop)| {
            emitter.block_start = emitter.code.int(Prim::MulInt, start, unit);
            let stop = emitter.code.int(Prim::MulInt, stop, unit);
            emitter.block_end = emitter.code.int(Prim::MinInt, stop, end);
            emitter.begin_additions(std::slice::from_ref(nest), true);
            emitter.nest(nest, 0, Some(axis));
            emitter.end_additions();
        });
    }

    /// `count` units of work of some nests, in the worthwhile number of iterations of a parallel
    /// loop.
    fn in_parts(
        &mut self,
        nests: &[Nest],
        count: Operand,
        totals: &[BufferId],
        body: impl FnOnce(&mut Self, (Operand, Operand)),
    ) {
        let iterations = self.iterations(nests, count, totals);
        let totals: Vec<Total> = totals.iter().map(|id| self.for_all(*id)).collect();
        self.code.open();
        let index = self.code.reg(Ty::scalar(ScalarTy::Int), "part");
        let next = self.code.int(Prim::AddInt, index.into(), Operand::int(1));
        let [start, end] = [index.into(), next].map(|k| {
            let units = self.code.int(Prim::MulInt, count, k);
            self.code.int(Prim::DivInt, units, iterations)
        });
        totals.iter().for_each(|total| self.for_one(total));
        body(self, (start, end));
        self.code.open();
        totals.iter().for_each(|total| self.merge(total));
        let merge = self.code.close();
        let body = self.code.close();
        self.code.push(Loops::Parallel { index, count: iterations, body, merge });
        for Total { id, all, outside } in totals {
            self.slots[id.0 as usize] = outside;
            if let Slot::Cell(cell) = outside {
                let ty = self.code.function.cells[cell.0 as usize].0;
                let value = self.code.bind(ty, Op::Load(all, Operand::int(0)));
                self.code.push(Step::Set(cell, value));
            }
        }
    }

    /// The number of iterations.
    fn iterations(&mut self, nests: &[Nest], count: Operand, totals: &[BufferId]) -> Operand {
        let mut work = Operand::int(0);
        for nest in nests {
            let dims: Vec<Operand> = nest.axes.iter().map(|axis| self.extent(*axis)).collect();
            let all = self.product(&dims);
            work = self.code.int(Prim::AddInt, work, all);
        }
        let enough = self.code.int(Prim::DivInt, work, Operand::int(self.grain.work));
        let most = self.code.int(Prim::MinInt, count, Operand::int(cost::MOST_THREADED));
        let some = self.code.int(Prim::MinInt, enough, most);
        let some = match self.worth_totals(work, totals) {
            Some(worth) => self.code.int(Prim::MinInt, some, worth),
            None => some,
        };
        self.code.int(Prim::MaxInt, some, Operand::int(1))
    }

    /// Maximal number of iterations that justifies the cost of combining totals with axes.
    fn worth_totals(&mut self, work: Operand, totals: &[BufferId]) -> Option<Operand> {
        let arrays = totals.iter().filter(|id| !self.placed.buffer(**id).axes.is_empty());
        let arrays: Vec<BufferId> = arrays.copied().collect();
        let elements: Vec<Operand> = arrays.iter().map(|id| self.elements(*id)).collect();
        let sum = |all, size| self.code.int(Prim::AddInt, all, size);
        let all = elements.into_iter().reduce(sum)?;
        let all = self.code.int(Prim::MaxInt, all, Operand::int(1));
        let least = self.code.int(Prim::MulInt, all, Operand::int(cost::WORTH_A_TOTAL));
        let worth = self.code.int(Prim::DivInt, work, least);
        Some(self.code.int(Prim::MaxInt, worth, Operand::int(cost::FEW_THREADED)))
    }

    /// Memory for a total; a total with axes is filled with units.
    fn for_all(&mut self, id: BufferId) -> Total {
        let outside = self.slots[id.0 as usize];
        let all = match outside {
            Slot::Memory(buf) => buf,
            Slot::Cell(_) | Slot::Scalar(_) => {
                let (op, elem) = self.combined(id);
                let buf = self.code.function.buf(elem, "total");
                let one = Operand::int(1);
                self.code.push(Step::Alloc { buf, dims: vec![one] });
                let value = Operand::Lit(op.unit(elem));
                self.code.push(Step::Fill { buf, value, len: one });
                buf
            }
        };
        Total { id, all, outside }
    }

    /// The memory of a total for one iteration.
    fn for_one(&mut self, total: &Total) {
        let (op, elem) = self.combined(total.id);
        let unit = Operand::Lit(op.unit(elem));
        self.slots[total.id.0 as usize] = match total.outside {
            Slot::Memory(_) => {
                let len = self.elements(total.id);
                let buf = self.code.function.buf(elem, "part");
                self.code.push(Step::Alloc { buf, dims: vec![len] });
                self.code.push(Step::Fill { buf, value: unit, len });
                Slot::Memory(buf)
            }
            Slot::Cell(_) | Slot::Scalar(_) => Slot::Cell(self.code.cell(Ty::scalar(elem), unit)),
        };
    }

    /// `all ⊕= one`
    fn merge(&mut self, total: &Total) {
        let (op, elem) = self.combined(total.id);
        match self.slots[total.id.0 as usize] {
            Slot::Memory(one) => {
                let end = self.elements(total.id);
                let lanes = i64::from(self.lanes);
                let whole = self.code.int(Prim::BitAnd, end, Operand::int(-lanes));
                let zero = Operand::int(0);
                self.merge_elements((op, elem), (total.all, one), (zero, whole), self.lanes);
                self.merge_elements((op, elem), (total.all, one), (whole, end), 1);
            }
            Slot::Cell(cell) => {
                let (at, ty) = (Operand::int(0), Ty::scalar(elem));
                let old = self.code.bind(ty, Op::Load(total.all, at));
                let new = self.code.get(cell);
                let value = self.code.prim(op.prim(elem), &[old, new]);
                self.code.push(Step::Store { buf: total.all, offset: at, value });
            }
            Slot::Scalar(_) => {}
        }
    }

    fn merge_elements(
        &mut self,
        (op, elem): (ReduceOp, ScalarTy),
        (all, one): (Buf, Buf),
        (start, end): (Operand, Operand),
        lanes: u16,
    ) {
        if start == end {
            return;
        }
        self.code.open();
        let index = self.code.reg(Ty::scalar(ScalarTy::Int), "k");
        let (at, ty) = (Operand::from(index), Ty { elem, lanes });
        let old = self.code.bind(ty, Op::Load(all, at));
        let new = self.code.bind(ty, Op::Load(one, at));
        let value = self.code.prim(op.prim(elem), &[old, new]);
        self.code.push(Step::Store { buf: all, offset: at, value });
        let body = self.code.close();
        let (step, mode) = (i64::from(lanes), Mode::Sequential);
        self.code.push(Loops::For { index, start, end, step, mode, body });
    }

    fn combined(&self, id: BufferId) -> (ReduceOp, ScalarTy) {
        let Content::Node(node) = self.placed.buffer(id).content else {
            unreachable!("a total is a scalar for each index")
        };
        let Node::Reduce(op, _, body) = self.graph().node(node) else {
            unreachable!("a total is a reduction")
        };
        (*op, self.graph().facts(*body).elem)
    }
}

//! Sequential loops inside nests: the states of several combinations of the other indices are in
//! registers at once. The targets of additions are in memory, with a copy per lane; the copies are
//! combined at the end of the pass.

use lambada_loops::{Buf, Cell, Mode, Nest as Loops, Op, Operand, Step, Ty};
use lambada_prim::{Prim, ScalarTy};
use rustc_hash::FxHashMap;

use super::{Copy, Emitter, Slot};
use lambada_graph::placed::{BufferId, Content, Item, Nest};
use lambada_graph::{Array, ArrayId, Axes, AxisId, LoopId};

/// Loop-carried data of the current nest.
#[derive(Default)]
pub(super) struct Carried {
    /// The states of each iteration that runs at once.
    states: FxHashMap<(LoopId, u32, Copy), Cell>,
    /// Targets of additions, with one copy per lane.
    private: FxHashMap<BufferId, Buf>,
}

impl Emitter<'_> {
    /// Whether the loop over the axis at this depth carries states.
    pub(super) fn carries(&self, nest: &Nest, depth: usize) -> bool {
        !nest.carries.is_empty() && depth + 1 == nest.axes.len()
    }

    /// The states before the first iteration.
    pub(super) fn first_states(&mut self, nest: &Nest) {
        let lanes = nest.vector.and_then(|axis| self.axes.get(&axis)).map_or(1, |b| b.lanes);
        for l in &nest.carries {
            for (k, (init, _)) in (0..).zip(self.placed.states(*l)) {
                let ty = Ty { elem: self.graph().facts(init).elem, lanes };
                for copy in self.copies.clone() {
                    let value = self.node(init, copy);
                    let cell = self.code.function.cell(ty, self.state_hint(*l, k));
                    self.code.push(Step::Cell(cell, value));
                    self.carried.states.insert((*l, k, copy), cell);
                }
            }
        }
    }

    fn state_hint(&self, l: LoopId, k: u32) -> std::rc::Rc<str> {
        self.graph().loop_(l).carries[k as usize].hint.clone()
    }

    /// The state at the beginning of the iteration.
    pub(super) fn state(&mut self, array: ArrayId, copy: Copy) -> Option<Operand> {
        let Array::Carried(l, k) = self.graph().array(array) else { return None };
        let cell = *self.carried.states.get(&(*l, *k, copy))?;
        Some(self.code.get(cell))
    }

    /// The states at the end of an iteration: all are computed before any is set.
    pub(super) fn next_states(&mut self, nest: &Nest) {
        let mut set = Vec::new();
        for l in &nest.carries {
            for (k, (_, next)) in (0..).zip(self.placed.states(*l)) {
                for copy in self.copies.clone() {
                    let value = self.node(next, copy);
                    set.push(Step::Set(self.carried.states[&(*l, k, copy)], value));
                }
            }
        }
        set.into_iter().for_each(|step| self.code.push(step));
    }

    /// Stores the states after the last iteration in their destinations.
    pub(super) fn last_states(&mut self, nest: &Nest) {
        for item in &nest.items {
            let Some((l, k)) = self.placed.last(*item) else { continue };
            for copy in self.copies.clone() {
                let value = self.code.get(self.carried.states[&(l, k, copy)]);
                self.store(item.buffer(), copy, value);
            }
        }
        self.carried.states.clear();
    }

    // Targets of additions

    /// Fills the elements that the nests of a pass add to with units.
    pub(super) fn begin_additions(&mut self, nests: &[Nest], blocked: bool) {
        for nest in nests {
            for item in nest.items.iter().filter(|item| self.placed.comes_back(nest, **item)) {
                if !blocked {
                    self.units(item.buffer());
                }
                self.private(nest, item.buffer());
            }
        }
    }

    /// [`Self::begin_additions`] for block-local elements.
    pub(super) fn begin_additions_of_block(&mut self, nest: &Nest) {
        for item in nest.items.iter().filter(|item| self.placed.comes_back(nest, **item)) {
            if self.placed.buffer(item.buffer()).local {
                self.units(item.buffer());
            }
        }
    }

    /// A copy of the elements for each lane, if the nest reduces over the lanes.
    fn private(&mut self, nest: &Nest, id: BufferId) {
        let Some((axis, unit, elem)) = self.of_additions(nest, id) else { return };
        if self.lanes == 1 || self.placed.buffer(id).axes.contains(&axis) {
            return;
        }
        let len = self.elements(id);
        let buf = self.code.function.buf(elem, "lanes");
        let lanes = Operand::int(i64::from(self.lanes));
        self.code.push(Step::Alloc { buf, dims: vec![len, lanes] });
        let len = self.code.int(Prim::MulInt, len, lanes);
        self.code.push(Step::Fill { buf, value: unit, len });
        self.carried.private.insert(id, buf);
    }

    fn of_additions(&self, nest: &Nest, id: BufferId) -> Option<(AxisId, Operand, ScalarTy)> {
        let Content::Node(node) = self.placed.buffer(id).content else { return None };
        let (op, _, body) = self.graph().reduction(node)?;
        let elem = self.graph().facts(body).elem;
        Some((nest.vector?, Operand::Lit(op.unit(elem)), elem))
    }

    pub(super) fn elements(&mut self, id: BufferId) -> Operand {
        let axes = self.placed.buffer(id).axes.clone();
        let dims: Vec<Operand> = axes.iter().map(|axis| self.extent(*axis)).collect();
        let len = self.product(&dims);
        self.code.int(Prim::MaxInt, len, Operand::int(0))
    }

    /// `element ⊕= lanes` for all elements with copies.
    pub(super) fn end_additions(&mut self) {
        let mut private: Vec<(BufferId, Buf)> = self.carried.private.drain().collect();
        private.sort_unstable_by_key(|(id, _)| *id);
        for (id, buf) in private {
            let (Content::Node(node), Slot::Memory(to)) =
                (self.placed.buffer(id).content, self.slots[id.0 as usize])
            else {
                continue;
            };
            let Some((op, _, _)) = self.graph().reduction(node) else { continue };
            let elem = self.graph().facts(node).elem;
            let (start, end) = (Operand::int(0), self.elements(id));
            self.code.open();
            let index = self.code.reg(Ty::scalar(ScalarTy::Int), "k");
            let lanes = self.lanes;
            let at = self.code.int(Prim::MulInt, index.into(), Operand::int(i64::from(lanes)));
            let all = self.code.bind(Ty { elem, lanes }, Op::Load(buf, at));
            let folded = self.code.bind(Ty::scalar(elem), Op::Fold(op, all));
            let old = self.code.bind(Ty::scalar(elem), Op::Load(to, index.into()));
            let value = self.code.prim(op.prim(elem), &[old, folded]);
            self.code.push(Step::Store { buf: to, offset: index.into(), value });
            let body = self.code.close();
            let mode = Mode::Sequential;
            self.code.push(Loops::For { index, start, end, step: 1, mode, body });
        }
    }

    /// `buffer[axes] ⊕= term`, where the nest comes back to the element: all copies at once, if the
    /// nest reduces over them.
    pub(super) fn addition_to(&mut self, nest: &Nest, item: Item) {
        let id = item.buffer();
        let (Content::Node(node), Some(body)) =
            (self.placed.buffer(id).content, self.placed.value(item))
        else {
            return;
        };
        let Some((op, _, _)) = self.graph().reduction(node) else { return };
        let kept: Axes = self.placed.buffer(id).axes.iter().copied().collect();
        let lanes = nest.vector.and_then(|axis| self.axes.get(&axis)).map_or(1, |b| b.lanes);
        let combine = op.prim(self.graph().facts(body).elem);
        let private = self.carried.private.get(&id).copied().filter(|_| lanes > 1);
        let mut totals: Vec<(Copy, Operand)> = Vec::new();
        for copy in self.copies.clone() {
            let value = self.node(body, copy);
            let value = self.broadcast(value, lanes);
            let value = if private.is_some() { self.masked(value, op) } else { value };
            let place = copy.along(&self.tile, &kept);
            match totals.iter_mut().find(|(known, _)| *known == place) {
                Some((_, total)) => *total = self.code.prim(combine, &[*total, value]),
                None => totals.push((place, value)),
            }
        }
        for (copy, total) in totals {
            let Some(buf) = private else {
                self.add(id, copy, op, total);
                continue;
            };
            let (at, _) = self.place(id, copy);
            // Fewer lanes use the first copies.
            let copies = Operand::int(i64::from(self.lanes));
            let offset = self.code.int(Prim::MulInt, at, copies);
            let ty = self.code.ty(total);
            let old = self.code.bind(ty, Op::Load(buf, offset));
            let value = self.code.prim(combine, &[old, total]);
            self.code.push(Step::Store { buf, offset, value });
        }
    }
}

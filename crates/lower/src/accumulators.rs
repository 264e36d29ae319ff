//! Accumulators: a cell for a scalar that no call adds to; else separate memory, that of the
//! initial value if it is dead.

use lambada_anf::{Atom, Param, Var};
use lambada_loops::{Mode, Operand};
use lambada_prim::ReduceOp;

use crate::Lower;
use crate::memory::{LoweredValue, Place};

impl<'a> Lower<'a> {
    pub(crate) fn accumulator(&mut self, bind: &Param, first: Atom) {
        let value = match self.env.value(first) {
            LoweredValue::Scalar(first) if self.env.facts().is_passed(bind.var) => {
                let place = self.alloc(bind);
                self.code.store(self.memory.buf(place.storage), place.offset, first);
                LoweredValue::Array(place)
            }
            LoweredValue::Scalar(first) => LoweredValue::Cell(self.code.cell(
                bind.ty.elem.scalar(),
                first,
                self.env.hint(bind.var),
            )),
            LoweredValue::Array(place) if self.take_but_rows(&place) => LoweredValue::Array(place),
            LoweredValue::Array(place) => {
                let copy = self.target(bind);
                self.copy(&place, &copy);
                LoweredValue::Array(copy)
            }
            LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                unreachable!("the first value is a value")
            }
        };
        self.bind(bind.var, value);
    }

    pub(crate) fn accumulate(&mut self, acc: Var, index: &[Atom], value: Atom) {
        let value = self.env.value(value);
        match (self.env.value_of(acc).clone(), value) {
            (LoweredValue::Cell(cell), LoweredValue::Scalar(value)) => {
                self.combine(ReduceOp::Add, cell, value)
            }
            (LoweredValue::Array(place), LoweredValue::Scalar(value)) => {
                let index = self.env.operands(index);
                let at = self.code.offset(&place, &index);
                self.add_at(&place, at, value);
            }
            (LoweredValue::Array(place), LoweredValue::Array(part)) => {
                let index = self.env.operands(index);
                let offset = self.code.offset(&place, &index);
                self.add_part(&part, &place, offset);
            }
            (LoweredValue::Cell(_), _)
            | (LoweredValue::Array(_), _)
            | (LoweredValue::Scalar(_) | LoweredValue::Elements(_), _) => {
                unreachable!("an accumulator takes values of its type")
            }
        }
    }

    /// `cell = cell ⊕ value`
    pub(crate) fn combine(&mut self, op: ReduceOp, cell: lambada_loops::Cell, value: Operand) {
        let elem = self.code.cell_elem(cell);
        let old = self.code.get(cell);
        let new = self.code.prim(op.prim(elem), vec![old, value], "t");
        self.code.set(cell, new);
    }

    fn add_at(&mut self, place: &Place, at: Operand, value: Operand) {
        let buf = self.memory.buf(place.storage);
        let add = ReduceOp::Add.prim(self.code.elem(buf));
        let old = self.code.load(buf, at, "t");
        let new = self.code.prim(add, vec![old, value], "t");
        self.code.store(buf, at, new);
    }

    /// `place[offset ..] += part`: parts are contiguous, so one loop serves all ranks.
    fn add_part(&mut self, part: &Place, place: &Place, offset: Operand) {
        let len = self.code.len(&part.dims);
        self.counted("j", len, Mode::Independent, |lower, j| {
            let from = lower.code.sum(vec![part.offset, j]);
            let hint = lower.code.hint(lower.memory.buf(part.storage));
            let value = lower.code.load(lower.memory.buf(part.storage), from, hint);
            let at = lower.code.sum(vec![offset, j]);
            lower.add_at(place, at, value);
        });
    }

    pub(crate) fn freeze(&mut self, bind: &Param, acc: Var) {
        let value = match self.env.value_of(acc).clone() {
            LoweredValue::Cell(cell) => LoweredValue::Scalar(self.code.get(cell)),
            LoweredValue::Array(place) => self.held(bind, place),
            LoweredValue::Scalar(_) | LoweredValue::Elements(_) => {
                unreachable!("only accumulators are frozen")
            }
        };
        self.bind(bind.var, value);
    }
}

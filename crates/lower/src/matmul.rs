//! `a @ b`. Every sum runs over the inner size upwards from 0, in the order of the definition; only the nesting differs: what is
//! contiguous in memory is innermost.

use lambada_anf::{Param, Var};
use lambada_loops::{Mode, Operand};
use lambada_prim::{Prim, Scalar, ScalarTy};

use crate::Lower;
use crate::places::{Place, Value};

const ZERO: Operand = Operand::Lit(Scalar::Real(0.0));

impl<'a> Lower<'a> {
    pub(crate) fn matmul(&mut self, bind: &Param, a: Var, b: Var) {
        let (a, b) = (self.place(a.into()), self.place(b.into()));
        let target = self.target(bind);
        match (a.dims.len(), b.dims.len()) {
            (2, 1) => self.matrix_vector(&a, &b, &target),
            (1, 2) => self.vector_matrix(&a, &b, &target),
            (_, _) => self.matrix_matrix(&a, &b, &target),
        }
        self.bind(bind.var, Value::Array(target));
    }

    fn matrix_vector(&mut self, a: &Place, b: &Place, c: &Place) {
        self.counted("i", a.dims[0], Mode::Independent, |lower, i| {
            let sum = lower.emit.cell(ScalarTy::Real, ZERO, "sum");
            lower.counted("k", a.dims[1], Mode::Reduction, |lower, k| {
                let x = lower.read(a, &[i, k]);
                let y = lower.read(b, &[k]);
                let product = lower.emit.prim(Prim::Mul, vec![x, y], "t");
                let old = lower.emit.get(sum);
                let new = lower.emit.prim(Prim::Add, vec![old, product], "t");
                lower.emit.set(sum, new);
            });
            let total = lower.emit.get(sum);
            let at = lower.offset(c, &[i]);
            lower.emit.store(lower.store.buf(c.storage), at, total);
        });
    }

    fn vector_matrix(&mut self, a: &Place, b: &Place, c: &Place) {
        self.fill_place(c, ZERO);
        self.counted("k", a.dims[0], Mode::Reduction, |lower, k| {
            let factor = lower.read(a, &[k]);
            lower.add_row(factor, b, &[k], c, &[]);
        });
    }

    fn matrix_matrix(&mut self, a: &Place, b: &Place, c: &Place) {
        self.fill_place(c, ZERO);
        self.counted("i", a.dims[0], Mode::Independent, |lower, i| {
            lower.counted("k", a.dims[1], Mode::Reduction, |lower, k| {
                let factor = lower.read(a, &[i, k]);
                lower.add_row(factor, b, &[k], c, &[i]);
            });
        });
    }

    /// `to[to_index] += factor · from[from_index]`, elementwise.
    fn add_row(
        &mut self,
        factor: Operand,
        from: &Place,
        from_index: &[Operand],
        to: &Place,
        to_index: &[Operand],
    ) {
        let end = to.dims[to.dims.len() - 1];
        self.counted("j", end, Mode::Independent, |lower, j| {
            let x = lower.read(from, &[from_index, &[j]].concat());
            let product = lower.emit.prim(Prim::Mul, vec![factor, x], "t");
            let at = lower.offset(to, &[to_index, &[j]].concat());
            let buf = lower.store.buf(to.storage);
            let old = lower.emit.load(buf, at, "t");
            let new = lower.emit.prim(Prim::Add, vec![old, product], "t");
            lower.emit.store(buf, at, new);
        });
    }

    /// An element.
    pub(crate) fn read(&mut self, place: &Place, index: &[Operand]) -> Operand {
        let at = self.offset(place, index);
        let buf = self.store.buf(place.storage);
        let hint = self.emit.function.bufs[buf.0 as usize].1.clone();
        self.emit.load(buf, at, hint)
    }
}

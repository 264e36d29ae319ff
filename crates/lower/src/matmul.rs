//! `a @ b`. Every sum runs over the inner size upwards from 0, in the order of the definition; only the nesting differs: what is
//! contiguous in memory is innermost.

use lambada_anf::{Param, Var};
use lambada_loops::{Mode, Operand};
use lambada_prim::{Prim, Scalar, ScalarTy};

use crate::Lower;
use crate::memory::{Place, Value};

const ZERO: Operand = Operand::Lit(Scalar::Real(0.0));

impl<'a> Lower<'a> {
    pub(crate) fn matmul(&mut self, bind: &Param, a: Var, b: Var) {
        let (a, b) = (self.env.place(a.into()), self.env.place(b.into()));
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
            let sum = lower.code.cell(ScalarTy::Real, ZERO, "sum");
            lower.counted("k", a.dims[1], Mode::Reduction, |lower, k| {
                let x = lower.read(a, &[i, k]);
                let y = lower.read(b, &[k]);
                let product = lower.code.prim(Prim::Mul, vec![x, y], "t");
                let old = lower.code.get(sum);
                let new = lower.code.prim(Prim::Add, vec![old, product], "t");
                lower.code.set(sum, new);
            });
            let total = lower.code.get(sum);
            let at = lower.code.offset(c, &[i]);
            lower.code.store(lower.memory.buf(c.storage), at, total);
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
            let product = lower.code.prim(Prim::Mul, vec![factor, x], "t");
            let at = lower.code.offset(to, &[to_index, &[j]].concat());
            let buf = lower.memory.buf(to.storage);
            let old = lower.code.load(buf, at, "t");
            let new = lower.code.prim(Prim::Add, vec![old, product], "t");
            lower.code.store(buf, at, new);
        });
    }

    /// An element.
    pub(crate) fn read(&mut self, place: &Place, index: &[Operand]) -> Operand {
        let at = self.code.offset(place, index);
        let buf = self.memory.buf(place.storage);
        let hint = self.code.hint(buf);
        self.code.load(buf, at, hint)
    }
}

//! `y = a @ b`: bilinear, so each factor's derivative is a product with the other, transposed in reverse.
//!
//! ```text
//!   D→   ẏ = ȧ @ b + a @ ḃ
//!   D←   matrix @ matrix   ā += ȳ @ bᵀ     b̄ += aᵀ @ ȳ
//!        matrix @ vector   ā += ȳ bᵀ       b̄ += ȳ @ a
//!        vector @ matrix   ā += b @ ȳ      b̄ += a ȳᵀ
//! ```

use lambada_anf::{Atom, Op, Param, Ty, Var};

use crate::arrays;
use crate::cotangents::Cotangents;
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn matmul(&mut self, y: &Param, a: Var, b: Var) {
        if self.cx.reach {
            return self.reach_matmul(y, a, b);
        }
        let hint = self.hint(y.var);
        let left =
            self.get_var(a).map(|a_tan| self.b.bind(&hint, y.ty.clone(), Op::MatMul(a_tan, b)));
        let right =
            self.get_var(b).map(|b_tan| self.b.bind(&hint, y.ty.clone(), Op::MatMul(a, b_tan)));
        let sum = match (left, right) {
            (Some(left), Some(right)) => Some(arrays::plus(&mut self.b, &hint, &y.ty, left, right)),
            (one, other) => one.or(other),
        };
        if let Some(sum) = sum {
            self.set(y.var, sum);
        }
    }
}

impl Cotangents<'_> {
    pub(crate) fn matmul(&mut self, y: &Param, a: Var, b: Var) {
        let Some(y_ct) = self.take_var(y.var) else { return };
        let y_ct = Param { var: y_ct, ty: y.ty.clone() };
        if self.wants(a).is_some() {
            self.left(a, b, &y_ct);
        }
        if self.wants(b).is_some() {
            self.right(a, b, &y_ct);
        }
    }

    fn left(&mut self, a: Var, b: Var, y_ct: &Param) {
        let mut ty = self.ty(a).clone();
        let part = match (ty.rank(), y_ct.ty.rank()) {
            (2, 1) => self.outer_product(a, &ty, y_ct.var, b),
            (2, _) => {
                let flipped = Ty { elem: ty.elem, dims: vec![y_ct.ty.dims[1], ty.dims[1]] };
                let b = arrays::transpose(&mut self.b, &flipped, b);
                self.bind_ct(a, &ty, Op::MatMul(y_ct.var, b))
            }
            (_, _) => {
                ty.dims[0] = self.size(b, 0).unwrap_or(ty.dims[0]);
                self.bind_ct(a, &ty, Op::MatMul(b, y_ct.var))
            }
        };
        self.add(a.into(), part, &ty);
    }

    fn right(&mut self, a: Var, b: Var, y_ct: &Param) {
        let mut ty = self.ty(b).clone();
        let part = match (ty.rank(), y_ct.ty.rank()) {
            (2, 1) => self.outer_product(b, &ty, a, y_ct.var),
            (2, _) => {
                let flipped = Ty { elem: ty.elem, dims: vec![ty.dims[0], y_ct.ty.dims[0]] };
                let a = arrays::transpose(&mut self.b, &flipped, a);
                self.bind_ct(b, &ty, Op::MatMul(a, y_ct.var))
            }
            (_, _) => {
                ty.dims[0] = self.size(a, 1).unwrap_or(ty.dims[0]);
                self.bind_ct(b, &ty, Op::MatMul(y_ct.var, a))
            }
        };
        self.add(b.into(), part, &ty);
    }

    fn outer_product(&mut self, x: Var, ty: &Ty, u: Var, v: Var) -> Atom {
        let hint = self.hint(x);
        arrays::outer(&mut self.b, &hint, ty, u.into(), v.into())
    }

    /// A size of an array by the name that its own type uses, so that products are seen to fit.
    fn size(&self, x: Var, axis: usize) -> Option<Atom> {
        self.facts.known_ty(x).map(|ty| ty.dims[axis])
    }
}

//! `y = x with [i] = v`: linear in `x` and `v`. What is overwritten has no influence, so its cotangent becomes zero, in place.
//!
//! ```text
//!   D→   ẏ = ẋ with [i] = v̇
//!   D←   v̄ += ȳ[i],   x̄ += ȳ with [i] = 0
//! ```

use lambada_anf::{Atom, Exp, Op, Param, Var};

use crate::cotangents::Cotangents;
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn update(&mut self, y: &Param, x: Var, index: &[Atom], value: Atom) {
        if self.get(x).is_none() && self.get(value).is_none() {
            return;
        }
        let array = self.or_zero(x.into(), &y.ty).as_var().expect("an array is a variable");
        let value = self.or_zero(value, &y.ty.indexed(index.len()));
        self.bind(y, Op::Update { array, index: index.to_vec(), value });
    }
}

impl Cotangents<'_> {
    pub(crate) fn update(&mut self, y: &Param, x: Var, index: &[Atom], value: Atom) {
        let Some(y_ct) = self.take_var(y.var) else { return };
        let ty = y.ty.indexed(index.len());
        if let Some(value) = self.wants(value) {
            let part = self.bind_ct(value, &ty, Exp::Op(Op::Index(y_ct, index.to_vec())));
            self.add(value.into(), part, &ty);
        }
        if self.wants(x).is_some() {
            let zero = self.b.zero(&ty);
            let rest = self.bind_ct(
                x,
                &y.ty,
                Exp::Op(Op::Update { array: y_ct, index: index.to_vec(), value: zero }),
            );
            self.add(x.into(), rest, &y.ty);
        }
    }
}

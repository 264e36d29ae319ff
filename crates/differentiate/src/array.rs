//! Arrays from scalars: linear, so both modes are the construct itself and its transpose. Constants
//! have no derivative.
//!
//! ```text
//!   y = [x₁, …, xₙ]     D→  ẏ = [ẋ₁, …, ẋₙ]      D←  x̄ₖ += ȳ[k]
//!   y = fill x          D→  ẏ = fill ẋ           D←  x̄ += Σ ȳ
//! ```

use lambada_anf::{Atom, Elem, Op, Param, Ty};

use crate::arrays;
use crate::cotangents::Cotangents;
use crate::tangents::Tangents;
use crate::values;

impl Tangents<'_> {
    pub(crate) fn array(&mut self, y: &Param, items: &[Atom]) {
        if items.iter().any(|x| self.get(*x).is_some()) {
            let ty = y.ty.indexed(1);
            let rates = items.iter().map(|x| self.or_zero(*x, &ty)).collect();
            self.bind(y, Op::Array(rates));
            self.items_are_there(y, items);
        }
    }

    pub(crate) fn fill(&mut self, y: &Param, x: Atom) {
        if let Some(x_tan) = self.get(x) {
            self.bind(y, Op::Fill(x_tan));
            let when = self.there(x);
            self.is_there(y.var, when);
        }
    }
}

impl Cotangents<'_> {
    pub(crate) fn array(&mut self, y: &Param, items: &[Atom]) {
        let Some(y_ct) = self.take_var(y.var) else { return };
        let (ty, when) = (self.ct_of(&y.ty.indexed(1)), self.when);
        for (k, x) in items.iter().enumerate() {
            if let Some(x) = self.wants(*x) {
                let k = Atom::int(k as i64);
                let part = self.bind_ct(x, &ty, Op::Index(y_ct, vec![k]));
                let when = self.presence_of_part((y_ct, when), &[k], part, &ty);
                self.add_when(x.into(), part, &ty, when);
            }
        }
    }

    pub(crate) fn fill(&mut self, y: &Param, x: Atom) {
        let Some(y_ct) = self.take(y.var) else { return };
        if let Some(var) = self.wants(x) {
            let (hint, ty) = (self.hint(var), self.ct_of(&y.ty));
            let sum = match ty.elem {
                Elem::Ref(_) => {
                    values::total(self.cx, &mut self.b, &hint, &ty, (y_ct, Atom::int(0)))
                }
                Elem::Scalar(_) => arrays::total(&mut self.b, &hint, &ty, y_ct),
            };
            let when = self.presence_of_any(y_ct, &ty).or(self.when);
            self.add_when(x, sum, &Ty::scalar(ty.elem), when);
        }
    }
}

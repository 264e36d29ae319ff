//! `y = x[i]`: reading is linear, and its transpose is adding in place. No rule costs more than the
//! read, because all reads of `x` share one accumulator for its cotangent, never an array with a
//! single entry.
//!
//! ```text
//!   D→   ẏ = ẋ[i]
//!   D←   x̄[i] += ȳ
//! ```

use lambada_anf::{Atom, Op, Param, Var};

use crate::cotangents::Cotangents;
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn index(&mut self, y: &Param, x: Var, index: &[Atom]) {
        if let Some(x_tan) = self.get_var(x) {
            self.bind(y, Op::Index(x_tan, index.to_vec()));
            self.part_is_there(y, x, index);
        }
    }
}

impl Cotangents<'_> {
    pub(crate) fn index(&mut self, y: &Param, x: Var, index: &[Atom]) {
        if let Some(y_ct) = self.take(y.var) {
            self.add_at(x, index, y_ct, &y.ty);
        }
    }
}

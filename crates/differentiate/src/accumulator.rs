//! Accumulators in the program, from users or from an earlier reverse derivative: adding in place
//! is linear, and its transpose is reading. The two rules are those of [`crate::index`] with the
//! modes exchanged.
//!
//! ```text
//!   acc = accumulator x      D→  acc˙ = accumulator ẋ      D←  x̄ += r̄
//!   acc[i] += v              D→  acc˙[i] += v̇             D←  v̄ += r̄[i]
//!   y = freeze acc           D→  ẏ = freeze acc˙           D←  r̄ = ȳ
//! ```
//!
//! In reverse, `r̄` is a read-only array: it takes the place of the accumulator's cotangent.

use lambada_anf::{Atom, Op, Param, Var};

use crate::cotangents::Cotangents;
use crate::tangents::Tangents;

impl Tangents<'_> {
    /// An active accumulator has a tangent from the start, because any later statement may add a
    /// tangent.
    pub(crate) fn accumulator(&mut self, acc: &Param, init: Atom) {
        if self.carries(acc.var) {
            let init = self.or_zero(init, &acc.ty);
            self.bind(acc, Op::Accumulator(init));
        }
    }

    pub(crate) fn accumulate(&mut self, acc: Var, index: &[Atom], value: Atom) {
        if let (Some(acc), Some(value)) = (self.get_var(acc), self.get(value)) {
            self.b.effect(Op::Accumulate { acc, index: index.to_vec(), value });
        }
    }

    pub(crate) fn freeze(&mut self, y: &Param, acc: Var) {
        if let Some(acc) = self.get_var(acc) {
            self.bind(y, Op::Freeze(acc));
        }
    }
}

impl Cotangents<'_> {
    pub(crate) fn accumulator(&mut self, acc: &Param, init: Atom) {
        if let Some(r_ct) = self.take(acc.var) {
            self.add(init, r_ct, &acc.ty);
        }
    }

    pub(crate) fn accumulate(&mut self, acc: Var, index: &[Atom], value: Atom) {
        let (Some(r_ct), Some(value)) = (self.of_accumulator(acc), self.wants(value)) else {
            return;
        };
        let ty = self.ty(acc).indexed(index.len());
        let (part, when) = match r_ct {
            Atom::Var(r_ct) if !index.is_empty() => {
                let part = self.bind_ct(value, &ty, Op::Index(r_ct, index.to_vec()));
                (part, self.presence_of_part((r_ct, None), index, part, &ty))
            }
            Atom::Var(_) | Atom::Lit(_) => (r_ct, None),
        };
        self.add_when(value.into(), part, &ty, when);
    }

    pub(crate) fn freeze(&mut self, y: &Param, acc: Var) {
        if let Some(y_ct) = self.take(y.var) {
            self.set(acc, y_ct);
        }
    }
}

//! `y = x with [i] = v`: linear in `x` and `v`. The overwritten element has no influence, so its
//! cotangent becomes zero, in place. In an array that the reverse sweep restores, the overwritten
//! value is put back ([`crate::undo`]).
//!
//! ```text
//!   D→   ẏ = ẋ with [i] = v̇
//!   D←   v̄ += ȳ[i],   x̄ += ȳ with [i] = 0
//! ```

use lambada_anf::{Atom, Op, Param, Stm, Var};

use crate::cotangents::Cotangents;
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn update(&mut self, y: &Param, x: Var, index: &[Atom], value: Atom) {
        if self.get(x).is_none() && self.get(value).is_none() {
            return;
        }
        let array = self.or_zero(x.into(), &y.ty).as_var().expect("an array is a variable");
        let rate = self.or_zero(value, &y.ty.indexed(index.len()));
        self.bind(y, Op::Update { array, index: index.to_vec(), value: rate });
        self.update_is_there(y, x, index, value);
    }
}

impl Cotangents<'_> {
    pub(crate) fn update(&mut self, y: &Param, x: Var, index: &[Atom], value: Atom) {
        let Some(y_ct) = self.take_var(y.var) else { return };
        let all = self.ct_of(&y.ty);
        let ty = all.indexed(index.len());
        if let Some(value) = self.wants(value) {
            let part = self.bind_ct(value, &ty, Op::Index(y_ct, index.to_vec()));
            let when = self.presence_of_part((y_ct, None), index, part, &ty);
            self.add_when(value.into(), part, &ty, when);
        }
        if self.wants(x).is_some() {
            let zero = self.b.zero(&ty);
            let rest = self.bind_ct(
                x,
                &all,
                Op::Update { array: y_ct, index: index.to_vec(), value: zero },
            );
            self.rest_is_there(y, x, (y_ct, rest), index);
            self.add(x.into(), rest, &y.ty);
        }
    }
}

impl Cotangents<'_> {
    /// Undoes an update in the reverse sweep, if the array is restored; returns the read of the
    /// overwritten value for the forward sweep.
    pub(crate) fn undo_update(&mut self, y: &Param, index: &[Atom]) -> Option<Stm> {
        let x = self.facts.versions.before(y.var)?;
        let hint = format!("{}_old", self.b.names.hint(x));
        let old = Param { var: self.b.names.fresh(hint), ty: y.ty.indexed(index.len()) };
        self.undo.log(old.var);
        let put_back = Op::Update { array: y.var, index: index.to_vec(), value: old.var.into() };
        let back = self.version_back(x);
        self.top().undone.insert(x, back.var.into());
        self.b.stms.push(Stm::new(vec![back], put_back));
        Some(Stm::new(vec![old], Op::Index(x, index.to_vec())))
    }

    /// A variable for the version `x` in the reverse sweep.
    pub(crate) fn version_back(&mut self, x: Var) -> Param {
        Param { var: self.b.names.again(x), ty: self.ty(x).clone() }
    }

    /// The versions that undoing a statement restores, each with the position of its bind.
    pub(crate) fn versions_before(&self, binds: &[Param]) -> Vec<(usize, Var)> {
        let before = |(k, p): (usize, &Param)| Some((k, self.facts.versions.before(p.var)?));
        binds.iter().enumerate().filter_map(before).collect()
    }
}

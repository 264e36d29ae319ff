//! Appendix F: `D(prim)_1`, the same in both modes and both target languages, and the parts of
//! `D(prim)_2`.

use super::{Language, Term, app, fst, lam, pair, prim, snd};
use crate::primitives::Primitive;

/// `x : D(Dom)_1 ⊢ D(prim)_1 : D(Cod)_1`: `prim <(f;fst), args>`.
///
/// Right by the definition of the relation at `real^k -> real`: the first component of `f` at a
/// point is the value there.
pub fn primal_prim<L: Language>(p: Primitive, x: &Term<L>) -> Term<L> {
    prim(p, pair(component(x, fst), snd(x.clone())))
}

/// For `x = <f, args>` and the primitive's result: the points at which `f` is called.
pub(crate) fn points<L: Language>(p: Primitive, x: &Term<L>, result: &Term<L>) -> Term<L> {
    match p {
        Primitive::Map { .. } => snd(x.clone()),
        Primitive::Scan { .. } => pair(fst(result.clone()), snd(snd(x.clone()))),
    }
}

/// `f;fst` or `f;snd`, for `x = <f, args>`.
pub(crate) fn component<L: Language>(x: &Term<L>, projection: fn(Term<L>) -> Term<L>) -> Term<L> {
    let f = fst(x.clone());
    let (from, _) = f.ty().arrow();
    lam("y", from, |y| projection(app(f, y)))
}

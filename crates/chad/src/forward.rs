//! Appendix A, forward mode: `D→ : Syn → Σ_CSyn LSyn`.
//!
//! D→: `t : T -> S` becomes `x : D→(T)_1 ⊢ D→(t)_1 : D→(S)_1` and
//! `x1 : D→(T)_1; v : D→(T)_2 ⊢ D→(t)_2 : D→(S)_2`.
//!
//! A term in context is a Rust function of the terms that are substituted for its variables; so
//! `D(s)_1[D(t)_1 / y]` is a call inside a call. It is as correct, and as exponential (erratum
//! E26), as in the paper: see `shared`.

use crate::combinators::{Comb, CombKind};
use crate::linear::*;
use crate::primal::{self, Mode};
use crate::source;

/// M-1 … M-4: `D→(T)_1`
pub fn primal_ty(ty: &source::Ty) -> Ty {
    match ty {
        source::Ty::Real(n) => Ty::Real(*n),
        source::Ty::Unit => Ty::Unit,
        source::Ty::Prod(t, s) => primal_ty(t).times(primal_ty(s)),
        source::Ty::Fun(t, s) => {
            primal_ty(t).to(primal_ty(s).times(tangent_ty(t).lolli(tangent_ty(s))))
        }
        source::Ty::Own(never) => match *never {},
    }
}

/// M-1 … M-4: `D→(T)_2`
pub fn tangent_ty(ty: &source::Ty) -> LTy {
    match ty {
        source::Ty::Real(n) => LTy::Real(*n),
        source::Ty::Unit => LTy::Unit,
        source::Ty::Prod(t, s) => tangent_ty(t).times(tangent_ty(s)),
        source::Ty::Fun(t, s) => tangent_ty(s).under(primal_ty(t)),
        source::Ty::Own(never) => match *never {},
    }
}

/// `D→(t)_1` at a term for `x`; `Λ(t)_1 = \y. <t_1[<x, y>], \_v. t_2[<x, y>; <0, v>]>`.
pub fn primal(t: &Comb, x: &Term) -> Term {
    let argument = |t: &Comb, xy: &Term| {
        let w = v(tangent_argument(t));
        tangent(t, xy, &lpair(zero_lin(w.from().clone(), tangent_context(t)), w))
    };
    primal::primal(t, x, &Mode { primal_ty, argument })
}

/// `D→(t)_2` at a term for `x1` and a linear term for `v`.
pub fn tangent(t: &Comb, x: &Term, v: &Lin) -> Lin {
    let parameter = t.parameter();
    match t.kind() {
        CombKind::Op(o) => forward_op(o, x, v),
        CombKind::Prim(p) => forward_prim(*p, x, v),
        CombKind::Id => v.clone(),
        CombKind::Then(t, s) => tangent(s, &primal(t, x), &tangent(t, x, v)),
        CombKind::Unit => lunit(v.from().clone()),
        CombKind::Pair(t, s) => lpair(tangent(t, x, v), tangent(s, x, v)),
        CombKind::Fst => lfst(v.clone()),
        CombKind::Snd => lsnd(v.clone()),
        CombKind::Ev => let_lin("y", snd(x.clone()), |y| {
            let direct = lapp(lfst(v.clone()), y.clone());
            plus(direct, linapp(snd(app(fst(x.clone()), y)), lsnd(v.clone())))
        }),
        CombKind::Curry(t) => llam(parameter, argument(t), |y| {
            let only = lpair(v.clone(), zero_lin(v.from().clone(), tangent_argument(t)));
            tangent(t, &pair(x.clone(), y), &only)
        }),
    }
}

/// For `t : T * S -> R`: `D→(S)_1`.
fn argument(t: &Comb) -> Ty {
    primal_ty(t.from()).components().1
}

/// `D→(S)_2`
fn tangent_argument(t: &Comb) -> LTy {
    tangent_ty(t.from()).components().1
}

/// `D→(T)_2`
fn tangent_context(t: &Comb) -> LTy {
    tangent_ty(t.from()).components().0
}

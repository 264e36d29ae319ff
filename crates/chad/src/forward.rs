//! Appendix A, forward mode: `D→ : Syn → Σ_CSyn LSyn`.
//!
//! D→: `t : T -> S` becomes `x : D→(T)_1 ⊢ D→(t)_1 : D→(S)_1` and `x1 : D→(T)_1; v : D→(T)_2 ⊢ D→(t)_2 : D→(S)_2`.
//!
//! A term in context is a Rust function of the terms that are substituted for its variables; so `D(s)_1[D(t)_1 / y]` is a call inside a call.
//! It is as correct, and as exponential (erratum E26), as in the paper: see `shared`.

use crate::combinators::{Comb, Kind};
use crate::linear::*;
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
    }
}

/// M-1 … M-4: `D→(T)_2`
pub fn tangent_ty(ty: &source::Ty) -> LTy {
    match ty {
        source::Ty::Real(n) => LTy::Real(*n),
        source::Ty::Unit => LTy::Unit,
        source::Ty::Prod(t, s) => tangent_ty(t).times(tangent_ty(s)),
        source::Ty::Fun(t, s) => tangent_ty(s).under(primal_ty(t)),
    }
}

/// `D→(t)_1` at a term for `x`.
pub fn primal(t: &Comb, x: &Term) -> Term {
    let parameter = t.parameter();
    let first = match t.kind() {
        Kind::Op(o) => op(o.clone(), x.clone()),
        Kind::Prim(p) => primal_prim(*p, x),
        Kind::Id => x.clone(),
        Kind::Then(t, s) => primal(s, &primal(t, x)),
        Kind::Unit => unit(),
        Kind::Pair(t, s) => pair(primal(t, x), primal(s, x)),
        Kind::Fst => fst(x.clone()),
        Kind::Snd => snd(x.clone()),
        Kind::Ev => fst(app(fst(x.clone()), snd(x.clone()))),
        // E15: `x : D→(T)_1`; the paper forgets the subscript.
        Kind::Curry(t) => lam(parameter, argument(t), |y| {
            let xy = pair(x.clone(), y);
            let w = v(tangent_argument(t));
            let only = lpair(zero_lin(w.from().clone(), tangent_context(t)), w);
            pair(primal(t, &xy), linlam(tangent(t, &xy, &only)))
        }),
    };
    first.called(t.name())
}

/// `D→(t)_2` at a term for `x1` and a linear term for `v`.
pub fn tangent(t: &Comb, x: &Term, v: &Lin) -> Lin {
    let parameter = t.parameter();
    match t.kind() {
        Kind::Op(o) => forward_op(o, x, v),
        Kind::Prim(p) => forward_prim(*p, x, v),
        Kind::Id => v.clone(),
        Kind::Then(t, s) => tangent(s, &primal(t, x), &tangent(t, x, v)),
        Kind::Unit => lunit(v.from().clone()),
        Kind::Pair(t, s) => lpair(tangent(t, x, v), tangent(s, x, v)),
        Kind::Fst => lfst(v.clone()),
        Kind::Snd => lsnd(v.clone()),
        Kind::Ev => let_lin("y", snd(x.clone()), |y| {
            let direct = lapp(lfst(v.clone()), y.clone());
            plus(direct, linapp(snd(app(fst(x.clone()), y)), lsnd(v.clone())))
        }),
        Kind::Curry(t) => llam(parameter, argument(t), |y| {
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

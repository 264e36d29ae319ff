//! Appendix C, reverse mode: the macro into the applied target language, point-free.
//!
//! D←: `t : T -> S` becomes `x : D←(T)_1 ⊢ D←(t)_1 : D←(S)_1` and `x : D←(T)_1 ⊢ D←(t)_2 : LFun(D←(S)_2, D←(T)_2)`.

use crate::applied::*;
use crate::applied_forward::parts;
use crate::combinators::{Comb, Kind};
use crate::linear;
use crate::source;
use crate::var::Env;

/// M-5 … M-8: `D←(T)_1`
pub fn primal_ty(ty: &source::Ty) -> Ty {
    match ty {
        source::Ty::Real(n) => Ty::Real(*n),
        source::Ty::Unit => Ty::Unit,
        source::Ty::Prod(t, s) => primal_ty(t).times(primal_ty(s)),
        source::Ty::Fun(t, s) => {
            primal_ty(t).to(primal_ty(s).times(cotangent_ty(s).lfun(cotangent_ty(t))))
        }
    }
}

/// M-5 … M-8: `D←(T)_2`
pub fn cotangent_ty(ty: &source::Ty) -> Ty {
    match ty {
        source::Ty::Real(n) => Ty::Real(*n),
        source::Ty::Unit => Ty::Unit,
        source::Ty::Prod(t, s) => cotangent_ty(t).times(cotangent_ty(s)),
        source::Ty::Fun(t, s) => cotangent_ty(s).tens(primal_ty(t)),
    }
}

/// `D←(t)_1` at a term for `x`.
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
        Kind::Curry(t) => lam(parameter, primal_ty(&parts(t).1), |y| {
            let xy = pair(x.clone(), y);
            pair(primal(t, &xy), lthen(cotangent(t, &xy), projection(t, lsnd)))
        }),
    };
    first.called(t.name())
}

/// `D←(t)_2` at a term for `x`.
pub fn cotangent(t: &Comb, x: &Term) -> Term {
    let parameter = t.parameter();
    match t.kind() {
        Kind::Op(o) => reverse_op(o, x),
        Kind::Prim(p) => reverse_prim(*p, x),
        Kind::Id => lid(cotangent_ty(t.from())),
        Kind::Then(t, s) => lthen(cotangent(s, &primal(t, x)), cotangent(t, x)),
        Kind::Unit => zero(Ty::Unit.lfun(cotangent_ty(t.from()))),
        Kind::Pair(t, s) => {
            let (a, b) = (cotangent_ty(t.to()), cotangent_ty(s.to()));
            plus(
                lthen(lfst(a.clone(), b.clone()), cotangent(t, x)),
                lthen(lsnd(a, b), cotangent(s, x)),
            )
        }
        Kind::Fst => {
            let (a, b) = parts(t);
            let (a, b) = (cotangent_ty(&a), cotangent_ty(&b));
            lpair(lid(a.clone()), zero(a.lfun(b)))
        }
        Kind::Snd => {
            let (a, b) = parts(t);
            let (a, b) = (cotangent_ty(&a), cotangent_ty(&b));
            lpair(zero(b.clone().lfun(a)), lid(b))
        }
        Kind::Ev => let_("y", snd(x.clone()), |y| {
            let argument = snd(app(fst(x.clone()), y.clone()));
            lpair(singleton(y, cotangent_ty(t.to())), argument)
        }),
        Kind::Curry(t) => {
            let body = |y| cotangent(t, &pair(x.clone(), y));
            lthen(lcur_inv(lam(parameter, primal_ty(&parts(t).1), body)), projection(t, lfst))
        }
    }
}

/// `x : Dom(op) ⊢ (D op)^t(x) : LFun(real^m, Dom(op))`: the translation of the linear term.
pub(crate) fn reverse_op(o: &crate::op::Op, x: &Term) -> Term {
    let y = linear::Var::fresh("x", linear::Ty::dom(&o.dom()));
    let l = linear::reverse_op(o, &linear::var(&y), &linear::v(linear::LTy::Real(o.cod())));
    dagger_linear(&l, &Env::default().with(&y, x.clone()))
}

/// For `t : T * S -> R`: a projection of `D←(T)_2 * D←(S)_2`.
fn projection(t: &Comb, make: fn(Ty, Ty) -> Term) -> Term {
    let (a, b) = parts(t);
    make(cotangent_ty(&a), cotangent_ty(&b))
}

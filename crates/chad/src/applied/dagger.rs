//! the translation `(-)†` of the linear target language into the applied one.
//!
//! `Γ ⊢ t : T` becomes `Γ† ⊢ t† : T†`, and `Γ; v : σ ⊢ l : τ` becomes `Γ† ⊢ l† : LFun(σ†, τ†)`. "We
//! believe an interested reader can fill in the details": here they are.

use super::*;
use crate::lambda::Translation;
use crate::linear::{self, LTy, Lin, LinKind, LinLam, Linear, Lolli};
use crate::var::Env;

const DAGGER: Translation<Linear, Applied> =
    Translation { ty: dagger_ty, own: |LinLam(l), terms| dagger_linear(l, terms) };

/// `T†`
pub fn dagger_ty(ty: &linear::Ty) -> Ty {
    ty.translate(&|Lolli(a, b)| dagger_linear_ty(a).lfun(dagger_linear_ty(b)))
}

/// `τ†`
pub fn dagger_linear_ty(ty: &LTy) -> Ty {
    match ty {
        LTy::Real(n) => Ty::Real(*n),
        LTy::Unit => Ty::Unit,
        LTy::Prod(a, b) => dagger_linear_ty(a).times(dagger_linear_ty(b)),
        LTy::Fun(a, b) => dagger_ty(a).to(dagger_linear_ty(b)),
        LTy::Tensor(a, b) => dagger_linear_ty(b).tens(dagger_ty(a)),
    }
}

/// `t†`, with terms for the free variables.
pub fn dagger(t: &linear::Term, env: &Env<Term>) -> Term {
    DAGGER.term(t, env)
}

/// `l†`, with terms for the free Cartesian variables.
pub fn dagger_linear(l: &Lin, env: &Env<Term>) -> Term {
    let ty = |ty: &LTy| dagger_linear_ty(ty);
    let go = |l: &Lin| dagger_linear(l, env);
    let (from, to) = (ty(l.from()), ty(l.to()));
    match l.kind() {
        LinKind::Var => lid(from),
        LinKind::LOp(o, t, k) => lthen(go(k), lop(*o, dagger(t, env))),
        LinKind::LPrim(p, t, k) => lthen(go(k), lprim(*p, dagger(t, env))),
        LinKind::Unit | LinKind::Zero => zero(from.lfun(to)),
        LinKind::Pair(l, k) => lpair(go(l), go(k)),
        LinKind::Fst(l) => lthen(go(l), project(l, lfst)),
        LinKind::Snd(l) => lthen(go(l), project(l, lsnd)),
        LinKind::Lam(y, l) => lswap(under(y, env, |env| dagger_linear(l, env))),
        LinKind::App(l, t) => lthen(go(l), leval(dagger(t, env), to)),
        LinKind::Tensor(t, l) => lthen(go(l), singleton(dagger(t, env), ty(l.to()))),
        LinKind::Case(l, y, k) => {
            lthen(go(l), lcur_inv(under(y, env, |env| dagger_linear(k, env))))
        }
        LinKind::LinApp(t, l) => lthen(go(l), dagger(t, env)),
        LinKind::Plus(l, k) => plus(go(l), go(k)),
    }
}

fn under(x: &linear::Var, env: &Env<Term>, body: impl FnOnce(&Env<Term>) -> Term) -> Term {
    let (y, inside) = DAGGER.below(x, env);
    abs(y, body(&inside))
}

fn project(l: &Lin, projection: fn(Ty, Ty) -> Term) -> Term {
    let (a, b) = l.to().components();
    projection(dagger_linear_ty(&a), dagger_linear_ty(&b))
}

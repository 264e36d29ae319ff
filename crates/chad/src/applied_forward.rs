//! Appendix C, forward mode: the macro into the applied target language, point-free.
//!
//! D→: `t : T -> S` becomes `x : D→(T)_1 ⊢ D→(t)_1 : D→(S)_1` and `x : D→(T)_1 ⊢ D→(t)_2 : LFun(D→(T)_2, D→(S)_2)`.

use crate::applied::*;
use crate::combinators::{Comb, Kind};
use crate::linear;
use crate::source;
use crate::var::Env;

/// M-1 … M-4: `D→(T)_1`
pub fn primal_ty(ty: &source::Ty) -> Ty {
    match ty {
        source::Ty::Real(n) => Ty::Real(*n),
        source::Ty::Unit => Ty::Unit,
        source::Ty::Prod(t, s) => primal_ty(t).times(primal_ty(s)),
        source::Ty::Fun(t, s) => {
            primal_ty(t).to(primal_ty(s).times(tangent_ty(t).lfun(tangent_ty(s))))
        }
    }
}

/// M-1 … M-4: `D→(T)_2`
pub fn tangent_ty(ty: &source::Ty) -> Ty {
    match ty {
        source::Ty::Real(n) => Ty::Real(*n),
        source::Ty::Unit => Ty::Unit,
        source::Ty::Prod(t, s) => tangent_ty(t).times(tangent_ty(s)),
        source::Ty::Fun(t, s) => primal_ty(t).to(tangent_ty(s)),
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
        Kind::Curry(t) => {
            let (context, argument) = parts(t);
            lam(parameter, primal_ty(&argument), |y| {
                let xy = pair(x.clone(), y);
                let (context, argument) = (tangent_ty(&context), tangent_ty(&argument));
                let only = lpair(zero(argument.clone().lfun(context)), lid(argument));
                pair(primal(t, &xy), lthen(only, tangent(t, &xy)))
            })
        }
    };
    first.called(t.name())
}

/// `D→(t)_2` at a term for `x`.
pub fn tangent(t: &Comb, x: &Term) -> Term {
    let parameter = t.parameter();
    match t.kind() {
        Kind::Op(o) => forward_op(o, x),
        Kind::Prim(p) => forward_prim(*p, x),
        Kind::Id => lid(tangent_ty(t.from())),
        Kind::Then(t, s) => lthen(tangent(t, x), tangent(s, &primal(t, x))),
        Kind::Unit => zero(tangent_ty(t.from()).lfun(Ty::Unit)),
        Kind::Pair(t, s) => lpair(tangent(t, x), tangent(s, x)),
        Kind::Fst => projection(t, lfst),
        Kind::Snd => projection(t, lsnd),
        Kind::Ev => let_("y", snd(x.clone()), |y| {
            let direct = lthen(projection(t, lfst), leval(y.clone(), tangent_ty(t.to())));
            plus(direct, lthen(projection(t, lsnd), snd(app(fst(x.clone()), y))))
        }),
        Kind::Curry(t) => {
            let (context, argument) = parts(t);
            lswap(lam(parameter, primal_ty(&argument), |y| {
                let (context, argument) = (tangent_ty(&context), tangent_ty(&argument));
                let only = lpair(lid(context.clone()), zero(context.lfun(argument)));
                lthen(only, tangent(t, &pair(x.clone(), y)))
            }))
        }
    }
}

/// `x : Dom(op) ⊢ D op(x) : LFun(Dom(op), real^m)`: the translation of the linear term.
pub(crate) fn forward_op(o: &crate::op::Op, x: &Term) -> Term {
    let y = linear::Var::fresh("x", linear::Ty::dom(&o.dom()));
    let l = linear::forward_op(o, &linear::var(&y), &linear::v(linear::LTy::dom(&o.dom())));
    dagger_linear(&l, &Env::default().with(&y, x.clone()))
}

fn projection(t: &Comb, make: fn(Ty, Ty) -> Term) -> Term {
    let (a, b) = parts(t);
    make(tangent_ty(&a), tangent_ty(&b))
}

/// For `t : T * S -> R`: `T` and `S`.
pub(crate) fn parts(t: &Comb) -> (source::Ty, source::Ty) {
    match t.from() {
        source::Ty::Prod(a, b) => ((**a).clone(), (**b).clone()),
        source::Ty::Real(_) | source::Ty::Unit | source::Ty::Fun(..) => {
            panic!("{} is not a product", t.from())
        }
    }
}

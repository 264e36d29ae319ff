//! Pairs of terms of the applied language: over this model, the functors are the macros of Appendix
//! C, point-free.
//!
//! A morphism of `L(A)` is a term of type `LFun(σ†, τ†)`.

use std::marker::PhantomData;

use super::{Forward, Model, Ob, Open, PairCategory, Reverse, after, interpret, map, object};
use super::{open, under, zip};
use crate::applied::*;
use crate::combinators::Comb;
use crate::linear::{self, LTy};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::source;
use crate::var::Name;

/// The applied language as a model.
pub struct PointFree;

type Hom = Open<Term, Term>;

/// Appendix C, in one of the modes.
pub struct AppendixC<P>(PhantomData<P>);

/// D→: `t : T -> S` becomes `x : D→(T)_1 ⊢ D→(t)_1 : D→(S)_1` and
/// `x : D→(T)_1 ⊢ D→(t)_2 : LFun(D→(T)_2, D→(S)_2)`.
pub type AppliedForward = AppendixC<Forward<PointFree>>;

/// D←: `t : T -> S` becomes `x : D←(T)_1 ⊢ D←(t)_1 : D←(S)_1` and
/// `x : D←(T)_1 ⊢ D←(t)_2 : LFun(D←(S)_2, D←(T)_2)`.
pub type AppliedReverse = AppendixC<Reverse<PointFree>>;

impl<P: PairCategory<PointFree>> AppendixC<P> {
    /// M-1 … M-8: `D(T)_1`
    pub fn primal_ty(ty: &source::Ty) -> Ty {
        dagger_ty(&object::<PointFree, P>(ty).0)
    }

    /// M-1 … M-8: `D(T)_2`, of tangents or of cotangents
    pub fn second_ty(ty: &source::Ty) -> Ty {
        dagger_linear_ty(&object::<PointFree, P>(ty).1)
    }

    /// `D(t)_1` at a term for `x`
    pub fn primal(t: &Comb, x: &Term) -> Term {
        (interpret::<PointFree, P>(t).first)(x)
    }

    /// `D(t)_2` at a term for `x`
    pub fn second(t: &Comb, x: &Term) -> Term {
        (interpret::<PointFree, P>(t).second)(x)
    }
}

/// `f;;projection`, which is the projection alone if `f` is the identity.
fn projected(f: &Hom, projection: fn(Ty, Ty) -> Term) -> Hom {
    map(f, move |f| {
        let (a, b) = f.ty().ends().1.components();
        composed(f, projection(a, b))
    })
}

/// `f;;g`, where the clauses of the paper have `g` alone if `f` is `v`.
fn composed(f: Term, g: Term) -> Term {
    if let Kind::Own(Api::LId) = f.kind() { g } else { lthen(f, g) }
}

impl Model for PointFree {
    type Hom = Hom;
    type LHom = Hom;

    fn id(_: &linear::Ty) -> Hom {
        open(Term::clone)
    }
    fn then(f: &Hom, g: &Hom) -> Hom {
        after(f, g)
    }
    fn bang(_: &linear::Ty) -> Hom {
        open(|_| unit())
    }
    fn pair(f: &Hom, g: &Hom) -> Hom {
        zip(f, g, pair)
    }
    fn fst(f: &Hom) -> Hom {
        map(f, fst)
    }
    fn snd(f: &Hom) -> Hom {
        map(f, snd)
    }
    fn apply(f: &Hom, x: &Hom) -> Hom {
        zip(f, x, app)
    }
    fn curry(hint: &str, _: &linear::Ty, b: &linear::Ty, f: &Hom) -> Hom {
        under(hint, &dagger_ty(b), f, abs)
    }
    fn op(o: &Op, f: &Hom) -> Hom {
        let o = o.clone();
        map(f, move |t| op(o.clone(), t))
    }
    fn called(f: &Hom, name: &Name) -> Hom {
        let name = name.clone();
        map(f, move |t| t.called(&name))
    }
    fn lid(_: &linear::Ty, s: &LTy) -> Hom {
        let s = dagger_linear_ty(s);
        open(move |_| lid(s.clone()))
    }
    fn lthen(f: &Hom, g: &Hom) -> Hom {
        zip(f, g, lthen)
    }
    fn reindex(f: &Hom, g: &Hom) -> Hom {
        after(f, g)
    }
    fn share(at: &Hom, body: impl Fn(&Hom) -> Hom + 'static) -> Hom {
        let at = at.clone();
        open(move |x| let_("y", at(x), |y| body(&open(move |_| y.clone()))(x)))
    }
    fn lzero(_: &linear::Ty, s: &LTy, t: &LTy) -> Hom {
        let ty = dagger_linear_ty(s).lfun(dagger_linear_ty(t));
        open(move |_| zero(ty.clone()))
    }
    fn lplus(f: &Hom, g: &Hom) -> Hom {
        zip(f, g, plus)
    }
    fn lpair(f: &Hom, g: &Hom) -> Hom {
        zip(f, g, lpair)
    }
    fn lfst(f: &Hom) -> Hom {
        projected(f, lfst)
    }
    fn lsnd(f: &Hom) -> Hom {
        projected(f, lsnd)
    }
    fn lapply(f: &Hom, at: &Hom) -> Hom {
        zip(f, at, |f, at| {
            let to = f.ty().ends().1.arrow().1;
            lthen(f, leval(at, to))
        })
    }
    fn lcurry(hint: &str, _: &linear::Ty, b: &linear::Ty, f: &Hom) -> Hom {
        under(hint, &dagger_ty(b), f, |y, f| lswap(abs(y, f)))
    }
    fn tensor(key: &Hom, f: &Hom) -> Hom {
        zip(key, f, |key, f| {
            let of = f.ty().ends().1;
            composed(f, singleton(key, of))
        })
    }
    fn lcur_inv(hint: &str, [_, b]: [&linear::Ty; 2], _: [&LTy; 2], f: &Hom) -> Hom {
        under(hint, &dagger_ty(b), f, |y, f| lcur_inv(abs(y, f)))
    }
    fn name(f: &Hom) -> Hom {
        f.clone()
    }
    fn unname(_: &LTy, f: &Hom) -> Hom {
        f.clone()
    }
    fn forward_op(o: &Op) -> Hom {
        let o = o.clone();
        open(move |x| forward_op(&o, x))
    }
    fn reverse_op(o: &Op) -> Hom {
        let o = o.clone();
        open(move |x| reverse_op(&o, x))
    }
    fn primal_prim(p: Primitive, _: &Ob) -> Hom {
        open(move |x| primal_prim(p, x))
    }
    fn forward_prim(p: Primitive, _: &Ob) -> Hom {
        open(move |x| forward_prim(p, x))
    }
    fn reverse_prim(p: Primitive, _: &Ob) -> Hom {
        open(move |x| reverse_prim(p, x))
    }
}

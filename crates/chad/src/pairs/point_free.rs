//! Pairs of terms of the applied language: over this model, the functors are the macros of Appendix C, point-free.
//!
//! A morphism of C is a Rust function of the term that is substituted for `x`, as in `forward` and `reverse`; a morphism of `L(A)` is one to a
//! term of type `LFun(σ†, τ†)`.

use std::marker::PhantomData;
use std::rc::Rc;

use super::{Forward, Model, Ob, PairCategory, Reverse, interpret, object};
use crate::applied::*;
use crate::combinators::Comb;
use crate::linear::{self, LTy};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::source;
use crate::var::Name;

/// The applied language as a model.
pub struct PointFree;

/// `x ⊢ t`, as a function of `x`.
pub type Open = Rc<dyn Fn(&Term) -> Term>;

/// Appendix C, in one of the modes.
pub struct AppendixC<P>(PhantomData<P>);

/// D→: `t : T -> S` becomes `x : D→(T)_1 ⊢ D→(t)_1 : D→(S)_1` and `x : D→(T)_1 ⊢ D→(t)_2 : LFun(D→(T)_2, D→(S)_2)`.
pub type AppliedForward = AppendixC<Forward<PointFree>>;

/// D←: `t : T -> S` becomes `x : D←(T)_1 ⊢ D←(t)_1 : D←(S)_1` and `x : D←(T)_1 ⊢ D←(t)_2 : LFun(D←(S)_2, D←(T)_2)`.
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

fn open(f: impl Fn(&Term) -> Term + 'static) -> Open {
    Rc::new(f)
}

/// What a construct of one part makes of an open term.
fn map(f: &Open, make: impl Fn(Term) -> Term + 'static) -> Open {
    let f = f.clone();
    open(move |x| make(f(x)))
}

/// What a construct of two parts makes of open terms.
fn zip(f: &Open, g: &Open, make: impl Fn(Term, Term) -> Term + 'static) -> Open {
    let (f, g) = (f.clone(), g.clone());
    open(move |x| make(f(x), g(x)))
}

/// `\y. f <x, y>`
fn abstracted(hint: &str, b: &linear::Ty, f: &Open) -> Open {
    let (hint, b, f) = (hint.to_string(), dagger_ty(b), f.clone());
    open(move |x| lam(&hint, b.clone(), |y| f(&pair(x.clone(), y))))
}

/// `f;;projection`, which is the projection where `f` is what it starts from.
fn projected(f: &Open, projection: fn(Ty, Ty) -> Term) -> Open {
    map(f, move |f| {
        let (a, b) = f.ty().ends().1.components();
        after(f, projection(a, b))
    })
}

/// `f;;g`, where the clauses of the paper have `g` alone if `f` is `v`.
fn after(f: Term, g: Term) -> Term {
    if let Kind::Own(Api::LId) = f.kind() { g } else { lthen(f, g) }
}

impl Model for PointFree {
    type Hom = Open;
    type LHom = Open;

    fn id(_: &linear::Ty) -> Open {
        open(Term::clone)
    }
    fn then(f: &Open, g: &Open) -> Open {
        let (f, g) = (f.clone(), g.clone());
        open(move |x| g(&f(x)))
    }
    fn bang(_: &linear::Ty) -> Open {
        open(|_| unit())
    }
    fn pair(f: &Open, g: &Open) -> Open {
        zip(f, g, pair)
    }
    fn fst(f: &Open) -> Open {
        map(f, fst)
    }
    fn snd(f: &Open) -> Open {
        map(f, snd)
    }
    fn apply(f: &Open, x: &Open) -> Open {
        zip(f, x, app)
    }
    fn curry(hint: &str, _: &linear::Ty, b: &linear::Ty, f: &Open) -> Open {
        abstracted(hint, b, f)
    }
    fn op(o: &Op, f: &Open) -> Open {
        let o = o.clone();
        map(f, move |t| op(o.clone(), t))
    }
    fn called(f: &Open, name: &Name) -> Open {
        let name = name.clone();
        map(f, move |t| t.called(&name))
    }
    fn lid(_: &linear::Ty, s: &LTy) -> Open {
        let s = dagger_linear_ty(s);
        open(move |_| lid(s.clone()))
    }
    fn lthen(f: &Open, g: &Open) -> Open {
        zip(f, g, lthen)
    }
    fn reindex(f: &Open, g: &Open) -> Open {
        PointFree::then(f, g)
    }
    fn share(at: &Open, body: impl Fn(&Open) -> Open + 'static) -> Open {
        let at = at.clone();
        open(move |x| let_("y", at(x), |y| body(&open(move |_| y.clone()))(x)))
    }
    fn lzero(_: &linear::Ty, s: &LTy, t: &LTy) -> Open {
        let ty = dagger_linear_ty(s).lfun(dagger_linear_ty(t));
        open(move |_| zero(ty.clone()))
    }
    fn lplus(f: &Open, g: &Open) -> Open {
        zip(f, g, plus)
    }
    fn lpair(f: &Open, g: &Open) -> Open {
        zip(f, g, lpair)
    }
    fn lfst(f: &Open) -> Open {
        projected(f, lfst)
    }
    fn lsnd(f: &Open) -> Open {
        projected(f, lsnd)
    }
    fn lapply(f: &Open, at: &Open) -> Open {
        zip(f, at, |f, at| {
            let to = f.ty().ends().1.arrow().1;
            lthen(f, leval(at, to))
        })
    }
    fn lcurry(hint: &str, _: &linear::Ty, b: &linear::Ty, f: &Open) -> Open {
        map(&abstracted(hint, b, f), lswap)
    }
    fn tensor(key: &Open, f: &Open) -> Open {
        zip(key, f, |key, f| {
            let of = f.ty().ends().1;
            after(f, singleton(key, of))
        })
    }
    fn lcur_inv(hint: &str, [_, b]: [&linear::Ty; 2], _: [&LTy; 2], f: &Open) -> Open {
        map(&abstracted(hint, b, f), lcur_inv)
    }
    fn name(f: &Open) -> Open {
        f.clone()
    }
    fn unname(_: &LTy, f: &Open) -> Open {
        f.clone()
    }
    fn forward_op(o: &Op) -> Open {
        let o = o.clone();
        open(move |x| forward_op(&o, x))
    }
    fn reverse_op(o: &Op) -> Open {
        let o = o.clone();
        open(move |x| reverse_op(&o, x))
    }
    fn primal_prim(p: Primitive, _: &Ob) -> Open {
        open(move |x| primal_prim(p, x))
    }
    fn forward_prim(p: Primitive, _: &Ob) -> Open {
        open(move |x| forward_prim(p, x))
    }
    fn reverse_prim(p: Primitive, _: &Ob) -> Open {
        open(move |x| reverse_prim(p, x))
    }
}

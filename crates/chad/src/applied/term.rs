//! Syntax of the applied target language: the λ-calculus, and the API of `LFun` and `Tens`.

use super::{Abstract, Ty, check, dagger_linear_ty, eval, print};
use crate::lambda::{self, Construct, Language, Never, Node, Parts, Rewrite};
pub use crate::lambda::{
    abs, app, constant, fst, lam, let_, op, pair, prim, snd, tuple, unit, var,
};
use crate::op::LOp;
use crate::primitives::LPrim;
use crate::print::Look;
use crate::value::Value;
use crate::var::Env;

/// The applied target language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applied {}

impl Language for Applied {
    type Ty = Abstract;
    type Own = Api;
    type Lin = Never;
}

/// A variable.
pub type Var = lambda::Var<Applied>;

/// A term `Γ ⊢ t : T`.
pub type Term = lambda::Term<Applied>;

/// A construct.
pub type Kind = lambda::Kind<Applied>;

/// A-1 … A-13.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// `lop(t)`
    LOp(LOp, Term),
    /// `lprim(t)` (Appendix F)
    LPrim(LPrim, Term),
    /// `0_T`
    Zero,
    /// `t + s`
    Plus(Term, Term),
    /// `lid`
    LId,
    /// `t;;s`
    LThen(Term, Term),
    /// `lapp(t, s)`
    LApp(Term, Term),
    /// `lswap t`
    LSwap(Term),
    /// `leval_t`
    LEval(Term),
    /// `{(t,-)}`
    Singleton(Term),
    /// `lcur^-1 t`
    LCurInv(Term),
    /// `lfst`
    LFst,
    /// `lsnd`
    LSnd,
    /// `lpair(t, s)`
    LPair(Term, Term),
}

impl Construct<Applied> for Api {
    fn parts(&self) -> Parts<'_, Applied> {
        let terms = match self {
            Api::Zero | Api::LId | Api::LFst | Api::LSnd => vec![],
            Api::LOp(_, t) | Api::LPrim(_, t) => vec![t],
            Api::LSwap(t) | Api::LEval(t) | Api::Singleton(t) | Api::LCurInv(t) => vec![t],
            Api::Plus(t, s) | Api::LThen(t, s) | Api::LApp(t, s) | Api::LPair(t, s) => vec![t, s],
        };
        (terms, vec![])
    }

    fn map(&self, to: &mut dyn Rewrite<Applied>) -> Api {
        match self {
            Api::Zero | Api::LId | Api::LFst | Api::LSnd => self.clone(),
            Api::LOp(o, t) => Api::LOp(*o, to.term(t)),
            Api::LPrim(p, t) => Api::LPrim(*p, to.term(t)),
            Api::Plus(t, s) => Api::Plus(to.term(t), to.term(s)),
            Api::LThen(t, s) => Api::LThen(to.term(t), to.term(s)),
            Api::LApp(t, s) => Api::LApp(to.term(t), to.term(s)),
            Api::LSwap(t) => Api::LSwap(to.term(t)),
            Api::LEval(t) => Api::LEval(to.term(t)),
            Api::Singleton(t) => Api::Singleton(to.term(t)),
            Api::LCurInv(t) => Api::LCurInv(to.term(t)),
            Api::LPair(t, s) => Api::LPair(to.term(t), to.term(s)),
        }
    }

    fn infer(&self, context: &mut Vec<Var>, ty: &Ty) -> Result<Ty, String> {
        check::infer(self, context, ty)
    }

    fn eval(&self, env: &Env<Value>, ty: &Ty) -> Value {
        eval::eval(self, env, ty)
    }

    fn look(&self) -> Look<Node<Applied>> {
        print::look(self)
    }
}

fn made(api: Api, ty: Ty) -> Term {
    Term::new(Kind::Own(api), ty)
}

/// `lop(t) : LFun(LDom(lop), real^m)`
pub fn lop(o: LOp, t: Term) -> Term {
    made(Api::LOp(o, t), Ty::dom(&o.ldom()).lfun(Ty::Real(o.cod())))
}

/// `lprim(t) : LFun(LDom(lprim), Cod(lprim))` (Appendix F)
pub fn lprim(p: LPrim, t: Term) -> Term {
    made(Api::LPrim(p, t), dagger_linear_ty(&p.ldom()).lfun(dagger_linear_ty(&p.cod())))
}

/// `0_T : T`
pub fn zero(ty: Ty) -> Term {
    made(Api::Zero, ty)
}

/// `t + s : T`
pub fn plus(t: Term, s: Term) -> Term {
    assert_eq!(t.ty(), s.ty(), "`{t}` and `{s}` cannot be added");
    let ty = t.ty().clone();
    made(Api::Plus(t, s), ty)
}

/// `lid : LFun(T, T)`
pub fn lid(ty: Ty) -> Term {
    made(Api::LId, ty.clone().lfun(ty))
}

/// `t;;s : LFun(T, R)`
pub fn lthen(t: Term, s: Term) -> Term {
    let ((from, middle), (start, to)) = (t.ty().ends(), s.ty().ends());
    assert_eq!(middle, start, "the ends of `{t};;{s}` do not meet");
    made(Api::LThen(t, s), from.lfun(to))
}

/// `lapp(t, s) : S`
pub fn lapp(t: Term, s: Term) -> Term {
    let ty = t.ty().ends().1;
    made(Api::LApp(t, s), ty)
}

/// `lswap t : LFun(S, T -> R)` for `t : T -> LFun(S, R)`
pub fn lswap(t: Term) -> Term {
    let (key, linear) = t.ty().arrow();
    let (from, to) = linear.ends();
    made(Api::LSwap(t), from.lfun(key.to(to)))
}

/// `leval_t : LFun(T -> S, S)`
pub fn leval(t: Term, to: Ty) -> Term {
    let ty = t.ty().clone().to(to.clone()).lfun(to);
    made(Api::LEval(t), ty)
}

/// `{(t,-)} : LFun(S, Tens(T, S))`
pub fn singleton(t: Term, of: Ty) -> Term {
    let ty = of.clone().lfun(of.tens(t.ty().clone()));
    made(Api::Singleton(t), ty)
}

/// `lcur^-1 t : LFun(Tens(T, S), R)` for `t : T -> LFun(S, R)`
pub fn lcur_inv(t: Term) -> Term {
    let (key, linear) = t.ty().arrow();
    let (from, to) = linear.ends();
    made(Api::LCurInv(t), from.tens(key).lfun(to))
}

/// `lfst : LFun(T * S, T)`
pub fn lfst(t: Ty, s: Ty) -> Term {
    made(Api::LFst, t.clone().times(s).lfun(t))
}

/// `lsnd : LFun(T * S, S)`
pub fn lsnd(t: Ty, s: Ty) -> Term {
    made(Api::LSnd, t.times(s.clone()).lfun(s))
}

/// `lpair(t, s) : LFun(T, S * R)`
pub fn lpair(t: Term, s: Term) -> Term {
    let ((from, a), (start, b)) = (t.ty().ends(), s.ty().ends());
    assert_eq!(from, start, "`{t}` and `{s}` do not start together");
    made(Api::LPair(t, s), from.lfun(a.times(b)))
}

#[cfg(test)]
mod tests;

//! Syntax of the applied target language: the source language, and the API of `LFun` and `Tens`.

use std::rc::Rc;

use super::{Ty, dagger_linear_ty, dagger_ty};
use crate::linear::of_source_ty;
use crate::op::{LOp, Op};
use crate::primitives::{LPrim, Primitive};
use crate::var::{Env, Name};

/// A variable of the applied language.
pub type Var = crate::var::Var<Ty>;

/// A term `Γ ⊢ t : T`. It knows its type: `0`, `lid`, … have many.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    kind: Rc<Kind>,
    ty: Ty,
    name: Name,
}

/// The terms of the source language, and A-1 … A-13.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `x`
    Var(Var),
    /// `op(t)`
    Op(Op, Term),
    /// `prim(t)`
    Prim(Primitive, Term),
    /// `<>`
    Unit,
    /// `<t, s>`
    Pair(Term, Term),
    /// `fst t`
    Fst(Term),
    /// `snd t`
    Snd(Term),
    /// `\x. t`
    Lam(Var, Term),
    /// `t s`
    App(Term, Term),
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

impl Term {
    fn new(kind: Kind, ty: Ty) -> Term {
        Term { kind: Rc::new(kind), ty, name: Name::default() }
    }

    /// The construct.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The type.
    pub fn ty(&self) -> &Ty {
        &self.ty
    }

    /// What the program calls it.
    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    /// The same term, by this name if it has none.
    pub(crate) fn called(mut self, name: &Name) -> Term {
        self.name = self.name.or(name);
        self
    }

    /// The immediate subterms.
    pub fn children(&self) -> Vec<&Term> {
        match self.kind() {
            Kind::Var(_) | Kind::Unit | Kind::Zero | Kind::LId | Kind::LFst | Kind::LSnd => vec![],
            Kind::Op(_, t) | Kind::Prim(_, t) | Kind::Fst(t) | Kind::Snd(t) | Kind::Lam(_, t) => {
                vec![t]
            }
            Kind::LOp(_, t) | Kind::LPrim(_, t) => vec![t],
            Kind::LSwap(t) | Kind::LEval(t) | Kind::Singleton(t) | Kind::LCurInv(t) => vec![t],
            Kind::Pair(t, s) | Kind::App(t, s) | Kind::Plus(t, s) => vec![t, s],
            Kind::LThen(t, s) | Kind::LApp(t, s) | Kind::LPair(t, s) => vec![t, s],
        }
    }

    /// The number of nodes.
    pub fn size(&self) -> usize {
        1 + self.children().into_iter().map(Term::size).sum::<usize>()
    }

    /// `t[s/x]`, capturing nothing.
    pub fn subst(&self, x: &Var, s: &Term) -> Term {
        self.substitute(&Env::default().with(x, s.clone()))
    }

    /// Simultaneous substitution; all bound variables become fresh.
    pub fn substitute(&self, terms: &Env<Term>) -> Term {
        self.replace(terms, &mut |x| x.refresh())
    }

    /// Substitution, with `name` for the bound variables.
    fn replace(&self, terms: &Env<Term>, name: &mut dyn FnMut(&Var) -> Var) -> Term {
        if let Kind::Var(x) = self.kind() {
            return terms.get(x).unwrap_or_else(|| self.clone());
        }
        if let Kind::Lam(x, t) = self.kind() {
            let y = name(x);
            return abs(y.clone(), t.replace(&terms.with(x, var(&y)), name)).called(&self.name);
        }
        self.map_children(&mut |t| t.replace(terms, name))
    }

    /// The same construct with other parts; binders stay.
    pub fn map_children(&self, f: &mut dyn FnMut(&Term) -> Term) -> Term {
        let kind = match self.kind() {
            Kind::Var(_) | Kind::Unit | Kind::Zero | Kind::LId | Kind::LFst | Kind::LSnd => {
                return self.clone();
            }
            Kind::Op(o, t) => Kind::Op(o.clone(), f(t)),
            Kind::Prim(p, t) => Kind::Prim(*p, f(t)),
            Kind::Pair(t, s) => Kind::Pair(f(t), f(s)),
            Kind::Fst(t) => Kind::Fst(f(t)),
            Kind::Snd(t) => Kind::Snd(f(t)),
            Kind::Lam(x, t) => Kind::Lam(x.clone(), f(t)),
            Kind::App(t, s) => Kind::App(f(t), f(s)),
            Kind::LOp(o, t) => Kind::LOp(*o, f(t)),
            Kind::LPrim(p, t) => Kind::LPrim(*p, f(t)),
            Kind::Plus(t, s) => Kind::Plus(f(t), f(s)),
            Kind::LThen(t, s) => Kind::LThen(f(t), f(s)),
            Kind::LApp(t, s) => Kind::LApp(f(t), f(s)),
            Kind::LSwap(t) => Kind::LSwap(f(t)),
            Kind::LEval(t) => Kind::LEval(f(t)),
            Kind::Singleton(t) => Kind::Singleton(f(t)),
            Kind::LCurInv(t) => Kind::LCurInv(f(t)),
            Kind::LPair(t, s) => Kind::LPair(f(t), f(s)),
        };
        Term { kind: Rc::new(kind), ty: self.ty.clone(), name: self.name.clone() }
    }

    /// The same term with its bound variables numbered, so that α-equivalent terms are equal.
    pub fn canonical(&self) -> Term {
        let mut count = 0;
        self.replace(&Env::default(), &mut |x| {
            count += 1;
            x.at_level(count - 1)
        })
    }
}

/// `x`
pub fn var(x: &Var) -> Term {
    Term::new(Kind::Var(x.clone()), x.ty.clone())
}

/// `op(t)`
pub fn op(op: Op, t: Term) -> Term {
    let ty = Ty::Real(op.cod());
    Term::new(Kind::Op(op, t), ty)
}

/// `prim(t)`
pub fn prim(p: Primitive, t: Term) -> Term {
    Term::new(Kind::Prim(p, t), dagger_ty(&of_source_ty(&p.to())))
}

/// `c`
pub fn constant(values: impl Into<Rc<[f64]>>) -> Term {
    op(Op::constant(values), unit())
}

/// `<>`
pub fn unit() -> Term {
    Term::new(Kind::Unit, Ty::Unit)
}

/// `<t, s>`
pub fn pair(t: Term, s: Term) -> Term {
    let ty = t.ty.clone().times(s.ty.clone());
    Term::new(Kind::Pair(t, s), ty)
}

/// `fst t`
pub fn fst(t: Term) -> Term {
    let ty = t.ty.components().0;
    Term::new(Kind::Fst(t), ty)
}

/// `snd t`
pub fn snd(t: Term) -> Term {
    let ty = t.ty.components().1;
    Term::new(Kind::Snd(t), ty)
}

/// `\x. t`
pub fn abs(x: Var, t: Term) -> Term {
    let ty = x.ty.clone().to(t.ty.clone());
    Term::new(Kind::Lam(x, t), ty)
}

/// `\x. t`, for a fresh variable
pub fn lam(hint: &str, ty: Ty, body: impl FnOnce(Term) -> Term) -> Term {
    let x = Var::fresh(hint, ty);
    let t = body(var(&x));
    abs(x, t)
}

/// `t s`
pub fn app(t: Term, s: Term) -> Term {
    let ty = t.ty.arrow().1;
    Term::new(Kind::App(t, s), ty)
}

/// `let x = t in s := (\x. s) t`
pub fn let_(hint: &str, t: Term, body: impl FnOnce(Term) -> Term) -> Term {
    app(lam(hint, t.ty.clone(), body), t)
}

/// `lop(t) : LFun(LDom(lop), real^m)`
pub fn lop(o: LOp, t: Term) -> Term {
    Term::new(Kind::LOp(o, t), Ty::dom(&o.ldom()).lfun(Ty::Real(o.cod())))
}

/// `lprim(t) : LFun(LDom(lprim), Cod(lprim))` (Appendix F)
pub fn lprim(p: LPrim, t: Term) -> Term {
    Term::new(Kind::LPrim(p, t), dagger_linear_ty(&p.ldom()).lfun(dagger_linear_ty(&p.cod())))
}

/// `0_T : T`
pub fn zero(ty: Ty) -> Term {
    Term::new(Kind::Zero, ty)
}

/// `t + s : T`
pub fn plus(t: Term, s: Term) -> Term {
    assert_eq!(t.ty, s.ty, "`{t}` and `{s}` cannot be added");
    let ty = t.ty.clone();
    Term::new(Kind::Plus(t, s), ty)
}

/// `lid : LFun(T, T)`
pub fn lid(ty: Ty) -> Term {
    Term::new(Kind::LId, ty.clone().lfun(ty))
}

/// `t;;s : LFun(T, R)`
pub fn lthen(t: Term, s: Term) -> Term {
    let ((from, middle), (start, to)) = (t.ty.ends(), s.ty.ends());
    assert_eq!(middle, start, "the ends of `{t};;{s}` do not meet");
    Term::new(Kind::LThen(t, s), from.lfun(to))
}

/// `lapp(t, s) : S`
pub fn lapp(t: Term, s: Term) -> Term {
    let ty = t.ty.ends().1;
    Term::new(Kind::LApp(t, s), ty)
}

/// `lswap t : LFun(S, T -> R)` for `t : T -> LFun(S, R)`
pub fn lswap(t: Term) -> Term {
    let (key, linear) = t.ty.arrow();
    let (from, to) = linear.ends();
    Term::new(Kind::LSwap(t), from.lfun(key.to(to)))
}

/// `leval_t : LFun(T -> S, S)`
pub fn leval(t: Term, to: Ty) -> Term {
    let ty = t.ty.clone().to(to.clone()).lfun(to);
    Term::new(Kind::LEval(t), ty)
}

/// `{(t,-)} : LFun(S, Tens(T, S))`
pub fn singleton(t: Term, of: Ty) -> Term {
    let ty = of.clone().lfun(of.tens(t.ty.clone()));
    Term::new(Kind::Singleton(t), ty)
}

/// `lcur^-1 t : LFun(Tens(T, S), R)` for `t : T -> LFun(S, R)`
pub fn lcur_inv(t: Term) -> Term {
    let (key, linear) = t.ty.arrow();
    let (from, to) = linear.ends();
    Term::new(Kind::LCurInv(t), from.tens(key).lfun(to))
}

/// `lfst : LFun(T * S, T)`
pub fn lfst(t: Ty, s: Ty) -> Term {
    Term::new(Kind::LFst, t.clone().times(s).lfun(t))
}

/// `lsnd : LFun(T * S, S)`
pub fn lsnd(t: Ty, s: Ty) -> Term {
    Term::new(Kind::LSnd, t.times(s.clone()).lfun(s))
}

/// `lpair(t, s) : LFun(T, S * R)`
pub fn lpair(t: Term, s: Term) -> Term {
    let ((from, a), (start, b)) = (t.ty.ends(), s.ty.ends());
    assert_eq!(from, start, "`{t}` and `{s}` do not start together");
    Term::new(Kind::LPair(t, s), from.lfun(a.times(b)))
}

#[cfg(test)]
mod tests;

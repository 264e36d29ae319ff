//! βη, decided: normalization by evaluation.
//!
//! A term is evaluated in a model whose elements at `real^n` are terms; the result is read back in
//! η-long form. Two terms of the source language are equal by S-10 … S-15 if and only if their
//! normal forms are identical.

use std::rc::Rc;

use super::{Kind, Language, Never, Source, Term, Ty, Var, abs, app, fst, op, pair, prim, snd};
use super::{of_source_ty, unit, var};
use crate::var::Env;

/// An element of the model.
#[derive(Clone)]
pub enum Sem<L: Normal> {
    /// At `real^n`.
    Ground(Term<L>),
    /// At `1`.
    Unit,
    /// At `T * S`.
    Pair(Rc<(Sem<L>, Sem<L>)>),
    /// At `T -> S`.
    Fun(Function<L>),
    /// At a type that only this language has.
    Own(L::Sem),
}

/// A function of the model.
pub type Function<L> = Rc<dyn Fn(&Sem<L>) -> Sem<L>>;

/// A language whose terms have normal forms.
pub trait Normal: Language {
    /// The elements of its own types.
    type Sem: Clone;
    /// A construct of its own in the model.
    fn eval(own: &Self::Own, env: &Env<Sem<Self>>) -> Sem<Self>;
    /// A neutral term of one of its own types as an element.
    fn reflect(ty: &Self::Ty, t: Term<Self>) -> Self::Sem;
    /// An element of one of its own types as a term.
    fn reify(ty: &Self::Ty, sem: &Self::Sem) -> Term<Self>;
}

impl Normal for Source {
    type Sem = Never;
    fn eval(own: &Never, _: &Env<Sem<Source>>) -> Sem<Source> {
        match *own {}
    }
    fn reflect(ty: &Never, _: Term<Source>) -> Never {
        *ty
    }
    fn reify(ty: &Never, _: &Never) -> Term<Source> {
        match *ty {}
    }
}

/// The βη-normal form; free variables stay. Bound variables are de Bruijn levels, so α-equivalent
/// results are equal.
pub fn normalize<L: Normal>(t: &Term<L>) -> Term<L> {
    reify(t.ty(), &eval(t, &Env::default())).canonical()
}

/// The element that a term is.
pub(crate) fn eval<L: Normal>(t: &Term<L>, env: &Env<Sem<L>>) -> Sem<L> {
    match t.kind() {
        Kind::Var(x) => env.get(x).unwrap_or_else(|| reflect(&x.ty, var(x))),
        Kind::Op(o, t) => Sem::Ground(op(o.clone(), reify(t.ty(), &eval(t, env)))),
        Kind::Prim(p, t) => reflect(&of_source_ty(&p.to()), prim(*p, reify(t.ty(), &eval(t, env)))),
        Kind::Unit => Sem::Unit,
        Kind::Pair(t, s) => Sem::Pair(Rc::new((eval(t, env), eval(s, env)))),
        // S-11, S-12
        Kind::Fst(t) => eval(t, env).components().0.clone(),
        Kind::Snd(t) => eval(t, env).components().1.clone(),
        Kind::Lam(x, t) => {
            let (x, t, env) = (x.clone(), t.clone(), env.clone());
            Sem::Fun(Rc::new(move |s| eval(&t, &env.with(&x, s.clone()))))
        }
        // S-14
        Kind::App(t, s) => match eval(t, env) {
            Sem::Fun(f) => f(&eval(s, env)),
            Sem::Ground(_) | Sem::Unit | Sem::Pair(_) | Sem::Own(_) => {
                unreachable!("a typed term applies functions only")
            }
        },
        Kind::Own(own) => L::eval(own, env),
    }
}

impl<L: Normal> Sem<L> {
    fn components(&self) -> &(Sem<L>, Sem<L>) {
        match self {
            Sem::Pair(both) => both,
            Sem::Ground(_) | Sem::Unit | Sem::Fun(_) | Sem::Own(_) => {
                unreachable!("a typed term projects pairs only")
            }
        }
    }
}

/// A neutral term as an element: η-expanded as far as its type goes.
pub(crate) fn reflect<L: Normal>(ty: &Ty<L>, t: Term<L>) -> Sem<L> {
    match ty {
        Ty::Real(_) => Sem::Ground(t),
        Ty::Unit => Sem::Unit,
        Ty::Prod(a, b) => Sem::Pair(Rc::new((reflect(a, fst(t.clone())), reflect(b, snd(t))))),
        Ty::Fun(a, b) => {
            let (a, b) = (a.clone(), b.clone());
            Sem::Fun(Rc::new(move |s| reflect(&b, app(t.clone(), reify(&a, s)))))
        }
        Ty::Own(ty) => Sem::Own(L::reflect(ty, t)),
    }
}

/// An element as a term in η-long normal form (S-10, S-13, S-15).
pub(crate) fn reify<L: Normal>(ty: &Ty<L>, sem: &Sem<L>) -> Term<L> {
    match (ty, sem) {
        (Ty::Real(_), Sem::Ground(t)) => t.clone(),
        (Ty::Unit, _) => unit(),
        (Ty::Prod(a, b), Sem::Pair(both)) => pair(reify(a, &both.0), reify(b, &both.1)),
        (Ty::Fun(a, b), Sem::Fun(f)) => {
            let x = Var::<L>::fresh("x", (**a).clone());
            abs(x.clone(), reify(b, &f(&reflect(a, var(&x)))))
        }
        (Ty::Own(ty), Sem::Own(sem)) => L::reify(ty, sem),
        (Ty::Real(_) | Ty::Prod(..) | Ty::Fun(..) | Ty::Own(_), _) => {
            unreachable!("an element has the form that its type says")
        }
    }
}

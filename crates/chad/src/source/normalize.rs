//! βη for the source language, decided: normalization by evaluation.
//!
//! A term is evaluated in a model whose elements at `real^n` are terms; what comes out is read back in η-long form. Two terms are equal by
//! S-10 … S-15 if and only if their normal forms are identical.

use std::rc::Rc;

use super::{Kind, Term, Ty, Var, abs, app, fst, op, pair, prim, snd, unit, var};
use crate::var::Env;

/// An element of the model.
#[derive(Clone)]
enum Sem {
    Ground(Term),
    Unit,
    Pair(Rc<(Sem, Sem)>),
    Fun(Rc<dyn Fn(&Sem) -> Sem>),
}

/// The βη-normal form; free variables stay. Bound variables are de Bruijn levels, so α-equivalent results are equal.
pub fn normalize(t: &Term) -> Term {
    canonical(&reify(t.ty(), &eval(t, &Env::default())))
}

/// The same term with de Bruijn levels for its bound variables.
pub fn canonical(t: &Term) -> Term {
    rename(t, 0, &Env::default())
}

fn rename(t: &Term, level: u32, names: &Env<Term>) -> Term {
    let go = |t: &Term| rename(t, level, names);
    match t.kind() {
        Kind::Var(x) => names.get(x).unwrap_or_else(|| t.clone()),
        Kind::Op(o, t) => op(o.clone(), go(t)),
        Kind::Prim(p, t) => prim(*p, go(t)),
        Kind::Unit => unit(),
        Kind::Pair(t, s) => pair(go(t), go(s)),
        Kind::Fst(t) => fst(go(t)),
        Kind::Snd(t) => snd(go(t)),
        Kind::Lam(x, t) => {
            let y = x.at_level(level);
            abs(y.clone(), rename(t, level + 1, &names.with(x, var(&y))))
        }
        Kind::App(t, s) => app(go(t), go(s)),
    }
}

fn eval(t: &Term, env: &Env<Sem>) -> Sem {
    match t.kind() {
        Kind::Var(x) => env.get(x).unwrap_or_else(|| reflect(&x.ty, var(x))),
        Kind::Op(o, t) => Sem::Ground(op(o.clone(), reify(t.ty(), &eval(t, env)))),
        Kind::Prim(p, t) => reflect(&p.to(), prim(*p, reify(t.ty(), &eval(t, env)))),
        Kind::Unit => Sem::Unit,
        Kind::Pair(t, s) => Sem::Pair(Rc::new((eval(t, env), eval(s, env)))),
        // S-11, S-12
        Kind::Fst(t) => split(&eval(t, env)).0.clone(),
        Kind::Snd(t) => split(&eval(t, env)).1.clone(),
        Kind::Lam(x, t) => {
            let (x, t, env) = (x.clone(), t.clone(), env.clone());
            Sem::Fun(Rc::new(move |s| eval(&t, &env.with(&x, s.clone()))))
        }
        // S-14
        Kind::App(t, s) => match eval(t, env) {
            Sem::Fun(f) => f(&eval(s, env)),
            Sem::Ground(_) | Sem::Unit | Sem::Pair(_) => {
                unreachable!("a typed term applies functions only")
            }
        },
    }
}

fn split(both: &Sem) -> &(Sem, Sem) {
    match both {
        Sem::Pair(both) => both,
        Sem::Ground(_) | Sem::Unit | Sem::Fun(_) => {
            unreachable!("a typed term projects pairs only")
        }
    }
}

/// A neutral term as an element: η-expanded as far as its type goes.
fn reflect(ty: &Ty, t: Term) -> Sem {
    match ty {
        Ty::Real(_) => Sem::Ground(t),
        Ty::Unit => Sem::Unit,
        Ty::Prod(a, b) => Sem::Pair(Rc::new((reflect(a, fst(t.clone())), reflect(b, snd(t))))),
        Ty::Fun(a, b) => {
            let (a, b) = (a.clone(), b.clone());
            Sem::Fun(Rc::new(move |s| reflect(&b, app(t.clone(), reify(&a, s)))))
        }
    }
}

/// An element as a term in η-long normal form (S-10, S-13, S-15).
fn reify(ty: &Ty, sem: &Sem) -> Term {
    match (ty, sem) {
        (Ty::Real(_), Sem::Ground(t)) => t.clone(),
        (Ty::Unit, _) => unit(),
        (Ty::Prod(a, b), Sem::Pair(both)) => pair(reify(a, &both.0), reify(b, &both.1)),
        (Ty::Fun(a, b), Sem::Fun(f)) => {
            let x = Var::fresh("x", (**a).clone());
            abs(x.clone(), reify(b, &f(&reflect(a, var(&x)))))
        }
        (Ty::Real(_) | Ty::Prod(..) | Ty::Fun(..), _) => {
            unreachable!("an element has the form that its type says")
        }
    }
}

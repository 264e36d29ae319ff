//! Syntax of the source language, and substitution.

use std::rc::Rc;

use super::Ty;
use crate::op::Op;
use crate::primitives::Primitive;
use crate::var::Env;

/// A variable of the source language.
pub type Var = crate::var::Var<Ty>;

/// A term `Γ ⊢ t : T`. It knows its type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    kind: Rc<Kind>,
    ty: Ty,
}

/// `t ::= x | op(t) | prim(t) | <> | <t, s> | fst t | snd t | \x. t | t s`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `x` (S-1)
    Var(Var),
    /// `op(t)` (S-2)
    Op(Op, Term),
    /// `prim(t)` (Appendix F)
    Prim(Primitive, Term),
    /// `<>` (S-3)
    Unit,
    /// `<t, s>` (S-4)
    Pair(Term, Term),
    /// `fst t` (S-5)
    Fst(Term),
    /// `snd t` (S-6)
    Snd(Term),
    /// `\x. t` (S-7)
    Lam(Var, Term),
    /// `t s` (S-8)
    App(Term, Term),
}

impl Term {
    fn new(kind: Kind, ty: Ty) -> Term {
        Term { kind: Rc::new(kind), ty }
    }

    /// The construct.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The type.
    pub fn ty(&self) -> &Ty {
        &self.ty
    }

    /// The immediate subterms.
    pub fn children(&self) -> Vec<&Term> {
        match self.kind() {
            Kind::Var(_) | Kind::Unit => vec![],
            Kind::Op(_, t) | Kind::Prim(_, t) | Kind::Fst(t) | Kind::Snd(t) | Kind::Lam(_, t) => {
                vec![t]
            }
            Kind::Pair(t, s) | Kind::App(t, s) => vec![t, s],
        }
    }

    /// The number of nodes.
    pub fn size(&self) -> usize {
        1 + self.children().into_iter().map(Term::size).sum::<usize>()
    }

    /// Does the variable occur?
    pub fn mentions(&self, x: &Var) -> bool {
        matches!(self.kind(), Kind::Var(y) if x == y)
            || self.children().into_iter().any(|t| t.mentions(x))
    }

    /// `t[s/x]`
    pub fn subst(&self, x: &Var, s: &Term) -> Term {
        self.substitute(&Env::default().with(x, s.clone()))
    }

    /// Simultaneous substitution. All bound variables become fresh, so nothing is captured.
    pub fn substitute(&self, terms: &Env<Term>) -> Term {
        let go = |t: &Term| t.substitute(terms);
        match self.kind() {
            Kind::Var(x) => terms.get(x).unwrap_or_else(|| self.clone()),
            Kind::Op(o, t) => op(o.clone(), go(t)),
            Kind::Prim(p, t) => prim(*p, go(t)),
            Kind::Unit => unit(),
            Kind::Pair(t, s) => pair(go(t), go(s)),
            Kind::Fst(t) => fst(go(t)),
            Kind::Snd(t) => snd(go(t)),
            Kind::Lam(x, t) => {
                let y = x.refresh();
                abs(y.clone(), t.substitute(&terms.with(x, var(&y))))
            }
            Kind::App(t, s) => app(go(t), go(s)),
        }
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
    Term::new(Kind::Prim(p, t), p.to())
}

/// `op(t1, .., tk)`
pub fn op_at(o: Op, args: &[Term]) -> Term {
    op(o, tuple(args))
}

/// `c`, for `c(<>)`
pub fn constant(values: impl Into<Rc<[f64]>>) -> Term {
    op(Op::constant(values), unit())
}

/// `<t1, .., tk>`, nested to the left
pub fn tuple(items: &[Term]) -> Term {
    items.iter().cloned().reduce(pair).unwrap_or_else(unit)
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

/// `\x. t`, for a given variable
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
    let Ty::Fun(_, to) = &t.ty else { panic!("{} is not a function type", t.ty) };
    let ty = (**to).clone();
    Term::new(Kind::App(t, s), ty)
}

/// `let x = t in s := (\x. s) t` (S-9)
pub fn let_(hint: &str, t: Term, body: impl FnOnce(Term) -> Term) -> Term {
    app(lam(hint, t.ty.clone(), body), t)
}

/// P-1, P-2: `map <f, <v1, .., vk>>` for `f : real^k -> real` and k vectors of size n; `zipWith` for k = 2.
pub fn map(f: Term, vectors: &[Term]) -> Term {
    let Ty::Real(n) = vectors[0].ty else { panic!("{} is not a vector", vectors[0]) };
    prim(Primitive::Map { arity: vectors.len(), n }, pair(f, tuple(vectors)))
}

/// P-3: `fold <f, <z, v>> := snd (scan <f, <z, v>>)`, from the left: `f(.. f(f(z, v_1), v_2) .., v_n)`
pub fn fold(f: Term, z: Term, v: Term) -> Term {
    let Ty::Real(n) = v.ty else { panic!("{v} is not a vector") };
    snd(prim(Primitive::Scan { n }, pair(f, pair(z, v))))
}

/// P-6: `build_n f := map <f, [0, .., n - 1]>`. The cotangent of a constant is dropped.
pub fn build(n: usize, f: Term) -> Term {
    map(f, &[constant((0..n).map(|i| i as f64).collect::<Vec<_>>())])
}

#[cfg(test)]
mod tests;

//! Syntax of the source language, and substitution.

use std::rc::Rc;

use crate::op::Op;
use crate::var::Env;

/// A type: `T, S, R ::= real^n | 1 | T * S | T -> S`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ty {
    /// `real^n`
    Real(usize),
    /// `1`
    Unit,
    /// `T * S`
    Prod(Rc<Ty>, Rc<Ty>),
    /// `T -> S`
    Fun(Rc<Ty>, Rc<Ty>),
}

/// `real := real^1`
pub const REAL: Ty = Ty::Real(1);

/// A variable of the source language.
pub type Var = crate::var::Var<Ty>;

/// A term `Γ ⊢ t : T`. It knows its type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    kind: Rc<Kind>,
    ty: Ty,
}

/// `t ::= x | op(t) | <> | <t, s> | fst t | snd t | \x. t | t s`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `x` (S-1)
    Var(Var),
    /// `op(t)` (S-2)
    Op(Op, Term),
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

impl Ty {
    /// `self * other`
    pub fn times(self, other: Ty) -> Ty {
        Ty::Prod(Rc::new(self), Rc::new(other))
    }

    /// `self -> to`
    pub fn to(self, to: Ty) -> Ty {
        Ty::Fun(Rc::new(self), Rc::new(to))
    }

    /// `Dom(op) = real^n1 * .. * real^nk`, nested to the left.
    pub fn dom(sizes: &[usize]) -> Ty {
        sizes.iter().map(|n| Ty::Real(*n)).reduce(Ty::times).unwrap_or(Ty::Unit)
    }

    /// Does it contain no function type?
    pub fn first_order(&self) -> bool {
        self.order() == 0
    }

    /// 0 for first-order types, and one more than that of the argument for functions.
    pub fn order(&self) -> usize {
        match self {
            Ty::Real(_) | Ty::Unit => 0,
            Ty::Prod(a, b) => a.order().max(b.order()),
            Ty::Fun(a, b) => (a.order() + 1).max(b.order()),
        }
    }

    fn components(&self) -> (Ty, Ty) {
        match self {
            Ty::Prod(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Fun(..) => panic!("{self} is not a product"),
        }
    }
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
            Kind::Op(_, t) | Kind::Fst(t) | Kind::Snd(t) | Kind::Lam(_, t) => vec![t],
            Kind::Pair(t, s) | Kind::App(t, s) => vec![t, s],
        }
    }

    /// The number of nodes.
    pub fn size(&self) -> usize {
        1 + self.children().into_iter().map(Term::size).sum::<usize>()
    }

    /// Does the variable occur?
    pub fn mentions(&self, x: &Var) -> bool {
        matches!(self.kind(), Kind::Var(y) if x == y) || self.children().into_iter().any(|t| t.mentions(x))
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

#[cfg(test)]
mod tests;

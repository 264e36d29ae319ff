//! Syntax of the linear target language: two judgements, two Rust types.
//!
//! `Term` is `Γ ⊢ t : T`, and `Lin` is `Γ; v : σ ⊢ l : τ`. There is exactly one linear variable, so it needs no name: a `Lin` is a morphism
//! from σ to τ, and `v` is the identity. Cartesian positions hold a `Term`, which has no way to mention `v`, and each binder of a linear
//! variable (`\_v. l`, `case`) takes a whole `Lin`, whose `v` is its own. So a term that is not linear in `v` cannot be built.

use std::rc::Rc;

use super::{LTy, Ty, of_source_ty};
use crate::op::{LOp, Op};
use crate::primitives::{LPrim, Primitive};
use crate::var::{Env, Name};

/// A Cartesian variable.
pub type Var = crate::var::Var<Ty>;

/// `Γ ⊢ t : T`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    kind: Rc<Kind>,
    ty: Ty,
    name: Name,
}

/// The terms of the source language, and the linear λ.
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
    /// `\_v. l` (L-11)
    LinLam(Lin),
}

/// `Γ; v : from ⊢ l : to`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lin {
    kind: Rc<LinKind>,
    from: LTy,
    to: LTy,
}

/// The linear terms. Erratum E8: the paper's grammar omits `case` and the linear versions of `<>`, pairs, projections, λ and application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinKind {
    /// `v` (L-1)
    Var,
    /// `lop(t; l)` (L-2)
    LOp(LOp, Term, Lin),
    /// `lprim(t; l)` (Appendix F)
    LPrim(LPrim, Term, Lin),
    /// `<>` (L-3)
    Unit,
    /// `<l, k>` (L-4): both mention `v`, contexts are additive
    Pair(Lin, Lin),
    /// `fst l` (L-5)
    Fst(Lin),
    /// `snd l` (L-6)
    Snd(Lin),
    /// `\y. l` (L-7)
    Lam(Var, Lin),
    /// `l t` (L-8)
    App(Lin, Term),
    /// `!t (x) l` (L-9)
    Tensor(Term, Lin),
    /// `case l of !y (x) v -> k` (L-10)
    Case(Lin, Var, Lin),
    /// `t{l}` (L-12)
    LinApp(Term, Lin),
    /// `0` (L-13)
    Zero,
    /// `l + k` (L-14)
    Plus(Lin, Lin),
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

    /// The immediate subterms of both kinds.
    fn parts(&self) -> (Vec<&Term>, Vec<&Lin>) {
        match self.kind() {
            Kind::Var(_) | Kind::Unit => (vec![], vec![]),
            Kind::Op(_, t) | Kind::Prim(_, t) | Kind::Fst(t) | Kind::Snd(t) | Kind::Lam(_, t) => {
                (vec![t], vec![])
            }
            Kind::Pair(t, s) | Kind::App(t, s) => (vec![t, s], vec![]),
            Kind::LinLam(l) => (vec![], vec![l]),
        }
    }

    /// The number of nodes, linear ones too.
    pub fn size(&self) -> usize {
        size(self.parts())
    }

    /// Has it at most this many nodes? Counts no further: what is shared may be exponentially larger than it is in memory.
    pub(super) fn fits(&self, most: usize) -> bool {
        fits(self.parts(), &mut { most })
    }

    /// Does the variable occur?
    pub fn mentions(&self, x: &Var) -> bool {
        matches!(self.kind(), Kind::Var(y) if x == y) || mentions(self.parts(), x)
    }

    /// `t[s/x]`, capturing nothing.
    pub fn subst(&self, x: &Var, s: &Term) -> Term {
        self.substitute(&Env::default().with(x, s.clone()))
    }

    /// Simultaneous substitution; all bound variables become fresh.
    pub fn substitute(&self, terms: &Env<Term>) -> Term {
        let go = |t: &Term| t.substitute(terms);
        let result = match self.kind() {
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
            Kind::LinLam(l) => linlam(l.substitute(terms)),
        };
        result.called(&self.name)
    }
}

impl Lin {
    fn new(kind: LinKind, from: LTy, to: LTy) -> Lin {
        Lin { kind: Rc::new(kind), from, to }
    }

    /// The construct.
    pub fn kind(&self) -> &LinKind {
        &self.kind
    }

    /// The type of the linear variable.
    pub fn from(&self) -> &LTy {
        &self.from
    }

    /// The type.
    pub fn to(&self) -> &LTy {
        &self.to
    }

    /// The immediate subterms of both kinds.
    fn parts(&self) -> (Vec<&Term>, Vec<&Lin>) {
        match self.kind() {
            LinKind::Var | LinKind::Unit | LinKind::Zero => (vec![], vec![]),
            LinKind::LOp(_, t, l) | LinKind::LPrim(_, t, l) => (vec![t], vec![l]),
            LinKind::App(l, t) | LinKind::Tensor(t, l) | LinKind::LinApp(t, l) => {
                (vec![t], vec![l])
            }
            LinKind::Pair(l, k) | LinKind::Plus(l, k) | LinKind::Case(l, _, k) => {
                (vec![], vec![l, k])
            }
            LinKind::Fst(l) | LinKind::Snd(l) | LinKind::Lam(_, l) => (vec![], vec![l]),
        }
    }

    /// The number of nodes.
    pub fn size(&self) -> usize {
        size(self.parts())
    }

    /// Does the Cartesian variable occur?
    pub fn mentions(&self, x: &Var) -> bool {
        mentions(self.parts(), x)
    }

    /// `l[t/x]` for a Cartesian variable.
    pub fn subst(&self, x: &Var, t: &Term) -> Lin {
        self.substitute(&Env::default().with(x, t.clone()))
    }

    /// Simultaneous substitution for Cartesian variables.
    pub fn substitute(&self, terms: &Env<Term>) -> Lin {
        self.replace(terms, &v(self.from.clone()))
    }

    /// `l[k/v]`: substitution for the linear variable, which is composition.
    pub fn after(&self, k: &Lin) -> Lin {
        assert_eq!(self.from, k.to, "`{self}` after `{k}`");
        self.replace(&Env::default(), k)
    }

    /// Simultaneous substitution for Cartesian variables and for `v`.
    fn replace(&self, terms: &Env<Term>, k: &Lin) -> Lin {
        let term = |t: &Term| t.substitute(terms);
        let go = |l: &Lin| l.replace(terms, k);
        match self.kind() {
            LinKind::Var => k.clone(),
            LinKind::LOp(o, t, l) => lop(*o, term(t), go(l)),
            LinKind::LPrim(p, t, l) => lprim(*p, term(t), go(l)),
            LinKind::Unit => lunit(k.from.clone()),
            LinKind::Pair(a, b) => lpair(go(a), go(b)),
            LinKind::Fst(l) => lfst(go(l)),
            LinKind::Snd(l) => lsnd(go(l)),
            LinKind::Lam(x, l) => {
                let y = x.refresh();
                labs(y.clone(), l.replace(&terms.with(x, var(&y)), k))
            }
            LinKind::App(l, t) => lapp(go(l), term(t)),
            LinKind::Tensor(t, l) => tensor(term(t), go(l)),
            LinKind::Case(l, x, body) => {
                let y = x.refresh();
                case(go(l), y.clone(), body.substitute(&terms.with(x, var(&y))))
            }
            LinKind::LinApp(t, l) => linapp(term(t), go(l)),
            LinKind::Zero => zero_lin(k.from.clone(), self.to.clone()),
            LinKind::Plus(a, b) => plus(go(a), go(b)),
        }
    }
}

fn fits((terms, linear): (Vec<&Term>, Vec<&Lin>), left: &mut usize) -> bool {
    let more = *left > 0;
    *left = left.saturating_sub(1);
    more && terms.into_iter().all(|t| fits(t.parts(), left))
        && linear.into_iter().all(|l| fits(l.parts(), left))
}

fn size((terms, linear): (Vec<&Term>, Vec<&Lin>)) -> usize {
    1 + terms.into_iter().map(Term::size).sum::<usize>()
        + linear.into_iter().map(Lin::size).sum::<usize>()
}

fn mentions((terms, linear): (Vec<&Term>, Vec<&Lin>), x: &Var) -> bool {
    terms.into_iter().any(|t| t.mentions(x)) || linear.into_iter().any(|l| l.mentions(x))
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
    Term::new(Kind::Prim(p, t), of_source_ty(&p.to()))
}

/// `<>`
pub fn unit() -> Term {
    Term::new(Kind::Unit, Ty::Unit)
}

/// `<t1, .., tk>`, nested to the left
pub fn tuple(items: &[Term]) -> Term {
    items.iter().cloned().reduce(pair).unwrap_or_else(unit)
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
    let Ty::Fun(_, to) = &t.ty else { panic!("{} is not a function type", t.ty) };
    let ty = (**to).clone();
    Term::new(Kind::App(t, s), ty)
}

/// `\_v. l` (L-11)
pub fn linlam(l: Lin) -> Term {
    let ty = l.from.clone().lolli(l.to.clone());
    Term::new(Kind::LinLam(l), ty)
}

/// `v` (L-1)
pub fn v(ty: LTy) -> Lin {
    Lin::new(LinKind::Var, ty.clone(), ty)
}

/// `lop(t; l)` (L-2)
pub fn lop(o: LOp, t: Term, l: Lin) -> Lin {
    let from = l.from.clone();
    Lin::new(LinKind::LOp(o, t, l), from, LTy::Real(o.cod()))
}

/// `lprim(t; l)` (Appendix F)
pub fn lprim(p: LPrim, t: Term, l: Lin) -> Lin {
    let from = l.from.clone();
    Lin::new(LinKind::LPrim(p, t, l), from, p.cod())
}

/// `<>` (L-3)
pub fn lunit(from: LTy) -> Lin {
    Lin::new(LinKind::Unit, from, LTy::Unit)
}

/// `<l, k>` (L-4)
pub fn lpair(l: Lin, k: Lin) -> Lin {
    assert_eq!(l.from, k.from, "`<{l}, {k}>` has two linear variables");
    let (from, to) = (l.from.clone(), l.to.clone().times(k.to.clone()));
    Lin::new(LinKind::Pair(l, k), from, to)
}

/// `fst l` (L-5)
pub fn lfst(l: Lin) -> Lin {
    let (from, to) = (l.from.clone(), l.to.components().0);
    Lin::new(LinKind::Fst(l), from, to)
}

/// `snd l` (L-6)
pub fn lsnd(l: Lin) -> Lin {
    let (from, to) = (l.from.clone(), l.to.components().1);
    Lin::new(LinKind::Snd(l), from, to)
}

/// `\y. l` (L-7)
pub fn labs(y: Var, l: Lin) -> Lin {
    let (from, to) = (l.from.clone(), l.to.clone().under(y.ty.clone()));
    Lin::new(LinKind::Lam(y, l), from, to)
}

/// `\y. l`, for a fresh variable
pub fn llam(hint: &str, ty: Ty, body: impl FnOnce(Term) -> Lin) -> Lin {
    let y = Var::fresh(hint, ty);
    let l = body(var(&y));
    labs(y, l)
}

/// `l t` (L-8)
pub fn lapp(l: Lin, t: Term) -> Lin {
    let LTy::Fun(_, to) = &l.to else { panic!("{} is not a function type", l.to) };
    let (from, to) = (l.from.clone(), (**to).clone());
    Lin::new(LinKind::App(l, t), from, to)
}

/// `!t (x) l` (L-9)
pub fn tensor(t: Term, l: Lin) -> Lin {
    let (from, to) = (l.from.clone(), l.to.clone().tensor(t.ty.clone()));
    Lin::new(LinKind::Tensor(t, l), from, to)
}

/// `case l of !y (x) v -> k` (L-10)
pub fn case(l: Lin, y: Var, k: Lin) -> Lin {
    let (from, to) = (l.from.clone(), k.to.clone());
    Lin::new(LinKind::Case(l, y, k), from, to)
}

/// `t{l}` (L-12)
pub fn linapp(t: Term, l: Lin) -> Lin {
    let Ty::Lolli(_, to) = &t.ty else { panic!("{} is not a linear function type", t.ty) };
    let (from, to) = (l.from.clone(), (**to).clone());
    Lin::new(LinKind::LinApp(t, l), from, to)
}

/// `0` (L-13)
pub fn zero_lin(from: LTy, to: LTy) -> Lin {
    Lin::new(LinKind::Zero, from, to)
}

/// `l + k` (L-14)
pub fn plus(l: Lin, k: Lin) -> Lin {
    assert_eq!((&l.from, &l.to), (&k.from, &k.to), "`{l}` and `{k}` cannot be added");
    let (from, to) = (l.from.clone(), l.to.clone());
    Lin::new(LinKind::Plus(l, k), from, to)
}

/// `let y = t in l := (\y. l) t` (L-15)
pub fn let_lin(hint: &str, t: Term, body: impl FnOnce(Term) -> Lin) -> Lin {
    lapp(llam(hint, t.ty.clone(), body), t)
}

#[cfg(test)]
mod tests;

//! Syntax, and substitution.

use std::rc::Rc;

use lambada_source::Span;

use super::{Construct, Language, LinearTerm, Parts, Rewrite, Ty, Var, of_source_ty};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::var::{Env, Name};

/// A term `Γ ⊢ t : T`. It knows its type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term<L: Language> {
    kind: Rc<Kind<L>>,
    ty: Ty<L>,
    name: Name,
}

/// `t ::= x | op(t) | prim(t) | <> | <t, s> | fst t | snd t | \x. t | t s`, and the constructs of
/// the language.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind<L: Language> {
    /// `x` (S-1)
    Var(Var<L>),
    /// `op(t)` (S-2)
    Op(Op, Term<L>),
    /// `prim(t)` (Appendix F)
    Prim(Primitive, Term<L>),
    /// `<>` (S-3)
    Unit,
    /// `<t, s>` (S-4)
    Pair(Term<L>, Term<L>),
    /// `fst t` (S-5)
    Fst(Term<L>),
    /// `snd t` (S-6)
    Snd(Term<L>),
    /// `\x. t` (S-7)
    Lam(Var<L>, Term<L>),
    /// `t s` (S-8)
    App(Term<L>, Term<L>),
    /// A construct of this language alone.
    Own(L::Own),
}

impl<L: Language> Term<L> {
    /// A term that says it has this type.
    pub(crate) fn new(kind: Kind<L>, ty: Ty<L>) -> Term<L> {
        Term { kind: Rc::new(kind), ty, name: Name::default() }
    }

    /// The construct.
    pub fn kind(&self) -> &Kind<L> {
        &self.kind
    }

    /// The type.
    pub fn ty(&self) -> &Ty<L> {
        &self.ty
    }

    /// The program's name for the value.
    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    /// Names the term, if it has no name yet.
    pub(crate) fn called(mut self, name: &Name) -> Term<L> {
        self.name = self.name.or(name);
        self
    }

    /// Its mention at another place.
    pub(crate) fn moved(&self, place: Span) -> Term<L> {
        Term { name: Name::at(place).or(&self.name), ..self.clone() }
    }

    fn parts(&self) -> Parts<'_, L> {
        match self.kind() {
            Kind::Var(_) | Kind::Unit => (vec![], vec![]),
            Kind::Op(_, t) | Kind::Prim(_, t) | Kind::Fst(t) | Kind::Snd(t) | Kind::Lam(_, t) => {
                (vec![t], vec![])
            }
            Kind::Pair(t, s) | Kind::App(t, s) => (vec![t, s], vec![]),
            Kind::Own(own) => own.parts(),
        }
    }

    /// The immediate subterms, without linear ones.
    pub fn children(&self) -> Vec<&Term<L>> {
        self.parts().0
    }

    /// The number of nodes, linear ones too.
    pub fn size(&self) -> usize {
        size::<L>(self.parts())
    }

    /// Whether the term has at most this many nodes. It counts no further, because a shared term
    /// may have exponentially more nodes as a tree than in memory.
    pub(crate) fn fits(&self, most: usize) -> bool {
        fits::<L>(self.parts(), &mut { most })
    }

    /// Whether the variable occurs.
    pub fn mentions(&self, x: &Var<L>) -> bool {
        matches!(self.kind(), Kind::Var(y) if x == y) || mentions::<L>(self.parts(), x)
    }

    /// `t[s/x]`, capturing nothing.
    pub fn subst(&self, x: &Var<L>, s: &Term<L>) -> Term<L> {
        self.substitute(&Env::default().with(x, s.clone()))
    }

    /// Simultaneous substitution; all bound variables become fresh.
    pub fn substitute(&self, terms: &Env<Term<L>>) -> Term<L> {
        self.replace(&Substitution { terms: terms.clone(), level: None })
    }

    /// See [`Substitution`].
    pub(crate) fn replace(&self, terms: &Substitution<L>) -> Term<L> {
        if let Kind::Var(x) = self.kind() {
            return terms.terms.get(x).unwrap_or_else(|| self.clone()).called(&self.name);
        }
        if let Kind::Lam(x, t) = self.kind() {
            let (y, inside) = terms.below(x);
            return abs(y, t.replace(&inside)).called(&self.name);
        }
        self.map(&mut &*terms)
    }

    /// Replaces the parts, by parts of the same types; binders stay.
    pub(crate) fn map(&self, to: &mut dyn Rewrite<L>) -> Term<L> {
        let kind = match self.kind() {
            Kind::Var(_) | Kind::Unit => return self.clone(),
            Kind::Op(o, t) => Kind::Op(o.clone(), to.term(t)),
            Kind::Prim(p, t) => Kind::Prim(*p, to.term(t)),
            Kind::Pair(t, s) => Kind::Pair(to.term(t), to.term(s)),
            Kind::Fst(t) => Kind::Fst(to.term(t)),
            Kind::Snd(t) => Kind::Snd(to.term(t)),
            Kind::Lam(x, t) => Kind::Lam(x.clone(), to.term(t)),
            Kind::App(t, s) => Kind::App(to.term(t), to.term(s)),
            Kind::Own(own) => Kind::Own(own.map(to)),
        };
        Term { kind: Rc::new(kind), ty: self.ty.clone(), name: self.name.clone() }
    }

    /// Replaces bound variables by de Bruijn levels, so that α-equivalent terms are equal.
    pub fn canonical(&self) -> Term<L> {
        self.replace(&Substitution::canonical())
    }
}

/// The number of nodes of a term with these parts.
pub(crate) fn size<L: Language>((terms, linear): Parts<'_, L>) -> usize {
    let linear = linear.into_iter().map(|l| size::<L>(l.parts())).sum::<usize>();
    1 + terms.into_iter().map(Term::size).sum::<usize>() + linear
}

fn fits<L: Language>((terms, linear): Parts<'_, L>, left: &mut usize) -> bool {
    let more = *left > 0;
    *left = left.saturating_sub(1);
    more && terms.into_iter().all(|t| fits::<L>(t.parts(), left))
        && linear.into_iter().all(|l| fits::<L>(l.parts(), left))
}

/// Whether the variable occurs in one of these parts.
pub(crate) fn mentions<L: Language>((terms, linear): Parts<'_, L>, x: &Var<L>) -> bool {
    terms.into_iter().any(|t| t.mentions(x))
        || linear.into_iter().any(|l| mentions::<L>(l.parts(), x))
}

/// Terms for variables. Bound variables become fresh, so that nothing is captured, or de Bruijn
/// levels.
#[derive(Clone, Debug)]
pub struct Substitution<L: Language> {
    pub(crate) terms: Env<Term<L>>,
    /// How many binders are around, if bound variables become levels.
    pub(crate) level: Option<u32>,
}

impl<L: Language> Substitution<L> {
    /// Nothing but levels for bound variables.
    pub(crate) fn canonical() -> Substitution<L> {
        Substitution { terms: Env::default(), level: Some(0) }
    }

    /// The image of a bound variable, and the substitution below its binder.
    pub(crate) fn below(&self, x: &Var<L>) -> (Var<L>, Substitution<L>) {
        let y = self.level.map_or_else(|| x.refresh(), |level| x.at_level(level));
        let (terms, level) = (self.terms.with(x, var(&y)), self.level.map(|level| level + 1));
        (y, Substitution { terms, level })
    }
}

impl<L: Language> Rewrite<L> for &Substitution<L> {
    fn term(&mut self, t: &Term<L>) -> Term<L> {
        t.replace(self)
    }

    fn linear(&mut self, l: &L::Lin) -> L::Lin {
        l.replace(self)
    }
}

/// `x`
pub fn var<L: Language>(x: &Var<L>) -> Term<L> {
    Term::new(Kind::Var(x.clone()), x.ty.clone())
}

/// `op(t)`
pub fn op<L: Language>(op: Op, t: Term<L>) -> Term<L> {
    let ty = Ty::Real(op.cod());
    Term::new(Kind::Op(op, t), ty)
}

/// `prim(t)`
pub fn prim<L: Language>(p: Primitive, t: Term<L>) -> Term<L> {
    Term::new(Kind::Prim(p, t), of_source_ty(&p.to()))
}

/// `op(t1, .., tk)`
pub fn op_at<L: Language>(o: Op, args: &[Term<L>]) -> Term<L> {
    op(o, tuple(args))
}

/// `c`, for `c(<>)`
pub fn constant<L: Language>(values: impl Into<Rc<[f64]>>) -> Term<L> {
    op(Op::constant(values), unit())
}

/// `<>`
pub fn unit<L: Language>() -> Term<L> {
    Term::new(Kind::Unit, Ty::Unit)
}

/// `<t, s>`
pub fn pair<L: Language>(t: Term<L>, s: Term<L>) -> Term<L> {
    let ty = t.ty.clone().times(s.ty.clone());
    Term::new(Kind::Pair(t, s), ty)
}

/// `<t1, .., tk>`, nested to the left
pub fn tuple<L: Language>(items: &[Term<L>]) -> Term<L> {
    items.iter().cloned().reduce(pair).unwrap_or_else(unit)
}

/// `fst t`
pub fn fst<L: Language>(t: Term<L>) -> Term<L> {
    let ty = t.ty.components().0;
    Term::new(Kind::Fst(t), ty)
}

/// `snd t`
pub fn snd<L: Language>(t: Term<L>) -> Term<L> {
    let ty = t.ty.components().1;
    Term::new(Kind::Snd(t), ty)
}

/// `\x. t`, for a given variable
pub fn abs<L: Language>(x: Var<L>, t: Term<L>) -> Term<L> {
    let ty = x.ty.clone().to(t.ty.clone());
    Term::new(Kind::Lam(x, t), ty)
}

/// `\x. t`, for a fresh variable
pub fn lam<L: Language>(hint: &str, ty: Ty<L>, body: impl FnOnce(Term<L>) -> Term<L>) -> Term<L> {
    let x = Var::<L>::fresh(hint, ty);
    let t = body(var(&x));
    abs(x, t)
}

/// `t s`
pub fn app<L: Language>(t: Term<L>, s: Term<L>) -> Term<L> {
    let ty = t.ty.arrow().1;
    Term::new(Kind::App(t, s), ty)
}

/// `let x = t in s := (\x. s) t` (S-9)
pub fn let_<L: Language>(hint: &str, t: Term<L>, body: impl FnOnce(Term<L>) -> Term<L>) -> Term<L> {
    app(lam(hint, t.ty.clone(), body), t)
}

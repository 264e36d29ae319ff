//! Translations between languages that keep the common constructs: the mirror image of T-12, and
//! `(-)†`.

use super::{Kind, Language, Term, Ty, Var, abs, app, fst, op, pair, prim, snd, unit, var};
use crate::var::Env;

/// A translation's images of the types and constructs that only its source language has.
pub(crate) struct Translation<L: Language, M: Language> {
    /// To types.
    pub ty: fn(&Ty<L>) -> Ty<M>,
    /// To the constructs of the language, with terms for the variables around.
    pub own: fn(&L::Own, &Env<Term<M>>) -> Term<M>,
}

impl<L: Language, M: Language> Translation<L, M> {
    /// The variable at its translated type.
    pub fn var(&self, x: &Var<L>) -> Var<M> {
        Var::<M> { id: x.id, hint: x.hint.clone(), ty: (self.ty)(&x.ty) }
    }

    /// The image of a bound variable, fresh to avoid capture, and the terms below its binder.
    pub fn below(&self, x: &Var<L>, terms: &Env<Term<M>>) -> (Var<M>, Env<Term<M>>) {
        let y = self.var(x).refresh();
        let inside = terms.with(x, var(&y));
        (y, inside)
    }

    /// The translation of a term, with terms for variables; other variables stay, at another type.
    pub fn term(&self, t: &Term<L>, terms: &Env<Term<M>>) -> Term<M> {
        let go = |t: &Term<L>| self.term(t, terms);
        match t.kind() {
            Kind::Var(x) => terms.get(x).unwrap_or_else(|| var(&self.var(x))),
            Kind::Op(o, t) => op(o.clone(), go(t)),
            Kind::Prim(p, t) => prim(*p, go(t)),
            Kind::Unit => unit(),
            Kind::Pair(t, s) => pair(go(t), go(s)),
            Kind::Fst(t) => fst(go(t)),
            Kind::Snd(t) => snd(go(t)),
            Kind::Lam(x, t) => {
                let (y, inside) = self.below(x, terms);
                abs(y, self.term(t, &inside))
            }
            Kind::App(t, s) => app(go(t), go(s)),
            Kind::Own(own) => (self.own)(own, terms),
        }
    }
}

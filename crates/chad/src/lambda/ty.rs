//! Types.

use std::rc::Rc;

use super::{Language, Source};

/// A type: `T, S, R ::= real^n | 1 | T * S | T -> S`, and those of the language.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ty<L: Language> {
    /// `real^n`
    Real(usize),
    /// `1`
    Unit,
    /// `T * S`
    Prod(Rc<Ty<L>>, Rc<Ty<L>>),
    /// `T -> S`
    Fun(Rc<Ty<L>>, Rc<Ty<L>>),
    /// A type of this language alone.
    Own(L::Ty),
}

/// `real := real^1`
pub const REAL: Ty<Source> = Ty::Real(1);

impl<L: Language> Ty<L> {
    /// `self * other`
    pub fn times(self, other: Ty<L>) -> Ty<L> {
        Ty::Prod(Rc::new(self), Rc::new(other))
    }

    /// `self -> to`
    pub fn to(self, to: Ty<L>) -> Ty<L> {
        Ty::Fun(Rc::new(self), Rc::new(to))
    }

    /// `Dom(op) = real^n1 * .. * real^nk`, nested to the left.
    pub fn dom(sizes: &[usize]) -> Ty<L> {
        sizes.iter().map(|n| Ty::Real(*n)).reduce(Ty::times).unwrap_or(Ty::Unit)
    }

    pub(crate) fn components(&self) -> (Ty<L>, Ty<L>) {
        match self {
            Ty::Prod(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Fun(..) | Ty::Own(_) => panic!("{self} is not a product"),
        }
    }

    pub(crate) fn arrow(&self) -> (Ty<L>, Ty<L>) {
        match self {
            Ty::Fun(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Prod(..) | Ty::Own(_) => {
                panic!("{self} is not a function type")
            }
        }
    }

    /// The type in another language; `own` translates the types that only this one has.
    pub(crate) fn translate<M: Language>(&self, own: &impl Fn(&L::Ty) -> Ty<M>) -> Ty<M> {
        match self {
            Ty::Real(n) => Ty::Real(*n),
            Ty::Unit => Ty::Unit,
            Ty::Prod(a, b) => a.translate(own).times(b.translate(own)),
            Ty::Fun(a, b) => a.translate(own).to(b.translate(own)),
            Ty::Own(ty) => own(ty),
        }
    }
}

impl Ty<Source> {
    /// Whether it contains no function type.
    pub fn first_order(&self) -> bool {
        self.order() == 0
    }

    /// 0 for first-order types, and one more than that of the argument for functions.
    pub fn order(&self) -> usize {
        match self {
            Ty::Real(_) | Ty::Unit => 0,
            Ty::Prod(a, b) => a.order().max(b.order()),
            Ty::Fun(a, b) => (a.order() + 1).max(b.order()),
            Ty::Own(never) => match *never {},
        }
    }
}

/// The types of the source language are types of every language.
pub fn of_source_ty<L: Language>(ty: &Ty<Source>) -> Ty<L> {
    ty.translate(&|never| match *never {})
}

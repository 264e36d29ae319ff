//! Types of the source language.

use std::rc::Rc;

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

    pub(super) fn components(&self) -> (Ty, Ty) {
        match self {
            Ty::Prod(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Fun(..) => panic!("{self} is not a product"),
        }
    }
}

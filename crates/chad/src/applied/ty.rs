//! Types of the applied target language.

use std::rc::Rc;

/// `T, S ::= real^n | 1 | T * S | T -> S | LFun(T, S) | Tens(T, S)`: no distinction between linear and Cartesian types.
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
    /// `LFun(T, S)`: linear functions.
    LFun(Rc<Ty>, Rc<Ty>),
    /// `Tens(T, S)`: the copower `!T (x) S`.
    Tens(Rc<Ty>, Rc<Ty>),
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

    /// `LFun(self, to)`
    pub fn lfun(self, to: Ty) -> Ty {
        Ty::LFun(Rc::new(self), Rc::new(to))
    }

    /// `Tens(key, self)`
    pub fn tens(self, key: Ty) -> Ty {
        Ty::Tens(Rc::new(key), Rc::new(self))
    }

    /// `Dom(op)`, `LDom(lop)`
    pub fn dom(sizes: &[usize]) -> Ty {
        sizes.iter().map(|n| Ty::Real(*n)).reduce(Ty::times).unwrap_or(Ty::Unit)
    }

    pub(crate) fn components(&self) -> (Ty, Ty) {
        match self {
            Ty::Prod(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Fun(..) | Ty::LFun(..) | Ty::Tens(..) => {
                panic!("{self} is not a product")
            }
        }
    }

    pub(crate) fn arrow(&self) -> (Ty, Ty) {
        match self {
            Ty::Fun(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Prod(..) | Ty::LFun(..) | Ty::Tens(..) => {
                panic!("{self} is not a function type")
            }
        }
    }

    /// The ends of a linear function type.
    pub(crate) fn ends(&self) -> (Ty, Ty) {
        match self {
            Ty::LFun(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Prod(..) | Ty::Fun(..) | Ty::Tens(..) => {
                panic!("{self} is not a linear function type")
            }
        }
    }
}

//! Types of the linear target language: Cartesian ones and linear ones.

use std::rc::Rc;

use crate::source;

/// A Cartesian type: `T, S, R ::= real^n | 1 | T * S | T -> S | σ -o τ`.
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
    /// `σ -o τ`: Cartesian, not linear.
    Lolli(Rc<LTy>, Rc<LTy>),
}

/// A linear type: `σ, τ, ρ ::= real^n | 1 | σ * τ | T -> τ | !T (x) τ`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LTy {
    /// `real^n`, underlined in the paper
    Real(usize),
    /// `1`
    Unit,
    /// `σ * τ`, a biproduct
    Prod(Rc<LTy>, Rc<LTy>),
    /// `T -> τ`
    Fun(Rc<Ty>, Rc<LTy>),
    /// `!T (x) τ`
    Tensor(Rc<Ty>, Rc<LTy>),
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

    /// `Dom(op)`
    pub fn dom(sizes: &[usize]) -> Ty {
        sizes.iter().map(|n| Ty::Real(*n)).reduce(Ty::times).unwrap_or(Ty::Unit)
    }

    pub(crate) fn components(&self) -> (Ty, Ty) {
        match self {
            Ty::Prod(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Fun(..) | Ty::Lolli(..) => {
                panic!("{self} is not a product")
            }
        }
    }

    pub(crate) fn arrow(&self) -> (Ty, Ty) {
        match self {
            Ty::Fun(a, b) => ((**a).clone(), (**b).clone()),
            Ty::Real(_) | Ty::Unit | Ty::Prod(..) | Ty::Lolli(..) => {
                panic!("{self} is not a function type")
            }
        }
    }
}

impl LTy {
    /// `self * other`
    pub fn times(self, other: LTy) -> LTy {
        LTy::Prod(Rc::new(self), Rc::new(other))
    }

    /// `from -> self`
    pub fn under(self, from: Ty) -> LTy {
        LTy::Fun(Rc::new(from), Rc::new(self))
    }

    /// `!key (x) self`
    pub fn tensor(self, key: Ty) -> LTy {
        LTy::Tensor(Rc::new(key), Rc::new(self))
    }

    /// `self -o to`
    pub fn lolli(self, to: LTy) -> Ty {
        Ty::Lolli(Rc::new(self), Rc::new(to))
    }

    /// `LDom(lop)`
    pub fn dom(sizes: &[usize]) -> LTy {
        sizes.iter().map(|n| LTy::Real(*n)).reduce(LTy::times).unwrap_or(LTy::Unit)
    }

    pub(crate) fn components(&self) -> (LTy, LTy) {
        match self {
            LTy::Prod(a, b) => ((**a).clone(), (**b).clone()),
            LTy::Real(_) | LTy::Unit | LTy::Fun(..) | LTy::Tensor(..) => {
                panic!("{self} is not a product")
            }
        }
    }
}

/// The types of the source language are Cartesian types.
pub fn of_source_ty(ty: &source::Ty) -> Ty {
    match ty {
        source::Ty::Real(n) => Ty::Real(*n),
        source::Ty::Unit => Ty::Unit,
        source::Ty::Prod(a, b) => of_source_ty(a).times(of_source_ty(b)),
        source::Ty::Fun(a, b) => of_source_ty(a).to(of_source_ty(b)),
        source::Ty::Own(never) => match *never {},
    }
}

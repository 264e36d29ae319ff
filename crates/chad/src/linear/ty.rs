//! Types of the linear target language: Cartesian ones and linear ones.

use std::rc::Rc;

use super::Linear;
use crate::lambda;

/// A Cartesian type.
pub type Ty = lambda::Ty<Linear>;

/// `T, S, R ::= .. | σ -o τ`: Cartesian, not linear.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lolli(pub Rc<LTy>, pub Rc<LTy>);

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
        Ty::Own(Lolli(Rc::new(self), Rc::new(to)))
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

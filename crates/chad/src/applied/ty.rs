//! Types of the applied target language.

use std::rc::Rc;

use super::Applied;
use crate::lambda::{self, OwnTy};

/// A type: no distinction between linear and Cartesian ones.
pub type Ty = lambda::Ty<Applied>;

/// The abstract types of a module: `T, S ::= .. | LFun(T, S) | Tens(T, S)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Abstract {
    /// `LFun(T, S)`: linear functions.
    LFun(Rc<Ty>, Rc<Ty>),
    /// `Tens(T, S)`: the copower `!T (x) S`.
    Tens(Rc<Ty>, Rc<Ty>),
}

impl OwnTy for Abstract {
    fn text(&self, _: u8) -> String {
        match self {
            Abstract::LFun(a, b) => format!("LFun({a}, {b})"),
            Abstract::Tens(a, b) => format!("Tens({a}, {b})"),
        }
    }
}

impl Ty {
    /// `LFun(self, to)`
    pub fn lfun(self, to: Ty) -> Ty {
        Ty::Own(Abstract::LFun(Rc::new(self), Rc::new(to)))
    }

    /// `Tens(key, self)`
    pub fn tens(self, key: Ty) -> Ty {
        Ty::Own(Abstract::Tens(Rc::new(key), Rc::new(self)))
    }

    /// The ends of a linear function type.
    pub(crate) fn ends(&self) -> (Ty, Ty) {
        let Ty::Own(Abstract::LFun(a, b)) = self else {
            panic!("{self} is not a linear function type")
        };
        ((**a).clone(), (**b).clone())
    }
}

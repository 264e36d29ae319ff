//! Derivatives that the author of a function gives. They take the place of those of its body where
//! the function is called.
//!
//! ```text
//!   f    : (c…, x…) -> y…          captured c…, parameters x…, results y…
//!   jvp  : (c…, x…, y…, ẋ…) -> ẏ…   linear in ẋ…
//!   vjp  : (c…, x…, y…, ȳ…) -> x̄…   linear in ȳ…
//! ```
//!
//! Of the parameters and of the results, those that are real or handles have a tangent and a
//! cotangent, of the same type. What is captured has none: a rule does not speak of it. Rules are
//! ordinary functions of the library, and are differentiated as such.

use lambada_source::Span;

use crate::{Elem, FnId, Ty};

/// The rules of a function, at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// How many of the first parameters are captured.
    pub captured: usize,
    /// From tangents of the parameters to those of the results.
    pub jvp: Option<Rule>,
    /// From cotangents of the results to those of the parameters.
    pub vjp: Option<Rule>,
    /// The place of the function.
    pub span: Span,
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Its function.
    pub function: FnId,
    /// Its place.
    pub span: Span,
}

impl Rules {
    /// The rules that there are.
    pub fn all(&self) -> impl Iterator<Item = &Rule> {
        self.jvp.iter().chain(&self.vjp)
    }
}

/// Has a value of this type a tangent and a cotangent: is it real, or a handle?
pub fn differentiable(ty: &Ty) -> bool {
    match ty.elem {
        Elem::Scalar(_) => ty.elem == Elem::REAL,
        Elem::Ref(_) => true,
    }
}

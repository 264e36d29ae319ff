//! Derivative rules: derivatives that the author of a function gives, which calls of the function
//! have in place of those of its body.
//!
//! ```text
//!   f    : (c…, x…) -> y…          captured c…, parameters x…, results y…
//!   jvp  : (c…, x…, y…, ẋ…) -> ẏ…   linear in ẋ…
//!   vjp  : (c…, x…, y…, ȳ…) -> x̄…   linear in ȳ…
//! ```
//!
//! Parameters and results that are real or handles have a tangent and a cotangent of the same type.
//! Captured values have none: a rule does not speak of them. Rules are ordinary functions of the
//! library, and are differentiated as such.

use lambada_source::Span;

use crate::{Elem, FnId, Ty};

/// The rules of a function, at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The number of captured values, which are the first parameters.
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

/// Whether values of this type have a tangent and a cotangent: reals and handles.
pub fn differentiable(ty: &Ty) -> bool {
    match ty.elem {
        Elem::Scalar(_) => ty.elem == Elem::REAL,
        Elem::Ref(_) => true,
    }
}

//! Functions that people know by name. No pass inlines them, because a call of one, or of its
//! derivative, says more to a reader than its body.
//!
//! ```text
//!   f    (s…, x…) -> (s…, y…)           f x y
//!   jvp  (s…, x…, y…, ẋ…) -> ẏ…          (jvp f x dx).1
//!   vjp  (s…, x…, y…, ȳ…) -> x̄…          (vjp f x).1 d
//! ```
//!
//! Sizes `s…` and the values `y…` that a derivative is given do not stand in the text.

use lambada_source::CallText;

/// A function with a name in the text that people read.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The text of its calls.
    pub text: CallText,
    /// The derivative that the function computes, if it is not the named function itself.
    pub derivative: Option<Derivative>,
    /// The number of components of the named function's result.
    pub components: usize,
    /// The arguments, made of the data of the call.
    pub arguments: Vec<Argument>,
    /// The names of the components, if the result is a record.
    pub fields: Vec<String>,
    /// The roles of the parameters.
    pub params: Vec<Role>,
    /// The roles of the results.
    pub results: Vec<Role>,
}

impl Known {
    /// Whether the text defines the function.
    pub fn is_defined(&self) -> bool {
        self.text.is_defined && self.derivative.is_none()
    }
}

/// The derivatives of a known function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// Its tangent.
    Jvp,
    /// Its pullback.
    Vjp,
}

/// An argument of a call, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A scalar or an array of scalars, by position among all data.
    Data(usize),
    /// `(a, b)`
    Tuple(Vec<Argument>),
    /// `{a = x, b = y}`
    Record(Vec<(String, Argument)>),
}

/// The part of a call that a parameter or a result is, by position among the data or the
/// components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// No part of the text.
    Implicit,
    /// The length of a component of the result.
    Length(usize),
    /// A datum.
    Argument(usize),
    /// The tangent of a datum.
    Tangent(usize),
    /// The cotangent of a component of the result.
    Cotangent(usize),
    /// A component of the result, or its tangent.
    Component(usize),
}

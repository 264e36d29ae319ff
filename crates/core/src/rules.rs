//! Functions with custom derivatives. A rule is a function of the parameters, optionally the
//! function's value there, and then the tangents or the cotangent.
//!
//! ```text
//!   function  t1 -> … -> tk -> r                     r first-order
//!   jvp       t1 -> … -> tk [-> r] -> t1 -> … -> tk -> r
//!   vjp       t1 -> … -> tk [-> r] -> r -> (c1, …, ck)    one part alone, if k = 1
//! ```
//!
//! A function parameter has a tangent of the same type: `df x` is the tangent of `f x` at a fixed
//! `x`. Its cotangent is a formal sum: an array of points with the cotangents of the values there.
//! So c is `[](a, b)` for `a -> b`, and t for all other t. A rule that *adds* takes one more
//! function `(a, b) -> ()` for each such parameter, which adds a pair to the sum, and returns `()`
//! in its place, so that the pairs of a long loop need no array.
//!
//! A rule differentiates with respect to the parameters only: captured variables of the function
//! and its rules are constants.

use std::rc::Rc;

use lambada_source::{CallText, Span};

use crate::{Term, TermKind, Ty};

/// A function with at least one rule.
#[derive(Clone, Debug)]
pub struct Ruled {
    /// Its name in the source.
    pub name: Rc<str>,
    /// Whether it belongs to the library.
    pub library: bool,
    /// How people read its calls and those of its derivatives, if they know it by a name. Its rules
    /// are its derivatives then.
    pub known: Option<CallText>,
    /// The function: one λ for each parameter.
    pub function: Term,
    /// From tangents of the parameters to the tangent of the result.
    pub jvp: Option<Rule>,
    /// From the cotangent of the result to those of the parameters.
    pub vjp: Option<Rule>,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Whether it deliberately differs from the derivative.
    pub pseudo: bool,
    /// Whether it takes the value of the function after the parameters.
    pub takes_value: bool,
    /// Whether it takes functions that add to the cotangents of function parameters. Only a rule
    /// `vjp` may.
    pub adds: bool,
    /// The rule: a λ for each of these arguments.
    pub function: Term,
    /// Its place in the source.
    pub span: Span,
}

impl Ruled {
    /// The types of the parameters and of the result.
    pub fn signature(&self) -> (Vec<Ty>, Ty) {
        let (mut params, mut ty) = (Vec::new(), self.function.ty());
        while let Ty::Fun(from, to) = ty {
            params.push((**from).clone());
            ty = to;
        }
        (params, ty.clone())
    }

    /// Whether the rule `jvp` mentions no tangent. Then the derivative is zero, whatever the
    /// function is.
    pub fn is_constant(&self) -> bool {
        let Some(rule) = &self.jvp else { return false };
        let (mut params, mut body) = (Vec::new(), &rule.function);
        while let TermKind::Lam(param, inner) = body.kind() {
            params.push(param.id);
            body = inner;
        }
        let first = self.signature().0.len() + usize::from(rule.takes_value);
        let tangents = &params[first.min(params.len())..];
        !body.free_vars().iter().any(|x| tangents.contains(&x.id))
    }

    /// The existing rules, in this order: `jvp`, `vjp`.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.jvp.iter().chain(&self.vjp)
    }

    /// The type of the rule `jvp`.
    pub fn jvp_ty(&self, takes_value: bool) -> Ty {
        let (params, result) = self.signature();
        let tangents = funs(&params, result.clone());
        funs(&params, if takes_value { Ty::fun(result, tangents) } else { tangents })
    }

    /// The type of the rule `vjp`.
    pub fn vjp_ty(&self, takes_value: bool, adds: bool) -> Ty {
        let (params, result) = self.signature();
        let part = |param| if adds { rest(param) } else { cotangent(param) };
        let parts: Vec<Ty> = params.iter().map(part).collect();
        let all = if let [part] = &parts[..] { part.clone() } else { Ty::tuple(parts) };
        let adders: Vec<Ty> = params.iter().filter(|_| adds).filter_map(adder).collect();
        let pullback = Ty::fun(result.clone(), funs(&adders, all));
        funs(&params, if takes_value { Ty::fun(result, pullback) } else { pullback })
    }
}

/// The type of the function that adds to the cotangent of a function parameter; `None` for other
/// parameters.
pub fn adder(param: &Ty) -> Option<Ty> {
    let Ty::Fun(from, to) = param else { return None };
    Some(Ty::fun(Ty::tuple([(**from).clone(), (**to).clone()]), Ty::unit()))
}

/// The result type of an adding rule for a parameter.
fn rest(param: &Ty) -> Ty {
    if let Ty::Fun(..) = param { Ty::unit() } else { param.clone() }
}

/// The cotangent type of a parameter in a rule.
pub fn cotangent(param: &Ty) -> Ty {
    let Ty::Fun(from, to) = param else { return param.clone() };
    Ty::array(Ty::tuple([(**from).clone(), (**to).clone()]))
}

fn funs(params: &[Ty], result: Ty) -> Ty {
    params.iter().rev().fold(result, |to, from| Ty::fun(from.clone(), to))
}

impl Term {
    /// The function without its rules.
    pub fn without_rules(&self) -> &Term {
        if let TermKind::Ruled(ruled) = self.kind() { &ruled.function } else { self }
    }

    /// Whether the term is a λ, perhaps with rules.
    pub fn is_function(&self) -> bool {
        matches!(self.without_rules().kind(), TermKind::Lam(..))
    }
}

//! The derivatives of Appendices A and C as they stand: both components as terms over one variable,
//! and their meanings at a point.
//!
//! They are exponentially larger than their programs (E26), so [`size`] computes their size before
//! they are written down.

use crate::applied;
use crate::combinators::{Comb, CombKind};
use crate::linear::{self, Lin};
use crate::op::Op;
use crate::pairs::{AppliedForward, AppliedReverse};
use crate::value::Value;
use crate::var::{Env, Var};
use crate::{forward, reverse};

/// Appendix A's derivative: `x : D(T)_1 ⊢ first`, and `x : D(T)_1; v ⊢ second`.
pub struct Derived {
    /// `x`
    pub x: linear::Var,
    /// `D(t)_1`
    pub first: linear::Term,
    /// `D(t)_2`
    pub second: Lin,
}

impl Derived {
    /// `D→(t)`
    pub fn forward(t: &Comb) -> Derived {
        let x = Var::fresh("x", forward::primal_ty(t.from()));
        let v = linear::v(forward::tangent_ty(t.from()));
        Derived {
            first: forward::primal(t, &linear::var(&x)),
            second: forward::tangent(t, &linear::var(&x), &v),
            x,
        }
    }

    /// `D←(t)`
    pub fn reverse(t: &Comb) -> Derived {
        let x = Var::fresh("x", reverse::primal_ty(t.from()));
        let v = linear::v(reverse::cotangent_ty(t.to()));
        Derived {
            first: reverse::primal(t, &linear::var(&x)),
            second: reverse::cotangent(t, &linear::var(&x), &v),
            x,
        }
    }

    /// Forward, then reverse.
    pub fn both(t: &Comb) -> [Derived; 2] {
        [Derived::forward(t), Derived::reverse(t)]
    }

    /// `⟦D(t)_1⟧(x)`
    pub fn first(&self, x: &Value) -> Value {
        linear::eval(&self.first, &Env::default().with(&self.x, x.clone()))
    }

    /// `⟦D(t)_2⟧(x)(v)`
    pub fn second(&self, x: &Value, v: &Value) -> Value {
        linear::eval_linear(&self.second, &Env::default().with(&self.x, x.clone()), v)
    }

    /// Through `†`, into the applied language.
    pub fn dagger(&self) -> Applied {
        let x = Var::fresh(&self.x.hint, applied::dagger_ty(&self.x.ty));
        let env = Env::default().with(&self.x, applied::var(&x));
        Applied {
            first: applied::dagger(&self.first, &env),
            second: applied::dagger_linear(&self.second, &env),
            x,
        }
    }
}

/// Appendix C's derivative: `x : D(T)_1 ⊢ first` and `x : D(T)_1 ⊢ second : LFun(…)`.
pub struct Applied {
    /// `x`
    pub x: applied::Var,
    /// `D(t)_1`
    pub first: applied::Term,
    /// `D(t)_2`
    pub second: applied::Term,
}

impl Applied {
    /// `D→(t)`
    pub fn forward(t: &Comb) -> Applied {
        let x = Var::fresh("x", AppliedForward::primal_ty(t.from()));
        let at = applied::var(&x);
        Applied { first: AppliedForward::primal(t, &at), second: AppliedForward::second(t, &at), x }
    }

    /// `D←(t)`
    pub fn reverse(t: &Comb) -> Applied {
        let x = Var::fresh("x", AppliedReverse::primal_ty(t.from()));
        let at = applied::var(&x);
        Applied { first: AppliedReverse::primal(t, &at), second: AppliedReverse::second(t, &at), x }
    }

    /// Forward, then reverse.
    pub fn both(t: &Comb) -> [Applied; 2] {
        [Applied::forward(t), Applied::reverse(t)]
    }

    /// `⟦D(t)_1⟧(x)`
    pub fn first(&self, x: &Value) -> Value {
        applied::eval(&self.first, &Env::default().with(&self.x, x.clone()))
    }

    /// `⟦D(t)_2⟧(x)(v)`
    pub fn second(&self, x: &Value, v: &Value) -> Value {
        applied::eval(&self.second, &Env::default().with(&self.x, x.clone())).linear().lapp(v)
    }

    /// `D(t)_1[x]` as a closed term, at a first-order value.
    pub fn first_at(&self, x: &Value) -> applied::Term {
        self.first.subst(&self.x, &quote(x))
    }

    /// `lapp(D(t)_2[x], v)` as a closed term, at first-order values.
    pub fn second_at(&self, x: &Value, v: &Value) -> applied::Term {
        applied::lapp(self.second.subst(&self.x, &quote(x)), quote(v))
    }
}

/// A first-order value as a closed term of the applied language.
pub fn quote(value: &Value) -> applied::Term {
    match value {
        Value::Real(values) => applied::op(Op::constant(values.clone()), applied::unit()),
        Value::Unit => applied::unit(),
        Value::Pair(_) => applied::pair(quote(&value.fst()), quote(&value.snd())),
        Value::Fun(_) | Value::Sum(_) | Value::LinFun(_) | Value::Copower(_) => {
            panic!("{value:?} is not first-order")
        }
    }
}

/// About how many nodes the larger of the second components of both derivatives has. It may be
/// astronomical, hence no integer.
pub fn size(t: &Comb) -> f64 {
    sizes(t).derivative
}

/// The sizes of both components, and how often they mention their variables.
struct Sizes {
    primal: f64,
    primal_x: f64,
    derivative: f64,
    derivative_x: f64,
    derivative_v: f64,
}

fn sizes(t: &Comb) -> Sizes {
    let size = |primal, primal_x, derivative, derivative_x, derivative_v| Sizes {
        primal,
        primal_x,
        derivative,
        derivative_x,
        derivative_v,
    };
    match t.kind() {
        CombKind::Id | CombKind::Fst | CombKind::Snd | CombKind::Unit => {
            size(1.0, 1.0, 2.0, 0.0, 1.0)
        }
        // Each argument is a component of a product that nests to the left.
        CombKind::Op(op) => {
            let k = op.dom().len() as f64;
            size(1.0, 1.0, 8.0 + k * k, k, k.max(2.0))
        }
        CombKind::Prim(_) => size(6.0, 2.0, 30.0, 7.0, 2.0),
        CombKind::Ev => size(4.0, 2.0, 8.0, 2.0, 2.0),
        CombKind::Then(t, s) => {
            let (t, s) = (sizes(t), sizes(s));
            let derivative =
                s.derivative + s.derivative_x * t.primal + s.derivative_v * t.derivative;
            let derivative_x = s.derivative_x * t.primal_x + s.derivative_v * t.derivative_x;
            let (primal, primal_x) = (s.primal + s.primal_x * t.primal, s.primal_x * t.primal_x);
            size(primal, primal_x, derivative, derivative_x, s.derivative_v * t.derivative_v)
        }
        CombKind::Pair(t, s) => {
            let (t, s) = (sizes(t), sizes(s));
            let (primal, derivative) = (t.primal + s.primal, t.derivative + s.derivative);
            size(
                primal,
                t.primal_x + s.primal_x,
                derivative,
                t.derivative_x + s.derivative_x,
                t.derivative_v + s.derivative_v,
            )
        }
        CombKind::Curry(t) => {
            let t = sizes(t);
            let (primal, primal_x) = (t.primal + t.derivative, t.primal_x + t.derivative_x);
            size(2.0 * primal, primal_x, 2.0 * t.derivative, t.derivative_x, t.derivative_v)
        }
    }
}

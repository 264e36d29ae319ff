//! Scalar expressions over the arguments of a primitive: the form in which partial derivatives are
//! written down.
//!
//! The operators and functions of this file make rows read like mathematics: the partials of
//! `atan2 y x` are `x / (x² + y²)` and `-y / (x² + y²)`, written with [`Expr`] values.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::{Prim, Scalar};

/// An expression over the arguments and the result of one application of a primitive.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// The k-th argument.
    Arg(usize),
    /// The result of the application itself: `exp` is its own derivative.
    Out,
    /// A constant.
    Lit(Scalar),
    /// A primitive applied to expressions.
    Prim(Prim, Vec<Expr>),
}

/// The constructors of a language's expressions, for `emit`.
pub trait Instance {
    /// An expression, usually an atom; cheap to clone.
    type Value: Clone;

    /// A primitive applied.
    fn prim(&mut self, prim: Prim, args: Vec<Self::Value>) -> Self::Value;

    /// A constant.
    fn lit(&mut self, value: Scalar) -> Self::Value;
}

/// Two functions are an instance.
struct Functions<'a, T> {
    prim: &'a mut dyn FnMut(Prim, Vec<T>) -> T,
    lit: &'a mut dyn FnMut(Scalar) -> T,
}

impl<T: Clone> Instance for Functions<'_, T> {
    type Value = T;

    fn prim(&mut self, prim: Prim, args: Vec<T>) -> T {
        (self.prim)(prim, args)
    }

    fn lit(&mut self, value: Scalar) -> T {
        (self.lit)(value)
    }
}

impl Expr {
    /// The expression in some language, at these arguments and this result.
    pub fn emit<T: Clone>(
        &self,
        args: &[T],
        out: T,
        prim: &mut dyn FnMut(Prim, Vec<T>) -> T,
        lit: &mut dyn FnMut(Scalar) -> T,
    ) -> T {
        self.emit_with(args, &out, &mut Functions { prim, lit })
    }

    /// The product of the partial derivative `self` and the tangent or cotangent `d`, see
    /// [`Expr::scaled`].
    pub fn emit_scaled<T: Clone>(
        &self,
        args: &[T],
        out: T,
        d: T,
        prim: &mut dyn FnMut(Prim, Vec<T>) -> T,
        lit: &mut dyn FnMut(Scalar) -> T,
    ) -> T {
        self.scaled(args, &out, d, &mut Functions { prim, lit })
    }

    /// [`Expr::emit`] for an [`Instance`].
    pub fn emit_with<I: Instance>(
        &self,
        args: &[I::Value],
        out: &I::Value,
        to: &mut I,
    ) -> I::Value {
        match self {
            Expr::Arg(k) => args[*k].clone(),
            Expr::Out => out.clone(),
            Expr::Lit(value) => to.lit(*value),
            Expr::Prim(prim, items) => {
                let items = items.iter().map(|item| item.emit_with(args, out, to)).collect();
                to.prim(*prim, items)
            }
        }
    }

    /// The product of the partial derivative `self` and the tangent or cotangent `d`. To avoid
    /// `0 * inf`, `1` gives `d`, `-1` gives `-d`, `0` gives `0`, and a choice becomes a choice
    /// between products.
    pub fn scaled<I: Instance>(
        &self,
        args: &[I::Value],
        out: &I::Value,
        d: I::Value,
        to: &mut I,
    ) -> I::Value {
        match self {
            Expr::Lit(Scalar::Real(1.0)) => d,
            Expr::Lit(Scalar::Real(-1.0)) => to.prim(Prim::Neg, vec![d]),
            Expr::Lit(Scalar::Real(0.0)) => to.lit(Scalar::Real(0.0)),
            Expr::Prim(Prim::Select, items) => {
                let cond = items[0].emit_with(args, out, to);
                let yes = items[1].scaled(args, out, d.clone(), to);
                let no = items[2].scaled(args, out, d, to);
                to.prim(Prim::Select, vec![cond, yes, no])
            }
            Expr::Arg(_) | Expr::Out | Expr::Lit(_) | Expr::Prim(..) => {
                let factor = self.emit_with(args, out, to);
                to.prim(Prim::Mul, vec![factor, d])
            }
        }
    }

    /// The number that the expression has at these arguments and this result.
    pub fn eval(&self, args: &[Scalar], out: Scalar) -> Scalar {
        self.emit(args, out, &mut |prim, args| prim.eval(&args), &mut |value| value)
    }
}

/// The first argument.
pub(crate) fn x() -> Expr {
    Expr::Arg(0)
}

/// The second argument, or the power `n`.
pub(crate) fn y() -> Expr {
    Expr::Arg(1)
}

/// The result.
pub(crate) fn out() -> Expr {
    Expr::Out
}

/// A real constant.
pub(crate) fn real(value: f64) -> Expr {
    Expr::Lit(Scalar::Real(value))
}

/// An integer constant.
pub(crate) fn int(value: i64) -> Expr {
    Expr::Lit(Scalar::Int(value))
}

/// `if c then a else b`
pub(crate) fn select(c: Expr, a: Expr, b: Expr) -> Expr {
    Expr::Prim(Prim::Select, vec![c, a, b])
}

/// A primitive of one argument.
pub(crate) fn call(prim: Prim, a: Expr) -> Expr {
    Expr::Prim(prim, vec![a])
}

/// A primitive of two arguments.
pub(crate) fn call2(prim: Prim, a: Expr, b: Expr) -> Expr {
    Expr::Prim(prim, vec![a, b])
}

/// `1 / a`
pub(crate) fn recip(a: Expr) -> Expr {
    real(1.0) / a
}

impl Neg for Expr {
    type Output = Expr;

    fn neg(self) -> Expr {
        call(Prim::Neg, self)
    }
}

impl Add for Expr {
    type Output = Expr;

    fn add(self, other: Expr) -> Expr {
        call2(Prim::Add, self, other)
    }
}

impl Sub for Expr {
    type Output = Expr;

    fn sub(self, other: Expr) -> Expr {
        call2(Prim::Sub, self, other)
    }
}

impl Mul for Expr {
    type Output = Expr;

    fn mul(self, other: Expr) -> Expr {
        call2(Prim::Mul, self, other)
    }
}

impl Div for Expr {
    type Output = Expr;

    fn div(self, other: Expr) -> Expr {
        call2(Prim::Div, self, other)
    }
}

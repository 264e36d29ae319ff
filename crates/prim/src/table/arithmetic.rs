//! Arithmetic on reals, and conversions to them.

use super::DISCRETE;
use crate::Scalar::{Bool, Int, Real};
use crate::{CText, Cost, Domain, Expr, Prim, Row, ScalarTy, Surface, expr::*, special};

const R: ScalarTy = ScalarTy::Real;
const I: ScalarTy = ScalarTy::Int;
const B: ScalarTy = ScalarTy::Bool;

/// `n - 1`, where that matters: the derivative of `x ** 0` is `0 * x ** 0`, which is 0 at `x = 0`
/// too.
fn lower_power(n: Expr) -> Expr {
    let zero = call2(Prim::EqInt, n.clone(), int(0));
    Expr::Prim(Prim::SelectInt, vec![zero, int(0), call2(Prim::SubInt, n, int(1))])
}

/// 0 where `e` is 0, without a derivative: NaN.
fn turning(e: Expr) -> Expr {
    call(Prim::Sqrt, e.clone() * e)
}

/// By x: `y * x ** (y - 1)`, with 0 for `0 ** 0`. By y: `x ** y * log x`, with 0 at `x = 0`. The
/// factors inside avoid an infinity times zero, so that the derivatives of these derivatives have
/// none either. At `0 ** 1` and `0 ** 0` the derivative of each by the other argument is NaN,
/// because `x ** (y - 1) * (1 + y * log x)` has no finite limit.
fn pow_partials() -> Vec<Option<Expr>> {
    let zero = || call2(Prim::Eq, x(), real(0.0));
    let at = |n: f64| call2(Prim::And, zero(), call2(Prim::Eq, y(), real(n)));
    let line = real(1.0) - turning(select(at(1.0), y() - real(1.0), real(1.0)));
    let constant = turning(select(at(0.0), y(), real(1.0)));
    let power = y() * call2(Prim::Pow, select(at(0.0), real(1.0), x()), y() - real(1.0));
    let by_x = select(at(1.0), line, select(at(0.0), constant, power));
    let flat = || call2(Prim::Lt, real(1.0), y());
    let origin = select(flat(), real(0.0), turning(select(zero(), x(), real(1.0))));
    let product = out() * call(Prim::Log, select(zero(), real(1.0), x()));
    vec![Some(by_x), Some(select(zero(), origin, product))]
}

/// Whether `max` or `min` of x and y gives x: where `<=` holds for the arguments `le`, and where x
/// is NaN.
fn first_chosen(le: [Expr; 2]) -> Expr {
    let [a, b] = le;
    call2(Prim::Or, call2(Prim::Le, a, b), call2(Prim::Ne, x(), x()))
}

/// The derivatives of `max` and `min` are those of the argument that they give. Equal arguments
/// have half each, so that `max x (-x)` has the derivative of `abs x` and both orders of the
/// arguments have the same one.
fn extremum_partials([a, b]: [Expr; 2]) -> Vec<Option<Expr>> {
    let first = first_chosen([a.clone(), b.clone()]);
    let first_alone = call2(Prim::Or, call2(Prim::Lt, a, b), call2(Prim::Ne, x(), x()));
    let share = || select(call2(Prim::Eq, x(), y()), real(0.5), real(1.0));
    vec![Some(select(first, share(), real(0.0))), Some(select(first_alone, real(0.0), share()))]
}

/// The derivatives of `max` or `min` of two elements of an array, for which `le` is as above: of
/// equal ones the first has all.
pub(crate) fn first_partials(le: [Expr; 2]) -> Vec<Option<Expr>> {
    let first = first_chosen(le);
    vec![
        Some(select(first.clone(), real(1.0), real(0.0))),
        Some(select(first, real(0.0), real(1.0))),
    ]
}

/// The rows.
pub(crate) const ROWS: &[Row] = &[
    Row {
        prim: Prim::Add,
        name: "add",
        surface: Surface::Infix("+"),
        args: &[R, R],
        result: R,
        eval: |a| Real(a[0].real() + a[1].real()),
        partials: || vec![Some(real(1.0)), Some(real(1.0))],
        c: CText::Infix("+"),
        cost: Cost::Cheap,
        doc: "The sum.",
        example: (&[Real(1.5), Real(2.0)], Real(3.5)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0), (-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Sub,
        name: "sub",
        surface: Surface::Infix("-"),
        args: &[R, R],
        result: R,
        eval: |a| Real(a[0].real() - a[1].real()),
        partials: || vec![Some(real(1.0)), Some(real(-1.0))],
        c: CText::Infix("-"),
        cost: Cost::Cheap,
        doc: "The difference.",
        example: (&[Real(1.5), Real(2.0)], Real(-0.5)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0), (-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Mul,
        name: "mul",
        surface: Surface::Infix("*"),
        args: &[R, R],
        result: R,
        eval: |a| Real(a[0].real() * a[1].real()),
        partials: || vec![Some(y()), Some(x())],
        c: CText::Infix("*"),
        cost: Cost::Cheap,
        doc: "The product.",
        example: (&[Real(1.5), Real(2.0)], Real(3.0)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0), (-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Div,
        name: "div",
        surface: Surface::Infix("/"),
        args: &[R, R],
        result: R,
        eval: |a| Real(a[0].real() / a[1].real()),
        partials: || vec![Some(recip(y())), Some(-(out() / y()))],
        c: CText::Infix("/"),
        cost: Cost::Costly,
        doc: "The quotient.",
        example: (&[Real(1.5), Real(2.0)], Real(0.75)),
        domain: Domain { text: "y != 0", samples: &[(-3.0, 3.0), (0.5, 3.0)] },
    },
    Row {
        prim: Prim::Neg,
        name: "neg",
        surface: Surface::Prefix("-"),
        args: &[R],
        result: R,
        eval: |a| Real(-a[0].real()),
        partials: || vec![Some(real(-1.0))],
        c: CText::Prefix("-"),
        cost: Cost::Cheap,
        doc: "The negation.",
        example: (&[Real(1.5)], Real(-1.5)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Rem,
        name: "rem",
        surface: Surface::Infix("%"),
        args: &[R, R],
        result: R,
        eval: |a| Real(special::real_rem(a[0].real(), a[1].real())),
        partials: || vec![Some(real(1.0)), Some(-call(Prim::Floor, x() / y()))],
        c: CText::Call("lam_rem"),
        cost: Cost::Costly,
        doc: "The remainder of floor division, of the sign of the divisor.",
        example: (&[Real(-1.5), Real(2.0)], Real(0.5)),
        domain: Domain { text: "x / y not an integer", samples: &[(4.1, 4.9), (1.75, 2.0)] },
    },
    Row {
        prim: Prim::Pow,
        name: "pow",
        surface: Surface::Infix("**"),
        args: &[R, R],
        result: R,
        eval: |a| Real(a[0].real().powf(a[1].real())),
        partials: pow_partials,
        c: CText::Math { scalar: "pow", lanes: "pow" },
        cost: Cost::Costly,
        doc: "x to the power y. The derivative by y is 0 at x = 0.",
        example: (&[Real(2.0), Real(0.5)], Real(std::f64::consts::SQRT_2)),
        domain: Domain { text: "x > 0", samples: &[(0.3, 3.0), (-2.0, 2.0)] },
    },
    Row {
        prim: Prim::PowInt,
        name: "pow_int",
        surface: Surface::Infix("**"),
        args: &[R, I],
        result: R,
        eval: |a| Real(special::powi(a[0].real(), a[1].int())),
        partials: || {
            vec![Some(call(Prim::ToReal, y()) * call2(Prim::PowInt, x(), lower_power(y()))), None]
        },
        c: CText::Math { scalar: "lam_powi", lanes: "powi" },
        cost: Cost::Costly,
        doc: "x to an integer power, by repeated squaring; x ** 0 is 1.",
        example: (&[Real(2.0), Int(-3)], Real(0.125)),
        domain: Domain { text: "x != 0 for a negative power", samples: &[(0.3, 3.0), (-3.0, 4.0)] },
    },
    Row {
        prim: Prim::Min,
        name: "min",
        surface: Surface::Call("min"),
        args: &[R, R],
        result: R,
        eval: |a| Real(special::min(a[0].real(), a[1].real())),
        partials: || extremum_partials([x(), y()]),
        c: CText::Math { scalar: "lam_min", lanes: "min" },
        cost: Cost::Cheap,
        doc: "The smaller; the first of equals; the first NaN if one is.",
        example: (&[Real(1.5), Real(2.0)], Real(1.5)),
        domain: Domain { text: "x != y", samples: &[(0.0, 3.0), (3.1, 5.0)] },
    },
    Row {
        prim: Prim::Max,
        name: "max",
        surface: Surface::Call("max"),
        args: &[R, R],
        result: R,
        eval: |a| Real(special::max(a[0].real(), a[1].real())),
        partials: || extremum_partials([y(), x()]),
        c: CText::Math { scalar: "lam_max", lanes: "max" },
        cost: Cost::Cheap,
        doc: "The larger; the first of equals; the first NaN if one is.",
        example: (&[Real(1.5), Real(2.0)], Real(2.0)),
        domain: Domain { text: "x != y", samples: &[(0.0, 3.0), (3.1, 5.0)] },
    },
    Row {
        prim: Prim::Abs,
        name: "abs",
        surface: Surface::Call("abs"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().abs()),
        partials: || vec![Some(call(Prim::Sign, x()))],
        c: CText::Call("fabs"),
        cost: Cost::Cheap,
        doc: "The absolute value.",
        example: (&[Real(-1.5)], Real(1.5)),
        domain: Domain { text: "x != 0", samples: &[(-3.0, -0.1)] },
    },
    Row {
        prim: Prim::Sign,
        name: "sign",
        surface: Surface::Call("sign"),
        args: &[R],
        result: R,
        eval: |a| Real(special::sign(a[0].real())),
        partials: || vec![None],
        c: CText::Math { scalar: "lam_sign", lanes: "sign" },
        cost: Cost::Cheap,
        doc: "-1, 0 or 1; 0 at both zeros, NaN at NaN.",
        example: (&[Real(-1.5)], Real(-1.0)),
        domain: Domain { text: "x != 0", samples: &[(-3.0, -0.1)] },
    },
    Row {
        prim: Prim::Floor,
        name: "floor",
        surface: Surface::Call("floor"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().floor()),
        partials: || vec![None],
        c: CText::Math { scalar: "floor", lanes: "floor" },
        cost: Cost::Cheap,
        doc: "The largest integer that is not larger.",
        example: (&[Real(-1.5)], Real(-2.0)),
        domain: Domain { text: "x not an integer", samples: &[(2.1, 2.9)] },
    },
    Row {
        prim: Prim::Ceil,
        name: "ceil",
        surface: Surface::Call("ceil"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().ceil()),
        partials: || vec![None],
        c: CText::Math { scalar: "ceil", lanes: "ceil" },
        cost: Cost::Cheap,
        doc: "The smallest integer that is not smaller.",
        example: (&[Real(-1.5)], Real(-1.0)),
        domain: Domain { text: "x not an integer", samples: &[(2.1, 2.9)] },
    },
    Row {
        prim: Prim::Round,
        name: "round",
        surface: Surface::Call("round"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().round()),
        partials: || vec![None],
        c: CText::Math { scalar: "round", lanes: "round" },
        cost: Cost::Cheap,
        doc: "The nearest integer; of two, the one away from zero.",
        example: (&[Real(2.5)], Real(3.0)),
        domain: Domain { text: "x not halfway between integers", samples: &[(2.6, 3.4)] },
    },
    Row {
        prim: Prim::Select,
        name: "select",
        surface: Surface::If,
        args: &[B, R, R],
        result: R,
        eval: |a| Real(if a[0].bool() { a[1].real() } else { a[2].real() }),
        partials: || {
            vec![
                None,
                Some(select(x(), real(1.0), real(0.0))),
                Some(select(x(), real(0.0), real(1.0))),
            ]
        },
        c: CText::Template("$0 ? $1 : $2"),
        cost: Cost::Cheap,
        doc: "One of two values that are both there.",
        example: (&[Bool(true), Real(1.5), Real(2.0)], Real(1.5)),
        domain: Domain { text: "all reals", samples: &[(0.0, 1.0), (-3.0, 3.0), (-3.0, 3.0)] },
    },
    Row {
        prim: Prim::ToReal,
        name: "to_real",
        surface: Surface::Call("real"),
        args: &[I],
        result: R,
        eval: |a| Real(a[0].int() as f64),
        partials: || vec![None],
        c: CText::Call("(double)"),
        cost: Cost::Cheap,
        doc: "The integer as a real, rounded beyond 2 ** 53.",
        example: (&[Int(3)], Real(3.0)),
        domain: DISCRETE,
    },
];

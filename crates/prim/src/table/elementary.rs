//! Elementary functions on reals.

use crate::Scalar::Real;
use crate::{CText, Cost, Domain, Expr, Prim, Row, ScalarTy, Surface, expr::*};

const R: ScalarTy = ScalarTy::Real;

/// `1 - x²`: a product where the difference would cancel. The difference where the derivative of
/// the product would, and at the ends, where a factor of the product is 0 and its derivative
/// infinite.
fn one_less_square() -> Expr {
    let size = || call(Prim::Abs, x());
    let near_an_end =
        call2(Prim::And, call2(Prim::Lt, real(0.5), size()), call2(Prim::Lt, size(), real(1.0)));
    select(near_an_end, (real(1.0) - x()) * (real(1.0) + x()), real(1.0) - x() * x())
}

/// With the longer side l, the shorter side s and the quotient q = s / l: by the shorter side
/// 1 / (l + s q), by the longer one -q times that, with the opposite signs where x is the longer
/// side. No square overflows or vanishes, and derivatives of the partials are differences of 1 and
/// q², not of two large numbers.
fn atan2_partials() -> Vec<Option<Expr>> {
    let size = |side: Expr| call(Prim::Abs, side);
    let flat = || call2(Prim::Le, size(x()), size(y()));
    let longer = || select(flat(), y(), x());
    let quotient = || select(flat(), x(), y()) / longer();
    let by_shorter = || recip(longer() + select(flat(), x(), y()) * quotient());
    let by_longer = || quotient() * by_shorter();
    vec![
        Some(select(flat(), by_shorter(), by_longer())),
        Some(-select(flat(), by_longer(), by_shorter())),
    ]
}

/// The rows.
pub(crate) const ROWS: &[Row] = &[
    Row {
        prim: Prim::Exp,
        name: "exp",
        surface: Surface::Call("exp"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().exp()),
        partials: || vec![Some(out())],
        c: CText::Math { scalar: "exp", lanes: "exp" },
        cost: Cost::Costly,
        doc: "e to the power x.",
        example: (&[Real(1.0)], Real(std::f64::consts::E)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Log,
        name: "log",
        surface: Surface::Call("log"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().ln()),
        partials: || vec![Some(recip(x()))],
        c: CText::Math { scalar: "log", lanes: "log" },
        cost: Cost::Costly,
        doc: "The natural logarithm; -inf at 0, NaN below.",
        example: (&[Real(2.0)], Real(std::f64::consts::LN_2)),
        domain: Domain { text: "x > 0", samples: &[(0.3, 5.0)] },
    },
    Row {
        prim: Prim::Log1p,
        name: "log1p",
        surface: Surface::Call("log1p"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().ln_1p()),
        partials: || vec![Some(recip(real(1.0) + x()))],
        c: CText::Math { scalar: "log1p", lanes: "log1p" },
        cost: Cost::Costly,
        doc: "log (1 + x), precise for small x.",
        example: (&[Real(1.0)], Real(std::f64::consts::LN_2)),
        domain: Domain { text: "x > -1", samples: &[(-0.6, 5.0)] },
    },
    Row {
        prim: Prim::Expm1,
        name: "expm1",
        surface: Surface::Call("expm1"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().exp_m1()),
        // Not `out + 1`, which loses small values below 0.
        partials: || vec![Some(call(Prim::Exp, x()))],
        c: CText::Math { scalar: "expm1", lanes: "expm1" },
        cost: Cost::Costly,
        doc: "exp x - 1, precise for small x.",
        example: (&[Real(1.0)], Real(1.718281828459045)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Sqrt,
        name: "sqrt",
        surface: Surface::Call("sqrt"),
        args: &[R],
        result: R,
        // Of -0.0 it is 0.0, so that the derivative is inf at both zeros.
        eval: |a| Real((a[0].real() + 0.0).sqrt()),
        partials: || vec![Some(real(0.5) / out())],
        c: CText::Math { scalar: "lam_sqrt", lanes: "sqrt" },
        cost: Cost::Costly,
        doc: "The square root; 0 at both zeros, NaN below.",
        example: (&[Real(2.0)], Real(std::f64::consts::SQRT_2)),
        domain: Domain { text: "x > 0; the derivative is inf at 0", samples: &[(0.3, 5.0)] },
    },
    Row {
        prim: Prim::Sin,
        name: "sin",
        surface: Surface::Call("sin"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().sin()),
        partials: || vec![Some(call(Prim::Cos, x()))],
        c: CText::Math { scalar: "sin", lanes: "sin" },
        cost: Cost::Costly,
        doc: "The sine.",
        example: (&[Real(1.0)], Real(0.8414709848078965)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Cos,
        name: "cos",
        surface: Surface::Call("cos"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().cos()),
        partials: || vec![Some(-call(Prim::Sin, x()))],
        c: CText::Math { scalar: "cos", lanes: "cos" },
        cost: Cost::Costly,
        doc: "The cosine.",
        example: (&[Real(1.0)], Real(0.5403023058681398)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Tan,
        name: "tan",
        surface: Surface::Call("tan"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().tan()),
        partials: || vec![Some(real(1.0) + out() * out())],
        c: CText::Math { scalar: "tan", lanes: "tan" },
        cost: Cost::Costly,
        doc: "The tangent.",
        example: (&[Real(1.0)], Real(1.5574077246549023)),
        domain: Domain { text: "between the poles", samples: &[(-1.2, 1.2)] },
    },
    Row {
        prim: Prim::Asin,
        name: "asin",
        surface: Surface::Call("asin"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().asin()),
        partials: || vec![Some(recip(call(Prim::Sqrt, one_less_square())))],
        c: CText::Math { scalar: "asin", lanes: "asin" },
        cost: Cost::Costly,
        doc: "The inverse sine.",
        example: (&[Real(0.5)], Real(std::f64::consts::FRAC_PI_6)),
        domain: Domain { text: "|x| < 1; inf at the ends", samples: &[(-0.8, 0.8)] },
    },
    Row {
        prim: Prim::Acos,
        name: "acos",
        surface: Surface::Call("acos"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().acos()),
        partials: || vec![Some(-recip(call(Prim::Sqrt, one_less_square())))],
        c: CText::Math { scalar: "acos", lanes: "acos" },
        cost: Cost::Costly,
        doc: "The inverse cosine.",
        example: (&[Real(0.5)], Real(std::f64::consts::FRAC_PI_3)),
        domain: Domain { text: "|x| < 1; -inf at the ends", samples: &[(-0.8, 0.8)] },
    },
    Row {
        prim: Prim::Atan,
        name: "atan",
        surface: Surface::Call("atan"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().atan()),
        partials: || vec![Some(recip(real(1.0) + x() * x()))],
        c: CText::Math { scalar: "atan", lanes: "atan" },
        cost: Cost::Costly,
        doc: "The inverse tangent.",
        example: (&[Real(1.0)], Real(std::f64::consts::FRAC_PI_4)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Atan2,
        name: "atan2",
        surface: Surface::Call("atan2"),
        args: &[R, R],
        result: R,
        eval: |a| Real(a[0].real().atan2(a[1].real())),
        partials: atan2_partials,
        c: CText::Math { scalar: "atan2", lanes: "atan2" },
        cost: Cost::Costly,
        doc: "The angle of the point (x, y), as `atan2 y x`.",
        example: (&[Real(1.0), Real(-1.0)], Real(2.356194490192345)),
        domain: Domain {
            text: "but for the origin and the cut y = 0, x < 0",
            samples: &[(0.2, 3.0), (-3.0, 3.0)],
        },
    },
    Row {
        prim: Prim::Hypot,
        name: "hypot",
        surface: Surface::Call("hypot"),
        args: &[R, R],
        result: R,
        eval: |a| Real(a[0].real().hypot(a[1].real())),
        partials: || {
            // At the origin 0, as the gradient of `norm` is there. The second derivative is NaN,
            // since the derivative of `sqrt` at 0 is infinite and that of the product zero;
            // elsewhere it is one of constants.
            let origin = || call2(Prim::Eq, out(), real(0.0));
            let there = |side: Expr| select(origin(), side, real(1.0));
            let turning = || call(Prim::Sqrt, there(x()) * there(y()));
            let slope = |side: Expr| select(origin(), turning(), side / out());
            vec![Some(slope(x())), Some(slope(y()))]
        },
        c: CText::Math { scalar: "hypot", lanes: "hypot" },
        cost: Cost::Costly,
        doc: "The length of (x, y), without overflow; inf if one is infinite, even beside NaN.",
        example: (&[Real(3.0), Real(-4.0)], Real(5.0)),
        domain: Domain { text: "but for the origin", samples: &[(0.2, 3.0), (-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Sinh,
        name: "sinh",
        surface: Surface::Call("sinh"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().sinh()),
        partials: || vec![Some(call(Prim::Cosh, x()))],
        c: CText::Math { scalar: "sinh", lanes: "sinh" },
        cost: Cost::Costly,
        doc: "The hyperbolic sine.",
        example: (&[Real(1.0)], Real(1.1752011936438014)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Cosh,
        name: "cosh",
        surface: Surface::Call("cosh"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().cosh()),
        partials: || vec![Some(call(Prim::Sinh, x()))],
        c: CText::Math { scalar: "cosh", lanes: "cosh" },
        cost: Cost::Costly,
        doc: "The hyperbolic cosine.",
        example: (&[Real(1.0)], Real(1.543080634815244)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
    Row {
        prim: Prim::Tanh,
        name: "tanh",
        surface: Surface::Call("tanh"),
        args: &[R],
        result: R,
        eval: |a| Real(a[0].real().tanh()),
        partials: || vec![Some(real(1.0) - out() * out())],
        c: CText::Math { scalar: "tanh", lanes: "tanh" },
        cost: Cost::Costly,
        doc: "The hyperbolic tangent.",
        example: (&[Real(1.0)], Real(0.7615941559557649)),
        domain: Domain { text: "all reals", samples: &[(-3.0, 3.0)] },
    },
];

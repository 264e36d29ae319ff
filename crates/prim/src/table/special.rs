//! Special functions on reals.

use crate::Scalar::{Int, Real};
use crate::{CText, Cost, Domain, Prim, Row, ScalarTy, Surface, expr::*, special};

const R: ScalarTy = ScalarTy::Real;
const I: ScalarTy = ScalarTy::Int;

/// The rows.
pub(crate) const ROWS: &[Row] = &[
    Row {
        prim: Prim::Erf,
        name: "erf",
        surface: Surface::Call("erf"),
        args: &[R],
        result: R,
        eval: |a| Real(libm::erf(a[0].real())),
        partials: || {
            vec![Some(real(std::f64::consts::FRAC_2_SQRT_PI) * call(Prim::Exp, -(x() * x())))]
        },
        c: CText::Math { scalar: "erf", lanes: "erf" },
        cost: Cost::Costly,
        doc: "The error function.",
        example: (&[Real(1.0)], Real(0.8427007929497149)),
        domain: Domain { text: "all reals", samples: &[(-2.0, 2.0)] },
    },
    Row {
        prim: Prim::Erfc,
        name: "erfc",
        surface: Surface::Call("erfc"),
        args: &[R],
        result: R,
        eval: |a| Real(libm::erfc(a[0].real())),
        partials: || {
            vec![Some(real(-std::f64::consts::FRAC_2_SQRT_PI) * call(Prim::Exp, -(x() * x())))]
        },
        c: CText::Math { scalar: "erfc", lanes: "erfc" },
        cost: Cost::Costly,
        doc: "1 - erf, precise where that is small.",
        example: (&[Real(1.0)], Real(0.15729920705028513)),
        domain: Domain { text: "all reals", samples: &[(-2.0, 2.0)] },
    },
    Row {
        prim: Prim::Lgamma,
        name: "lgamma",
        surface: Surface::Call("lgamma"),
        args: &[R],
        result: R,
        eval: |a| Real(libm::lgamma(a[0].real())),
        partials: || vec![Some(call(Prim::Digamma, x()))],
        c: CText::Math { scalar: "lgamma", lanes: "lgamma" },
        cost: Cost::Costly,
        doc: "The logarithm of |Γ x|; inf at the poles 0, -1, -2, …",
        example: (&[Real(0.5)], Real(0.5723649429247001)),
        domain: Domain { text: "but for the poles 0, -1, -2, …", samples: &[(0.3, 6.0)] },
    },
    Row {
        prim: Prim::Digamma,
        name: "digamma",
        surface: Surface::Call("digamma"),
        args: &[R],
        result: R,
        eval: |a| Real(special::digamma(a[0].real())),
        partials: || vec![Some(call2(Prim::Polygamma, int(1), x()))],
        c: CText::Math { scalar: "lam_digamma", lanes: "digamma" },
        cost: Cost::Costly,
        doc: "The derivative of lgamma; -inf at 0.0, inf at -0.0, NaN at the poles -1, -2, …",
        example: (&[Real(1.0)], Real(-0.5772156649015329)),
        domain: Domain { text: "but for the poles 0, -1, -2, …", samples: &[(0.3, 6.0)] },
    },
    Row {
        prim: Prim::Polygamma,
        name: "polygamma",
        surface: Surface::Call("polygamma"),
        args: &[I, R],
        result: R,
        eval: |a| Real(special::polygamma(a[0].int(), a[1].real())),
        partials: || {
            vec![None, Some(call2(Prim::Polygamma, call2(Prim::AddInt, x(), int(1)), y()))]
        },
        c: CText::Call("lam_polygamma"),
        cost: Cost::Costly,
        doc: "`polygamma n x` is the n-th derivative of digamma; NaN for negative n, at the poles inf for odd n, and for even n NaN but at 0.",
        example: (&[Int(1), Real(1.0)], Real(1.6449340668482264)),
        domain: Domain {
            text: "but for the poles 0, -1, -2, …",
            samples: &[(0.0, 4.0), (0.6, 6.0)],
        },
    },
];

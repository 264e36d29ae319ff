//! Values of derivatives at points without one: the conventions, in one table. Tests evaluate the
//! partials against it.

use crate::Prim;
use crate::Scalar::{self, Bool, Int, Real};

/// The first and the second derivative of a primitive by one argument, at a point where mathematics
/// leaves it open.
#[derive(Debug)]
pub struct Kink {
    /// As the manual writes it.
    pub text: &'static str,
    /// The primitive.
    pub prim: Prim,
    /// The point.
    pub at: &'static [Scalar],
    /// Which argument it is differentiated by.
    pub by: usize,
    /// The first derivative.
    pub first: f64,
    /// The second derivative, by the same argument twice.
    pub second: f64,
}

const INF: f64 = f64::INFINITY;
/// No limit is common to all sides.
const NAN: f64 = f64::NAN;

const fn kink(
    text: &'static str,
    prim: Prim,
    at: &'static [Scalar],
    by: usize,
    first: f64,
    second: f64,
) -> Kink {
    Kink { text, prim, at, by, first, second }
}

/// The table. `maximum` and `minimum` of arrays follow the first of equal elements instead of
/// sharing.
pub const KINKS: &[Kink] = &[
    kink("abs x at 0", Prim::Abs, &[Real(0.0)], 0, 0.0, 0.0),
    kink("sign x at 0", Prim::Sign, &[Real(0.0)], 0, 0.0, 0.0),
    kink("floor x at an integer", Prim::Floor, &[Real(2.0)], 0, 0.0, 0.0),
    kink("ceil x at an integer", Prim::Ceil, &[Real(2.0)], 0, 0.0, 0.0),
    kink("round x between two integers", Prim::Round, &[Real(2.5)], 0, 0.0, 0.0),
    kink("x % y at a multiple of y, by x", Prim::Rem, &[Real(6.0), Real(2.0)], 0, 1.0, 0.0),
    kink("x % y at a multiple of y, by y", Prim::Rem, &[Real(6.0), Real(2.0)], 1, -3.0, 0.0),
    kink("max x y at x = y, by x", Prim::Max, &[Real(1.0), Real(1.0)], 0, 0.5, 0.0),
    kink("max x y at x = y, by y", Prim::Max, &[Real(1.0), Real(1.0)], 1, 0.5, 0.0),
    kink("min x y at x = y, by x", Prim::Min, &[Real(1.0), Real(1.0)], 0, 0.5, 0.0),
    kink("min x y at x = y, by y", Prim::Min, &[Real(1.0), Real(1.0)], 1, 0.5, 0.0),
    kink("max x y at x = NaN, by x", Prim::Max, &[Real(f64::NAN), Real(1.0)], 0, 1.0, 0.0),
    kink("max x y at x = NaN, by y", Prim::Max, &[Real(f64::NAN), Real(1.0)], 1, 0.0, 0.0),
    kink("max x y at y = NaN, by y", Prim::Max, &[Real(1.0), Real(f64::NAN)], 1, 1.0, 0.0),
    kink("min x y at x = NaN, by x", Prim::Min, &[Real(f64::NAN), Real(1.0)], 0, 1.0, 0.0),
    kink("min x y at x = NaN, by y", Prim::Min, &[Real(f64::NAN), Real(1.0)], 1, 0.0, 0.0),
    kink("min x y at y = NaN, by y", Prim::Min, &[Real(1.0), Real(f64::NAN)], 1, 1.0, 0.0),
    kink("sqrt x at 0", Prim::Sqrt, &[Real(0.0)], 0, INF, -INF),
    kink("sqrt x at -0.0", Prim::Sqrt, &[Real(-0.0)], 0, INF, -INF),
    kink("hypot x y at 0, 0, by x", Prim::Hypot, &[Real(0.0), Real(0.0)], 0, 0.0, NAN),
    kink("hypot x y at 0, 0, by y", Prim::Hypot, &[Real(0.0), Real(0.0)], 1, 0.0, NAN),
    kink("lgamma x at 0", Prim::Lgamma, &[Real(0.0)], 0, -INF, INF),
    kink("lgamma x at -0.0", Prim::Lgamma, &[Real(-0.0)], 0, INF, INF),
    kink("log x at 0", Prim::Log, &[Real(0.0)], 0, INF, -INF),
    kink("1 / x at 0, by x", Prim::Div, &[Real(1.0), Real(0.0)], 1, -INF, INF),
    kink("x ** y at 0 ** 0, by x", Prim::Pow, &[Real(0.0), Real(0.0)], 0, 0.0, 0.0),
    kink("x ** y at 0 ** 0, by y", Prim::Pow, &[Real(0.0), Real(0.0)], 1, 0.0, 0.0),
    kink("x ** y at 0 ** 2, by y", Prim::Pow, &[Real(0.0), Real(2.0)], 1, 0.0, 0.0),
    kink("x ** y at 0 ** 0.5, by x", Prim::Pow, &[Real(0.0), Real(0.5)], 0, INF, -INF),
    kink("x ** y at 0 ** 1, by x", Prim::Pow, &[Real(0.0), Real(1.0)], 0, 1.0, 0.0),
    kink("x ** y at 0 ** 2, by x", Prim::Pow, &[Real(0.0), Real(2.0)], 0, 0.0, 2.0),
    kink("x ** n at 0 ** 0, n an int", Prim::PowInt, &[Real(0.0), Int(0)], 0, 0.0, 0.0),
    kink("x ** n at 0 ** 1, n an int", Prim::PowInt, &[Real(0.0), Int(1)], 0, 1.0, 0.0),
    kink("x ** n at 0 ** 2, n an int", Prim::PowInt, &[Real(0.0), Int(2)], 0, 0.0, 2.0),
    kink("asin x at 1", Prim::Asin, &[Real(1.0)], 0, INF, INF),
    kink("acos x at 1", Prim::Acos, &[Real(1.0)], 0, -INF, -INF),
    kink(
        "if c then x else y, the branch not taken",
        Prim::Select,
        &[Bool(true), Real(1.0), Real(2.0)],
        2,
        0.0,
        0.0,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::numeric;

    #[test]
    fn the_partials_agree_with_the_table() {
        for kink in KINKS {
            let (first, second) = numeric::derivatives(kink.prim, kink.at, kink.by, kink.by);
            let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
            assert!(same(first, kink.first), "{}: the first derivative is {first}", kink.text);
            assert!(same(second, kink.second), "{}: the second derivative is {second}", kink.text);
        }
    }
}

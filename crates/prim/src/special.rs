//! Functions that neither Rust nor C has. Each has a twin in C (`table/helpers.rs`) that computes
//! the same in the same order.

/// B₂ₖ / (2k)!, for k from 1: the coefficients of the Euler–Maclaurin formula.
const EULER_MACLAURIN: [f64; 13] = [
    8.333333333333333e-2,
    -1.388888888888889e-3,
    3.306878306878307e-5,
    -8.267195767195768e-7,
    2.08767569878681e-8,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812522e-19,
    3.534707039629467e-21,
];

/// B₂ₖ / 2k, for k from 1: the asymptotic series of digamma.
const DIGAMMA: [f64; 9] = [
    8.333333333333333e-2,
    -8.333333333333333e-3,
    3.968253968253968e-3,
    -4.166666666666667e-3,
    7.575757575757576e-3,
    -2.1092796092796094e-2,
    8.333333333333333e-2,
    -4.432598039215686e-1,
    3.0539543302701198,
];

/// The positive root of digamma, as the sum of two numbers.
const ROOT: (f64, f64) = (1.4616321449683622, 9.549995429965697e-17);

/// ψ⁽ᵏ⁾ / k! at the root, for k from 1: the Taylor series of digamma there.
const NEAR_ROOT: [f64; 17] = [
    0.9676722454476212,
    -0.4427631689835921,
    0.258499760955651,
    -0.16394270544240652,
    0.10782405069126237,
    -0.07219956125645471,
    0.04880428816414311,
    -0.03316112647484736,
    0.022597648232218104,
    -0.01542476590494896,
    0.010538791616612175,
    -0.007204534386356869,
    0.004926781395729853,
    -0.003369801655439328,
    0.002305126326734928,
    -0.0015769367714301972,
    0.0010788252019162967,
];

/// `x ** n` by repeated squaring; the reciprocal of `x ** -n` for a negative `n`.
pub fn powi(x: f64, n: i64) -> f64 {
    let (mut result, mut base, mut left) = (1.0, x, n.unsigned_abs());
    while left > 0 {
        if left & 1 == 1 {
            result *= base;
        }
        base *= base;
        left >>= 1;
    }
    if n < 0 { 1.0 / result } else { result }
}

/// `x ** n` on integers, wrapping. For a negative `n` the quotient `1 / x ** -n` toward zero: 0
/// unless `x` is 1 or -1.
pub fn int_pow(x: i64, n: i64) -> i64 {
    if n < 0 {
        return match x {
            1 => 1,
            -1 if n % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut base, mut left) = (1i64, x, n);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        left >>= 1;
    }
    result
}

/// The quotient rounded down; 0 for `y = 0`.
pub fn floor_div(x: i64, y: i64) -> i64 {
    if y == 0 {
        return 0;
    }
    let quotient = x.wrapping_div(y);
    if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient }
}

/// The remainder of floor division, of the sign of `y`; 0 for `y = 0`.
pub fn floor_rem(x: i64, y: i64) -> i64 {
    if y == 0 {
        return 0;
    }
    let rest = x.wrapping_rem(y);
    if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
}

/// `x - floor(x / y) * y` on reals, exact up to one rounding: of the sign of `y`, NaN for `y = 0`.
pub fn real_rem(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
}

/// -1, 0 or 1; NaN of NaN, and 0 of both zeros.
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

/// The smaller; the first of equals; the first NaN if one is.
pub fn min(x: f64, y: f64) -> f64 {
    if x <= y || x.is_nan() { x } else { y }
}

/// The larger; the first of equals; the first NaN if one is.
pub fn max(x: f64, y: f64) -> f64 {
    if x >= y || x.is_nan() { x } else { y }
}

/// The derivative of log Γ: by its Taylor series near its positive root, else by its recurrence up
/// to 10, then by its asymptotic series; by reflection below 0. At the poles -1, -2, … NaN, at 0.0
/// -inf and at -0.0 inf, the limits from the two sides. The relative error is below 1e-13, but near
/// the negative roots, where the absolute error is.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -1.0 / x;
    }
    if x < 0.0 {
        let fraction = x - x.round();
        if fraction == 0.0 {
            return f64::NAN;
        }
        return digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * fraction).tan();
    }
    if (x - ROOT.0).abs() < 0.15 {
        let from_root = (x - ROOT.0) - ROOT.1;
        return NEAR_ROOT
            .iter()
            .rev()
            .fold(0.0, |sum, coefficient| (sum + coefficient) * from_root);
    }
    let (mut y, mut shift) = (x, 0.0);
    while y < 10.0 {
        shift += 1.0 / y;
        y += 1.0;
    }
    let square = 1.0 / (y * y);
    let series = DIGAMMA.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * square);
    y.ln() - 0.5 / y - series - shift
}

/// The n-th derivative of digamma: `(-1)ⁿ⁺¹ n! Σₖ (x + k)⁻ⁿ⁻¹`. NaN for a negative order. At the
/// poles inf for odd orders; for even ones NaN at -1, -2, …, and the limits from the two sides at
/// 0.0 and -0.0.
pub fn polygamma(n: i64, x: f64) -> f64 {
    if n == 0 {
        return digamma(x);
    }
    if n < 0 || n == i64::MAX || x.is_nan() {
        return f64::NAN;
    }
    if x == 0.0 {
        return if n % 2 == 0 { -1.0 / x } else { f64::INFINITY };
    }
    let sum = if x > 0.0 { power_sum(n, x) } else { power_sum_reflected(n, x) };
    if n % 2 == 0 { -sum } else { sum }
}

/// n! Σ (x + k)⁻ⁿ⁻¹ over k ≥ 0, for x > 0: terms one by one until they are negligible or `x + k` is
/// large, then Euler–Maclaurin.
fn power_sum(n: i64, x: f64) -> f64 {
    if x == f64::INFINITY {
        return 0.0;
    }
    let order = n as f64;
    let (mut y, mut sum) = (x, 0.0);
    while y < order + 10.0 {
        let term = power_term(n, y);
        sum += term;
        if term <= 1e-18 * sum || sum == f64::INFINITY {
            return sum;
        }
        y += 1.0;
    }
    // The sum of the rest is n! / yⁿ times this; n! / yⁿ⁺¹ would vanish before.
    let (mut tail, mut factor) = (1.0 / order + 0.5 / y, (order + 1.0) / y);
    for (k, coefficient) in EULER_MACLAURIN.iter().enumerate() {
        tail += coefficient * factor / y;
        let next = order + 2.0 * (k as f64 + 1.0);
        factor *= (next / y) * ((next + 1.0) / y);
    }
    sum + power_rest(n, y) * tail
}

/// n! / yⁿ
fn power_rest(n: i64, y: f64) -> f64 {
    if n > 170 {
        return (libm::lgamma(n as f64 + 1.0) - n as f64 * y.ln()).exp();
    }
    (1..=n).fold(1.0, |product, k| product * (k as f64 / y))
}

/// n! / yⁿ⁺¹, as a product that does not overflow before its value does.
fn power_term(n: i64, y: f64) -> f64 {
    if n > 170 {
        return (libm::lgamma(n as f64 + 1.0) - (n as f64 + 1.0) * y.ln()).exp();
    }
    let mut product = 1.0 / y;
    for k in 1..=n {
        product *= k as f64 / y;
    }
    product
}

/// [`power_sum`] for x ≤ 0. The sum over all integers is periodic, and the sum of two power sums at
/// positive numbers.
fn power_sum_reflected(n: i64, x: f64) -> f64 {
    let even = n % 2 == 0;
    let alternate = |value: f64| if even { -value } else { value };
    let fraction = x - x.round();
    if fraction == 0.0 {
        return if even { f64::NAN } else { f64::INFINITY };
    }
    let near = fraction.abs();
    let both = power_sum(n, near) + alternate(power_sum(n, 1.0 - near));
    let periodic = if fraction < 0.0 { alternate(both) } else { both };
    periodic - alternate(power_sum(n, 1.0 - x))
}

/// The bits of a real, the same for every NaN.
pub fn real_bits(x: f64) -> i64 {
    if x.is_nan() { f64::NAN.to_bits().cast_signed() & i64::MAX } else { x.to_bits().cast_signed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs(),
            "{what} is {found:e}, not {expected:e}"
        );
    }

    #[test]
    fn digamma_is_precise() {
        for (x, expected) in DIGAMMA_VALUES {
            assert_near(digamma(*x), *expected, 1e-13, &format!("digamma {x}"));
        }
    }

    #[test]
    fn polygamma_is_precise() {
        for (n, x, expected) in POLYGAMMA_VALUES {
            assert_near(
                polygamma(*n, *x),
                *expected,
                if *n > 170 { 1e-11 } else { 1e-13 },
                &format!("polygamma {n} {x}"),
            );
        }
    }

    #[test]
    fn poles_and_limits() {
        for pole in [-1.0, -7.0] {
            assert!(digamma(pole).is_nan() && polygamma(2, pole).is_nan());
            assert_eq!(polygamma(1, pole), f64::INFINITY);
        }
        for (zero, limit) in [(0.0, f64::NEG_INFINITY), (-0.0, f64::INFINITY)] {
            assert_eq!(
                (digamma(zero), polygamma(0, zero), polygamma(2, zero)),
                (limit, limit, limit)
            );
            assert_eq!(polygamma(1, zero), f64::INFINITY);
        }
        assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
        assert_eq!(polygamma(3, f64::INFINITY), 0.0);
        assert!(
            digamma(f64::NAN).is_nan()
                && polygamma(1, f64::NAN).is_nan()
                && polygamma(-1, 2.0).is_nan()
        );
        assert!(digamma(f64::NEG_INFINITY).is_nan() && polygamma(1, f64::NEG_INFINITY).is_nan());
    }

    #[test]
    fn integers_are_total() {
        for x in [i64::MIN, -7, -1, 0, 1, 7, i64::MAX] {
            assert_eq!((floor_div(x, 0), floor_rem(x, 0)), (0, 0));
            for y in [i64::MIN, -3, -1, 1, 3, i64::MAX] {
                let (quotient, rest) = (floor_div(x, y), floor_rem(x, y));
                assert_eq!(quotient.wrapping_mul(y).wrapping_add(rest), x, "{x} / {y}");
                assert!(rest == 0 || (rest < 0) == (y < 0), "{x} % {y} = {rest}");
            }
        }
        assert_eq!(
            (floor_div(-7, 2), floor_rem(-7, 2), floor_div(i64::MIN, -1)),
            (-4, 1, i64::MIN)
        );
    }

    #[test]
    fn powers() {
        assert_eq!((powi(2.0, -3), powi(f64::NAN, 0), powi(0.0, -1)), (0.125, 1.0, f64::INFINITY));
        assert_eq!(
            (int_pow(-1, -3), int_pow(2, -1), int_pow(0, 0), int_pow(3, 4), int_pow(2, 64)),
            (-1, 0, 1, 81, 0)
        );
    }

    #[test]
    fn nan_spreads() {
        assert!(
            min(f64::NAN, 1.0).is_nan()
                && min(1.0, f64::NAN).is_nan()
                && max(f64::NAN, 1.0).is_nan()
                && max(1.0, f64::NAN).is_nan()
        );
        assert!(sign(f64::NAN).is_nan() && sign(-0.0).to_bits() == 0);
        assert!(max(-0.0, 0.0).is_sign_negative() && min(0.0, -0.0).is_sign_positive());
    }

    /// Values computed with 40 digits.
    const DIGAMMA_VALUES: &[(f64, f64)] = &[
        (1e-08, -100000000.57721564),
        (0.1, -10.423754940411076),
        (0.5, -1.9635100260214235),
        (1.0, -0.5772156649015329),
        (1.3117, -0.1560015168861399),
        (1.4, -0.06138454458511624),
        (1.46, -0.0015805619870834522),
        (1.4616321449683622, -9.241265521729427e-17),
        (1.4616321449683625, 1.2245374622004068e-16),
        (1.4616321, -4.3514636958769774e-08),
        (1.5, 0.03648997397857652),
        (1.6116, 0.13595821343923178),
        (2.0, 0.42278433509846713),
        (3.7, 1.1671535393615113),
        (9.99, 2.250700372831201),
        (10.0, 2.251752589066721),
        (25.5, 3.2189424728839198),
        (10000.0, 9.210290371142849),
        (10000000000.0, 23.025850929890456),
        (-0.3, 2.113309779635399),
        (-0.75, -2.894120200042932),
        (-1e-08, 99999999.42278431),
        (-3.2, 5.635370221172645),
        (-10.7, 0.13374481244706443),
        (-100.25, 7.754238959208646),
    ];

    const POLYGAMMA_VALUES: &[(i64, f64, f64)] = &[
        (1, 1e-06, 1000000000001.645),
        (1, 0.5, 4.934802200544679),
        (1, 1.0, 1.6449340668482264),
        (1, 3.3, 0.3535015418410618),
        (1, 30.0, 0.033895060357739946),
        (1, 100000000.0, 1.000000005e-08),
        (1, -0.3, 13.945160267805722),
        (1, -0.75, 18.975106932284888),
        (1, -1e-08, 1.0000000000000002e+16),
        (1, -7.2, 28.43716268473333),
        (1, -1000.4, 10.910567160706298),
        (2, 0.1, -2001.8614573783436),
        (2, 1.0, -2.4041138063191885),
        (2, 4.5, -0.061556821321027695),
        (2, 100.0, -0.00010100499983335),
        (2, -0.3, 67.63908119988317),
        (2, -2.7, -68.9329390232638),
        (3, 1.5, 1.4090910340024372),
        (3, -1.5, 194.59427621918763),
        (4, 2.25, -0.5110686379337336),
        (5, 12.0, 0.00011820829051081491),
        (7, 0.9, 11739.00642820273),
        (10, 1.0, -3630593.311606629),
        (10, 20.0, -4.5103770549818434e-08),
        (10, -3.4, 85517174484.77713),
        (25, 5.5, 885038.6812347692),
        (100, 3.0, -6.036106975938185e+109),
        (100, 500.0, -1.3053355126313147e-114),
        (150, 0.5, -1.6308828138761189e+308),
        (171, 40.0, 3.513395552857754e+33),
    ];
}

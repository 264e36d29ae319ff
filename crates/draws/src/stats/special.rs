//! Quantiles of the normal and of the beta distribution.

/// Coefficients of rational approximations, the highest power first: Wichura (1988), Algorithm
/// AS 241, with 16 digits.
const CENTER_UP: [f64; 8] = [
    2509.0809287301227,
    33430.57558358813,
    67265.7709270087,
    45921.95393154987,
    13731.69376550946,
    1971.5909503065513,
    133.14166789178438,
    3.3871328727963665,
];
const CENTER_DOWN: [f64; 8] = [
    5226.495278852854,
    28729.085735721943,
    39307.89580009271,
    21213.794301586597,
    5394.196021424751,
    687.1870074920579,
    42.31333070160091,
    1.0,
];
const MIDDLE_UP: [f64; 8] = [
    0.0007745450142783414,
    0.022723844989269184,
    0.2417807251774506,
    1.2704582524523684,
    3.6478483247632045,
    5.769497221460691,
    4.630337846156546,
    1.4234371107496835,
];
const MIDDLE_DOWN: [f64; 8] = [
    1.0507500716444169e-09,
    0.0005475938084995345,
    0.015198666563616457,
    0.14810397642748008,
    0.6897673349851,
    1.6763848301838038,
    2.053191626637759,
    1.0,
];
const FAR_UP: [f64; 8] = [
    2.0103343992922881e-07,
    2.7115555687434876e-05,
    0.0012426609473880784,
    0.026532189526576124,
    0.29656057182850487,
    1.7848265399172913,
    5.463784911164114,
    6.657904643501103,
];
const FAR_DOWN: [f64; 8] = [
    2.0442631033899397e-15,
    1.421511758316446e-07,
    1.8463183175100548e-05,
    0.0007868691311456133,
    0.014875361290850615,
    0.1369298809227358,
    0.599832206555888,
    1.0,
];

/// The quantile of the standard normal distribution.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    let ratio = |up: &[f64], down: &[f64], r: f64| polynomial(up, r) / polynomial(down, r);
    if q.abs() <= 0.425 {
        return q * ratio(&CENTER_UP, &CENTER_DOWN, 0.180_625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let size = match r <= 5.0 {
        true => ratio(&MIDDLE_UP, &MIDDLE_DOWN, r - 1.6),
        false => ratio(&FAR_UP, &FAR_DOWN, r - 5.0),
    };
    size.copysign(q)
}

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// The quantile of the beta distribution, to about 12 digits.
pub(super) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beta_cdf(middle, a, b) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The regularized incomplete beta function.
fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The continued fraction converges fast below the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_cdf(1.0 - x, b, a);
    }
    let scale = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    scale.exp() / a * fraction(x, a, b)
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |y: f64| if y.abs() < TINY { TINY } else { y };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0_f64).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// Logarithm of Γ for positive arguments, by Stirling's series beyond 10.
fn ln_gamma(x: f64) -> f64 {
    let mut below = 1.0;
    let mut x = x;
    while x < 10.0 {
        below *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = polynomial(
        &[-691.0 / 360_360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0],
        y,
    ) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - f64::ln(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_normal_distribution() {
        let check = |p: f64, expect: f64| {
            assert!((normal_quantile(p) - expect).abs() <= 1e-14 * expect.abs().max(1e-3), "{p}");
        };
        check(0.5, 0.0);
        check(0.975, 1.959_963_984_540_054);
        check(0.025, -1.959_963_984_540_054);
        check(1e-20, -9.262_340_089_798_408);
        check(0.001, -3.090_232_306_167_813_5);
    }

    #[test]
    fn quantiles_of_the_beta_distribution() {
        // By `scipy.stats.beta.ppf`.
        let check = |p: f64, a: f64, b: f64, expect: f64| {
            let found = beta_quantile(p, a, b);
            assert!((found - expect).abs() <= 1e-11 * expect, "{p} {a} {b}: {found}");
        };
        check(0.1586553, 2.5, 7.25, 0.12108915948028774);
        check(0.8413447, 2.5, 7.25, 0.39404010716788046);
        check(0.1586553, 401.3, 401.3, 0.48235099363726625);
        check(0.8413447, 3801.0, 201.0, 0.9532251350987179);
        check(0.5, 1.0, 1.0, 0.5);
    }
}

"""References for the accuracy of the library, with mpmath.

`python3 references.py > references.txt` makes all, `python3 references.py NAME…` the blocks of these functions.

Each block begins with `= EXPRESSION`, in which `x` varies. Its rows are a point, the value, the first and
the second derivative there, rounded to doubles. A point that is a single, too, is a point of the test with
32 bits. `*` stands for a derivative that is not promised.

Values are computed with 1800 digits (incomplete gamma and beta functions: 900), derivatives as central
differences of them, whose step is 1e-360 (1e-180) of the distance to the next singularity. So the references do not know the formulas that the library uses.
"""

import functools
import struct
import sys

from mpmath import mp, mpf, inf, nan
import mpmath as m

LARGEST = mpf(sys.float_info.max)

mp.dps = 1800


def single(x):
    """The nearest single."""
    return struct.unpack("f", struct.pack("f", x))[0]


SMALL = [5e-324, 1e-310, 1e-200, 1.4e-45, 1e-39, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3]
MIDDLE = [0.03, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0, 1.2, 1.7, 2.6, 3.3, 5.0, 7.5, 9.5, 15.0, 21.0, 38.0]
LARGE = [60.0, 95.0, 103.0, 360.0, 700.0, 742.0, 1e3, 1e4]
HUGE = [1e6, 1e10, 1e17, 3e19, 1e38, 1e100, 1e155, 1e200, 1.7e308]

POSITIVE = SMALL + MIDDLE + LARGE + HUGE
UNIT = SMALL + [
    0.03,
    0.1,
    0.25,
    0.45,
    0.49999,
    0.5,
    0.55,
    0.7,
    0.9,
    0.99,
    1 - 2.0**-20,
    1 - 2.0**-24,
    1 - 1e-10,
    1 - 2.0**-53,
]


def rounded(points, ends):
    """Singles, where that moves a point by little of its distance to the next singularity."""
    for x in points:
        near = single(x) if abs(x) < 3e38 else x
        distance = min([abs(x)] + [abs(x - float(end)) for end in ends if x != end])
        yield near if near != 0 and abs(near - x) <= 0.2 * distance else x


def both(points):
    """The points, the negatives of every second one and of the largest, and zero."""
    points = list(points)
    return [-x for x in points[::2] + points[-1:]] + [0.0] + points


def upto(limit, points):
    return [x for x in points if x <= limit]


def text(y):
    """The nearest double: the largest one for what is beyond, and 0 for what differences leave of it."""
    if y == "*":
        return y
    if m.isnan(y) or m.isinf(y):
        return str(float(y))
    number = max(-LARGEST, min(LARGEST, y)) if abs(y) > mpf(10) ** -400 else 0
    return repr(float(number)).removesuffix(".0")


def differences(f, x, ends):
    """Value and derivatives at a double."""
    x, step = mpf(x), mpf(10) ** -(mp.dps // 5)
    distances = [abs(x - end) for end in ends if x != end and abs(end) != inf]
    h = min([abs(x) if x != 0 else mpf(1), mpf(1)] + distances) * step
    below, at, above = f(x - h), f(x), f(x + h)
    return at, (above - below) / (2 * h), (above - 2 * at + below) / (h * h)


def block(expression, f, points, ends=(), given=(), order=2, digits=None):
    """One function: `ends` are its singularities, `given` are rows worked out by hand."""
    if len(sys.argv) > 1 and not any(name in expression for name in sys.argv[1:]):
        return
    print("=", expression)
    mp.dps = digits or (900 if "inc" in expression else 1800)
    given = dict(given)
    for x in sorted(set(rounded(points, ends)) | set(given)):
        row = list(given[x]) if x in given else list(differences(f, x, ends))
        row[1 + order :] = ["*"] * (2 - order)
        print(repr(x), *map(text, row))
    sys.stdout.flush()
    print(expression, file=sys.stderr)


# Primitives

ALL = both(POSITIVE)
SIZES = both(upto(1e3, POSITIVE))


def lgamma(x):
    return m.log(abs(m.gamma(x))) if abs(x) < 50 else m.loggamma(x).real


def primitives():
    block("exp x", m.exp, SIZES + [-745.0])
    block("log x", m.log, POSITIVE, [0], {0.0: (-inf, inf, -inf)})
    block("log1p x", m.log1p, POSITIVE + [-p for p in UNIT], [-1])
    block("expm1 x", m.expm1, SIZES + [-1e5])
    block("sqrt x", m.sqrt, POSITIVE, [0], {0.0: (mpf(0), inf, -inf)})
    block("sin x", m.sin, both(upto(1e100, POSITIVE)))
    block("cos x", m.cos, both(upto(1e100, POSITIVE)))
    block("tan x", m.tan, both(upto(1e10, POSITIVE)))
    block(
        "asin x",
        m.asin,
        both(UNIT),
        [-1, 1],
        {1.0: (m.pi / 2, inf, inf), -1.0: (-m.pi / 2, inf, -inf)},
    )
    block(
        "acos x", m.acos, both(UNIT), [-1, 1], {1.0: (mpf(0), -inf, -inf), -1.0: (m.pi, -inf, inf)}
    )
    block("atan x", m.atan, ALL)
    block("sinh x", m.sinh, SIZES)
    block("cosh x", m.cosh, SIZES)
    block("tanh x", m.tanh, ALL)
    block("erf x", m.erf, ALL)
    block("erfc x", m.erfc, ALL)
    block(
        "lgamma x",
        lgamma,
        POSITIVE + [1.461, 1.0001, 1.9999, -0.5, -1.3, -2.5, -10.25],
        [0, -1, -2, -3, 1, 2],
    )
    block(
        "digamma x", lambda x: m.psi(0, x), POSITIVE + [-0.5, -1.3, -2.4, -10.25], [0, -1, -2, -3]
    )
    block("polygamma 1 x", lambda x: m.psi(1, x), POSITIVE + [-0.5, -1.3, -2.4], [0, -1, -2, -3])
    block("polygamma 3 x", lambda x: m.psi(3, x), upto(1e30, POSITIVE), [0])
    block("x ** 2.5", lambda x: x ** m.mpf(2.5), POSITIVE, [0], {0.0: (mpf(0), mpf(0), mpf(0))})
    block("x ** -0.5", lambda x: x ** m.mpf(-0.5), POSITIVE, [0])
    block("1.5 ** x", lambda x: mpf(1.5) ** x, SIZES)
    block("x ** 3", lambda x: x**3, ALL)
    block("x ** (-2)", lambda x: x**-2, upto(1e100, POSITIVE), [0])
    block("1 / x", lambda x: 1 / x, POSITIVE, [0])
    block("atan2 x 2.0", lambda x: m.atan2(x, 2), ALL)
    block("atan2 2.0 x", lambda x: m.atan2(2, x), ALL)
    block("hypot x 2.0", lambda x: m.hypot(x, 2), ALL)
    block("x ** x", lambda x: x**x, [x for x in upto(100.0, POSITIVE) if x >= 1e-3], [0])
    block("x + 0.1", lambda x: x + mpf(0.1), [1e-20, 0.3, 1e20])
    block("x - 0.1", lambda x: x - mpf(0.1), [1e-20, 0.3, 1e20])
    block("0.7 * x * x", lambda x: mpf(0.7) * x * x, [1e-20, 0.3, 1e20])
    block("-x", lambda x: -x, [1e-20, 0.3, 1e20])


# The prelude


def sigmoid(x):
    return 1 / (1 + m.exp(-x)) if x > 0 else m.exp(x) / (1 + m.exp(x))


def logsumexp(*xs):
    largest = max(xs)
    return largest + m.log(sum(m.exp(x - largest) for x in xs))


def prelude():
    block("sigmoid x", sigmoid, both(upto(742.0, POSITIVE)) + [1e4, -1e4, 1e300, -1e300])
    block(
        "log (sigmoid x)",
        lambda x: m.log(sigmoid(x)),
        [x for x in both(POSITIVE) if -4 < x < 3] + [-15.0, -60.0, -80.0],
        order=1,
    )
    within = [x for x in both(upto(690.0, POSITIVE)) if x not in (1e4, 1e3)]
    block("logsumexp [x, 0]", lambda x: logsumexp(x, mpf(0)), within)
    block("logsumexp [1, x, -3, x]", lambda x: logsumexp(mpf(1), x, mpf(-3), x), within)
    block("(softmax [x, 0])[0]", sigmoid, [x for x in within if abs(x) > 0.02])
    # What matrices give is a function of one entry.
    sizes = [x for x in upto(1e10, POSITIVE) if x >= 1e-20]
    block("norm [x, 2, -3]", lambda x: m.sqrt(x * x + 13), both(sizes))
    block("mean [x, 2 * x, 0.3]", lambda x: (3 * x + mpf(0.3)) / 3, sizes)
    block("dot [x, 2] [x, 3]", lambda x: x * x + 6, sizes)
    block("(outer [x, 2] [x, 3])[0, 0]", lambda x: x * x, sizes)
    block("(cumsum [x, x * x, 0.3])[1]", lambda x: x + x * x, sizes)
    block("trace [[x, 1], [2, x * x]]", lambda x: x + x * x, sizes)
    definite = upto(1e10, [1.7, 2.6, 5.0, 38.0, 1e3, 1e6, 1e10])
    block("det [[x, 1], [2, x]]", lambda x: x * x - 2, definite)
    block("logdet [[x, 1], [1, x]]", lambda x: m.log(x * x - 1), definite)
    block("(inverse [[x, 1], [1, x]])[0, 1]", lambda x: -1 / (x * x - 1), definite)
    block("(solve [[x, 1], [2, x]] [1.0, 3.0])[0]", lambda x: (x - 3) / (x * x - 2), definite)
    block("(cholesky [[x, 1], [1, x]])[1, 1]", lambda x: m.sqrt(x - 1 / x), definite)
    block("(triangular_solve [[x, 0], [1, x]] [1.0, 2.0])[1]", lambda x: (2 - 1 / x) / x, definite)
    block(
        "(triangular_solve_upper [[x, 1], [0, x]] [1.0, 2.0])[0]",
        lambda x: (1 - 2 / x) / x,
        definite,
    )

    block("log2 x", lambda x: m.log(x) / m.log(2), POSITIVE, [0], {0.0: (-inf, inf, -inf)})
    block("log10 x", lambda x: m.log(x) / m.log(10), POSITIVE, [0], {0.0: (-inf, inf, -inf)})
    block("square x", lambda x: x * x, sizes)
    block("radians x", lambda x: x * m.pi / 180, sizes)
    block("degrees x", lambda x: x * 180 / m.pi, sizes)
    block("lerp 2.0 5.0 x", lambda x: 2 + 3 * x, sizes)
    block("(linspace x 3.0 4)[1]", lambda x: (2 * x + 3) / 3, sizes)
    block("(cumprod [x, x * x, 0.3])[1]", lambda x: x**3, sizes)
    block("(cross [x, 1, 2] [0.5, x, 3])[2]", lambda x: x * x - mpf(0.5), sizes)
    block("(convolve [x, 2] [x, 3])[1]", lambda x: 5 * x, sizes)
    block("(log_softmax [x, 0])[0]", lambda x: x - logsumexp(x, mpf(0)), within)
    block("logaddexp x 0", lambda x: logsumexp(x, mpf(0)), within)
    block("variance [x, 2, -3]", lambda x: spread(x) / 3, sizes)
    block("stddev [x, 2, -3]", lambda x: m.sqrt(spread(x) / 3), sizes)
    block("sample_variance [x, 2, -3]", lambda x: spread(x) / 2, sizes)
    block("sample_stddev [x, 2, -3]", lambda x: m.sqrt(spread(x) / 2), sizes)
    block("covariance [x, 2, -3] [1, 0, 3]", lambda x: joint(x) / 3, sizes)
    block("sample_covariance [x, 2, -3] [1, 0, 3]", lambda x: joint(x) / 2, sizes)
    moderate = upto(1e4, sizes)
    block(
        "correlation [x, 2, -3] [1, 0, 3]",
        lambda x: joint(x) / m.sqrt(spread(x) * mpf(14) / 3),
        moderate,
    )


def spread(x):
    """The sum of the squared distances of x, 2 and -3 from their mean."""
    mean = (x - 1) / 3
    return (x - mean) ** 2 + (2 - mean) ** 2 + (3 + mean) ** 2


def joint(x):
    """The sum of the products of those with the distances of 1, 0 and 3 from their mean."""
    return x - 9 - 4 * (x - 1) / 3


# std/special


def log_ndtr(x):
    if abs(x) < 5e9:
        return m.log(m.erfc(-x / m.sqrt(2)) / 2)
    if x > 0:
        return mpf(0)
    # The asymptotic series, whose terms fall by 1e-20.
    series, term = mpf(1), mpf(1)
    for k in range(1, 9):
        term *= -(2 * k - 1) / (x * x)
        series += term
    return -x * x / 2 - m.log(-x) - m.log(2 * m.pi) / 2 + m.log(series)


def lbeta(a, b):
    return m.loggamma(a) + m.loggamma(b) - m.loggamma(a + b)


def lower(a, x):
    return m.gammainc(a, 0, x, regularized=True)


def upper(a, x):
    return m.gammainc(a, x, regularized=True)


def betainc(a, b, x):
    return m.betainc(a, b, 0, x, regularized=True)


def erfinv(x):
    mp.dps, digits = 60, mp.dps
    q = 1 - abs(x)
    if q < 1e-3:
        y = m.sqrt(-m.log(q * q * m.pi * -m.log(q)) / 2) * m.sign(x)
    else:
        y = x if abs(x) < 1e-3 else m.erfinv(x)
    mp.dps = digits
    for _ in range(10):
        # Newton's method with the complement, which is precise near 1.
        if x > 0.5:
            miss = (1 - x) - m.erfc(y)
        elif x < -0.5:
            miss = m.erfc(-y) - (1 + x)
        else:
            miss = m.erf(y) - x
        slope = 2 / m.sqrt(m.pi) * m.exp(-y * y)
        y -= miss / (slope + y * miss)
    return y


def erfcinv(q):
    if q > 0.4:
        return erfinv(1 - q)
    y = mpf(m.sqrt(-m.log(q * q * m.pi * -m.log(q)) / 2))
    for _ in range(40):
        miss = m.erfc(y) - q
        slope = 2 / m.sqrt(m.pi) * m.exp(-y * y)
        step = miss / (slope - y * miss)
        y += step
        if abs(step) < mpf(10) ** -1700 * abs(y):
            break
    return y


def special():
    block(
        "special.erfinv x",
        erfinv,
        [x for x in both(UNIT) if x != 0],
        [-1, 1],
        {0.0: (mpf(0), m.sqrt(m.pi) / 2, mpf(0)), 1.0: (inf, inf, inf)},
    )
    block("special.erfcinv x", erfcinv, [x for x in UNIT + [1.3, 1.9, 1.999] if x > 1e-305], [0, 2])
    block("special.log_ndtr x", log_ndtr, both(upto(1e200, POSITIVE)))
    for b in (0.5, 3, 40, 1e10):
        block(f"special.lbeta x {b}", lambda a, b=mpf(b): lbeta(a, b), upto(1e200, POSITIVE), [0])
    edges = {
        0.5: (mpf(0), inf, -inf),
        1: (mpf(0), mpf(1), mpf(-1)),
        1.5: (mpf(0), mpf(0), inf),
        2: (mpf(0), mpf(0), mpf(1)),
        3.5: (mpf(0), mpf(0), mpf(0)),
        30: (mpf(0), mpf(0), mpf(0)),
        250: (mpf(0), mpf(0), mpf(0)),
    }
    args = [x for x in upto(1e3, POSITIVE) if x > 1e-310]
    for a, edge in edges.items():
        near = [a * t for t in (0.5, 0.9, 1.0, 1.1, 1.5)] if a >= 30 else []
        block(
            f"special.gammainc {a} x",
            lambda x, a=mpf(a): lower(a, x),
            args + near,
            [0],
            {0.0: edge},
        )
        other = (1 - edge[0], -edge[1], -edge[2])
        block(
            f"special.gammaincc {a} x",
            lambda x, a=mpf(a): upper(a, x),
            args + near,
            [0],
            {0.0: other},
        )
    shapes = [x for x in SMALL if x > 1e-40] + [0.03, 0.3, 0.7, 0.95, 1.2, 2.6, 5.5, 11.25, 20.5]
    for x in (0.01, 1, 4.5):
        block(f"special.gammainc x {x}", lambda a, x=mpf(x): lower(a, x), shapes, [0])
        block(f"special.gammaincc x {x}", lambda a, x=mpf(x): upper(a, x), shapes, [0])
    block("special.gammainc x (0.8 * x)", lambda a: lower(a, mpf(0.8) * a), shapes[-9:], [0])
    block("special.gammaincc x (2 * x)", lambda a: upper(a, 2 * a), shapes[-9:], [0])
    zero = mpf(0)
    ends = {
        (0.5, 1): (zero, inf, -inf),
        (1, 3): (zero, mpf(3), mpf(-6)),
        (2, 0.5): (zero, zero, 1 / m.beta(2, mpf(0.5))),
        (2.5, 3.5): (zero, zero, zero),
        (12, 30): (zero, zero, zero),
    }
    for (a, b), end in ends.items():
        block(
            f"special.betainc {a} {b} x",
            lambda x, a=mpf(a), b=mpf(b): betainc(a, b, x),
            [x for x in UNIT if x > 1e-305],
            [0, 1],
            {0.0: end},
        )
    for b, x in ((3, 0.5), (0.7, 0.1)):
        block(
            f"special.betainc x {b} {x}",
            lambda a, b=mpf(b), x=mpf(x): betainc(a, b, x),
            shapes[-8:],
            [0],
        )
    block(
        "special.betainc x 3 (x / (x + 4))", lambda a: betainc(a, 3, a / (a + 4)), shapes[-8:], [0]
    )
    args = both(upto(1e4, POSITIVE))
    block("special.bessel_i0 x", lambda x: m.besseli(0, x), both(upto(700.0, POSITIVE)))
    block("special.bessel_i1 x", lambda x: m.besseli(1, x), both(upto(700.0, POSITIVE)))
    kink = {0.0: (mpf(1), zero, mpf(1.5))}
    block("special.bessel_i0e x", lambda x: m.besseli(0, x) * m.exp(-abs(x)), args, [0], kink)
    kink = {0.0: (zero, mpf(0.5), nan)}
    block("special.bessel_i1e x", lambda x: m.besseli(1, x) * m.exp(-abs(x)), args, [0], kink)
    block("special.bessel_j0 x", lambda x: m.besselj(0, x), args)
    block("special.bessel_j1 x", lambda x: m.besselj(1, x), args)
    least = -m.exp(-1)
    block(
        "special.lambert_w x",
        lambda x: m.lambertw(x).real,
        POSITIVE
        + [-x for x in SMALL]
        + [-0.03, -0.1, -0.3, -0.36, -0.367, -0.36787, -0.3678794, -0.36787944117144],
        [least],
    )
    block(
        "special.log1pexp x",
        lambda x: m.log1p(m.exp(x)) if x < 0 else x + m.log1p(m.exp(-x)),
        both(upto(742.0, POSITIVE)) + [1e300],
    )
    block(
        "special.log1mexp x",
        lambda x: m.log(-m.expm1(x)),
        [-x for x in upto(742.0, POSITIVE)] + [-1e4, -1e300],
        [0],
        {0.0: (-inf, -inf, -inf)},
    )
    block(
        "special.logit x",
        lambda x: m.log(x / (1 - x)),
        UNIT,
        [0, 1],
        {0.0: (-inf, inf, -inf), 1.0: (inf, inf, inf)},
    )
    block("special.expit x", sigmoid, both(upto(742.0, POSITIVE)))
    block(
        "special.xlogy 2.5 x",
        lambda x: mpf(2.5) * m.log(x),
        [x for x in POSITIVE if x > 1e-308],
        [0],
    )
    block(
        "special.xlogy 0.0 x",
        lambda x: zero,
        [x for x in POSITIVE if x > 1e-37],
        [0],
        {0.0: (zero, zero, zero)},
    )
    block("special.xlogy x 1e-3", lambda x: x * m.log(mpf(1e-3)), both(upto(1e30, POSITIVE)))


# std/dist


def normal(y, mu, sigma):
    z = (y - mu) / sigma
    return -z * z / 2 - m.log(sigma) - m.log(2 * m.pi) / 2


def student_t(y, nu, mu, sigma):
    z = (y - mu) / sigma
    return (
        m.loggamma((nu + 1) / 2)
        - m.loggamma(nu / 2)
        - m.log(nu * m.pi) / 2
        - m.log(sigma)
        - (nu + 1) / 2 * m.log1p(z * z / nu)
    )


def cauchy(y, mu, sigma):
    z = (y - mu) / sigma
    return -m.log(m.pi) - m.log(sigma) - m.log1p(z * z)


def softplus(x):
    return logsumexp(x, mpf(0))


def logistic(y, mu, sigma):
    z = (y - mu) / sigma
    return z - 2 * softplus(z) - m.log(sigma)


def gumbel(y, mu, beta):
    z = (y - mu) / beta
    return -z - m.exp(-z) - m.log(beta)


def lognormal(y, mu, sigma):
    return normal(m.log(y), mu, sigma) - m.log(y)


def xlogy(x, y):
    return mpf(0) if x == 0 else x * m.log(y)


def gamma(y, shape, rate):
    return shape * m.log(rate) - m.loggamma(shape) + xlogy(shape - 1, y) - rate * y


def inv_gamma(y, shape, scale):
    return shape * m.log(scale) - m.loggamma(shape) - (shape + 1) * m.log(y) - scale / y


def weibull(y, shape, scale):
    return m.log(shape / scale) + xlogy(shape - 1, y / scale) - (y / scale) ** shape


def pareto(y, least, shape):
    return m.log(shape) + shape * m.log(least) - (shape + 1) * m.log(y)


def beta(y, a, b):
    return xlogy(a - 1, y) + xlogy(b - 1, 1 - y) - lbeta(a, b)


def von_mises(y, mu, kappa):
    return kappa * m.cos(y - mu) - m.log(2 * m.pi * m.besseli(0, kappa))


def choose(n, k):
    return m.log(m.binomial(n, k))


def binomial(k, n, p):
    return choose(n, k) + xlogy(mpf(k), p) + xlogy(mpf(n - k), 1 - p)


def poisson(k, rate):
    return xlogy(mpf(k), rate) - rate - m.loggamma(k + 1)


def neg_binomial(k, mu, phi):
    return (
        m.loggamma(k + phi)
        - m.loggamma(phi)
        - m.loggamma(k + 1)
        + xlogy(mpf(k), mu / (mu + phi))
        + phi * m.log(phi / (mu + phi))
    )


def dist():
    sizes = [x for x in upto(1e3, POSITIVE) if x >= 1e-39 or x < 1e-320]
    real = both([x for x in upto(1e10, POSITIVE) if x > 1e-46][::2])
    scale = [x for x in upto(1e10, POSITIVE) if x > 1e-13]
    shape = [x for x in upto(1e6, POSITIVE) if x > 1e-13]
    small = [x for x in upto(700.0, POSITIVE) if x > 1e-13]

    of = dist_points(real, scale, shape, sizes)

    def with_parameters(name, density, cases):
        for arguments, variable, kind in cases:
            shown = " ".join("x" if k == variable else str(a) for k, a in enumerate(arguments))
            values = [mpf(a) for a in arguments]

            def f(x, values=values, variable=variable):
                return density(*(x if k == variable else v for k, v in enumerate(values)))

            points, ends, given = of[kind] if isinstance(kind, str) else kind
            block(f"dist.{name} {shown}", f, points, ends, given)

    three = [((2, 0.5, 3), 0, "real"), ((2, 0.5, 3), 1, "real"), ((2, 0.5, 3), 2, "scale")]
    with_parameters("normal_lpdf", normal, three)
    with_parameters("normal_lcdf", lambda y, mu, s: log_ndtr((y - mu) / s), three)
    with_parameters("cauchy_lpdf", cauchy, three)
    with_parameters("logistic_lpdf", logistic, three)
    laplace = lambda y, mu, s: -abs(y - mu) / s - m.log(2 * s)
    smooth = ([x for x in real if x != 0.5], [0.5], {})
    with_parameters("double_exponential_lpdf", laplace, [((2, 0.5, 3), 0, smooth), *three[1:]])
    with_parameters("logistic_lcdf", lambda y, mu, s: -softplus((mu - y) / s), three)
    tame = ([x for x in both(small) if abs(x) < 300], [], {})
    with_parameters(
        "gumbel_lpdf",
        gumbel,
        [
            ((2, 0.5, 3), 0, tame),
            ((2, 0.5, 3), 1, tame),
            ((2, 0.5, 3), 2, ([x for x in scale if x > 0.02], [0], {})),
        ],
    )
    with_parameters(
        "student_t_lpdf",
        student_t,
        [
            ((2, 3.5, 0.5, 3), 0, "real"),
            ((2, 3.5, 0.5, 3), 1, "shape"),
            ((2, 3.5, 0.5, 3), 2, "real"),
            ((2, 3.5, 0.5, 3), 3, "scale"),
        ],
    )
    with_parameters(
        "lognormal_lpdf",
        lognormal,
        [((2, 0.5, 3), 0, "scale"), ((2, 0.5, 3), 1, "real"), ((2, 0.5, 3), 2, "scale")],
    )
    with_parameters(
        "exponential_lpdf",
        lambda y, rate: m.log(rate) - rate * y,
        [((2, 3), 0, "positive"), ((2, 3), 1, "scale")],
    )
    with_parameters(
        "exponential_lcdf",
        lambda y, rate: m.log(-m.expm1(-rate * y)),
        [((2, 3), 0, "scale"), ((2, 3), 1, "scale")],
    )
    first = {0.0: (m.log(mpf(3)), mpf(-3), mpf(0))}
    with_parameters(
        "gamma_lpdf",
        gamma,
        [
            ((2, 1, 3), 0, ([x for x in sizes if x > 1e-37], [0], first)),
            ((2, 2.5, 3), 0, "scale"),
            ((2, 25, 3), 0, "scale"),
            ((2, 2.5, 3), 1, "shape"),
            ((2, 2.5, 3), 2, "scale"),
            ((2, 25, 3), 2, "scale"),
        ],
    )
    with_parameters(
        "gamma_lcdf",
        lambda y, a, rate: m.log(lower(a, rate * y)),
        [((2, 2.5, 3), 0, (small, [0], {})), ((2, 25, 3), 0, (small, [0], {}))],
    )
    with_parameters(
        "inv_gamma_lpdf",
        inv_gamma,
        [
            ((2, 2.5, 3), 0, "scale"),
            ((2, 2.5, 3), 1, "shape"),
            ((2, 2.5, 3), 2, ([x for x in scale if x != 5], [0], {})),
        ],
    )
    with_parameters(
        "chi_square_lpdf",
        lambda y, nu: gamma(y, nu / 2, mpf(0.5)),
        [((2, 3), 0, "scale"), ((2, 3), 1, "shape")],
    )
    first = {0.0: (-m.log(mpf(2)), mpf(-0.5), mpf(0))}
    with_parameters(
        "weibull_lpdf",
        weibull,
        [
            ((2, 1.0, 2), 0, ([x for x in sizes if x > 1e-37], [0], first)),
            ((2, 2.5, 3), 0, "scale"),
            ((2, 2.5, 3), 1, (upto(100, shape), [0], {})),
            ((2, 2.5, 3), 2, (scale, [0], {})),
        ],
    )
    with_parameters(
        "weibull_lcdf",
        lambda y, a, s: m.log(-m.expm1(-((y / s) ** a))),
        [((2, 2.5, 3), 0, (upto(30, scale), [0], {})), ((2, 2.5, 3), 2, (scale, [0], {}))],
    )
    with_parameters(
        "pareto_lpdf",
        pareto,
        [
            ((2, 1, 3), 0, ([x for x in scale if x >= 1.1], [0], {})),
            ((2, 1, 3), 1, (upto(1.9, scale), [0], {})),
            ((2, 1, 3), 2, "scale"),
        ],
    )
    with_parameters(
        "half_normal_lpdf",
        lambda y, s: normal(y, 0, s) + m.log(2),
        [((2, 3), 0, "positive"), ((2, 3), 1, "scale")],
    )
    with_parameters(
        "half_cauchy_lpdf",
        lambda y, s: cauchy(y, 0, s) + m.log(2),
        [((2, 3), 0, "positive"), ((2, 3), 1, "scale")],
    )
    with_parameters(
        "uniform_lpdf",
        lambda y, a, b: -m.log(b - a),
        [
            ((2, 1, 3), 1, ([-1e30, -1e3, -1.0, 0.0, 0.5, 1.0, 1.5], [3], {})),
            ((2, 1, 3), 2, ([2.0, 5.0, 1e10], [1], {})),
        ],
    )
    unit = [x for x in UNIT if x > 1e-40]
    with_parameters(
        "beta_lpdf",
        beta,
        [
            ((0.5, 2.5, 3), 0, (unit, [0, 1], {})),
            ((0.5, 12, 30), 0, (unit, [0, 1], {})),
            ((0.5, 2.5, 3), 1, "shape"),
            ((0.25, 25, 30), 2, "shape"),
        ],
    )
    with_parameters(
        "beta_lcdf",
        lambda y, a, b: m.log(betainc(a, b, y)),
        [((0.5, 2.5, 3), 0, (unit, [0, 1], {}))],
    )
    with_parameters(
        "von_mises_lpdf",
        von_mises,
        [
            ((2, 0.5, 3), 0, (both([0.03, 0.1, 0.5, 1.2, 3.0]), [], {})),
            ((2, 0.5, 3), 2, (upto(700.0, shape), [], {})),
        ],
    )

    def of_count(name, density, arguments, points, ends, given=()):
        values = [mpf(a) if a != "x" else None for a in arguments]
        shown = " ".join(map(str, arguments))
        block(
            f"dist.{name} {shown}",
            lambda x: density(*(x if v is None else v for v in values)),
            points,
            ends,
            given,
        )

    rates = [x for x in upto(1e6, POSITIVE)]
    zero = mpf(0)
    of_count("poisson_lpmf", poisson, (0, "x"), rates, [0], {0.0: (zero, mpf(-1), zero)})
    of_count("poisson_lpmf", poisson, (3, "x"), rates, [0])
    of_count("poisson_lpmf", poisson, (40, "x"), rates, [0])
    of_count(
        "poisson_log_lpmf",
        lambda k, a: poisson(k, m.exp(a)),
        (3, "x"),
        both(upto(80.0, POSITIVE)),
        [],
    )
    of_count("binomial_lpmf", binomial, (0, 5, "x"), UNIT, [1], {0.0: (zero, mpf(-5), mpf(-5))})
    of_count("binomial_lpmf", binomial, (2, 5, "x"), UNIT, [0, 1])
    of_count("binomial_lpmf", binomial, (5, 5, "x"), UNIT, [0], {1.0: (zero, mpf(5), mpf(-5))})
    of_count("bernoulli_lpmf", lambda k, p: binomial(k, 1, p), (0, "x"), UNIT, [1])
    of_count("bernoulli_lpmf", lambda k, p: binomial(k, 1, p), (1, "x"), UNIT, [0])
    of_count(
        "bernoulli_logit_lpmf",
        lambda k, a: -softplus(-a),
        (1, "x"),
        both(upto(700.0, POSITIVE)),
        [],
    )
    of_count(
        "binomial_logit_lpmf",
        lambda k, n, a: choose(n, k) - k * softplus(-a) - (n - k) * softplus(a),
        (2, 5, "x"),
        both(upto(700.0, POSITIVE)),
        [],
    )
    of_count(
        "neg_binomial_2_lpmf",
        neg_binomial,
        (0, "x", 3),
        rates,
        [],
        {0.0: (zero, mpf(-1), mpf(1) / 3)},
    )
    of_count("neg_binomial_2_lpmf", neg_binomial, (4, "x", 3), rates, [0])
    of_count("neg_binomial_2_lpmf", neg_binomial, (4, 3, "x"), shape, [0])
    of_count(
        "geometric_lpmf",
        lambda k, p: m.log(p) + xlogy(mpf(k), 1 - p),
        (0, "x"),
        UNIT,
        [0],
        {1.0: (zero, mpf(1), mpf(-1))},
    )
    of_count(
        "geometric_lpmf",
        lambda k, p: m.log(p) + xlogy(mpf(k), 1 - p),
        (3, "x"),
        [x for x in UNIT if x != 0.25],
        [0, 1],
    )
    of_many()


def of_many():
    """Densities of vectors and matrices, as functions of one number in them."""
    half = mpf(0.5)
    unit = [0.03, 0.1, 0.25, 0.45, 0.7, 0.9]
    tame = [0.1, 0.5, 1.2, 2.6, 5.0, 21.0, 95.0, 1e4]
    log2pi = m.log(2 * m.pi)

    def dirichlet(y, a, b):
        return -lbeta(a, b) + (a - 1) * m.log(y) + (b - 1) * m.log1p(-y)

    block(
        "dist.dirichlet_lpdf [x, 1 - x] [2.5, 3]", lambda y: dirichlet(y, mpf(2.5), 3), unit, [0, 1]
    )
    block(
        "dist.dirichlet_lpdf [0.25, 0.75] [x, 3]", lambda a: dirichlet(mpf(0.25), a, 3), tame, [0]
    )

    def normal_2(x, y, a, b, c):
        """The logarithm of the normal density for the covariance [[a, b], [b, c]]."""
        det = a * c - b * b
        return -(c * x * x - 2 * b * x * y + a * y * y) / det / 2 - m.log(det) / 2 - log2pi

    block(
        "dist.multi_normal_lpdf [x, 1] [0.5, 0.25] [[2, 0.5], [0.5, 1]]",
        lambda x: normal_2(x - half, mpf(0.75), 2, half, 1),
        both(tame),
    )
    block(
        "dist.multi_normal_lpdf [1, 0.5] [0, 0.25] [[x, 0.5], [0.5, 1]]",
        lambda x: normal_2(1, mpf(0.25), x, half, 1),
        tame[1:],
    )
    block(
        "dist.multi_normal_cholesky_lpdf [1, 0.5] [0, 0.25] [[1, 0], [0.5, x]]",
        lambda x: -half - ((mpf(0.25) - half) / x) ** 2 / 2 - m.log(x) - log2pi,
        tame,
        [0],
    )

    def wishart(x, nu):
        """Of [[x, ½], [½, 1]] for the scale [[1, ½], [½, 2]], whose determinant is 7/4 and whose inverse [[8, -2], [-2, 4]] / 7."""
        det = x - mpf(0.25)
        trace = (8 * x - 2 + 4) / 7
        scale = (
            nu * m.log(2)
            + nu / 2 * m.log(mpf(7) / 4)
            + m.log(m.pi) / 2
            + m.loggamma(nu / 2)
            + m.loggamma(nu / 2 - half)
        )
        return (nu - 3) / 2 * m.log(det) - trace / 2 - scale

    block(
        "dist.wishart_lpdf [[x, 0.5], [0.5, 1]] 4 [[1, 0.5], [0.5, 2]]",
        lambda x: wishart(x, 4),
        tame[1:],
    )
    block(
        "dist.wishart_lpdf [[2, 0.5], [0.5, 1]] x [[1, 0.5], [0.5, 2]]",
        lambda nu: wishart(2, nu),
        tame[2:],
        [1],
    )

    def lkj(d, eta):
        """Of a factor of two rows with the lower corner d."""
        return (2 * eta - 2) * m.log(d) + m.loggamma(eta + half) - m.log(m.pi) / 2 - m.loggamma(eta)

    block(
        "dist.lkj_corr_cholesky_lpdf [[1, 0], [0.5, x]] 2.5", lambda d: lkj(d, mpf(2.5)), unit, [0]
    )
    block(
        "dist.lkj_corr_cholesky_lpdf [[1, 0], [0.6, 0.75]] x",
        lambda eta: lkj(mpf(0.75), eta),
        tame,
        [0],
    )
    block("dist.categorical_lpmf 0 [x, 1 - x]", m.log, unit, [0])
    block("dist.categorical_logit_lpmf 0 [x, 0.5]", lambda x: -softplus(half - x), both(tame[:7]))
    block("dist.multinomial_lpmf [2, 3] [x, 1 - x]", lambda p: binomial(2, 5, p), unit, [0, 1])
    between = lambda x, low, high: m.log(sigmoid(high - x) - sigmoid(low - x))
    block("dist.ordered_logistic_lpmf 0 x [0, 1]", lambda x: -softplus(x), both(tame[:7]))
    block(
        "dist.ordered_logistic_lpmf 1 x [0, 1]",
        lambda x: between(x, mpf(0), mpf(1)),
        both(tame[:7]),
    )
    block(
        "dist.ordered_logistic_lpmf 1 0.5 [0, x]", lambda c: between(half, mpf(0), c), tame[:7], [0]
    )


# The distribution functions, and what came to `dist` later. Values have 800 digits (incomplete
# functions: 240), of which the points leave enough.


def log_sum(terms):
    return m.log(sum(m.exp(t) for t in terms))


def log_rest(terms):
    """The logarithm of what is missing to 1."""
    return m.log(1 - sum(m.exp(t) for t in terms))


def skew_normal(y, xi, omega, alpha):
    return m.log(2) + normal(y, xi, omega) + log_ndtr(alpha * (y - xi) / omega)


def exp_mod_normal(y, mu, sigma, rate):
    a = rate * sigma
    z = (y - mu) / sigma
    return m.log(rate) + a * a / 2 - a * z + log_ndtr(z - a)


def exp_mod_normal_upper(y, mu, sigma, rate):
    a = rate * sigma
    z = (y - mu) / sigma
    return m.exp(log_ndtr(-z)) + m.exp(a * a / 2 - a * z + log_ndtr(z - a))


def exp_mod_normal_lower(y, mu, sigma, rate):
    a = rate * sigma
    z = (y - mu) / sigma
    return m.exp(log_ndtr(z)) - m.exp(a * a / 2 - a * z + log_ndtr(z - a))


def skew_normal_lcdf(y, xi, omega, alpha):
    """By Owen's function, an integral over an angle."""
    z = (y - xi) / omega
    owen = m.quad(lambda t: m.exp(-((z / m.cos(t)) ** 2) / 2), [0, m.atan(alpha) / 2, m.atan(alpha)])
    return m.log(m.exp(log_ndtr(z)) - owen / m.pi)


def von_mises_lcdf(y, mu, kappa):
    angle = y - mu
    weigh = lambda t: m.exp(kappa * m.cos(t))
    return m.log(m.quad(weigh, [-m.pi, (angle - m.pi) / 2, angle]) / (2 * m.pi * m.besseli(0, kappa)))


def student_t_tail(z, nu):
    """Beyond z > 0."""
    return betainc(nu / 2, mpf(1) / 2, nu / (nu + z * z)) / 2


def student_t_lcdf(y, nu, mu, sigma):
    z = (y - mu) / sigma
    return m.log(student_t_tail(-z, nu) if z < 0 else 1 - student_t_tail(z, nu))


def cauchy_lcdf(y, mu, sigma):
    z = (y - mu) / sigma
    return m.log(m.atan2(1, -z) / m.pi)


def frechet(y, shape, scale):
    return m.log(shape / scale) - (shape + 1) * m.log(y / scale) - (y / scale) ** -shape


def beta_binomial(k, n, a, b):
    return choose(n, k) + lbeta(k + a, n - k + b) - lbeta(a, b)


def neg_binomial_ab(k, a, b):
    return (
        m.loggamma(k + a)
        - m.loggamma(a)
        - m.loggamma(k + 1)
        + a * m.log(b / (1 + b))
        - k * m.log1p(b)
    )


def below(density, y, *parameters):
    return log_sum(density(k, *parameters) for k in range(y + 1))


def above(density, y, *parameters):
    return log_rest(density(k, *parameters) for k in range(y + 1))


def later():
    """Functions of one of their arguments, `x`; for each the points and the singularities."""

    few = functools.partial(block, digits=800)

    def rows(name, f, arguments, *cases, **options):
        values = [a if isinstance(a, (int, str)) else mpf(a) for a in arguments]
        for variable, points, ends, *rest in cases:
            shown = " ".join(
                "x" if k == variable else f"({a})" if str(a).startswith("-") else str(a)
                for k, a in enumerate(arguments)
            )

            def at(x, variable=variable):
                return f(*(x if k == variable else v for k, v in enumerate(values)))

            more = dict(zip(("order",), rest))
            few(f"dist.{name} {shown}", at, points, ends, **options, **more)

    real = both([1e-20, 1e-8, 1e-3, 0.1, 0.5, 1.2, 2.6, 7.5, 21.0, 95.0, 1e3, 1e6])
    near = both([1e-20, 1e-3, 0.1, 0.5, 1.2, 2.6, 7.5, 15.0, 38.0])
    scale = [1e-3, 0.03, 0.1, 0.5, 1.2, 2.6, 7.5, 21.0, 95.0, 1e3, 1e6]
    middle = [0.03, 0.1, 0.5, 0.7, 1.2, 2.6, 5.0, 7.5, 21.0]
    positive = [1e-20, 1e-8, 1e-3, 0.1, 0.5, 1.2, 2.6, 7.5, 21.0, 95.0, 700.0]
    shape = [1e-8, 0.03, 0.3, 0.95, 1.2, 2.6, 9.5, 15.0, 95.0, 1e4, 1e6]
    small = [0.3, 0.95, 1.2, 2.6, 5.5, 11.25, 20.5]
    unit = [1e-20, 1e-8, 0.03, 0.1, 0.25, 0.45, 0.55, 0.7, 0.9, 0.99, 1 - 2.0**-20]
    of_location = ((0, real, []), (1, real, []), (2, scale, [0]))
    of_location_near = ((0, near, []), (1, near, []), (2, scale[3:], [0]))
    of_rate = ((0, positive, [0]), (1, positive, [0]))
    laplace = lambda y, mu, s: (
        (y - mu) / s - m.log(2) if y < mu else m.log1p(-m.exp((mu - y) / s) / 2)
    )
    without = [x for x in real if x != 0.5]

    rows("normal_lccdf", lambda y, mu, s: log_ndtr((mu - y) / s), (2, 0.5, 3), *of_location)
    t = (2, 3.5, 0.5, 3)
    t_points = [x for x in without if abs(x) > 1e-10 or x == 0]
    of_t = ((0, t_points, [0.5]), (1, small, [0], 1), (2, [-7.5, 0.1, 7.5], [2]), (3, small, [0]))
    rows("student_t_lcdf", student_t_lcdf, t, *of_t, digits=240)
    upper_t = lambda y, nu, mu, s: student_t_lcdf(-y, nu, -mu, s)
    rows("student_t_lccdf", upper_t, t, *of_t, digits=240)
    rows("cauchy_lcdf", cauchy_lcdf, (2, 0.5, 3), *of_location)
    rows("cauchy_lccdf", lambda y, mu, s: cauchy_lcdf(-y, -mu, s), (2, 0.5, 3), *of_location)
    of_laplace = ((0, [x for x in without if x < 700], [0.5]), (2, scale[3:], [0]))
    rows("double_exponential_lcdf", laplace, (2, 0.5, 3), *of_laplace)
    upper_laplace = lambda y, mu, s: laplace(-y, -mu, s)
    of_laplace = ((0, [x for x in without if x > -700], [0.5]), (2, scale[3:], [0]))
    rows("double_exponential_lccdf", upper_laplace, (2, 0.5, 3), *of_laplace)
    rows("logistic_lccdf", lambda y, mu, s: -softplus((y - mu) / s), (2, 0.5, 3), *of_location_near)
    below_gumbel = lambda y, mu, b: -m.exp((mu - y) / b)
    rows("gumbel_lcdf", below_gumbel, (2, 0.5, 3), *of_location_near)
    above_gumbel = lambda y, mu, b: m.log(-m.expm1(-m.exp((mu - y) / b)))
    of_gumbel = ((0, [x for x in real if -10 < x], []), (2, scale[3:], [0]))
    rows("gumbel_lccdf", above_gumbel, (2, 0.5, 3), *of_gumbel)
    four = (2, 0.5, 3, 1.5)
    last = ((3, near, []),)
    rows("skew_normal_lpdf", skew_normal, four, *of_location_near, *last)
    tame = both([0.1, 0.75, 1.2, 2.6, 5.0])
    of_skew = ((0, tame, []), (1, tame, []), (2, middle[3:], [0]), (3, tame, []))
    rows("skew_normal_lcdf", skew_normal_lcdf, four, *of_skew, digits=120)
    upper_skew = lambda y, xi, omega, alpha: skew_normal_lcdf(-y, -xi, omega, -alpha)
    rows("skew_normal_lccdf", upper_skew, four, *of_skew, digits=120)
    of_angle = ((0, both([0.1, 0.75, 2.6]), []), (1, [0.1, 0.75, 2.6, 5.0], []), (2, middle, [0]))
    rows("von_mises_lcdf", von_mises_lcdf, (2, 0.5, 3), *of_angle, digits=120)
    upper_angle = lambda y, mu, kappa: von_mises_lcdf(-y, -mu, kappa)
    rows("von_mises_lccdf", upper_angle, (2, 0.5, 3), *of_angle, digits=120)
    last = ((3, scale[:8], [0]),)
    rows("exp_mod_normal_lpdf", exp_mod_normal, four, *of_location_near, *last)
    log_of = lambda f: lambda *arguments: m.log(f(*arguments))
    rows("exp_mod_normal_lcdf", log_of(exp_mod_normal_lower), four, *of_location_near, *last)
    rows("exp_mod_normal_lccdf", log_of(exp_mod_normal_upper), four, *of_location_near, *last)

    below_lognormal = lambda y, mu, s: log_ndtr((m.log(y) - mu) / s)
    of_lognormal = ((0, positive, [0]), (1, near, []), (2, scale[3:], [0]))
    rows("lognormal_lcdf", below_lognormal, (2, 0.5, 3), *of_lognormal)
    above_lognormal = lambda y, mu, s: log_ndtr((mu - m.log(y)) / s)
    of_lognormal = ((0, positive[1:], [0]), *of_lognormal[1:])
    rows("lognormal_lccdf", above_lognormal, (2, 0.5, 3), *of_lognormal)
    rows("exponential_lccdf", lambda y, rate: -rate * y, (2, 3), *of_rate)
    log_upper = lambda a, x: m.log(upper(a, x))
    log_lower = lambda a, x: m.log(lower(a, x))
    within = [x for x in positive if 1e-30 < x < 200]
    of_gamma = ((0, within, [0]), (1, small, [0], 1), (2, within, [0]))
    rows("gamma_lccdf", lambda y, a, r: log_upper(a, r * y), (2, 2.5, 3), *of_gamma, digits=240)
    rows("gamma_lccdf", lambda y, a, r: log_upper(a, r * y), (2, 25, 3), (0, within[2:], [0]), digits=240)
    rows("gamma_lccdf", lambda y, a, r: log_upper(a, r * y), (2, 0.3, 3), *of_gamma[:1], digits=240)
    below_inv = lambda y, a, s: log_upper(a, s / y)
    above_inv = lambda y, a, s: log_lower(a, s / y)
    wide = [x for x in scale if x > 0.02]
    of_inv = ((0, wide, [0]), (1, small, [0], 1), (2, within, [0]))
    rows("inv_gamma_lcdf", below_inv, (2, 2.5, 3), *of_inv, digits=240)
    rows("inv_gamma_lccdf", above_inv, (2, 2.5, 3), *of_inv, digits=240)
    half = mpf(0.5)
    of_chi = ((0, within, [0]), (1, small, [0], 1))
    rows("chi_square_lcdf", lambda y, nu: log_lower(nu / 2, y / 2), (2, 3), *of_chi, digits=240)
    rows("chi_square_lccdf", lambda y, nu: log_upper(nu / 2, y / 2), (2, 3), *of_chi, digits=240)
    of_inv = ((0, wide, [0]), (1, shape, [0]))
    rows("inv_chi_square_lpdf", lambda y, nu: inv_gamma(y, nu / 2, half), (2, 3), *of_inv)
    of_inv = ((0, wide, [0]), (1, small, [0], 1))
    below_chi = lambda y, nu: below_inv(y, nu / 2, half)
    rows("inv_chi_square_lcdf", below_chi, (2, 3), *of_inv, digits=240)
    above_chi = lambda y, nu: above_inv(y, nu / 2, half)
    rows("inv_chi_square_lccdf", above_chi, (2, 3), *of_inv, digits=240)
    scaled = lambda f: lambda y, nu, s: f(y, nu / 2, nu / 2 * s * s)
    of_inv = ((0, wide, [0]), (1, small, [0]), (2, small, [0]))
    rows("scaled_inv_chi_square_lpdf", scaled(inv_gamma), (2, 3, 1.5), *of_inv)
    of_inv = ((0, wide, [0]), (1, small, [0], 1), (2, small, [0]))
    rows("scaled_inv_chi_square_lcdf", scaled(below_inv), (2, 3, 1.5), *of_inv, digits=240)
    rows("scaled_inv_chi_square_lccdf", scaled(above_inv), (2, 3, 1.5), *of_inv, digits=240)
    of_three = ((0, middle, [0]), (1, middle, [0]), (2, middle, [0]))
    rows("weibull_lccdf", lambda y, a, s: -((y / s) ** a), (2, 2.5, 3), *of_three)
    rows("frechet_lpdf", frechet, (2, 2.5, 3), *of_three)
    rows("frechet_lcdf", lambda y, a, s: -((y / s) ** -a), (2, 2.5, 3), *of_three)
    above_frechet = lambda y, a, s: m.log(-m.expm1(-((y / s) ** -a)))
    of_three = ((0, scale[4:], [0]), (1, middle, [0]), (2, middle[:6], [0]))
    rows("frechet_lccdf", above_frechet, (2, 2.5, 3), *of_three)
    of_two = ((0, middle, [0]), (1, middle, [0]))
    rows("rayleigh_lpdf", lambda y, s: m.log(y / s) - m.log(s) - (y / s) ** 2 / 2, (2, 3), *of_two)
    of_tail = ((0, positive[:-4], [0]), (1, scale[4:], [0]))
    rows("rayleigh_lcdf", lambda y, s: m.log(-m.expm1(-((y / s) ** 2) / 2)), (2, 3), *of_tail)
    rows("rayleigh_lccdf", lambda y, s: -((y / s) ** 2) / 2, (2, 3), *of_two)
    of_pareto = ((0, [1.01, 1.2, 1.7, 2.6, 21.0, 1e6], [1]), (2, scale, [0]))
    rows("pareto_lcdf", lambda y, a, b: m.log(1 - (a / y) ** b), (2, 1, 3), *of_pareto)
    rows("pareto_lccdf", lambda y, a, b: b * m.log(a / y), (2, 1, 3), *of_pareto)
    of_half = ((0, positive[:-3], [0]), (1, scale[2:], [0]))
    rows("half_normal_lcdf", lambda y, s: m.log(m.erf(y / s / m.sqrt(2))), (2, 3), *of_half)
    rows("half_normal_lccdf", lambda y, s: m.log(2) + log_ndtr(-y / s), (2, 3), *of_half)
    of_half = ((0, positive, [0]), (1, scale, [0]))
    rows("half_cauchy_lcdf", lambda y, s: m.log(2 / m.pi * m.atan(y / s)), (2, 3), *of_half)
    rows("half_cauchy_lccdf", lambda y, s: m.log(2 / m.pi * m.atan(s / y)), (2, 3), *of_half)
    of_uniform = ((0, [1.001, 1.25, 2.0, 2.5, 2.96875], [1, 3]), (1, [-1e3, 0.0, 0.5, 1.5], [2]))
    rows("uniform_lcdf", lambda y, a, b: m.log((y - a) / (b - a)), (2, 1, 3), *of_uniform)
    rows("uniform_lccdf", lambda y, a, b: m.log((b - y) / (b - a)), (2, 1, 3), *of_uniform)
    log_beta = lambda y, a, b: m.log(betainc(b, a, 1 - y))
    of_beta = ((0, unit, [0, 1]), (1, small, [0], 1), (2, small, [0], 1))
    rows("beta_lccdf", log_beta, (0.5, 2.5, 3), *of_beta, digits=240)
    proportion = lambda f: lambda y, mu, k: f(y, mu * k, (1 - mu) * k)
    of_beta = ((0, unit, [0, 1]), (1, unit[3:9], [0, 1]), (2, small, [0]))
    rows("beta_proportion_lpdf", proportion(beta), (0.25, 0.5, 5), *of_beta)
    of_beta = ((0, unit, [0, 1]), (1, unit[3:9], [0, 1], 1), (2, small, [0], 1))
    low_beta = lambda y, a, b: m.log(betainc(a, b, y))
    rows("beta_proportion_lcdf", proportion(low_beta), (0.25, 0.5, 5), *of_beta, digits=240)
    rows("beta_proportion_lccdf", proportion(log_beta), (0.25, 0.5, 5), *of_beta, digits=240)

    probability = [x for x in unit if x > 1e-15]
    for direction, side in (("lcdf", below), ("lccdf", above)):
        summed = lambda density, side=side: lambda *arguments: side(density, *arguments)
        trial = lambda y, p, side=side: side(binomial, y, 1, p)
        rows(f"bernoulli_{direction}", trial, (0, 0.5), (1, unit, [0, 1]))
        rows(f"binomial_{direction}", summed(binomial), (3, 12, 0.5), (2, unit, [0, 1]))
        rows(f"binomial_{direction}", summed(binomial), (40, 60, 0.5), (2, probability, [0, 1]))
        counts = ((2, small, [0]), (3, small, [0]))
        rows(f"beta_binomial_{direction}", summed(beta_binomial), (3, 7, 2.5, 3), *counts)
        rows(f"poisson_{direction}", summed(poisson), (3, 2.5), (1, within, [0]))
        rows(f"poisson_{direction}", summed(poisson), (40, 2.5), (1, within[3:], [0]))
        counts = ((1, within, [0]), (2, small, [0], 1))
        rows(f"neg_binomial_2_{direction}", summed(neg_binomial), (3, 2.5, 3), *counts)
        counts = ((1, small, [0], 1), (2, within, [0]))
        rows(f"neg_binomial_{direction}", summed(neg_binomial_ab), (3, 2.5, 3), *counts)
        geometric = lambda k, p: m.log(p) + k * m.log(1 - p)
        rows(f"geometric_{direction}", summed(geometric), (3, 0.5), (1, unit, [0, 1]))
    rows("beta_binomial_lpmf", beta_binomial, (3, 7, 2.5, 3), (2, shape, [0]), (3, shape, [0]))
    rows("beta_binomial_lpmf", beta_binomial, (0, 7, 2.5, 3e6), (2, shape, [0]), (3, shape, [0]))
    rows("neg_binomial_lpmf", neg_binomial_ab, (4, 2.5, 3), (1, shape, [0]), (2, scale, [0]))
    of_log = ((1, both(middle) + [-95.0, 95.0, -1e3, 1e3], []), (2, shape[1:], [0]))
    by_log = lambda k, eta, phi: neg_binomial(k, m.exp(eta), phi)
    rows("neg_binomial_2_log_lpmf", by_log, (4, 1.5, 3), *of_log)

    # Several points, of which one is `x`.
    tame = [0.1, 0.5, 1.2, 2.6, 5.0, 21.0, 95.0]
    log2pi = m.log(2 * m.pi)
    between = lambda a, b: m.log(m.erf(b / m.sqrt(2)) / 2 - m.erf(a / m.sqrt(2)) / 2)
    few("dist.ordered_probit_lpmf 0 x [0, 1]", lambda x: log_ndtr(-x), near)
    few("dist.ordered_probit_lpmf 2 x [0, 1]", lambda x: log_ndtr(x - 1), near)
    few("dist.ordered_probit_lpmf 1 x [0, 1]", lambda x: between(-x, 1 - x), near)
    few("dist.ordered_probit_lpmf 1 0.5 [0, x]", lambda c: between(-half, c - half), scale, [0])

    def quadratic(x, y, a, b, c):
        det = a * c - b * b
        return (c * x * x - 2 * b * x * y + a * y * y) / det, det

    def precision_2(x, a):
        """Of the distances (x, 0.75) for the matrix [[a, 0.5], [0.5, 1]]."""
        y, det = mpf(0.75), a - mpf(0.25)
        return m.log(det) / 2 - (a * x * x + x * y + y * y) / 2 - log2pi

    few(
        "dist.multi_normal_prec_lpdf [x, 1] [0.5, 0.25] [[2, 0.5], [0.5, 1]]",
        lambda x: precision_2(x - half, mpf(2)),
        both(tame),
    )
    few(
        "dist.multi_normal_prec_lpdf [1, 1] [0.5, 0.25] [[x, 0.5], [0.5, 1]]",
        lambda a: precision_2(half, a),
        tame[1:],
    )

    def student_2(x, y, nu, a):
        square, det = quadratic(x, y, a, half, mpf(1))
        scale = m.loggamma(nu / 2 + 1) - m.loggamma(nu / 2) - m.log(nu * m.pi) - m.log(det) / 2
        return scale - (nu / 2 + 1) * m.log1p(square / nu)

    few(
        "dist.multi_student_t_lpdf [x, 1] 3.5 [0.5, 0.25] [[2, 0.5], [0.5, 1]]",
        lambda x: student_2(x - half, mpf(0.75), mpf(3.5), mpf(2)),
        both(tame),
    )
    few(
        "dist.multi_student_t_lpdf [1, 1] x [0.5, 0.25] [[2, 0.5], [0.5, 1]]",
        lambda nu: student_2(half, mpf(0.75), nu, mpf(2)),
        shape[1:],
        [0],
    )
    few(
        "dist.multi_student_t_lpdf [1, 1] 3.5 [0.5, 0.25] [[x, 0.5], [0.5, 1]]",
        lambda a: student_2(half, mpf(0.75), mpf(3.5), a),
        tame[1:],
    )
    few(
        "dist.multi_gp_lpdf [[x, 1]] [[2, 0.5], [0.5, 1]] [3]",
        lambda x: -3 * quadratic(x, 1, 2, half, 1)[0] / 2 - m.log(mpf(1.75)) / 2 + m.log(3) - log2pi,
        both(tame),
    )
    few(
        "dist.multi_gp_lpdf [[2, 1]] [[2, 0.5], [0.5, 1]] [x]",
        lambda w: -w * quadratic(2, 1, 2, half, 1)[0] / 2
        - m.log(mpf(1.75)) / 2
        + m.log(w)
        - log2pi,
        tame,
        [0],
    )

    def inv_wishart(x, nu):
        """Of [[x, ½], [½, 1]] for the scale [[1, ½], [½, 2]]."""
        det = x - mpf(0.25)
        trace = (1 * 1 - half + 2 * x) / det
        scale = (
            nu * m.log(2)
            - nu / 2 * m.log(mpf(7) / 4)
            + m.log(m.pi) / 2
            + m.loggamma(nu / 2)
            + m.loggamma(nu / 2 - half)
        )
        return -(nu + 3) / 2 * m.log(det) - trace / 2 - scale

    few(
        "dist.inv_wishart_lpdf [[x, 0.5], [0.5, 1]] 4 [[1, 0.5], [0.5, 2]]",
        lambda x: inv_wishart(x, mpf(4)),
        tame[1:],
    )
    few(
        "dist.inv_wishart_lpdf [[2, 0.5], [0.5, 1]] x [[1, 0.5], [0.5, 2]]",
        lambda nu: inv_wishart(mpf(2), nu),
        tame[2:],
        [1],
    )
    lkj = lambda r, eta: (
        (eta - 1) * m.log(1 - r * r) + m.loggamma(eta + half) - m.log(m.pi) / 2 - m.loggamma(eta)
    )
    signs = both([0.03, 0.1, 0.3, 0.7, 0.95])
    few("dist.lkj_corr_lpdf [[1, x], [x, 1]] 2.5", lambda r: lkj(r, mpf(2.5)), signs, [-1, 1])
    few("dist.lkj_corr_lpdf [[1, 0.5], [0.5, 1]] x", lambda eta: lkj(half, eta), tame, [0])
    glm = "[1, 0] [[0.5], [2]]"
    moderate = both([0.03, 0.1, 0.5, 1.2, 2.6, 7.5, 21.0])
    few(
        f"dist.bernoulli_logit_glm_lpmf {glm} x [3]",
        lambda a: -softplus(-(a + mpf(1.5))) - softplus(a + 6),
        moderate,
    )
    binomial_logit = lambda k, n, a: choose(n, k) - k * softplus(-a) - (n - k) * softplus(a)
    few(
        "dist.binomial_logit_glm_lpmf [1, 0] [3, 2] [[0.5], [2]] x [3]",
        lambda a: binomial_logit(1, 3, a + mpf(1.5)) + binomial_logit(0, 2, a + 6),
        moderate,
    )
    few(
        f"dist.poisson_log_glm_lpmf {glm} x [3]",
        lambda a: poisson(1, m.exp(a + mpf(1.5))) + poisson(0, m.exp(a + 6)),
        moderate,
    )
    few(
        f"dist.neg_binomial_2_log_glm_lpmf {glm} x [3] 2",
        lambda a: by_log(1, a + mpf(1.5), mpf(2)) + by_log(0, a + 6, mpf(2)),
        moderate,
    )
    few(
        "dist.categorical_logit_glm_lpmf [1] [[0.5]] [x, 1] [[3, 2]]",
        lambda a: -softplus(a + mpf(1.5) - 2),
        moderate,
    )
    few(
        "dist.ordered_logistic_glm_lpmf [0] [[0.5]] [x] [0, 1]",
        lambda b: -softplus(b / 2),
        moderate,
    )
    few(
        "dist.normal_id_glm_lpdf [1, 0] [[0.5], [2]] x [3] 2",
        lambda a: normal(1, a + mpf(1.5), mpf(2)) + normal(0, a + 6, mpf(2)),
        moderate,
    )
    mixed = lambda p, a, b: m.log(p * m.exp(a) + (1 - p) * m.exp(b))
    of_mix = ((0, unit, [0, 1]), (1, moderate, []), (2, moderate, []))
    rows("log_mix", mixed, (0.25, -1.5, 2), *of_mix)

    def chain(a, g, r):
        """Two states, two observations."""
        omega = [[a, half], [mpf(-1), mpf(0.25)]]
        first = [r * m.exp(omega[0][0]), (1 - r) * m.exp(omega[1][0])]
        then = [first[0] * g + first[1] * mpf(0.25), first[0] * (1 - g) + first[1] * mpf(0.75)]
        return m.log(then[0] * m.exp(omega[0][1]) + then[1] * m.exp(omega[1][1]))

    few(
        "dist.hmm_marginal [[x, 0.5], [-1, 0.25]] [[0.5, 0.5], [0.25, 0.75]] [0.125, 0.875]",
        lambda a: chain(a, half, mpf(0.125)),
        moderate,
    )
    few(
        "dist.hmm_marginal [[0.5, 0.5], [-1, 0.25]] [[x, 1 - x], [0.25, 0.75]] [0.125, 0.875]",
        lambda g: chain(half, g, mpf(0.125)),
        unit[2:-1],
        [0, 1],
    )


    def two_steps(x, w):
        """Observations x and 1 of a state that begins at ½ with variance 1 and is halved each time."""
        total, mean, variance = mpf(0), half, mpf(1)
        for y in (x, mpf(1)):
            mean, variance = mean / 2, variance / 4 + w
            spread = variance + 2
            total += normal(y, mean, m.sqrt(spread))
            mean += variance / spread * (y - mean)
            variance -= variance * variance / spread
        return total

    dlm = "dist.gaussian_dlm_obs_lpdf"
    block_of = lambda x, w: f"{dlm} [[{x}, 1]] [[1]] [[0.5]] [[2]] [[{w}]] [0.5] [[1]]"
    few(block_of("x", "1.5"), lambda x: two_steps(x, mpf(1.5)), moderate)
    few(block_of("1.5", "x"), lambda w: two_steps(mpf(1.5), w), tame, [0])
    kernels = [1e-3, 0.1, 0.5, 1.2, 2.6, 7.5, 21.0]
    square = lambda x, s, l: s * s * m.exp(-((x / l) ** 2) / 2)
    exponential = lambda x, s, l: s * s * m.exp(-x / l)
    matern32 = lambda x, s, l: s * s * (1 + m.sqrt(3) * x / l) * m.exp(-m.sqrt(3) * x / l)
    matern52 = lambda x, s, l: (
        s * s * (1 + m.sqrt(5) * x / l + 5 * (x / l) ** 2 / 3) * m.exp(-m.sqrt(5) * x / l)
    )
    for name, f in (
        ("gp_exp_quad_cov", square),
        ("gp_exponential_cov", exponential),
        ("gp_matern32_cov", matern32),
        ("gp_matern52_cov", matern52),
    ):
        few(f"(dist.{name} [0, x] 2 1.5)[0, 1]", lambda x, f=f: f(x, 2, mpf(1.5)), kernels, [0])
        few(f"(dist.{name} [0, 1] 2 x)[0, 1]", lambda l, f=f: f(1, 2, l), kernels[2:], [0])
    periodic = lambda x, s, l, p: s * s * m.exp(-2 * (m.sin(m.pi * x / p) / l) ** 2)
    few(
        "(dist.gp_periodic_cov [0, x] 2 1.5 3)[0, 1]",
        lambda x: periodic(x, 2, mpf(1.5), 3),
        [1e-3, 0.1, 0.5, 1.25, 2.5],
        [0],
    )
    few(
        "(dist.gp_periodic_cov [0, 1] 2 1.5 x)[0, 1]",
        lambda p: periodic(1, 2, mpf(1.5), p),
        kernels[3:],
        [0],
    )


def dist_points(real, scale, shape, sizes):
    return {
        "real": (real, [], {}),
        "scale": (scale, [0], {}),
        "shape": (shape, [0], {}),
        "positive": (sizes, [], {}),
    }


if __name__ == "__main__":
    for part in (primitives, prelude, special, dist, later):
        part()

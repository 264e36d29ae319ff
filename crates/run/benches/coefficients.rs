//! Computes the coefficients of the vector mathematics:
//! `cargo bench -p lambada-run --bench coefficients`.
//! They are polynomials that interpolate at Chebyshev nodes, computed in 256 bits and then rounded.
//! Prints for each function the largest error, rounding included, relative to the whole function;
//! then the coefficients, from the constant on. They are stored in `crates/prim/src/vector`.

#[path = "../tests/precise/mod.rs"]
mod precise;

use precise::Precise;

/// An approximation.
struct Fit {
    name: &'static str,
    /// The interval of the variable.
    range: (f64, f64),
    /// Number of coefficients.
    count: usize,
    /// The function.
    f: fn(&Precise) -> Precise,
    /// Factor from an error here to a relative error of the function built from it.
    weight: fn(&Precise) -> Precise,
}

fn number(value: f64) -> Precise {
    Precise::new(value)
}

/// `f(√z)/√z`, then `(· - 1)/z`: the tail of an odd function.
fn odd(z: &Precise, f: fn(&Precise) -> Precise) -> Precise {
    let t = z.sqrt();
    (f(&t) / t - 1.0) / z.clone()
}

fn same(z: &Precise) -> Precise {
    z.clone()
}

fn one(_: &Precise) -> Precise {
    number(1.0)
}

/// The `x` with `t = (x - 4)/(x + 4)`.
fn unfold(t: &Precise) -> Precise {
    (t.clone() + 1.0) * 4.0 / (number(1.0) - t.clone())
}

/// The positive root of digamma, by Newton's method.
fn root() -> Precise {
    let mut x = number(1.4616321449683622);
    for _ in 0..4 {
        let h = number(1e-30);
        let slope = ((x.clone() + h.clone()).digamma() - x.digamma()) / h;
        x = x.clone() - x.digamma() / slope;
    }
    x
}

const FITS: &[Fit] = &[
    Fit {
        name: "exp: (e^r - 1 - r)/r²",
        range: (-0.3466, 0.3466),
        count: 10,
        f: |r| (r.expm1() - r.clone()) / (r * r),
        weight: |r| r * r,
    },
    Fit {
        name: "log: 2 atanh s = 2s + s z P(z), z = s²",
        range: (0.0, 0.029438),
        count: 7,
        f: |z| {
            let s = z.sqrt();
            let all = ((number(1.0) + s.clone()) / (number(1.0) - s.clone())).ln();
            (all / s - 2.0) / z.clone()
        },
        weight: |z| z.clone() * 0.5,
    },
    Fit {
        name: "log, second term: (2 atanh s / s - 2 - 2/3 z)/z²",
        range: (0.0, 0.029438),
        count: 8,
        f: |z| {
            let s = z.sqrt();
            let all = ((number(1.0) + s.clone()) / (number(1.0) - s.clone())).ln();
            ((all / s - 2.0) / z.clone() - number(2.0) / number(3.0)) / z.clone()
        },
        weight: |z| z * z,
    },
    Fit { name: "sin", range: (0.0, 0.6169), count: 6, f: |z| odd(z, Precise::sin), weight: same },
    Fit {
        name: "cos: (cos r - 1 + z/2)/z²",
        range: (0.0, 0.6169),
        count: 6,
        f: |z| (z.sqrt().cos() - 1.0 + z.clone() * 0.5) / (z * z),
        weight: |z| z * z,
    },
    Fit {
        name: "atan",
        range: (0.0, 0.1915),
        count: 12,
        f: |z| odd(z, Precise::atan),
        weight: same,
    },
    Fit { name: "asin", range: (0.0, 0.25), count: 13, f: |z| odd(z, Precise::asin), weight: same },
    Fit { name: "sinh", range: (0.0, 1.0), count: 8, f: |z| odd(z, Precise::sinh), weight: same },
    Fit {
        name: "tanh",
        range: (0.0, 0.3025),
        count: 12,
        f: |z| odd(z, Precise::tanh),
        weight: same,
    },
    Fit {
        name: "erf: erf t / t - 1",
        range: (0.0, 1.0),
        count: 14,
        f: |z| {
            let t = z.sqrt();
            t.erf() / t - 1.0
        },
        weight: one,
    },
    Fit {
        name: "erfc: e^x² erfc x (1 + 2x), t = (x - 4)/(x + 4)",
        range: (-0.7778, 0.76),
        count: 22,
        f: |t| {
            let x = unfold(t);
            x.erfcx() * (x * 2.0 + 1.0)
        },
        weight: one,
    },
    Fit {
        name: "lgamma: log Γ(2 + d)/d",
        range: (-0.75, 0.5),
        count: 23,
        f: |d| (d.clone() + 2.0).lgamma_positive() / d.clone(),
        weight: |_| number(1.0 / 0.13),
    },
    Fit {
        name: "digamma: ψ(u + 3/2)/(u + 3/2 - root)",
        range: (-0.5, 0.5),
        count: 24,
        f: |u| {
            let x = u.clone() + 1.5;
            x.digamma() / (x - root())
        },
        weight: one,
    },
];

/// Chebyshev nodes of a slightly larger interval, so that no node is a removable singularity of the
/// formula.
fn nodes((low, high): (f64, f64), count: usize) -> Vec<Precise> {
    (0..count)
        .map(|k| {
            let angle = (k as f64 + 0.5) / count as f64 * std::f64::consts::PI;
            number((low + high) / 2.0 + (high - low) / 2.0 * 1.000_000_1 * angle.cos() + 1e-13)
        })
        .map(|node| if low == 0.0 && node.is_negative() { number(1e-12) } else { node })
        .collect()
}

/// The polynomial through these points, by divided differences.
fn interpolate(nodes: &[Precise], values: &[Precise]) -> Vec<Precise> {
    let mut differences = values.to_vec();
    for order in 1..nodes.len() {
        for k in (order..nodes.len()).rev() {
            differences[k] =
                (&differences[k] - &differences[k - 1]) / (&nodes[k] - &nodes[k - order]);
        }
    }
    let mut coefficients = vec![number(0.0); nodes.len()];
    for k in (0..nodes.len()).rev() {
        // c := c · (x - node) + difference
        for j in (0..nodes.len()).rev() {
            let lower = if j > 0 { coefficients[j - 1].clone() } else { differences[k].clone() };
            coefficients[j] = lower - &coefficients[j] * &nodes[k];
        }
    }
    coefficients
}

fn fit(fit: &Fit) -> (Vec<f64>, f64) {
    let nodes = nodes(fit.range, fit.count);
    let values: Vec<Precise> = nodes.iter().map(fit.f).collect();
    let rounded: Vec<f64> = interpolate(&nodes, &values).iter().map(Precise::to_f64).collect();
    let (low, high) = fit.range;
    let worst = (0..200)
        .map(|k| number(low + (high - low) * (f64::from(k) + 0.37) / 200.0))
        .map(|x| {
            let value = rounded.iter().rev().fold(number(0.0), |sum, c| sum * x.clone() + *c);
            ((value - (fit.f)(&x)) * (fit.weight)(&x)).to_f64().abs()
        })
        .fold(0.0, f64::max);
    (rounded, worst)
}

fn main() {
    for each in FITS {
        let (coefficients, worst) = fit(each);
        println!("{}, error 2^{:.1}", each.name, worst.log2());
        for coefficient in coefficients {
            println!("    {coefficient:?},");
        }
    }
    let root = root();
    let high = root.to_f64();
    println!("root of digamma {high:?} + {:?}", (root - high).to_f64());
}

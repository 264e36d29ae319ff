//! The workloads, their sizes and their data.

use lambada::Data;
use lambada_testkit::Random;

use super::Problem;
use crate::inputs::{array, integers};

/// A program of examples/workloads; it defines `loss`.
pub struct Workload {
    pub name: &'static str,
    /// The parameters to differentiate by.
    pub wrt: &'static [&'static str],
    /// Smallest first.
    pub problems: fn() -> Vec<Sized>,
}

/// A problem whose data are not made yet.
pub struct Sized {
    /// By letter of the program.
    sizes: Vec<(&'static str, usize)>,
    data: fn(&[usize]) -> Vec<(&'static str, Data)>,
}

impl Sized {
    pub fn make(&self) -> Problem {
        let label: Vec<String> =
            self.sizes.iter().map(|(letter, size)| format!("{letter}={size}")).collect();
        let sizes: Vec<usize> = self.sizes.iter().map(|(_, size)| *size).collect();
        Problem { label: label.join(" "), arguments: (self.data)(&sizes) }
    }
}

fn sized<const N: usize>(
    letters: [&'static str; N],
    sizes: &[[usize; N]],
    data: fn(&[usize]) -> Vec<(&'static str, Data)>,
) -> Vec<Sized> {
    let one = |sizes: &[usize; N]| Sized {
        sizes: letters.into_iter().zip(sizes.iter().copied()).collect(),
        data,
    };
    sizes.iter().map(one).collect()
}

pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "logistic",
        wrt: &["w", "b"],
        problems: || sized(["n", "d"], &[[1000, 10], [100_000, 50]], logistic),
    },
    Workload {
        name: "mlp",
        wrt: &["w1", "b1", "w2", "b2", "w3", "b3"],
        problems: || {
            let sizes = [[32, 64, 32, 16, 10], [128, 784, 256, 128, 10]];
            sized(["n", "d", "h", "g", "k"], &sizes, mlp)
        },
    },
    Workload {
        name: "cnn",
        wrt: &["k1", "b1", "k2", "b2", "w3", "b3"],
        problems: || {
            let sizes = [[4, 1, 4, 8, 12], [32, 1, 8, 16, 28]];
            sized(["n", "c", "o", "q", "h"], &sizes, cnn)
        },
    },
    Workload {
        name: "transformer",
        wrt: &["wq", "wk", "wv", "wo", "g1", "s1", "g2", "s2", "w1", "b1", "w2", "b2"],
        problems: || {
            sized(["t", "d", "f", "heads"], &[[32, 32, 64, 4], [128, 128, 512, 4]], transformer)
        },
    },
    Workload {
        name: "lstm",
        wrt: &["wx", "wh", "b"],
        problems: || sized(["t", "n", "i", "h"], &[[20, 4, 8, 16], [50, 32, 32, 64]], lstm),
    },
    Workload {
        name: "neural_ode",
        wrt: &["w1", "b1", "w2", "b2"],
        problems: || sized(["n", "d", "h", "steps"], &[[16, 4, 16, 10], [256, 16, 64, 20]], ode),
    },
    Workload {
        name: "gp",
        wrt: &["amplitude", "scale", "noise"],
        problems: || sized(["n", "d"], &[[100, 3], [500, 3]], gp),
    },
    Workload {
        name: "kalman",
        wrt: &["a", "c", "q", "r"],
        problems: || sized(["d", "k", "t"], &[[4, 2, 200], [16, 8, 1000]], kalman),
    },
    Workload {
        name: "hmm",
        wrt: &["start", "trans", "mu", "sigma"],
        problems: || sized(["k", "t"], &[[5, 500], [20, 5000]], hmm),
    },
    Workload {
        name: "nbody",
        wrt: &["m", "x", "v"],
        problems: || sized(["n", "steps"], &[[50, 100], [500, 20]], nbody),
    },
    Workload {
        name: "heat",
        wrt: &["u", "k"],
        problems: || sized(["n", "steps"], &[[64, 100], [256, 100]], heat),
    },
    Workload {
        name: "softdtw",
        wrt: &["x", "y"],
        problems: || sized(["n", "d"], &[[100, 2], [1000, 2]], softdtw),
    },
    Workload {
        name: "rayleigh",
        wrt: &["values", "x"],
        problems: || {
            sized(["n", "entries", "steps"], &[[1000, 10, 20], [10_000, 20, 20]], rayleigh)
        },
    },
    Workload {
        name: "spectrum",
        wrt: &["x"],
        problems: || sized(["n"], &[[1024], [65_536]], spectrum),
    },
    Workload { name: "eigh", wrt: &["a"], problems: || sized(["n"], &[[30], [100]], eigh) },
    Workload { name: "svd", wrt: &["a"], problems: || sized(["n"], &[[30], [100]], svd) },
    Workload { name: "expm", wrt: &["a", "x"], problems: || sized(["n"], &[[20], [100]], expm) },
];

/// `len` normal numbers.
fn normals(random: &mut Random, len: usize) -> Vec<f64> {
    let mut normal = || {
        let radius = (-2.0 * random.between(f64::MIN_POSITIVE, 1.0).ln()).sqrt();
        radius * (std::f64::consts::TAU * random.between(0.0, 1.0)).cos()
    };
    (0..len).map(|_| normal()).collect()
}

fn normal(random: &mut Random, dims: &[usize]) -> Data {
    array(dims, &normals(random, dims.iter().product()))
}

/// Weights whose products with rows of order 1 are of order 1.
fn weights(random: &mut Random, dims: &[usize], inputs: usize) -> Data {
    let scale = 1.0 / (inputs as f64).sqrt();
    let values = normals(random, dims.iter().product());
    array(dims, &values.iter().map(|x| scale * x).collect::<Vec<_>>())
}

fn units(random: &mut Random, dims: &[usize]) -> Data {
    let count: usize = dims.iter().product();
    array(dims, &(0..count).map(|_| random.between(0.0, 1.0)).collect::<Vec<_>>())
}

fn full(dims: &[usize], value: f64) -> Data {
    array(dims, &vec![value; dims.iter().product()])
}

fn below(random: &mut Random, count: usize, bound: usize) -> Data {
    let values: Vec<i64> = (0..count).map(|_| random.below(bound) as i64).collect();
    integers(&[count], &values)
}

fn int(value: usize) -> Data {
    integers(&[], &[value as i64])
}

fn logistic(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, d], r) = (sizes, &mut Random(1)) else { unreachable!("two sizes") };
    let classes: Vec<f64> = (0..n).map(|_| r.below(2) as f64).collect();
    vec![
        ("w", weights(r, &[d], d)),
        ("b", 0.1.into()),
        ("x", normal(r, &[n, d])),
        ("y", array(&[n], &classes)),
    ]
}

fn mlp(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, d, h, g, k], r) = (sizes, &mut Random(2)) else { unreachable!("five sizes") };
    vec![
        ("w1", weights(r, &[d, h], d)),
        ("b1", full(&[h], 0.01)),
        ("w2", weights(r, &[h, g], h)),
        ("b2", full(&[g], 0.01)),
        ("w3", weights(r, &[g, k], g)),
        ("b3", full(&[k], 0.0)),
        ("x", units(r, &[n, d])),
        ("y", below(r, n, k)),
    ]
}

fn cnn(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, c, o, q, h], r) = (sizes, &mut Random(3)) else { unreachable!("five sizes") };
    let last = ((h - 2) / 2 - 2) / 2;
    let (f, k) = (q * last * last, 10);
    vec![
        ("k1", weights(r, &[o, c, 3, 3], 9 * c)),
        ("b1", full(&[o], 0.1)),
        ("k2", weights(r, &[q, o, 3, 3], 9 * o)),
        ("b2", full(&[q], 0.1)),
        ("w3", weights(r, &[f, k], f)),
        ("b3", full(&[k], 0.0)),
        ("x", units(r, &[n, c, h, h])),
        ("y", below(r, n, k)),
    ]
}

fn transformer(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[t, d, f, heads], r) = (sizes, &mut Random(4)) else { unreachable!("four sizes") };
    vec![
        ("wq", weights(r, &[d, d], d)),
        ("wk", weights(r, &[d, d], d)),
        ("wv", weights(r, &[d, d], d)),
        ("wo", weights(r, &[d, d], d)),
        ("g1", full(&[d], 1.0)),
        ("s1", full(&[d], 0.1)),
        ("g2", full(&[d], 1.0)),
        ("s2", full(&[d], 0.1)),
        ("w1", weights(r, &[d, f], d)),
        ("b1", full(&[f], 0.1)),
        ("w2", weights(r, &[f, d], f)),
        ("b2", full(&[d], 0.1)),
        ("x", normal(r, &[t, d])),
        ("target", normal(r, &[t, d])),
        ("heads", int(heads)),
    ]
}

fn lstm(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[t, n, i, h], r) = (sizes, &mut Random(5)) else { unreachable!("four sizes") };
    vec![
        ("wx", weights(r, &[i, 4 * h], i)),
        ("wh", weights(r, &[h, 4 * h], h)),
        ("b", full(&[4 * h], 0.1)),
        ("x", normal(r, &[t, n, i])),
        ("target", normal(r, &[n, h])),
    ]
}

fn ode(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, d, h, steps], r) = (sizes, &mut Random(6)) else { unreachable!("four sizes") };
    vec![
        ("w1", weights(r, &[d, h], d)),
        ("b1", full(&[h], 0.1)),
        ("w2", weights(r, &[h, d], h)),
        ("b2", full(&[d], 0.1)),
        ("x", normal(r, &[n, d])),
        ("target", normal(r, &[n, d])),
        ("steps", int(steps)),
    ]
}

fn gp(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, d], r) = (sizes, &mut Random(7)) else { unreachable!("two sizes") };
    let x = normals(r, n * d);
    let noise = normals(r, n);
    let y: Vec<f64> =
        x.chunks(d).zip(noise).map(|(row, e)| row.iter().sum::<f64>().sin() + 0.1 * e).collect();
    vec![
        ("amplitude", 0.1.into()),
        ("scale", full(&[d], 0.2)),
        ("noise", (-1.0).into()),
        ("x", array(&[n, d], &x)),
        ("y", array(&[n], &y)),
    ]
}

fn kalman(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[d, k, t], r) = (sizes, &mut Random(8)) else { unreachable!("three sizes") };
    // Stable: the largest eigenvalue of such a matrix is about 0.6.
    let a: Vec<f64> = normals(r, d * d).iter().map(|x| 0.6 * x / (d as f64).sqrt()).collect();
    vec![
        ("a", array(&[d, d], &a)),
        ("c", weights(r, &[k, d], d)),
        ("q", full(&[d], -1.0)),
        ("r", full(&[k], -1.0)),
        ("y", normal(r, &[t, k])),
    ]
}

fn hmm(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[k, t], r) = (sizes, &mut Random(9)) else { unreachable!("two sizes") };
    let mu: Vec<f64> = (0..k).map(|j| 4.0 * j as f64 / (k - 1) as f64 - 2.0).collect();
    vec![
        ("start", full(&[k], 0.0)),
        ("trans", normal(r, &[k, k])),
        ("mu", array(&[k], &mu)),
        ("sigma", full(&[k], -0.5)),
        ("y", normal(r, &[t])),
    ]
}

fn nbody(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, steps], r) = (sizes, &mut Random(10)) else { unreachable!("two sizes") };
    let m: Vec<f64> = (0..n).map(|_| r.between(0.0, 1.0) / n as f64).collect();
    let v: Vec<f64> = normals(r, 3 * n).iter().map(|x| 0.1 * x).collect();
    vec![
        ("m", array(&[n], &m)),
        ("x", normal(r, &[n, 3])),
        ("v", array(&[n, 3], &v)),
        ("steps", int(steps)),
    ]
}

fn heat(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, steps], r) = (sizes, &mut Random(11)) else { unreachable!("two sizes") };
    vec![
        ("u", units(r, &[n, n])),
        ("k", units(r, &[n, n])),
        ("target", units(r, &[n, n])),
        ("steps", int(steps)),
    ]
}

fn softdtw(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, d], r) = (sizes, &mut Random(12)) else { unreachable!("two sizes") };
    vec![("x", normal(r, &[n, d])), ("y", normal(r, &[n, d])), ("gamma", 0.5.into())]
}

fn rayleigh(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n, entries, steps], r) = (sizes, &mut Random(13)) else { unreachable!("three sizes") };
    let mut columns: Vec<i64> = (0..n * entries).map(|_| r.below(n) as i64).collect();
    columns.chunks_mut(entries).for_each(<[i64]>::sort_unstable);
    let starts: Vec<i64> = (0..=n).map(|row| (row * entries) as i64).collect();
    vec![
        ("values", units(r, &[n * entries])),
        ("x", full(&[n], 1.0)),
        ("starts", integers(&[n + 1], &starts)),
        ("columns", integers(&[n * entries], &columns)),
        ("steps", int(steps)),
    ]
}

fn spectrum(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n], r) = (sizes, &mut Random(14)) else { unreachable!("one size") };
    vec![("x", normal(r, &[n])), ("target", units(r, &[n]))]
}

fn eigh(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n], r) = (sizes, &mut Random(15)) else { unreachable!("one size") };
    let a = normals(r, n * n);
    let scale = 1.0 / (8.0 * n as f64).sqrt();
    let symmetric: Vec<f64> = (0..n * n).map(|k| scale * (a[k] + a[k % n * n + k / n])).collect();
    vec![("a", array(&[n, n], &symmetric))]
}

fn svd(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n], r) = (sizes, &mut Random(16)) else { unreachable!("one size") };
    vec![("a", normal(r, &[n, n]))]
}

fn expm(sizes: &[usize]) -> Vec<(&'static str, Data)> {
    let (&[n], r) = (sizes, &mut Random(17)) else { unreachable!("one size") };
    vec![("a", weights(r, &[n, n], n)), ("x", normal(r, &[n]))]
}

//! Random inputs, as arrays of C and as data of Lambada.

use std::sync::Arc;

use lambada::{Data, Elements, Scalar, Tensor};
use lambada_testkit::Random;

/// The arguments of C code, in the order listed in its file.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    pub sizes: Vec<i64>,
    pub reals: Vec<Vec<f64>>,
    pub ints: Vec<Vec<i64>>,
}

/// A workload.
#[derive(Debug)]
pub struct Problem {
    /// Its sizes, for readers.
    pub label: String,
    pub arrays: Arrays,
    pub arguments: Vec<Data>,
}

/// `len` random numbers from -1 to 1.
pub fn numbers(random: &mut Random, len: usize) -> Vec<f64> {
    (0..len).map(|_| random.between(-1.0, 1.0)).collect()
}

/// An array of reals.
pub fn array(dims: &[usize], elements: &[f64]) -> Data {
    Data::Tensor(Tensor::reals(dims.to_vec(), elements.to_vec()))
}

/// An array of integers.
pub fn integers(dims: &[usize], elements: &[i64]) -> Data {
    Data::Tensor(Tensor { dims: dims.to_vec(), data: Elements::Int(elements.to_vec()) })
}

/// A record; its fields come in alphabetical order.
pub fn record(fields: &[(&str, Data)]) -> Data {
    let mut fields: Vec<(Arc<str>, Data)> =
        fields.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect();
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Data::Record(fields)
}

pub fn gmm(d: usize, k: usize, n: usize) -> Problem {
    let mut random = Random(31337);
    let tri = d * (d - 1) / 2;
    let lengths = [k, k * d, k * d, k * tri, n * d];
    let [alpha, mu, q, l, x] = lengths.map(|length| numbers(&mut random, length));
    let arguments = vec![
        array(&[k], &alpha),
        array(&[k, d], &mu),
        array(&[k, d], &q),
        array(&[k, tri], &l),
        array(&[n, d], &x),
        1.0.into(),
        0.into(),
    ];
    let sizes = [d, k, n, 0].map(|size| size as i64).to_vec();
    let reals = vec![alpha, mu, q, l, x, vec![1.0]];
    Problem {
        label: format!("d={d} k={k} n={n}"),
        arrays: Arrays { sizes, reals, ints: Vec::new() },
        arguments,
    }
}

/// Each observation has its own camera, point and feature, while the suite repeats a single one.
pub fn ba(n: usize, m: usize, p: usize) -> Problem {
    let mut random = Random(n as u64);
    let mut cameras = Vec::new();
    for _ in 0..n {
        cameras.extend(numbers(&mut random, 3).iter().map(|r| 0.2 * r));
        cameras.extend(numbers(&mut random, 3));
        cameras.extend([400.0 + 100.0 * random.between(0.0, 1.0)]);
        cameras.extend(numbers(&mut random, 2));
        cameras.extend(numbers(&mut random, 2).iter().map(|k| 0.01 * k));
    }
    let points: Vec<f64> = (0..3 * m)
        .map(|k| random.between(-1.0, 1.0) + if k % 3 == 2 { 8.0 } else { 0.0 })
        .collect();
    let weights = numbers(&mut random, p);
    let features: Vec<f64> = numbers(&mut random, 2 * p).iter().map(|x| 100.0 * x).collect();
    let camera: Vec<i64> = (0..p).map(|i| (i % n) as i64).collect();
    let point: Vec<i64> = (0..p).map(|i| (i % m) as i64).collect();
    let arguments = vec![
        array(&[n, 11], &cameras),
        array(&[m, 3], &points),
        array(&[p], &weights),
        array(&[p, 2], &features),
        integers(&[p], &camera),
        integers(&[p], &point),
    ];
    let arrays = Arrays {
        sizes: [n, m, p].map(|size| size as i64).to_vec(),
        reals: vec![cameras, points, weights, features],
        ints: vec![camera, point],
    };
    Problem { label: format!("n={n} m={m} p={p}"), arrays, arguments }
}

/// `layers` layers of size 14, for `c` characters.
pub fn lstm(layers: usize, c: usize) -> Problem {
    let (b, mut random) = (14, Random(7));
    let main = numbers(&mut random, layers * 8 * b);
    let extra = numbers(&mut random, 3 * b);
    let state = numbers(&mut random, 2 * layers * b);
    let sequence: Vec<f64> =
        (0..c * b).map(|_| f64::from(u8::from(random.between(0.0, 1.0) < 0.3))).collect();
    let arguments = vec![
        array(&[2 * layers, 4 * b], &main),
        array(&[3, b], &extra),
        array(&[2 * layers, b], &state),
        array(&[c, b], &sequence),
    ];
    let arrays = Arrays {
        sizes: [layers, b, c].map(|size| size as i64).to_vec(),
        reals: vec![main, extra, state, sequence],
        ints: Vec::new(),
    };
    Problem { label: format!("l={layers} c={c}"), arrays, arguments }
}

/// The last points serve as centroids.
pub fn kmeans(n: usize, k: usize, d: usize) -> Problem {
    let mut random = Random(11);
    let points: Vec<f64> = numbers(&mut random, n * d).iter().map(|x| 0.5 + 0.5 * x).collect();
    let centroids = points[(n - k) * d..].to_vec();
    let arguments = vec![array(&[n, d], &points), array(&[k, d], &centroids)];
    let arrays = Arrays {
        sizes: [n, k, d].map(|size| size as i64).to_vec(),
        reals: vec![points, centroids],
        ints: Vec::new(),
    };
    Problem { label: format!("n={n} k={k} d={d}"), arrays, arguments }
}

pub fn lse(n: usize) -> Problem {
    let x: Vec<f64> = numbers(&mut Random(5), n).iter().map(|x| 0.5 + 0.5 * x).collect();
    let arguments = vec![array(&[n], &x)];
    let arrays = Arrays { sizes: vec![n as i64], reals: vec![x], ints: Vec::new() };
    Problem { label: format!("n={n}"), arrays, arguments }
}

pub fn llsq(n: usize, m: usize) -> Problem {
    let x = numbers(&mut Random(6), m);
    let arguments = vec![array(&[m], &x), (n as i64).into()];
    let arrays = Arrays { sizes: vec![m as i64, n as i64], reals: vec![x], ints: Vec::new() };
    Problem { label: format!("n={n} m={m}"), arrays, arguments }
}

pub fn det(ell: usize) -> Problem {
    let a = numbers(&mut Random(8), ell * ell);
    let arguments = vec![array(&[ell * ell], &a), (ell as i64).into()];
    let arrays = Arrays { sizes: vec![ell as i64], reals: vec![a], ints: Vec::new() };
    Problem { label: format!("ell={ell}"), arrays, arguments }
}

pub fn ode(n: usize, s: usize) -> Problem {
    let x: Vec<f64> = numbers(&mut Random(9), n).iter().map(|x| 1.5 + 0.5 * x).collect();
    let arguments = vec![array(&[n], &x), (s as i64).into()];
    let arrays = Arrays { sizes: vec![n as i64, s as i64], reals: vec![x], ints: Vec::new() };
    Problem { label: format!("n={n} s={s}"), arrays, arguments }
}

pub fn particle() -> Problem {
    Problem {
        label: "w=0".to_string(),
        arrays: Arrays::default(),
        arguments: vec![Scalar::Real(0.0).into()],
    }
}

pub fn saddle() -> Problem {
    Problem {
        label: "from (1, 1)".to_string(),
        arrays: Arrays::default(),
        arguments: vec![array(&[2], &[1.0, 1.0])],
    }
}

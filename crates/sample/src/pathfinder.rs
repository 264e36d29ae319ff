//! Pathfinder (Zhang, Carpenter, Gelman and Vehtari, 2022). An ascent by L-BFGS finds the normal
//! distribution along its way that is closest to the posterior; the draws of several ascents are
//! picked by importance.

use lambada::Posterior;
use rand::rngs::ChaCha8Rng;

use crate::approximate::{
    Approximation, Normal, bound, named, normals, resampled, weighed, weights,
};
use crate::shape::{cholesky, dot};
use crate::{Unsampled, start};

/// Steps of an ascent, and those that curvature is estimated from.
const STEPS: usize = 1000;
const HISTORY: usize = 6;
/// Draws for the distance to the posterior.
const JUDGED: usize = 25;
/// Fractions of the slope: a step gains at least the first one, and leaves at most the second one
/// (Nocedal and Wright, 2006, section 3.1).
const GAIN: f64 = 1e-4;
const REST: f64 = 0.9;
/// The relative gain of an ascent that is at its end.
const ENDS: f64 = 1e-12;

/// Draws from the best normal distributions of `paths` ascents, `draws` times `paths`.
///
/// # Errors
/// The density is nowhere finite, or the program fails on draws.
pub fn pathfinder(
    posterior: &Posterior,
    paths: usize,
    draws: usize,
    seed: u64,
) -> Result<Approximation, Unsampled> {
    let mut all = Vec::new();
    for path in 0..paths {
        let mut generator = start::generator(seed, path);
        let point = start::point(posterior, &mut generator).map_err(Unsampled::Start)?;
        let normal = ascent(posterior, point, &mut generator);
        all.extend(weighed(posterior, &normal, draws, &mut generator));
    }
    let found = weights(&all);
    let mut generator = start::generator(seed, paths);
    let picked = resampled(&all, &found.weights, &mut generator);
    let draws = named(posterior, &picked, ("pathfinder", seed))?;
    Ok(Approximation { draws, shape: found.shape })
}

/// The best normal distribution along an ascent.
fn ascent(posterior: &Posterior, point: Vec<f64>, generator: &mut ChaCha8Rng) -> Around {
    let dimension = point.len();
    let mut curvature = Curvature::new(dimension);
    let mut here = At::of(posterior, point).expect("a start is finite");
    let mut best = Around::new(&here, &curvature);
    let mut best_bound = f64::NEG_INFINITY;
    for step in 0..STEPS {
        let direction = curvature.factored().image(&here.gradient);
        let norm = dot(&here.gradient, &here.gradient).sqrt();
        let first = if step == 0 { (1.0 / norm).min(1.0) } else { 1.0 };
        let Some(next) = here.step(posterior, &direction, first) else { break };
        let gain = next.density - here.density;
        curvature.learn(&here, &next);
        here = next;
        let around = Around::new(&here, &curvature);
        let bound = bound(&weighed(posterior, &around, JUDGED, generator));
        if bound > best_bound || step == 0 {
            (best, best_bound) = (around, bound);
        }
        if gain <= ENDS * (1.0 + here.density.abs()) {
            break;
        }
    }
    best
}

/// A point where density and gradient are finite.
struct At {
    point: Vec<f64>,
    density: f64,
    gradient: Vec<f64>,
}

impl At {
    fn of(posterior: &Posterior, point: Vec<f64>) -> Option<At> {
        let mut both = vec![0.0; point.len() + 1];
        posterior.density(&point, &mut both).ok()?;
        let gradient = both.split_off(1);
        let finite = both[0].is_finite() && gradient.iter().all(|x| x.is_finite());
        finite.then(|| At { point, density: both[0], gradient })
    }

    /// A step uphill that gains enough, and after which the slope is not as steep as before.
    fn step(&self, posterior: &Posterior, direction: &[f64], first: f64) -> Option<At> {
        let slope = dot(&self.gradient, direction);
        if !slope.is_finite() || slope <= 0.0 {
            return None;
        }
        let (mut low, mut high, mut size) = (0.0, f64::INFINITY, first);
        let mut found = None;
        for _ in 0..50 {
            let moves = self.point.iter().zip(direction);
            let end = At::of(posterior, moves.map(|(x, d)| x + size * d).collect());
            match end.filter(|end| end.density >= self.density + GAIN * size * slope) {
                None => high = size,
                Some(end) => {
                    let steep = dot(&end.gradient, direction) > REST * slope;
                    found = Some(end);
                    if !steep {
                        break;
                    }
                    low = size;
                }
            }
            size = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * size };
        }
        found
    }
}

/// The last steps with the changes of the gradient along them, and the scales that stand for all
/// steps before.
struct Curvature {
    scales: Vec<f64>,
    steps: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Curvature {
    fn new(dimension: usize) -> Curvature {
        Curvature { scales: vec![1.0; dimension], steps: Vec::new() }
    }

    /// Learns from a step, if the density bends down along it.
    fn learn(&mut self, from: &At, to: &At) {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let s: Vec<f64> = difference(&to.point, &from.point);
        let y: Vec<f64> = difference(&from.gradient, &to.gradient);
        let b = dot(&s, &y);
        if b <= 1e-12 * dot(&y, &y) {
            return;
        }
        let a: f64 = y.iter().zip(&self.scales).map(|(y, scale)| y * y * scale).sum();
        let c: f64 = s.iter().zip(&self.scales).map(|(s, scale)| s * s / scale).sum();
        for ((scale, y), s) in self.scales.iter_mut().zip(&y).zip(&s) {
            let inverse = a / (b * *scale) + y * y / b - a * s * s / (b * c * *scale * *scale);
            if inverse.is_finite() && inverse > 0.0 {
                *scale = 1.0 / inverse;
            }
        }
        if self.steps.len() == HISTORY {
            self.steps.remove(0);
        }
        self.steps.push((s, y));
    }

    /// The inverse of the curvature as D (I + Q K Qᵀ) D, by the compact form of L-BFGS (Byrd,
    /// Nocedal and Schnabel, 1994): D is diagonal, the columns of Q are orthonormal, or zero.
    fn factored(&self) -> Factored {
        let roots: Vec<f64> = self.scales.iter().map(|scale| scale.sqrt()).collect();
        let count = self.steps.len();
        let scaled = |v: &[f64], by: &dyn Fn(f64) -> f64| -> Vec<f64> {
            v.iter().zip(&roots).map(|(x, root)| x * by(*root)).collect()
        };
        let changes = self.steps.iter().map(|(_, y)| scaled(y, &|root| root));
        let moves = self.steps.iter().map(|(s, _)| scaled(s, &|root| 1.0 / root));
        let columns: Vec<Vec<f64>> = changes.chain(moves).collect();
        let (basis, triangle) = orthonormal(&columns);
        // The upper triangle of the products of steps and changes, inverted.
        let mut r = vec![0.0; count * count];
        for i in 0..count {
            for j in i..count {
                r[i * count + j] = dot(&self.steps[i].0, &self.steps[j].1);
            }
        }
        let inverse = inverted(&r, count);
        let mut middle = vec![0.0; count * count];
        for i in 0..count {
            for j in 0..count {
                let own = if i == j { r[i * count + i] } else { 0.0 };
                middle[i * count + j] = own + dot(&columns[i], &columns[j]);
            }
        }
        let last = product(&transposed(&inverse, count), &product(&middle, &inverse, count), count);
        let size = 2 * count;
        let mut core = vec![0.0; size * size];
        for i in 0..count {
            for j in 0..count {
                core[i * size + count + j] = -inverse[i * count + j];
                core[(count + j) * size + i] = -inverse[i * count + j];
                core[(count + i) * size + count + j] = last[i * count + j];
            }
        }
        let kernel = product(&product(&triangle, &core, size), &transposed(&triangle, size), size);
        Factored { roots, basis, kernel }
    }
}

/// See [`Curvature::factored`].
struct Factored {
    roots: Vec<f64>,
    basis: Vec<Vec<f64>>,
    kernel: Vec<f64>,
}

impl Factored {
    fn image(&self, v: &[f64]) -> Vec<f64> {
        let size = self.basis.len();
        let mut image: Vec<f64> = v.iter().zip(&self.roots).map(|(x, root)| x * root).collect();
        let inside: Vec<f64> = self.basis.iter().map(|q| dot(q, &image)).collect();
        for (k, q) in self.basis.iter().enumerate() {
            let more = dot(&self.kernel[k * size..][..size], &inside);
            image.iter_mut().zip(q).for_each(|(x, q)| *x += more * q);
        }
        image.iter_mut().zip(&self.roots).for_each(|(x, root)| *x *= root);
        image
    }
}

/// The normal distribution whose log density has the gradient of a point, and this curvature.
struct Around {
    mean: Vec<f64>,
    roots: Vec<f64>,
    basis: Vec<Vec<f64>>,
    /// The Cholesky factor of I + K.
    factor: Vec<f64>,
    /// The logarithm of the factor in front.
    constant: f64,
}

impl Around {
    fn new(at: &At, curvature: &Curvature) -> Around {
        let mut factored = curvature.factored();
        let size = factored.basis.len();
        let with_one = |kernel: &[f64]| {
            let mut sum = kernel.to_vec();
            (0..size).for_each(|k| sum[k * size + k] += 1.0);
            cholesky(sum, size)
        };
        let factor = with_one(&factored.kernel).unwrap_or_else(|| {
            // Rounding: the scales alone.
            factored.kernel.fill(0.0);
            with_one(&factored.kernel).expect("the identity is positive")
        });
        let away = factored.image(&at.gradient);
        let mean = at.point.iter().zip(&away).map(|(x, d)| x + d).collect();
        let diagonal = (0..size).map(|k| factor[k * size + k].ln());
        let spread = factored.roots.iter().map(|root| root.ln()).chain(diagonal).sum::<f64>();
        let half = 0.5 * std::f64::consts::TAU.ln();
        let constant = -half * at.point.len() as f64 - spread;
        Around { mean, roots: factored.roots, basis: factored.basis, factor, constant }
    }
}

impl Normal for Around {
    fn draw(&self, generator: &mut ChaCha8Rng) -> (Vec<f64>, f64) {
        let size = self.basis.len();
        let mut x = normals(self.mean.len(), generator);
        let own = self.constant - 0.5 * dot(&x, &x);
        let inside: Vec<f64> = self.basis.iter().map(|q| dot(q, &x)).collect();
        for (k, q) in self.basis.iter().enumerate() {
            let more = dot(&self.factor[k * size..][..=k], &inside[..=k]) - inside[k];
            x.iter_mut().zip(q).for_each(|(x, q)| *x += more * q);
        }
        let all = x.iter_mut().zip(&self.roots).zip(&self.mean);
        all.for_each(|((x, root), mean)| *x = mean + root * *x);
        (x, own)
    }
}

/// Columns as products of orthonormal ones and an upper triangle. A column that depends on those
/// before gives a column of zeros.
fn orthonormal(columns: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let size = columns.len();
    let (mut basis, mut triangle) = (Vec::<Vec<f64>>::new(), vec![0.0; size * size]);
    for (j, column) in columns.iter().enumerate() {
        let mut rest = column.clone();
        // Twice, because of rounding.
        for _ in 0..2 {
            for (i, q) in basis.iter().enumerate() {
                let along = dot(q, &rest);
                triangle[i * size + j] += along;
                rest.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
            }
        }
        let norm = dot(&rest, &rest).sqrt();
        let independent = norm > 1e-10 * dot(column, column).sqrt();
        let scale = if independent { 1.0 / norm } else { 0.0 };
        rest.iter_mut().for_each(|x| *x *= scale);
        triangle[j * size + j] = if independent { norm } else { 0.0 };
        basis.push(rest);
    }
    (basis, triangle)
}

/// The inverse of an upper triangle.
fn inverted(r: &[f64], size: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; size * size];
    for j in 0..size {
        for i in (0..=j).rev() {
            let one = if i == j { 1.0 } else { 0.0 };
            let sum: f64 = (i + 1..=j).map(|k| r[i * size + k] * inverse[k * size + j]).sum();
            inverse[i * size + j] = (one - sum) / r[i * size + i];
        }
    }
    inverse
}

fn product(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| (0..size).map(|k| a[i * size + k] * b[k * size + j]).sum();
    (0..size * size).map(|at| entry(at / size, at % size)).collect()
}

fn transposed(a: &[f64], size: usize) -> Vec<f64> {
    (0..size * size).map(|at| a[at % size * size + at / size]).collect()
}

//! Optima of definitions, and the normal distribution that has the curvature there.

use lambada::{Failure, Found, Optimum};
use lambada_draws::{Chain, Draws, names};
use rand::RngExt;
use rand_distr::StandardNormal;

use crate::shape::{cholesky, dot};
use crate::{gathered, start};

/// Where searches from several points ended.
#[derive(Clone, Debug)]
pub struct Optima {
    /// The best one.
    pub best: Found,
    /// Other optima that searches converged to, best first.
    pub others: Vec<Found>,
}

/// Two results that differ by less are of the same optimum, relative to their size.
const SAME: f64 = 1e-6;

/// Searches from `tries` points drawn at random, or from the start that is given.
///
/// # Errors
/// Failures of the program at all points.
pub fn optima(
    optimum: &Optimum,
    seed: u64,
    tries: usize,
    better: fn(f64, f64) -> bool,
) -> Result<Optima, Failure> {
    let mut generator = start::generator(seed, 0);
    let mut found: Vec<Found> = Vec::new();
    let mut failure = None;
    let from = optimum.start();
    for _ in 0..if from.is_some() { 1 } else { tries } {
        let point = match from {
            Some(from) => from.to_vec(),
            None => start::random(optimum.dimension(), &mut generator),
        };
        match optimum.search(&point) {
            Ok(end) => found.push(end),
            Err(why) => failure = Some(why),
        }
    }
    // Where a search did not converge, its end is no optimum; it is the best there is if none did.
    found.sort_by_key(|end| !end.converged);
    let Some(mut best) = found.first().cloned() else {
        return Err(failure.expect("a search fails or ends"));
    };
    for end in &found {
        let comparable = end.converged == best.converged || best.result.is_nan();
        if comparable && (better(end.result, best.result) || best.result.is_nan()) {
            best = end.clone();
        }
    }
    let mut others: Vec<Found> = Vec::new();
    for end in found {
        let same =
            |other: &Found| (end.result - other.result).abs() <= SAME * (1.0 + other.result.abs());
        if end.converged && !same(&best) && !others.iter().any(same) {
            others.push(end);
        }
    }
    Ok(Optima { best, others })
}

/// The standard errors of the values at a mode, from the curvature there; `None` if the curvature
/// is not positive.
///
/// # Errors
/// Failures of the program.
pub fn standard_errors(optimum: &Optimum, at: &[f64]) -> Result<Option<Vec<f64>>, Failure> {
    let Some(factor) = cholesky(optimum.curvature(at)?.concat(), at.len()) else {
        return Ok(None);
    };
    let slopes = optimum.slopes(at)?;
    let count = slopes.first().map_or(0, Vec::len);
    let error = |k: usize| {
        let slope: Vec<f64> = slopes.iter().map(|column| column[k]).collect();
        let whitened = forward(&factor, slope);
        dot(&whitened, &whitened).sqrt()
    };
    Ok(Some((0..count).map(error).collect()))
}

/// Draws of the normal distribution of coordinates with the mode and the curvature of the density;
/// `None` if the curvature is not positive.
///
/// # Errors
/// Failures of the program.
pub fn laplace(
    optimum: &Optimum,
    mode: &Found,
    seed: u64,
    draws: usize,
) -> Result<Option<Draws>, Failure> {
    let at = &mode.coordinates;
    let Some(factor) = cholesky(optimum.curvature(at)?.concat(), at.len()) else {
        return Ok(None);
    };
    let mut generator = start::generator(seed, 1);
    let mut values = Vec::new();
    let mut densities = Vec::new();
    for _ in 0..draws {
        let normal: Vec<f64> = at.iter().map(|_| generator.sample(StandardNormal)).collect();
        densities.push(mode.result - 0.5 * dot(&normal, &normal));
        let away = backward(&factor, normal);
        let point: Vec<f64> = at.iter().zip(&away).map(|(x, y)| x + y).collect();
        values.extend(optimum.values(&point)?);
    }
    let chain = Chain { values, statistics: vec![(names::LP.to_string(), densities)] };
    let attributes = [("method", "laplace".to_string()), ("seed", seed.to_string())];
    Ok(Some(gathered(optimum.variables(), &[chain], &attributes)))
}

/// Solves with a lower triangle.
fn forward(factor: &[f64], mut x: Vec<f64>) -> Vec<f64> {
    let size = x.len();
    for i in 0..size {
        let row = &factor[i * size..];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
    x
}

/// Solves with the transpose of a lower triangle.
fn backward(factor: &[f64], mut x: Vec<f64>) -> Vec<f64> {
    let size = x.len();
    for i in (0..size).rev() {
        x[i] /= factor[i * size + i];
        for j in 0..i {
            x[j] -= factor[i * size + j] * x[i];
        }
    }
    x
}

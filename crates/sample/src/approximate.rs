//! Normal distributions of coordinates in the place of a posterior, and draws of them.

use lambada::{Failure, Posterior};
use lambada_draws::{Chain, Draws, Smoothed, names, smoothed};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::{Unsampled, gathered, observed};

/// Draws of an approximation.
#[derive(Debug)]
pub struct Approximation {
    /// The draws, as one chain.
    pub draws: Draws,
    /// The shape k̂ of the tail of importance weights: above 0.7 the approximation is far from the
    /// posterior.
    pub shape: f64,
}

/// A normal distribution that can be drawn from.
pub(crate) trait Normal {
    /// A point, and its log density.
    fn draw(&self, generator: &mut ChaCha8Rng) -> (Vec<f64>, f64);
}

/// A draw with its log density in the posterior and in the approximation.
#[derive(Clone, Debug)]
pub(crate) struct Weighed {
    point: Vec<f64>,
    density: f64,
    own: f64,
}

/// Draws with their log densities. One where the program fails has the density of a point outside
/// of the posterior.
pub(crate) fn weighed(
    posterior: &Posterior,
    normal: &dyn Normal,
    count: usize,
    generator: &mut ChaCha8Rng,
) -> Vec<Weighed> {
    let mut both = vec![0.0; posterior.dimension() + 1];
    let mut draw = || {
        let (point, own) = normal.draw(generator);
        let ran = posterior.density(&point, &mut both);
        let density = if ran.is_ok() && !both[0].is_nan() { both[0] } else { f64::NEG_INFINITY };
        Weighed { point, density, own }
    };
    (0..count).map(|_| draw()).collect()
}

/// The evidence lower bound, up to a constant: the mean of the difference of log densities; -∞ for
/// an approximation whose own density overflows.
pub(crate) fn bound(draws: &[Weighed]) -> f64 {
    let sum: f64 = draws.iter().map(|draw| draw.density - draw.own).sum();
    if sum.is_nan() { f64::NEG_INFINITY } else { sum / draws.len() as f64 }
}

/// Independent standard normal variables.
pub(crate) fn normals(count: usize, generator: &mut ChaCha8Rng) -> Vec<f64> {
    (0..count).map(|_| generator.sample(StandardNormal)).collect()
}

/// The weights of draws as a sample of the posterior.
pub(crate) fn weights(draws: &[Weighed]) -> Smoothed {
    let logs: Vec<f64> = draws.iter().map(|draw| draw.density - draw.own).collect();
    smoothed(&logs)
}

/// Draws in proportion to their weights.
pub(crate) fn resampled(
    draws: &[Weighed],
    weights: &[f64],
    generator: &mut ChaCha8Rng,
) -> Vec<Weighed> {
    let mut sums = weights.to_vec();
    (1..sums.len()).for_each(|k| sums[k] += sums[k - 1]);
    let pick = |_: &Weighed| {
        let at: f64 = generator.random();
        let k = sums.partition_point(|sum| *sum < at).min(draws.len() - 1);
        draws[k].clone()
    };
    draws.iter().map(pick).collect()
}

/// The draws by the names of the parameters.
pub(crate) fn named(
    posterior: &Posterior,
    draws: &[Weighed],
    (method, seed): (&str, u64),
) -> Result<Draws, Unsampled> {
    let count = posterior.count();
    let mut values = vec![0.0; count * draws.len()];
    for (draw, values) in draws.iter().zip(values.chunks_mut(count.max(1))) {
        let ran: Result<(), Failure> = posterior.values(&draw.point, values);
        ran.map_err(Unsampled::Failed)?;
    }
    let densities = draws.iter().map(|draw| draw.density).collect();
    let chain = Chain { values, statistics: vec![(names::LP.to_string(), densities)] };
    let attributes = [("method", method.to_string()), ("seed", seed.to_string())];
    let draws = gathered(posterior.variables(), &[chain], &attributes);
    Ok(Draws { observed: observed::observed(posterior), ..draws })
}

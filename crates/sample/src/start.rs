//! Initial points, as Stan draws them: coordinates uniform from −2 to 2.

use lambada::{Failure, Posterior};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Number of points that are tried.
const TRIES: usize = 100;

/// The random numbers of a chain.
pub(crate) fn generator(seed: u64, chain: usize) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(chain as u64);
    generator
}

/// A random point.
pub(crate) fn random(dimension: usize, generator: &mut ChaCha8Rng) -> Vec<f64> {
    (0..dimension).map(|_| generator.random_range(-2.0..2.0)).collect()
}

/// Why a chain could not begin.
#[derive(Debug)]
pub struct Unstarted {
    /// The last point that was tried.
    pub point: Vec<f64>,
    /// The log density there.
    pub density: f64,
    /// Whether only the gradient is not finite.
    pub gradient_only: bool,
    /// The failure of the program there.
    pub failure: Option<Failure>,
}

/// A gain of log density that no chain makes in a draw once it is near the posterior.
const STEEP: f64 = 1e4;

/// The end of steps uphill while they gain very much. Where a log density is −1e50, energies have
/// no digits left for the kinetic one, and a chain would not move.
fn climbed(posterior: &Posterior, mut point: Vec<f64>, both: &[f64]) -> Vec<f64> {
    let mut here = both.to_vec();
    let mut step = 1.0;
    for _ in 0..TRIES {
        let norm = here[1..].iter().map(|g| g * g).sum::<f64>().sqrt();
        if !norm.is_finite() || norm == 0.0 {
            break;
        }
        let mut there = vec![0.0; here.len()];
        let better = (0..60).find_map(|_| {
            let moves = point.iter().zip(&here[1..]);
            let end: Vec<f64> = moves.map(|(x, g)| x + step * g / norm).collect();
            let ran = posterior.density(&end, &mut there);
            let gains = ran.is_ok() && there.iter().all(|x| x.is_finite()) && there[0] > here[0];
            if !gains {
                step *= 0.5;
            }
            gains.then_some(end)
        });
        let Some(end) = better else { break };
        if there[0] - here[0] < STEEP {
            break;
        }
        (point, here, step) = (end, there, 2.0 * step);
    }
    point
}

/// A point where the density and its gradient are finite.
pub(crate) fn point(
    posterior: &Posterior,
    generator: &mut ChaCha8Rng,
) -> Result<Vec<f64>, Unstarted> {
    let (dimension, from) = (posterior.dimension(), posterior.start());
    let mut both = vec![0.0; dimension + 1];
    let mut last = None;
    for _ in 0..if from.is_some() { 1 } else { TRIES } {
        let point: Vec<f64> = match from {
            Some(from) => from.to_vec(),
            None => random(dimension, generator),
        };
        let failure = posterior.density(&point, &mut both).err();
        let density = if failure.is_some() { f64::NAN } else { both[0] };
        if density.is_finite() && both[1..].iter().all(|x| x.is_finite()) {
            return Ok(if from.is_some() { point } else { climbed(posterior, point, &both) });
        }
        last = Some(Unstarted { point, density, gradient_only: density.is_finite(), failure });
    }
    Err(last.expect("at least one point is tried"))
}

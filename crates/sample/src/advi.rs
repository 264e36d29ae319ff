//! Variational inference (Kucukelbir, Tran, Ranganath, Gelman and Blei, 2017): independent normal
//! coordinates that are as close to the posterior as such ones can be, by stochastic gradients.
//! Sizes of steps and the test of the end are those of Stan.

use lambada::Posterior;
use rand::rngs::ChaCha8Rng;

use crate::approximate::{Approximation, Normal, bound, named, normals, weighed, weights};
use crate::shape::dot;
use crate::{Unsampled, start};

/// Sizes of steps: the best one after a few steps is taken.
const SIZES: [f64; 5] = [100.0, 10.0, 1.0, 0.1, 0.01];
const TRIED: usize = 50;
/// The most steps, and how many there are between two looks at the distance to the posterior.
const STEPS: usize = 10_000;
const LOOK: usize = 100;
/// Draws for the distance.
const JUDGED: usize = 100;
/// The relative change of the distance at the end: the mean or the median of the last ten.
const ENDS: f64 = 0.01;
const LAST: usize = 10;

/// Draws from the closest normal distribution with independent coordinates.
///
/// # Errors
/// The density is nowhere finite, or the program fails on draws.
pub fn advi(posterior: &Posterior, draws: usize, seed: u64) -> Result<Approximation, Unsampled> {
    let mut generator = start::generator(seed, 0);
    let point = start::point(posterior, &mut generator).map_err(Unsampled::Start)?;
    let begin = Independent { logs: vec![0.0; point.len()], means: point };
    let judged = |normal: &Independent, generator: &mut ChaCha8Rng| {
        bound(&weighed(posterior, normal, JUDGED, generator))
    };
    let tried = SIZES.map(|size| {
        let mut climb = Climb::new(begin.clone(), size);
        (0..TRIED).for_each(|_| climb.step(posterior, &mut generator));
        (judged(&climb.normal, &mut generator), size)
    });
    let better = |a: (f64, f64), b: (f64, f64)| if b.0 > a.0 || a.0.is_nan() { b } else { a };
    let (_, size) = tried.into_iter().reduce(better).expect("there are sizes");
    let mut climb = Climb::new(begin, size);
    let (mut last, mut changes) = (f64::NAN, Vec::new());
    for step in 1..=STEPS {
        climb.step(posterior, &mut generator);
        if step.is_multiple_of(LOOK) {
            let now = judged(&climb.normal, &mut generator);
            if last.is_finite() {
                changes.push(((now - last) / now).abs());
            }
            last = now;
            if ends(&changes) {
                break;
            }
        }
    }
    let all = weighed(posterior, &climb.normal, draws, &mut generator);
    let shape = weights(&all).shape;
    Ok(Approximation { draws: named(posterior, &all, ("advi", seed))?, shape })
}

fn ends(changes: &[f64]) -> bool {
    let mut last = changes[changes.len().saturating_sub(LAST)..].to_vec();
    last.sort_by(f64::total_cmp);
    let mean = last.iter().sum::<f64>() / last.len() as f64;
    last.get(last.len() / 2).is_some_and(|median| *median < ENDS || mean < ENDS)
}

/// Independent normal variables: their means, and the logarithms of their deviations.
#[derive(Clone)]
struct Independent {
    means: Vec<f64>,
    logs: Vec<f64>,
}

impl Independent {
    fn at(&self, normals: &[f64]) -> Vec<f64> {
        let all = self.means.iter().zip(&self.logs).zip(normals);
        all.map(|((mean, log), z)| mean + log.exp() * z).collect()
    }
}

impl Normal for Independent {
    fn draw(&self, generator: &mut ChaCha8Rng) -> (Vec<f64>, f64) {
        let z = normals(self.means.len(), generator);
        let half = 0.5 * std::f64::consts::TAU.ln();
        let own = -0.5 * dot(&z, &z) - half * z.len() as f64 - self.logs.iter().sum::<f64>();
        (self.at(&z), own)
    }
}

/// The ascent of the distance.
struct Climb {
    normal: Independent,
    size: f64,
    count: f64,
    /// Recent squares of gradients, of means and of logarithms.
    squares: [Vec<f64>; 2],
}

impl Climb {
    fn new(normal: Independent, size: f64) -> Climb {
        let zeros = vec![0.0; normal.means.len()];
        Climb { normal, size, count: 0.0, squares: [zeros.clone(), zeros] }
    }

    /// A step along the gradient at one draw; none where the density is not finite.
    fn step(&mut self, posterior: &Posterior, generator: &mut ChaCha8Rng) {
        self.count += 1.0;
        let z = normals(self.normal.means.len(), generator);
        let mut both = vec![0.0; z.len() + 1];
        let ran = posterior.density(&self.normal.at(&z), &mut both);
        if ran.is_err() || both.iter().any(|x| !x.is_finite()) {
            return;
        }
        let logs = self.normal.logs.iter().zip(&both[1..]).zip(&z);
        let by_log: Vec<f64> = logs.map(|((log, g), z)| g * z * log.exp() + 1.0).collect();
        let size = self.size / self.count.sqrt();
        let parts = [&mut self.normal.means, &mut self.normal.logs];
        for ((part, gradient), squares) in
            parts.into_iter().zip([&both[1..], &by_log]).zip(&mut self.squares)
        {
            for ((x, g), square) in part.iter_mut().zip(gradient).zip(squares) {
                let old = if self.count == 1.0 { g * g } else { *square };
                *square = 0.1 * g * g + 0.9 * old;
                *x += size * g / (1.0 + square.sqrt());
            }
        }
    }
}

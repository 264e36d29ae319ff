//! `cargo run -p sample`: the eight schools. The No-U-Turn Sampler of the crate `nuts-rs` draws
//! from the posterior of `examples/eight_schools.lam`.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use lambada::{Model, ValueAndGrad, args};
use nuts_rs::rand::{Rng, SeedableRng, rngs::StdRng};
use nuts_rs::{Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError};
use nuts_rs::Settings;

/// Eight standardized effects, their mean, and the logarithm of their standard deviation.
const PARAMETERS: usize = 10;
const CHAINS: u64 = 4;
const WARMUP: u64 = 1000;
const DRAWS: u64 = 2500;

/// The density to sample.
struct Posterior(ValueAndGrad);

/// A failure of the density.
#[derive(Debug)]
struct Failed(lambada::Error);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Failed {}

impl LogpError for Failed {
    /// A failing `check` rejects the point; all other failures end the run.
    fn is_recoverable(&self) -> bool {
        self.0.kind() == lambada::ErrorKind::Running
    }
}

impl HasDims for Posterior {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_owned(), PARAMETERS as u64)])
    }
}

impl CpuLogpFunc for Posterior {
    type LogpError = Failed;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        PARAMETERS
    }

    /// The value, and the gradient in the sampler's buffer.
    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Failed> {
        let mut value = 0.0;
        self.0.call_into(&args![position], &mut (&mut value, gradient)).map_err(Failed)?;
        Ok(value)
    }

    fn expand_vector<R: Rng + ?Sized>(&mut self, _: &mut R, position: &[f64]) -> Result<Vec<f64>, CpuMathError> {
        Ok(position.to_vec())
    }
}

/// Draws of all chains, after warmup.
fn sample(seed: u64) -> Result<Vec<Box<[f64]>>, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eight_schools.lam");
    let function = Model::load(path)?.function("log_posterior")?;
    let settings = DiagNutsSettings { num_tune: WARMUP, ..DiagNutsSettings::default() };
    let mut draws = Vec::new();
    for chain in 0..CHAINS {
        let mut rng = StdRng::seed_from_u64(seed + chain);
        let density = CpuMath::new(Posterior(function.value_and_grad(&[])?));
        let mut sampler = settings.new_chain(chain, density, &mut rng)?;
        sampler.set_position(&[0.1; PARAMETERS])?;
        for k in 0..WARMUP + DRAWS {
            let (draw, _) = sampler.draw()?;
            if k >= WARMUP {
                draws.push(draw);
            }
        }
    }
    Ok(draws)
}

/// Mean and standard deviation.
fn summary(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, variance.sqrt())
}

fn main() -> Result<(), Box<dyn Error>> {
    let draws = sample(1)?;
    let (mu, mu_sd) = summary(draws.iter().map(|x| x[8]));
    let (tau, tau_sd) = summary(draws.iter().map(|x| x[9].exp()));
    println!("mu  {mu:.2} ± {mu_sd:.2}\ntau {tau:.2} ± {tau_sd:.2}");
    Ok(())
}

/// Compares with the reference draws of posteriordb, `eight_schools_noncentered`: mean 4.4 of mu,
/// mean 3.6 of tau.
#[test]
fn the_means_are_those_of_the_reference() {
    let draws = sample(7).unwrap();
    let (mu, _) = summary(draws.iter().map(|x| x[8]));
    let (tau, _) = summary(draws.iter().map(|x| x[9].exp()));
    assert!((mu - 4.4).abs() < 0.3 && (tau - 3.6).abs() < 0.3, "{mu} {tau}");
}

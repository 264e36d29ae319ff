//! Posteriors → draws, by the No-U-Turn Sampler.
//!
//! - `lints`: findings before the first draw;
//! - `start`: initial points;
//! - `path`: one draw; `shape`, `low_rank`: the space in which it moves;
//! - `adapt`: adaptation in the warm-up;
//! - `nuts`: one chain; `state`: its file, from which it goes on;
//! - `mode`: optima, standard errors, and draws of the normal approximation;
//! - `approximate`: normal distributions in the place of a posterior; `pathfinder`, `advi`: which;
//! - `predict`: a definition for each draw;
//! - `observed`: the data, for files of draws;
//! - here: the chains, on threads.
//!
//! The draws depend on the seed and not on the number of threads, because each chain has random
//! numbers of its own.

mod adapt;
mod advi;
mod approximate;
mod lints;
mod low_rank;
mod mode;
mod nuts;
mod observed;
mod path;
mod pathfinder;
mod predict;
mod shape;
mod start;
mod state;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use lambada::{Failure, Posterior, Variable};
use lambada_draws::{Chain, Draws, names};

pub use advi::advi;
pub use approximate::Approximation;
pub use lints::{Lints, lints};
pub use mode::{Optima, laplace, optima, standard_errors};
pub use pathfinder::pathfinder;
pub use predict::{Unpredicted, predict};
pub use start::Unstarted;
pub use state::remove_states;

/// How to sample.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of chains.
    pub chains: usize,
    /// Draws of each chain that adapt the sampler and are not kept.
    pub warmup: u64,
    /// Draws of each chain that are kept.
    pub draws: u64,
    /// The seed.
    pub seed: u64,
    /// The mean acceptance probability that the size of steps is adapted to.
    pub target_accept: f64,
    /// A draw takes at most 2 to this power steps.
    pub max_depth: u64,
    /// Shape to adapt to.
    pub metric: Metric,
    /// Number of threads.
    pub threads: NonZeroUsize,
    /// A folder for the states of chains [default: none]. Chains that it has go on from there, and
    /// make the draws that they would have made without the interruption. Runs of less than a
    /// second, unless they are interrupted, write nothing.
    pub states: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            chains: 4,
            warmup: 1000,
            draws: 1000,
            seed: 0,
            target_accept: 0.8,
            max_depth: 10,
            metric: Metric::Diagonal,
            threads: NonZeroUsize::MIN,
            states: None,
        }
    }
}

/// The shape that the sampler adapts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The scale of each coordinate.
    Diagonal,
    /// The covariance of the coordinates.
    Dense,
    /// The scale of each coordinate, and the directions in which they are far from independent.
    LowRank,
}

/// Follows the chains.
pub trait Watch: Sync {
    /// A chain made a draw, the `draw`th with those of the warm-up.
    fn drawn(&self, chain: usize, draw: u64, diverging: bool);

    /// Whether the chains are to end with the draws that they have.
    fn stops(&self) -> bool;

    /// The folder of [`Settings::states`] has a state of a chain, or cannot keep one.
    fn resumed(&self, _chain: usize, _what: Resumed) {}
}

/// The state of a chain in a folder.
#[derive(Debug)]
pub enum Resumed<'e> {
    /// The chain goes on after this number of draws, with those of the warm-up.
    After(u64),
    /// The state is that of another program, of other data or of other settings; the chain begins.
    OtherChain,
    /// The folder does not take the state.
    NotKept(&'e std::io::Error),
}

/// Why there are no draws.
#[derive(Debug)]
pub enum Unsampled {
    /// No point was found where the density is finite.
    Start(Unstarted),
    /// The program failed.
    Failed(Failure),
}

/// Draws from a posterior. Chains begin at its start [default: points drawn as Stan draws them].
/// Chains that `watch` stops are as long as the shortest of them.
///
/// # Errors
/// The density is nowhere finite, or the program fails on draws.
pub fn sample(
    posterior: &Posterior,
    settings: &Settings,
    watch: &dyn Watch,
) -> Result<Draws, Unsampled> {
    let next = AtomicUsize::new(0);
    let made: Mutex<Vec<(usize, Result<Chain, Unsampled>)>> = Mutex::default();
    let work = || loop {
        let chain = next.fetch_add(1, Ordering::Relaxed);
        if chain >= settings.chains {
            return;
        }
        // Else each call of an interpreter would begin with room of its own.
        let result = lambada::roomy(|| nuts::chain(posterior, settings, chain, watch));
        made.lock().unwrap_or_else(PoisonError::into_inner).push((chain, result));
    };
    std::thread::scope(|scope| {
        for _ in 1..settings.threads.get().min(settings.chains) {
            scope.spawn(work);
        }
        work();
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(chain, _)| *chain);
    let chains: Vec<Chain> = made.into_iter().map(|(_, chain)| chain).collect::<Result<_, _>>()?;
    let attributes = [
        ("seed", settings.seed.to_string()),
        ("warmup", settings.warmup.to_string()),
        (names::MAX_DEPTH, settings.max_depth.to_string()),
        ("target_accept", settings.target_accept.to_string()),
    ];
    let draws = gathered(posterior.variables(), &chains, &attributes);
    Ok(Draws { observed: observed::observed(posterior), ..draws })
}

/// The draws of chains of a model with these variables.
fn gathered(variables: &[Variable], chains: &[Chain], attributes: &[(&str, String)]) -> Draws {
    let variables = variables.iter().map(|v| (v.name.clone(), v.dims.clone()));
    let draws = Draws::new(&variables.collect::<Vec<_>>(), chains);
    let attributes = attributes.iter().map(|(name, value)| (name.to_string(), value.clone()));
    Draws {
        attributes: attributes.collect(),
        ..draws.expect("the chains have the shape of the model")
    }
}

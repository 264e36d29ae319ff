//! Draws of Markov chains: their worth, their faults in words, their files and pictures. The crate
//! knows neither programs nor samplers.
//!
//! - [`draws`]: variables, statistics of the sampler and attributes, as arrays;
//! - [`stats`]: effective sample sizes, R̂ and Monte Carlo errors of one scalar;
//! - [`summary`]: the table of all scalars;
//! - [`mod@warnings`]: findings about the chains, each with its meaning and with advice;
//! - [`files`]: CSV, Parquet, and NetCDF-4 as ArviZ reads and writes it;
//! - [`pictures`]: traces, densities, pairs and more, as SVG.

mod draws;
mod files;
mod pictures;
mod stats;
mod summary;
mod warnings;

pub use draws::{Array, Chain, Draws, Element, Statistic, Variable, Wrong, names};
pub use files::Format;
pub use pictures::{PictureKind, picture};
pub use stats::{
    Scalar, Smoothed, Worth, energy_fraction, ess_bulk, ess_quantile, ess_tail, mcse_mean,
    mcse_quantile, mcse_sd, quantile, rhat, smoothed,
};
pub use summary::{Row, Summary};
pub use warnings::{Finding, Kind, warnings};

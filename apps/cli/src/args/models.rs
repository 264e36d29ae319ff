//! The arguments of the commands for statistical models.

use std::path::PathBuf;

use clap::{Args as ArgGroup, ValueEnum};

/// A model: a definition, its data and sizes.
#[derive(Clone, Debug, ArgGroup)]
pub struct Model {
    /// The program
    pub file: PathBuf,
    /// The log density, if the file has several definitions with a real result, and values of
    /// parameters in JSON, by name (x=1.5 'ys=[1, 2, 3]')
    #[arg(value_name = "ENTRY|NAME=VALUE", allow_negative_numbers = true)]
    pub words: Vec<String>,
    /// Values by parameter name, from a .json, .npz, .npy, .csv or .parquet file, or JSON from
    /// standard input (-); NAME=FILE is the value of one parameter. May be repeated. The other
    /// parameters are estimated
    #[arg(long = "data", value_name = "[NAME=]FILE")]
    pub files: Vec<PathBuf>,
    /// A size of the parameters that the data do not have, as j=8. May be repeated
    #[arg(long = "size", value_name = "NAME=N", value_parser = size)]
    pub sizes: Vec<(String, usize)>,
}

/// Where to begin.
#[derive(Clone, Debug, ArgGroup)]
pub struct Start {
    /// Begin at these values of the parameters, from a .json or .npz file, instead of random points
    #[arg(long, value_name = "FILE")]
    pub init: Option<PathBuf>,
}

/// How to show draws.
#[derive(Clone, Copy, Debug, ArgGroup)]
pub struct Table {
    /// Show all elements of long arrays in the table
    #[arg(long)]
    pub all: bool,
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

/// How to sample.
#[derive(Clone, Debug, ArgGroup)]
pub struct Sampling {
    /// Number of chains
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub chains: u16,
    /// Draws of each chain that adapt the sampler and are not kept
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub warmup: u32,
    /// Draws of each chain
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub draws: u32,
    /// The seed: the same draws for the same seed, for any number of threads
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The mean acceptance probability to adapt the size of steps to: higher for smaller steps
    #[arg(long, value_name = "P", default_value_t = 0.8, value_parser = probability)]
    pub target_accept: f64,
    /// A draw takes at most 2 to this power steps
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=20))]
    pub max_depth: u16,
    /// The shape to adapt to
    #[arg(long, value_enum, default_value_t = Metric::Diag)]
    pub metric: Metric,
    /// How to draw
    #[arg(long, value_enum, default_value_t = Method::Nuts)]
    pub method: Method,
    #[command(flatten)]
    pub start: Start,
    /// Write the draws to a .nc file (for ArviZ), a .parquet or a .csv file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub table: Table,
}

/// How to search for an optimum.
#[derive(Clone, Debug, ArgGroup)]
pub struct Searching {
    /// Search for the largest result: the mode of a log density
    #[arg(long)]
    pub maximize: bool,
    /// Tell standard errors, from the curvature of the log density at its mode
    #[arg(long)]
    pub errors: bool,
    /// Number of random points to search from; the best optimum is printed
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub tries: u16,
    /// The seed of the points
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub start: Start,
    /// Write the values of the parameters to a .json or .npz file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub look: super::Look,
}

/// The draws that a definition is run for.
#[derive(Clone, Debug, ArgGroup)]
pub struct Predicting {
    /// The draws of `lambada sample`: a .nc, .parquet or .csv file
    #[arg(long = "draws", value_name = "FILE")]
    pub draws: PathBuf,
    /// The seed of the random numbers of parameters of the type `random.key`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Write the results to a .nc, .parquet or .csv file; a .nc file has the draws, too
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub table: Table,
}

/// A shape of the posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    /// The scale of each coordinate
    Diag,
    /// The covariance of the coordinates
    Dense,
    /// The scale of each coordinate, and the directions in which they are far from independent: for
    /// many parameters
    LowRank,
}

/// A way to draw from a posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Chains of the No-U-Turn Sampler
    Nuts,
    /// Independent draws of the normal distribution that the posterior resembles at its mode: an
    /// approximation, at once
    Laplace,
    /// Draws, by importance, of normal distributions along the ways to the mode: an approximation
    /// that is often close
    Pathfinder,
    /// Draws of the closest normal distribution with independent coordinates
    Advi,
}

fn size(text: &str) -> Result<(String, usize), String> {
    let parts = text.split_once('=').and_then(|(name, value)| {
        let value = value.trim().parse().ok()?;
        Some((name.trim().to_string(), value))
    });
    parts.ok_or_else(|| "a size is a name and a number: `j=8`".into())
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(p) if 0.0 < p && p < 1.0 => Ok(p),
        _ => Err("it lies between 0 and 1".into()),
    }
}

/// A picture of draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Chart {
    /// Each chain over its draws, beside its density
    Trace,
    /// Densities, with the mean and the interval from 5 % to 95 %
    Density,
    /// Each variable against each other, with divergent draws
    Pairs,
    /// Intervals of all elements
    Forest,
    /// Ranks of the draws of each chain
    Rank,
    /// Energies of the paths, and their changes
    Energy,
    /// Replicated data beside the data
    Ppc,
}

impl Chart {
    /// The picture.
    pub fn kind(self) -> lambada_draws::PictureKind {
        use lambada_draws::PictureKind;
        match self {
            Chart::Trace => PictureKind::Trace,
            Chart::Density => PictureKind::Density,
            Chart::Pairs => PictureKind::Pairs,
            Chart::Forest => PictureKind::Forest,
            Chart::Rank => PictureKind::Rank,
            Chart::Energy => PictureKind::Energy,
            Chart::Ppc => PictureKind::Ppc,
        }
    }
}

//! Effective sample sizes, R̂ and Monte Carlo errors of one scalar, by Vehtari, Gelman, Simpson,
//! Carpenter and Bürkner (2021), *Rank-normalization, folding, and localization*, as ArviZ and
//! the R package `posterior` compute them.
//!
//! - `fourier`: the transform that makes autocovariances near-linear;
//! - `special`: quantiles of the normal and of the beta distribution;
//! - `pareto`: importance weights;
//! - `judge`: the estimators, with the tables that all scalars of a run share.

mod fourier;
mod judge;
mod pareto;
mod special;

pub(crate) use judge::Judge;
pub use judge::{Scalar, Worth};
pub use pareto::{Smoothed, smoothed};

/// Least number of draws of a chain for which there are diagnostics.
pub(crate) const LEAST: usize = 4;

/// R̂: the larger of the rank-normalized split R̂ and that of the folded draws. A single chain is
/// compared with itself, half by half. NaN for constant draws, NaN among them, or fewer than 4.
pub fn rhat(scalar: Scalar<'_>) -> f64 {
    Judge::of(scalar).rhat(scalar)
}

/// Effective sample size of the bulk: of the rank-normalized draws. NaN as for [`rhat`].
pub fn ess_bulk(scalar: Scalar<'_>) -> f64 {
    Judge::of(scalar).ess_bulk(scalar)
}

/// Effective sample size of the tails: the smaller of those of the 5 % and the 95 % quantile. NaN
/// as for [`rhat`].
pub fn ess_tail(scalar: Scalar<'_>) -> f64 {
    Judge::of(scalar).worth(scalar).ess_tail
}

/// Effective sample size for a quantile. NaN as for [`rhat`].
pub fn ess_quantile(scalar: Scalar<'_>, probability: f64) -> f64 {
    Judge::of(scalar).ess_quantile(scalar, probability)
}

/// Monte Carlo standard error of the mean.
pub fn mcse_mean(scalar: Scalar<'_>) -> f64 {
    Judge::of(scalar).worth(scalar).mcse_mean
}

/// Monte Carlo standard error of the standard deviation.
pub fn mcse_sd(scalar: Scalar<'_>) -> f64 {
    Judge::of(scalar).worth(scalar).mcse_sd
}

/// Monte Carlo standard error of a quantile.
pub fn mcse_quantile(scalar: Scalar<'_>, probability: f64) -> f64 {
    Judge::of(scalar).mcse_quantile(scalar, probability)
}

/// The Bayesian fraction of missing information of one chain (E-BFMI), by the energies of its draws
/// (Betancourt 2016). Below 0.3, momenta reach the energies of the tails too seldom.
pub fn energy_fraction(energies: &[f64]) -> f64 {
    let squares = energies.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    squares.sum::<f64>() / (energies.len() as f64 - 1.0) / variance(energies)
}

/// A quantile of sorted values, by linear interpolation as in R's type 7 and NumPy.
pub fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    if last == 0 || sorted[last].is_nan() {
        return sorted[last];
    }
    // The order of these operations is that of SciPy, because ties decide which draws are below.
    let place = sorted.len() as f64 * probability + (1.0 - probability);
    let below = place.clamp(1.0, last as f64).floor();
    let part = (place - below).clamp(0.0, 1.0);
    let k = below as usize;
    let (low, high) = (sorted[k - 1], sorted[k]);
    if low == high { low } else { (1.0 - part) * low + part * high }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Variance with the divisor `n - 1`.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let center = mean(values);
    values.iter().map(|x| (x - center).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// The values in order; NaN last.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    // NaN of either sign is last, so that a quantile sees it.
    sorted.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(a.is_nan().cmp(&b.is_nan())));
    sorted
}

#[cfg(test)]
mod tests;

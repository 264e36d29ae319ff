//! The estimators. A [`Judge`] holds tables for one number of chains and draws, which all scalars
//! of a run share.

use super::fourier::Fourier;
use super::special::{beta_quantile, normal_quantile};
use super::{LEAST, mean, quantile, sorted, variance};

/// Draws of a scalar, `[chain][draw]`.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'a> {
    /// The values.
    pub values: &'a [f64],
    /// Number of draws of each chain.
    pub draws: usize,
}

/// Estimates of a scalar, and how far they can be trusted. NaN stands for unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, with the divisor `n - 1`.
    pub sd: f64,
    /// Quantiles at 5 %, 50 % and 95 %.
    pub quantiles: [f64; 3],
    /// Monte Carlo standard error of the mean.
    pub mcse_mean: f64,
    /// Monte Carlo standard error of the standard deviation.
    pub mcse_sd: f64,
    /// Effective sample size of the bulk.
    pub ess_bulk: f64,
    /// Effective sample size of the tails.
    pub ess_tail: f64,
    /// R̂.
    pub rhat: f64,
    /// Number of draws that are NaN or infinite.
    pub not_finite: usize,
    /// Whether all draws are equal, so that there are no diagnostics.
    pub constant: bool,
}

/// Estimators for scalars of one shape.
pub(crate) struct Judge {
    fourier: Fourier,
    /// Normal quantiles of the ranks; ties have halves of ranks, so the place is twice the rank.
    normal: Vec<f64>,
    /// Number of draws of a half chain.
    half: usize,
}

impl Judge {
    /// Estimators for scalars like this one.
    pub fn of(scalar: Scalar<'_>) -> Judge {
        Judge::new(scalar.values.len() / scalar.draws.max(1), scalar.draws)
    }

    /// Estimators for a number of chains and draws.
    pub fn new(chains: usize, draws: usize) -> Judge {
        let half = draws / 2;
        let count = 2 * half * chains;
        // Blom's offsets.
        let place = |twice: usize| (0.5 * twice as f64 - 0.375) / (count as f64 + 0.25);
        let normal = (0..=2 * count).map(|twice| normal_quantile(place(twice.max(1))));
        Judge { fourier: Fourier::new(half), normal: normal.collect(), half }
    }

    /// All estimates.
    pub fn worth(&mut self, scalar: Scalar<'_>) -> Worth {
        let values = scalar.values;
        let ordered = sorted(values);
        let mean = mean(values);
        let sd = variance(values).sqrt();
        let mut worth = Worth {
            mean,
            sd,
            quantiles: [0.05, 0.5, 0.95].map(|p| quantile(&ordered, p)),
            mcse_mean: f64::NAN,
            mcse_sd: f64::NAN,
            ess_bulk: f64::NAN,
            ess_tail: f64::NAN,
            rhat: f64::NAN,
            not_finite: values.iter().filter(|x| !x.is_finite()).count(),
            constant: is_constant(values),
        };
        if worth.constant {
            // Rounding of the sum, else.
            (worth.mean, worth.sd) = (values[0], 0.0);
        }
        if !is_valid(scalar) {
            return worth;
        }
        let halves = self.halves(scalar);
        worth.mcse_mean = sd / self.ess(&halves).sqrt();
        let squares: Vec<f64> = values.iter().map(|x| (x - mean).powi(2)).collect();
        worth.mcse_sd = self.mcse_of_sd(&squares, scalar.draws);
        let [low, _, high] = worth.quantiles;
        worth.ess_tail = self.ess_below(scalar, low).min(self.ess_below(scalar, high));
        let scores = self.scores(&halves);
        worth.ess_bulk = self.ess(&scores);
        worth.rhat = self.potential(&scores).max(self.rhat_folded(&halves));
        worth
    }

    /// See [`super::rhat`].
    pub fn rhat(&self, scalar: Scalar<'_>) -> f64 {
        if !is_valid(scalar) {
            return f64::NAN;
        }
        let halves = self.halves(scalar);
        self.potential(&self.scores(&halves)).max(self.rhat_folded(&halves))
    }

    /// See [`super::ess_bulk`].
    pub fn ess_bulk(&mut self, scalar: Scalar<'_>) -> f64 {
        if !is_valid(scalar) {
            return f64::NAN;
        }
        let scores = self.scores(&self.halves(scalar));
        self.ess(&scores)
    }

    /// See [`super::ess_quantile`].
    pub fn ess_quantile(&mut self, scalar: Scalar<'_>, probability: f64) -> f64 {
        if !is_valid(scalar) {
            return f64::NAN;
        }
        self.ess_below(scalar, quantile(&sorted(scalar.values), probability))
    }

    /// See [`super::mcse_quantile`].
    pub fn mcse_quantile(&mut self, scalar: Scalar<'_>, probability: f64) -> f64 {
        let ess = self.ess_quantile(scalar, probability);
        if ess.is_nan() {
            return f64::NAN;
        }
        let ordered = sorted(scalar.values);
        let last = (ordered.len() - 1) as f64;
        let (a, b) = (ess * probability + 1.0, ess * (1.0 - probability) + 1.0);
        // The normal distribution at -1 and 1.
        let ends = [0.158_655_3, 0.841_344_7];
        let [low, high] = ends.map(|p| beta_quantile(p, a, b) * ordered.len() as f64 - 1.0);
        let at = |place: f64| ordered[place as usize];
        (at(high.min(last).ceil()) - at(low.max(0.0).floor())) / 2.0
    }

    /// The halves of all chains, one after the other. The middle of an odd number of draws belongs
    /// to none.
    fn halves(&self, Scalar { values, draws }: Scalar<'_>) -> Vec<f64> {
        let mut halves = Vec::with_capacity(values.len());
        for chain in values.chunks(draws) {
            halves.extend_from_slice(&chain[..self.half]);
            halves.extend_from_slice(&chain[draws - self.half..]);
        }
        halves
    }

    /// Normal quantiles of the ranks; ties share their mean rank.
    fn scores(&self, values: &[f64]) -> Vec<f64> {
        let mut order: Vec<(f64, u32)> = values.iter().copied().zip(0..).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut scores = vec![0.0; values.len()];
        let mut start = 0;
        for run in order.chunk_by(|a, b| a.0 == b.0) {
            let twice = 2 * start + run.len() + 1;
            run.iter().for_each(|(_, k)| scores[*k as usize] = self.normal[twice]);
            start += run.len();
        }
        scores
    }

    /// R̂ of half chains, without ranks.
    fn potential(&self, halves: &[f64]) -> f64 {
        let n = self.half as f64;
        let within = mean(&halves.chunks(self.half).map(variance).collect::<Vec<f64>>());
        let means: Vec<f64> = halves.chunks(self.half).map(mean).collect();
        let between = n * variance(&means);
        ((between / within + n - 1.0) / n).sqrt()
    }

    fn rhat_folded(&self, halves: &[f64]) -> f64 {
        let median = quantile(&sorted(halves), 0.5);
        let folded: Vec<f64> = halves.iter().map(|x| (x - median).abs()).collect();
        self.potential(&self.scores(&folded))
    }

    /// Effective sample size for the probability of a value that is at most `bound`.
    fn ess_below(&mut self, scalar: Scalar<'_>, bound: f64) -> f64 {
        let truth: Vec<f64> =
            self.halves(scalar).iter().map(|x| f64::from(u8::from(*x <= bound))).collect();
        if is_constant(&truth) {
            return truth.len() as f64;
        }
        self.ess(&truth)
    }

    fn mcse_of_sd(&mut self, squares: &[f64], draws: usize) -> f64 {
        let halves = self.halves(Scalar { values: squares, draws });
        if is_constant(&halves) {
            return 0.0;
        }
        let center = mean(squares);
        let fourth = mean(&squares.iter().map(|x| x * x).collect::<Vec<f64>>());
        ((fourth - center * center) / self.ess(&halves) / center / 4.0).sqrt()
    }

    /// Effective sample size of half chains, by Geyer's initial monotone sequence: sums of
    /// autocorrelations at an even lag and the next are positive and fall.
    fn ess(&mut self, halves: &[f64]) -> f64 {
        let n = self.half;
        let chains = halves.len() / n;
        let covariances = self.fourier.autocovariances(halves, n);
        let within = covariances[0] * n as f64 / (n as f64 - 1.0);
        let means: Vec<f64> = halves.chunks(n).map(mean).collect();
        let between = if chains > 1 { variance(&means) } else { 0.0 };
        let total = within * (n as f64 - 1.0) / n as f64 + between;
        let correlation = |lag: usize| 1.0 - (within - covariances[lag]) / total;
        let mut kept = vec![0.0; n];
        let (mut even, mut odd) = (1.0, correlation(1));
        (kept[0], kept[1]) = (even, odd);
        let mut lag = 1;
        while lag + 3 < n && even + odd > 0.0 {
            (even, odd) = (correlation(lag + 1), correlation(lag + 2));
            if even + odd >= 0.0 {
                (kept[lag + 1], kept[lag + 2]) = (even, odd);
            }
            lag += 2;
        }
        let last = lag - 1;
        if even > 0.0 {
            kept[last] = even;
        }
        for lag in (1..last.saturating_sub(2)).step_by(2) {
            let before = kept[lag - 1] + kept[lag];
            if kept[lag + 1] + kept[lag + 2] > before {
                (kept[lag + 1], kept[lag + 2]) = (before / 2.0, before / 2.0);
            }
        }
        let count = halves.len() as f64;
        let sum = -1.0 + 2.0 * kept[..last].iter().sum::<f64>() + kept[last];
        if kept.iter().any(|x| x.is_nan()) {
            return f64::NAN;
        }
        // A bound for chains that are better than independent draws.
        count / sum.max(1.0 / count.log10())
    }
}

/// Whether there are diagnostics.
fn is_valid(Scalar { values, draws }: Scalar<'_>) -> bool {
    draws >= LEAST && !values.iter().any(|x| x.is_nan()) && !is_constant(values)
}

fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1]) && !values.is_empty()
}

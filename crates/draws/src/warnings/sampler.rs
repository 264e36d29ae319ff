//! Findings by the statistics of the sampler.

use super::{Finding, Kind, joined, numbered, percent, rough};
use crate::draws::{Draws, names};
use crate::stats::{energy_fraction, quantile, sorted};
use crate::summary::Summary;

/// Limit for the depth of trees, if the draws do not say it.
const DEPTH: f64 = 10.0;

/// E-BFMI below which a chain explores the tails too slowly.
const FRACTION: f64 = 0.3;

/// Number of divergences from which their place is searched for, and number of scalars among which.
const ENOUGH: usize = 5;
const SEARCHED: usize = 2000;

/// Part of the divergences that the place shall contain, and how much less of the other draws.
const MOST: f64 = 0.8;
const LESS: f64 = 0.4;

/// Acceptance from which a higher one is no advice.
const CAREFUL: f64 = 0.985;

/// Trajectories that diverged, and the place where.
pub(super) fn divergences(draws: &Draws, summary: &Summary) -> Option<Finding> {
    let diverging = draws.statistic(names::DIVERGING)?;
    let count = diverging.iter().filter(|x| **x != 0.0).count();
    if count == 0 {
        return None;
    }
    let all = diverging.len();

    let title =
        format!("{count} of {all} trajectories diverged ({})", percent(count as f64 / all as f64));
    let meaning = "The posterior bends more sharply than the steps can follow, so the chains leave out a part of it and the estimates are biased.";
    let place = place(draws, summary, diverging, count);
    let meaning = match &place {
        Some(place) => format!("{meaning} {place}"),
        None => meaning.to_string(),
    };
    let mut finding = Finding::new(Kind::Divergences, title, meaning);
    let target = draws.attribute("target_accept").and_then(|text| text.parse::<f64>().ok());
    finding = match target {
        Some(target) if target >= CAREFUL => finding,
        Some(target) if target >= 0.945 => {
            finding.advice("raise `--target-accept` to 0.99: smaller steps")
        }
        _ => finding.advice("raise `--target-accept`, to 0.95 or 0.99: smaller steps"),
    };
    finding = finding.advice(
        "write parameters whose scale is a parameter non-centered: `mu + tau * z` with a standard normal `z`",
    );
    Some(match place {
        Some(_) => finding,
        None => {
            finding.advice("look for the place: `lambada plot --kind pairs` marks divergent draws")
        }
    })
}

/// The scalar by which the divergent draws differ most from the others, in words.
fn place(draws: &Draws, summary: &Summary, diverging: &[f64], count: usize) -> Option<String> {
    if count < ENOUGH || 2 * count > diverging.len() {
        return None;
    }
    let mut best: Option<(f64, String)> = None;
    for (element, row) in draws.elements().zip(&summary.rows).take(SEARCHED) {
        if row.worth.constant || row.worth.not_finite > 0 {
            continue;
        }
        let values = draws.scalar(element);
        let of = |divergent: bool| {
            let kept = values.iter().zip(diverging).filter(|(_, d)| (**d != 0.0) == divergent);
            kept.map(|(x, _)| *x).collect::<Vec<f64>>()
        };
        let (inside, outside) = (sorted(&of(true)), of(false));
        for (probability, word) in [(MOST, "below"), (1.0 - MOST, "above")] {
            let Ok(bound) = rough(quantile(&inside, probability)).parse::<f64>() else { continue };
            let part = |of: &[f64]| {
                let there = |x: &&f64| if word == "below" { **x < bound } else { **x > bound };
                of.iter().filter(there).count() as f64 / of.len() as f64
            };
            let (mine, others) = (part(&inside), part(&outside));
            let gain = mine - others;
            if gain >= LESS && best.as_ref().is_none_or(|(best, _)| gain > *best) {
                let sentence = format!(
                    "{} of these draws lie where `{}` is {word} {}, but only {} of the others.",
                    percent(mine),
                    row.name,
                    rough(bound),
                    percent(others)
                );
                best = Some((gain, sentence));
            }
        }
    }
    best.map(|(_, sentence)| sentence)
}

/// Trajectories that ended at the greatest depth.
pub(super) fn depth(draws: &Draws) -> Option<Finding> {
    let depths = draws.statistic(names::TREE_DEPTH)?;
    let attribute = draws.attribute(names::MAX_DEPTH).and_then(|text| text.parse().ok());
    let limit: f64 = attribute.unwrap_or(DEPTH);
    let count = depths.iter().filter(|depth| **depth >= limit).count();
    if count == 0 {
        return None;
    }
    let part = percent(count as f64 / depths.len() as f64);
    let title = format!(
        "{count} of {} trajectories ended at the greatest depth, {limit} ({part})",
        depths.len()
    );
    let meaning = "They were cut off before they turned back. The estimates are right, but each draw costs more steps and tells less.";
    Some(
        Finding::new(Kind::Depth, title, meaning)
            .advice(format!("allow longer trajectories: `--max-depth {}`", limit + 2.0))
            .advice(
                "if parameters are strongly correlated, learn their correlations: `--metric low-rank`",
            )
            .advice("bring parameters to similar scales"),
    )
}

/// Chains with a low energy fraction.
pub(super) fn energy(draws: &Draws) -> Option<Finding> {
    let energies = draws.statistic(names::ENERGY)?;
    let fractions = draws.by_chain(energies).map(energy_fraction).enumerate();
    let low: Vec<(usize, f64)> = fractions.filter(|(_, fraction)| *fraction < FRACTION).collect();
    if low.is_empty() {
        return None;
    }
    let chains: Vec<usize> = low.iter().map(|(chain, _)| *chain).collect();
    let values: Vec<String> = low.iter().map(|(_, fraction)| format!("{fraction:.2}")).collect();
    let title = format!("E-BFMI is below 0.3 in {}: {}", numbered(&chains), joined(&values));
    let meaning = "A new momentum changes the energy by little compared with the energies of the posterior, so its tails are visited too seldom.";
    Some(
        Finding::new(Kind::Energy, title, meaning)
            .advice("write parameters whose scale is a parameter non-centered: `mu + tau * z` with a standard normal `z`")
            .advice("give parameters with heavy tails a narrower prior")
            .advice("sample longer: `--warmup`, `--draws`"),
    )
}

//! Findings about chains: each says its meaning and gives advice. Good chains have none, because a
//! warning that is often false is not read.
//!
//! - `sampler`: by the statistics of the sampler: divergences, depth, energy;
//! - `chains`: by the draws: chains that are stuck, apart, wandering or too short.

mod chains;
mod sampler;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::draws::Draws;
use crate::summary::Summary;

/// A finding, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: Kind,
    /// The observation, one sentence without a full stop.
    pub title: String,
    /// Its meaning, in sentences.
    pub meaning: String,
    /// Steps that may help, the first first.
    pub advice: Vec<String>,
}

/// Kinds of findings, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Parameters that the density does not mention.
    Unmentioned,
    /// A density that does not fall along a coordinate.
    Improper,
    /// Data that no term has together with a parameter.
    Unmet,
    /// Draws that are NaN or infinite.
    NotFinite,
    /// Chains that do not move.
    Stuck,
    /// Draws that grow without bound.
    Wandering,
    /// Chains in different places.
    Modes,
    /// Trajectories that diverged.
    Divergences,
    /// R̂ above 1.01.
    Rhat,
    /// Low energy fraction (E-BFMI).
    Energy,
    /// Fewer than 100 effective draws for each chain.
    FewEffective,
    /// Trees of the greatest depth.
    Depth,
    /// Too few draws for diagnostics.
    TooShort,
    /// Chains cut to a common length.
    Cut,
}

impl Kind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unmentioned => "unmentioned",
            Kind::Improper => "improper",
            Kind::Unmet => "unmet",
            Kind::NotFinite => "not_finite",
            Kind::Stuck => "stuck",
            Kind::Wandering => "wandering",
            Kind::Modes => "modes",
            Kind::Divergences => "divergences",
            Kind::Rhat => "rhat",
            Kind::Energy => "energy",
            Kind::FewEffective => "few_effective",
            Kind::Depth => "depth",
            Kind::TooShort => "too_short",
            Kind::Cut => "cut",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.title, self.meaning)?;
        self.advice.iter().try_for_each(|advice| write!(f, "\n  - {advice}"))
    }
}

impl Finding {
    /// A finding without advice.
    pub fn new(kind: Kind, title: impl Into<String>, meaning: impl Into<String>) -> Finding {
        Finding { kind, title: title.into(), meaning: meaning.into(), advice: Vec::new() }
    }

    /// Adds a step that may help.
    #[must_use]
    pub fn advice(mut self, advice: impl Into<String>) -> Finding {
        self.advice.push(advice.into());
        self
    }
}

/// All findings, the gravest first. `summary` is that of the draws.
pub fn warnings(draws: &Draws, summary: &Summary) -> Vec<Finding> {
    let stuck = chains::stuck(draws);
    let wandering = chains::wandering(draws, summary);
    let apart = if wandering.is_none() { chains::apart(draws) } else { None };
    // Each of these explains R̂ and ESS, for which the advice would be another.
    let explained = [&stuck, &wandering, &apart].into_iter().any(Option::is_some);
    let otherwise = |finding: Option<Finding>| finding.filter(|_| !explained);
    let all = [
        chains::not_finite(summary),
        stuck,
        wandering,
        apart,
        sampler::divergences(draws, summary),
        otherwise(chains::unmixed(draws, summary)),
        sampler::energy(draws),
        otherwise(chains::few_effective(draws, summary)),
        sampler::depth(draws),
        chains::too_short(draws, summary),
        chains::cut(draws),
    ];
    all.into_iter().flatten().collect()
}

/// Chains by number: "chain 2", "chains 0, 1 and 3".
fn numbered(chains: &[usize]) -> String {
    match chains {
        [one] => format!("chain {one}"),
        _ => format!("chains {}", joined(&chains.iter().map(usize::to_string).collect::<Vec<_>>())),
    }
}

fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The sentence with a capital at its beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A part of a whole as percentage, with a decimal below 10.
fn percent(part: f64) -> String {
    let percents = 100.0 * part;
    if percents >= 9.95 || percents == 0.0 {
        format!("{percents:.0} %")
    } else if percents < 0.1 {
        "less than 0.1 %".into()
    } else {
        format!("{percents:.1} %")
    }
}

/// A number as a person would say it: three digits, without zeros at the end.
fn rough(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let exponent = x.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        return format!("{x:.1e}");
    }
    let text = format!("{x:.*}", (2 - exponent).max(0) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

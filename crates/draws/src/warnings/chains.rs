//! Findings by the draws themselves.

use super::{Finding, Kind, capital, joined, numbered, percent, rough};
use crate::draws::{Draws, names};
use crate::stats::{LEAST, mean, variance};
use crate::summary::{Row, Summary, fixed, listed};

/// R̂ above which chains differ.
const MIXED: f64 = 1.01;

/// Effective draws that each chain should have.
const EFFECTIVE: f64 = 100.0;

/// Part of unmoved draws, and acceptance, at which a chain is stuck.
const UNMOVED: f64 = 0.5;
const ACCEPTED: f64 = 0.05;

/// Distance of the means of two chains, in their larger standard deviation, from which they are in
/// different places.
const APART: f64 = 3.0;

/// Difference of mean log densities up to which modes are alike.
const ALIKE: f64 = 1.0;

/// Spread in the median step beyond which a scalar has no finite variance.
const SPREAD: f64 = 1e6;

/// Spread of a scalar that wanders; R̂, and part of the trajectories that do not turn back, which
/// confirm it: slow chains of a large scale are not improper.
const FAR: f64 = 1e4;
const SPLIT: f64 = 1.1;
const ENDLESS: f64 = 0.1;

/// Draws that are NaN or infinite.
pub(super) fn not_finite(summary: &Summary) -> Option<Finding> {
    let rows: Vec<&Row> = summary.rows.iter().filter(|row| row.worth.not_finite > 0).collect();
    let most = rows.iter().max_by_key(|row| row.worth.not_finite)?;
    let title = format!(
        "{} {} NaN or infinite in some draws, {} in {} of them",
        capital(&names_of(&rows)),
        if rows.len() == 1 { "is" } else { "are" },
        if rows.len() == 1 { "it".to_string() } else { format!("`{}`", most.name) },
        most.worth.not_finite,
    );
    let meaning = "The numbers overflowed, or are not defined there. Means and diagnostics of such scalars are unknown.";
    Some(
        Finding::new(Kind::NotFinite, title, meaning)
            .advice("keep the parameters where the model is defined: by a space such as `space.positive`, or a narrower prior"),
    )
}

fn names_of(rows: &[&Row]) -> String {
    listed(rows.iter().map(|row| &row.name[..]))
}

/// Chains that hardly move.
pub(super) fn stuck(draws: &Draws) -> Option<Finding> {
    if draws.draws < 2 || draws.elements().next().is_none() {
        return None;
    }
    let unmoved: Vec<f64> = (0..draws.chains).map(|chain| unmoved(draws, chain)).collect();
    let acceptance = draws.statistic(names::ACCEPTANCE_RATE);
    let accepted = |chain: usize| {
        let rates = acceptance.map(|rates| &rates[chain * draws.draws..][..draws.draws]);
        rates.map(mean).filter(|rate| *rate < ACCEPTED)
    };
    let chains: Vec<usize> = (0..draws.chains)
        .filter(|chain| unmoved[*chain] > UNMOVED || accepted(*chain).is_some())
        .collect();
    let first = *chains.first()?;
    let verb = if chains.len() == 1 { "does" } else { "do" };
    let title = format!("{} {verb} not move", capital(&numbered(&chains)));
    let part = chains.iter().map(|chain| unmoved[*chain]).fold(1.0, f64::min);
    let seen = match accepted(first) {
        _ if part == 1.0 => "All draws are equal.".to_string(),
        _ if part > UNMOVED => format!("{} of the draws repeat the one before.", percent(part)),
        Some(rate) => format!("The mean acceptance is {rate:.3}."),
        None => String::new(),
    };
    let meaning = format!(
        "{seen} The log density may jump or be NaN around the place where the chain began, or the steps became too large."
    );
    Some(
        Finding::new(Kind::Stuck, title, meaning.trim_start())
            .advice("begin elsewhere: another `--seed`, or `--init` with a point of moderate density")
            .advice("find terms that jump or are not finite: `lambada run` at the last draw, and its gradient")
            .advice("give the step size longer to adapt: `--warmup`"),
    )
}

/// Part of the draws of a chain that equal the one before in all scalars.
fn unmoved(draws: &Draws, chain: usize) -> f64 {
    let n = draws.draws;
    let mut equal = vec![true; n - 1];
    for variable in draws.variables.iter().filter(|variable| variable.size() > 0) {
        let size = variable.size();
        let values = &variable.values[chain * n * size..][..n * size];
        for (k, equal) in equal.iter_mut().enumerate() {
            *equal &= values[k * size..][..size] == values[(k + 1) * size..][..size];
        }
    }
    equal.iter().filter(|equal| **equal).count() as f64 / (n - 1) as f64
}

/// Draws that grow without bound, as those of an improper posterior do.
pub(super) fn wandering(draws: &Draws, summary: &Summary) -> Option<Finding> {
    if draws.draws < 2 * LEAST {
        return None;
    }
    let endless = endless(draws);
    let wanders = |(element, row): &(crate::Element<'_>, &Row)| {
        let sd = row.worth.sd;
        if row.worth.constant || sd.is_nan() {
            return false;
        }
        let values = draws.scalar(*element);
        let far = endless && sd > FAR && row.worth.rhat > SPLIT;
        far || sd > SPREAD * step(draws, &values)
    };
    let all = draws.elements().zip(&summary.rows);
    let rows: Vec<&Row> = all.filter(wanders).map(|(_, row)| row).collect();
    let far = |row: &Row| row.worth.quantiles.iter().fold(0.0, |far: f64, q| far.max(q.abs()));
    let worst = rows.iter().max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let title = format!(
        "{} {}; 5 % of the draws of `{}` are beyond {}",
        capital(&names_of(&rows)),
        if rows.len() == 1 { "wanders without bound" } else { "wander without bound" },
        worst.name,
        rough(far(worst)),
    );
    let meaning = "The posterior may be improper: neither data nor priors hold these parameters, and then no estimate means anything. Or its tails are so heavy that mean and sd do not exist.";
    Some(
        Finding::new(Kind::Wandering, title, meaning)
            .advice("give each of these parameters a prior that is a density")
            .advice("look for parameters of which only a sum or a product enters the model")
            .advice("for groups or a regression that separates the data perfectly, use a weakly informative prior"),
    )
}

/// Whether many trajectories did not turn back.
fn endless(draws: &Draws) -> bool {
    let limit = draws.attribute(names::MAX_DEPTH).and_then(|text| text.parse().ok());
    let limit: f64 = limit.unwrap_or(10.0);
    draws.statistic(names::TREE_DEPTH).is_some_and(|depths| {
        let count = depths.iter().filter(|depth| **depth >= limit).count();
        count as f64 > ENDLESS * depths.len() as f64
    })
}

/// The median size of the steps that move.
fn step(draws: &Draws, values: &[f64]) -> f64 {
    let steps = draws.by_chain(values).flat_map(|chain| chain.windows(2));
    let steps = steps.map(|pair| (pair[1] - pair[0]).abs()).filter(|step| *step > 0.0);
    let mut steps: Vec<f64> = steps.collect();
    let middle = steps.len() / 2;
    match steps.is_empty() {
        true => f64::NAN,
        false => *steps.select_nth_unstable_by(middle, f64::total_cmp).1,
    }
}

/// Chains that stay in different places: groups of chains that are connected by pairs whose means
/// are within some standard deviations in all scalars.
pub(super) fn apart(draws: &Draws) -> Option<Finding> {
    if draws.draws < 2 * LEAST || draws.chains < 2 {
        return None;
    }
    let moments = |values: &[f64]| -> Vec<(f64, f64)> {
        draws.by_chain(values).map(|chain| (mean(chain), variance(chain).sqrt())).collect()
    };
    let lp = draws.statistic(names::LP).map(moments);
    let mut scalars: Vec<(String, Vec<(f64, f64)>)> =
        draws.elements().map(|e| (e.name(), moments(&draws.scalar(e)))).collect();
    scalars.extend(lp.clone().map(|moments| ("the log density".to_string(), moments)));
    // A chain that is stuck has another finding.
    let moves = |chain: &usize| scalars.iter().any(|(_, moments)| moments[*chain].1 > 0.0);
    let moving: Vec<usize> = (0..draws.chains).filter(moves).collect();
    let ratio = |moments: &[(f64, f64)], a: usize, b: usize| {
        let ratio = (moments[a].0 - moments[b].0).abs() / moments[a].1.max(moments[b].1);
        if ratio.is_finite() { ratio } else { 0.0 }
    };
    let are_apart =
        |a: usize, b: usize| scalars.iter().any(|(_, moments)| ratio(moments, a, b) > APART);
    let groups = groups(&moving, |a, b| !are_apart(a, b));
    let [first, second, rest @ ..] = &groups[..] else { return None };
    let (a, b) = (first[0], second[0]);
    let (name, moments) =
        scalars.iter().max_by(|x, y| ratio(&x.1, a, b).total_cmp(&ratio(&y.1, a, b)))?;
    let name = if name.starts_with("the ") { name.clone() } else { format!("`{name}`") };
    let (here, there) = (numbered(first), numbered(second));
    let title = match rest {
        [] => format!("{} and {there} stay in different places", capital(&here)),
        _ => {
            let all: Vec<String> = groups.iter().map(|group| numbered(group)).collect();
            format!("The chains stay in {} different places: {}", groups.len(), joined(&all))
        }
    };
    let mut meaning = format!(
        "{} is near {} in {here} and near {} in {there}.",
        capital(&name),
        rough(moments[a].0),
        rough(moments[b].0),
    );
    if let Some(lp) = &lp {
        let difference = lp[a].0 - lp[b].0;
        let (higher, lower) = if difference > 0.0 { (&here, &there) } else { (&there, &here) };
        meaning += &match difference.abs() {
            alike if alike < ALIKE => " Their log densities are about equal.".to_string(),
            far => {
                format!(" The log density is higher by {} in {higher} than in {lower}.", rough(far))
            }
        };
    }
    meaning += " The posterior has several modes between which the chains do not move, so the share of each is unknown.";
    Some(
        Finding::new(Kind::Modes, title, meaning)
            .advice("if the modes are one solution with its labels exchanged, as in mixtures, order the parameters: `space.ordered`")
            .advice("if the log density of one is lower by far, it is a trap: begin elsewhere with `--init`, or sample with a longer `--warmup`")
            .advice("if the modes are real, narrower priors or a model with a parameter for the choice between them"),
    )
}

/// Groups of items that a relation connects, the largest first.
fn groups(items: &[usize], connected: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &item in items {
        let (near, mut far): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|other| connected(*other, item)));
        let mut group: Vec<usize> = near.into_iter().flatten().chain([item]).collect();
        group.sort_unstable();
        far.push(group);
        groups = far;
    }
    groups.sort_by_key(|group| (usize::MAX - group.len(), group[0]));
    groups
}

/// Chains that have not reached the same distribution.
pub(super) fn unmixed(draws: &Draws, summary: &Summary) -> Option<Finding> {
    let mut rows: Vec<&Row> = summary.rows.iter().filter(|row| row.worth.rhat > MIXED).collect();
    rows.sort_by(|a, b| b.worth.rhat.total_cmp(&a.worth.rhat));
    let worst = rows.first()?;
    let others = match rows.len() {
        1 => String::new(),
        _ => format!("; above 1.01 also for {}", names_of(&rows[1..])),
    };
    let worst_rhat = fixed(worst.worth.rhat, if worst.worth.rhat < 1.1 { 3 } else { 2 });
    let title = format!("R̂ is {worst_rhat} for `{}`{others}", worst.name);
    let meaning = match draws.chains {
        1 => {
            "The halves of the chain differ by more than chance: it has not settled yet, and the estimates depend on where it began."
        }
        _ => {
            "The chains differ by more than chance: they have not reached the same distribution yet, and the estimates depend on where they began."
        }
    };
    Some(
        Finding::new(Kind::Rhat, title, meaning)
            .advice("sample longer: `--warmup`, `--draws`")
            .advice(format!(
                "see where the chains differ: `lambada plot --kind trace --of {}`",
                worst.variable
            )),
    )
}

/// Scalars with few effective draws.
pub(super) fn few_effective(draws: &Draws, summary: &Summary) -> Option<Finding> {
    let limit = EFFECTIVE * draws.chains as f64;
    let least = |row: &Row| row.worth.ess_bulk.min(row.worth.ess_tail);
    let mut rows: Vec<&Row> = summary.rows.iter().filter(|row| least(row) < limit).collect();
    rows.sort_by(|a, b| least(a).total_cmp(&least(b)));
    let worst = rows.first()?;
    let others = match rows.len() {
        1 => String::new(),
        _ => format!("; below {limit} also for {}", names_of(&rows[1..])),
    };
    let ess = least(worst);
    let part = if ess == worst.worth.ess_tail { "tail" } else { "bulk" };
    let title = format!("The {part} ESS is {} for `{}`{others}", fixed(ess, 0), worst.name);
    let meaning = match part {
        "tail" => {
            "The 5 % and 95 % quantiles rest on few independent draws, and R̂ and ESS are themselves uncertain."
        }
        _ => "The mean rests on few independent draws, and R̂ and ESS are themselves uncertain.",
    };
    let enough = (limit / ess * draws.draws as f64 / 100.0).ceil() * 100.0;
    let finding = Finding::new(Kind::FewEffective, title, meaning);
    Some(match enough <= 20.0 * draws.draws as f64 {
        true => finding.advice(format!("sample longer: `--draws {enough:.0}` would do if all else stays equal")),
        false => finding.advice("rewrite the model so that parameters are less correlated: more draws alone would take too long"),
    })
}

/// Chains too short for diagnostics.
pub(super) fn too_short(draws: &Draws, summary: &Summary) -> Option<Finding> {
    if draws.draws >= LEAST || summary.rows.is_empty() {
        return None;
    }
    let plural = if draws.draws == 1 { "" } else { "s" };
    let title = format!("Each chain has {} draw{plural}, too few for diagnostics", draws.draws);
    let meaning = "R̂, ESS and Monte Carlo errors need at least 4 draws of each chain.";
    Some(Finding::new(Kind::TooShort, title, meaning).advice("sample longer: `--draws`"))
}

/// Chains that were cut to a common length.
pub(super) fn cut(draws: &Draws) -> Option<Finding> {
    let Draws { draws: length, dropped, .. } = draws;
    if *dropped == 0 {
        return None;
    }
    let title = format!(
        "The chains are cut to {length} draws, and {dropped} draws of longer chains left out"
    );
    let meaning = "The run was interrupted, and diagnostics compare chains of the same length.";
    Some(Finding::new(Kind::Cut, title, meaning))
}

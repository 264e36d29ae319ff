//! Pictures that compare chains.

use lambada_plot::{Chart, Color, Mark, Sheet, Side};

use super::{CHARTS, MARKED, WIDTH, color, density, legend, limited, padded, sheet, spread};
use crate::draws::{Draws, Element, Wrong, names};
use crate::stats::{energy_fraction, mean};

/// Bins of ranks.
const BINS: usize = 20;

/// Opacity of the lines of traces.
const THROUGH: f64 = 0.75;

/// Height of a row, and of charts that stand side by side.
const ROW: f64 = 130.0;
const CHART: f64 = 150.0;

pub(super) fn trace(draws: &Draws, elements: &[Element<'_>]) -> Sheet {
    let (shown, note) = limited(elements, CHARTS);
    let diverging = draws.statistic(names::DIVERGING);
    let mut places: Vec<f64> = Vec::new();
    for (k, x) in diverging.unwrap_or_default().iter().enumerate() {
        if *x != 0.0 {
            places.push((k % draws.draws) as f64);
        }
    }
    let mut charts = Vec::new();
    for (k, element) in shown.iter().enumerate() {
        let values = draws.scalar(*element);
        let is_last = k + 1 == shown.len();
        charts.push(Some(chains_density(draws, &element.name(), &values)));
        let mut marks = Vec::new();
        for (chain, values) in draws.by_chain(&values).enumerate() {
            let points = values.iter().enumerate().map(|(k, x)| (k as f64, *x));
            let points = points.filter(|(_, x)| x.is_finite()).collect();
            let color = color(chain);
            marks.push(Mark::Line { points, color, width: 0.8, opacity: THROUGH, dashed: false });
        }
        if !places.is_empty() {
            marks.push(Mark::Strokes { places: places.clone(), color: MARKED });
        }
        charts.push(Some(Chart {
            across: if is_last { "draw".into() } else { String::new() },
            below: is_last,
            whole: true,
            range: (0.0, (draws.draws.max(2) - 1) as f64),
            window: padded(spread(&values).unwrap_or((0.0, 1.0)), 0.06),
            marks,
            ..Chart::default()
        }));
    }
    let mut legend = legend(draws);
    if !places.is_empty() {
        legend.push((format!("{} divergent", places.len()), MARKED));
    }
    Sheet { width: WIDTH, height: ROW, columns: vec![1.0, 2.2], charts, legend, note }
}

/// The densities of the chains.
fn chains_density(draws: &Draws, title: &str, values: &[f64]) -> Chart {
    let range = density::range(values);
    let curves = density_by_chain(draws, values, range);
    let top = curves.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    let mark = |(chain, points)| Mark::Line {
        points,
        color: color(chain),
        width: 1.4,
        opacity: 0.9,
        dashed: false,
    };
    Chart {
        title: title.into(),
        side: Side::Nothing,
        range,
        window: (0.0, 1.08 * top),
        marks: curves.into_iter().enumerate().map(mark).collect(),
        ..Chart::default()
    }
}

/// A curve for each chain.
pub(super) fn density_by_chain(
    draws: &Draws,
    values: &[f64],
    range: (f64, f64),
) -> Vec<Vec<(f64, f64)>> {
    let Some(kernel) = density::Kernel::of(values) else { return Vec::new() };
    let curve = |values: &[f64]| kernel.narrowed(values).curve(values, range);
    draws.by_chain(values).map(curve).collect()
}

pub(super) fn rank(draws: &Draws, elements: &[Element<'_>]) -> Sheet {
    let (shown, note) = limited(elements, CHARTS);
    let bins = BINS.min(draws.draws.max(1));
    let expected = draws.draws as f64 / bins as f64;
    let total = (draws.chains * draws.draws) as f64;
    let charts = shown.iter().map(|element| {
        let histograms = ranked(draws, &draws.scalar(*element), bins);
        let most = histograms.iter().flatten().copied().fold(expected, f64::max);
        let width = total / bins as f64;
        let mut marks = vec![Mark::Line {
            points: vec![(0.0, expected), (total, expected)],
            color: Color::Pale,
            width: 1.2,
            opacity: 1.0,
            dashed: true,
        }];
        for (chain, histogram) in histograms.iter().enumerate() {
            let steps = histogram.iter().enumerate();
            let points = steps.flat_map(|(k, count)| {
                [(k as f64 * width, *count), ((k + 1) as f64 * width, *count)]
            });
            let (points, color) = (points.collect(), color(chain));
            marks.push(Mark::Line { points, color, width: 1.6, opacity: 0.9, dashed: false });
        }
        Chart {
            title: element.name(),
            across: "rank".into(),
            whole: true,
            range: (0.0, total),
            window: (0.0, 1.15 * most),
            marks,
            ..Chart::default()
        }
    });
    let charts: Vec<Chart> = charts.collect();
    Sheet { legend: legend(draws), note, ..sheet(charts, 3, CHART) }
}

/// For each chain, how many of its draws have a rank in each bin.
fn ranked(draws: &Draws, values: &[f64], bins: usize) -> Vec<Vec<f64>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut histograms = vec![vec![0.0; bins]; draws.chains];
    for (rank, place) in order.iter().enumerate() {
        histograms[place / draws.draws][rank * bins / values.len()] += 1.0;
    }
    histograms
}

pub(super) fn energy(draws: &Draws) -> Result<Sheet, Wrong> {
    let missing = || Wrong::Missing { part: format!("the statistic `{}`", names::ENERGY) };
    let energies = draws.statistic(names::ENERGY).ok_or_else(missing)?;
    let mut charts = Vec::new();
    for (chain, energies) in draws.by_chain(energies).enumerate() {
        let center = mean(energies);
        let centered: Vec<f64> = energies.iter().map(|x| x - center).collect();
        let steps: Vec<f64> = energies.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let Some(range) = spread(&[&centered[..], &steps[..]].concat()) else { continue };
        let range = padded(range, 0.06);
        let marks: Vec<(Vec<(f64, f64)>, Color)> = vec![
            (density::curve(&centered, range), color(0)),
            (density::curve(&steps, range), MARKED),
        ];
        let top = marks.iter().flat_map(|(points, _)| points).map(|p| p.1).fold(0.0, f64::max);
        let marks = marks.into_iter().flat_map(|(points, color)| {
            let area = Mark::Area { points: points.clone(), base: 0.0, color, opacity: 0.25 };
            [area, Mark::Line { points, color, width: 1.6, opacity: 1.0, dashed: false }]
        });
        charts.push(Chart {
            title: format!("chain {chain}: E-BFMI {:.2}", energy_fraction(energies)),
            side: Side::Nothing,
            range,
            window: (0.0, 1.08 * top),
            marks: marks.collect(),
            ..Chart::default()
        });
    }
    if charts.is_empty() {
        return Err(Wrong::Missing { part: "energies that vary".into() });
    }
    let legend =
        vec![("energy, less its mean".into(), color(0)), ("step to the next".into(), MARKED)];
    Ok(Sheet { legend, ..sheet(charts, 2, 180.0) })
}

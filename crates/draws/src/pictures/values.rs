//! Pictures of values, all chains together.

use lambada_plot::{Chart, Color, Mark, Sheet, Side};

use super::chains::density_by_chain;
use super::{
    CHARTS, MARKED, ROWS, SIDES, WIDTH, color, density as estimate, legend, limited, padded, sheet,
    spread,
};
use crate::draws::{Array, Draws, Element, Variable, Wrong, names};
use crate::stats::{Judge, Scalar, mean, quantile, sorted};
use crate::summary::{fixed, known};

/// Dots of a cloud, and replicated data sets that are drawn.
const DOTS: usize = 1500;
const REPLICATED: usize = 50;

/// Different integers up to which data are counted.
const COUNTED: f64 = 40.0;

const CHART: f64 = 150.0;

/// Height of a row of intervals.
const INTERVAL: f64 = 22.0;

pub(super) fn density(draws: &Draws, elements: &[Element<'_>]) -> Sheet {
    let (shown, note) = limited(elements, CHARTS);
    let mut judge = Judge::new(draws.chains, draws.draws);
    let charts = shown.iter().map(|element| {
        let values = draws.scalar(*element);
        let range = estimate::range(&values);
        let points = estimate::curve(&values, range);
        let top = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let worth = judge.worth(Scalar { values: &values, draws: draws.draws });
        let [low, _, high] = worth.quantiles;
        let inside = points.iter().copied().filter(|(x, _)| (low..=high).contains(x)).collect();
        let blue = color(0);
        let mut marks = vec![Mark::Area { points: inside, base: 0.0, color: blue, opacity: 0.25 }];
        if draws.chains > 1 {
            let curves = density_by_chain(draws, &values, range);
            for (chain, points) in curves.into_iter().enumerate() {
                let color = color(chain);
                marks.push(Mark::Line { points, color, width: 0.8, opacity: 0.7, dashed: false });
            }
        }
        marks.push(Mark::Line { points, color: blue, width: 2.0, opacity: 1.0, dashed: false });
        let points = vec![(worth.mean, 0.0), (worth.mean, 1.04 * top)];
        marks.push(Mark::Line {
            points,
            color: Color::Ink,
            width: 1.2,
            opacity: 1.0,
            dashed: true,
        });
        Chart {
            title: format!(
                "{}: {} ({} to {})",
                element.name(),
                known(worth.mean, worth.mcse_mean),
                known(low, worth.mcse_mean),
                known(high, worth.mcse_mean)
            ),
            side: Side::Nothing,
            range,
            window: (0.0, 1.08 * top),
            marks,
            ..Chart::default()
        }
    });
    let charts: Vec<Chart> = charts.collect();
    let about = "Titles: mean (5 % to 95 %).";
    let note = if note.is_empty() { about.to_string() } else { format!("{about} {note}") };
    Sheet { legend: legend(draws), note, ..sheet(charts, 3, CHART) }
}

pub(super) fn pairs(draws: &Draws, elements: &[Element<'_>]) -> Sheet {
    let (shown, note) = limited(elements, SIDES);
    let diverging = draws.statistic(names::DIVERGING);
    let is_divergent = |k: &usize| diverging.is_some_and(|d| d[*k] != 0.0);
    let count = draws.chains * draws.draws;
    let divergent: Vec<usize> = (0..count).filter(is_divergent).collect();
    let others: Vec<usize> = (0..count).filter(|k| !is_divergent(k)).collect();
    let step = others.len().div_ceil(DOTS).max(1);
    let others: Vec<usize> = others.into_iter().step_by(step).collect();
    let scalars: Vec<Vec<f64>> = shown.iter().map(|element| draws.scalar(*element)).collect();
    let ranges: Vec<(f64, f64)> = scalars.iter().map(|values| estimate::range(values)).collect();
    let sides = shown.len();
    let mut charts = Vec::new();
    for row in 0..sides {
        for column in 0..sides {
            if column > row {
                charts.push(None);
                continue;
            }
            let is_last = row + 1 == sides;
            let mut chart = Chart {
                across: if is_last { shown[column].name() } else { String::new() },
                below: is_last,
                side: Side::Nothing,
                range: ranges[column],
                window: ranges[row],
                ..Chart::default()
            };
            if column == row {
                let points = estimate::curve(&scalars[row], ranges[row]);
                let top = points.iter().map(|point| point.1).fold(0.0, f64::max);
                chart.title = shown[row].name();
                chart.window = (0.0, 1.08 * top);
                let (base, color) = (0.0, color(0));
                chart.marks = vec![
                    Mark::Area { points: points.clone(), base, color, opacity: 0.25 },
                    Mark::Line { points, color, width: 1.6, opacity: 1.0, dashed: false },
                ];
            } else {
                let cloud = |places: &[usize]| {
                    let point = |k: &usize| (scalars[column][*k], scalars[row][*k]);
                    places.iter().map(point).collect::<Vec<_>>()
                };
                let radius = if sides > 4 { 1.2 } else { 1.6 };
                chart.side = if column == 0 { Side::Numbers } else { Side::Nothing };
                let dots = |places: &[usize], color, radius, opacity| Mark::Dots {
                    points: cloud(places),
                    color,
                    radius,
                    opacity,
                };
                chart.marks = vec![
                    dots(&others, color(0), radius, 0.35),
                    dots(&divergent, MARKED, radius + 0.5, 0.9),
                ];
            }
            charts.push(Some(chart));
        }
    }
    let legend = match divergent.len() {
        0 => Vec::new(),
        n => vec![("draws".into(), color(0)), (format!("{n} divergent"), MARKED)],
    };
    let height = (WIDTH / sides as f64 * 0.8).clamp(80.0, 240.0);
    Sheet { width: WIDTH, height, columns: vec![1.0; sides], charts, legend, note }
}

pub(super) fn forest(draws: &Draws, elements: &[Element<'_>]) -> Sheet {
    let (shown, note) = limited(elements, ROWS);
    let mut judge = Judge::new(draws.chains, draws.draws);
    let (mut thin, mut thick, mut dots) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut remarks) = (Vec::new(), Vec::new());
    for (k, element) in shown.iter().enumerate() {
        let y = -(k as f64);
        let values = draws.scalar(*element);
        let ordered = sorted(&values);
        let at = |p: f64| quantile(&ordered, p);
        thin.push([at(0.05), at(0.95), y]);
        thick.push([at(0.25), at(0.75), y]);
        dots.push((at(0.5), y));
        names.push((y, element.name()));
        let worth = judge.worth(Scalar { values: &values, draws: draws.draws });
        remarks.push((y, format!("R̂ {}  ESS {}", fixed(worth.rhat, 2), fixed(worth.ess_bulk, 0))));
    }
    let ends: Vec<f64> = thin.iter().flat_map(|[low, high, _]| [*low, *high]).collect();
    let range = padded(spread(&ends).unwrap_or((0.0, 1.0)), 0.04);
    let interval = |width: f64| {
        move |[low, high, y]: &[f64; 3]| Mark::Line {
            points: vec![(*low, *y), (*high, *y)],
            color: color(0),
            width,
            opacity: 1.0,
            dashed: false,
        }
    };
    let mut marks = Vec::new();
    if range.0 < 0.0 && range.1 > 0.0 {
        marks.push(Mark::Line {
            points: vec![(0.0, -(shown.len() as f64)), (0.0, 1.0)],
            color: Color::Pale,
            width: 1.0,
            opacity: 1.0,
            dashed: true,
        });
    }
    marks.extend(thin.iter().map(interval(1.4)));
    marks.extend(thick.iter().map(interval(4.5)));
    marks.push(Mark::Dots { points: dots, color: Color::Ink, radius: 3.2, opacity: 1.0 });
    let chart = Chart {
        side: Side::Names(names),
        remarks,
        range,
        window: (-(shown.len() as f64) + 0.3, 0.7),
        marks,
        ..Chart::default()
    };
    let about = "Dots: median. Thick: 25 % to 75 %. Thin: 5 % to 95 %.";
    let note = if note.is_empty() { about.to_string() } else { format!("{about} {note}") };
    Sheet { note, ..sheet(vec![chart], 1, INTERVAL * shown.len().max(2) as f64) }
}

/// Replicated data beside the data: posterior predictive checks.
pub(super) fn replicated(draws: &Draws, of: &[&str]) -> Result<Sheet, Wrong> {
    let mut charts = Vec::new();
    for data in &draws.observed {
        let made = draws.predictive.iter().find(|variable| variable.name == data.name);
        let asked = of.is_empty() || of.contains(&&data.name[..]);
        if let Some(made) = made.filter(|made| asked && made.dims == data.dims)
            && let Some(chart) = check(draws, data, made)
        {
            charts.push(chart);
        }
    }
    if charts.is_empty() {
        let part = match of {
            [] => "replicated data (`posterior_predictive`) with the name and the shape of observed data".to_string(),
            names => format!("replicated and observed data called `{}`", names.join("` or `")),
        };
        return Err(Wrong::Missing { part });
    }
    let legend = vec![("data".into(), Color::Ink), ("replicated".into(), color(0))];
    Ok(Sheet { legend, ..sheet(charts, 2, 220.0) })
}

fn check(draws: &Draws, data: &Array, made: &Variable) -> Option<Chart> {
    let size = made.size();
    let count = draws.chains * draws.draws;
    if size == 0 || count == 0 {
        return None;
    }
    let sets = |most: usize| {
        let step = (count / most).max(1);
        made.values.chunks(size).step_by(step).take(most)
    };
    let (low, high) = spread(&[&data.values[..], &made.values[..]].concat())?;
    let all = data.values.iter().chain(&made.values);
    let whole = all.clone().all(|x| x.fract() == 0.0) && high - low <= COUNTED;
    let chart = Chart { title: data.name.clone(), whole, ..Chart::default() };
    Some(match whole {
        true => counts(chart, data, &sets(1000).collect::<Vec<_>>(), (low, high)),
        false => {
            let all = [&data.values[..], &made.values[..]].concat();
            let (low, high) = estimate::range(&all);
            // All data are shown.
            let own = padded(spread(&data.values).unwrap_or((low, high)), 0.06);
            let range = (low.min(own.0), high.max(own.1));
            densities(chart, data, &all, sets(REPLICATED), range)
        }
    })
}

/// Densities of the data and of replicated data sets.
fn densities<'a>(
    chart: Chart,
    data: &Array,
    all: &[f64],
    sets: impl Iterator<Item = &'a [f64]>,
    range: (f64, f64),
) -> Chart {
    // One width for all, because small sets are nearly constant by chance.
    let kernel = estimate::Kernel::of(all).map(|kernel| kernel.narrowed(&data.values));
    let curve = |values: &[f64]| kernel.map_or(Vec::new(), |kernel| kernel.curve(values, range));
    let curves: Vec<_> = sets.map(curve).collect();
    let own = curve(&data.values);
    let tops = curves.iter().map(|c| c.iter().map(|p| p.1).fold(0.0, f64::max)).collect::<Vec<_>>();
    // A set that is nearly constant would flatten all others.
    let top = quantile(&sorted(&tops), 0.9).max(own.iter().map(|p| p.1).fold(0.0, f64::max));
    let line =
        |points, color, width, opacity| Mark::Line { points, color, width, opacity, dashed: false };
    let mut marks: Vec<Mark> =
        curves.into_iter().map(|points| line(points, color(0), 0.9, 0.4)).collect();
    marks.push(line(own, Color::Ink, 2.2, 1.0));
    marks.push(Mark::Strokes { places: data.values.clone(), color: Color::Ink });
    Chart { side: Side::Nothing, range, window: (0.0, 1.08 * top), marks, ..chart }
}

/// How often each integer occurs: bars for the data, intervals of replicated data sets.
fn counts(chart: Chart, data: &Array, sets: &[&[f64]], (low, high): (f64, f64)) -> Chart {
    let often = |values: &[f64], n: f64| values.iter().filter(|x| **x == n).count() as f64;
    let mut marks = Vec::new();
    let (mut bars, mut dots, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut top = 1.0_f64;
    for k in 0..=(high - low) as usize {
        let n = low + k as f64;
        let own = often(&data.values, n);
        let made = sorted(&sets.iter().map(|set| often(set, n)).collect::<Vec<_>>());
        let (from, to) = (quantile(&made, 0.05), quantile(&made, 0.95));
        bars.push([n - 0.4, n + 0.4, 0.0, own]);
        lines.push(vec![(n, from), (n, to)]);
        dots.push((n, mean(&made)));
        top = top.max(own).max(to);
    }
    marks.push(Mark::Bars { bars, color: Color::Pale, opacity: 0.45 });
    marks.extend(lines.into_iter().map(|points| Mark::Line {
        points,
        color: color(0),
        width: 2.0,
        opacity: 1.0,
        dashed: false,
    }));
    marks.push(Mark::Dots { points: dots, color: color(0), radius: 3.5, opacity: 1.0 });
    let range = (low - 0.6, high + 0.6);
    Chart { range, window: (0.0, 1.08 * top), marks, ..chart }
}

//! Where a function is evaluated. A grid comes first, then the middle of every interval in which a
//! curve bends or climbs visibly. Climbs that bisection does not flatten are jumps, which interrupt
//! the curve, as values that are not finite do; bisection finds the ends of such gaps too.

use crate::evaluations::{Evaluations, Sample};
use crate::window::{Hull, hull, window_of};
use crate::{Curve, Panel};

/// The numbers of a function at a point: for each panel, those of its curves with their names.
pub type Numbers = Vec<Vec<(String, f64)>>;

/// Intervals of the grid.
const GRID: usize = 240;

/// Displacement of the grid's points, in intervals, so that a period of the function is not taken
/// for a constant.
const JITTER: f64 = 0.3;

/// Bisections of an interval of the grid on both sides.
const BRANCHINGS: u32 = 5;

/// Bisections toward a jump. Longer intervals are taken for steep slopes.
const DEEPEST: u32 = 36;

/// Deviation from the chord, and climb, that are visible: parts of the panel's height.
const BEND: f64 = 2e-3;
const CLIMB: f64 = 0.02;

/// Evaluations after which no interval is bisected any more, for functions without a graph that
/// could be drawn.
const MOST: usize = 20_000;

/// Integers at which a function is evaluated. Of a longer range, they are every second, every
/// third, …
const INTEGERS: i64 = 2000;

/// The function, and its curves in the order of their appearance.
struct Function<'f, E> {
    evaluate: &'f mut dyn FnMut(f64) -> Result<Numbers, E>,
    /// Panel and name of each curve.
    columns: Vec<(usize, String)>,
    /// Number of evaluations.
    count: usize,
}

impl<E> Evaluations for Function<'_, E> {
    type Error = E;

    fn at(&mut self, x: f64) -> Result<Sample, E> {
        self.count += 1;
        let mut values = vec![f64::NAN; self.columns.len()];
        for (panel, numbers) in (self.evaluate)(x)?.into_iter().enumerate() {
            for (k, (name, y)) in numbers.into_iter().enumerate() {
                let column = self.column(panel, k, name);
                if column >= values.len() {
                    values.resize(column + 1, f64::NAN);
                }
                values[column] = y;
            }
        }
        Ok(Sample { x, values })
    }
}

impl<E> Function<'_, E> {
    /// The column of the `k`-th number of a panel. Names come in the same order at most points.
    fn column(&mut self, panel: usize, k: usize, name: String) -> usize {
        let is = |column: &(usize, String)| column.0 == panel && column.1 == name;
        let first = self.columns.iter().position(|column| column.0 == panel).unwrap_or(0);
        if self.columns.get(first + k).is_some_and(is) {
            return first + k;
        }
        self.columns.iter().position(is).unwrap_or_else(|| {
            self.columns.push((panel, name));
            self.columns.len() - 1
        })
    }

    /// Columns by panel.
    fn panels(&self) -> Vec<Vec<usize>> {
        let count = self.columns.iter().map(|(panel, _)| panel + 1).max().unwrap_or(0);
        let of = |panel| (0..self.columns.len()).filter(|k| self.columns[*k].0 == panel).collect();
        (0..count).map(of).collect()
    }
}

/// The curves of a function of a real.
///
/// # Errors
/// The first error of the function.
pub fn sampled<E>(
    (low, high): (f64, f64),
    evaluate: &mut dyn FnMut(f64) -> Result<Numbers, E>,
) -> Result<Vec<Panel>, E> {
    let mut function = Function { evaluate, columns: Vec::new(), count: 0 };
    let step = high / GRID as f64 - low / GRID as f64;
    let place = |k: usize| match k {
        0 => low,
        GRID => high,
        _ => {
            let turn = (k as f64 * 0.618_034).fract() - 0.5;
            low + (k as f64 + JITTER * turn) * step
        }
    };
    let grid = (0..=GRID).map(|k| function.at(place(k))).collect::<Result<Vec<_>, E>>()?;
    let panels = function.panels();
    let mut hulls: Vec<Hull> = Vec::new();
    for columns in &panels {
        hulls.push(hull(&grid, columns, &mut function)?);
    }
    let scales = function.columns.iter().map(|(panel, _)| hulls[*panel].padded()).collect();
    let mut bisection = Bisection { function: &mut function, scales, samples: Vec::new() };
    for pair in grid.windows(2) {
        bisection.samples.push(pair[0].clone());
        bisection.between(&pair[0], &pair[1], 0)?;
    }
    bisection.samples.extend(grid.into_iter().last());
    let Bisection { scales, samples, .. } = bisection;
    let least = 1.01 * step * 0.5_f64.powi(DEEPEST as i32);
    let curve = |column: usize| {
        let climbs = |a: &Sample, b: &Sample| climb(a, b, column, scales[column]) > CLIMB;
        let torn = |a: &Sample, b: &Sample| {
            climbs(a, b) && (b.x - a.x <= least || middle(a.x, b.x).is_none())
        };
        Curve { name: function.columns[column].1.clone(), pieces: pieces(&samples, column, torn) }
    };
    let panel = |(columns, hull): (&Vec<usize>, &Hull)| {
        let values = columns.iter().flat_map(|column| samples.iter().map(|s| s.value(*column)));
        let window = hull.grown(values).padded();
        Panel { curves: columns.iter().map(|column| curve(*column)).collect(), window }
    };
    Ok(panels.iter().zip(&hulls).map(panel).collect())
}

/// The curves of a function of an integer, from `low` to `high`.
///
/// # Errors
/// The first error of the function.
pub fn steps<E>(
    (low, high): (i64, i64),
    evaluate: &mut dyn FnMut(f64) -> Result<Numbers, E>,
) -> Result<Vec<Panel>, E> {
    let mut function = Function { evaluate, columns: Vec::new(), count: 0 };
    let stride = high.saturating_sub(low) / INTEGERS + 1;
    let places = (low..=high).step_by(stride as usize);
    let samples = places.map(|n| function.at(n as f64)).collect::<Result<Vec<_>, E>>()?;
    let panel = |columns: Vec<usize>| {
        let values = columns.iter().flat_map(|column| samples.iter().map(|s| s.value(*column)));
        let window = window_of(values);
        let curve = |column: &usize| Curve {
            name: function.columns[*column].1.clone(),
            pieces: pieces(&samples, *column, |_, _| false),
        };
        Panel { curves: columns.iter().map(curve).collect(), window }
    };
    Ok(function.panels().into_iter().map(panel).collect())
}

/// The curves of lists, over the positions in them.
pub fn listed(lists: Vec<(String, Vec<f64>)>) -> Panel {
    let window = window_of(lists.iter().flat_map(|(_, values)| values.iter().copied()));
    let curve = |(name, values): (String, Vec<f64>)| {
        let place = |(k, y): (usize, f64)| Sample { x: k as f64, values: vec![y] };
        let samples: Vec<Sample> = values.into_iter().enumerate().map(place).collect();
        Curve { name, pieces: pieces(&samples, 0, |_, _| false) }
    };
    Panel { curves: lists.into_iter().map(curve).collect(), window }
}

/// The pieces of a curve: runs of finite values that are not torn.
fn pieces(
    samples: &[Sample],
    column: usize,
    torn: impl Fn(&Sample, &Sample) -> bool,
) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = vec![Vec::new()];
    for (k, sample) in samples.iter().enumerate() {
        let y = sample.value(column);
        if !y.is_finite() || k > 0 && torn(&samples[k - 1], sample) {
            pieces.push(Vec::new());
        }
        if let (true, Some(piece)) = (y.is_finite(), pieces.last_mut()) {
            piece.push((sample.x, y));
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The point between two others, unless they are neighbors.
fn middle(a: f64, b: f64) -> Option<f64> {
    let middle = a / 2.0 + b / 2.0;
    (a < middle && middle < b).then_some(middle)
}

/// The visible climb of a curve between two points, as a part of the window's height. Infinite
/// from a finite value to one that is not.
fn climb(a: &Sample, b: &Sample, column: usize, window: (f64, f64)) -> f64 {
    let (ya, yb) = (a.value(column), b.value(column));
    match (ya.is_finite(), yb.is_finite()) {
        (true, true) => (height(ya, window) - height(yb, window)).abs(),
        (false, false) => 0.0,
        _ => f64::INFINITY,
    }
}

/// The place of a value in the window, from 0 to 1; at most one window's height outside of it.
fn height(y: f64, (low, high): (f64, f64)) -> f64 {
    ((y - low) / (high - low)).clamp(-1.0, 2.0)
}

struct Bisection<'a, 'f, E> {
    function: &'a mut Function<'f, E>,
    /// The window of each curve.
    scales: Vec<(f64, f64)>,
    samples: Vec<Sample>,
}

impl<E> Bisection<'_, '_, E> {
    /// Adds samples strictly between two others.
    fn between(&mut self, a: &Sample, b: &Sample, depth: u32) -> Result<(), E> {
        let (true, Some(x)) = (self.function.count < MOST, middle(a.x, b.x)) else {
            return Ok(());
        };
        let m = self.function.at(x)?;
        let (left, right) = (self.climb(a, &m), self.climb(&m, b));
        let bends = depth < BRANCHINGS && self.bends(a, &m, b);
        // Beyond the branchings, only the larger climb is followed.
        let follows = |own: f64, other: f64| {
            bends || own > CLIMB && depth < DEEPEST && (depth < BRANCHINGS || own >= other)
        };
        if follows(left, right) {
            self.between(a, &m, depth + 1)?;
        }
        self.samples.push(m.clone());
        if follows(right, left) {
            self.between(&m, b, depth + 1)?;
        }
        Ok(())
    }

    /// The largest climb of a curve.
    fn climb(&self, a: &Sample, b: &Sample) -> f64 {
        let climbs = self.scales.iter().enumerate();
        climbs.map(|(column, scale)| climb(a, b, column, *scale)).fold(0.0, f64::max)
    }

    /// Whether a curve deviates visibly from its chord in the middle.
    fn bends(&self, a: &Sample, m: &Sample, b: &Sample) -> bool {
        self.scales.iter().enumerate().any(|(column, scale)| {
            let at = |sample: &Sample| height(sample.value(column), *scale);
            (at(m) - (at(a) + at(b)) / 2.0).abs() > BEND
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(range: (f64, f64), f: impl Fn(f64) -> f64) -> (Panel, usize) {
        let mut count = 0;
        let mut evaluate = |x: f64| {
            count += 1;
            Ok::<_, ()>(vec![vec![("f".to_string(), f(x))]])
        };
        let mut panels = sampled(range, &mut evaluate).expect("no errors");
        (panels.remove(0), count)
    }

    /// The abscissas at which the curve is interrupted.
    fn interruptions(range: (f64, f64), f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let (panel, count) = drawn(range, f);
        assert!(count < 5000, "{count} evaluations");
        let pieces = &panel.curves[0].pieces;
        let end = |piece: &Vec<(f64, f64)>| piece[piece.len() - 1].0;
        pieces.windows(2).map(|pair| (end(&pair[0]), pair[1][0].0)).collect()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn jumps_interrupt_and_slopes_do_not() {
        let floor = interruptions((0.0, 3.5), f64::floor);
        assert_eq!(floor.len(), 3, "{floor:?}");
        assert!(floor.iter().zip([1.0, 2.0, 3.0]).all(|(gap, x)| near(gap.0, x) && near(gap.1, x)));
        assert_eq!(interruptions((-1.0, 1.0), |x| (1000.0 * x).tanh()), []);
        assert_eq!(interruptions((-1.0, 2.0), f64::abs), []);
        assert_eq!(interruptions((0.0, 10.0), |x| (20.0 * x).sin()), []);
    }

    #[test]
    fn gaps_begin_and_end_where_values_do() {
        let (panel, _) = drawn((-1.0, 1.0), |x| if x.abs() < 0.1 { f64::NAN } else { x });
        let pieces = &panel.curves[0].pieces;
        assert_eq!(pieces.len(), 2);
        assert!(near(pieces[0][pieces[0].len() - 1].0, -0.1) && near(pieces[1][0].0, 0.1));
        let (panel, _) = drawn((-1.0, 4.0), f64::sqrt);
        assert!(panel.curves[0].pieces[0][0].0.abs() < 1e-9);
        assert!(panel.window.0 <= 0.0, "{:?}", panel.window);
    }

    #[test]
    fn poles_do_not_determine_the_window() {
        let tan = drawn((0.0, 10.0), f64::tan).0;
        assert!(tan.window.0 > -10.0 && tan.window.1 < 10.0, "{:?}", tan.window);
        assert_eq!(tan.curves[0].pieces.len(), 4);
        for (range, f) in [
            ((-1.0, 1.0), (|x| 1.0 / x) as fn(f64) -> f64),
            ((0.0, 1.0), |x| 1.0 / x),
            ((-1.0, 1.0), |x| 1.0 / (x * x)),
        ] {
            let (panel, _) = drawn(range, f);
            assert!(panel.window.1 < 40.0, "{range:?}: {:?}", panel.window);
        }
        // Large values that are bounded are shown.
        assert!(drawn((0.0, 20.0), f64::exp).0.window.1 > 4e8);
        assert!(drawn((0.0, 1.0), f64::ln).0.window.0 < -2.5);
        let (low, high) = drawn((0.0, 1.0), |_| 3.0).0.window;
        assert!(low < 2.0 && high > 4.0);
    }

    #[test]
    fn fine_periods_are_seen_and_noise_ends() {
        let (panel, _) = drawn((0.0, 1.0), |x| (240.0 * std::f64::consts::TAU * x).sin());
        assert!(panel.window.0 < -0.9 && panel.window.1 > 0.9, "{:?}", panel.window);
        let noise = |x: f64| (x * 1e7).sin().to_bits() as u32 as f64;
        let (_, count) = drawn((0.0, 1.0), noise);
        assert!(count < 40_000, "{count}");
    }

    #[test]
    fn integers_and_lists_are_joined() {
        let mut evaluate = |x: f64| Ok::<_, ()>(vec![vec![("f".to_string(), x * x)]]);
        let panels = steps((-2, 3), &mut evaluate).expect("no errors");
        let squares = [(-2.0, 4.0), (-1.0, 1.0), (0.0, 0.0), (1.0, 1.0), (2.0, 4.0), (3.0, 9.0)];
        assert_eq!(panels[0].curves[0].pieces, [squares]);
        let list = listed(vec![("xs".into(), vec![1.0, f64::NAN, 3.0])]);
        assert_eq!(list.curves[0].pieces, [[(0.0, 1.0)], [(2.0, 3.0)]]);
    }

    /// A function with a number of values that depends on the point.
    #[test]
    fn curves_may_begin_late() {
        let mut evaluate = |x: f64| {
            let names = (0..x as usize).map(|k| (format!("f[{k}]"), x));
            Ok::<_, ()>(vec![names.collect::<Vec<_>>()])
        };
        let panels = steps((0, 3), &mut evaluate).expect("no errors");
        let starts: Vec<f64> = panels[0].curves.iter().map(|c| c.pieces[0][0].0).collect();
        assert_eq!(starts, [1.0, 2.0, 3.0]);
    }
}

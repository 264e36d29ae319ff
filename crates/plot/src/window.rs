//! The ordinates that a picture shows. They include all values unless some are *unbounded*: those
//! keep growing as the function is evaluated closer to a point. Then the picture shows the
//! values off the way to such a pole, and at least those between Tukey's fences.

use crate::evaluations::{Evaluations, Sample};

/// Steps toward a supposed pole. Those that do not climb halve the next.
const STEPS: usize = 50;

/// Growth over these steps from which values are unbounded. A logarithm grows by less than ten.
const UNBOUNDED: f64 = 100.0;

/// Growth of a side by finer samples, as a part of the height.
const GROWTH: f64 = 0.5;

/// Part of the height above and below the values.
const MARGIN: f64 = 0.04;

/// The values of curves that a picture shows, by samples of a grid.
pub fn hull<F: Evaluations>(
    samples: &[Sample],
    columns: &[usize],
    function: &mut F,
) -> Result<Hull, F::Error> {
    let mut hull = Hull::default();
    for &column in columns {
        hull.include(column_hull(samples, column, function)?);
    }
    Ok(hull)
}

/// The window of the values.
pub fn window_of(values: impl Iterator<Item = f64>) -> (f64, f64) {
    Hull::of(values).padded()
}

/// The least interval with some values.
#[derive(Clone, Copy)]
pub struct Hull {
    low: f64,
    high: f64,
}

impl Default for Hull {
    fn default() -> Hull {
        Hull { low: f64::INFINITY, high: f64::NEG_INFINITY }
    }
}

impl Hull {
    fn of(values: impl Iterator<Item = f64>) -> Hull {
        let finite = values.filter(|y| y.is_finite());
        finite
            .fold(Hull::default(), |hull, y| Hull { low: hull.low.min(y), high: hull.high.max(y) })
    }

    fn include(&mut self, other: Hull) {
        *self = Hull { low: self.low.min(other.low), high: self.high.max(other.high) };
    }

    /// The hull with extremes that finer samples found, unless they are so far away that they are
    /// on the way to a pole.
    pub fn grown(self, values: impl Iterator<Item = f64>) -> Hull {
        let (other, most) = (Hull::of(values), GROWTH * (self.high - self.low));
        Hull {
            low: if self.low - other.low <= most { self.low.min(other.low) } else { self.low },
            high: if other.high - self.high <= most {
                self.high.max(other.high)
            } else {
                self.high
            },
        }
    }

    /// The hull with a margin. Values that differ only by rounding are one value, in the middle.
    pub fn padded(self) -> (f64, f64) {
        let Hull { low, high } = self;
        if low > high {
            return (0.0, 1.0);
        }
        let size = low.abs().max(high.abs());
        if high - low <= 1e-12 * size || high == low {
            let middle = low / 2.0 + high / 2.0;
            let around = if size == 0.0 { 1.0 } else { size / 2.0 };
            return (middle - around, middle + around);
        }
        let margin = MARGIN * (high - low);
        if margin.is_finite() { (low - margin, high + margin) } else { (low, high) }
    }
}

/// The values of one curve that the window includes.
fn column_hull<F: Evaluations>(
    samples: &[Sample],
    column: usize,
    function: &mut F,
) -> Result<Hull, F::Error> {
    let ys: Vec<f64> = samples.iter().map(|sample| sample.value(column)).collect();
    let all = Hull::of(ys.iter().copied());
    let Some((low, high)) = fences(&ys) else { return Ok(all) };
    let mut on_the_way = vec![false; ys.len()];
    for (k, y) in ys.iter().enumerate() {
        let sign = if *y > high {
            1.0
        } else if *y < low {
            -1.0
        } else {
            continue;
        };
        if is_peak(&ys, k, sign) && is_pole(samples, column, k, sign, function)? {
            mark(&ys, k, sign, &mut on_the_way);
        }
    }
    if !on_the_way.contains(&true) {
        return Ok(all);
    }
    let off = ys.iter().zip(&on_the_way).filter(|(_, way)| !**way).map(|(y, _)| *y);
    let mut hull = Hull::of(off);
    hull.include(Hull { low: low.max(all.low), high: high.min(all.high) });
    Ok(hull)
}

/// Tukey's fences: the quartiles, and half as far again as they are apart from each other, thrice.
fn fences(ys: &[f64]) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = ys.iter().copied().filter(|y| y.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |part: f64| sorted.get((part * (sorted.len() as f64 - 1.0)) as usize).copied();
    let (low, high) = (at(0.25)?, at(0.75)?);
    let reach = 1.5 * (high - low);
    Some((low - reach, high + reach))
}

/// Whether neighbors do not lie beyond the value, in the direction of `sign`.
fn is_peak(ys: &[f64], k: usize, sign: f64) -> bool {
    let beyond = |other: Option<&f64>| other.is_some_and(|y| sign * y > sign * ys[k]);
    !beyond(k.checked_sub(1).and_then(|k| ys.get(k))) && !beyond(ys.get(k + 1))
}

/// Whether values around a peak keep growing.
fn is_pole<F: Evaluations>(
    samples: &[Sample],
    column: usize,
    k: usize,
    sign: f64,
    function: &mut F,
) -> Result<bool, F::Error> {
    let (first, last) = (samples[0].x, samples[samples.len() - 1].x);
    let (mut x, mut y) = (samples[k].x, samples[k].value(column));
    if y.is_infinite() {
        return Ok(true);
    }
    let mut reach = (last - first) / samples.len() as f64;
    for _ in 0..STEPS {
        let mut climbs = false;
        for at in [x - reach, x + reach] {
            if at < first || at > last {
                continue;
            }
            let found = function.at(at)?.value(column);
            if found.is_infinite() {
                return Ok(true);
            }
            if sign * found > sign * y {
                (x, y, climbs) = (at, found, true);
            }
        }
        if !climbs {
            reach /= 2.0;
        }
    }
    Ok(y.abs() > UNBOUNDED * samples[k].value(column).abs())
}

/// Marks the values that fall monotonically away from the pole, on both sides.
fn mark(ys: &[f64], pole: usize, sign: f64, on_the_way: &mut [bool]) {
    on_the_way[pole] = true;
    let falls = |near: usize, far: usize| ys[far].is_finite() && sign * ys[far] <= sign * ys[near];
    let mut k = pole;
    while k > 0 && falls(k, k - 1) {
        k -= 1;
        on_the_way[k] = true;
    }
    k = pole;
    while k + 1 < ys.len() && falls(k, k + 1) {
        k += 1;
        on_the_way[k] = true;
    }
}

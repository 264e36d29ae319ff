//! Estimates of densities by Gaussian kernels.

use crate::stats::{quantile, sorted, variance};

/// Cells into which values are counted, and points of a curve.
const CELLS: usize = 512;
const POINTS: usize = 200;

/// Width of a kernel beyond which it is zero, in bandwidths.
const REACH: f64 = 4.0;

/// Part of the values that lies near a bound.
const AT_BOUND: f64 = 0.025;

/// The part of the values that is worth showing: all, unless the tails are far from the quantiles
/// at 5 % and 95 %.
pub(super) fn bulk(values: &[f64]) -> Option<(f64, f64)> {
    let finite: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    let ordered = sorted(&finite);
    let (first, last) = (*ordered.first()?, *ordered.last()?);
    let [low, middle, high] = [0.05, 0.5, 0.95].map(|p| quantile(&ordered, p));
    let low = first.max(middle - 3.5 * (middle - low));
    let high = last.min(middle + 3.5 * (high - middle));
    match low < high {
        true => Some((low, high)),
        false => (first < last).then_some((first, last)),
    }
}

/// The part of the values that is worth showing, with a margin.
pub(super) fn range(values: &[f64]) -> (f64, f64) {
    super::padded(bulk(values).unwrap_or((0.0, 1.0)), 0.06)
}

/// An estimate: the width of kernels, and bounds at which they are reflected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    width: f64,
    least: f64,
    most: f64,
    bounds: (bool, bool),
}

impl Kernel {
    /// An estimate for values. A bound is where a density does not vanish at the end of the values,
    /// e.g. at 0 for a scale.
    pub fn of(values: &[f64]) -> Option<Kernel> {
        let (least, most) = super::spread(values)?;
        let finite: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        let width = bandwidth(&finite);
        let near = |end: f64| {
            let near = finite.iter().filter(|x| (*x - end).abs() < width).count();
            near as f64 > AT_BOUND * finite.len() as f64
        };
        Some(Kernel { width, least, most, bounds: (near(least), near(most)) })
    }

    /// The estimate with the width for some of the values.
    pub fn narrowed(self, values: &[f64]) -> Kernel {
        let finite: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        let width = if super::spread(&finite).is_some() { bandwidth(&finite) } else { self.width };
        Kernel { width, ..self }
    }

    /// The density of values at points of a range.
    pub fn curve(self, values: &[f64], range: (f64, f64)) -> Vec<(f64, f64)> {
        let Kernel { width, least, most, bounds } = self;
        let low = range.0.max(if bounds.0 { least } else { least - REACH * width });
        let high = range.1.min(if bounds.1 { most } else { most + REACH * width });
        // Cells reach one kernel beyond, for the values there.
        let (start, end) = (low - REACH * width, high + REACH * width);
        let cell = (end - start) / CELLS as f64;
        let mut counts = vec![0.0; CELLS];
        let mut add = |x: f64| {
            let place = ((x - start) / cell) as usize;
            if x >= start && place < CELLS {
                counts[place] += 1.0;
            }
        };
        let mut count = 0;
        for x in values.iter().filter(|x| x.is_finite()) {
            count += 1;
            add(*x);
            [(bounds.0, least), (bounds.1, most)]
                .into_iter()
                .filter(|(is_bound, _)| *is_bound)
                .for_each(|(_, bound)| add(2.0 * bound - x));
        }
        let scale = 1.0 / (f64::from(count.max(1)) * width * (2.0 * std::f64::consts::PI).sqrt());
        let density = |x: f64| {
            let near = |y: f64| ((y - start) / cell).clamp(0.0, (CELLS - 1) as f64) as usize;
            let kernel = |k: usize| {
                let z = (start + (k as f64 + 0.5) * cell - x) / width;
                counts[k] * (-0.5 * z * z).exp()
            };
            let cells = near(x - REACH * width)..=near(x + REACH * width);
            scale * cells.map(kernel).sum::<f64>()
        };
        let point = |k: usize| low + (high - low) * k as f64 / (POINTS - 1) as f64;
        (0..POINTS).map(point).map(|x| (x, density(x))).collect()
    }
}

/// The density of values at points of a range.
pub(super) fn curve(values: &[f64], range: (f64, f64)) -> Vec<(f64, f64)> {
    Kernel::of(values).map_or(Vec::new(), |kernel| kernel.curve(values, range))
}

/// Silverman's rule.
fn bandwidth(values: &[f64]) -> f64 {
    let ordered = sorted(values);
    let quartiles = (quantile(&ordered, 0.75) - quantile(&ordered, 0.25)) / 1.34;
    let sd = variance(values).sqrt();
    let size = if quartiles > 0.0 { sd.min(quartiles) } else { sd };
    0.9 * size * (values.len() as f64).powf(-0.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_have_the_area_one() {
        let mut random = lambada_testkit::Random(1);
        let uniform: Vec<f64> = (0..4000).map(|_| random.between(0.0, 2.0)).collect();
        let squares: Vec<f64> = uniform.iter().map(|x| x * x).collect();
        for values in [uniform, squares] {
            let curve = curve(&values, (-1.0, 5.0));
            let area: f64 =
                curve.windows(2).map(|p| (p[1].0 - p[0].0) * (p[0].1 + p[1].1) / 2.0).sum();
            assert!((area - 1.0).abs() < 0.02, "{area}");
            // No loss at the bounds.
            assert!(curve[0].1 > 0.4, "{:?}", curve[0]);
        }
    }

    #[test]
    fn far_tails_are_left_out() {
        let mut values: Vec<f64> = (0..1000).map(|k| f64::from(k) / 1000.0).collect();
        assert_eq!(bulk(&values), Some((0.0, 0.999)));
        values.push(1e9);
        assert!(bulk(&values).is_some_and(|(_, high)| high < 3.0));
        assert_eq!(bulk(&[1.0, 1.0]), None);
    }
}

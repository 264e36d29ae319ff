//! Derivatives against differences.
//!
//! Central differences of fourth order at two steps, extrapolated: the extrapolation estimates its
//! error, and rounding is estimated from the size of the values. A component is decided if both are
//! far below its size, so that a derivative of 1e-6 differs from 0, and small components do not
//! hide behind large ones. A step that crosses a kink is not decisive; then another step is tried.
//! At a kink the slopes on the two sides differ, and a derivative may be any number between them.

/// How many components differences could decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confirmed {
    /// They agree.
    pub decided: usize,
    /// No step was decisive: a kink, an infinity, a failure or another size nearby.
    pub undecided: usize,
}

impl Confirmed {
    /// Adds the counts.
    pub fn add(&mut self, other: Confirmed) {
        self.decided += other.decided;
        self.undecided += other.undecided;
    }
}

/// The steps, the most precise first.
const STEPS: [f64; 4] = [1e-3, 1e-4, 1e-2, 1e-5];

/// A component is decided if its error is below this, relative to it …
const RELATIVE: f64 = 1e-5;
/// … or below this.
const ABSOLUTE: f64 = 1e-8;

/// How far a derivative may be from the slope of a decided component, relative to it, besides the
/// error of the slope.
const AGREEMENT: f64 = 1e-6;

/// How far the slopes of two steps may be apart to count as the same, relative to them.
const SAME: f64 = 1e-2;

/// How far it may be from it in any case: of terms that cancel, rounding is left, and the slope may
/// be exact.
const CANCELLED: f64 = 1e-12;

/// How many roundings, in units of the largest value, the values may be off.
const ROUNDINGS: f64 = 64.0;

/// Compares `derivative` with the differences of `f` at 0, component by component. `f` gives
/// nothing where it fails.
pub fn confirm(
    derivative: &[f64],
    f: &mut dyn FnMut(f64) -> Option<Vec<f64>>,
) -> Result<Confirmed, String> {
    confirm_within(AGREEMENT, 0.0, derivative, f)
}

/// [`confirm`], where disagreements up to `noise` decide nothing, because values are computed from
/// larger ones of unknown rounding.
pub fn confirm_above(
    noise: f64,
    derivative: &[f64],
    f: &mut dyn FnMut(f64) -> Option<Vec<f64>>,
) -> Result<Confirmed, String> {
    confirm_within(AGREEMENT, noise, derivative, f)
}

/// [`confirm_above`], where the derivative itself may have a relative error of `agreement`, because
/// it is computed with fewer digits than the values.
///
/// A disagreement counts if half of the step gives the same slope: beside a pole the slope changes
/// with the step, however small its error seems.
pub fn confirm_within(
    agreement: f64,
    noise: f64,
    derivative: &[f64],
    f: &mut dyn FnMut(f64) -> Option<Vec<f64>>,
) -> Result<Confirmed, String> {
    let mut open: Vec<usize> = (0..derivative.len()).collect();
    let mut complaints = vec![None; derivative.len()];
    for h in STEPS {
        if open.is_empty() {
            break;
        }
        let Some(found) = slopes(h, derivative.len(), f) else { continue };
        let (mut middle, mut half) = (None, None);
        open.retain(|&k| {
            let Slope { slope, error, even } = found[k];
            let size =
                slope.abs().max(if derivative[k].is_finite() { derivative[k].abs() } else { 0.0 });
            // Not so if the error is NaN.
            let decisive = error <= (RELATIVE * size).max(ABSOLUTE);
            let agrees = (derivative[k] - slope).abs() <= error + agreement * size + CANCELLED;
            let noisy = (derivative[k] - slope).abs() <= noise;
            let mut at_kink = || {
                let middle = middle.get_or_insert_with(|| f(0.0));
                let value = middle.as_ref().and_then(|values| values.get(k));
                let kink = value.map_or(0.0, |value| (even - 6.0 * value).abs() / (4.0 * h));
                // Where the sides curve differently, the differences are of the first order: the
                // error is 7/2 of its estimate.
                (derivative[k] - slope).abs() <= 4.0 * error + kink
            };
            if decisive && !agrees && !noisy && !at_kink() {
                let half = half.get_or_insert_with(|| slopes(0.5 * h, derivative.len(), f));
                let same = |other: &Slope| {
                    let bound = error + other.error + SAME * (slope.abs() + other.slope.abs());
                    (slope - other.slope).abs() <= bound
                };
                if half.as_ref().is_some_and(|half| !same(&half[k])) {
                    return true;
                }
                complaints[k] = Some(format!(
                    "component {k} is {:?}, differences give {slope:?} ± {error:.1e}",
                    derivative[k]
                ));
            }
            !(decisive && agrees)
        });
    }
    match open.iter().find_map(|&k| complaints[k].clone()) {
        Some(complaint) => Err(complaint),
        None => Ok(Confirmed { decided: derivative.len() - open.len(), undecided: open.len() }),
    }
}

/// The slope of a component.
struct Slope {
    slope: f64,
    /// How far off it may be.
    error: f64,
    /// `4 (f h + f -h) - (f 2h + f -2h)`: 6 times the value at 0, up to the fourth power of the
    /// step. At a kink there, twice the difference of the slopes on its sides, times the step,
    /// comes to it.
    even: f64,
}

fn slopes(
    h: f64,
    components: usize,
    f: &mut dyn FnMut(f64) -> Option<Vec<f64>>,
) -> Option<Vec<Slope>> {
    let mut at = |x: f64| f(x).filter(|values| values.len() == components);
    let (up, down) = (at(h)?, at(-h)?);
    let (up2, down2) = (at(2.0 * h)?, at(-2.0 * h)?);
    let (up4, down4) = (at(4.0 * h)?, at(-4.0 * h)?);
    let slope = |k: usize| {
        let (first, second, fourth) = (up[k] - down[k], up2[k] - down2[k], up4[k] - down4[k]);
        let fine = (8.0 * first - second) / (12.0 * h);
        let coarse = (8.0 * second - fourth) / (24.0 * h);
        let slope = fine + (fine - coarse) / 15.0;
        let largest =
            [up[k], down[k], up4[k], down4[k]].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let error = (slope - fine).abs() * 4.0 + ROUNDINGS * f64::EPSILON * largest / h;
        Slope { slope, error, even: 4.0 * (up[k] + down[k]) - (up2[k] + down2[k]) }
    };
    Some((0..components).map(slope).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(derivative: f64, f: fn(f64) -> f64) -> Result<Confirmed, String> {
        confirm(&[derivative], &mut |h| Some(vec![f(h)]))
    }

    const YES: Result<Confirmed, String> = Ok(Confirmed { decided: 1, undecided: 0 });

    #[test]
    fn smooth_functions_are_decided() {
        assert_eq!(check(1.0, f64::sin), YES);
        assert_eq!(check(0.0, f64::cos), YES);
        assert_eq!(check(30.0, |x| (30.0 * x).exp()), YES);
        assert!(check(30.001, |x| (30.0 * x).exp()).is_err());
    }

    #[test]
    fn a_component_of_a_millionth_is_seen() {
        let f = |x: f64| Some(vec![1000.0 * x.sin(), 1.0 + 1e-6 * x.sin()]);
        assert_eq!(
            confirm(&[1000.0, 1e-6], &mut { f }),
            Ok(Confirmed { decided: 2, undecided: 0 })
        );
        assert!(confirm(&[1000.0, 0.0], &mut { f }).is_err());
        assert!(confirm(&[1000.0, 1.1e-6], &mut { f }).is_err());
    }

    #[test]
    fn noise_decides_nothing() {
        let mut noise = |h: f64| Some(vec![(1.0 + h).sqrt().powi(2) - (1.0 + h)]);
        let found = confirm_above(1e-9, &[0.0], &mut noise);
        assert!(found.is_ok(), "{found:?}");
        assert!(confirm_above(1e-9, &[1e-8], &mut |h| Some(vec![2e-8 * h])).is_err());
        let half = confirm_above(1e-9, &[1e-10], &mut |h| Some(vec![2e-10 * h]));
        assert_eq!(half, Ok(Confirmed { decided: 0, undecided: 1 }));
    }

    #[test]
    fn what_cancels_leaves_rounding() {
        assert_eq!(check(1.1e-16, |_| 0.0), YES);
        assert!(check(1e-11, |_| 0.0).is_err());
    }

    #[test]
    fn nan_is_wrong_where_there_is_a_slope() {
        assert!(check(f64::NAN, f64::sin).is_err());
        assert!(check(f64::INFINITY, f64::sin).is_err());
    }

    #[test]
    fn kinks_infinities_and_failures_are_not_decided() {
        let no = Ok(Confirmed { decided: 0, undecided: 1 });
        assert_eq!(check(1.0, |x| 1.0 / x), no);
        assert_eq!(confirm(&[1.0], &mut |_| None), no);
        assert_eq!(confirm(&[1.0], &mut |x| Some(vec![x; 2])), no);
        // A kink at the point: derivatives between the slopes on its sides are not wrong, those
        // beyond are.
        assert_eq!(check(1.0, |x| x.min(2.0 * x)), no);
        assert_eq!(check(2.0, |x| x.min(2.0 * x)), no);
        assert!(check(2.1, |x| x.min(2.0 * x)).is_err());
        assert!(check(0.9, |x| x.min(2.0 * x)).is_err());
        assert_eq!(check(-0.8, |x| (0.4 + (0.8 * x).min(-x)).powi(2)), no);
        assert_eq!(check(0.64, |x| (0.4 + (0.8 * x).min(-x)).powi(2)), no);
        assert!(check(0.65, |x| (0.4 + (0.8 * x).min(-x)).powi(2)).is_err());
        assert!(check(1.01, |x| x + x * x).is_err());
        // A kink two thousandths away: the first step sees it, the second does not.
        assert_eq!(check(1.0, |x| x.min(0.002)), YES);
    }
}

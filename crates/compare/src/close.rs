//! Comparing reals.

use std::fmt::Display;

/// How far two reals may be apart: `|x - y| ≤ relative · max(|x|, |y|) + absolute`.
///
/// NaN is close to NaN only, an infinity to itself only, whatever the tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the larger of the two.
    pub relative: f64,
    /// Absolute, for any two.
    pub absolute: f64,
}

impl Tolerance {
    /// Equal, where the two zeros are one.
    pub const EXACT: Tolerance = Tolerance { relative: 0.0, absolute: 0.0 };

    /// Relative to the larger of the two, and to 1: for numbers of moderate size whose errors are
    /// those of sums.
    pub const fn mixed(tolerance: f64) -> Tolerance {
        Tolerance { relative: tolerance, absolute: tolerance }
    }

    /// Relative to the larger of the two.
    pub const fn relative(tolerance: f64) -> Tolerance {
        Tolerance { relative: tolerance, absolute: 0.0 }
    }

    /// With another absolute part.
    pub const fn and_absolute(self, absolute: f64) -> Tolerance {
        Tolerance { absolute, ..self }
    }

    /// Whether the two are close.
    pub fn accepts(self, x: f64, y: f64) -> bool {
        let apart = (x - y).abs();
        x == y
            || (x.is_nan() && y.is_nan())
            || (apart.is_finite() && apart <= self.relative * x.abs().max(y.abs()) + self.absolute)
    }
}

/// Complains unless the two are close.
pub fn close(
    what: &dyn Display,
    found: f64,
    expected: f64,
    tolerance: Tolerance,
) -> Result<(), String> {
    if tolerance.accepts(found, expected) {
        Ok(())
    } else {
        Err(format!("{what}: {found:?} instead of {expected:?}"))
    }
}

/// Complains of the first place at which two lists are not close, or of their lengths.
pub fn all_close(
    what: &dyn Display,
    found: &[f64],
    expected: &[f64],
    tolerance: Tolerance,
) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{what}: {} numbers instead of {}", found.len(), expected.len()));
    }
    let mut places = found.iter().zip(expected).enumerate();
    places.try_for_each(|(k, (x, y))| close(&format_args!("{what}, number {k}"), *x, *y, tolerance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_and_infinities_are_close_to_themselves_only() {
        let loose = Tolerance::mixed(1e300);
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0];
        for (j, x) in special.into_iter().enumerate() {
            for (k, y) in special.into_iter().enumerate() {
                assert_eq!(loose.accepts(x, y), j == k, "{x} and {y}");
            }
        }
    }

    #[test]
    fn small_numbers_are_compared_relatively() {
        assert!(!Tolerance::relative(1e-5).accepts(1e-6, 0.0));
        assert!(!Tolerance::relative(1e-5).accepts(1e-6, 1.1e-6));
        assert!(Tolerance::relative(1e-5).accepts(1e-6, 1.000001e-6));
        assert!(Tolerance::EXACT.accepts(0.0, -0.0) && !Tolerance::EXACT.accepts(0.0, 5e-324));
    }

    #[test]
    fn complaints_name_the_place() {
        let complaint = all_close(&"x", &[1.0, 2.0], &[1.0, f64::NAN], Tolerance::mixed(1.0));
        assert_eq!(complaint.unwrap_err(), "x, number 1: 2.0 instead of NaN");
        assert!(all_close(&"x", &[], &[1.0], Tolerance::EXACT).is_err());
    }
}

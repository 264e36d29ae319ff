//! Values of all curves at points.

/// Values of all curves at a point.
#[derive(Clone, Debug)]
pub struct Sample {
    pub x: f64,
    pub values: Vec<f64>,
}

impl Sample {
    /// The value of a curve; NaN if the function has none here.
    pub fn value(&self, column: usize) -> f64 {
        self.values.get(column).copied().unwrap_or(f64::NAN)
    }
}

/// A function that can be evaluated.
pub trait Evaluations {
    /// Why a value is missing.
    type Error;

    /// The values at a point.
    fn at(&mut self, x: f64) -> Result<Sample, Self::Error>;
}

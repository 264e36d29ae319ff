//! Fourier transform of lengths that are powers of two, by Cooley and Tukey. Autocovariances need
//! no other length, and the libraries of all lengths take longer to build than the rest of the
//! crate.

/// Roots of unity for one length, and a buffer.
pub(super) struct Fourier {
    /// `exp(-2πik/m)` for k below m/2.
    roots: Vec<(f64, f64)>,
    values: Vec<(f64, f64)>,
    powers: Vec<f64>,
}

impl Fourier {
    /// For series of at most `length` values, padded with as many zeros because the transform is
    /// cyclic.
    pub fn new(length: usize) -> Fourier {
        let size = (2 * length.max(1)).next_power_of_two();
        let angle = |k: usize| -2.0 * std::f64::consts::PI * k as f64 / size as f64;
        let roots = (0..size / 2).map(|k| (angle(k).cos(), angle(k).sin())).collect();
        Fourier { roots, values: vec![(0.0, 0.0); size], powers: vec![0.0; size] }
    }

    /// Autocovariances with the divisor n at all lags, averaged over series of the length `n`.
    ///
    /// The average of the spectra is transformed back once. Two series share a transform, as real
    /// and imaginary part: |Z(k)|² + |Z(-k)|² is twice the sum of their spectra.
    pub fn autocovariances(&mut self, series: &[f64], n: usize) -> Vec<f64> {
        let size = self.values.len();
        self.powers.fill(0.0);
        for pair in series.chunks(2 * n) {
            let (first, second) = pair.split_at(n);
            let center = super::mean(first);
            let other = if second.is_empty() { 0.0 } else { super::mean(second) };
            self.values.fill((0.0, 0.0));
            for (k, x) in first.iter().enumerate() {
                self.values[k] = (x - center, second.get(k).map_or(0.0, |y| y - other));
            }
            self.transform();
            for (power, (re, im)) in self.powers.iter_mut().zip(&self.values) {
                *power += re * re + im * im;
            }
        }
        for k in 0..size {
            let mirrored = (size - k) % size;
            self.values[k] = ((self.powers[k] + self.powers[mirrored]) / 2.0, 0.0);
        }
        // A spectrum is real and even, so that its inverse transform is the forward one.
        self.transform();
        let scale = 1.0 / (size as f64 * series.len() as f64);
        self.values[..n].iter().map(|(re, _)| re * scale).collect()
    }

    /// Transforms the buffer in place.
    fn transform(&mut self) {
        let values = &mut self.values;
        let size = values.len();
        let shift = usize::BITS - size.trailing_zeros();
        for k in 0..size {
            let mirrored = k.reverse_bits() >> shift;
            if k < mirrored {
                values.swap(k, mirrored);
            }
        }
        let mut half = 1;
        while half < size {
            let stride = size / (2 * half);
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                let roots = self.roots.iter().step_by(stride);
                for ((a, b), (c, s)) in low.iter_mut().zip(high).zip(roots) {
                    let turned = (b.0 * c - b.1 * s, b.0 * s + b.1 * c);
                    *b = (a.0 - turned.0, a.1 - turned.1);
                    *a = (a.0 + turned.0, a.1 + turned.1);
                }
            }
            half *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn autocovariances_are_those_of_the_definition() {
        for (n, count) in [(1, 1), (2, 1), (5, 3), (8, 2), (100, 4)] {
            let values: Vec<f64> = (0..n * count).map(|k| ((k * k) % 17) as f64 - 3.0).collect();
            let found = Fourier::new(n).autocovariances(&values, n);
            for (lag, found) in found.iter().enumerate() {
                let of = |x: &[f64]| {
                    let center = super::super::mean(x);
                    let pairs = x[lag..].iter().zip(x);
                    pairs.map(|(a, b)| (a - center) * (b - center)).sum::<f64>() / n as f64
                };
                let expected = values.chunks(n).map(of).sum::<f64>() / count as f64;
                assert!((found - expected).abs() < 1e-12 * 40.0, "{n} {lag}: {found} {expected}");
            }
        }
    }
}

//! Random numbers for tests and trials.

/// A sequence of random numbers (splitmix64). Equal seeds give equal sequences, on every machine.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Less than `bound`, which is positive.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// One of the items.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// One of the items, rather one of the last.
    pub fn recent<T: Clone>(&mut self, items: &[T]) -> T {
        let from = if self.once_in(3) { 0 } else { items.len().saturating_sub(4) };
        self.pick(&items[from..])
    }

    /// True once in `odds` times.
    pub fn once_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    /// A short real between -2 and 2: a multiple of 1/1000.
    pub fn real(&mut self) -> f64 {
        (self.bits() % 4001) as f64 / 1000.0 - 2.0
    }

    /// A real of full precision in `low..high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        low + (high - low) * unit
    }

    /// A real at which something is special: zeros of both signs, infinities, NaN, the largest and
    /// the smallest.
    pub fn special(&mut self) -> f64 {
        self.pick(&[
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_sequence_is_that_of_splitmix64() {
        let mut random = Random(1234567);
        let found: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(found, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn reals_fill_their_interval() {
        let mut random = Random(3);
        let drawn: Vec<f64> = (0..1000).map(|_| random.between(-1.0, 3.0)).collect();
        assert!(drawn.iter().all(|x| (-1.0..3.0).contains(x)));
        assert!(drawn.iter().any(|x| *x < -0.9) && drawn.iter().any(|x| *x > 2.9));
    }
}

//! Ticks at 1, 2 or 5 times a power of ten, and labels with as many decimals as their distance
//! needs.

/// Ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// The values, in order.
    pub values: Vec<f64>,
    /// Their labels.
    pub labels: Vec<String>,
}

/// Magnitudes beyond which labels have an exponent.
const LARGE: f64 = 1e6;
const SMALL: f64 = 1e-4;

/// Ticks between two values, at most `most`. `whole`: only integers.
pub fn ticks(range: (f64, f64), most: usize, whole: bool) -> Ticks {
    let raw = range.1 / (most + 1) as f64 - range.0 / (most + 1) as f64;
    let mut size = step(if whole { raw.max(1.0) } else { raw });
    while numbers(range, size).1 > most.max(1) {
        size = step(1.5 * value(size.0, size.1));
    }
    let (digit, power) = size;
    let (first, count) = numbers(range, size);
    let values = (0..count).map(|k| value((first + k as f64) * digit, power));
    let values: Vec<f64> = values.collect();
    let largest = values.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let labels = values.iter().map(|x| label(*x, power, largest)).collect();
    Ticks { values, labels }
}

/// The first multiple of a step in a range, and the number of multiples.
fn numbers((low, high): (f64, f64), (digit, power): (f64, i32)) -> (f64, usize) {
    let size = value(digit, power);
    // A tolerance, because ends are often ticks themselves.
    let (first, last) = ((low / size - 1e-9).ceil(), (high / size + 1e-9).floor());
    (first, if last >= first { (last - first) as usize + 1 } else { 0 })
}

/// The least of 1, 2 and 5 times a power of ten that is not below `raw`.
fn step(raw: f64) -> (f64, i32) {
    let power = raw.log10().floor() as i32;
    let fits = |digit: &f64| value(*digit, power) >= raw * (1.0 - 1e-9);
    match [1.0, 2.0, 5.0].into_iter().find(fits) {
        Some(digit) => (digit, power),
        None => (1.0, power + 1),
    }
}

/// `number · 10^power`, rounded once.
fn value(number: f64, power: i32) -> f64 {
    if power < 0 { number / 10_f64.powi(-power) } else { number * 10_f64.powi(power) }
}

/// The label of a tick, whose distance to the next has the power of ten `power`.
fn label(x: f64, power: i32, largest: f64) -> String {
    let decimals = |power: i32| usize::try_from(-power).unwrap_or(0);
    if x == 0.0 {
        return format!("{:.*}", if exponent(power, largest) { 0 } else { decimals(power) }, 0.0);
    }
    if exponent(power, largest) {
        let top = largest.log10().floor() as i32;
        return format!("{:.*}e{top}", decimals(power - top), value(x, -top));
    }
    format!("{x:.*}", decimals(power))
}

/// Whether labels have an exponent.
fn exponent(power: i32, largest: f64) -> bool {
    largest >= LARGE && power >= 0 || largest < 10.0 * SMALL || power < -8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(range: (f64, f64), count: usize, expect: &[&str]) {
        assert_eq!(ticks(range, count, false).labels, expect, "{range:?}");
    }

    #[test]
    fn labels_that_a_person_would_choose() {
        check((0.0, 10.0), 6, &["0", "2", "4", "6", "8", "10"]);
        check((-1.05, 1.05), 5, &["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        check((0.0, 1.0), 4, &["0.0", "0.5", "1.0"]);
        check((-0.46, 0.46), 5, &["-0.4", "-0.2", "0.0", "0.2", "0.4"]);
        check((-3.3, 0.7), 8, &["-3.0", "-2.5", "-2.0", "-1.5", "-1.0", "-0.5", "0.0", "0.5"]);
        check((0.0, 3e6), 4, &["0", "1e6", "2e6", "3e6"]);
        check((0.0, 2.2e-5), 4, &["0", "1e-5", "2e-5"]);
        check((0.0, 2.5e6), 6, &["0", "0.5e6", "1.0e6", "1.5e6", "2.0e6", "2.5e6"]);
        check((1e6, 1e6 + 0.02), 3, &["1000000.00", "1000000.01", "1000000.02"]);
        assert_eq!(ticks((0.0, 3.0), 10, true).labels, ["0", "1", "2", "3"]);
    }
}

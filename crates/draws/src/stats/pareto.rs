//! Importance weights with a smooth tail, by a generalized Pareto distribution, as in ArviZ:
//! Vehtari, Simpson, Gelman, Yao and Gabry (2024), *Pareto smoothed importance sampling*.

/// Smoothed weights.
#[derive(Clone, Debug)]
pub struct Smoothed {
    /// The weights, with the sum 1.
    pub weights: Vec<f64>,
    /// The shape k̂ of their tail. Above 0.7, the draws do not represent the other distribution.
    pub shape: f64,
}

/// Fewest weights of a tail that has a shape.
const TAIL: usize = 5;

/// Smooths weights that are given by their logarithms.
pub fn smoothed(logs: &[f64]) -> Smoothed {
    let count = logs.len();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| weights[*a].total_cmp(&weights[*b]));
    let tail = (0.2 * count as f64).min(3.0 * (count as f64).sqrt()) as usize;
    let mut shape = f64::INFINITY;
    if tail >= TAIL {
        let cutoff = weights[order[count - tail - 1]].max(f64::MIN_POSITIVE);
        let tail: Vec<usize> = order.into_iter().filter(|k| weights[*k] > cutoff).collect();
        let beyond: Vec<f64> = tail.iter().map(|k| weights[*k] - cutoff).collect();
        if beyond.len() >= TAIL {
            let scale;
            (shape, scale) = fit(&beyond);
            for (i, k) in tail.iter().enumerate() {
                let p = (i as f64 + 0.5) / tail.len() as f64;
                weights[*k] = (quantile(p, shape, scale) + cutoff).min(1.0);
            }
        }
    }
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    Smoothed { weights, shape }
}

/// Shape and scale of a generalized Pareto distribution, from values in order (Zhang and Stephens,
/// 2009), with a weak prior of 0.5 for the shape.
fn fit(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let grid = 30 + count.sqrt() as usize;
    let quartile = values[(count / 4.0 + 0.5) as usize - 1];
    let last = values[values.len() - 1];
    let slope = |b: f64| values.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / count;
    let candidates = (1..=grid).map(|k| {
        let step = 1.0 - (grid as f64 / (k as f64 - 0.5)).sqrt();
        let b = step / (3.0 * quartile) + 1.0 / last;
        let k = slope(b);
        (b, count * ((-b / k).ln() - k - 1.0))
    });
    let candidates: Vec<(f64, f64)> = candidates.collect();
    let best = candidates.iter().map(|(_, log)| *log).fold(f64::NEG_INFINITY, f64::max);
    let weighted = candidates.iter().map(|(b, log)| (b, (log - best).exp()));
    let (sum, total) =
        weighted.fold((0.0, 0.0), |(sum, total), (b, weight)| (sum + b * weight, total + weight));
    let b = sum / total;
    let k = slope(b);
    ((count * k + 5.0) / (count + 10.0), -k / b)
}

fn quantile(p: f64, shape: f64, scale: f64) -> f64 {
    let log = (-p).ln_1p();
    if shape.abs() < f64::EPSILON { -scale * log } else { scale * (-shape * log).exp_m1() / shape }
}

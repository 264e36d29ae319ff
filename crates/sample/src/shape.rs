//! The linear map from the space in which the sampler moves, where the posterior is about as wide
//! in all directions, to the coordinates.

/// A function of all numbers of a state, which reads or replaces them.
pub(crate) type Each<'f> = &'f mut dyn FnMut(&mut f64);

/// The map.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A scale for each coordinate.
    Scales(Vec<f64>),
    /// The Cholesky factor of a covariance, row by row.
    Factor(Vec<f64>),
    /// A scale for each coordinate, after stretches in some directions.
    LowRank(Vec<f64>, Stretches),
}

/// A symmetric map that is the identity but for some directions, which are orthonormal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretches {
    /// The directions, one after the other.
    directions: Vec<f64>,
    /// By direction: by how much more than 1 it is stretched.
    more: Vec<f64>,
}

impl Stretches {
    /// Adds a direction, orthogonal to the others.
    pub(crate) fn push(&mut self, direction: &[f64], more: f64) {
        self.directions.extend_from_slice(direction);
        self.more.push(more);
    }

    fn each(&self, dimension: usize) -> impl Iterator<Item = (&[f64], f64)> {
        self.directions.chunks(dimension.max(1)).zip(self.more.iter().copied())
    }
}

impl Shape {
    /// A number for the kind of the map and the number of its directions.
    pub(crate) fn form(&self) -> u64 {
        match self {
            Shape::Scales(_) => 0,
            Shape::Factor(_) => 1,
            Shape::LowRank(_, stretches) => 2 + stretches.more.len() as u64,
        }
    }

    /// A map of a form, with numbers that are to be replaced.
    pub(crate) fn of_form(form: u64, dimension: usize) -> Shape {
        let scales = vec![1.0; dimension];
        match form {
            0 => Shape::Scales(scales),
            1 => Shape::Factor(vec![0.0; dimension * dimension]),
            more => {
                let rank = (more - 2) as usize;
                let directions = vec![0.0; rank * dimension];
                Shape::LowRank(scales, Stretches { directions, more: vec![0.0; rank] })
            }
        }
    }

    /// Calls `f` on all numbers.
    pub(crate) fn numbers(&mut self, f: Each) {
        match self {
            Shape::Scales(numbers) | Shape::Factor(numbers) => numbers.iter_mut().for_each(f),
            Shape::LowRank(scales, Stretches { directions, more }) => {
                scales.iter_mut().chain(directions).chain(more).for_each(f);
            }
        }
    }

    /// Adds `by` times the image of `v` to `to`.
    pub(crate) fn add_image(&self, v: &[f64], by: f64, to: &mut [f64]) {
        match self {
            Shape::Scales(scales) => {
                for ((to, v), scale) in to.iter_mut().zip(v).zip(scales) {
                    *to += by * scale * v;
                }
            }
            Shape::Factor(factor) => {
                for (i, (to, row)) in to.iter_mut().zip(factor.chunks(v.len())).enumerate() {
                    *to += by * dot(&row[..=i], &v[..=i]);
                }
            }
            Shape::LowRank(scales, stretches) => {
                for ((to, v), scale) in to.iter_mut().zip(v).zip(scales) {
                    *to += by * scale * v;
                }
                for (direction, more) in stretches.each(v.len()) {
                    let along = by * more * dot(direction, v);
                    for ((to, u), scale) in to.iter_mut().zip(direction).zip(scales) {
                        *to += along * scale * u;
                    }
                }
            }
        }
    }

    /// Pulls a gradient by coordinates back.
    pub(crate) fn pull(&self, gradient: &[f64], back: &mut [f64]) {
        match self {
            Shape::Scales(scales) => {
                for ((back, g), scale) in back.iter_mut().zip(gradient).zip(scales) {
                    *back = scale * g;
                }
            }
            Shape::Factor(factor) => {
                back.fill(0.0);
                for (i, (g, row)) in gradient.iter().zip(factor.chunks(gradient.len())).enumerate()
                {
                    for (back, x) in back[..=i].iter_mut().zip(row) {
                        *back += x * g;
                    }
                }
            }
            Shape::LowRank(scales, stretches) => {
                for ((back, g), scale) in back.iter_mut().zip(gradient).zip(scales) {
                    *back = scale * g;
                }
                for (direction, more) in stretches.each(gradient.len()) {
                    let along = more * dot(direction, back);
                    back.iter_mut().zip(direction).for_each(|(back, u)| *back += along * u);
                }
            }
        }
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Running means, and sums of squares or of products around them.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    count: f64,
    mean: Vec<f64>,
    /// One for each component, or for each pair, row by row.
    products: Vec<f64>,
    pairs: bool,
    away: Vec<f64>,
}

impl Moments {
    pub(crate) fn new(dimension: usize, pairs: bool) -> Moments {
        let count = if pairs { dimension * dimension } else { dimension };
        Moments {
            count: 0.0,
            mean: vec![0.0; dimension],
            products: vec![0.0; count],
            pairs,
            away: vec![0.0; dimension],
        }
    }

    /// Calls `f` on all numbers.
    pub(crate) fn numbers(&mut self, f: Each) {
        f(&mut self.count);
        self.mean.iter_mut().chain(&mut self.products).for_each(f);
    }

    pub(crate) fn count(&self) -> f64 {
        self.count
    }

    pub(crate) fn add(&mut self, x: &[f64]) {
        self.count += 1.0;
        let dimension = self.mean.len();
        for (away, (mean, x)) in self.away.iter_mut().zip(self.mean.iter_mut().zip(x)) {
            *away = x - *mean;
            *mean += *away / self.count;
        }
        for (i, (mean, x)) in self.mean.iter().zip(x).enumerate() {
            let rest = x - mean;
            if self.pairs {
                let row = &mut self.products[i * dimension..][..=i];
                row.iter_mut().zip(&self.away).for_each(|(sum, away)| *sum += rest * away);
            } else {
                self.products[i] += rest * self.away[i];
            }
        }
    }

    /// The variances of the components.
    fn variances(&self) -> impl Iterator<Item = f64> + '_ {
        let next = if self.pairs { self.mean.len() + 1 } else { 1 };
        self.products.iter().step_by(next).map(|sum| sum / (self.count - 1.0))
    }
}

/// Bounds of squared scales.
const SMALLEST: f64 = 1e-20;
const LARGEST: f64 = 1e20;

/// The scales of coordinates from their variances and those of their gradients: the metric that
/// makes both alike. Scales that are not known yet stay.
pub(crate) fn scales(points: &Moments, gradients: &Moments, scales: &mut [f64]) {
    let both = points.variances().zip(gradients.variances());
    for (scale, (point, gradient)) in scales.iter_mut().zip(both) {
        let square = (point / gradient).sqrt();
        if square.is_finite() && square > 0.0 {
            *scale = square.clamp(SMALLEST, LARGEST).sqrt();
        }
    }
}

/// The factor of a covariance of points, regularized as in Stan; `None` if it is not positive.
pub(crate) fn factor(points: &Moments) -> Option<Vec<f64>> {
    let dimension = points.mean.len();
    let count = points.count;
    let scale = count / (count - 1.0) / (count + 5.0);
    let mut a: Vec<f64> = points.products.iter().map(|sum| sum * scale).collect();
    for i in 0..dimension {
        a[i * dimension + i] += 1e-3 * 5.0 / (count + 5.0);
    }
    cholesky(a, dimension)
}

/// The Cholesky factor of a symmetric matrix, in the lower triangle; `None` if it is not positive.
pub(crate) fn cholesky(mut a: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    for j in 0..size {
        for i in j..size {
            let done = dot(&a[i * size..][..j], &a[j * size..][..j]);
            let rest = a[i * size + j] - done;
            a[i * size + j] = match i == j {
                true if rest > 0.0 => rest.sqrt(),
                true => return None,
                false => rest / a[j * size + j],
            };
        }
    }
    a.iter().all(|x| x.is_finite()).then_some(a)
}

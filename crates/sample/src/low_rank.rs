//! The directions in which a posterior is much wider or narrower than in others, from draws and
//! their gradients (Seyboldt and others, 2024). Scales are divided out before. On the span of the
//! widest directions of the draws and of the gradients, the map is the one that gives both the same
//! covariance: the geometric mean of the covariance of draws and the inverse of that of gradients.
//! In all other directions it is one factor, from the variances that are left there.

use crate::shape::{Shape, Stretches, dot};

/// The most directions of the draws, and of the gradients.
const DIRECTIONS: usize = 16;

/// The draws for each of them, at least.
const DRAWS: usize = 4;

/// Iterations that find them. The directions need not be exact, because the map is exact on their
/// span.
const ITERATIONS: usize = 4;

/// The smallest ratio of variances that is stretched: others are as likely noise.
const CUTOFF: f64 = 2.0;

/// The part of the unit covariance that is added to those of draws and gradients.
const REGULAR: f64 = 1e-5;

/// Rows of numbers.
type Rows = Vec<Vec<f64>>;

/// The map for draws and their gradients, which are by coordinates.
pub(crate) fn low_rank(draws: &[(&[f64], &[f64])], scales: &[f64]) -> Shape {
    let points = centered(draws.iter().map(|(point, _)| *point), |x, scale| x / scale, scales);
    let gradients = centered(draws.iter().map(|(_, g)| *g), |g, scale| g * scale, scales);
    let mut basis = widest(&points);
    basis.extend(widest(&gradients));
    orthonormalize(&mut basis);
    let rest = left(&points, &basis).zip(left(&gradients, &basis));
    let rest = rest.map_or(1.0, |(points, gradients)| (points / gradients).sqrt());
    let covariances = [&points, &gradients].map(|rows| covariance(rows, &basis));
    let stretches = stretches(&covariances, &basis, rest).unwrap_or_default();
    Shape::LowRank(scales.iter().map(|scale| scale * rest.sqrt()).collect(), stretches)
}

/// The sum of squares of rows outside of the span of a basis; `None` if it is no more than rounding
/// errors.
fn left(rows: &Rows, basis: &Rows) -> Option<f64> {
    let outside = |row: &Vec<f64>| {
        let mut row = row.clone();
        without(&mut row, basis);
        dot(&row, &row)
    };
    let all: f64 = rows.iter().map(|row| dot(row, row)).sum();
    Some(rows.iter().map(outside).sum()).filter(|outside| *outside > 1e-12 * all)
}

/// Subtracts the part of a vector in the span of a basis.
fn without(vector: &mut [f64], basis: &Rows) {
    for known in basis {
        let along = dot(known, vector);
        vector.iter_mut().zip(known).for_each(|(x, u)| *x -= along * u);
    }
}

/// Vectors minus their mean, each component by its scale.
fn centered<'d>(
    vectors: impl Iterator<Item = &'d [f64]> + Clone,
    by: fn(f64, f64) -> f64,
    scales: &[f64],
) -> Rows {
    let count = vectors.clone().count() as f64;
    let mut mean = vec![0.0; scales.len()];
    for vector in vectors.clone() {
        mean.iter_mut().zip(vector).for_each(|(mean, x)| *mean += x / count);
    }
    let row = |vector: &[f64]| -> Vec<f64> {
        vector.iter().zip(&mean).zip(scales).map(|((x, mean), s)| by(x - mean, *s)).collect()
    };
    vectors.map(row).collect()
}

/// An orthonormal basis of about the directions of the largest variances.
fn widest(rows: &Rows) -> Rows {
    let step = rows.len().div_ceil(DIRECTIONS).max(DRAWS);
    let mut basis: Rows = rows.iter().step_by(step).cloned().collect();
    orthonormalize(&mut basis);
    for _ in 0..ITERATIONS {
        basis = basis.iter().map(|direction| times_covariance(rows, direction)).collect();
        orthonormalize(&mut basis);
    }
    basis
}

fn times_covariance(rows: &Rows, direction: &[f64]) -> Vec<f64> {
    let mut image = vec![0.0; direction.len()];
    for row in rows {
        let along = dot(row, direction);
        image.iter_mut().zip(row).for_each(|(image, x)| *image += along * x);
    }
    image
}

/// Makes vectors orthonormal, and drops those that depend on the ones before.
fn orthonormalize(vectors: &mut Rows) {
    let mut basis: Rows = Vec::new();
    for mut vector in vectors.drain(..) {
        let before = dot(&vector, &vector).sqrt();
        // Twice, so that rounding errors of the first time do not remain.
        for _ in 0..2 {
            without(&mut vector, &basis);
        }
        let norm = dot(&vector, &vector).sqrt();
        if norm > 1e-8 * before && norm.is_finite() {
            vector.iter_mut().for_each(|x| *x /= norm);
            basis.push(vector);
        }
    }
    *vectors = basis;
}

/// The covariance of rows on the span of a basis.
fn covariance(rows: &Rows, basis: &Rows) -> Rows {
    let along = |row: &Vec<f64>| basis.iter().map(|u| dot(u, row)).collect::<Vec<f64>>();
    let along: Rows = rows.iter().map(along).collect();
    let entry = |i: usize, j: usize| {
        let sum: f64 = along.iter().map(|row| row[i] * row[j]).sum();
        sum / rows.len() as f64 + if i == j { REGULAR } else { 0.0 }
    };
    let size = basis.len();
    (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect()
}

/// The stretches, from both covariances on the span of a basis, relative to the factor elsewhere;
/// `None` if they are not finite.
fn stretches([points, gradients]: &[Rows; 2], basis: &Rows, rest: f64) -> Option<Stretches> {
    let root = power(gradients, 0.5)?;
    let inverse = power(gradients, -0.5)?;
    let middle = power(&product(&product(&root, points), &root), 0.5)?;
    let (values, vectors) = eigen(&product(&product(&inverse, &middle), &inverse))?;
    let mut stretches = Stretches::default();
    for (value, vector) in values.into_iter().zip(vectors) {
        let value = value / rest;
        if (1.0 / CUTOFF..=CUTOFF).contains(&value) || value <= 0.0 {
            continue;
        }
        let mut direction = vec![0.0; basis[0].len()];
        for (u, by) in basis.iter().zip(&vector) {
            direction.iter_mut().zip(u).for_each(|(x, u)| *x += by * u);
        }
        stretches.push(&direction, value.sqrt() - 1.0);
    }
    Some(stretches)
}

/// A power of a symmetric matrix that is positive definite.
fn power(matrix: &Rows, exponent: f64) -> Option<Rows> {
    let (values, vectors) = eigen(matrix)?;
    let powers: Vec<f64> = values.iter().map(|x| x.max(REGULAR * REGULAR).powf(exponent)).collect();
    let size = matrix.len();
    let entry = |i: usize, j: usize| -> f64 {
        powers.iter().zip(&vectors).map(|(power, v)| power * v[i] * v[j]).sum()
    };
    Some((0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect())
}

fn product(a: &Rows, b: &Rows) -> Rows {
    let column = |j: usize| b.iter().map(move |row| row[j]);
    let entry = |row: &[f64], j: usize| row.iter().zip(column(j)).map(|(x, y)| x * y).sum();
    a.iter().map(|row| (0..b.len()).map(|j| entry(row, j)).collect()).collect()
}

/// The eigenvalues of a symmetric matrix and its eigenvectors, by Jacobi's rotations; `None` if the
/// matrix is not finite.
fn eigen(matrix: &Rows) -> Option<(Vec<f64>, Rows)> {
    let size = matrix.len();
    let mut a = matrix.clone();
    let unit = |i: usize| (0..size).map(|j| f64::from(u8::from(i == j))).collect();
    let mut vectors: Rows = (0..size).map(unit).collect();
    if !a.iter().flatten().all(|x| x.is_finite()) {
        return None;
    }
    let all: f64 = a.iter().flatten().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let pairs = (0..size).flat_map(|p| (p + 1..size).map(move |q| (p, q)));
        let off: f64 = pairs.clone().map(|(p, q)| a[p][q] * a[p][q]).sum();
        if off <= 1e-28 * all {
            break;
        }
        for (p, q) in pairs {
            rotate(&mut a, &mut vectors, p, q);
        }
    }
    Some(((0..size).map(|i| a[i][i]).collect(), vectors))
}

/// Each sweep squares the size of the rest; from ten on there is none.
const SWEEPS: usize = 30;

/// Turns the axes `p` and `q` so that the matrix has a zero there.
fn rotate(a: &mut Rows, vectors: &mut Rows, p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let slope = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |x: &mut f64, y: &mut f64| {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    };
    for row in a.iter_mut() {
        let (mut x, mut y) = (row[p], row[q]);
        turn(&mut x, &mut y);
        (row[p], row[q]) = (x, y);
    }
    for rows in [a, vectors] {
        let [x, y] = rows.get_disjoint_mut([p, q]).expect("two rows");
        x.iter_mut().zip(y).for_each(|(x, y)| turn(x, y));
    }
}

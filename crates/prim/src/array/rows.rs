//! The rows.

use super::Transpose::{Apply, Arg, Cotangent, Flipped, Outer};
use crate::{Data, Precision, ScalarTy};

use super::{ArrayKernel, ArrayPrim, ArrayRow, Derivative, Spelling, Version};

const BLOCK: &str = include_str!("block.c");
const TRIANGULAR: &str = include_str!("triangular.c");
const REFLECT: &str = include_str!("reflect.c");
const ROTATE: &str = include_str!("rotate.c");

/// Axes of a triangular matrix and of right-hand sides, which may be a vector.
const SOLVES: &[Version] = &[
    Version { args: &["nn", "nm"], results: &["nm"], transposes: &[] },
    Version { args: &["nn", "n"], results: &["n"], transposes: &[] },
];

pub(super) const ROWS: &[ArrayRow] = &[
    ArrayRow {
        prim: ArrayPrim::MatMul,
        name: "matmul",
        spelling: Spelling::Infix("@"),
        axes: "nkm",
        results: &[ScalarTy::Real],
        versions: &[
            Version {
                args: &["nk", "km"],
                results: &["nm"],
                transposes: &[
                    Apply(ArrayPrim::MatMul, &[Cotangent, Flipped(&Arg(1))]),
                    Apply(ArrayPrim::MatMul, &[Flipped(&Arg(0)), Cotangent]),
                ],
            },
            Version {
                args: &["nk", "k"],
                results: &["n"],
                transposes: &[
                    Outer(&[Cotangent, Arg(1)]),
                    Apply(ArrayPrim::MatMul, &[Cotangent, Arg(0)]),
                ],
            },
            Version {
                args: &["k", "km"],
                results: &["m"],
                transposes: &[
                    Apply(ArrayPrim::MatMul, &[Arg(1), Cotangent]),
                    Outer(&[Arg(0), Cotangent]),
                ],
            },
        ],
        derivative: Derivative::Contraction,
        linear: &[0, 1],
        eval: matmul,
        work: |sizes| 2 * sizes[0] * sizes[1] * sizes[2],
        kernel: ArrayKernel { name: "lam_matmul", texts: &[BLOCK, include_str!("matmul.c")] },
        doc: "The product of two matrices, or of a matrix and a vector.",
        example: (&[(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), (&[2], &[1.0, 10.0])], &[&[21.0, 43.0]]),
        domain: "all",
    },
    ArrayRow {
        prim: ArrayPrim::Cholesky,
        name: "cholesky",
        spelling: Spelling::Definition("cholesky"),
        axes: "n",
        results: &[ScalarTy::Real],
        versions: &[Version { args: &["nn"], results: &["nn"], transposes: &[] }],
        derivative: Derivative::Rules,
        linear: &[],
        eval: cholesky,
        work: |sizes| sizes[0] * sizes[0] * (sizes[0] + 6) / 3,
        kernel: ArrayKernel { name: "lam_cholesky", texts: &[BLOCK, include_str!("cholesky.c")] },
        doc: "The lower triangle whose product with its transpose is the symmetric part of a matrix.",
        example: (&[(&[2, 2], &[4.0, 2.0, 2.0, 10.0])], &[&[2.0, 0.0, 1.0, 3.0]]),
        domain: "positive definite matrices",
    },
    ArrayRow {
        prim: ArrayPrim::TriangularSolve,
        name: "triangular_solve",
        spelling: Spelling::Definition("triangular_solve"),
        axes: "nm",
        results: &[ScalarTy::Real],
        versions: SOLVES,
        derivative: Derivative::Rules,
        linear: &[1],
        eval: |_, sizes, args| triangular(sizes, args, &|k| k),
        work: |sizes| sizes[0] * sizes[0] * sizes[1],
        kernel: ArrayKernel {
            name: "lam_triangular_solve",
            texts: &[BLOCK, TRIANGULAR, include_str!("triangular_solve.c")],
        },
        doc: "The solution of a system with a lower triangle.",
        example: (&[(&[2, 2], &[2.0, 0.0, 1.0, 4.0]), (&[2], &[2.0, 9.0])], &[&[1.0, 2.0]]),
        domain: "triangles without a zero on the diagonal",
    },
    ArrayRow {
        prim: ArrayPrim::TriangularSolveUpper,
        name: "triangular_solve_upper",
        spelling: Spelling::Definition("triangular_solve_upper"),
        axes: "nm",
        results: &[ScalarTy::Real],
        versions: SOLVES,
        derivative: Derivative::Rules,
        linear: &[1],
        eval: |_, sizes, args| triangular(sizes, args, &|k| sizes[0] - 1 - k),
        work: |sizes| sizes[0] * sizes[0] * sizes[1],
        kernel: ArrayKernel {
            name: "lam_triangular_solve_upper",
            texts: &[BLOCK, TRIANGULAR, include_str!("triangular_solve_upper.c")],
        },
        doc: "The solution of a system with an upper triangle.",
        example: (&[(&[2, 2], &[2.0, 1.0, 0.0, 4.0]), (&[2], &[4.0, 8.0])], &[&[1.0, 2.0]]),
        domain: "triangles without a zero on the diagonal",
    },
    ArrayRow {
        prim: ArrayPrim::Lu,
        name: "lu",
        spelling: Spelling::Definition("prelude_lu"),
        axes: "n",
        results: &[ScalarTy::Int, ScalarTy::Real, ScalarTy::Real],
        versions: &[Version { args: &["nn"], results: &["n", "nn", "nn"], transposes: &[] }],
        derivative: Derivative::Rules,
        linear: &[],
        eval: lu,
        work: |sizes| sizes[0] * sizes[0] * (2 * sizes[0] + 3) / 3,
        kernel: ArrayKernel { name: "lam_lu", texts: &[BLOCK, include_str!("lu.c")] },
        doc: "The order of rows that partial pivoting chooses, and the lower and upper triangle whose product has these rows.",
        example: (
            &[(&[2, 2], &[1.0, 2.0, 4.0, 8.0])],
            &[&[1.0, 0.0], &[1.0, 0.0, 0.25, 1.0], &[4.0, 8.0, 0.0, 0.0]],
        ),
        domain: "all",
    },
    ArrayRow {
        prim: ArrayPrim::Argsort,
        name: "argsort",
        spelling: Spelling::Definition("argsort"),
        axes: "n",
        results: &[ScalarTy::Int],
        versions: &[Version { args: &["n"], results: &["n"], transposes: &[] }],
        derivative: Derivative::Rules,
        linear: &[],
        eval: argsort,
        work: |sizes| sizes[0] * u64::from(sizes[0].max(1).ilog2() + 1),
        kernel: ArrayKernel { name: "lam_argsort", texts: &[include_str!("argsort.c")] },
        doc: "The places of the elements in ascending order, NaN last; equal elements keep theirs.",
        example: (&[(&[4], &[2.0, f64::NAN, 1.0, 2.0])], &[&[2.0, 0.0, 3.0, 1.0]]),
        domain: "all",
    },
    ArrayRow {
        prim: ArrayPrim::CholeskyTangent,
        name: "cholesky_tangent",
        spelling: Spelling::Definition("prelude_cholesky_tangent"),
        axes: "n",
        results: &[ScalarTy::Real],
        versions: &[Version { args: &["nn", "nn"], results: &["nn"], transposes: &[] }],
        derivative: Derivative::Rules,
        linear: &[1],
        eval: cholesky_tangent,
        work: |sizes| sizes[0] * sizes[0] * (2 * sizes[0] + 9) / 3,
        kernel: ArrayKernel {
            name: "lam_cholesky_tangent",
            texts: &[BLOCK, include_str!("cholesky_tangent.c")],
        },
        doc: "How the factor of a positive definite matrix changes with the symmetric part of a change of the matrix.",
        example: (
            &[(&[2, 2], &[2.0, 0.0, 1.0, 4.0]), (&[2, 2], &[4.0, 4.0, 4.0, 10.0])],
            &[&[1.0, 0.0, 1.5, 0.875]],
        ),
        domain: "factors without a zero on the diagonal",
    },
    ArrayRow {
        prim: ArrayPrim::CholeskyPullback,
        name: "cholesky_pullback",
        spelling: Spelling::Definition("prelude_cholesky_pullback"),
        axes: "n",
        results: &[ScalarTy::Real],
        versions: &[Version { args: &["nn", "nn"], results: &["nn"], transposes: &[] }],
        derivative: Derivative::Rules,
        linear: &[1],
        eval: cholesky_pullback,
        work: |sizes| sizes[0] * sizes[0] * (2 * sizes[0] + 9) / 3,
        kernel: ArrayKernel {
            name: "lam_cholesky_pullback",
            texts: &[BLOCK, include_str!("cholesky_pullback.c")],
        },
        doc: "The cotangent of a positive definite matrix, which is symmetric, from that of its factor.",
        example: (
            &[(&[2, 2], &[2.0, 0.0, 1.0, 4.0]), (&[2, 2], &[1.0, 9.0, 3.0, 8.0])],
            &[&[0.125, 0.25, 0.25, 1.0]],
        ),
        domain: "factors without a zero on the diagonal",
    },
    ArrayRow {
        prim: ArrayPrim::Qr,
        name: "qr",
        spelling: Spelling::Definition("prelude_qr"),
        axes: "mn",
        results: &[ScalarTy::Real, ScalarTy::Real],
        versions: &[Version { args: &["mn"], results: &["mn", "nn"], transposes: &[] }],
        derivative: Derivative::Rules,
        linear: &[],
        eval: qr,
        work: |sizes| sizes[1] * sizes[1] * (12 * sizes[0]).saturating_sub(4 * sizes[1]) / 3,
        kernel: ArrayKernel { name: "lam_qr", texts: &[BLOCK, REFLECT, include_str!("qr.c")] },
        doc: "Orthonormal columns and the upper triangle, with a diagonal that is not negative, whose product is the matrix.",
        example: (
            &[(&[2, 2], &[0.0, 2.0, 4.0, 8.0])],
            &[&[0.0, 1.0, 1.0, 0.0], &[4.0, 8.0, 0.0, 2.0]],
        ),
        domain: "matrices with at least as many rows as columns",
    },
    ArrayRow {
        prim: ArrayPrim::Fft,
        name: "fft",
        spelling: Spelling::Definition("prelude_fft"),
        axes: "n",
        results: &[ScalarTy::Real, ScalarTy::Real],
        versions: &[Version { args: &["n", "n"], results: &["n", "n"], transposes: &[] }],
        derivative: Derivative::Rules,
        linear: &[],
        eval: fft,
        work: |sizes| 5 * sizes[0] * u64::from(sizes[0].max(1).ilog2() + 1),
        kernel: ArrayKernel { name: "lam_fft", texts: &[include_str!("fft.c")] },
        doc: "The discrete Fourier transform of complex numbers, given by their real and imaginary parts.",
        example: (&[(&[2], &[1.0, 3.0]), (&[2], &[2.0, 4.0])], &[&[4.0, -2.0], &[6.0, -2.0]]),
        domain: "all",
    },
    ArrayRow {
        prim: ArrayPrim::Eigen,
        name: "eigen",
        spelling: Spelling::Definition("prelude_eigen"),
        axes: "n",
        // The last result is the kernel's memory: zeros.
        results: &[ScalarTy::Real, ScalarTy::Real, ScalarTy::Real],
        versions: &[Version { args: &["nn"], results: &["n", "nn", "nn"], transposes: &[] }],
        derivative: Derivative::Rules,
        linear: &[],
        eval: eigen,
        work: |sizes| 9 * sizes[0] * sizes[0] * sizes[0],
        kernel: ArrayKernel {
            name: "lam_eigen",
            texts: &[BLOCK, REFLECT, ROTATE, include_str!("eigen.c")],
        },
        doc: "The eigenvalues of the symmetric part of a matrix, ascending, and the eigenvectors in rows, of which the first component of the largest size is positive.",
        example: (
            &[(&[2, 2], &[3.0, 0.0, 0.0, 1.0])],
            &[&[1.0, 3.0], &[0.0, 1.0, 1.0, 0.0], &[0.0, 0.0, 0.0, 0.0]],
        ),
        domain: "all",
    },
    ArrayRow {
        prim: ArrayPrim::Svd,
        name: "svd",
        spelling: Spelling::Definition("prelude_svd"),
        axes: "mn",
        // The last two results are the kernel's memory: zeros.
        results: &[ScalarTy::Real; 5],
        versions: &[Version {
            args: &["mn"],
            results: &["nm", "n", "nn", "mn", "nn"],
            transposes: &[],
        }],
        derivative: Derivative::Rules,
        linear: &[],
        eval: svd,
        work: |sizes| sizes[1] * sizes[1] * (12 * sizes[0] + 10 * sizes[1]),
        kernel: ArrayKernel {
            name: "lam_svd",
            texts: &[BLOCK, REFLECT, ROTATE, include_str!("svd.c")],
        },
        doc: "The left singular vectors in rows, the singular values, descending, and the right vectors in rows, of which the first component of the largest size is positive.",
        example: (
            &[(&[2, 2], &[0.0, 3.0, -1.0, 0.0])],
            &[
                &[1.0, 0.0, 0.0, -1.0],
                &[3.0, 1.0],
                &[0.0, 1.0, 1.0, 0.0],
                &[0.0, 0.0, 0.0, 0.0],
                &[0.0, 0.0, 0.0, 0.0],
            ],
        ),
        domain: "matrices with at least as many rows as columns",
    },
];

fn matmul(_: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let (rows, inner, columns) = (sizes[0], sizes[1], sizes[2]);
    let mut product = vec![0.0; rows * columns];
    for i in 0..rows {
        let sums = &mut product[i * columns..(i + 1) * columns];
        for k in 0..inner {
            let factor = args[0][i * inner + k];
            let row = &args[1][k * columns..(k + 1) * columns];
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
        }
    }
    vec![Data::Real(product)]
}

fn cholesky(_: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let (n, a) = (sizes[0], args[0]);
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let products = (0..j).map(|k| l[i * n + k] * l[j * n + k]);
            let rest = 0.5 * (a[i * n + j] + a[j * n + i]) - products.sum::<f64>();
            l[i * n + j] = if j < i { rest / l[j * n + j] } else { rest.sqrt() };
        }
    }
    if l.last().is_some_and(|last| !(*last > 0.0 && *last < f64::INFINITY)) {
        l.fill(f64::NAN);
    }
    vec![Data::Real(l)]
}

/// A triangular system whose k-th equation, in the order in which they are solved, is in row
/// `place(k)`.
fn triangular(sizes: &[usize], args: &[&[f64]], place: &dyn Fn(usize) -> usize) -> Vec<Data> {
    let (n, m) = (sizes[0], sizes[1]);
    let (triangle, mut x) = (args[0], args[1].to_vec());
    for k in 0..n {
        let i = place(k);
        for j in (0..k).map(place) {
            let factor = triangle[i * n + j];
            for c in 0..m {
                x[i * m + c] -= factor * x[j * m + c];
            }
        }
        let pivot = triangle[i * n + i];
        let pivot = if pivot == 0.0 { f64::NAN } else { pivot };
        x[i * m..(i + 1) * m].iter_mut().for_each(|y| *y /= pivot);
    }
    vec![Data::Real(x)]
}

/// LU with partial pivoting. If several entries of a column are largest, the pivot is the one in
/// the first row of the matrix.
fn lu(_: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let n = sizes[0];
    let mut u = args[0].to_vec();
    let mut l = vec![0.0; n * n];
    let mut order: Vec<i64> = (0..n as i64).collect();
    for k in 0..n {
        let size =
            |i: usize| if u[i * n + k].is_nan() { f64::INFINITY } else { u[i * n + k].abs() };
        let better = |best: usize, i: usize| {
            let (x, y) = (size(best), size(i));
            if y > x || y == x && order[i] < order[best] { i } else { best }
        };
        let place = (k + 1..n).fold(k, better);
        order.swap(k, place);
        for j in 0..n {
            u.swap(k * n + j, place * n + j);
            l.swap(k * n + j, place * n + j);
        }
        l[k * n + k] = 1.0;
        let pivot = u[k * n + k];
        for i in k + 1..n {
            let factor = if pivot != 0.0 { u[i * n + k] / pivot } else { 0.0 };
            l[i * n + k] = factor;
            u[i * n + k] = 0.0;
            for j in k + 1..n {
                u[i * n + j] -= factor * u[k * n + j];
            }
        }
    }
    vec![Data::Int(order), Data::Real(l), Data::Real(u)]
}

fn argsort(_: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let xs = args[0];
    let mut order: Vec<i64> = (0..sizes[0] as i64).collect();
    // NaN is equal to NaN and above all else; the sort is stable.
    order.sort_by(|a, b| {
        let (x, y) = (xs[*a as usize], xs[*b as usize]);
        x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
    });
    vec![Data::Int(order)]
}

fn cholesky_tangent(_: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let (n, l, da) = (sizes[0], args[0], args[1]);
    let mut dl = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let mut rest = 0.5 * (da[i * n + j] + da[j * n + i]);
            for k in 0..j {
                rest -= dl[i * n + k] * l[j * n + k] + l[i * n + k] * dl[j * n + k];
            }
            dl[i * n + j] = if j < i {
                (rest - l[i * n + j] * dl[j * n + j]) / l[j * n + j]
            } else {
                0.5 * rest / l[i * n + i]
            };
        }
    }
    vec![Data::Real(dl)]
}

/// Jacobi's method.
fn eigen(precision: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let n = sizes[0];
    let mut a: Vec<f64> =
        (0..n * n).map(|k| 0.5 * args[0][k] + 0.5 * args[0][k % n * n + k / n]).collect();
    let mut vectors = vec![0.0; n * n];
    (0..n).for_each(|i| vectors[i * n + i] = 1.0);
    let rotate = |a: &mut [f64], p: usize, q: usize, c: f64, s: f64| {
        for k in 0..n {
            let (x, y) = (a[p * n + k], a[q * n + k]);
            (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
        }
    };
    // Squares neither overflow nor vanish.
    let is_finite = args[0].iter().all(|x| x.is_finite());
    let largest = a.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    let scale = if largest > 0.0 && is_finite { largest } else { 1.0 };
    a.iter_mut().for_each(|x| *x /= scale);
    let epsilon = if precision == Precision::F64 { 1e-18 } else { 5e-10 };
    let limit = epsilon * a.iter().map(|x| x * x).sum::<f64>().sqrt();
    for _ in 0..40 {
        let mut rotated = false;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let off = a[p * n + q];
            if off.abs() > limit {
                let middle = 0.5 * (a[q * n + q] - a[p * n + p]) / off;
                let t = 1.0 / (middle.abs() + middle.hypot(1.0))
                    * if middle < 0.0 { -1.0 } else { 1.0 };
                let (app, aqq) = (a[p * n + p] - t * off, a[q * n + q] + t * off);
                let c = 1.0 / t.hypot(1.0);
                rotate(&mut a, p, q, c, t * c);
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - t * c * y, t * c * x + c * y);
                }
                (a[p * n + p], a[q * n + q]) = (app, aqq);
                (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
                rotate(&mut vectors, p, q, c, t * c);
                rotated = true;
            }
        }
        if !rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| a[i * n + i].total_cmp(&a[j * n + j]));
    let kept = |x: f64| if is_finite { x } else { f64::NAN };
    let row = |i: &usize| {
        let row = &vectors[i * n..(i + 1) * n];
        let sign = sign(row);
        row.iter().map(|x| kept(sign * x)).collect::<Vec<f64>>()
    };
    let values = order.iter().map(|i| kept(scale * a[i * n + i])).collect();
    let rows = order.iter().flat_map(row).collect();
    vec![Data::Real(values), Data::Real(rows), Data::Real(vec![0.0; n * n])]
}

/// The sign of the first component of the largest size.
fn sign(row: &[f64]) -> f64 {
    let size = row.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    let first = row.iter().find(|x| x.abs() >= 0.9999 * size);
    if first.is_some_and(|x| *x < 0.0) { -1.0 } else { 1.0 }
}

/// Jacobi's rotations of the columns.
fn svd(precision: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let (m, n, a) = (sizes[0], sizes[1], args[0]);
    let zeros = |count| Data::Real(vec![0.0; count]);
    if m < n || !a.iter().all(|x| x.is_finite()) {
        let nan = |count| Data::Real(vec![f64::NAN; count]);
        return vec![nan(n * m), nan(n), nan(n * n), zeros(m * n), zeros(n * n)];
    }
    let (enough, lost) = match precision {
        Precision::F64 => (1e-16, 4e-16),
        Precision::F32 => (1e-10, 5e-7),
    };
    let largest = a.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    // A column of the matrix, then one of the vectors.
    let mut columns: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let column = (0..m).map(|i| a[i * n + j] / scale);
            column.chain((0..n).map(|i| f64::from(i == j))).collect()
        })
        .collect();
    let dot = |x: &[f64], y: &[f64]| x[..m].iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    for _ in 0..40 {
        let mut rotated = false;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let (left, right) = columns.split_at_mut(q);
            let (x, y) = (&mut left[p], &mut right[0]);
            let (pp, qq, pq) = (dot(x, x), dot(y, y), dot(x, y));
            if pq.abs() > enough * (pp * qq).sqrt() && pq.abs() > 1e-300 {
                let middle = 0.5 * (qq - pp) / pq;
                let t = 1.0 / (middle.abs() + middle.hypot(1.0))
                    * if middle < 0.0 { -1.0 } else { 1.0 };
                let c = 1.0 / t.hypot(1.0);
                for (x, y) in x.iter_mut().zip(y) {
                    (*x, *y) = (c * *x - t * c * *y, t * c * *x + c * *y);
                }
                rotated = true;
            }
        }
        if !rotated {
            break;
        }
    }
    let mut parts: Vec<(f64, Vec<f64>)> =
        columns.into_iter().map(|column| (length(&column[..m]), column)).collect();
    parts.sort_by(|x, y| y.0.total_cmp(&x.0));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (size, column) in &parts {
        let sign = sign(&column[m..]);
        right.extend(column[m..].iter().map(|x| sign * x));
        if *size <= lost * m as f64 * parts[0].0 {
            let rest = unspanned(&left, m);
            let size = length(&rest);
            left.extend(rest.iter().map(|x| x / size));
        } else {
            left.extend(column[..m].iter().map(|x| sign * x / size));
        }
    }
    let values = parts.iter().map(|(size, _)| scale * size).collect();
    let [left, values, right] = [left, values, right].map(Data::Real);
    vec![left, values, right, zeros(m * n), zeros(n * n)]
}

/// The transform of the numbers at the places `at`, `at + step`, …, by the smallest factor of their
/// number; `roots` are those of all numbers.
fn transformed(xs: &[[f64; 2]], (at, step): (usize, usize), roots: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = xs.len() / step;
    if n <= 1 {
        return xs[at..].first().map(|x| vec![*x]).unwrap_or_default();
    }
    let p = (2..n).take_while(|p| p * p <= n).find(|p| n.is_multiple_of(*p)).unwrap_or(n);
    let parts: Vec<_> = (0..p).map(|q| transformed(xs, (at + q * step, step * p), roots)).collect();
    let place = |k: usize| {
        let mut sum = [0.0; 2];
        for (q, part) in parts.iter().enumerate() {
            let ([x, y], [c, s]) = (part[k % (n / p)], roots[q * k % n * step]);
            sum = [sum[0] + x * c - y * s, sum[1] + x * s + y * c];
        }
        sum
    };
    (0..n).map(place).collect()
}

fn fft(_: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let xs: Vec<[f64; 2]> = args[0].iter().zip(args[1]).map(|(x, y)| [*x, *y]).collect();
    let root = |k: usize| {
        let (eighth, rest) = (8 * k / sizes[0], 8 * k % sizes[0]);
        let rest = if eighth % 2 == 1 { sizes[0] - rest } else { rest };
        let (s, c) = (rest as f64 / sizes[0] as f64 * std::f64::consts::FRAC_PI_4).sin_cos();
        let (x, y) = if matches!(eighth, 1 | 2 | 5 | 6) { (s, c) } else { (c, s) };
        [if matches!(eighth, 2..6) { -x } else { x }, if eighth < 4 { -y } else { y }]
    };
    let roots: Vec<[f64; 2]> = (0..sizes[0]).map(root).collect();
    let (re, im) = transformed(&xs, (0, 1), &roots).into_iter().map(|[x, y]| (x, y)).unzip();
    vec![Data::Real(re), Data::Real(im)]
}

/// Undoes the factorization by rows, from its last entry.
fn cholesky_pullback(_: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let (n, l, mut ct) = (sizes[0], args[0], args[1].to_vec());
    for i in (0..n).rev() {
        for j in (0..=i).rev() {
            let half = if j < i { 1.0 } else { 0.5 };
            let g = half * ct[i * n + j] / l[j * n + j];
            ct[i * n + j] = g;
            if j < i {
                ct[j * n + j] -= g * l[i * n + j];
            }
            for k in 0..j {
                ct[i * n + k] -= g * l[j * n + k];
                ct[j * n + k] -= g * l[i * n + k];
            }
        }
    }
    for i in 0..n {
        for j in 0..i {
            ct[i * n + j] *= 0.5;
            ct[j * n + i] = ct[i * n + j];
        }
    }
    vec![Data::Real(ct)]
}

/// By Gram and Schmidt's method, twice, as the definition does it.
fn qr(precision: Precision, sizes: &[usize], args: &[&[f64]]) -> Vec<Data> {
    let (m, n, a) = (sizes[0], sizes[1], args[0]);
    let tolerance = match precision {
        Precision::F64 => 1e-15,
        Precision::F32 => 5e-7,
    };
    let (mut rows, mut r) = (vec![0.0; n * m], vec![0.0; n * n]);
    let mut fine = m >= n;
    for j in 0..n {
        let mut rest: Vec<f64> = (0..m).map(|i| a[i * n + j]).collect();
        let whole = precision.round(length(&rest));
        let mut parts = vec![0.0; j];
        orthogonalize(&rows[..j * m], &mut parts, &mut rest);
        orthogonalize(&rows[..j * m], &mut parts, &mut rest);
        let mut size = length(&rest);
        fine = fine && whole < f64::INFINITY && precision.round(size) < f64::INFINITY;
        if !fine {
            rows[j * m..(j + 1) * m].fill(f64::NAN);
            (0..=j).for_each(|l| r[l * n + j] = f64::NAN);
            continue;
        }
        parts.iter().enumerate().for_each(|(l, part)| r[l * n + j] = *part);
        if size <= tolerance * m as f64 * whole {
            rest = unspanned(&rows[..j * m], m);
            size = length(&rest);
        } else {
            r[j * n + j] = size;
        }
        rows[j * m..(j + 1) * m].iter_mut().zip(rest).for_each(|(to, x)| *to = x / size);
    }
    let q = (0..m * n).map(|k| rows[k % n * m + k / n]).collect();
    vec![Data::Real(q), Data::Real(r)]
}

/// Takes from `x` its parts along orthonormal rows, which it adds to `parts`.
fn orthogonalize(rows: &[f64], parts: &mut [f64], x: &mut [f64]) {
    let along = |row: &[f64]| row.iter().zip(&*x).map(|(q, x)| q * x).sum();
    let found: Vec<f64> = rows.chunks(x.len().max(1)).map(along).collect();
    for ((row, part), sum) in rows.chunks(x.len().max(1)).zip(&found).zip(parts) {
        x.iter_mut().zip(row).for_each(|(x, q)| *x -= part * q);
        *sum += part;
    }
}

/// The part, orthogonal to orthonormal rows of `m` elements, of the first unit vector that is not
/// nearly in their span.
fn unspanned(rows: &[f64], m: usize) -> Vec<f64> {
    let missed = |i: usize| 1.0 - rows.chunks(m).map(|row| row[i] * row[i]).sum::<f64>();
    let place = (0..m - 1).find(|i| missed(*i) * m as f64 > 0.37).unwrap_or(m - 1);
    let mut rest: Vec<f64> = (0..m).map(|i| f64::from(i == place)).collect();
    let mut parts = vec![0.0; rows.len() / m];
    orthogonalize(rows, &mut parts, &mut rest);
    orthogonalize(rows, &mut parts, &mut rest);
    rest
}

/// The Euclidean length, without squares that overflow or vanish.
fn length(xs: &[f64]) -> f64 {
    let size = xs.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    match size {
        0.0 => xs.iter().sum(),
        size => size * xs.iter().map(|x| (x / size).powi(2)).sum::<f64>().sqrt(),
    }
}

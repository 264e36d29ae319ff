//! The rows.

use super::Transpose::{Apply, Arg, Cotangent, Flipped, Outer};
use super::{ArrayKernel, ArrayPrim, ArrayRow, Derivative, Spelling, Version};

const BLOCK: &str = include_str!("block.c");

/// Axes of a triangular matrix and of right-hand sides, which may be a vector.
const SOLVES: &[Version] = &[
    Version { args: &["nn", "nm"], result: "nm", transposes: &[] },
    Version { args: &["nn", "n"], result: "n", transposes: &[] },
];

pub(super) const ROWS: &[ArrayRow] = &[
    ArrayRow {
        prim: ArrayPrim::MatMul,
        name: "matmul",
        spelling: Spelling::Infix("@"),
        axes: "nkm",
        versions: &[
            Version {
                args: &["nk", "k"],
                result: "n",
                transposes: &[
                    Outer(&[Cotangent, Arg(1)]),
                    Apply(ArrayPrim::MatMul, &[Cotangent, Arg(0)]),
                ],
            },
            Version {
                args: &["nk", "km"],
                result: "nm",
                transposes: &[
                    Apply(ArrayPrim::MatMul, &[Cotangent, Flipped(&Arg(1))]),
                    Apply(ArrayPrim::MatMul, &[Flipped(&Arg(0)), Cotangent]),
                ],
            },
            Version {
                args: &["k", "km"],
                result: "m",
                transposes: &[
                    Apply(ArrayPrim::MatMul, &[Arg(1), Cotangent]),
                    Outer(&[Arg(0), Cotangent]),
                ],
            },
        ],
        derivative: Derivative::Contraction,
        eval: matmul,
        work: |sizes| 2 * sizes[0] * sizes[1] * sizes[2],
        kernel: ArrayKernel { name: "lam_matmul", texts: &[BLOCK, include_str!("matmul.c")] },
        doc: "The product of two matrices, or of a matrix and a vector.",
        example: (&[(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), (&[2], &[1.0, 10.0])], &[21.0, 43.0]),
        domain: "all",
    },
    ArrayRow {
        prim: ArrayPrim::Cholesky,
        name: "cholesky",
        spelling: Spelling::Definition("cholesky"),
        axes: "n",
        versions: &[Version { args: &["nn"], result: "nn", transposes: &[] }],
        derivative: Derivative::Rules,
        eval: cholesky,
        work: |sizes| sizes[0] * sizes[0] * (sizes[0] + 6) / 3,
        kernel: ArrayKernel { name: "lam_cholesky", texts: &[BLOCK, include_str!("cholesky.c")] },
        doc: "The lower triangle whose product with its transpose is the symmetric part of a matrix.",
        example: (&[(&[2, 2], &[4.0, 2.0, 2.0, 10.0])], &[2.0, 0.0, 1.0, 3.0]),
        domain: "positive definite matrices",
    },
    ArrayRow {
        prim: ArrayPrim::TriangularSolve,
        name: "triangular_solve",
        spelling: Spelling::Definition("triangular_solve"),
        axes: "nm",
        versions: SOLVES,
        derivative: Derivative::Rules,
        eval: |sizes, args| triangular(sizes, args, &|k| k),
        work: |sizes| sizes[0] * sizes[0] * sizes[1],
        kernel: ArrayKernel {
            name: "lam_triangular_solve",
            texts: &[BLOCK, include_str!("triangular_solve.c")],
        },
        doc: "The solution of a system with a lower triangle.",
        example: (&[(&[2, 2], &[2.0, 0.0, 1.0, 4.0]), (&[2], &[2.0, 9.0])], &[1.0, 2.0]),
        domain: "triangles without a zero on the diagonal",
    },
    ArrayRow {
        prim: ArrayPrim::TriangularSolveUpper,
        name: "triangular_solve_upper",
        spelling: Spelling::Definition("triangular_solve_upper"),
        axes: "nm",
        versions: SOLVES,
        derivative: Derivative::Rules,
        eval: |sizes, args| triangular(sizes, args, &|k| sizes[0] - 1 - k),
        work: |sizes| sizes[0] * sizes[0] * sizes[1],
        kernel: ArrayKernel {
            name: "lam_triangular_solve_upper",
            texts: &[BLOCK, include_str!("triangular_solve_upper.c")],
        },
        doc: "The solution of a system with an upper triangle.",
        example: (&[(&[2, 2], &[2.0, 1.0, 0.0, 4.0]), (&[2], &[4.0, 8.0])], &[1.0, 2.0]),
        domain: "triangles without a zero on the diagonal",
    },
];

fn matmul(sizes: &[usize], args: &[&[f64]]) -> Vec<f64> {
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
    product
}

fn cholesky(sizes: &[usize], args: &[&[f64]]) -> Vec<f64> {
    let (n, a) = (sizes[0], args[0]);
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let products = (0..j).map(|k| l[i * n + k] * l[j * n + k]);
            let rest = 0.5 * (a[i * n + j] + a[j * n + i]) - products.sum::<f64>();
            l[i * n + j] = if j < i { rest / l[j * n + j] } else { rest.sqrt() };
        }
    }
    match l.last() {
        Some(last) if !(*last > 0.0 && *last < f64::INFINITY) => vec![f64::NAN; n * n],
        Some(_) | None => l,
    }
}

/// A triangular system whose k-th equation, in the order in which they are solved, is in row `place(k)`.
fn triangular(sizes: &[usize], args: &[&[f64]], place: &dyn Fn(usize) -> usize) -> Vec<f64> {
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
    x
}

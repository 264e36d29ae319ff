//! Sizes that branches, iterations, arithmetic and checks decide.

use super::*;

/// Branches that give arrays of different sizes.
#[test]
fn branches_of_different_sizes() {
    for constant in [0, 5] {
        check_with(&[4], vec![Tensor::scalar(Scalar::Int(constant))], |w| {
            let n = w.size("n");
            let k = w.constant("k", Ty::int());
            let (xs, t) = (w.param("xs", &[n]), w.param("t", &[]));
            let c = w.b.op(LtInt, &[k, int(3)]);
            let then = w.b.block(|b| {
                let len = b.op(AddInt, &[n, int(2)]);
                let ys = b.map(len, &[], |b, i| {
                    let j = b.op(RemInt, &[i, n]);
                    let x = b.at(xs, &[j]);
                    let x = b.op(Mul, &[x, t]);
                    b.op(Sin, &[x])
                });
                // A size that is computed from one that the branch gives.
                let more = b.op(AddInt, &[len, int(1)]);
                let es = b.map(more, &[], |b, i| {
                    let j = b.op(RemInt, &[i, n]);
                    let x = b.at(xs, &[j]);
                    b.op(ExpP, &[x])
                });
                let s = b.sum(more, |b, i| {
                    let e = b.at(es, &[i]);
                    b.op(Mul, &[e, e])
                });
                let ys = b.with(ys, &reals(&[len]), &[int(0)], s);
                vec![len, ys]
            });
            let otherwise = w.b.block(|b| {
                let ys = b.map(int(3), &[], |b, i| {
                    let x = b.at(xs, &[i]);
                    b.op(Mul, &[x, x])
                });
                vec![int(3), ys]
            });
            let size = w.b.names.fresh("len");
            let ys = w.b.names.fresh("ys");
            let binds = vec![
                Param { var: size, ty: Ty::int() },
                Param { var: ys, ty: reals(&[size.into()]) },
            ];
            w.b.stms.push(Stm::new(binds, Nest::If { cond: c, then, otherwise }));
            let s = w.b.sum(size.into(), |b, i| {
                let y = b.at(ys.into(), &[i]);
                b.op(Mul, &[y, y])
            });
            vec![(s, Ty::real())]
        });
    }
}

/// Inner sizes that depend on the iteration.
#[test]
fn triangles() {
    check(&[4], |w| {
        let n = w.size("n");
        let (a, t) = (w.param("a", &[n, n]), w.param("t", &[]));
        let ys = w.b.map(n, &[], |b, i| {
            let es = b.map(i, &[], |b, j| {
                let e = b.at(a, &[i, j]);
                b.op(ExpP, &[e])
            });
            let s = b.sum(i, |b, j| {
                let e = b.at(es, &[j]);
                let inner = b.sum(j, |b, k| {
                    let d = b.at(es, &[k]);
                    let d = b.op(Mul, &[d, t]);
                    b.op(Tanh, &[d])
                });
                b.op(Mul, &[e, inner])
            });
            b.op(Sin, &[s])
        });
        vec![(ys, reals(&[n]))]
    });
}

/// A matrix of results, with sizes that are arithmetic of outer sizes, in a body.
#[test]
fn sizes_from_arithmetic() {
    check(&[3], |w| {
        let n = w.size("n");
        let (xs, t) = (w.param("xs", &[n]), w.param("t", &[]));
        let s = w.b.sum(n, |b, i| {
            let m = b.op(AddInt, &[n, int(1)]);
            let es = b.map(m, &[], |b, j| {
                let j = b.op(RemInt, &[j, n]);
                let e = b.at(xs, &[j]);
                let f = b.at(xs, &[i]);
                let e = b.op(Mul, &[e, f]);
                b.op(ExpP, &[e])
            });
            let p = b.reduce(ReduceOp::Max, m, |b, j| b.at(es, &[j]));
            b.sum(m, |b, j| {
                let e = b.at(es, &[j]);
                let e = b.op(Sub, &[e, p]);
                b.op(Mul, &[e, t])
            })
        });
        vec![(s, Ty::real())]
    });
}

/// Sizes that a check makes equal.
#[test]
fn sizes_that_checks_equate() {
    check(&[3, 3], |w| {
        let (n, m) = (w.size("n"), w.size("m"));
        let (a, xs, ys) = (w.param("a", &[int(2), n]), w.param("xs", &[n]), w.param("ys", &[m]));
        let z =
            w.b.for_(int(2), &[(Out::Collect, reals(&[int(2), n])), (SUM, Ty::real())], |b, i| {
                let same = b.op(Prim::EqInt, &[n, m]);
                let site = lambada_source::Site::new(
                    lambada_source::Span::default(),
                    "sizes differ: {0} and {1}",
                );
                b.effect(Op::Check { cond: same, site, values: vec![n, m] });
                let p = b.bind(
                    "p",
                    reals(&[int(2)]),
                    Op::ArrayPrim(ArrayPrim::MatMul, vec![var(a), var(ys)]),
                );
                let q = b.map(m, &[], |b, j| {
                    let (x, y) = (b.at(xs, &[j]), b.at(ys, &[j]));
                    b.op(Mul, &[x, y])
                });
                let e = b.at(p, &[i]);
                let s = b.sum(n, |b, j| {
                    let f = b.at(q, &[j]);
                    let f = b.op(Mul, &[f, e]);
                    b.op(Sin, &[f])
                });
                vec![q, s]
            });
        vec![(z[0], reals(&[int(2), n])), (z[1], Ty::real())]
    });
}

//! Loops, and what is read and written in their states.

use super::*;

#[test]
fn loops() {
    check(&[5], |w| {
        let n = w.size("n");
        let (x0, h, xs) = (w.param("x0", &[]), w.param("h", &[]), w.param("xs", &[n]));
        let z =
            w.b.loop_(n, &[(x0, Ty::real()), (h, Ty::real()), (int(0), Ty::int())], |b, k, s| {
                let e = b.at(xs, &[k]);
                let d = b.op(Sin, &[s[0]]);
                let d = b.op(Mul, &[d, h]);
                let d = b.op(Mul, &[d, e]);
                let x = b.op(Add, &[s[1], d]);
                let y = b.op(Mul, &[s[0], s[1]]);
                let y = b.op(Tanh, &[y]);
                let c = b.op(AddInt, &[s[2], int(1)]);
                // The state is exchanged.
                vec![y, x, c]
            });
        vec![(z[0], Ty::real()), (z[1], Ty::real())]
    });
}

#[test]
fn loops_that_do_not_run() {
    check(&[0], |w| {
        let n = w.size("n");
        let (x, ys) = (w.param("x", &[]), w.param("ys", &[n]));
        let z = w.b.loop_(n, &[(x, Ty::real())], |b, _, s| vec![b.op(Mul, &[s[0], x])]);
        let m = w.b.op(SubInt, &[n, int(3)]);
        let z2 = w.b.loop_(m, &[(x, Ty::real())], |b, _, s| vec![b.op(Mul, &[s[0], x])]);
        let s = w.b.sum(m, |b, _| b.op(Mul, &[x, x]));
        vec![(z[0], Ty::real()), (z2[0], Ty::real()), (s, Ty::real()), (ys, reals(&[n]))]
    });
}

/// `ys = scan`: every element is written once and read once.
#[test]
fn scans() {
    check(&[5], |w| {
        let n = w.size("n");
        let (xs, t) = (w.param("xs", &[n]), w.param("t", &[]));
        let ty = reals(&[n]);
        let zeros = w.b.zero(&ty);
        let z = w.b.loop_(n, &[(t, Ty::real()), (zeros, ty.clone())], |b, k, s| {
            let e = b.at(xs, &[k]);
            let p = b.op(Mul, &[s[0], e]);
            let p = b.op(Sin, &[p]);
            let out = b.with(s[1], &ty, &[k], p);
            vec![p, out]
        });
        vec![(z[1], ty), (z[0], Ty::real())]
    });
}

/// State that is read and written at places that the data decide.
#[test]
fn state_in_place() {
    check(&[4], |w| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let ty = reals(&[n]);
        let z = w.b.loop_(int(7), &[(xs, ty.clone())], |b, k, s| {
            let i = b.op(RemInt, &[k, n]);
            let j = b.op(Prim::MulInt, &[k, k]);
            let j = b.op(RemInt, &[j, n]);
            let (p, q) = (b.at(s[0], &[i]), b.at(s[0], &[j]));
            let v = b.op(Mul, &[p, q]);
            let v = b.op(Sin, &[v]);
            let u = b.with(s[0], &ty, &[j], v);
            let even = b.op(RemInt, &[k, int(2)]);
            let c = b.op(LtInt, &[even, int(1)]);
            b.if_(
                c,
                std::slice::from_ref(&ty),
                |b| {
                    let r = b.at(u, &[i]);
                    let r = b.op(Mul, &[r, v]);
                    vec![b.with(u, &ty, &[i], r)]
                },
                |_| vec![u],
            )
        });
        vec![(z[0], ty)]
    });
}

#[test]
fn while_loops() {
    check(&[3], |w| {
        let n = w.size("n");
        let (x, xs) = (w.param("x", &[]), w.param("xs", &[n]));
        let ys = w.b.map(n, &[], |b, i| {
            let z = b.while_(
                &[(x, Ty::real()), (int(0), Ty::int())],
                |b, s| {
                    let few = b.op(LtInt, &[s[1], int(20)]);
                    let small = b.op(Lt, &[s[0], real(9.3)]);
                    b.op(And, &[few, small])
                },
                |b, s| {
                    let e = b.at(xs, &[i]);
                    let q = b.op(Mul, &[s[0], e]);
                    let q = b.op(Mul, &[q, s[0]]);
                    let q = b.op(Add, &[q, s[0]]);
                    vec![b.op(Add, &[q, real(0.7)]), b.op(AddInt, &[s[1], int(1)])]
                },
            );
            b.op(Log, &[z[0]])
        });
        vec![(ys, reals(&[n]))]
    });
}

/// An array in the state whose size is state itself, and shrinks; it is needed in reverse, by the
/// loop and by one inside of it. The language has no such programs, since there a state keeps its
/// sizes, but array code has.
#[test]
fn states_that_change_size() {
    check(&[5], |w| {
        let n = w.size("n");
        let (x, c) = (w.param("x", &[n]), w.param("c", &[]));
        let x = w.b.map(n, &[], |b, i| {
            let e = b.at(x, &[i]);
            b.op(Mul, &[e, c])
        });
        let [size, state, z_size, z, k] =
            ["size", "state", "size", "z", "k"].map(|hint| w.b.names.fresh(hint));
        let body = w.b.block(|b| {
            let next = b.op(SubInt, &[size.into(), int(1)]);
            let grown = b.loop_(int(2), &[(state.into(), reals(&[size.into()]))], |b, _, s| {
                vec![b.map(size.into(), &[], |b, i| {
                    let e = b.at(s[0], &[i]);
                    b.op(Sin, &[e])
                })]
            });
            let shorter = b.map(next, &[], |b, i| {
                let after = b.op(AddInt, &[i, int(1)]);
                let (u, v) = (b.at(state.into(), &[i]), b.at(grown[0], &[after]));
                let uv = b.op(Mul, &[u, v]);
                b.op(Mul, &[uv, c])
            });
            vec![next, shorter]
        });
        let param = |var, size: Option<lambada_anf::Var>| Param {
            var,
            ty: size.map_or(Ty::int(), |n| reals(&[n.into()])),
        };
        let kind = LoopKind::counted(k, int(3));
        let exp = Nest::Loop {
            params: vec![param(size, None), param(state, Some(size))],
            inits: vec![n, x],
            kind,
            body,
        };
        w.b.stms.push(Stm::new(vec![param(z_size, None), param(z, Some(z_size))], exp));
        let sum = w.b.sum(z_size.into(), |b, i| b.at(z.into(), &[i]));
        vec![(sum, Ty::real())]
    });
}

/// A branch in a loop that has a loop in it writes on the tape of the outer loop, each element
/// once; the branch that has nothing to keep hands the tape on.
#[test]
fn tapes_of_loops_in_branches() {
    let build = |w: &mut Writer| {
        let n = w.size("n");
        let (x, xs) = (w.param("x", &[]), w.param("xs", &[n]));
        let z = w.b.loop_(int(6), &[(x, Ty::real())], |b, k, s| {
            let c = b.op(LtInt, &[k, int(3)]);
            let long = |b: &mut lambada_anf::Builder| {
                b.loop_(n, &[(s[0], Ty::real())], |b, r, s| {
                    let e = b.at(xs, &[r]);
                    let p = b.op(Mul, &[s[0], e]);
                    vec![b.op(Sin, &[p])]
                })
            };
            b.if_(c, &[Ty::real()], long, |b| vec![b.op(Mul, &[s[0], real(0.5)])])
        });
        vec![(z[0], Ty::real())]
    };
    check(&[4], build);
    let derivative = Program::new(build).reverse().show();
    let whole =
        |line: &&str| line.contains("_tape") && line.contains(" with [") && !line.contains(", ");
    assert_eq!(derivative.lines().find(whole), None, "{derivative}");
    assert!(derivative.lines().any(|line| line.contains(" with [k, ")), "{derivative}");
}

/// The Cholesky decomposition, in place.
#[test]
fn cholesky() {
    check(&[4], |w| {
        let n = w.size("n");
        let ty = reals(&[n, n]);
        let a = w.param("a", &[n, n]);
        // a + 10 I, so that it is positive definite.
        let a = w.b.loop_(n, &[(a, ty.clone())], |b, i, s| {
            let d = b.at(s[0], &[i, i]);
            let d = b.op(Add, &[d, real(10.0)]);
            vec![b.with(s[0], &ty, &[i, i], d)]
        })[0];
        let l = cholesky_of(&mut w.b, a, n);
        vec![(l, ty)]
    });
}

pub fn cholesky_of(b: &mut lambada_anf::Builder, a: Atom, n: Atom) -> Atom {
    let ty = reals(&[n, n]);
    let zeros = b.zero(&ty);
    b.loop_(n, &[(zeros, ty.clone())], |b, i, s| {
        let rows = b.op(AddInt, &[i, int(1)]);
        b.loop_(rows, &[(s[0], ty.clone())], |b, j, s| {
            let dot = b.sum(j, |b, k| {
                let (p, q) = (b.at(s[0], &[i, k]), b.at(s[0], &[j, k]));
                b.op(Mul, &[p, q])
            });
            let e = b.at(a, &[i, j]);
            let rest = b.op(Sub, &[e, dot]);
            let diagonal = b.op(Prim::EqInt, &[i, j]);
            let v = b.if_(
                diagonal,
                &[Ty::real()],
                |b| vec![b.op(Sqrt, &[rest])],
                |b| {
                    let d = b.at(s[0], &[j, j]);
                    vec![b.op(Div, &[rest, d])]
                },
            );
            vec![b.with(s[0], &ty, &[i, j], v[0])]
        })
    })[0]
}

/// Reads of state at all distances from the place that is written: before, behind, the same; in one
/// loop, and in two with the axes in both orders.
#[test]
fn reads_near_writes() {
    for (read, skew, flip) in [-1, 0, 1]
        .into_iter()
        .flat_map(|r| [-1, 0, 1].map(|s| (r, s)))
        .flat_map(|(r, s)| [(r, s, false), (r, s, true)])
    {
        let program = Program::new(|w| {
            let (n, ty) = (int(5), reals(&[int(5), int(5)]));
            let (a, t) = (w.param("a", &[n, n]), w.param("t", &[]));
            let near =
                |b: &mut lambada_anf::Builder, i: Atom, by: i64| b.op(AddInt, &[i, int(1 + by)]);
            let at = |i: Atom, j: Atom| if flip { [j, i] } else { [i, j] };
            let z = w.b.loop_(int(3), &[(a, ty.clone())], |b, i, s| {
                b.loop_(int(3), &[(s[0], ty.clone())], |b, j, s| {
                    let (i1, j1) = (near(b, i, 0), near(b, j, 0));
                    let (i2, j2) = (near(b, i, read), near(b, j, skew));
                    let e = b.at(s[0], &at(i2, j2));
                    let c = b.op(LtInt, &[j, i]);
                    let v = b.if_(
                        c,
                        &[Ty::real()],
                        |b| {
                            let d = b.at(s[0], &at(j1, i1));
                            let d = b.op(Mul, &[d, e]);
                            vec![b.op(Sin, &[d])]
                        },
                        |b| vec![b.op(Mul, &[e, e])],
                    );
                    let v = b.op(Mul, &[v[0], t]);
                    let x = b.with(s[0], &ty, &at(i1, j1), v);
                    let again = b.at(x, &at(i1, j1));
                    let other = b.op(Mul, &[again, again]);
                    vec![b.with(x, &ty, &at(int(0), int(0)), other)]
                })
            });
            vec![(z[0], ty)]
        });
        let mut random = Random(3);
        let point = Point { constants: vec![], params: positive(&program, &[], &mut random) };
        laws(&program, &point, &mut random, CLOSELY).unwrap_or_else(|e| panic!("{e}"));
    }
}

//! The cheap gradient, counted: the derivatives do at most a constant times the work of the
//! program, at every size and depth of nesting.

use lambada_anf::{Atom, Ty};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy, Tensor};

use crate::dsl::{Dsl, int, real};
use crate::program::{Point, Program, Writer, elements, reals};
use crate::programs::state::cholesky_of;

use Prim::{Add, AddInt, Exp, Lt, LtInt, Mul, RemInt, Sin, Sub, SubInt, Tanh};

struct Ratio {
    reals: f64,
    memory: f64,
    /// Bytes at one time, of the value with what it writes.
    peak: f64,
}

/// How much more the reverse derivative does than the program, at a point of the given sizes.
fn ratio(build: &dyn Fn(&mut Writer) -> Vec<(Atom, Ty)>, sizes: &[usize]) -> Ratio {
    let program = Program::new(build);
    let fill = |dims: &[Atom]| {
        let size = |d: &Atom| match d {
            Atom::Lit(k) => k.int() as usize,
            Atom::Var(v) => program.sizes.iter().position(|s| s == v).map_or(0, |k| sizes[k]),
        };
        let dims: Vec<usize> = dims.iter().map(size).collect();
        let len: usize = dims.iter().product();
        Tensor::reals(dims, (0..len).map(|k| 0.3 + 0.1 * (k % 7) as f64).collect())
    };
    let params: Vec<Tensor> = program.f.params.iter().map(|p| fill(&p.ty.dims)).collect();
    let point = Point { constants: vec![], params };
    let (results, primal) = program.run(&point).expect("the program runs");
    let ones = results
        .iter()
        .filter(|t| t.elem() == ScalarTy::Real)
        .map(|t| Tensor::reals(t.dims.clone(), vec![1.0; elements(t).len()]));
    let seeded = Point { params: point.params.iter().cloned().chain(ones).collect(), ..point };
    let (_, reverse) = program.reverse().run(&seeded).expect("the derivative runs");
    // A program may do without memory; what it computes may have to be remembered.
    let all = (primal.reals + primal.loads + primal.stores) as f64;
    Ratio {
        reals: reverse.reals as f64 / primal.reals as f64,
        memory: (reverse.loads + reverse.stores) as f64 / all,
        peak: reverse.peak as f64 / (primal.peak + primal.written) as f64,
    }
}

/// As `cheap`, and the reverse derivative takes at most three times the memory of the value and
/// what the program overwrites.
fn small(
    name: &str,
    sizes: &[&[usize]],
    reals: f64,
    memory: f64,
    build: impl Fn(&mut Writer) -> Vec<(Atom, Ty)>,
) {
    at_most(3.0, name, sizes, &build);
    cheap(name, sizes, reals, memory, build);
}

/// The reverse derivative takes at most so many times the memory of the value and what the program
/// overwrites.
fn at_most(
    peak: f64,
    name: &str,
    sizes: &[&[usize]],
    build: &dyn Fn(&mut Writer) -> Vec<(Atom, Ty)>,
) {
    let peaks: Vec<f64> = sizes.iter().map(|sizes| ratio(build, sizes).peak).collect();
    eprintln!("{name}: peak {peaks:.2?}");
    assert!(peaks.iter().all(|found| *found <= peak), "{name}: {peaks:.2?}");
}

/// The ratio stays below the bounds at all sizes, and does not grow.
fn cheap(
    name: &str,
    sizes: &[&[usize]],
    reals: f64,
    memory: f64,
    build: impl Fn(&mut Writer) -> Vec<(Atom, Ty)>,
) {
    let ratios: Vec<Ratio> = sizes.iter().map(|sizes| ratio(&build, sizes)).collect();
    let text: Vec<String> =
        ratios.iter().map(|r| format!("{:.2}/{:.2}", r.reals, r.memory)).collect();
    eprintln!("{name}: {}", text.join(" "));
    for r in &ratios {
        assert!(r.reals <= reals && r.memory <= memory, "{name}: reals/memory {}", text.join(" "));
    }
    let (first, last) = (&ratios[0], &ratios[ratios.len() - 1]);
    assert!(
        last.reals <= 1.2 * first.reals && last.memory <= 1.2 * first.memory,
        "{name} grows: {}",
        text.join(" ")
    );
}

const SMALL_TO_LARGE: &[&[usize]] = &[&[8], &[16], &[64]];

#[test]
fn triple_nest() {
    cheap("triple nest", &[&[4], &[8], &[16]], 6.0, 10.0, |w| {
        let n = w.size("n");
        let (a, t) = (w.param("a", &[n, n]), w.param("t", &[]));
        let s = w.b.sum(n, |b, i| {
            let u = b.at(a, &[i, i]);
            let v = b.op(Exp, &[u]);
            b.sum(n, |b, j| {
                let e = b.at(a, &[i, j]);
                let e = b.op(Mul, &[e, v]);
                let e = b.op(Tanh, &[e]);
                b.sum(n, |b, k| {
                    let f = b.at(a, &[j, k]);
                    let p = b.op(Mul, &[e, f]);
                    let p = b.op(Sin, &[p]);
                    b.op(Mul, &[p, t])
                })
            })
        });
        vec![(s, Ty::real())]
    });
}

/// The ratio of a nest of maps of depth d, each level with something costly before the inner nest.
#[test]
fn depth_of_nesting_does_not_matter() {
    fn nest(b: &mut lambada_anf::Builder, depth: usize, x: Atom, n: Atom) -> Atom {
        if depth == 0 {
            return b.op(Sin, &[x]);
        }
        let inner = b.sum(n, |b, i| {
            let i = b.op(Prim::ToReal, &[i]);
            let y = b.op(Add, &[x, i]);
            let y = b.op(Exp, &[y]);
            let y = b.op(Tanh, &[y]);
            nest(b, depth - 1, y, n)
        });
        b.op(Mul, &[inner, x])
    }
    let ratios: Vec<Ratio> = (1..=6)
        .map(|depth| {
            ratio(
                &|w| {
                    let x = w.param("x", &[]);
                    let y = nest(&mut w.b, depth, x, int(3));
                    vec![(y, Ty::real())]
                },
                &[],
            )
        })
        .collect();
    let reals: Vec<f64> = ratios.iter().map(|r| r.reals).collect();
    assert!(reals.iter().all(|r| *r < 5.0), "{reals:?}");
    assert!(reals[5] < 1.1 * reals[1], "{reals:?}");
}

#[test]
fn scan_by_updates() {
    cheap("scan", SMALL_TO_LARGE, 6.0, 12.0, |w| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let ty = reals(&[n]);
        let zeros = w.b.zero(&ty);
        let z = w.b.loop_(n, &[(real(0.0), Ty::real()), (zeros, ty.clone())], |b, k, s| {
            let e = b.at(xs, &[k]);
            let p = b.op(Add, &[s[0], e]);
            let p = b.op(Sin, &[p]);
            let out = b.with(s[1], &ty, &[k], p);
            vec![p, out]
        });
        vec![(z[1], ty)]
    });
}

#[test]
fn loop_in_for_and_for_in_loop() {
    cheap("loop in for", SMALL_TO_LARGE, 6.0, 10.0, |w| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let ys = w.b.map(n, &[], |b, i| {
            let x = b.at(xs, &[i]);
            b.loop_(n, &[(x, Ty::real())], |b, k, s| {
                let e = b.at(xs, &[k]);
                let p = b.op(Mul, &[s[0], e]);
                vec![b.op(Sin, &[p])]
            })[0]
        });
        vec![(ys, reals(&[n]))]
    });
    cheap("for in loop", SMALL_TO_LARGE, 6.0, 12.0, |w| {
        let n = w.size("n");
        let (x, a) = (w.param("x", &[n]), w.param("a", &[n, n]));
        let z = w.b.loop_(n, &[(x, reals(&[n]))], |b, _, s| {
            vec![b.map(n, &[], |b, i| {
                let t = b.sum(n, |b, j| {
                    let (p, q) = (b.at(a, &[i, j]), b.at(s[0], &[j]));
                    b.op(Mul, &[p, q])
                });
                b.op(Tanh, &[t])
            })]
        });
        vec![(z[0], reals(&[n]))]
    });
}

/// Reading one element of a big array costs one addition, whatever the size of the array: here it
/// grows while the loop does not.
#[test]
fn arrays_that_are_read_cost_nothing() {
    let build = |w: &mut Writer| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let z = w.b.loop_(int(50), &[(real(1.0), Ty::real())], |b, k, s| {
            let e = b.at(xs, &[k]);
            let p = b.op(Mul, &[s[0], e]);
            let inner = b.sum(int(4), |b, j| {
                let f = b.at(xs, &[j]);
                b.op(Mul, &[f, p])
            });
            let c = b.op(Lt, &[p, real(0.5)]);
            b.if_(c, &[Ty::real()], |b| vec![b.at(xs, &[int(7)])], |_| vec![inner])
        });
        vec![(z[0], Ty::real())]
    };
    let [small, large] = [100, 10_000].map(|n| {
        let program = Program::new(build).reverse();
        let params = vec![Tensor::reals(vec![n], vec![0.9; n]), Tensor::scalar(Scalar::Real(1.0))];
        program.run(&Point { constants: vec![], params }).expect("runs").1
    });
    assert_eq!(small.reals, large.reals);
    // One array of zeros is made, once.
    assert_eq!(large.stores - small.stores, 9_900);
    assert_eq!(small.loads, large.loads);
}

/// State of size n that is read and written in place: n iterations cost n, not n².
#[test]
fn state_in_place() {
    cheap("state in place", &[&[50], &[100], &[800]], 7.0, 14.0, |w| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let ty = reals(&[n]);
        let z = w.b.loop_(n, &[(xs, ty.clone())], |b, k, s| {
            let j = b.op(Prim::MulInt, &[k, k]);
            let j = b.op(RemInt, &[j, n]);
            let (p, q) = (b.at(s[0], &[k]), b.at(s[0], &[j]));
            let v = b.op(Mul, &[p, q]);
            let v = b.op(Sin, &[v]);
            let odd = b.op(RemInt, &[k, int(2)]);
            let c = b.op(LtInt, &[odd, int(1)]);
            b.if_(
                c,
                std::slice::from_ref(&ty),
                |b| {
                    let inner = b.sum(int(2), |b, i| {
                        let e = b.at(s[0], &[i]);
                        b.op(Mul, &[e, v])
                    });
                    vec![b.with(s[0], &ty, &[j], inner)]
                },
                |b| vec![b.with(s[0], &ty, &[j], v)],
            )
        });
        vec![(z[0], ty)]
    });
}

#[test]
fn triangles() {
    cheap("triangle", &[&[8], &[16], &[32]], 7.0, 14.0, |w| {
        let n = w.size("n");
        let (a, x) = (w.param("a", &[n, n]), w.param("x", &[n]));
        let ys = w.b.map(n, &[], |b, i| {
            let s = b.sum(i, |b, j| {
                let (p, q) = (b.at(a, &[i, j]), b.at(x, &[j]));
                let p = b.op(Mul, &[p, q]);
                b.op(Exp, &[p])
            });
            b.op(Sin, &[s])
        });
        vec![(ys, reals(&[n]))]
    });
}

#[test]
fn extrema_do_not_multiply() {
    cheap("max of max", &[&[4], &[8], &[16]], 6.0, 12.0, |w| {
        let n = w.size("n");
        let a = w.param("a", &[n, n]);
        let m = w.b.reduce(ReduceOp::Max, n, |b, i| {
            b.reduce(ReduceOp::Max, n, |b, j| {
                b.reduce(ReduceOp::Min, n, |b, k| {
                    let (p, q) = (b.at(a, &[i, k]), b.at(a, &[k, j]));
                    let p = b.op(Mul, &[p, q]);
                    b.op(Exp, &[p])
                })
            })
        });
        vec![(m, Ty::real())]
    });
}

#[test]
fn while_in_for() {
    cheap("while", SMALL_TO_LARGE, 7.0, 14.0, |w| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let ys = w.b.map(n, &[], |b, i| {
            let x = b.at(xs, &[i]);
            b.while_(
                &[(x, Ty::real()), (int(0), Ty::int())],
                |b, s| b.op(LtInt, &[s[1], n]),
                |b, s| vec![b.op(Sin, &[s[0]]), b.op(AddInt, &[s[1], int(1)])],
            )[0]
        });
        vec![(ys, reals(&[n]))]
    });
}

/// A `while` that changes one element in each iteration keeps that element with its indices, and
/// the gradient costs a constant per iteration.
#[test]
fn while_in_place() {
    let build = |w: &mut Writer| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let ty = reals(&[n]);
        let many = w.b.op(Prim::MulInt, &[n, int(4)]);
        let z = w.b.while_(
            &[(xs, ty.clone()), (int(0), Ty::int())],
            |b, s| b.op(LtInt, &[s[1], many]),
            |b, s| {
                let (i, next) = (b.op(RemInt, &[s[1], n]), b.op(AddInt, &[s[1], int(1)]));
                let j = b.op(RemInt, &[next, n]);
                let (p, q) = (b.at(s[0], &[i]), b.at(s[0], &[j]));
                let p = b.op(Mul, &[p, q]);
                let p = b.op(Sin, &[p]);
                vec![b.with(s[0], &ty, &[j], p), next]
            },
        );
        vec![(z[0], ty.clone())]
    };
    let sizes: &[&[usize]] = &[&[16], &[64], &[256]];
    at_most(5.0, "while in place", sizes, &build);
    cheap("while in place", sizes, 6.0, 14.0, build);
}

/// A `while` in a loop, of which the state is one array: it is updated in both.
#[test]
fn while_in_a_loop_in_place() {
    let build = |w: &mut Writer| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let ty = reals(&[n]);
        let z = w.b.loop_(n, &[(xs, ty.clone())], |b, i, s| {
            let z = b.while_(
                &[(s[0], ty.clone()), (int(0), Ty::int())],
                |b, s| b.op(LtInt, &[s[1], i]),
                |b, s| {
                    let (p, q) = (b.at(s[0], &[i]), b.at(s[0], &[s[1]]));
                    let p = b.op(Mul, &[p, q]);
                    let p = b.op(Sin, &[p]);
                    let next = b.with(s[0], &ty, &[s[1]], p);
                    vec![next, b.op(AddInt, &[s[1], int(1)])]
                },
            );
            vec![z[0]]
        });
        vec![(z[0], ty.clone())]
    };
    let sizes: &[&[usize]] = &[&[8], &[16], &[64]];
    at_most(6.0, "while in a loop", sizes, &build);
    cheap("while in a loop", sizes, 6.0, 14.0, build);
}

#[test]
fn cholesky_in_place() {
    cheap("cholesky", &[&[8], &[16], &[32]], 6.0, 14.0, |w| {
        let n = w.size("n");
        let a = w.param("a", &[n, n]);
        let l = cholesky_of(&mut w.b, a, n);
        vec![(l, reals(&[n, n]))]
    });
}

/// An element of the Cholesky factor `l` of `a`, from those before it.
fn cholesky_element(b: &mut lambada_anf::Builder, a: Atom, l: Atom, i: Atom, j: Atom) -> Atom {
    let s = b.sum(j, |b, m| {
        let (p, q) = (b.at(l, &[i, m]), b.at(l, &[j, m]));
        b.op(Mul, &[p, q])
    });
    let aij = b.at(a, &[i, j]);
    let rest = b.op(Sub, &[aij, s]);
    let diagonal = b.op(Prim::EqInt, &[i, j]);
    let root = |b: &mut lambada_anf::Builder| vec![b.op(Prim::Sqrt, &[rest])];
    let divided = |b: &mut lambada_anf::Builder| {
        let d = b.at(l, &[j, j]);
        vec![b.op(Prim::Div, &[rest, d])]
    };
    b.if_(diagonal, &[Ty::real()], root, divided)[0]
}

/// Cholesky in one loop over all elements, and by columns. What is kept is one element for each
/// update.
#[test]
fn cholesky_in_any_order() {
    small("flat", &[&[6], &[12], &[24]], 6.0, 14.0, |w| {
        let n = w.size("n");
        let a = w.param("a", &[n, n]);
        let ty = reals(&[n, n]);
        let zeros = w.b.zero(&ty);
        let all = w.b.op(Prim::MulInt, &[n, n]);
        let z = w.b.loop_(all, &[(zeros, ty.clone())], |b, k, s| {
            let (i, j) = (b.op(Prim::DivInt, &[k, n]), b.op(RemInt, &[k, n]));
            let above = b.op(LtInt, &[i, j]);
            let next = |b: &mut lambada_anf::Builder| {
                let e = cholesky_element(b, a, s[0], i, j);
                vec![b.with(s[0], &ty, &[i, j], e)]
            };
            b.if_(above, std::slice::from_ref(&ty), |_| vec![s[0]], next)
        });
        vec![(z[0], ty.clone())]
    });
    small("columns", &[&[6], &[12], &[24]], 6.0, 14.0, |w| {
        let n = w.size("n");
        let a = w.param("a", &[n, n]);
        let ty = reals(&[n, n]);
        let zeros = w.b.zero(&ty);
        let z = w.b.loop_(n, &[(zeros, ty.clone())], |b, j, s| {
            let below = b.op(SubInt, &[n, j]);
            b.loop_(below, &[(s[0], ty.clone())], |b, r, s| {
                let i = b.op(AddInt, &[j, r]);
                let e = cholesky_element(b, a, s[0], i, j);
                vec![b.with(s[0], &ty, &[i, j], e)]
            })
        });
        vec![(z[0], ty.clone())]
    });
}

/// Rows of a matrix are exchanged and combined, as in elimination with a pivot; an element is
/// written between.
#[test]
fn rows_in_place() {
    small("rows", &[&[6], &[12], &[24]], 8.0, 16.0, |w| {
        let n = w.size("n");
        let a = w.param("a", &[n, n]);
        let ty = reals(&[n, n]);
        let z = w.b.loop_(n, &[(a, ty.clone())], |b, k, s| {
            let p = b.op(Prim::MulInt, &[k, k]);
            let p = b.op(RemInt, &[p, n]);
            let (x, y) = (b.row(s[0], &[k], &[n]), b.row(s[0], &[p], &[n]));
            let half = b.with(s[0], &ty, &[k], y);
            let swapped = b.with(half, &ty, &[p], x);
            let below = b.op(SubInt, &[n, k]);
            b.loop_(below, &[(swapped, ty.clone())], |b, r, s| {
                let i = b.op(AddInt, &[k, r]);
                let f = b.at(s[0], &[i, k]);
                let f = b.op(Tanh, &[f]);
                let row = b.map(n, &[], |b, c| {
                    let (u, v) = (b.at(s[0], &[i, c]), b.at(s[0], &[k, c]));
                    let v = b.op(Mul, &[v, f]);
                    let v = b.op(Sub, &[u, v]);
                    b.op(Sin, &[v])
                });
                vec![b.with(s[0], &ty, &[i], row)]
            })
        });
        vec![(z[0], ty.clone())]
    });
}

/// Long programs are walked with loops, in linear time.
#[test]
fn long_programs() {
    let program = Program::new(|w| {
        let mut x = w.param("x", &[]);
        for _ in 0..20_000 {
            x = w.b.op(Sin, &[x]);
        }
        vec![(x, Ty::real())]
    });
    let point = |extra: usize| Point {
        constants: vec![],
        params: vec![Tensor::scalar(Scalar::Real(1.0)); 1 + extra],
    };
    for derivative in [program.forward(), program.reverse()] {
        assert!(derivative.run(&point(1)).is_ok());
    }
}

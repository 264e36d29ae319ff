//! The laws on programs by hand: each shows a construct, or a combination that is easily wrong. To
//! second order.

mod sizes;
pub mod state;

use lambada_anf::{Atom, Elem, LoopKind, Nest, Op, Out, Param, Random, Stm, Ty};
use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar, ScalarTy, Tensor};

use crate::dsl::{Dsl, SUM, int, real, var};
use crate::lanes::agree;
use crate::laws::{CLOSELY, Outcome, laws, like};
use crate::program::{Point, Program, Writer, reals};

use Prim::{
    Add, AddInt, And, Div, Exp as ExpP, Log, Lt, LtInt, Mul, RemInt, Sin, Sqrt, Sub, SubInt, Tanh,
};

/// Checks the laws of a program and of both its derivatives, at random points of the given sizes.
fn check(sizes: &[usize], build: impl FnOnce(&mut Writer) -> Vec<(Atom, Ty)>) {
    check_with(sizes, vec![], build);
}

fn check_with(
    sizes: &[usize],
    constants: Vec<Tensor>,
    build: impl FnOnce(&mut Writer) -> Vec<(Atom, Ty)>,
) {
    let program = Program::new(build);
    let mut random = Random(7);
    for _ in 0..3 {
        let point =
            Point { constants: constants.clone(), params: positive(&program, sizes, &mut random) };
        orders(&program, &point, &mut random, 2);
    }
}

/// Arguments between ½ and 2, so that roots and logarithms are smooth.
fn positive(program: &Program, sizes: &[usize], random: &mut Random) -> Vec<Tensor> {
    let size = |d: &Atom| match d {
        Atom::Lit(Scalar::Int(k)) => *k as usize,
        Atom::Lit(_) => 0,
        Atom::Var(v) => program.sizes.iter().position(|s| s == v).map_or(0, |k| sizes[k]),
    };
    let one = |p: &Param| {
        let dims: Vec<usize> = p.ty.dims.iter().map(size).collect();
        let data = (0..dims.iter().product()).map(|_| 0.5 + random.real().abs() * 0.75).collect();
        Tensor::reals(dims, data)
    };
    program.f.params.iter().map(one).collect()
}

fn orders(program: &Program, point: &Point, random: &mut Random, order: usize) {
    let closely = if order == 2 { CLOSELY } else { 10.0 * CLOSELY };
    match laws(program, point, random, closely).unwrap_or_else(|e| panic!("{e}")) {
        Outcome::Holds(confirmed) => assert!(
            confirmed.decided > 2 * confirmed.undecided,
            "{confirmed:?} of order {}: {}",
            3 - order,
            program.show()
        ),
        Outcome::Fails | Outcome::Nan => panic!("a program by hand that does not run"),
    }
    if order == 0 {
        return;
    }
    agree(program, point, random).unwrap_or_else(|e| panic!("{e}"));
    let mut results = program.run(point).expect("the program runs").0;
    results.retain(|t| t.elem() == ScalarTy::Real);
    let (tangents, seeds) = (like(random, &point.params), like(random, &results));
    for (derivative, extra) in [(program.forward(), tangents), (program.reverse(), seeds)] {
        let point = Point { params: [point.params.clone(), extra].concat(), ..point.clone() };
        orders(&derivative, &point, random, order - 1);
    }
}

#[test]
fn primitives() {
    check(&[], |w| {
        let (x, y) = (w.param("x", &[]), w.param("y", &[]));
        let a = w.b.op(Mul, &[x, y]);
        let s = w.b.op(Sin, &[a]);
        let q = w.b.op(Div, &[s, y]);
        let r = w.b.op(Sqrt, &[a]);
        let c = w.b.op(Lt, &[x, y]);
        let p = w.b.op(Prim::Select, &[c, q, r]);
        let p = w.b.op(Prim::Pow, &[x, p]);
        let z = w.b.op(Prim::Atan2, &[p, y]);
        // One result twice, a parameter, a constant, a truth value.
        vec![
            (z, Ty::real()),
            (z, Ty::real()),
            (x, Ty::real()),
            (real(3.0), Ty::real()),
            (c, Ty::bool()),
        ]
    });
}

#[test]
fn unused_parameters_have_zero_cotangents() {
    check(&[3], |w| {
        let n = w.size("n");
        let (x, xs) = (w.param("x", &[]), w.param("xs", &[n]));
        w.param("unused", &[n, n]);
        vec![(x, Ty::real()), (xs, reals(&[n])), (xs, reals(&[n]))]
    });
}

#[test]
fn nothing_to_differentiate() {
    check(&[], |_| vec![(real(1.0), Ty::real()), (int(2), Ty::int())]);
}

#[test]
fn maps_and_sums() {
    check(&[3, 4], |w| {
        let (n, m) = (w.size("n"), w.size("m"));
        let (a, x, t) = (w.param("a", &[n, m]), w.param("x", &[m]), w.param("t", &[]));
        let ys = w.b.map(n, &[], |b, i| {
            let s = b.sum(m, |b, j| {
                let (aij, xj) = (b.at(a, &[i, j]), b.at(x, &[j]));
                let p = b.op(Mul, &[aij, xj]);
                b.op(ExpP, &[p])
            });
            let l = b.op(Log, &[s]);
            b.op(Mul, &[l, t])
        });
        vec![(ys, reals(&[n]))]
    });
}

#[test]
fn rows() {
    check(&[3, 2], |w| {
        let (n, m) = (w.size("n"), w.size("m"));
        let (a, x) = (w.param("a", &[n, m]), w.param("x", &[m]));
        let row = w.b.row(a, &[int(1)], &[m]);
        let ys = w.b.for_(
            n,
            &[(Out::Collect, reals(&[n, m])), (Out::Collect, reals(&[n, m])), (SUM, Ty::real())],
            |b, i| {
                let r = b.row(a, &[i], &[m]);
                let s = b.sum(m, |b, j| {
                    let (p, q, z) = (b.at(r, &[j]), b.at(row, &[j]), b.at(x, &[j]));
                    let p = b.op(Mul, &[p, q]);
                    b.op(Mul, &[p, z])
                });
                vec![r, row, s]
            },
        );
        vec![
            (ys[0], reals(&[n, m])),
            (ys[1], reals(&[n, m])),
            (ys[2], Ty::real()),
            (row, reals(&[m])),
        ]
    });
}

#[test]
fn extrema_and_products() {
    check(&[4], |w| {
        let n = w.size("n");
        let (xs, t) = (w.param("xs", &[n]), w.param("t", &[]));
        let acc = w.b.accumulator(t, &Ty::real());
        let outs = [ReduceOp::Max, ReduceOp::Min, ReduceOp::Mul, ReduceOp::Add]
            .map(|op| (Out::Reduce(op), Ty::real()));
        let ys = w.b.for_(n, &outs, |b, i| {
            let x = b.at(xs, &[i]);
            let y = b.op(Mul, &[x, t]);
            let z = b.op(Sin, &[y]);
            b.add_to(acc, &[], z);
            vec![y, z, x, z]
        });
        let h = w.b.freeze(acc, &Ty::real());
        ys.into_iter().chain([h]).map(|y| (y, Ty::real())).collect()
    });
}

/// `mul` is exact where factors are zero, also in second order.
#[test]
fn products_with_zeros() {
    let program = Program::new(|w| {
        let xs = w.param("xs", &[int(3)]);
        let p = w.b.reduce(ReduceOp::Mul, int(3), |b, i| b.at(xs, &[i]));
        vec![(p, Ty::real())]
    });
    let gradient = program.reverse().last(1);
    let at =
        |xs: &[f64]| vec![Tensor::reals(vec![3], xs.to_vec()), Tensor::scalar(Scalar::Real(1.0))];
    let run = |p: &Program, params: Vec<Tensor>| {
        p.run(&Point { constants: vec![], params }).expect("runs").0
    };
    assert_eq!(
        run(&gradient, at(&[2.0, 0.0, 5.0])),
        [Tensor::reals(vec![3], vec![0.0, 10.0, 0.0])]
    );
    let hessian = gradient.renamed().reverse().last(2);
    let seeds = [at(&[0.0, 0.0, 5.0]), vec![Tensor::reals(vec![3], vec![1.0, 0.0, 0.0])]].concat();
    assert_eq!(run(&hessian, seeds)[0], Tensor::reals(vec![3], vec![0.0, 5.0, 0.0]));
}

#[test]
fn extrema_of_ties_nan_and_nothing() {
    let program = Program::new(|w| {
        let n = w.size("n");
        let xs = w.param("xs", &[n]);
        let m = w.b.reduce(ReduceOp::Max, n, |b, i| b.at(xs, &[i]));
        vec![(m, Ty::real())]
    });
    let gradient = program.reverse();
    let at = |xs: &[f64]| {
        let params =
            vec![Tensor::reals(vec![xs.len()], xs.to_vec()), Tensor::scalar(Scalar::Real(1.0))];
        let results = gradient.run(&Point { constants: vec![], params }).expect("runs").0;
        (
            results[0].as_scalar().expect("a scalar").real(),
            crate::program::elements(&results[1]).to_vec(),
        )
    };
    assert_eq!(at(&[1.0, 3.0, 3.0]), (3.0, vec![0.0, 1.0, 0.0]));
    assert_eq!(at(&[]), (f64::NEG_INFINITY, vec![]));
    assert_eq!(at(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), (f64::NEG_INFINITY, vec![1.0, 0.0]));
    let (m, g) = at(&[1.0, f64::NAN, 7.0, f64::NAN]);
    assert!(m.is_nan());
    assert_eq!(g, [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn branches() {
    check(&[4], |w| {
        let n = w.size("n");
        let (xs, t) = (w.param("xs", &[n]), w.param("t", &[]));
        let ys = w.b.map(n, &[], |b, i| {
            let x = b.at(xs, &[i]);
            let c = b.op(Lt, &[x, real(1.2)]);
            let y = b.if_(
                c,
                &[Ty::real()],
                |b| {
                    let p = b.op(ExpP, &[x]);
                    let s = b.sum(n, |b, j| {
                        let e = b.at(xs, &[j]);
                        let e = b.op(ExpP, &[e]);
                        b.op(Mul, &[e, p])
                    });
                    let d = b.op(LtInt, &[i, int(2)]);
                    b.if_(d, &[Ty::real()], |b| vec![b.op(Mul, &[s, t])], |b| vec![b.op(Log, &[s])])
                },
                |b| vec![b.op(Sqrt, &[x])],
            );
            b.op(Mul, &[y[0], x])
        });
        vec![(ys, reals(&[n]))]
    });
}

#[test]
fn literals_fills_and_updates() {
    check(&[3], |w| {
        let n = w.size("n");
        let (x, y, xs) = (w.param("x", &[]), w.param("y", &[]), w.param("xs", &[n]));
        let p = w.b.op(Mul, &[x, y]);
        let lit = w.b.bind("lit", reals(&[int(3)]), Op::Array(vec![x, p, real(1.0)]));
        let fill = w.b.bind("fill", reals(&[n, int(3)]), Op::Fill(p));
        let up = w.b.with(fill, &reals(&[n, int(3)]), &[int(1)], lit);
        let up = w.b.with(up, &reals(&[n, int(3)]), &[int(1), int(0)], y);
        let two = w.b.bind("two", reals(&[int(2), n]), Op::Array(vec![xs, xs]));
        let over = w.b.with(xs, &reals(&[n]), &[int(2)], real(5.0));
        vec![(up, reals(&[n, int(3)])), (two, reals(&[int(2), n])), (over, reals(&[n]))]
    });
}

#[test]
fn histograms() {
    let places = Tensor { dims: vec![6], data: lambada_prim::Data::Int(vec![0, 2, 1, 2, 2, 0]) };
    check_with(&[6, 3], vec![places], |w| {
        let (n, m) = (w.size("n"), w.size("m"));
        let at = w.constant("at", Ty { elem: Elem::INT, dims: vec![n] });
        let (xs, h, t) = (w.param("xs", &[n]), w.param("h", &[m]), w.param("t", &[]));
        let ty = reals(&[m]);
        let total = w.b.accumulator(t, &Ty::real());
        let acc = w.b.accumulator(h, &ty);
        w.b.each(n, |b, i| {
            let j = b.bind("j", Ty::int(), Op::Index(var(at), vec![i]));
            let x = b.at(xs, &[i]);
            let y = b.op(Mul, &[x, t]);
            b.add_to(acc, &[j], y);
            let c = b.op(Lt, &[x, real(1.0)]);
            b.if_(
                c,
                &[],
                |b| {
                    let z = b.op(Sin, &[y]);
                    b.add_to(total, &[], z);
                    vec![]
                },
                |b| {
                    b.add_to(acc, &[], h);
                    vec![]
                },
            );
        });
        let (h, total) = (w.b.freeze(acc, &ty), w.b.freeze(total, &Ty::real()));
        let s = w.b.sum(m, |b, j| {
            let e = b.at(h, &[j]);
            b.op(Mul, &[e, e])
        });
        vec![(h, ty), (s, Ty::real()), (total, Ty::real())]
    });
}

#[test]
fn matrix_products() {
    check(&[2, 3, 4], |w| {
        let (n, m, k) = (w.size("n"), w.size("m"), w.size("k"));
        let (a, b, x, y) =
            (w.param("a", &[n, m]), w.param("b", &[m, k]), w.param("x", &[k]), w.param("y", &[n]));
        let ab =
            w.b.bind("ab", reals(&[n, k]), Op::ArrayPrim(ArrayPrim::MatMul, vec![var(a), var(b)]));
        let abx =
            w.b.bind("abx", reals(&[n]), Op::ArrayPrim(ArrayPrim::MatMul, vec![var(ab), var(x)]));
        let ya =
            w.b.bind("ya", reals(&[m]), Op::ArrayPrim(ArrayPrim::MatMul, vec![var(y), var(a)]));
        let in_loop = w.b.loop_(n, &[(x, reals(&[k]))], |w, _, s| {
            let z =
                w.bind("z", reals(&[m]), Op::ArrayPrim(ArrayPrim::MatMul, vec![var(b), var(s[0])]));
            let z =
                w.bind("z", reals(&[k]), Op::ArrayPrim(ArrayPrim::MatMul, vec![var(z), var(b)]));
            vec![w.map(k, &[], |w, i| {
                let e = w.at(z, &[i]);
                w.op(Sin, &[e])
            })]
        });
        vec![(ab, reals(&[n, k])), (abx, reals(&[n])), (ya, reals(&[m])), (in_loop[0], reals(&[k]))]
    });
}

/// The derivatives as people read them.
#[test]
fn derivatives_read_well() {
    let program = Program::new(|w| {
        let n = w.size("n");
        let (xs, t) = (w.param("xs", &[n]), w.param("t", &[]));
        let s = w.b.sum(n, |b, i| {
            let x = b.at(xs, &[i]);
            let y = b.op(Mul, &[x, t]);
            b.op(ExpP, &[y])
        });
        vec![(s, Ty::real())]
    });
    assert_eq!(
        program.forward().show(),
        "\
f [n] (xs : [n]real) (t : real) (xs_tan : [n]real) (t_tan : real) {
  ys : real, ys_tan : real = for i < n (reduce add, reduce add) {
    e : real = xs[i]
    e_tan : real = xs_tan[i]
    t1 : real = mul e, t
    t_tan1 : real = mul t, e_tan
    t_tan2 : real = mul e, t_tan
    t_tan3 : real = add t_tan1, t_tan2
    t2 : real = exp t1
    t_tan4 : real = mul t2, t_tan3
    => t2, t_tan4
  }
  => ys : real, ys_tan : real
}
"
    );
    assert_eq!(
        program.reverse().show(),
        "\
f [n] (xs : [n]real) (t : real) (ys_ct : real) {
  ys : real, t1 : [n]real = for i < n (reduce add, collect) {
    e : real = xs[i]
    t1 : real = mul e, t
    t2 : real = exp t1
    => t2, t2
  }
  zeros : [n]real = fill 0.0
  xs_ct : [n]real = accumulator zeros
  t_ct : real = for i < n (reduce add) {
    t2 : real = t1[i]
    e : real = xs[i]
    t_ct : real = mul t2, ys_ct
    e_ct : real = mul t, t_ct
    t_ct1 : real = mul e, t_ct
    accumulate xs_ct[i] += e_ct
    => t_ct1
  }
  xs_ct1 : [n]real = freeze xs_ct
  => ys : real, xs_ct1 : [n]real, t_ct : real
}
"
    );
}

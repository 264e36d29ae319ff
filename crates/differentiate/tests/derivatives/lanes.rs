//! Derivatives along several directions, side by side: what they give one after the other, for
//! fewer operations.

use lambada_anf::{Atom, Counts, Nest, Op, Out, Param, Random, Stm, Ty, generate};
use lambada_differentiate::together;
use lambada_prim::{ArrayPrim, Prim, ReduceOp, ScalarTy, Tensor};

use crate::dsl::{Dsl, SUM, int, real, var};
use crate::laws::{like, same};
use crate::program::{Point, Program, Writer, elements, reals};

use Prim::{Add, AddInt, Cos, EqInt, Exp as ExpP, LtInt, Mul, Sin, Tanh};

/// `x, Ẋ ↦ for j < k { D→f (x, Ẋ[j]) }`, the results of known sizes only; `k` is a size if it is
/// not given.
fn directions(program: &Program, count: Option<i64>) -> Program {
    let mut all = program.forward();
    let k: Atom = match count {
        Some(k) => int(k),
        None => {
            let k = all.names.fresh("k");
            all.sizes.push(k);
            k.into()
        }
    };
    let index = all.names.fresh("j");
    let tangents = all.f.params.split_off(program.f.params.len());
    let mut body = std::mem::take(&mut all.f.body);
    let mut reads = Vec::new();
    for tangent in tangents {
        let var = all.names.again(tangent.var);
        all.f.params.push(Param { var, ty: tangent.ty.array_of(k) });
        reads.push(Stm::new(vec![tangent], Op::Index(var, vec![index.into()])));
    }
    body.stms.splice(0..0, reads);
    let known = |ty: &Ty| ty.dims.iter().all(|d| d.as_var().is_none_or(|d| all.sizes.contains(&d)));
    let (results, types): (Vec<Atom>, Vec<Ty>) =
        body.results.iter().copied().zip(all.f.results.clone()).filter(|(_, ty)| known(ty)).unzip();
    let binds: Vec<Param> = types
        .iter()
        .map(|ty| Param { var: all.names.fresh("result"), ty: ty.array_of(k) })
        .collect();
    body.results = results;
    all.f.results = binds.iter().map(|p| p.ty.clone()).collect();
    all.f.body.results = binds.iter().map(|p| p.var.into()).collect();
    let outs = vec![Out::Collect; binds.len()];
    all.f.body.stms = vec![Stm::new(binds, Nest::For { index, extent: k, outs, body })];
    all.check("one direction after the other");
    all
}

/// The same with lanes, where the last statement has some.
fn side_by_side(program: &Program) -> Option<Program> {
    let mut lanes = program.clone();
    let last = lanes.f.body.stms.pop()?;
    let stms = together(&mut lanes.names, &last)?;
    lanes.f.body.stms.extend(stms);
    let mut function = lanes.function();
    lambada_anf::guard(&mut function);
    (lanes.names, lanes.f.body) = (function.names, function.body);
    lanes.check("side by side");
    Some(lanes)
}

/// Gives both the same, at a point? Nothing if there are no lanes.
fn compare(apart: &Program, at: &Point) -> Result<Option<[Counts; 2]>, String> {
    let Some(lanes) = side_by_side(apart) else { return Ok(None) };
    let told = |e: String| format!("{e}\n{}\nside by side {}", apart.show(), lanes.show());
    match (apart.run(at), lanes.run(at)) {
        (Ok((a, before)), Ok((b, after))) => {
            same(&b, &a, 1e-12).map_err(told)?;
            Ok(Some([before, after]))
        }
        (Err(a), Err(b)) if a == b => Ok(Some([Counts::default(); 2])),
        (a, b) => Err(told(format!("{a:?} becomes {b:?}"))),
    }
}

/// A program with all its directions at a point.
fn along(program: &Program, at: &Point, count: usize, random: &mut Random) -> Point {
    let rows = |t: &Tensor| {
        let dims = [&[count], &t.dims[..]].concat();
        let data = (0..dims.iter().product()).map(|_| random.real()).collect();
        Tensor::reals(dims, data)
    };
    assert_eq!(program.f.params.len(), at.params.len());
    let directions: Vec<Tensor> = at.params.iter().map(rows).collect();
    Point { params: [at.params.clone(), directions].concat(), ..at.clone() }
}

/// Compares for several numbers of directions: few, none, those of one block, and of more. Are
/// there lanes?
pub fn agree(program: &Program, at: &Point, random: &mut Random) -> Result<bool, String> {
    if program.f.params.is_empty() {
        return Ok(false);
    }
    let mut found = false;
    for (known, count) in [(true, 3), (false, 0), (false, 7), (false, 67)] {
        let apart = directions(program, known.then_some(count as i64));
        let point = along(program, at, count, random);
        found |= compare(&apart, &point)?.is_some();
    }
    Ok(found)
}

#[test]
fn generated() {
    let (mut lanes, mut fail) = (0, 0);
    for seed in 0..80 {
        let (f, args) = generate(seed);
        let program = Program::of(&f);
        let (params, constants) =
            args.into_iter().partition(|t: &Tensor| t.elem() == ScalarTy::Real);
        let point = Point { constants, params };
        fail += usize::from(program.run(&point).is_err());
        lanes += usize::from(
            agree(&program, &point, &mut Random(seed)).unwrap_or_else(|e| panic!("{seed}: {e}")),
        );
    }
    println!("{lanes} have lanes, {fail} fail");
    assert!(lanes >= 40, "only {lanes} of 80 programs have lanes");
}

/// A `for` of `k` directions by hand: its body is given the index and `exp`s of all `x`, which do
/// not depend on it.
fn by_hand(
    body: impl Fn(&mut lambada_anf::Builder, Atom, [Atom; 3]) -> Vec<(Atom, Ty)>,
) -> [Counts; 2] {
    let mut result = [Counts::default(); 2];
    for count in [0, 1, 5, 50] {
        let program = Program::new(|w: &mut Writer| {
            let (k, n) = (w.size("k"), w.size("n"));
            let (x, v) = (w.param("x", &[n]), w.param("v", &[k, n]));
            let mut types = Vec::new();
            let index = w.b.names.fresh("j");
            let block = w.b.block(|b| {
                // Value and tangent in one nest.
                let both = b.for_(n, &[(SUM, Ty::real()), (SUM, Ty::real())], |b, i| {
                    let xi = b.at(x, &[i]);
                    let vi = b.at(v, &[index.into(), i]);
                    let y = b.op(ExpP, &[xi]);
                    let y = b.op(Sin, &[y]);
                    let t = b.op(Mul, &[y, vi]);
                    vec![y, t]
                });
                let mut results = body(b, index.into(), [n, x, both[1]]);
                results.push((both[0], Ty::real()));
                types = results.iter().map(|(_, ty)| ty.array_of(k)).collect();
                results.into_iter().map(|(r, _)| r).collect()
            });
            let binds: Vec<Param> = types
                .iter()
                .map(|ty| Param { var: w.b.names.fresh("r"), ty: ty.clone() })
                .collect();
            let found = binds.iter().map(|p| (p.var.into(), p.ty.clone())).collect();
            let outs = vec![Out::Collect; binds.len()];
            let nest = Nest::For { index, extent: k, outs, body: block };
            w.b.stms.push(Stm::new(binds, nest));
            found
        });
        let mut random = Random(3);
        let params = [vec![60], vec![count, 60]]
            .map(|dims| {
                let data = (0..dims.iter().product()).map(|_| random.real()).collect();
                Tensor::reals(dims, data)
            })
            .to_vec();
        let point = Point { constants: vec![], params };
        result = compare(&program, &point)
            .unwrap_or_else(|e| panic!("{count}: {e}"))
            .unwrap_or_else(|| panic!("no lanes: {}", program.show()));
    }
    result
}

#[test]
fn places_that_vary() {
    by_hand(|b, j, [n, x, s]| {
        let row = b.map(n, &[], |b, i| {
            let e = b.at(x, &[i]);
            b.op(Mul, &[e, s])
        });
        let ty = reals(&[n]);
        let at = b.op(Prim::RemInt, &[j, int(60)]);
        let inside = b.op(LtInt, &[at, n]);
        let element = b.if_(inside, &[Ty::real()], |b| vec![b.at(row, &[at])], |_| vec![real(0.0)]);
        let i = b.op(Prim::MinInt, &[at, int(3)]);
        let fixed = b.map(int(4), &[n], |b, _| b.map(n, &[], |b, i| b.at(row, &[i])));
        let picked = b.row(fixed, &[i], &[n]);
        let constant = b.map(int(4), &[n], |b, _| b.map(n, &[], |b, i| b.at(x, &[i])));
        let read = b.row(constant, &[i], &[n]);
        let whole = b.row(fixed, &[int(2)], &[n]);
        let small = b.map(int(4), &[], |b, i| b.op(Prim::ToReal, &[i]));
        let written = b.with(small, &reals(&[int(4)]), &[i], element[0]);
        let again = b.with(written, &reals(&[int(4)]), &[int(1)], s);
        let filled = b.bind("filled", ty.clone(), Op::Fill(s));
        let listed = b.bind("listed", reals(&[int(2)]), Op::Array(vec![s, real(2.0)]));
        vec![
            (picked, ty.clone()),
            (read, ty.clone()),
            (whole, ty.clone()),
            (again, reals(&[int(4)])),
            (filled, ty),
            (listed, reals(&[int(2)])),
            (j, Ty::int()),
            (real(3.0), Ty::real()),
        ]
    });
}

#[test]
fn additions_at_places_that_vary() {
    by_hand(|b, j, [n, x, s]| {
        let ty = reals(&[int(4), n]);
        let zeros = b.zero(&ty);
        let i = b.op(Prim::MinInt, &[j, int(3)]);
        let row = b.map(n, &[], |b, i| b.at(x, &[i]));
        let acc = b.accumulator(zeros, &ty);
        b.add_to(acc, &[i], row);
        b.add_to(acc, &[i, int(0)], s);
        b.add_to(acc, &[int(1), int(0)], s);
        b.add_to(acc, &[int(2)], row);
        let sums = b.freeze(acc, &ty);
        vec![(sums, ty)]
    });
}

#[test]
fn control_that_varies() {
    by_hand(|b, j, [_, _, s]| {
        let odd = b.op(Prim::RemInt, &[j, int(2)]);
        let odd = b.op(EqInt, &[odd, int(1)]);
        let a = b.if_(odd, &[Ty::real()], |b| vec![b.op(Sin, &[s])], |b| vec![b.op(Cos, &[s])]);
        let rounds = b.op(Prim::RemInt, &[j, int(5)]);
        let c = b.loop_(rounds, &[(s, Ty::real())], |b, i, z| {
            let e = b.op(Prim::ToReal, &[i]);
            let z = b.op(Mul, &[z[0], e]);
            vec![b.op(Tanh, &[z])]
        });
        let m = b.reduce(ReduceOp::Max, int(3), |b, i| {
            let e = b.op(Prim::ToReal, &[i]);
            b.op(Mul, &[e, s])
        });
        let w = b.while_(
            &[(s, Ty::real()), (int(0), Ty::int())],
            |b, z| b.op(LtInt, &[z[1], int(3)]),
            |b, z| vec![b.op(Sin, &[z[0]]), b.op(AddInt, &[z[1], int(1)])],
        );
        vec![(a[0], Ty::real()), (c[0], Ty::real()), (m, Ty::real()), (w[0], Ty::real())]
    });
}

/// The value is computed once for each block: 50 directions are two blocks.
#[test]
fn values_are_shared() {
    let [apart, lanes] = by_hand(|_, _, [_, _, s]| vec![(s, Ty::real())]);
    // exp, sin and a sum for each of 60 elements; a product and a sum for each direction.
    assert!(apart.reals >= 50 * 60 * 5, "{apart:?}");
    assert!(lanes.reals <= 2 * 60 * 3 + 50 * 60 * 2 + 500, "{lanes:?}");
}

/// Memory is the state times the lanes of a block, however many directions there are; the result
/// comes on top.
#[test]
fn memory_is_bounded() {
    let peaks = [64, 256, 1024].map(|k| {
        let program = Program::new(|w| {
            let n = w.size("n");
            let x = w.param("x", &[n]);
            let z = w.b.loop_(int(20), &[(x, reals(&[n]))], |b, _, s| {
                vec![b.map(n, &[], |b, i| {
                    let e = b.at(s[0], &[i]);
                    b.op(Sin, &[e])
                })]
            });
            let s = w.b.sum(n, |b, i| b.at(z[0], &[i]));
            vec![(s, Ty::real())]
        });
        let apart = directions(&program, Some(k));
        let at =
            Point { constants: vec![], params: vec![Tensor::reals(vec![100], vec![0.5; 100])] };
        let point = along(&program, &at, k as usize, &mut Random(1));
        let [_, lanes] = compare(&apart, &point).expect("they agree").expect("there are lanes");
        // The directions themselves are parameters; value and tangents are results, in two layouts.
        lanes.peak as i64 - 8 * 2 * 2 * k
    });
    println!("{peaks:?}");
    assert!(peaks[2] <= peaks[0] + 8 * 64, "{peaks:?}");
    assert!(peaks[0] <= 8 * 32 * 100 * 5, "{peaks:?}");
}

/// What has no lanes, or shares nothing, is left as it is.
#[test]
fn refused() {
    let refused = |build: &dyn Fn(&mut Writer) -> Vec<(Atom, Ty)>| {
        assert!(side_by_side(&Program::new(build)).is_none());
    };
    // All depends on the index.
    refused(&|w| {
        let n = w.size("n");
        let x = w.param("x", &[n]);
        let y = w.b.map(n, &[], |b, j| {
            let e = b.at(x, &[j]);
            b.sum(n, |b, i| {
                let f = b.at(x, &[i]);
                b.op(Mul, &[e, f])
            })
        });
        vec![(y, reals(&[n]))]
    });
    // A check depends on the index.
    refused(&|w| {
        let n = w.size("n");
        let x = w.param("x", &[n]);
        let y = w.b.map(n, &[], |b, j| {
            let fine = b.op(LtInt, &[j, int(3)]);
            let site = lambada_source::Site::new(lambada_source::Span::default(), "too far");
            b.effect(Op::Check { cond: fine, site, values: vec![] });
            let e = b.at(x, &[j]);
            b.sum(n, |b, i| {
                let f = b.at(x, &[i]);
                let f = b.op(ExpP, &[f]);
                let f = b.op(Sin, &[f]);
                b.op(Mul, &[e, f])
            })
        });
        vec![(y, reals(&[n]))]
    });
    // It adds to an accumulator outside.
    refused(&|w| {
        let n = w.size("n");
        let x = w.param("x", &[n]);
        let ty = reals(&[n]);
        let zeros = w.b.zero(&ty);
        let acc = w.b.accumulator(zeros, &ty);
        w.b.each(n, |b, j| {
            let e = b.at(x, &[j]);
            let s = b.sum(n, |b, i| {
                let f = b.at(x, &[i]);
                let f = b.op(ExpP, &[f]);
                b.op(Mul, &[e, f])
            });
            b.add_to(acc, &[int(0)], s);
        });
        vec![]
    });
}

/// Lanes can be differentiated again: the derivative of the sum of all results, in both modes.
#[test]
fn differentiated_again() {
    let program = Program::new(|w| {
        let n = w.size("n");
        let (x, a) = (w.param("x", &[n]), w.param("a", &[n, n]));
        let y = w.b.map(n, &[], |b, i| {
            let s = b.sum(n, |b, j| {
                let (p, q) = (b.at(a, &[i, j]), b.at(x, &[j]));
                let q = b.op(ExpP, &[q]);
                b.op(Mul, &[p, q])
            });
            b.op(Sin, &[s])
        });
        let ax =
            w.b.bind("ax", reals(&[n]), Op::ArrayPrim(ArrayPrim::MatMul, vec![var(a), var(y)]));
        let xa =
            w.b.bind("xa", reals(&[n]), Op::ArrayPrim(ArrayPrim::MatMul, vec![var(y), var(a)]));
        let aa =
            w.b.bind("aa", reals(&[n, n]), Op::ArrayPrim(ArrayPrim::MatMul, vec![var(a), var(a)]));
        let sum = w.b.map(n, &[], |b, i| {
            let (p, q, r) = (b.at(ax, &[i]), b.at(xa, &[i]), b.at(aa, &[i, i]));
            let s = b.op(Add, &[p, q]);
            b.op(Add, &[s, r])
        });
        vec![(sum, reals(&[n]))]
    });
    let mut random = Random(5);
    let at = Point {
        constants: vec![],
        params: vec![
            Tensor::reals(vec![3], vec![0.1, -0.4, 0.7]),
            Tensor::reals(vec![3, 3], (0..9).map(|k| 0.1 * k as f64 - 0.3).collect()),
        ],
    };
    for count in [Some(4), None] {
        let apart = directions(&program, count);
        let lanes = side_by_side(&apart).expect("there are lanes");
        let point = along(&program, &at, 4, &mut random);
        for (a, b) in [(apart.forward(), lanes.forward()), (apart.reverse(), lanes.reverse())] {
            let results = apart.run(&point).expect("it runs").0;
            let extra = if a.f.params.len() == 2 * point.params.len() {
                like(&mut Random(9), &point.params)
            } else {
                like(&mut Random(9), &results)
            };
            let at = Point { params: [point.params.clone(), extra].concat(), ..point.clone() };
            let (x, y) = (a.run(&at).expect("it runs").0, b.run(&at).expect("it runs").0);
            assert!(x.iter().flat_map(elements).all(|x| x.is_finite()));
            same(&y, &x, 1e-11).unwrap_or_else(|e| panic!("{e}\n{}", b.show()));
        }
    }
}

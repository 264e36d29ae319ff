//! Derivatives along several directions, side by side: equal results with fewer operations than one
//! direction after another.

use lambada_anf::{Atom, Counts, Derivatives, Nest, Op, Out, Param, Random, Stm, Ty, generate};
use lambada_differentiate::Request;
use lambada_prim::{ScalarTy, Tensor};

use crate::laws::{like, same};
use crate::program::{Point, Program, elements, texts};

/// `x, Ẋ ↦ for j < k { D→f (x, Ẋ[j]) }`, with the results of known sizes only; `k` is a size if
/// `count` is `None`.
fn directions(program: &Program, count: Option<i64>) -> Program {
    let mut all = program.forward();
    let k: Atom = match count {
        Some(k) => Atom::int(k),
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

/// The program with lanes, if its last statement has some.
fn side_by_side(program: &Program) -> Option<Program> {
    let mut lanes = program.clone();
    let last = lanes.f.body.stms.pop()?;
    let stms = Request::default().together(&mut lanes.names, &last)?;
    lanes.f.body.stms.extend(stms);
    let mut function = lanes.function();
    lambada_anf::guard(&mut function);
    (lanes.names, lanes.f.body) = (function.names, function.body);
    lanes.check("side by side");
    Some(lanes)
}

/// Compares both programs at a point and counts their operations; `None` without lanes.
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

/// Compares for several numbers of directions: few, none, one block, more than a block. Returns
/// whether any had lanes.
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

/// Compares a program of `programs/lanes`: a `for` of `k` directions, whose body computes `exp`s of
/// all `x`, which do not depend on the index.
fn by_hand(name: &str) -> [Counts; 2] {
    let program = Program::named(&format!("lanes/{name}"));
    let mut result = [Counts::default(); 2];
    for count in [0, 1, 5, 50] {
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
fn indices_and_control_that_vary() {
    by_hand("indices_that_vary");
    by_hand("additions_at_indices_that_vary");
    by_hand("control_that_varies");
}

/// The value is computed once for each block: 50 directions are two blocks.
#[test]
fn values_are_shared() {
    let [apart, lanes] = by_hand("values_are_shared");
    // exp, sin and a sum for each of 60 elements; a product and a sum for each direction.
    assert!(apart.reals >= 50 * 60 * 5, "{apart:?}");
    assert!(lanes.reals <= 2 * 60 * 3 + 50 * 60 * 2 + 500, "{lanes:?}");
}

/// Memory is the state times the lanes of a block, for any number of directions, plus the result.
#[test]
fn memory_is_bounded() {
    let program = Program::named("lanes/memory");
    let peaks = [64, 256, 1024].map(|k| {
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

/// A `for` without lanes, or that shares nothing, is left as it is.
#[test]
fn refused() {
    for (name, text) in texts("refused") {
        assert!(side_by_side(&Program::read(&text)).is_none(), "{name}");
    }
}

/// Lanes can be differentiated again: the derivative of the sum of all results, in both modes.
#[test]
fn differentiated_again() {
    let program = Program::named("lanes/again");
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

//! The laws, to second order, on programs by hand: each shows a construct, or an error-prone
//! combination.

use lambada_anf::{Atom, Param, Random};
use lambada_prim::{Data, Scalar, ScalarTy, Tensor};
use lambada_testkit::parallel;

use crate::lanes::agree;
use crate::laws::{CLOSELY, Outcome, laws, like};
use crate::program::{Point, Program, elements, texts};

/// The integers of a list in words.
fn integers(text: &str) -> Vec<i64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|k| k.parse().ok()).collect()
}

/// Checks the laws of the programs in `programs/laws` and of both their derivatives, at random
/// points: a line `-- at n = 3; k = 0, 1` gives the sizes and the constants.
#[test]
fn programs_obey_the_laws() {
    parallel(&texts("laws"), |(name, text)| {
        let program = Program::read(text);
        let points = text.lines().filter_map(|line| line.strip_prefix("-- at "));
        for at in points {
            let mut parts = at.split(';').map(integers);
            let sizes = parts.next().unwrap_or_default();
            let constant = |(data, p): (Vec<i64>, &Param)| {
                let dims = p.ty.dims.iter().map(|_| data.len()).collect();
                Tensor { dims, data: Data::Int(data) }
            };
            let constants: Vec<Tensor> = parts.zip(&program.constants).map(constant).collect();
            let mut random = Random(7);
            for _ in 0..3 {
                let params = positive(&program, &sizes, &mut random);
                let point = Point { constants: constants.clone(), params };
                orders(name, &program, &point, &mut random, 2);
            }
        }
        assert!(text.starts_with("-- at "), "{name} is checked nowhere");
    });
}

/// Arguments between ½ and 2, so that roots and logarithms are smooth.
fn positive(program: &Program, sizes: &[i64], random: &mut Random) -> Vec<Tensor> {
    let size = |d: &Atom| match d {
        Atom::Lit(Scalar::Int(k)) => *k as usize,
        Atom::Lit(_) => 0,
        Atom::Var(v) => program.sizes.iter().position(|s| s == v).map_or(0, |k| sizes[k] as usize),
    };
    let one = |p: &Param| {
        let dims: Vec<usize> = p.ty.dims.iter().map(size).collect();
        let data = (0..dims.iter().product()).map(|_| 0.5 + random.real().abs() * 0.75).collect();
        Tensor::reals(dims, data)
    };
    program.f.params.iter().map(one).collect()
}

fn orders(name: &str, program: &Program, point: &Point, random: &mut Random, order: usize) {
    let closely = if order == 2 { CLOSELY } else { 10.0 * CLOSELY };
    match laws(program, point, random, closely).unwrap_or_else(|e| panic!("{name}: {e}")) {
        Outcome::Holds(confirmed) => assert!(
            confirmed.decided > 2 * confirmed.undecided,
            "{name}: {confirmed:?} of order {}: {}",
            3 - order,
            program.show()
        ),
        Outcome::Fails | Outcome::Nan => panic!("{name} does not run"),
    }
    if order == 0 {
        return;
    }
    agree(program, point, random).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut results = program.run(point).expect("the program runs").0;
    results.retain(|t| t.elem() == ScalarTy::Real);
    let (tangents, seeds) = (like(random, &point.params), like(random, &results));
    for (derivative, extra) in [(program.forward(), tangents), (program.reverse(), seeds)] {
        let point = Point { params: [point.params.clone(), extra].concat(), ..point.clone() };
        orders(name, &derivative, &point, random, order - 1);
    }
}

/// `mul` is exact where factors are zero, also in second order.
#[test]
fn products_with_zeros() {
    let program = Program::read(
        "f (xs : [3]real) {
  p : real = for i < 3 (reduce mul) {
    e : real = xs[i]
    => e
  }
  => p : real
}
",
    );
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
    let program = Program::read(
        "f [n] (xs : [n]real) {
  m : real = for i < n (reduce max) {
    e : real = xs[i]
    => e
  }
  => m : real
}
",
    );
    let gradient = program.reverse();
    let at = |xs: &[f64]| {
        let params =
            vec![Tensor::reals(vec![xs.len()], xs.to_vec()), Tensor::scalar(Scalar::Real(1.0))];
        let results = gradient.run(&Point { constants: vec![], params }).expect("runs").0;
        (results[0].as_scalar().expect("a scalar").real(), elements(&results[1]).to_vec())
    };
    assert_eq!(at(&[1.0, 3.0, 3.0]), (3.0, vec![0.0, 1.0, 0.0]));
    assert_eq!(at(&[]), (f64::NEG_INFINITY, vec![]));
    assert_eq!(at(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), (f64::NEG_INFINITY, vec![1.0, 0.0]));
    let (m, g) = at(&[1.0, f64::NAN, 7.0, f64::NAN]);
    assert!(m.is_nan());
    assert_eq!(g, [0.0, 1.0, 0.0, 0.0]);
}

/// A branch in a loop writes whole elements of its tape, and each element once.
#[test]
fn tapes_are_written_by_elements() {
    let derivative = Program::named("laws/tapes_of_loops_in_branches").reverse().show();
    let whole =
        |line: &&str| line.contains("_tape") && line.contains(" with [") && !line.contains(", ");
    assert_eq!(derivative.lines().find(whole), None, "{derivative}");
    assert!(derivative.lines().any(|line| line.contains(" with [k, ")), "{derivative}");
}

/// Reads of state at all distances from the written place: before, after, equal; in one loop, and
/// in two with the axes in both orders.
#[test]
fn reads_near_writes() {
    let orders =
        [0, 1, 2].map(|read| [0, 1, 2].map(|skew| [(read, skew, false), (read, skew, true)]));
    for (read, skew, flip) in orders.into_iter().flatten().flatten() {
        let pair = |i, j| if flip { format!("[{j}, {i}]") } else { format!("[{i}, {j}]") };
        let (here, near, across) = (pair("i1", "j1"), pair("i2", "j2"), pair("j1", "i1"));
        let program = Program::read(&format!(
            "f (a : [5][5]real) (t : real) {{
  z : [5][5]real = loop (r : [5][5]real = a) for i < 3 {{
    z : [5][5]real = loop (s : [5][5]real = r) for j < 3 {{
      i1 : int = add_int i, 1
      j1 : int = add_int j, 1
      i2 : int = add_int i, {read}
      j2 : int = add_int j, {skew}
      e : real = s{near}
      below : bool = lt_int j, i
      v : real = if below {{
        d : real = s{across}
        de : real = mul d, e
        u : real = sin de
        => u
      }} else {{
        u : real = mul e, e
        => u
      }}
      w : real = mul v, t
      x : [5][5]real = s with {here} = w
      again : real = x{here}
      other : real = mul again, again
      y : [5][5]real = x with [0, 0] = other
      => y
    }}
    => z
  }}
  => z : [5][5]real
}}
"
        ));
        let mut random = Random(3);
        let point = Point { constants: vec![], params: positive(&program, &[], &mut random) };
        laws(&program, &point, &mut random, CLOSELY).unwrap_or_else(|e| panic!("{e}"));
    }
}

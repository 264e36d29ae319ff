//! The vector mathematics against multi-precision results: the error of each function over its
//! whole range, in units in the last place, with and without fused operations. All widths give
//! equal results; limits, zeros and NaN agree with the interpreter.

mod common;
mod precise;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};

use common::*;
use lambada_loops::{Function, Return};
use lambada_prim::{Data, Prim, Scalar, ScalarTy, Tensor};
use lambada_run::{Engine, Kernel, Settings, Target};
use lambada_testkit::Random;
use precise::Precise;

/// A function and its error bounds.
struct Case {
    prim: Prim,
    /// The largest error in units in the last place; `docs/src/vector-mathematics.md` states it as
    /// well.
    bound: f64,
    /// Ranges of the arguments.
    ranges: &'static [(f64, f64)],
    /// The exact function of one or two arguments.
    exact: fn(&[Precise]) -> Precise,
    /// Tolerated absolute error for negative arguments, because near the zeros there no formula has
    /// a small relative error.
    absolute: f64,
}

const fn case(
    prim: Prim,
    bound: f64,
    ranges: &'static [(f64, f64)],
    exact: fn(&[Precise]) -> Precise,
) -> Case {
    Case { prim, bound, ranges, exact, absolute: 0.0 }
}

const ALL: (f64, f64) = (-f64::MAX, f64::MAX);

const CASES: &[Case] = &[
    case(Prim::Exp, 1.2, &[(-745.2, 709.8), (-1.0, 1.0), (-745.2, -700.0)], |x| x[0].exp()),
    case(Prim::Expm1, 1.8, &[(-40.0, 709.8), (-2.0, 2.0), (-0.3, 0.3)], |x| x[0].expm1()),
    case(Prim::Log, 1.0, &[(0.0, f64::MAX), (0.5, 2.0), (0.0, 1e-300)], |x| x[0].ln()),
    case(Prim::Log1p, 1.2, &[(-1.0, 3.0), (-0.4, 0.5), (0.0, f64::MAX)], |x| x[0].log1p()),
    case(Prim::Sqrt, 0.5, &[(0.0, f64::MAX), (0.0, 4.0)], |x| x[0].sqrt()),
    case(Prim::Sin, 1.0, &[(-4.0, 4.0), (-1e6, 1e6), ALL], |x| x[0].sin()),
    case(Prim::Cos, 1.0, &[(-4.0, 4.0), (-1e6, 1e6), ALL], |x| x[0].cos()),
    case(Prim::Tan, 1.2, &[(-4.0, 4.0), (-1e6, 1e6), ALL], |x| x[0].tan()),
    case(Prim::Asin, 1.2, &[(-1.0, 1.0), (0.4, 0.6)], |x| x[0].asin()),
    case(Prim::Acos, 1.2, &[(-1.0, 1.0), (0.4, 0.6), (0.999, 1.0)], |x| x[0].acos()),
    case(Prim::Atan, 1.3, &[(-4.0, 4.0), (0.3, 1.3), ALL], |x| x[0].atan()),
    case(Prim::Sinh, 1.8, &[(-2.0, 2.0), (-710.4, 710.4)], |x| x[0].sinh()),
    case(Prim::Cosh, 1.8, &[(-2.0, 2.0), (-710.4, 710.4)], |x| x[0].cosh()),
    case(Prim::Tanh, 1.5, &[(-2.0, 2.0), (-25.0, 25.0)], |x| x[0].tanh()),
    case(Prim::Erf, 1.5, &[(-2.0, 2.0), (-7.0, 7.0)], |x| x[0].erf()),
    case(Prim::Erfc, 4.0, &[(-1.0, 1.0), (-6.0, 27.2), (26.0, 27.2)], |x| x[0].erfc()),
    Case {
        absolute: 1e-15,
        ..case(Prim::Lgamma, 5.0, &[(0.0, 10.0), (0.9, 2.1), (0.0, 1e305), (-30.0, 0.0)], |x| {
            x[0].lgamma()
        })
    },
    Case {
        absolute: 1e-14,
        ..case(Prim::Digamma, 6.0, &[(0.0, 10.0), (1.0, 2.0), (0.0, 1e305), (-30.0, 0.0)], |x| {
            x[0].digamma()
        })
    },
    case(Prim::Pow, 1.5, &[(0.0, 3.0), (0.0, 1e100), (0.5, 2.0)], |x| {
        (x[0].ln() * x[1].clone()).exp()
    }),
    case(
        Prim::Atan2,
        1.8,
        &[(-2.0, 2.0), (-1e300, 1e300), (-1e-300, 1e-300), (-1e-321, 1e-321)],
        |x| atan2(&x[0], &x[1]),
    ),
    case(
        Prim::Hypot,
        1.2,
        &[(-2.0, 2.0), (-1e300, 1e300), (-1e-300, 1e-300), (-1e-321, 1e-321)],
        |x| (&x[0] * &x[0] + &x[1] * &x[1]).sqrt(),
    ),
];

fn atan2(y: &Precise, x: &Precise) -> Precise {
    let angle = (y.abs() / x.abs()).atan();
    let angle = if x.is_negative() { Precise::pi() - angle } else { angle };
    if y.is_negative() { -angle } else { angle }
}

/// Points all over a range: evenly spaced ones, powers of two with random digits, and neighbors of
/// the points where an implementation changes its formula.
fn points(range: (f64, f64), random: &mut Random, count: usize) -> Vec<f64> {
    const EDGES: [f64; 24] = [
        0.25,
        0.3466,
        0.4375,
        0.5,
        0.55,
        0.6875,
        FRAC_1_SQRT_2,
        FRAC_PI_4,
        1.0,
        SQRT_2,
        1.25,
        1.4616321449683622,
        1.5,
        FRAC_PI_2,
        2.0,
        2.356194490192345,
        2.5,
        PI,
        4.0,
        6.0,
        8.0,
        10.0,
        20.0,
        1048576.0,
    ];
    let (low, high) = range;
    let mut points = Vec::new();
    while points.len() < count {
        let exponent = random.between(-1074.0, 1024.0) as i32;
        let wide = (1.0 + random.between(0.0, 1.0))
            * 2f64.powi(exponent / 2)
            * 2f64.powi(exponent - exponent / 2);
        let near = 2f64.powi(random.below(24) as i32 - 20) * random.between(1.0, 2.0);
        let inside = random.between(low / 2.0, high / 2.0) * 2.0;
        let edge = random.pick(&EDGES);
        let beside =
            f64::from_bits(edge.to_bits().wrapping_add(random.below(9) as u64).wrapping_sub(4));
        // The nearest to a multiple of a right angle.
        let turn = (random.bits() >> (12 + random.below(50)) as u64) as f64 * FRAC_PI_2;
        let chosen = random.pick(&[inside, wide, near, beside, turn]);
        let x = if random.once_in(2) { chosen } else { -chosen };
        points.extend([chosen, x].into_iter().filter(|x| (low..=high).contains(x)).take(1));
    }
    points
}

fn arguments(case: &Case, random: &mut Random) -> Vec<Vec<f64>> {
    const COUNT: usize = 240;
    let two = case.prim.args().len() == 2;
    let mut columns = vec![Vec::new(); case.prim.args().len()];
    for range in case.ranges {
        let first = points(*range, random, COUNT);
        if two {
            let second = first.iter().map(|x| match case.prim {
                Prim::Pow => exponent(*x, random),
                _ => {
                    let ratio = random.between(-60.0, 60.0).exp2();
                    let ratio = if random.once_in(2) { ratio } else { random.between(-3.0, 3.0) };
                    (x * ratio).clamp(-1e308, 1e308)
                }
            });
            columns[1].extend(second.collect::<Vec<_>>());
        }
        columns[0].extend(first);
    }
    columns
}

/// An exponent that avoids overflow and results of 1.
fn exponent(x: f64, random: &mut Random) -> f64 {
    let largest = 745.0 / x.ln().abs().max(1e-9);
    match random.below(3) {
        0 => random.between(-4.0, 4.0).clamp(-largest, largest),
        1 => random.between(-largest, largest),
        _ => (random.between(-1.0, 1.0) * largest.min(1e6)).round().clamp(-largest, largest),
    }
}

/// `for i { out[i] = prim(x[i] …) }`, with `lanes` lanes.
fn elementwise(prim: Prim, lanes: u16) -> Function {
    let mut b = Builder::new(&format!("{}_{lanes}", prim.name()));
    let n = b.size("n");
    let args: Vec<_> = prim.args().iter().map(|elem| b.buffer(*elem, "x")).collect();
    let out = b.alloc(prim.result(), n, "out");
    b.for_loop(int(0), n, i64::from(lanes), |b, i| {
        let args: Vec<_> = args.iter().map(|arg| b.load(*arg, i, lanes)).collect();
        let value = b.prim_lanes(prim, &args, lanes);
        b.store(out, i, value);
    });
    b.finish(vec![Return::Buffer(out, vec![n])])
}

fn run(kernel: &Kernel, columns: &[Vec<f64>]) -> Vec<f64> {
    let mut args = vec![Tensor::scalar(Scalar::Int(columns[0].len() as i64))];
    args.extend(columns.iter().map(|column| Tensor::reals(vec![column.len()], column.clone())));
    match kernel.call(&args).unwrap().remove(0).data {
        Data::Real(values) => values,
        Data::Int(_) | Data::Bool(_) => unreachable!("these functions give reals"),
    }
}

/// The error of a result in units in the last place.
fn error(found: f64, exact: &Precise) -> f64 {
    let value = exact.to_f64();
    if value.is_infinite() || value.abs() > f64::MAX {
        return if found == value { 0.0 } else { f64::INFINITY };
    }
    if !found.is_finite() {
        // Half a unit beyond the largest number, the result may be rounded to infinity.
        let beyond = found.is_infinite() && value.abs() == f64::MAX;
        return if beyond { 1.0 } else { f64::INFINITY };
    }
    let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(-1022);
    // Scales in two steps, as the unit may be subnormal.
    let scaled = (Precise::new(found) - exact.clone()) * Precise::new(2f64.powi(52 - exponent / 2));
    (scaled * Precise::new(2f64.powi(exponent / 2 - exponent))).to_f64().abs()
}

fn kernels(lanes: u16, settings: Settings) -> Vec<Kernel> {
    let functions: Vec<Function> = CASES.iter().map(|case| elementwise(case.prim, lanes)).collect();
    Kernel::compile_with(&functions.iter().collect::<Vec<_>>(), settings).unwrap()
}

#[test]
fn errors_are_within_their_bounds() {
    let mut random = Random(7);
    let ways = [(Target::Here, true), (Target::Here, false), (Target::Any, false)]
        .map(|(target, contract)| Settings { target, contract, ..Settings::default() });
    let own = Settings { engine: Engine::Jit, ..Settings::default() };
    let ways: Vec<Settings> = ways.into_iter().chain([own]).collect();
    let all = ways.iter().map(|way| kernels(if *way == own { 4 } else { 8 }, *way));
    let all: Vec<Vec<Kernel>> = all.collect();
    let mut complaints = Vec::new();
    for (k, case) in CASES.iter().enumerate() {
        let columns = arguments(case, &mut random);
        let results: Vec<Vec<f64>> = all.iter().map(|kernels| run(&kernels[k], &columns)).collect();
        let mut worst = (0.0, String::new());
        for point in 0..columns[0].len() {
            let args: Vec<f64> = columns.iter().map(|column| column[point]).collect();
            // The comparison with the interpreter below covers zeros and poles.
            let pole = args[0] < 0.0 && args[0].fract() == 0.0;
            let zero = case.prim == Prim::Lgamma && [1.0, 2.0].contains(&args[0]);
            if args.contains(&0.0) || pole || zero {
                continue;
            }
            let exact = (case.exact)(&args.iter().map(|x| Precise::new(*x)).collect::<Vec<_>>());
            for (result, way) in results.iter().zip(&ways) {
                // On this engine the scalar function runs, which has another bound.
                if case.prim == Prim::Digamma && *way == own {
                    continue;
                }
                let found = result[point];
                let mut error = error(found, &exact);
                if args[0] < 0.0 && (found - exact.to_f64()).abs() <= case.absolute {
                    error = error.min(case.bound);
                }
                if error > worst.0 {
                    let what = format!("{args:?}: {found:e}, not {:e}, {way:?}", exact.to_f64());
                    worst = (error, what);
                }
            }
        }
        println!("{:8} {:.2} of {:.1} at {}", case.prim.name(), worst.0, case.bound, worst.1);
        if worst.0 > case.bound {
            complaints.push(format!("{}: {:.3} at {}", case.prim.name(), worst.0, worst.1));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A lane's result does not depend on the width.
#[test]
fn all_widths_give_the_same() {
    let mut random = Random(8);
    for (target, contract) in [(Target::Here, true), (Target::Here, false), (Target::Any, false)] {
        let settings = Settings { target, contract, ..Settings::default() };
        let all: Vec<Vec<Kernel>> = [2, 4, 8, 16].map(|lanes| kernels(lanes, settings)).into();
        for (k, case) in CASES.iter().enumerate() {
            let columns = arguments(case, &mut random);
            let bits = |kernels: &Vec<Kernel>| -> Vec<u64> {
                run(&kernels[k], &columns).iter().map(|value| value.to_bits()).collect()
            };
            let expected = bits(&all[0]);
            for kernels in &all[1..] {
                assert_eq!(bits(kernels), expected, "{} with {settings:?}", case.prim.name());
            }
        }
    }
}

/// With flushed subnormal numbers, functions agree to the last places with the usual mode where
/// arguments and results are normal; intermediate values may be subnormal. A subnormal argument may
/// count as zero.
#[test]
fn subnormal_numbers_may_be_zeros() {
    let mut random = Random(9);
    let usual = Settings::default();
    let flushing = Settings { flush_subnormals: true, ..usual };
    for lanes in [1, 8] {
        let (strict, flushed) = (kernels(lanes, usual), kernels(lanes, flushing));
        for (k, case) in CASES.iter().enumerate() {
            let columns = arguments(case, &mut random);
            let zeros: Vec<Vec<f64>> = columns.iter().map(|xs| without_subnormals(xs)).collect();
            let [full, none, found] =
                [(&strict, &columns), (&strict, &zeros), (&flushed, &columns)]
                    .map(|(kernels, columns)| run(&kernels[k], columns));
            for (point, found) in found.into_iter().enumerate() {
                let place = 2.0 * case.bound * f64::EPSILON;
                let near = |expected: f64| {
                    let least = 4.0 * f64::MIN_POSITIVE + 2.0 * case.absolute;
                    let same = found == expected || found.is_nan() && expected.is_nan();
                    same || (found - expected).abs() <= place * expected.abs() + least
                };
                let args: Vec<f64> = columns.iter().map(|column| column[point]).collect();
                // The angle of the zero vector is arbitrary.
                if case.prim == Prim::Atan2 && args.iter().all(|x| x.is_subnormal()) {
                    continue;
                }
                let what = format!("{} {args:?} on {lanes} lanes is {found:e}", case.prim.name());
                let (full, none) = (full[point], none[point]);
                assert!(near(full) || near(none), "{what}, neither {full:e} nor {none:e}");
            }
        }
    }
}

/// Replaces subnormal numbers by zeros.
fn without_subnormals(xs: &[f64]) -> Vec<f64> {
    xs.iter().map(|x| if x.is_subnormal() { 0.0_f64.copysign(*x) } else { *x }).collect()
}

/// Infinities, NaNs and zeros agree with the interpreter, signs included.
#[test]
fn ends_are_exact() {
    const ENDS: [f64; 28] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1.5,
        -2.5,
        8.0,
        1e-310,
        -1e-310,
        5e-324,
        -5e-324,
        1e300,
        -1e300,
        f64::MAX,
        -f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        9007199254740991.0,
        -9007199254740993.0,
        1e-20,
        -1e-20,
    ];
    let functions = |lanes| -> Vec<(Prim, Function)> {
        let rounding = [Prim::Floor, Prim::Ceil, Prim::Round, Prim::Sign];
        let all = CASES.iter().map(|case| case.prim).chain(rounding);
        all.map(|prim| (prim, elementwise(prim, lanes))).collect()
    };
    let functions = functions(4);
    let compiled = |engine| {
        let settings = Settings { engine, ..Settings::default() };
        let functions: Vec<&Function> = functions.iter().map(|(_, f)| f).collect();
        Kernel::compile_with(&functions, settings).unwrap()
    };
    let kernels = [compiled(Engine::Native), compiled(Engine::Jit)];
    let with = |kernels| functions.iter().zip(kernels);
    for ((prim, _), kernel) in kernels.iter().flat_map(with) {
        let pairs = ENDS.iter().flat_map(|x| ENDS.iter().map(move |y| (*x, *y)));
        let columns: Vec<Vec<f64>> = match prim.args().len() {
            1 => vec![ENDS.to_vec()],
            _ => {
                vec![pairs.clone().map(|pair| pair.0).collect(), pairs.map(|pair| pair.1).collect()]
            }
        };
        let found = run(kernel, &columns);
        for (point, found) in found.iter().enumerate() {
            let args: Vec<Scalar> =
                columns.iter().map(|column| Scalar::Real(column[point])).collect();
            let expected = prim.eval(&args).real();
            let ends = !expected.is_finite() || expected == 0.0;
            // The least subnormal numbers may become zero.
            let tiny = expected.abs() < 1e-320 && (found - expected).abs() <= 1e-323;
            let same = if ends || prim.result() != ScalarTy::Real {
                found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan())
            } else {
                (found - expected).abs() <= 1e-14 * expected.abs() + 1e-15 || tiny
            };
            let by = kernel.engine();
            assert!(same, "{} {args:?} is {found:e}, not {expected:e}, {by:?}", prim.name());
        }
    }
}

/// The bounds in the manual's table are those of the tests.
#[test]
fn the_manual_has_these_bounds() {
    const PAGE: &str = include_str!("../../../docs/src/vector-mathematics.md");
    let rows: Vec<(&str, &str)> = PAGE
        .split("32 bits](types.md") // what follows is another table
        .take(1)
        .flat_map(str::lines)
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .map(|(name, rest)| (name, rest.split(' ').next().unwrap_or_default()))
        .collect();
    let bounds: Vec<String> = CASES.iter().map(|case| format!("{:.1}", case.bound)).collect();
    let expected: Vec<(&str, &str)> =
        CASES.iter().zip(&bounds).map(|(case, bound)| (case.prim.name(), bound.as_str())).collect();
    assert_eq!(rows, expected);
}

use super::numeric::{derivatives, slope};
use super::*;
use crate::vector::VECTOR_HELPERS;
use crate::{CText, Prim, ReduceOp, Scalar, ScalarTy, Surface, c_helper};
use lambada_testkit::{Random, Tolerance, close};

/// A point in the interior of the domain of a row.
fn sample(row: &Row, random: &mut Random) -> Vec<Scalar> {
    let draw = |(ty, (low, high)): (&ScalarTy, &(f64, f64))| {
        let value = low + (high - low) * (0.1 + 0.8 * random.between(0.0, 1.0));
        match ty {
            ScalarTy::Real => Scalar::Real(value),
            ScalarTy::Int => Scalar::Int(value.round() as i64),
            ScalarTy::Bool => Scalar::Bool(value < 0.5),
        }
    };
    row.args.iter().zip(row.domain.samples).map(draw).collect()
}

fn moved(at: &[Scalar], by: usize, step: f64) -> Vec<Scalar> {
    let mut at = at.to_vec();
    at[by] = Scalar::Real(at[by].real() + step);
    at
}

fn assert_close(a: f64, b: f64, tolerance: f64, what: &str) {
    close(&what, a, b, Tolerance::mixed(tolerance)).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn examples_hold() {
    for &prim in Prim::ALL {
        let row = prim.row();
        let (args, result) = row.example;
        assert!(args.iter().map(|arg| arg.ty()).eq(row.args.iter().copied()), "{}", row.name);
        assert_eq!(result.ty(), row.result, "{}", row.name);
        match (prim.eval(args), result) {
            (Scalar::Real(a), Scalar::Real(b)) => assert_close(a, b, 1e-15, row.name),
            (a, b) => assert_eq!(a, b, "{}", row.name),
        }
    }
}

#[test]
fn rows_are_well_formed() {
    for (k, &prim) in Prim::ALL.iter().enumerate() {
        let row = prim.row();
        assert_eq!(prim as usize, k);
        assert_eq!(Prim::from_name(row.name), Some(prim), "{} is not unique", row.name);
        assert_eq!(prim.partials().len(), row.args.len(), "{}", row.name);
        for (partial, ty) in prim.partials().iter().zip(row.args) {
            assert!(
                partial.is_none() || (*ty, row.result) == (ScalarTy::Real, ScalarTy::Real),
                "{}",
                row.name
            );
        }
        let differentiable = row.result == ScalarTy::Real && row.args.contains(&ScalarTy::Real);
        assert_eq!(
            row.domain.samples.len(),
            if differentiable { row.args.len() } else { 0 },
            "{}",
            row.name
        );
        let arity = match row.surface {
            Surface::Infix(_) => Some(2),
            Surface::Prefix(_) => Some(1),
            Surface::If => Some(3),
            Surface::Call(_) => None,
        };
        assert!(arity.is_none_or(|arity| arity == row.args.len()), "{}", row.name);
    }
}

#[test]
fn partials_are_derivatives() {
    let mut random = Random(1);
    for &prim in Prim::ALL.iter().filter(|prim| !prim.row().domain.samples.is_empty()) {
        for _ in 0..50 {
            let at = sample(prim.row(), &mut random);
            for by in (0..at.len()).filter(|&k| prim.args()[k] == ScalarTy::Real) {
                let expected = slope(|step| prim.eval(&moved(&at, by, step)).real(), 0.02);
                assert_close(
                    derivatives(prim, &at, by, by).0,
                    expected,
                    1e-9,
                    &format!("{} by {by} at {at:?}", prim.name()),
                );
            }
        }
    }
}

#[test]
fn partials_of_partials_are_second_derivatives() {
    let mut random = Random(2);
    for &prim in Prim::ALL.iter().filter(|prim| !prim.row().domain.samples.is_empty()) {
        for _ in 0..20 {
            let at = sample(prim.row(), &mut random);
            let reals = || (0..prim.args().len()).filter(|&k| prim.args()[k] == ScalarTy::Real);
            for (by, again) in reals().flat_map(|by| reals().map(move |again| (by, again))) {
                let expected =
                    slope(|step| derivatives(prim, &moved(&at, again, step), by, by).0, 0.02);
                let found = derivatives(prim, &at, by, again).1;
                assert_close(
                    found,
                    expected,
                    1e-9,
                    &format!("{} by {by}, {again} at {at:?}", prim.name()),
                );
            }
        }
    }
}

/// From 60 digits; far from 1 the squares in the textbook's formulas would overflow and underflow.
#[test]
fn derivatives_far_from_one() {
    let cases: &[(Prim, [f64; 2], [f64; 2])] = &[
        (Prim::Atan2, [1e200, 1e200], [5e-201, -5e-201]),
        (Prim::Atan2, [3e-200, -4e-200], [-1.6e199, -1.2e199]),
        (Prim::Atan2, [1e-300, 2.0], [0.5, -2.5e-301]),
        (Prim::Hypot, [3e200, -4e200], [0.6, -0.8]),
        (Prim::Hypot, [3e-200, 4e-200], [0.6, 0.8]),
    ];
    for (prim, at, expected) in cases {
        let at = at.map(Scalar::Real);
        for (by, expected) in expected.iter().enumerate() {
            let found = derivatives(*prim, &at, by, by).0;
            let error = (found / expected - 1.0).abs();
            assert!(error < 1e-15, "{} {at:?} by {by}: {found}", prim.name());
        }
    }
}

/// `sin`, `cos` and `tan` are those of the system's C library. Here the argument is as close to a
/// multiple of π/2 as a double can be.
#[test]
fn large_angles_are_reduced() {
    let x = Scalar::Real(6381956970095103.0 * f64::powi(2.0, 797));
    for (prim, expected, ulps) in [
        (Prim::Sin, 1.0, 1.0),
        (Prim::Cos, -4.687165924254628e-19, 16.0),
        (Prim::Tan, -2.1334853857537037e18, 16.0),
    ] {
        let found = prim.eval(&[x]).real();
        let error = (found / expected - 1.0).abs() / f64::EPSILON;
        assert!(error <= ulps, "{}: {found:e} is {error} ulps off", prim.name());
    }
}

#[test]
fn units_are_neutral() {
    for op in ReduceOp::ALL {
        for (ty, value) in [
            (ScalarTy::Real, Scalar::Real(-2.5)),
            (ScalarTy::Int, Scalar::Int(7)),
            (ScalarTy::Bool, Scalar::Bool(true)),
        ] {
            if op.accepts(ty) {
                assert_eq!(op.prim(ty).eval(&[op.unit(ty), value]), value, "{}", op.name());
                assert_eq!(op.prim(ty).eval(&[value, op.unit(ty)]), value, "{}", op.name());
            }
        }
    }
}

#[test]
fn helpers_are_complete() {
    for &prim in Prim::ALL {
        if let CText::Call(name) | CText::Math { scalar: name, .. } = prim.row().c {
            assert_eq!(name.starts_with("lam_"), c_helper(name).is_some(), "{name}");
        }
        let math = matches!(prim.row().c, CText::Math { .. });
        assert_eq!(prim.row().c.on_lanes().is_some(), math, "{}", prim.name());
    }
    for (k, helper) in VECTOR_HELPERS.iter().enumerate() {
        let is_earlier = |need: &&str| VECTOR_HELPERS[..k].iter().any(|other| other.name == *need);
        assert!(helper.needs.iter().all(is_earlier), "{}", helper.name);
        // It needs exactly the helpers that it calls.
        for other in VECTOR_HELPERS.iter().filter(|other| other.name != helper.name) {
            let calls = [format!("lam_{}_x$(", other.name), format!("lam_{}(", other.name)]
                .iter()
                .any(|call| helper.text.contains(call));
            assert_eq!(
                calls,
                helper.needs.contains(&other.name),
                "{}: {}",
                helper.name,
                other.name
            );
        }
    }
    for (k, helper) in HELPERS.iter().enumerate() {
        assert!(
            helper
                .needs
                .iter()
                .all(|need| HELPERS[..k].iter().any(|earlier| earlier.name == *need)),
            "{}",
            helper.name
        );
    }
}

#[test]
fn c_text_is_applied() {
    assert_eq!(Prim::Add.row().c.apply(&["a", "b"]), "a + b");
    assert_eq!(Prim::Not.row().c.apply(&["a"]), "!a");
    assert_eq!(Prim::Pow.row().c.apply(&["a", "b"]), "pow(a, b)");
    assert_eq!(Prim::Select.row().c.apply(&["a", "$2", "c"]), "a ? $2 : c");
}

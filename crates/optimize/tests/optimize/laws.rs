//! The laws of algebra hold for numbers, special values included.

use lambada_anf::Random;
use lambada_optimize::{LAWS, POWERS, Pattern};
use lambada_prim::{Scalar, ScalarTy};

/// Infers the types of a law's pattern variables.
fn infer(pattern: Pattern, ty: ScalarTy, types: &mut [Option<ScalarTy>; 3]) {
    match pattern {
        Pattern::Any(k) => types[k] = Some(ty),
        Pattern::Op(op, parts) => {
            parts.iter().zip(op.args()).for_each(|(p, ty)| infer(*p, *ty, types))
        }
        Pattern::Real(_) | Pattern::Int(_) | Pattern::Bool(_) => {}
    }
}

fn value(pattern: Pattern, of: &[Option<Scalar>; 3]) -> Scalar {
    match pattern {
        Pattern::Any(k) => of[k].unwrap(),
        Pattern::Real(x) => Scalar::Real(x),
        Pattern::Int(k) => Scalar::Int(k),
        Pattern::Bool(b) => Scalar::Bool(b),
        Pattern::Op(op, parts) => op.eval(&parts.iter().map(|p| value(*p, of)).collect::<Vec<_>>()),
    }
}

fn draw(random: &mut Random, ty: ScalarTy) -> Scalar {
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 1e-300];
    match ty {
        ScalarTy::Real if random.once_in(3) => Scalar::Real(random.pick(&special)),
        ScalarTy::Real => Scalar::Real(random.real()),
        ScalarTy::Int if random.once_in(4) => Scalar::Int(random.bits() as i64),
        ScalarTy::Int => Scalar::Int(random.below(7) as i64 - 3),
        ScalarTy::Bool => Scalar::Bool(random.once_in(2)),
    }
}

fn close(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Real(x), Scalar::Real(y)) if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
        (Scalar::Real(x), Scalar::Real(y)) if x == 0.0 && y == 0.0 => {
            x.is_sign_negative() == y.is_sign_negative()
        }
        (Scalar::Real(x), Scalar::Real(y)) => {
            x == y || (x - y).abs() <= 1e-14 * x.abs().max(y.abs())
        }
        (Scalar::Real(_) | Scalar::Int(_) | Scalar::Bool(_), _) => a == b,
    }
}

#[test]
fn laws_hold() {
    let mut random = Random(1);
    for law in LAWS.iter().chain(POWERS) {
        let mut types = [None; 3];
        law.args.iter().zip(law.op.args()).for_each(|(p, ty)| infer(*p, *ty, &mut types));
        for _ in 0..300 {
            let of = types.map(|ty| ty.map(|ty| draw(&mut random, ty)));
            // The conversion of such large ints to real is not injective.
            if law.name == "real of a truncated int"
                && of[0].is_some_and(|k| k.int().abs() > 1 << 50)
            {
                continue;
            }
            let (left, right) = (value(Pattern::Op(law.op, law.args), &of), value(law.right, &of));
            assert!(close(left, right), "{}: {left:?} is not {right:?} for {of:?}", law.name);
        }
    }
}

#[test]
fn laws_have_names_of_their_own() {
    let names: Vec<_> = LAWS.iter().chain(POWERS).map(|law| law.name).collect();
    for (k, name) in names.iter().enumerate() {
        assert!(!names[..k].contains(name), "{name}");
    }
}

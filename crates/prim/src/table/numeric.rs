//! For tests: derivatives of rows as numbers, from the partials and from differences.

use crate::{Expr, Prim, Scalar};

/// A value and, if it depends on the argument that is differentiated by, its derivative.
#[derive(Clone, Copy)]
struct Moving {
    value: Scalar,
    rate: Option<f64>,
}

/// The first derivative of a primitive by the argument `by`, and the derivative of that by the
/// argument `again`, both from the partials.
pub(crate) fn derivatives(prim: Prim, at: &[Scalar], by: usize, again: usize) -> (f64, f64) {
    let args: Vec<Moving> =
        (0..at.len()).map(|k| Moving { value: at[k], rate: (k == again).then_some(1.0) }).collect();
    match &prim.partials()[by] {
        Some(partial) => {
            let derivative = moving(partial, &args, apply(prim, &args));
            (derivative.value.real(), derivative.rate.unwrap_or(0.0))
        }
        None => (0.0, 0.0),
    }
}

/// An expression, at arguments that move.
fn moving(expr: &Expr, args: &[Moving], out: Moving) -> Moving {
    expr.emit(args, out, &mut |prim, args| apply(prim, &args), &mut |value| Moving {
        value,
        rate: None,
    })
}

/// A primitive, at arguments that move: the chain rule.
fn apply(prim: Prim, args: &[Moving]) -> Moving {
    let values: Vec<Scalar> = args.iter().map(|arg| arg.value).collect();
    let value = prim.eval(&values);
    let pushed = prim
        .partials()
        .iter()
        .zip(args)
        .filter_map(|(partial, arg)| Some(push(partial.as_ref()?, &values, value, arg.rate?)));
    Moving { value, rate: pushed.reduce(|a, b| a + b) }
}

/// The product of a partial and a rate.
fn push(partial: &Expr, values: &[Scalar], out: Scalar, rate: f64) -> f64 {
    partial
        .emit_scaled(
            values,
            out,
            Scalar::Real(rate),
            &mut |prim, args| prim.eval(&args),
            &mut |value| value,
        )
        .real()
}

/// The derivative of `f` at 0 by central differences with steps `h`, `h/2`, …, extrapolated to 0.
pub(crate) fn slope(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    let mut row: Vec<f64> =
        (0..5).map(|k| h / f64::powi(2.0, k)).map(|h| (f(h) - f(-h)) / (2.0 * h)).collect();
    for order in 1..row.len() {
        let weight = f64::powi(4.0, order as i32);
        row = row.windows(2).map(|pair| (weight * pair[1] - pair[0]) / (weight - 1.0)).collect();
    }
    row[0]
}

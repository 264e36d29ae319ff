//! Functions that combine the lanes of a vector to one.

use lambada_prim::{Precision, ReduceOp, ScalarTy};

use crate::text::{self, Text};

/// A function that folds a vector of as many lanes, in a `register`, to a `scalar`.
pub(crate) fn text(
    precision: Precision,
    name: &str,
    (op, elem): (ReduceOp, ScalarTy),
    [register, scalar]: [&str; 2],
    lanes: u16,
) -> String {
    if op == ReduceOp::Add && elem == ScalarTy::Real {
        return sum(precision, name, lanes);
    }
    let value = fold(precision, op, elem, lanes);
    format!("static inline {scalar} {name}({register} x) {{\n    return {value};\n}}\n")
}

/// A sum of lanes by halves, as vectors while they are wide enough: three additions where one lane
/// after the other takes seven.
fn sum(precision: Precision, name: &str, lanes: u16) -> String {
    let elem = precision.c();
    let mut text = format!("static inline {elem} {name}({precision}x{lanes} x) {{\n");
    let (mut whole, mut all) = ("x".to_string(), lanes);
    let mut ty = format!("{precision}x{lanes}");
    while u32::from(all) * precision.bytes(ScalarTy::Real) > 16 {
        all /= 2;
        let bytes = u32::from(all) * precision.bytes(ScalarTy::Real);
        text += &format!(
            "    typedef {elem} x{all} __attribute__((vector_size({bytes})));\n    \
             union {{ {ty} all; x{all} half[2]; }} of_{all} = {{{whole}}};\n"
        );
        (whole, ty) = (format!("of_{all}.half[0] + of_{all}.half[1]"), format!("x{all}"));
    }
    let lane = match ty.as_str() {
        _ if all == lanes => "x",
        ty => {
            text += &format!("    {ty} y = {whole};\n");
            "y"
        }
    };
    let rest =
        fold(precision, ReduceOp::Add, ScalarTy::Real, all).replace("x[", &format!("{lane}["));
    text + &format!("    return {rest};\n}}\n")
}

/// Halves until one lane is left, as the interpreter does. Masks are combined without branches.
fn fold(precision: Precision, op: ReduceOp, elem: ScalarTy, lanes: u16) -> String {
    if elem == ScalarTy::Bool {
        let bits = if op == ReduceOp::Or { " | " } else { " & " };
        let all: Vec<String> = (0..lanes).map(|k| format!("x[{k}]")).collect();
        return format!("({}) != 0", all.join(bits));
    }
    let spelling = op.prim(elem).row().c;
    let mut values: Vec<Text> = (0..lanes).map(|k| Text::atom(format!("x[{k}]"))).collect();
    while values.len() > 1 {
        let half = values.len() / 2;
        values = (0..half)
            .map(|k| {
                text::apply(precision, spelling, &[values[k].clone(), values[k + half].clone()])
            })
            .collect();
    }
    values.swap_remove(0).text
}

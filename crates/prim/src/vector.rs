//! Vector mathematics: the text of functions on vectors, in GNU C. In each, `$` stands for the
//! number of lanes. They call nothing of `libm`, are exact where the functions of C are
//! (infinities, NaN, signed zeros, overflow) and give the same result in each lane, for all widths.
//!
//! Coefficients are made by `benches/coefficients.rs` of `lambada-run`; how large the errors are
//! says `docs/src/vector-mathematics.md`, and a test of `lambada-run` holds the functions to it.
//!
//! * Assumes: the types `f64x$` and `i64x$`; `lam_select_f64x$` and `lam_splat_f64x$`; no
//!   reassociation by the C compiler. It may or may not contract `a * b + c`: the products whose
//!   rounding matters are exact, or their rest is taken of all that they are used for.

/// A function on vectors.
#[derive(Debug, PartialEq, Eq)]
pub struct VectorHelper {
    /// Its name without `lam_` and `_x$`.
    pub name: &'static str,
    /// Others that it calls; their text comes first.
    pub needs: &'static [&'static str],
    /// A complete definition.
    pub text: &'static str,
}

const fn row(
    name: &'static str,
    needs: &'static [&'static str],
    text: &'static str,
) -> VectorHelper {
    VectorHelper { name, needs, text }
}

/// The function of this name.
pub fn vector_helper(name: &str) -> Option<&'static VectorHelper> {
    VECTOR_HELPERS.iter().find(|helper| helper.name == name)
}

/// The function of this name on lanes of 32 bits, `lam_NAME_f32x$`, where it has a text of its own:
/// there polynomials are shorter, and there are twice as many lanes. All others are computed on
/// lanes of 64 bits, and rounded.
pub fn single_helper(name: &str) -> Option<&'static VectorHelper> {
    SINGLE_HELPERS.iter().find(|helper| helper.name == name)
}

/// On lanes of 32 bits. They assume the types `f32x$` and `i32x$`.
const SINGLE_HELPERS: &[VectorHelper] = &[
    row("sign_of", &[], include_str!("vector/single/sign_of.c")),
    row("min", &[], include_str!("vector/single/min.c")),
    row("max", &[], include_str!("vector/single/max.c")),
    row("at_most", &[], include_str!("vector/single/at_most.c")),
    row("at_least", &[], include_str!("vector/single/at_least.c")),
    row("scaled", &[], include_str!("vector/single/scaled.c")),
    row("exp_kernel", &["scaled"], include_str!("vector/single/exp_kernel.c")),
    row("exp", &["at_most", "at_least", "exp_kernel"], include_str!("vector/single/exp.c")),
    row("log_split", &[], include_str!("vector/single/log_split.c")),
    row("log_kernel", &[], include_str!("vector/single/log_kernel.c")),
    row("log_ends", &[], include_str!("vector/single/log_ends.c")),
    row("log", &["log_split", "log_kernel", "log_ends"], include_str!("vector/single/log.c")),
    row("log1p", &["log_split", "log_kernel", "log_ends"], include_str!("vector/single/log1p.c")),
    row("tanh", &["sign_of", "at_most", "exp_kernel"], include_str!("vector/single/tanh.c")),
    row("sqrt", &[], include_str!("vector/single/sqrt.c")),
    row("nearest", &["sign_of"], include_str!("vector/single/nearest.c")),
    row("floor", &["nearest"], include_str!("vector/single/floor.c")),
    row("ceil", &["sign_of", "nearest"], include_str!("vector/single/ceil.c")),
    row("round", &["sign_of", "nearest"], include_str!("vector/single/round.c")),
    row("sign", &[], include_str!("vector/single/sign.c")),
];

/// All of them; each stands after those that it needs.
pub(crate) const VECTOR_HELPERS: &[VectorHelper] = &[
    row("any", &[], include_str!("vector/any.c")),
    row("rest", &[], include_str!("vector/rest.c")),
    row("sign_of", &[], include_str!("vector/sign_of.c")),
    row("min", &[], include_str!("vector/min.c")),
    row("max", &[], include_str!("vector/max.c")),
    row("at_most", &[], include_str!("vector/at_most.c")),
    row("at_least", &[], include_str!("vector/at_least.c")),
    row("scaled", &[], include_str!("vector/scaled.c")),
    row("exp_whole", &[], include_str!("vector/exp_whole.c")),
    row("exp_rest", &[], include_str!("vector/exp_rest.c")),
    row("exp_tail", &[], include_str!("vector/exp_tail.c")),
    row("exp_power", &["scaled", "exp_tail"], include_str!("vector/exp_power.c")),
    row("exp_kernel", &["exp_whole", "exp_rest", "exp_power"], include_str!("vector/exp_kernel.c")),
    row("exp", &["at_most", "at_least", "exp_kernel"], include_str!("vector/exp.c")),
    row(
        "expm1",
        &["at_most", "at_least", "scaled", "exp_whole", "exp_tail"],
        include_str!("vector/expm1.c"),
    ),
    row("log_split", &[], include_str!("vector/log_split.c")),
    row("log_kernel", &[], include_str!("vector/log_kernel.c")),
    row("log_ends", &[], include_str!("vector/log_ends.c")),
    row("log", &["log_split", "log_kernel", "log_ends"], include_str!("vector/log.c")),
    row("log1p", &["log_split", "log_kernel", "log_ends"], include_str!("vector/log1p.c")),
    row("turn_large", &[], include_str!("vector/turn_large.c")),
    row("turn", &["any", "turn_large"], include_str!("vector/turn.c")),
    row("sin_tail", &[], include_str!("vector/sin_tail.c")),
    row("cos_tail", &[], include_str!("vector/cos_tail.c")),
    row("sin_turned", &["turn", "sin_tail", "cos_tail"], include_str!("vector/sin_turned.c")),
    row("sin", &["sin_turned"], include_str!("vector/sin.c")),
    row("cos", &["sin_turned"], include_str!("vector/cos.c")),
    row("tan", &["rest", "turn", "sin_tail", "cos_tail"], include_str!("vector/tan.c")),
    row("atan_kernel", &[], include_str!("vector/atan_kernel.c")),
    row("atan", &["sign_of", "atan_kernel"], include_str!("vector/atan.c")),
    row("atan2", &["sign_of", "atan_kernel"], include_str!("vector/atan2.c")),
    row("root", &[], include_str!("vector/root.c")),
    row("sqrt", &["root"], include_str!("vector/sqrt.c")),
    row("asin_tail", &[], include_str!("vector/asin_tail.c")),
    row("root_rest", &[], include_str!("vector/root_rest.c")),
    row("asin", &["sign_of", "root", "asin_tail", "root_rest"], include_str!("vector/asin.c")),
    row("acos", &["root", "asin_tail", "root_rest"], include_str!("vector/acos.c")),
    row(
        "half_exp",
        &["at_most", "exp_whole", "exp_rest", "exp_power"],
        include_str!("vector/half_exp.c"),
    ),
    row("sinh", &["sign_of", "half_exp"], include_str!("vector/sinh.c")),
    row("cosh", &["half_exp"], include_str!("vector/cosh.c")),
    row("tanh", &["sign_of", "at_most", "exp_kernel"], include_str!("vector/tanh.c")),
    row("log_long", &["rest", "log_split"], include_str!("vector/log_long.c")),
    row(
        "pow",
        &["rest", "sign_of", "exp_whole", "exp_rest", "exp_power", "log_long"],
        include_str!("vector/pow.c"),
    ),
    row("erf_tail", &[], include_str!("vector/erf_tail.c")),
    row(
        "erfc_kernel",
        &["exp_whole", "exp_rest", "exp_power"],
        include_str!("vector/erfc_kernel.c"),
    ),
    row("erf", &["sign_of", "erf_tail", "erfc_kernel"], include_str!("vector/erf.c")),
    row("erfc", &["erf_tail", "erfc_kernel"], include_str!("vector/erfc.c")),
    row("from_integer", &[], include_str!("vector/from_integer.c")),
    row("lgamma_positive", &["log"], include_str!("vector/lgamma_positive.c")),
    row(
        "lgamma",
        &["any", "log", "sin", "from_integer", "lgamma_positive"],
        include_str!("vector/lgamma.c"),
    ),
    row("digamma", &["any", "log", "tan", "from_integer"], include_str!("vector/digamma.c")),
    row("nearest", &["sign_of"], include_str!("vector/nearest.c")),
    row("floor", &["nearest"], include_str!("vector/floor.c")),
    row("ceil", &["sign_of", "nearest"], include_str!("vector/ceil.c")),
    row("round", &["sign_of", "nearest"], include_str!("vector/round.c")),
    row("sign", &[], include_str!("vector/sign.c")),
    row("hypot", &["rest", "root"], include_str!("vector/hypot.c")),
    row("powi", &["any"], include_str!("vector/powi.c")),
];

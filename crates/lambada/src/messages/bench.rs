//! Measuring.

use lambada_source::Problem;

pub fn no_reals(definition: &str) -> Problem {
    Problem::general(
        "E0770",
        format!("the result of `{definition}` holds no reals, so it has no derivative to measure"),
    )
    .hint("`--mode value` measures the definition alone")
}

pub fn nothing_differentiated() -> Problem {
    Problem::general(
        "E0771",
        "`--wrt` names what to differentiate with respect to, but with `--mode value` nothing is differentiated",
    )
    .hint("leave out one of them; `--mode` takes `reverse`, `forward` or `value`")
}

//! Single tokens.

use lambada_source::{Problem, Span};

pub fn unknown_character(span: Span, c: char) -> Problem {
    let problem = Problem::error(
        "E0001",
        format!("unknown character {}", show(c)),
        span,
        "this has no meaning here",
    );
    match c {
        '\'' => problem.hint("a `'` may only stand at the end of a name, as in `x'`"),
        '“' | '”' | '„' | '‘' | '’' => {
            problem.hint("a path is written in plain quotes: `import \"path\"`")
        }
        '?' => problem.hint("a choice is written `if c then a else b`"),
        '~' => problem.hint("there are no statements with `~`: a density is a function, whose logarithm is added up"),
        '√' => problem.hint("write `sqrt x`"),
        '∞' => problem.hint("write `inf`"),
        '`' => problem.hint("a function is written before its arguments: `f x y`"),
        _ => problem,
    }
}

/// Control characters and spaces are shown by their code points.
fn show(c: char) -> String {
    if c.is_control() || c.is_whitespace() {
        format!("U+{:04X}", u32::from(c))
    } else {
        format!("`{c}`")
    }
}

pub fn foreign_letters(span: Span, name: &str) -> Problem {
    Problem::error(
        "E0002",
        format!("the name `{name}` has letters other than a to z"),
        span,
        "not a name",
    )
    .hint("names are made of the letters a to z and A to Z, digits, `_`, and `'` at the end")
}

pub fn int_too_large(span: Span) -> Problem {
    Problem::error("E0003", "this integer is too large", span, "does not fit in 64 bits")
        .hint("the largest integer is 9223372036854775807; for a real, write a decimal point or an exponent")
}

pub fn real_too_large(span: Span) -> Problem {
    Problem::error(
        "E0054",
        "this number is too large",
        span,
        "larger than the largest real, about 1.8e308",
    )
    .hint("infinity is written `inf`")
}

pub fn missing_digits(span: Span, better: &str) -> Problem {
    Problem::error(
        "E0004",
        "a decimal point needs a digit on both sides",
        span,
        "a digit is missing",
    )
    .hint(format!("write `{better}`"))
}

pub fn trailing_underscore(span: Span) -> Problem {
    Problem::error("E0055", "a number does not end in `_`", span, "")
        .hint("`_` may separate digits, as in `1_000_000`")
}

pub fn number_suffix(span: Span, number: &str, suffix: &str) -> Problem {
    let problem = Problem::error(
        "E0005",
        format!("`{suffix}` directly after the number `{number}`"),
        span,
        "neither a number nor a name",
    );
    if number == "0" && suffix.starts_with(['x', 'X', 'b', 'o']) {
        return problem.hint("integers are written in decimal");
    }
    match suffix {
        "f" | "f32" | "f64" | "d" | "L" | "u" => {
            problem.hint("numbers have no suffix: write `1.0` for a real")
        }
        _ if suffix.starts_with(['e', 'E', '.']) => {
            problem.hint("a number looks like `12`, `1.5` or `1.5e-3`")
        }
        _ => problem.hint(format!(
            "a product needs its sign: `{number} * {suffix}`; a name starts with a letter"
        )),
    }
}

pub fn open_string(span: Span) -> Problem {
    Problem::error("E0006", "these quotes are never closed", span, "starts here")
        .hint("close them on the same line: `import \"path\"`")
}

pub fn comment(span: Span, sign: &str) -> Problem {
    let problem = Problem::error(
        "E0007",
        format!("`{sign}` does not start a comment"),
        span,
        "not a comment in Lambada",
    )
    .hint("a comment starts with `--` and goes to the end of the line");
    if sign == "//" {
        problem.hint("for division of integers write `/`, which rounds down")
    } else {
        problem
    }
}

pub fn foreign_sign(span: Span, sign: &str, note: &str) -> Problem {
    Problem::error("E0008", format!("`{sign}` is not an operator"), span, "unknown sign").hint(note)
}

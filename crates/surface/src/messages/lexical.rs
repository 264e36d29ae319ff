//! Single tokens.

use lambada_source::{Fix, Problem, Span};

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
            let hint = "a path is written in plain quotes: `import \"path\"`";
            problem.fix(hint, Fix::replace(span, "\""))
        }
        '?' => problem.hint("a choice is written `if c then a else b`"),
        '~' => problem.hint("there are no statements with `~`: logarithms of densities are added up, such as `dist.normal_lpdf y mu sigma` after `import \"std/dist\"`"),
        '√' => problem.fix("write `sqrt x`", Fix::replace(span, "sqrt ").probable()),
        '∞' => problem.fix("write `inf`", Fix::replace(span, "inf")),
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
    .advice(
        "names are made of the letters a to z and A to Z, digits, `_`, and `'` at the end",
        spelled_out(name).map(|name| Fix::replace(span, name).probable()),
    )
}

/// The letters of the Greek alphabet, and their names.
const GREEK: &[(char, &str)] = &[
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "epsilon"),
    ('ϵ', "epsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('µ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "phi"),
    ('ϕ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
];

/// A name with its Greek letters and subscripts in the letters and digits of names; `None` if it
/// has others.
fn spelled_out(name: &str) -> Option<String> {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            _ if c.is_ascii() => text.push(c),
            '₀'..='₉' => text.push(char::from_digit(c as u32 - '₀' as u32, 10)?),
            _ => text += GREEK.iter().find(|(letter, _)| *letter == c)?.1,
        }
    }
    Some(text)
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
    .fix(format!("write `{better}`"), Fix::replace(span, better))
}

/// `better`: the number without the `_` at its end.
pub fn trailing_underscore(span: Span, better: &str) -> Problem {
    Problem::error("E0055", "a number does not end in `_`", span, "")
        .fix("`_` may separate digits, as in `1_000_000`", Fix::replace(span, better))
}

pub fn number_suffix(span: Span, number: &str, suffix: &str) -> Problem {
    let problem = Problem::error(
        "E0005",
        format!("`{suffix}` directly after the number `{number}`"),
        span,
        "neither a number nor a name",
    );
    if number == "0" && suffix.starts_with(['x', 'X', 'b', 'o']) {
        return problem.advice(
            "integers are written in decimal",
            decimal(suffix).map(|value| Fix::replace(span, value.to_string())),
        );
    }
    match suffix {
        "f" | "f32" | "f64" | "d" if !number.contains(['.', 'e', 'E']) => {
            let hint = "numbers have no suffix: write `1.0` for a real";
            problem.fix(hint, Fix::replace(span, format!("{number}.0")))
        }
        "f" | "f32" | "f64" | "d" => problem.fix(
            "numbers have no suffix: a decimal point says that it is a real",
            Fix::replace(span, number),
        ),
        "L" | "u" => problem.fix("numbers have no suffix", Fix::replace(span, number)),
        _ if suffix.starts_with(['e', 'E', '.']) => {
            problem.hint("a number looks like `12`, `1.5` or `1.5e-3`")
        }
        _ => problem.hint(format!(
            "a product needs its sign: `{number} * {suffix}`; a name starts with a letter"
        )),
    }
}

/// The value of a number in another base, which its first letter says.
fn decimal(suffix: &str) -> Option<i64> {
    let (base, digits) = suffix.split_at_checked(1)?;
    let radix = match base {
        "x" | "X" => 16,
        "b" => 2,
        _ => 8,
    };
    i64::from_str_radix(&digits.replace('_', ""), radix).ok()
}

pub fn open_string(span: Span) -> Problem {
    Problem::error("E0006", "these quotes are never closed", span, "starts here")
        .hint("close them on the same line: `import \"path\"`")
}

/// `line`: whether the comment ends with its line.
pub fn comment(span: Span, sign: &str, line: bool) -> Problem {
    let title = format!("`{sign}` does not start a comment");
    Problem::error("E0007", title, span, "not a comment in Lambada").advice(
        "a comment starts with `--` and goes to the end of the line",
        line.then(|| Fix::replace(span, "--")),
    )
}

/// `better`: the sign of this language, if it stands in the same place.
pub fn foreign_sign(span: Span, sign: &str, note: &str, better: Option<&str>) -> Problem {
    // `!x` touches its operand, `not x` does not.
    let text = |better: &str| if better == "not" { "not ".into() } else { better.to_string() };
    foreign(span, format!("`{sign}` is not an operator"), "unknown sign")
        .advice(note, better.map(|better| Fix::replace(span, text(better)).probable()))
}

/// Signs with the meaning of another language.
pub fn foreign(span: Span, title: String, label: &str) -> Problem {
    Problem::error("E0008", title, span, label)
}

//! C expressions as text with a level of precedence, so that they nest with as few parentheses as a
//! person would write.

use lambada_prim::{CText, Precision, Scalar, c_helper};

/// The precedence of an expression, loosest first. Comparisons and bit operations have the levels
/// of C, but mixtures that people misread get parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Choice,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Sum,
    Product,
    Unary,
    Atom,
}

/// An expression that is not yet printed.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub text: String,
    pub level: Level,
    /// The cells that it reads.
    pub cells: Vec<u32>,
    /// The memories that it reads, among those that are ever written.
    pub memories: Vec<u32>,
    /// `(left, operator, right)` if it is arithmetic, for `left += right`.
    pub parts: Option<(String, &'static str, String)>,
}

impl Text {
    /// A name, a call, a literal.
    pub fn atom(text: impl Into<String>) -> Text {
        Text::new(text, Level::Atom)
    }

    pub fn new(text: impl Into<String>, level: Level) -> Text {
        Text { text: text.into(), level, cells: Vec::new(), memories: Vec::new(), parts: None }
    }

    /// The text, in parentheses if it binds less tightly.
    pub fn at(&self, level: Level) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    /// The expression, with the reads of its operands.
    pub fn reading(mut self, operands: &[Text]) -> Text {
        for operand in operands {
            self.cells.extend(&operand.cells);
            self.memories.extend(&operand.memories);
        }
        self
    }

    /// Whether it reads nothing that can change.
    pub fn is_constant(&self) -> bool {
        self.cells.is_empty() && self.memories.is_empty()
    }
}

/// A primitive applied.
pub(crate) fn apply(precision: Precision, spelling: CText, args: &[Text]) -> Text {
    let text = match spelling {
        CText::Infix(op) => infix(op, &args[0], &args[1]),
        CText::Prefix(op) => prefix(op, &args[0]),
        // A conversion is not a call.
        CText::Call("(double)") => prefix(&format!("({})", precision.c()), &args[0]),
        CText::Call(function) | CText::Math { scalar: function, .. } => {
            apply_function(precision, function, args)
        }
        CText::Template(_) => {
            let atoms: Vec<String> = args.iter().map(|arg| arg.at(Level::Atom)).collect();
            Text::new(spelling.apply(&atoms), Level::Choice)
        }
    };
    text.reading(args)
}

/// A function of `libm`, or a helper. A result that always has 64 bits is rounded.
fn apply_function(precision: Precision, function: &'static str, args: &[Text]) -> Text {
    match (precision, c_helper(function)) {
        (Precision::F64, _) => call(function, args),
        (Precision::F32, None) => call(&format!("{function}f"), args),
        (Precision::F32, Some(helper)) if helper.gives_double() => {
            prefix("(float)", &call(function, args))
        }
        (Precision::F32, Some(_)) => call(function, args),
    }
}

/// `function(a, b)`
pub(crate) fn call(function: &str, args: &[Text]) -> Text {
    let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    Text::atom(format!("{function}({})", args.join(", ")))
}

/// `op a`
pub(crate) fn prefix(op: &str, arg: &Text) -> Text {
    let text = arg.at(Level::Unary);
    // `- -x` is not `--x`.
    let clash = op.chars().last().is_some_and(|last| text.starts_with(last));
    Text::new(if clash { format!("{op}({text})") } else { format!("{op}{text}") }, Level::Unary)
}

/// `a op b`; all operators associate to the left.
pub(crate) fn infix(op: &'static str, a: &Text, b: &Text) -> Text {
    let level = level(op);
    let tighter = match level {
        Level::Product => Level::Unary,
        Level::Sum => Level::Product,
        // Below arithmetic, everything that is not an operand of arithmetic gets parentheses on the
        // right.
        Level::Relation | Level::Equality => Level::Sum,
        Level::BitAnd | Level::BitXor | Level::BitOr => Level::Unary,
        Level::And => Level::Equality,
        Level::Or => Level::Equality,
        Level::Choice | Level::Unary | Level::Atom => Level::Atom,
    };
    // Comparisons do not chain.
    let chains = !matches!(level, Level::Relation | Level::Equality | Level::Choice);
    let arithmetic = matches!(level, Level::Product | Level::Sum);
    let left = if chains && (arithmetic || a.level == level) { level } else { tighter };
    let text = format!("{} {op} {}", a.at(left), b.at(tighter));
    let parts = matches!(op, "+" | "-" | "*" | "/").then(|| (a.text.clone(), op, b.text.clone()));
    Text { parts, ..Text::new(text, level) }
}

fn level(op: &str) -> Level {
    match op {
        "*" | "/" | "%" => Level::Product,
        "+" | "-" => Level::Sum,
        "<" | "<=" | ">" | ">=" => Level::Relation,
        "==" | "!=" => Level::Equality,
        "&" => Level::BitAnd,
        "^" => Level::BitXor,
        "|" => Level::BitOr,
        "&&" => Level::And,
        "||" => Level::Or,
        // An operator that this table does not know is printed in parentheses.
        _ => Level::Choice,
    }
}

/// A constant. A real has the shortest decimals that denote it.
pub(crate) fn literal(precision: Precision, value: Scalar) -> Text {
    let signed = |text: String| {
        let level = if text.starts_with('-') { Level::Unary } else { Level::Atom };
        Text::new(text, level)
    };
    match precision.scalar(value) {
        Scalar::Real(value) if value.is_nan() => Text::atom("NAN"),
        Scalar::Real(value) if value.is_infinite() => {
            signed(format!("{}INFINITY", if value < 0.0 { "-" } else { "" }))
        }
        Scalar::Real(value) => signed(match precision {
            Precision::F64 => format!("{value:?}"),
            Precision::F32 => format!("{:?}f", value as f32),
        }),
        Scalar::Int(i64::MIN) => Text::atom("INT64_MIN"),
        Scalar::Int(value) => signed(value.to_string()),
        Scalar::Bool(value) => Text::atom(if value { "1" } else { "0" }),
    }
}

/// An integer constant of 64 bits where C would compute in `int`.
pub(crate) fn wide_literal(value: i64) -> Text {
    let text = literal(Precision::F64, Scalar::Int(value));
    if value == i64::MIN { text } else { Text::new(format!("{}LL", text.text), text.level) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Text {
        Text::atom(text)
    }

    #[test]
    fn parentheses_only_where_needed() {
        let (a, b, c) = (name("a"), name("b"), name("c"));
        assert_eq!(infix("+", &infix("+", &a, &b), &c).text, "a + b + c");
        assert_eq!(infix("+", &a, &infix("+", &b, &c)).text, "a + (b + c)");
        assert_eq!(infix("-", &a, &infix("*", &b, &c)).text, "a - b * c");
        assert_eq!(infix("*", &a, &infix("-", &b, &c)).text, "a * (b - c)");
        assert_eq!(infix("/", &a, &infix("/", &b, &c)).text, "a / (b / c)");
        assert_eq!(infix("&&", &infix("<", &a, &b), &infix("<", &b, &c)).text, "a < b && b < c");
        assert_eq!(infix("&", &infix("&", &infix("<", &a, &b), &b), &c).text, "(a < b) & b & c");
        assert_eq!(infix("==", &infix("<", &a, &b), &c).text, "(a < b) == c");
        assert_eq!(infix("||", &infix("&&", &a, &b), &c).text, "(a && b) || c");
        assert_eq!(infix("||", &c, &infix("&&", &a, &b)).text, "c || (a && b)");
        assert_eq!(prefix("-", &prefix("-", &a)).text, "-(-a)");
        assert_eq!(prefix("-", &literal(Precision::F64, Scalar::Real(-0.5))).text, "-(-0.5)");
        assert_eq!(prefix("!", &infix("<", &a, &b)).text, "!(a < b)");
        assert_eq!(infix("-", &a, &literal(Precision::F64, Scalar::Int(-5))).text, "a - -5");
    }

    #[test]
    fn literals_are_exact_and_readable() {
        let check = |value: f64, expect: &str| {
            assert_eq!(literal(Precision::F64, Scalar::Real(value)).text, expect);
        };
        let single = literal(Precision::F32, Scalar::Real(0.1));
        assert_eq!(single.text, "0.1f");
        assert_eq!(literal(Precision::F32, Scalar::Real(1e300)).text, "INFINITY");
        check(0.5, "0.5");
        check(1.0, "1.0");
        check(-0.0, "-0.0");
        check(0.1, "0.1");
        check(1e300, "1e300");
        check(f64::NEG_INFINITY, "-INFINITY");
        check(f64::NAN, "NAN");
        assert_eq!(literal(Precision::F64, Scalar::Int(i64::MIN)).text, "INT64_MIN");
        assert_eq!(wide_literal(-3).text, "-3LL");
    }
}

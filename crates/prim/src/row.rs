//! A row of the table: the compiler's knowledge of a primitive.

use crate::{Cost, Expr, Precision, Prim, Scalar, ScalarTy, VectorHelper, vector_helper};

/// All that the compiler knows of one primitive.
#[derive(Debug)]
pub struct Row {
    /// Which one.
    pub prim: Prim,
    /// The name that intermediate forms and tests use, unique: `add`, `add_int`.
    pub name: &'static str,
    /// How Lambada spells it; versions at different types share a spelling.
    pub surface: Surface,
    /// The types of the arguments.
    pub args: &'static [ScalarTy],
    /// The type of the result.
    pub result: ScalarTy,
    /// The meaning. Total on arguments of the right types.
    pub eval: fn(&[Scalar]) -> Scalar,
    /// The partial derivative by each argument; `None` where nothing flows: an argument or a result
    /// that is not real, or a derivative that is zero everywhere. See [`Expr::scaled`] for how to
    /// multiply by one.
    pub partials: fn() -> Vec<Option<Expr>>,
    /// How C spells it.
    pub c: CText,
    /// The cost of recomputing it.
    pub cost: Cost,
    /// A line for the manual.
    pub doc: &'static str,
    /// Arguments and the result that they give, up to rounding.
    pub example: (&'static [Scalar], Scalar),
    /// The domain on which the derivatives are those of mathematics.
    pub domain: Domain,
}

/// How Lambada spells a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// `x + y`
    Infix(&'static str),
    /// `-x`, `not x`
    Prefix(&'static str),
    /// `exp x`, `atan2 y x`
    Call(&'static str),
    /// `if c then x else y`
    If,
}

impl Surface {
    /// The operator or function.
    pub fn spelling(self) -> Option<&'static str> {
        if let Surface::Infix(name) | Surface::Prefix(name) | Surface::Call(name) = self {
            Some(name)
        } else {
            None
        }
    }
}

/// How C spells a primitive. Integers are `int64_t` and wrap (compile with `-fwrapv`), truth values
/// are 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CText {
    /// `x + y`
    Infix(&'static str),
    /// `-x`
    Prefix(&'static str),
    /// `f(x, y)`: a function of `math.h`, or a helper (`lam_…`) whose text is [`c_helper`].
    Call(&'static str),
    /// As `Call` on one lane; on several it is `lam_NAME_xN` of the vector mathematics, which see
    /// ([`crate::vector_helper`]).
    Math {
        /// The function on one lane.
        scalar: &'static str,
        /// The name of the function on vectors.
        lanes: &'static str,
    },
    /// Text in which `$0`, `$1` … stand for the arguments, each at most once.
    Template(&'static str),
}

/// A C function that some primitives need and C does not have.
#[derive(Debug, PartialEq, Eq)]
pub struct Helper {
    /// Its name, `lam_…`.
    pub name: &'static str,
    /// Other helpers that it calls; their text comes first.
    pub needs: &'static [&'static str],
    /// A complete `static inline` definition, in which `@real` stands for the type of reals and
    /// `@f` for the suffix of the names of functions on it; the text of [`Helper::c`]. Assumes
    /// `math.h` and `stdint.h`.
    pub text: &'static str,
}

/// Where the partial derivatives hold.
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// For the manual.
    pub text: &'static str,
    /// For tests: a range for each argument in whose interior the function is smooth.
    pub samples: &'static [(f64, f64)],
}

impl Helper {
    /// Its definition with reals of this precision.
    pub fn c(&self, precision: Precision) -> String {
        let suffix = match precision {
            Precision::F64 => "",
            Precision::F32 => "f",
        };
        self.text.replace("@real", precision.c()).replace("@f", suffix)
    }

    /// Whether it computes, and gives, a number of 64 bits whatever the precision of reals: long
    /// products and series would lose too many digits.
    pub fn gives_double(&self) -> bool {
        self.text.contains(&format!("double {}(", self.name))
    }
}

impl CText {
    /// The application to C expressions, which must be atoms or in parentheses. The result is not
    /// in parentheses.
    pub fn apply(self, args: &[impl AsRef<str>]) -> String {
        let arg = |k: usize| args[k].as_ref();
        match self {
            CText::Infix(op) => format!("{} {op} {}", arg(0), arg(1)),
            CText::Prefix(op) => format!("{op}{}", arg(0)),
            CText::Call(f) | CText::Math { scalar: f, .. } => {
                format!("{f}({})", args.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "))
            }
            CText::Template(text) => fill(text, args),
        }
    }

    /// The function on several lanes, if there is one.
    pub fn on_lanes(self) -> Option<&'static VectorHelper> {
        if let CText::Math { lanes, .. } = self { vector_helper(lanes) } else { None }
    }

    /// The helper that the text calls, if it does.
    pub fn helper(self) -> Option<&'static Helper> {
        match self {
            CText::Call(name) | CText::Math { scalar: name, .. } => c_helper(name),
            CText::Infix(_) | CText::Prefix(_) | CText::Template(_) => None,
        }
    }
}

/// Replaces each `$k` of a template, from left to right: arguments may contain dollars.
fn fill(template: &str, args: &[impl AsRef<str>]) -> String {
    let mut pieces = template.split('$');
    let mut text = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let digits = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
        let k: usize =
            piece[..digits].parse().expect("a template's `$` is followed by an argument's number");
        text += args[k].as_ref();
        text += &piece[digits..];
    }
    text
}

/// The helper of this name; `None` for a function that C has.
pub fn c_helper(name: &str) -> Option<&'static Helper> {
    crate::table::HELPERS.iter().find(|helper| helper.name == name)
}

//! Names that the language itself defines: the scalar functions of the primitive table, and the
//! builtins that Lambada code cannot express.

use lambada_prim::{Prim, Scalar, ScalarTy, Surface};

use crate::solve::ty::Bases;

/// A name defined by the language, not by the user or the prelude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Builtin {
    /// `exp`, `max`: a scalar function, by its spelling in the table of primitives.
    Function(&'static str, FunctionShape),
    /// `pi`, `inf`, `nan`
    Constant(f64),
    /// For the library: whether the program has a rule that is no derivative, so that a Hessian
    /// need not be symmetric.
    Pseudo,
    /// `int b` of a truth value: 0 or 1.
    IntOfBool,
    /// `real x` of a real, `int n` of an integer: the argument.
    Same,
    Length,
    Sum,
    /// `sum` of tuples and records of reals, component by component.
    SumOfVectors,
    Product,
    Maximum,
    Minimum,
    Jvp,
    Vjp,
    Jacobian,
    /// `ravel`: the components of a vector as an array.
    Ravel,
    /// `unravel`: a vector like another one, with the components of an array.
    Unravel,
    /// `inspect`: the identity, which prints.
    Inspect,
    /// For the library: which results can depend on marked elements.
    Reach,
    /// For the library: the diagonals that a Jacobian has, see [`lambada_core::TermKind::Band`].
    Band,
    /// For the library: the largest or smallest element; an infinity for an empty array.
    Extremum(Extremum),
}

/// `max` or `min` over an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extremum {
    Max,
    Min,
}

/// Extension of a scalar function to arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionShape {
    /// Elementwise on numbers of these types.
    Unary(Bases),
    /// Elementwise; a scalar broadcasts to the shape of an array.
    Binary(Bases),
    /// A scalar, then elementwise: `polygamma`.
    Indexed(ScalarTy, Bases),
    /// On scalars only: conversions.
    Scalar(ScalarTy, ScalarTy),
}

impl Builtin {
    /// The builtin of this name; some are for the prelude only.
    pub fn find(name: &str, in_library: bool) -> Option<Builtin> {
        match name {
            "pi" => Some(Builtin::Constant(std::f64::consts::PI)),
            "inf" => Some(Builtin::Constant(f64::INFINITY)),
            "nan" => Some(Builtin::Constant(f64::NAN)),
            "length" | "len" => Some(Builtin::Length),
            "sum" => Some(Builtin::Sum),
            "product" => Some(Builtin::Product),
            "maximum" => Some(Builtin::Maximum),
            "minimum" => Some(Builtin::Minimum),
            "jvp" => Some(Builtin::Jvp),
            "vjp" => Some(Builtin::Vjp),
            "jacobian" => Some(Builtin::Jacobian),
            "ravel" => Some(Builtin::Ravel),
            "unravel" => Some(Builtin::Unravel),
            "inspect" => Some(Builtin::Inspect),
            "prelude_sum" if in_library => Some(Builtin::SumOfVectors),
            "prelude_pseudo" if in_library => Some(Builtin::Pseudo),
            "prelude_reach" if in_library => Some(Builtin::Reach),
            "prelude_band" if in_library => Some(Builtin::Band),
            "prelude_maximum" if in_library => Some(Builtin::Extremum(Extremum::Max)),
            "prelude_minimum" if in_library => Some(Builtin::Extremum(Extremum::Min)),
            _ => scalar_function(name),
        }
    }

    /// All names that users may use.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let named = [
            "pi", "inf", "nan", "length", "len", "sum", "product", "maximum", "minimum", "jvp",
            "vjp", "jacobian", "ravel", "unravel", "inspect",
        ];
        named.into_iter().chain(Prim::ALL.iter().filter_map(|prim| call_name(*prim)))
    }

    /// Number of arguments at which the builtin evaluates.
    pub fn arity(self) -> usize {
        match self {
            Builtin::Constant(_) | Builtin::Pseudo => 0,
            Builtin::Function(_, FunctionShape::Unary(_) | FunctionShape::Scalar(..)) => 1,
            Builtin::Function(_, FunctionShape::Binary(_) | FunctionShape::Indexed(..)) => 2,
            Builtin::Inspect
            | Builtin::Ravel
            | Builtin::IntOfBool
            | Builtin::Same
            | Builtin::Length
            | Builtin::Sum
            | Builtin::SumOfVectors
            | Builtin::Product
            | Builtin::Maximum
            | Builtin::Minimum
            | Builtin::Extremum(_) => 1,
            Builtin::Vjp | Builtin::Jacobian | Builtin::Band | Builtin::Unravel => 2,
            Builtin::Jvp | Builtin::Reach => 3,
        }
    }
}

/// All names that the language itself defines.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    Builtin::names()
}

fn call_name(prim: Prim) -> Option<&'static str> {
    match prim.row().surface {
        Surface::Call(name) => Some(name),
        Surface::Infix(_) | Surface::Prefix(_) | Surface::If => None,
    }
}

/// The scalar function with this name. The types of its first row, and the result types of all its
/// rows, decide how it extends to arrays.
fn scalar_function(name: &str) -> Option<Builtin> {
    let rows: Vec<Prim> =
        Prim::ALL.iter().copied().filter(|prim| call_name(*prim) == Some(name)).collect();
    let first = rows.first()?;
    let spelling = call_name(*first)?;
    let bases = rows.iter().map(|prim| Bases::of(prim.result())).reduce(Bases::union)?;
    let shape = match first.args() {
        [from] if *from != first.result() => FunctionShape::Scalar(*from, first.result()),
        [_] => FunctionShape::Unary(bases),
        [a, b] if a == b => FunctionShape::Binary(bases),
        [a, _] => FunctionShape::Indexed(*a, bases),
        _ => return None,
    };
    Some(Builtin::Function(spelling, shape))
}

/// Whether the function is of two operands or of an array, as its result has to be.
pub(crate) fn is_extremum(name: &str) -> bool {
    matches!(name, "max" | "min")
}

/// The primitive of a spelling on scalars of these types.
pub(crate) fn primitive(surface: Surface, args: &[ScalarTy]) -> Option<Prim> {
    Prim::ALL.iter().copied().find(|prim| prim.row().surface == surface && prim.args() == args)
}

/// The value of a builtin constant.
pub(crate) fn constant(value: f64) -> Scalar {
    Scalar::Real(value)
}

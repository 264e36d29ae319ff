//! The scalar primitives. All of them are total on their types (NaN where mathematics has nothing to say) and strict.

/// A scalar primitive, with one monomorphic type. The suffixes `Int` and `Bool` mark the versions on other types than `real`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // each variant is documented by its row in the table
pub enum Prim {
    // real arithmetic: (real, real) -> real, (real) -> real
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Rem,
    Pow,    // real ** real
    PowInt, // real ** int : (real, int) -> real
    Min,
    Max,
    Abs,
    Sign,
    Floor,
    Ceil,
    Round,
    // elementary and special functions: real -> real
    Exp,
    Log,
    Log1p,
    Expm1,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Erf,
    Lgamma,
    Digamma,
    Polygamma, // (int, real) -> real, order first
    // int arithmetic, wrapping; `DivInt` is floor division, `RemInt` its remainder
    AddInt,
    SubInt,
    MulInt,
    DivInt,
    RemInt,
    NegInt,
    PowIntInt,
    MinInt,
    MaxInt,
    AbsInt,
    SignInt,
    // comparisons: (real, real) -> bool, (int, int) -> bool, (bool, bool) -> bool
    Eq,
    Ne,
    Lt,
    Le,
    EqInt,
    NeInt,
    LtInt,
    LeInt,
    EqBool,
    NeBool,
    // truth values (strict; short-circuiting is `if`)
    And,
    Or,
    Not,
    // conversions
    ToReal, // int -> real
    ToInt,  // real -> int, truncates
    // choice between two values that are both there: (bool, t, t) -> t
    Select,
    SelectInt,
    SelectBool,
}

/// Is an operation worth storing for the reverse sweep, or is it cheaper to do it again?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cost {
    /// Addition and the like: done again.
    Cheap,
    /// Divisions, roots, transcendental functions: stored.
    Costly,
}

/// The commutative monoids that a `reduce` may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReduceOp {
    /// `+` with 0.
    Add,
    /// `*` with 1.
    Mul,
    /// `min` with the largest value.
    Min,
    /// `max` with the smallest value.
    Max,
    /// `&&` with true.
    And,
    /// `||` with false.
    Or,
}

impl Prim {
    /// The type of the result.
    pub fn result(self) -> crate::ScalarTy {
        use crate::ScalarTy::*;
        use Prim::*;
        match self {
            Add | Sub | Mul | Div | Neg | Rem | Pow | PowInt | Min | Max | Abs | Sign | Floor | Ceil | Round | Exp | Log | Log1p
            | Expm1 | Sqrt | Sin | Cos | Tan | Asin | Acos | Atan | Atan2 | Sinh | Cosh | Tanh | Erf | Lgamma | Digamma | Polygamma
            | ToReal | Select => Real,
            AddInt | SubInt | MulInt | DivInt | RemInt | NegInt | PowIntInt | MinInt | MaxInt | AbsInt | SignInt | ToInt | SelectInt => Int,
            Eq | Ne | Lt | Le | EqInt | NeInt | LtInt | LeInt | EqBool | NeBool | And | Or | Not | SelectBool => Bool,
        }
    }
}

//! The scalar primitives. All of them are total on their types (NaN where mathematics has nothing
//! to say) and strict.

use std::sync::LazyLock;

use crate::expr::{x, y};
use crate::table::{FAMILIES, first_partials};
use crate::{Expr, Precision, Row, Scalar, ScalarTy};

/// A scalar primitive, with one monomorphic type. The suffixes `Int` and `Bool` mark the versions
/// on other types than `real`.
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
    Hypot,
    Sinh,
    Cosh,
    Tanh,
    Erf,
    Erfc,
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
    // the 64 bits of an int; shifts are logical, their counts modulo 64
    BitAnd,
    BitOr,
    BitXor,
    BitNot,
    ShiftLeft,
    ShiftRight,
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
    ToReal,   // int -> real
    ToInt,    // real -> int, truncates
    RealBits, // real -> int, the same bits
    // choice between two values that are both there: (bool, t, t) -> t
    Select,
    SelectInt,
    SelectBool,
}

/// Whether the reverse sweep stores the result of an operation, or recomputes it because that is
/// cheaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cost {
    /// Addition and the like: recomputed.
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

/// How many primitives there are.
const COUNT: usize = Prim::SelectBool as usize + 1;

/// The rows by primitive. That each primitive has exactly one is checked when this crate is
/// compiled.
static BY_PRIM: [&Row; COUNT] = {
    let mut rows: [Option<&Row>; COUNT] = [None; COUNT];
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut k = 0;
        while k < FAMILIES[family].len() {
            let row = &FAMILIES[family][k];
            assert!(rows[row.prim as usize].is_none(), "a primitive with two rows");
            rows[row.prim as usize] = Some(row);
            k += 1;
        }
        family += 1;
    }
    let mut table = [&FAMILIES[0][0]; COUNT];
    let mut k = 0;
    while k < COUNT {
        table[k] = rows[k].expect("a primitive without a row");
        k += 1;
    }
    table
};

/// All primitives, in the order of the enumeration.
static ALL: [Prim; COUNT] = {
    let mut all = [Prim::Add; COUNT];
    let mut k = 0;
    while k < COUNT {
        all[k] = BY_PRIM[k].prim;
        k += 1;
    }
    all
};

impl Prim {
    /// All primitives.
    pub const ALL: &[Prim] = &ALL;

    /// Its row of the table.
    pub fn row(self) -> &'static Row {
        BY_PRIM[self as usize]
    }

    /// Its unique name, `add_int`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The primitive of this name.
    pub fn from_name(name: &str) -> Option<Prim> {
        Prim::ALL.iter().copied().find(|prim| prim.name() == name)
    }

    /// The types of its arguments.
    pub fn args(self) -> &'static [ScalarTy] {
        self.row().args
    }

    /// The type of its result.
    pub fn result(self) -> ScalarTy {
        self.row().result
    }

    /// Its meaning. Panics on arguments of other types than [`Prim::args`].
    pub fn eval(self, args: &[Scalar]) -> Scalar {
        (self.row().eval)(args)
    }

    /// The partial derivative by each argument; `None` where nothing flows, see [`Row::partials`].
    pub fn partials(self) -> &'static [Option<Expr>] {
        static PARTIALS: LazyLock<Vec<Vec<Option<Expr>>>> =
            LazyLock::new(|| BY_PRIM.iter().map(|row| (row.partials)()).collect());
        &PARTIALS[self as usize]
    }

    /// Whether it is worth storing.
    pub fn cost(self) -> Cost {
        self.row().cost
    }
}

impl ReduceOp {
    /// All of them.
    pub const ALL: [ReduceOp; 6] =
        [ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max, ReduceOp::And, ReduceOp::Or];

    /// The operation on two elements. Panics on a type that it does not have: callers have checked
    /// [`ReduceOp::accepts`].
    pub fn prim(self, ty: ScalarTy) -> Prim {
        match (self, ty) {
            (ReduceOp::Add, ScalarTy::Real) => Prim::Add,
            (ReduceOp::Mul, ScalarTy::Real) => Prim::Mul,
            (ReduceOp::Min, ScalarTy::Real) => Prim::Min,
            (ReduceOp::Max, ScalarTy::Real) => Prim::Max,
            (ReduceOp::Add, ScalarTy::Int) => Prim::AddInt,
            (ReduceOp::Mul, ScalarTy::Int) => Prim::MulInt,
            (ReduceOp::Min, ScalarTy::Int) => Prim::MinInt,
            (ReduceOp::Max, ScalarTy::Int) => Prim::MaxInt,
            (ReduceOp::And, ScalarTy::Bool) => Prim::And,
            (ReduceOp::Or, ScalarTy::Bool) => Prim::Or,
            (ReduceOp::Add | ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max, ScalarTy::Bool)
            | (ReduceOp::And | ReduceOp::Or, ScalarTy::Real | ScalarTy::Int) => {
                panic!("no reduction `{}` of {ty}s", self.name())
            }
        }
    }

    /// The partial derivatives of the operation on two elements. Those of an extremum follow the
    /// first of equal elements, as `argmax` does, where the primitive shares: a place is one place.
    pub fn partials(self, ty: ScalarTy) -> &'static [Option<Expr>] {
        type Partials = LazyLock<Vec<Option<Expr>>>;
        static LEAST: Partials = LazyLock::new(|| first_partials([x(), y()]));
        static GREATEST: Partials = LazyLock::new(|| first_partials([y(), x()]));
        match (self, ty) {
            (ReduceOp::Min, ScalarTy::Real) => &LEAST,
            (ReduceOp::Max, ScalarTy::Real) => &GREATEST,
            (ReduceOp::Min | ReduceOp::Max, ScalarTy::Int | ScalarTy::Bool)
            | (ReduceOp::Add | ReduceOp::Mul | ReduceOp::And | ReduceOp::Or, _) => {
                self.prim(ty).partials()
            }
        }
    }

    /// Whether it reduces elements of this type: `and` and `or` reduce truth values, the others
    /// numbers.
    pub fn accepts(self, ty: ScalarTy) -> bool {
        matches!(self, ReduceOp::And | ReduceOp::Or) == (ty == ScalarTy::Bool)
    }

    /// Its neutral element, the result for no elements. Panics where [`ReduceOp::prim`] does.
    pub fn unit(self, ty: ScalarTy) -> Scalar {
        match self.prim(ty) {
            Prim::Add => Scalar::Real(0.0),
            Prim::Mul => Scalar::Real(1.0),
            Prim::Min => Scalar::Real(f64::INFINITY),
            Prim::Max => Scalar::Real(f64::NEG_INFINITY),
            Prim::AddInt => Scalar::Int(0),
            Prim::MulInt => Scalar::Int(1),
            Prim::MinInt => Scalar::Int(i64::MAX),
            Prim::MaxInt => Scalar::Int(i64::MIN),
            Prim::And => Scalar::Bool(true),
            other => {
                debug_assert_eq!(other, Prim::Or);
                Scalar::Bool(false)
            }
        }
    }

    /// `add`, `mul`, `min`, `max`, `and`, `or`.
    pub fn name(self) -> &'static str {
        match self {
            ReduceOp::Add => "add",
            ReduceOp::Mul => "mul",
            ReduceOp::Min => "min",
            ReduceOp::Max => "max",
            ReduceOp::And => "and",
            ReduceOp::Or => "or",
        }
    }
}

impl Precision {
    /// A primitive on scalars of the format.
    #[inline(always)]
    pub fn eval(self, prim: Prim, args: &[Scalar]) -> Scalar {
        match (self, prim, args) {
            // Rounded once.
            (Precision::F32, Prim::ToReal, [Scalar::Int(n)]) => Scalar::Real((*n as f32).into()),
            (Precision::F32, _, _) | (Precision::F64, _, _) => self.scalar(prim.eval(args)),
        }
    }
}

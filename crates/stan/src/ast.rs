//! The syntax tree of a Stan program.

use lambada_source::Span;

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text.
    pub text: String,
    /// The place.
    pub span: Span,
}

/// A program, by block.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Comments before the first block.
    pub doc: Vec<String>,
    /// `functions`
    pub functions: Vec<Function>,
    /// `data`
    pub data: Vec<Decl>,
    /// `transformed data`
    pub transformed_data: Vec<Stmt>,
    /// `parameters`
    pub parameters: Vec<Decl>,
    /// `transformed parameters`
    pub transformed_parameters: Vec<Stmt>,
    /// `model`
    pub model: Vec<Stmt>,
    /// `generated quantities`
    pub generated: Vec<Stmt>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name.
    pub name: Name,
    /// The type of its result; none for `void`.
    pub result: Option<Type>,
    /// The parameters.
    pub params: Vec<(Type, Name)>,
    /// The body; none of a declaration that is only announced.
    pub body: Option<Vec<Stmt>>,
    /// Comments before it.
    pub doc: Vec<String>,
}

/// A declaration.
#[derive(Clone, Debug)]
pub struct Decl {
    /// The name.
    pub name: Name,
    /// The type.
    pub ty: Type,
    /// The definition.
    pub value: Option<Expr>,
    /// Comments on its line or before it.
    pub doc: Vec<String>,
}

/// A type: an array of a base type. Sizes are absent in the types of functions.
#[derive(Clone, Debug)]
pub struct Type {
    /// The sizes of the array, outermost first.
    pub dims: Vec<Option<Expr>>,
    /// The type of its elements.
    pub base: Base,
    /// The sizes of an element.
    pub sizes: Vec<Option<Expr>>,
    /// Bounds of numbers.
    pub bounds: Bounds,
}

/// Base types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named as in Stan
pub enum Base {
    Int,
    Real,
    Vector,
    RowVector,
    Matrix,
    Simplex,
    UnitVector,
    SumToZero,
    Ordered,
    PositiveOrdered,
    Corr,
    Cov,
    CholeskyCorr,
    CholeskyCov,
}

/// `<lower=…, upper=…>`, `<offset=…, multiplier=…>`
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // named as in Stan
pub struct Bounds {
    pub lower: Option<Expr>,
    pub upper: Option<Expr>,
    pub offset: Option<Expr>,
    pub multiplier: Option<Expr>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The form.
    pub kind: StmtKind,
    /// The place.
    pub span: Span,
    /// Comments on its line or before it.
    pub doc: Vec<String>,
}

/// The forms of statements.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // declarations are few
pub enum StmtKind {
    /// `real x = e;`
    Declare(Decl),
    /// `x[i, 2:3] += e;`
    Assign { target: Name, indices: Vec<Index>, op: Option<BinaryOp>, value: Expr },
    /// `for (i in a:b) …`
    For { var: Name, from: Expr, to: Expr, body: Vec<Stmt> },
    /// `for (x in xs) …`
    Each { var: Name, over: Expr, body: Vec<Stmt> },
    /// `while (c) …`
    While(Expr, Vec<Stmt>),
    /// `if (c) … else …`
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `{ … }`
    Block(Vec<Stmt>),
    /// `target += e;`
    Target(Expr),
    /// `y ~ normal(mu, sigma) T[a, b];`
    Tilde {
        value: Expr,
        name: Name,
        args: Vec<Expr>,
        truncation: Option<(Option<Expr>, Option<Expr>)>,
    },
    /// `f(x);`
    Call(Name, Vec<Expr>),
    /// `return e;`
    Return(Option<Expr>),
    /// `break;`, `continue;`
    Jump(&'static str),
    /// `print(…);`
    Print,
    /// `reject(…);`, `fatal_error(…);`
    Reject(Vec<Expr>),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The form.
    pub kind: ExprKind,
    /// The place.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `12`
    Int(i64),
    /// `1.5`
    Real(f64),
    /// `"text"`
    Text(String),
    /// `x`
    Name(String),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `-a`
    Neg(Box<Expr>),
    /// `!a`
    Not(Box<Expr>),
    /// `a'`
    Transpose(Box<Expr>),
    /// `f(a, b)`, `f(a | b)`
    Call(Name, Vec<Expr>),
    /// `a[i, j]`
    Index(Box<Expr>, Vec<Index>),
    /// `c ? a : b`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `{a, b}`
    Array(Vec<Expr>),
    /// `[a, b]`
    Row(Vec<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
}

/// An index.
#[derive(Clone, Debug)]
pub enum Index {
    /// `i`, also an array of indices.
    At(Expr),
    /// `a:b`, where each end may be absent.
    Range(Option<Expr>, Option<Expr>),
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the spelling is in the parser's table
pub enum BinaryOp {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    IntDiv,
    TimesEach,
    DivEach,
    LeftDiv,
    Pow,
    PowEach,
}

//! The syntax tree as written: unresolved names, overloaded operators, no types.

use std::rc::Rc;

use lambada_source::Span;

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The text.
    pub text: Rc<str>,
    /// The place.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The comment `--|` before the first item, if it is followed by an empty line.
    pub doc: Option<Rc<str>>,
    /// The items in the order of the file.
    pub items: Vec<Item>,
    /// The source text, if the tree comes from one: it has comments, empty lines and spellings that
    /// the tree lacks.
    pub written: Option<Rc<str>>,
}

/// A top-level item.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // there are few items
pub enum Item {
    /// `def f x = e`
    Def(Def),
    /// `type t = …`
    Type(TypeDef),
    /// `import "path"`
    Import(Import),
}

/// `import "path" as name (a, b)`; the name and the list may be absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The path in quotes.
    pub path: Rc<str>,
    /// The name after `as`.
    pub alias: Option<Name>,
    /// The list of names that need no module before them.
    pub names: Option<Vec<Name>>,
    /// The whole item.
    pub span: Span,
}

impl Item {
    /// The place of the whole item, without its comments.
    pub fn span(&self) -> Span {
        match self {
            Item::Def(def) => def.span,
            Item::Type(def) => def.span,
            Item::Import(import) => import.span,
        }
    }
}

/// `def rec f [n] (x : [n]real) : real = e with jvp dx = e with vjp dy = e`; also a local function,
/// `let f x = e in …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Def {
    /// The doc comment, without its `--|`.
    pub doc: Option<Rc<str>>,
    /// Whether it was marked `rec`.
    pub recursive: bool,
    /// The name.
    pub name: Name,
    /// The size variables in brackets before the parameters.
    pub sizes: Vec<Name>,
    /// The parameters.
    pub params: Vec<Param>,
    /// The declared result type.
    pub result: Option<TypeExpr>,
    /// The body.
    pub body: Expr,
    /// Custom derivatives.
    pub rules: Vec<Rule>,
    /// From the keyword to the end.
    pub span: Span,
}

/// A parameter: a pattern, perhaps with a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The pattern; irrefutable.
    pub pattern: Pattern,
    /// The declared type.
    pub ty: Option<TypeExpr>,
}

/// `with jvp dx = e`, `with vjp dy of y = e`, `with pseudo vjp dy = e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Whether it deliberately differs from the derivative.
    pub pseudo: bool,
    /// Forward or reverse.
    pub mode: Mode,
    /// The tangents or cotangents that it takes.
    pub params: Vec<Param>,
    /// Binds the value of the function, after `of`.
    pub value: Option<Param>,
    /// The derivative.
    pub body: Expr,
    /// The whole rule.
    pub span: Span,
}

/// A mode of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Propagates tangents along with values.
    Forward,
    /// Propagates cotangents in reverse.
    Reverse,
}

impl Mode {
    /// Its word in a rule.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Forward => "jvp",
            Mode::Reverse => "vjp",
        }
    }
}

/// `type shape a = Circle real | Rect real a` or `type vec3 = [3]real`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDef {
    /// The doc comment.
    pub doc: Option<Rc<str>>,
    /// The name.
    pub name: Name,
    /// Its size parameters, in brackets before the others.
    pub sizes: Vec<Name>,
    /// Its parameters.
    pub params: Vec<Name>,
    /// The definition.
    pub body: TypeBody,
    /// The whole item.
    pub span: Span,
}

/// The right-hand side of a type definition.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeBody {
    /// Another name for a type.
    Alias(TypeExpr),
    /// Constructors with the types of their arguments.
    Variant(Vec<(Name, Vec<TypeExpr>)>),
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// The form.
    pub kind: TypeKind,
    /// The place.
    pub span: Span,
}

/// The forms of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `real`, `vec3`, a type variable `a`, `list a`, or `params [d] []`: a name with its sizes and
    /// its arguments, not yet resolved.
    Name(Name, Vec<Option<Expr>>, Vec<TypeExpr>),
    /// `()` and `(a, b)`.
    Tuple(Vec<TypeExpr>),
    /// `{x : real, y : real}` as written.
    Record(Vec<(Name, TypeExpr)>),
    /// `[n]t`; no size for `[]t`.
    Array(Option<Box<Expr>>, Box<TypeExpr>),
    /// `a -> b`.
    Function(Box<TypeExpr>, Box<TypeExpr>),
    /// A place without a type; the parser has reported it.
    Error,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The form.
    pub kind: ExprKind,
    /// The place.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `x`; `linalg.solve` is read as a field and resolved later.
    Var(Rc<str>),
    /// `Circle`
    Con(Rc<str>),
    /// `12`
    Int(i64),
    /// `1.5e3`
    Real(f64),
    /// `true`, `false`
    Bool(bool),
    /// `inspect_as "name"`, a function
    InspectAs(Rc<str>),
    /// `check "text {e}"`, a function of a condition and of its value: the words around the
    /// expressions, one more than there are expressions
    Check(Vec<Rc<str>>, Vec<Expr>),
    /// `error "text {e}"`, of any type: the words and expressions, as in a `check`
    Fail(Vec<Rc<str>>, Vec<Expr>),
    /// `()`, `(a, b)`
    Tuple(Vec<Expr>),
    /// `{x = 1.0, y = 2.0}`
    Record(Vec<(Name, Expr)>),
    /// `{r with x = 3.0}`
    RecordUpdate(Box<Expr>, Vec<(Name, Expr)>),
    /// `r.x`
    Field(Box<Expr>, Name),
    /// `t.0`
    Component(Box<Expr>, usize, Span),
    /// `f x`
    Apply(Box<Expr>, Box<Expr>),
    /// `\x y -> e`
    Lambda(Vec<Param>, Box<Expr>),
    /// `(+)`
    Operator(BinaryOp),
    /// `(2 *)`
    SectionLeft(Box<Expr>, BinaryOp),
    /// `(* 2)`
    SectionRight(BinaryOp, Box<Expr>),
    /// `-e`, `not e`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, also `&&`, `||`, `|>`, `>>`, `@`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `let p = e in e`
    Let(Param, Box<Expr>, Box<Expr>),
    /// `let f x = e in e`, `let rec f x = e and g y = e in e`
    LetFunctions(Vec<Def>, Box<Expr>),
    /// `if c then a else b`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `match e | P -> e | P if c -> e …`
    Match(Box<Expr>, Vec<Arm>),
    /// `for i < n, x in xs => e`, `for x in xs if c => e`
    For(Vec<Clause>, Box<Expr>),
    /// `[a, b, c]`
    Array(Vec<Expr>),
    /// `xs[i, j]`
    Index(Box<Expr>, Vec<Expr>),
    /// `xs[a:b]` with either end optional
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// `xs with [i, j] = e`
    Update(Box<Expr>, Vec<Expr>, Box<Expr>),
    /// `xs with [a:b] = ys`
    UpdateSlice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>, Box<Expr>),
    /// `loop p = e for i < n do e`
    Loop(Param, Box<Expr>, LoopKind, Box<Expr>),
    /// `accumulate h = e in e`, `accumulate a = e, b = e in e`
    Accumulate(Vec<(Name, Expr)>, Box<Expr>),
    /// `h[i, j] += e`, `h += e` (no indices)
    Add(Name, Vec<Expr>, Box<Expr>),
    /// `a; b`
    Sequence(Box<Expr>, Box<Expr>),
    /// `(e : t)`
    Annotated(Box<Expr>, TypeExpr),
    /// `-- text` on lines of their own before `e`. Passes that write programs make these; the
    /// parser skips comments.
    Commented(Rc<str>, Box<Expr>),
    /// The readable part of an expression with problems, which have been reported. It has no
    /// meaning, like [`ExprKind::Error`].
    Broken(Box<Expr>),
    /// A place without an expression; the parser has reported it.
    Error,
}

/// `P -> e`, `P if c -> e`
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// The condition after the pattern.
    pub guard: Option<Expr>,
    /// The result.
    pub body: Expr,
}

/// A part of a `for`: a dimension, or the filter after the last one.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// `i < n`
    Range(Name, Expr),
    /// `a <= i < b`
    Between(Expr, Name, Expr),
    /// `p in xs`
    In(Pattern, Expr),
    /// `if c`, only after all dimensions: the array then has the elements for which `c` holds.
    If(Expr),
}

/// The iteration of a `loop`.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// `for i < n` or `for x in xs`, with an optional filter `if c` and an optional `checkpoint`.
    /// Where the filter does not hold the state stays as it is.
    For(Box<Clause>, Option<Box<Expr>>, Option<Checkpoint>),
    /// `while c`
    While(Box<Expr>),
}

/// The checkpointing policy of a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Checkpoint {
    /// `checkpoint all`: the residuals of every iteration; the default.
    All,
    /// `checkpoint sqrt`: one state in about √n.
    Sqrt,
    /// `checkpoint k`: at most `k` states.
    States(Box<Expr>),
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The form.
    pub kind: PatternKind,
    /// The place.
    pub span: Span,
}

/// The forms of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// `x`
    Var(Rc<str>),
    /// `12`, `-3`
    Int(i64),
    /// `1.5`
    Real(f64),
    /// `true`
    Bool(bool),
    /// `()`, `(p, q)`
    Tuple(Vec<Pattern>),
    /// `{x, y = p}`; `{x}` is `{x = x}`
    Record(Vec<(Name, Pattern)>),
    /// `Circle r`
    Con(Name, Vec<Pattern>),
    /// `[p, q]`: an array of this length
    Array(Vec<Pattern>),
    /// `p | q`, at least two
    Or(Vec<Pattern>),
    /// `(p : t)`
    Annotated(Box<Pattern>, TypeExpr),
    /// A place without a pattern; the parser has reported it.
    Error,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `not`
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // named after what they look like in `spelling`
pub enum BinaryOp {
    Pow,
    Mul,
    Div,
    FloorDiv,
    Rem,
    MatMul,
    Add,
    Sub,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Compose,
    Pipe,
}

impl BinaryOp {
    /// All operators.
    pub const ALL: [BinaryOp; 18] = [
        BinaryOp::Pow,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::FloorDiv,
        BinaryOp::Rem,
        BinaryOp::MatMul,
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::Lt,
        BinaryOp::Le,
        BinaryOp::Gt,
        BinaryOp::Ge,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Compose,
        BinaryOp::Pipe,
    ];

    /// The operator with this spelling.
    pub fn spelled(text: &str) -> Option<BinaryOp> {
        BinaryOp::ALL.into_iter().find(|op| op.spelling() == text)
    }

    /// Its spelling.
    pub fn spelling(self) -> &'static str {
        match self {
            BinaryOp::Pow => "**",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::FloorDiv => "//",
            BinaryOp::Rem => "%",
            BinaryOp::MatMul => "@",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Compose => ">>",
            BinaryOp::Pipe => "|>",
        }
    }
}

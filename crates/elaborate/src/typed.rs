//! The typed tree: names are resolved, every node has a type, overloads and polymorphism are still
//! open. Specialization reads it once for each combination of types at which a definition is used.

use std::rc::Rc;

use lambada_core::Checkpoint;
use lambada_prim::{ArrayPrim, Scalar};
use lambada_source::Span;

use crate::builtin::Builtin;
use crate::matching::Tree;
use crate::solve::size::Poly;
use crate::solve::ty::{Ty, VariantId};

/// A variable bound by a pattern, a clause or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LocalId(pub u32);

/// A top-level definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct GlobalId(pub u32);

/// A local function that may be used at several types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FunctionId(pub u32);

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Exp {
    pub kind: ExpKind,
    pub ty: Ty,
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub(crate) enum ExpKind {
    Local(LocalId),
    /// At these types.
    Global(GlobalId, Rc<[Ty]>),
    /// At these types.
    Function(FunctionId, Rc<[Ty]>),
    /// A definition inside of its recursive group: at these types for these type variables, and at
    /// the types of the surrounding instance for the others.
    Recursive(GlobalId, Rc<[(Ty, Ty)]>),
    /// Likewise for a local function.
    RecursiveLocal(FunctionId, Rc<[(Ty, Ty)]>),
    Builtin(Builtin),
    /// The identity, which prints its argument under this name.
    Inspect(Rc<str>),
    /// `check "words {value} words"`: the function of a condition and of a value. `written`: by a
    /// user, not by the library.
    Check {
        words: Rc<[Rc<str>]>,
        values: Vec<Exp>,
        written: bool,
    },
    /// `error "words {value} words"`
    Fail {
        words: Rc<[Rc<str>]>,
        values: Vec<Exp>,
    },
    Lit(Scalar),
    /// An integer literal, which may be real.
    Number(i64),
    Tuple(Vec<Exp>),
    /// In alphabetical order.
    Record(Vec<(Rc<str>, Exp)>),
    RecordUpdate(Box<Exp>, Vec<(Rc<str>, Exp)>),
    Field(Box<Exp>, Rc<str>),
    Component(Box<Exp>, usize),
    Apply(Box<Exp>, Box<Exp>),
    /// A function of scalars for each element of the arguments that are arrays where it takes
    /// scalars.
    Elementwise(Box<Exp>, Vec<Exp>),
    Lambda(Rc<Function>),
    /// The constructor with this tag, applied to all its arguments.
    Con(usize, Vec<Exp>),
    /// An elementwise operator, by its spelling in the table of primitives: `+`, `-`, `*`, `/`,
    /// `%`, `**`.
    Arith(&'static str, Box<Exp>, Box<Exp>),
    Negate(Box<Exp>),
    Not(Box<Exp>),
    Compare(Comparison, Box<Exp>, Box<Exp>),
    Contraction(ArrayPrim, Box<Exp>, Box<Exp>),
    /// `let`s, one after the other.
    Block(Vec<Stmt>, Box<Exp>),
    If(Box<Exp>, Box<Exp>, Box<Exp>),
    Match(Box<Exp>, Rc<Tree>, Vec<Case>),
    For(Clause, Box<Exp>),
    /// The bodies at the places for which the condition holds, in one dimension.
    Filtered(Vec<Clause>, Box<Exp>, Box<Exp>),
    Array(Vec<Exp>),
    Index(Box<Exp>, Vec<Exp>),
    Slice(Box<Exp>, Option<Box<Exp>>, Option<Box<Exp>>),
    Update(Box<Exp>, Vec<Exp>, Box<Exp>),
    UpdateSlice(Box<Exp>, Option<Box<Exp>>, Option<Box<Exp>>, Box<Exp>),
    Loop {
        state: Pat,
        init: Box<Exp>,
        driver: Driver,
        /// The state stays as it is where this does not hold.
        filter: Option<Box<Exp>>,
        body: Box<Exp>,
    },
    /// The initial value of each accumulator, and the body.
    Accumulate(Vec<(LocalId, Exp)>, Box<Exp>),
    Add(LocalId, Vec<Exp>, Box<Exp>),
    Sequence(Box<Exp>, Box<Exp>),
    /// A value of the type of the node: ints are converted to reals where it has reals.
    Convert(Box<Exp>),
    /// A value with claims to check on its sizes.
    Claimed(Box<Exp>, Vec<Claim>),
    /// A variant's size that no constructor argument determines; an index into the missing sizes.
    MissingSize(usize),
    /// Placeholder for an expression with a reported problem.
    Error,
}

/// A case of a match: its condition, if it has one, and its result.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub guard: Option<Exp>,
    pub body: Exp,
}

/// A comparison. `swap`: with its operands exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Comparison {
    pub spelling: &'static str,
    pub swap: bool,
}

/// A statement of a block.
#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    /// `let p = e`, with claims on sizes.
    Let(Box<(Pat, Exp, Vec<Claim>)>),
    /// A function that is specialized at each use.
    Function(FunctionId, Rc<Function>),
    /// Functions that may call each other.
    Functions(Rc<[(FunctionId, Rc<Function>)]>),
}

/// A function with parameters; without any it is a value that is specialized like a function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Display names of the parameters.
    pub names: Rc<[Rc<str>]>,
    pub params: Vec<Pat>,
    /// Claims on the sizes of the parameters.
    pub claims: Vec<Claim>,
    pub body: Exp,
    /// Claims on the sizes of the result that must be checked.
    pub result_claims: Vec<Claim>,
    /// Custom derivatives.
    pub rules: Option<Rc<Rules>>,
}

/// The custom derivatives of a function, at least one.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// Name of the function.
    pub name: Rc<str>,
    pub jvp: Option<Rule>,
    pub vjp: Option<Rule>,
}

/// A rule, in the scope of the parameters.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Whether it deliberately differs from the derivative.
    pub pseudo: bool,
    /// The tangents, or the cotangent.
    pub bound: Pat,
    /// The value of the function.
    pub value: Option<Pat>,
    /// Whether the body takes functions that add to the cotangents of function parameters.
    pub adds: bool,
    pub body: Exp,
    pub span: Span,
}

/// A statement of a signature about one size.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Index of the parameter.
    pub param: usize,
    /// Path to the array inside of the parameter.
    pub path: Vec<Step>,
    /// The fact.
    pub what: SizeFact,
    /// Name of the size in messages: `x`, `axis 1 of x`.
    pub owner: Rc<str>,
    pub span: Span,
}

/// A step of a path to an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A component of a tuple or a field of a record, by position.
    Part(usize),
    /// The elements of an array.
    Element,
}

/// A fact about a size that a signature states.
#[derive(Clone, Debug)]
pub(crate) enum SizeFact {
    /// This variable stands for it.
    Bind(LocalId),
    /// It is the value of this expression, written like this.
    Equals(Box<Exp>, Rc<str>),
}

/// A clause of a `for`.
#[derive(Clone, Debug)]
pub(crate) enum Clause {
    /// From a start, or 0, up to a bound.
    Range(LocalId, Option<Box<Exp>>, Box<Exp>),
    In(Pat, Box<Exp>),
}

/// The iteration of a loop.
#[derive(Clone, Debug)]
pub(crate) enum Driver {
    For(Clause, Checkpoint<Box<Exp>>),
    While(Box<Exp>),
}

/// A pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pat {
    pub kind: PatKind,
    pub ty: Ty,
    pub span: Span,
}

/// The forms of patterns.
#[derive(Clone, Debug)]
pub(crate) enum PatKind {
    Wildcard,
    Var(LocalId),
    /// An integer literal, which may be real.
    Number(i64),
    Real(f64),
    Bool(bool),
    Tuple(Vec<Pat>),
    /// Some of the fields.
    Record(Vec<(Rc<str>, Pat)>),
    Con(VariantId, usize, Vec<Pat>),
    /// All elements of an array. `known`: whether its type says that it has this length.
    Array {
        items: Vec<Pat>,
        known: bool,
    },
    /// At least two alternatives, which bind the same variables.
    Or(Vec<Pat>),
}

/// Information about a local variable.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub name: Rc<str>,
    pub ty: Ty,
    /// Its value as a size, computed on demand.
    pub size: Option<Poly>,
    /// Index of the scope in which its value is constant.
    pub region: usize,
}

//! Terms. Every node carries its type and every variable its own, so `t.ty()` needs no environment.
//! Trees are shared (`Rc`); each variable is bound once in a program, which the checker verifies.

use std::rc::Rc;

use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar};
use lambada_source::{Site, Span, stack};

use crate::{DefId, Ruled, Ty};

/// The hint of a variable that elaboration makes for an operand without a name.
pub const OPERAND: &str = "operand";

/// A variable, identified by `id` alone; `hint` is its name in the source.
#[derive(Clone, Debug)]
pub struct Var {
    /// Unique in a program.
    pub id: u32,
    /// For printing.
    pub hint: Rc<str>,
    /// Its type.
    pub ty: Ty,
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        self.id == other.id
    }
}

impl Eq for Var {}

impl std::hash::Hash for Var {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// A term.
#[derive(Clone, Debug)]
pub struct Term(pub(crate) Rc<Node>);

/// A node of a term.
#[derive(Debug)]
pub struct Node {
    /// The construct.
    pub kind: TermKind,
    /// Its type.
    pub ty: Ty,
    /// Its place in the source; run-time errors blame it.
    pub span: Span,
}

impl Drop for Node {
    /// Iterates over the spine of lets, applications and checks, because it may be many thousands
    /// long. Other long chains are dropped recursively, on a larger stack if needed.
    fn drop(&mut self) {
        let mut next = take_spine(&mut self.kind);
        while let Some(Term(node)) = next {
            next = Rc::try_unwrap(node).ok().and_then(|mut node| take_spine(&mut node.kind));
        }
        if !matches!(self.kind, TermKind::Var(_) | TermKind::Global(_) | TermKind::Lit(_)) {
            let kind = std::mem::replace(&mut self.kind, TermKind::Lit(Scalar::Bool(false)));
            stack::deeper(|| drop(kind));
        }
    }
}

/// Takes out the child that continues a spine.
fn take_spine(kind: &mut TermKind) -> Option<Term> {
    if let TermKind::Let(_, _, next) | TermKind::App(next, _) | TermKind::Check { body: next, .. } =
        kind
    {
        // A small term replaces it. While the thread ends, that term may be gone.
        LEAF.try_with(|leaf| std::mem::replace(next, leaf.clone())).ok()
    } else {
        None
    }
}

thread_local! {
    static LEAF: Term = Term::new(TermKind::Lit(Scalar::Bool(false)), Ty::BOOL, Span::default());
}

impl Term {
    /// A node. The smart constructors of `build` compute the type.
    pub fn new(kind: TermKind, ty: Ty, span: Span) -> Term {
        Term(Rc::new(Node { kind, ty, span }))
    }

    /// The construct.
    pub fn kind(&self) -> &TermKind {
        &self.0.kind
    }

    /// The type.
    pub fn ty(&self) -> &Ty {
        &self.0.ty
    }

    /// The place.
    pub fn span(&self) -> Span {
        self.0.span
    }
}

/// The constructs.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `x`
    Var(Var),
    /// A top-level definition.
    Global(DefId),
    /// A scalar constant.
    Lit(Scalar),
    /// A value in a place that is never evaluated: the case of a constructor that a value cannot
    /// have.
    Never,
    /// `\x -> t`
    Lam(Var, Term),
    /// `t s`
    App(Term, Term),
    /// `let x = t in s`
    Let(Var, Term, Term),
    /// `let rec f = \x -> t and g = \y -> s in u`: functions that may call each other. Each
    /// right-hand side is a `Lam`; the variables are in scope in all right-hand sides and in the
    /// body.
    LetRec(Vec<(Var, Term)>, Term),
    /// `(t, s)`, and records with the fields in alphabetical order; the type tells them apart.
    Tuple(Vec<Term>),
    /// The k-th component of a tuple, or field of a record in alphabetical order.
    Proj(Term, usize),
    /// The constructor with this tag, applied to all its arguments; the type determines the
    /// variant.
    Con(usize, Vec<Term>),
    /// One arm per constructor, in the order of the tags. Nested patterns have been compiled away.
    Match(Term, Vec<Arm>),
    /// `if c then t else s`
    If(Term, Term, Term),
    /// A scalar primitive applied to scalars.
    Prim(Prim, Vec<Term>),
    /// `[a, b, c]`; the elements have equal shapes.
    Array(Vec<Term>),
    /// `for i < n => t`: the array of `t` for `i` from 0 to `n - 1`. Iterations are independent.
    /// `n ≤ 0` gives an empty array.
    For(Var, Term, Term),
    /// The size of an array along an axis: `Dim(xs, 0)` is `length xs`, `Dim(m, 1)` the number of
    /// columns.
    Dim(Term, usize),
    /// `xs[i, j]`: at most as many indices as the rank. An index out of range is a run-time error
    /// at the node's span.
    Index(Term, Vec<Term>),
    /// `xs with [i, j] = t`; the value may be a row. An index out of range, or a shape other than
    /// the replaced element's, is a run-time error.
    Update(Term, Vec<Term>, Term),
    /// `⊕ xs` over the outermost axis of an array of scalars; 0, 1, ±inf … for an empty one. For
    /// `Add` the elements may be arrays (`sum` of a matrix is the row of its column sums).
    Reduce(ReduceOp, Term),
    /// An array primitive that is a sum of products, of arrays of reals: `a @ b`. Unequal sizes of
    /// an axis are a run-time error.
    ArrayPrim(ArrayPrim, Vec<Term>),
    /// `loop x = init for i < n do body`, or `while`.
    Loop {
        /// The state, in scope in the body and in the condition.
        state: Var,
        /// Its initial value.
        init: Term,
        /// Its iteration.
        kind: LoopKind,
        /// The next state. Its arrays must keep their shapes from `init`.
        body: Term,
    },
    /// `accumulate h = init in body`: always gives the pair `(body, h)`; elaboration projects where
    /// the user sees `h` alone.
    Accumulate {
        /// The accumulator: a name that only `Add` mentions, never a value.
        acc: Var,
        /// Its initial content.
        init: Term,
        /// The region in which additions happen.
        body: Term,
    },
    /// `h[i, j] += t`, of type `()`. The value may be a row; an index out of range or another shape
    /// is a run-time error.
    Add {
        /// The accumulator.
        acc: Var,
        /// The element to add to; empty for the whole accumulator.
        index: Vec<Term>,
        /// The value to add.
        value: Term,
    },
    /// `t`, if the condition holds; otherwise a run-time error with the integers `values` in its
    /// message.
    Check {
        /// The condition, of type `bool`.
        cond: Term,
        /// The message, and the place to blame.
        site: Site,
        /// Values for the message's placeholders.
        values: Vec<Term>,
        /// The guarded term.
        body: Term,
    },
    /// `t`, printed after its evaluation. The message of the site is its label, perhaps empty.
    Inspect(Site, Term),
    /// `jvp f x dx : (b, b)` for `f : a -> b`, first order.
    Jvp(Term, Term, Term),
    /// `vjp f x : (b, b -> a)` for `f : a -> b`, first order.
    Vjp(Term, Term),
    /// A function with custom derivatives.
    Ruled(Box<Ruled>),
    /// `reach f x marks : b` for `f : a -> b` and nonnegative marks of type `a`: the reals of `f x`
    /// that can depend on a marked one. It is `jvp` with 1 for every partial derivative that is not
    /// zero for all values: a real is positive if a path leads to it from a mark, and zero
    /// otherwise; its magnitude has no meaning. Only the branch taken counts; all elements of an
    /// extremum count.
    Reach(Term, Term, Term),
    /// `band f x : (int, int)`: the lowest and the highest diagonal of the Jacobian of `f` at `x`
    /// that can differ from zero, if these are few and evident from the program; otherwise
    /// `(0, -1)`. The value depends on program analysis, so no result may depend on it, except in
    /// its cost.
    Band(Term, Term),
}

/// An arm of a match.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The arguments.
    pub vars: Vec<Var>,
    /// The result.
    pub body: Term,
}

/// The checkpointing policy of a loop: the part of the forward sweep that the reverse sweep keeps.
/// It changes only the cost of a derivative, never its value. `K`: representation of a number of
/// states.
#[derive(Clone, Debug)]
pub enum Checkpoint<K> {
    /// The residuals of every iteration.
    All,
    /// One state in about √n; the reverse sweep recomputes the iterations between two states.
    Sqrt,
    /// At most this number of states, at least 1; the reverse sweep recomputes the iterations
    /// between two states according to the binomial schedule.
    States(K),
}

impl<K> Checkpoint<K> {
    /// The number of states, if specified.
    pub fn states(&self) -> Option<&K> {
        match self {
            Checkpoint::All | Checkpoint::Sqrt => None,
            Checkpoint::States(states) => Some(states),
        }
    }

    /// The policy with another representation of the number.
    pub fn map<L>(&self, f: impl FnOnce(&K) -> L) -> Checkpoint<L> {
        match self {
            Checkpoint::All => Checkpoint::All,
            Checkpoint::Sqrt => Checkpoint::Sqrt,
            Checkpoint::States(states) => Checkpoint::States(f(states)),
        }
    }
}

/// The iteration of a loop.
#[derive(Clone, Debug)]
pub enum LoopKind {
    /// `for i < n checkpoint …`
    For(Var, Term, Checkpoint<Term>),
    /// `while c`, where `c` mentions the state.
    While(Term),
}

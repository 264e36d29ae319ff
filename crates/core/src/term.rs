//! Terms. Every node carries its type and every variable its own, so `t.ty()` needs no environment.
//! Trees are shared (`Rc`); a variable is bound once in a program (the checker reports "bound
//! twice").

use std::rc::Rc;

use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar};
use lambada_source::{Site, Span, stack};

use crate::{DefId, Ruled, Ty};

/// What a variable is called that elaboration makes for an operand that has no name.
pub const OPERAND: &str = "operand";

/// A variable: identified by `id` alone; `hint` is what the user called it.
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

/// What a term consists of.
#[derive(Debug)]
pub struct Node {
    /// The construct.
    pub kind: TermKind,
    /// Its type.
    pub ty: Ty,
    /// The place in the source that it comes from; blamed by run-time errors.
    pub span: Span,
}

impl Drop for Node {
    /// In a loop along the spine of lets, applications and checks: it may be many thousands long.
    /// So may be other chains, which are dropped with more stack where there is little.
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
        // Something small takes its place. At the end of the thread there is nothing small left.
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
    /// A value where none is ever asked for: the case of a constructor that a value is known not to
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
    /// The constructor with the given tag, applied to all its arguments; the type says of which
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
    /// `xs[i, j]`: as many indices as given, at most the rank. Out of range is a run-time error at
    /// the node's span.
    Index(Term, Vec<Term>),
    /// `xs with [i, j] = t`; the value may be a row. Out of range, or another shape than the
    /// element it replaces, is a run-time error.
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
        /// Its first value.
        init: Term,
        /// What drives it.
        kind: LoopKind,
        /// The next state. Its arrays have the shapes that they have in `init`.
        body: Term,
    },
    /// `accumulate h = init in body`: always gives the pair `(body, h)`; elaboration projects where
    /// the user sees `h` alone.
    Accumulate {
        /// The accumulator: a name that only `Add` mentions, never a value.
        acc: Var,
        /// What it holds first.
        init: Term,
        /// Where additions happen.
        body: Term,
    },
    /// `h[i, j] += t`, of type `()`. The value may be a row; out of range or another shape is a
    /// run-time error.
    Add {
        /// The accumulator.
        acc: Var,
        /// Where to add; empty for all of it.
        index: Vec<Term>,
        /// What to add.
        value: Term,
    },
    /// `t`, if the condition holds; otherwise a run-time error with the integers `values` in its
    /// message.
    Check {
        /// Of type `bool`.
        cond: Term,
        /// What to say.
        site: Site,
        /// Fill the message's placeholders.
        values: Vec<Term>,
        /// What it guards.
        body: Term,
    },
    /// `t`, which is printed when it has been evaluated. The message of the site is its name, or
    /// nothing.
    Inspect(Site, Term),
    /// `jvp f x dx : (b, b)` for `f : a -> b`, first order.
    Jvp(Term, Term, Term),
    /// `vjp f x : (b, b -> a)` for `f : a -> b`, first order.
    Vjp(Term, Term),
    /// A function with derivatives of its own.
    Ruled(Box<Ruled>),
    /// `reach f x marks : b` for `f : a -> b` and marks of type `a`, which are not negative: which
    /// reals of `f x` can depend on a marked one. It is `jvp` with ones for all partial derivatives
    /// that are not zero whatever the values: a real is positive where a way leads to it from a
    /// mark, and zero elsewhere. How large it is says nothing. Of a branch, what is taken counts;
    /// of an extremum, all elements.
    Reach(Term, Term, Term),
    /// `band f x : (int, int)`: the lowest and the highest diagonal of the Jacobian of `f` at `x`
    /// that can differ from zero, where these are few and evident from the program; else `(0, -1)`.
    /// So it says what is known of a program, and no result may depend on it but by its costs.
    Band(Term, Term),
}

/// One arm of a match: the constructor's arguments, and the result.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The arguments.
    pub vars: Vec<Var>,
    /// The result.
    pub body: Term,
}

/// What the reverse sweep of a loop keeps of its forward sweep. It changes what a derivative costs,
/// never what it is. `K`: how a number of states is written.
#[derive(Clone, Debug)]
pub enum Checkpoint<K> {
    /// What each iteration needs.
    All,
    /// One state in about √n; what is between two of them is run again.
    Sqrt,
    /// At most so many states, at least one; what is between two of them is run again as often as
    /// the binomial schedule says.
    States(K),
}

impl<K> Checkpoint<K> {
    /// The number of states, if it is given.
    pub fn states(&self) -> Option<&K> {
        match self {
            Checkpoint::All | Checkpoint::Sqrt => None,
            Checkpoint::States(states) => Some(states),
        }
    }

    /// The same policy with the number written differently.
    pub fn map<L>(&self, f: impl FnOnce(&K) -> L) -> Checkpoint<L> {
        match self {
            Checkpoint::All => Checkpoint::All,
            Checkpoint::Sqrt => Checkpoint::Sqrt,
            Checkpoint::States(states) => Checkpoint::States(f(states)),
        }
    }
}

/// What drives a loop.
#[derive(Clone, Debug)]
pub enum LoopKind {
    /// `for i < n checkpoint …`
    For(Var, Term, Checkpoint<Term>),
    /// `while c`, where `c` mentions the state.
    While(Term),
}

//! Smart constructors: they compute the type, and panic on ill-typed terms. The checker shares no
//! code with them.

use lambada_prim::{Prim, ReduceOp, Scalar};
use lambada_source::{Site, Span};

use crate::{Arm, LoopKind, Term, TermKind, Ty, Var};

/// `x`
pub fn var(x: &Var) -> Term {
    Term::new(TermKind::Var(x.clone()), x.ty.clone(), Span::default())
}

/// A constant.
pub fn lit(value: Scalar) -> Term {
    Term::new(TermKind::Lit(value), Ty::Scalar(value.ty()), Span::default())
}

/// A real constant.
pub fn real(value: f64) -> Term {
    lit(Scalar::Real(value))
}

/// An integer constant.
pub fn int(value: i64) -> Term {
    lit(Scalar::Int(value))
}

/// `\x -> body`
pub fn lam(x: Var, body: Term) -> Term {
    let ty = Ty::fun(x.ty.clone(), body.ty().clone());
    let span = body.span();
    Term::new(TermKind::Lam(x, body), ty, span)
}

/// `f x`
pub fn app(f: Term, x: Term) -> Term {
    let Ty::Fun(_, to) = f.ty() else { panic!("applied a term of type {:?}", f.ty()) };
    let (ty, span) = ((**to).clone(), f.span().to(x.span()));
    Term::new(TermKind::App(f, x), ty, span)
}

/// A value of this type in a place that is never evaluated.
pub fn never(ty: Ty) -> Term {
    Term::new(TermKind::Never, ty, Span::default())
}

/// `let x = t in s`
pub fn let_(x: Var, t: Term, s: Term) -> Term {
    let (ty, span) = (s.ty().clone(), s.span());
    Term::new(TermKind::Let(x, t, s), ty, span)
}

/// `let rec f = t and … in body`
pub fn let_rec(functions: Vec<(Var, Term)>, body: Term) -> Term {
    let (ty, span) = (body.ty().clone(), body.span());
    Term::new(TermKind::LetRec(functions, body), ty, span)
}

/// `(t, s, …)`
pub fn tuple(items: Vec<Term>) -> Term {
    let ty = Ty::tuple(items.iter().map(|t| t.ty().clone()).collect::<Vec<_>>());
    Term::new(TermKind::Tuple(items), ty, Span::default())
}

/// The k-th component of a tuple or record.
pub fn proj(t: Term, k: usize) -> Term {
    let (ty, span) = (t.ty().component(k).clone(), t.span());
    Term::new(TermKind::Proj(t, k), ty, span)
}

/// A primitive applied to scalars.
pub fn prim(op: Prim, args: Vec<Term>) -> Term {
    let ty = Ty::Scalar(op.result());
    let span = args.iter().map(Term::span).reduce(Span::to).unwrap_or_default();
    Term::new(TermKind::Prim(op, args), ty, span)
}

/// `if c then t else s`
pub fn if_(c: Term, t: Term, s: Term) -> Term {
    let (ty, span) = (t.ty().clone(), c.span().to(s.span()));
    Term::new(TermKind::If(c, t, s), ty, span)
}

/// `match t …`, one arm per constructor.
pub fn match_(t: Term, arms: Vec<Arm>) -> Term {
    let (ty, span) = (arms[0].body.ty().clone(), t.span());
    Term::new(TermKind::Match(t, arms), ty, span)
}

/// `for i < n => body`
pub fn for_(i: Var, n: Term, body: Term) -> Term {
    let (ty, span) = (Ty::array(body.ty().clone()), body.span());
    Term::new(TermKind::For(i, n, body), ty, span)
}

/// The size of an array along an axis.
pub fn dim(xs: Term, axis: usize) -> Term {
    let span = xs.span();
    Term::new(TermKind::Dim(xs, axis), Ty::INT, span)
}

/// `xs[i, j]`
pub fn index(xs: Term, at: Vec<Term>, span: Span) -> Term {
    let ty = at.iter().fold(xs.ty().clone(), |ty, _| ty.elem().clone());
    Term::new(TermKind::Index(xs, at), ty, span)
}

/// `xs with [i, j] = value`
pub fn update(xs: Term, at: Vec<Term>, value: Term, span: Span) -> Term {
    let ty = xs.ty().clone();
    Term::new(TermKind::Update(xs, at, value), ty, span)
}

/// `⊕ xs`
pub fn reduce(op: ReduceOp, xs: Term) -> Term {
    let (ty, span) = (xs.ty().elem().clone(), xs.span());
    Term::new(TermKind::Reduce(op, xs), ty, span)
}

/// A value that is printed.
pub fn inspect(site: Site, value: Term) -> Term {
    let (ty, span) = (value.ty().clone(), site.span);
    Term::new(TermKind::Inspect(site, value), ty, span)
}

/// `loop state = init … do body`
pub fn loop_(state: Var, init: Term, kind: LoopKind, body: Term) -> Term {
    let (ty, span) = (state.ty.clone(), body.span());
    Term::new(TermKind::Loop { state, init, kind, body }, ty, span)
}

/// `body`, if `cond` holds.
pub fn check(cond: Term, site: Site, values: Vec<Term>, body: Term) -> Term {
    let (ty, span) = (body.ty().clone(), body.span());
    Term::new(TermKind::Check { cond, site, values, body }, ty, span)
}

/// `jvp f x dx`
pub fn jvp(f: Term, x: Term, dx: Term, span: Span) -> Term {
    let Ty::Fun(_, to) = f.ty() else { panic!("jvp of a term of type {:?}", f.ty()) };
    let ty = Ty::tuple([(**to).clone(), (**to).clone()]);
    Term::new(TermKind::Jvp(f, x, dx), ty, span)
}

/// `reach f x marks`
pub fn reach(f: Term, x: Term, marks: Term, span: Span) -> Term {
    let Ty::Fun(_, to) = f.ty() else { panic!("reach of a term of type {:?}", f.ty()) };
    let ty = (**to).clone();
    Term::new(TermKind::Reach(f, x, marks), ty, span)
}

/// `band f x`
pub fn band(f: Term, x: Term, span: Span) -> Term {
    Term::new(TermKind::Band(f, x), Ty::tuple([Ty::INT, Ty::INT]), span)
}

/// `vjp f x`
pub fn vjp(f: Term, x: Term, span: Span) -> Term {
    let Ty::Fun(from, to) = f.ty() else { panic!("vjp of a term of type {:?}", f.ty()) };
    let ty = Ty::tuple([(**to).clone(), Ty::fun((**to).clone(), (**from).clone())]);
    Term::new(TermKind::Vjp(f, x), ty, span)
}

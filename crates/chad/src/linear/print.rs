//! Printing, in ASCII: `-o`, `!T (x) s`, `\_v. l`, `case l of !y (x) v -> k`, `t{l}`.

use std::fmt;

use super::{Kind, LTy, Lin, LinKind, Term, Ty, Var};
use crate::print::{self, Look, Written, level};
use crate::var::{Name, parens};

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ty_text(self, 0))
    }
}

impl fmt::Display for LTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&lty_text(self, 0))
    }
}

fn real(n: usize) -> String {
    if n == 1 { "real".into() } else { format!("real^{n}") }
}

fn ty_text(ty: &Ty, level: u8) -> String {
    match ty {
        Ty::Real(n) => real(*n),
        Ty::Unit => "1".into(),
        Ty::Prod(a, b) => parens(level > 1, format!("{} * {}", ty_text(a, 1), ty_text(b, 2))),
        Ty::Fun(a, b) => parens(level > 0, format!("{} -> {}", ty_text(a, 1), ty_text(b, 0))),
        Ty::Lolli(a, b) => parens(level > 0, format!("{} -o {}", lty_text(a, 1), lty_text(b, 0))),
    }
}

fn lty_text(ty: &LTy, level: u8) -> String {
    match ty {
        LTy::Real(n) => real(*n),
        LTy::Unit => "1".into(),
        LTy::Prod(a, b) => parens(level > 1, format!("{} * {}", lty_text(a, 1), lty_text(b, 2))),
        LTy::Fun(a, b) => parens(level > 0, format!("{} -> {}", ty_text(a, 1), lty_text(b, 0))),
        LTy::Tensor(a, b) => {
            parens(level > 0, format!("!{} (x) {}", ty_text(a, 2), lty_text(b, 2)))
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::line(&Either::Term(self.clone())))
    }
}

impl fmt::Display for Lin {
    /// The linear variable is called `v`, if no free variable is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::line(&Either::Lin(self.clone())))
    }
}

impl Term {
    /// In lines, with names for what occurs more than once, under these variables.
    pub fn page(&self, context: &[Var]) -> String {
        print::page(&Either::Term(self.clone()), &print::binders(context))
    }
}

impl Lin {
    /// In lines, with names for what occurs more than once, under these variables.
    pub fn page(&self, context: &[Var]) -> String {
        print::page(&Either::Lin(self.clone()), &print::binders(context))
    }
}

/// A term of either judgement.
#[derive(Clone)]
enum Either {
    Term(Term),
    Lin(Lin),
}

fn t(t: &Term) -> Either {
    Either::Term(t.clone())
}

fn l(l: &Lin) -> Either {
    Either::Lin(l.clone())
}

impl Written for Either {
    fn node(&self) -> usize {
        match self {
            Either::Term(t) => std::ptr::from_ref(t.kind()).addr(),
            Either::Lin(l) => std::ptr::from_ref(l.kind()).addr(),
        }
    }

    fn typing(&self) -> String {
        match self {
            Either::Term(t) => t.ty().to_string(),
            Either::Lin(l) => format!("{} -o {}", l.from(), l.to()),
        }
    }

    fn name(&self) -> Name {
        match self {
            Either::Term(t) => t.name().clone(),
            Either::Lin(_) => Name::default(),
        }
    }

    fn look(&self) -> Look<Either> {
        match self {
            Either::Term(t) => look(t),
            Either::Lin(l) => linear_look(l),
        }
    }
}

fn look(term: &Term) -> Look<Either> {
    match term.kind() {
        Kind::Var(x) => Look::Variable(x.into()),
        Kind::Op(op, a) => {
            let both = if let Kind::Pair(a, b) = a.kind() { Some([t(a), t(b)]) } else { None };
            print::operation(op, t(a), both)
        }
        Kind::Prim(p, a) => Look::Call(p.to_string(), vec![t(a)], ","),
        Kind::Unit => Look::Word("<>".into()),
        Kind::Pair(a, b) => Look::Angles(t(a), t(b)),
        Kind::Fst(a) => Look::Prefix("fst", t(a)),
        Kind::Snd(a) => Look::Prefix("snd", t(a)),
        Kind::Lam(x, a) => Look::Lambda(x.into(), t(a)),
        Kind::App(f, a) => match f.kind() {
            Kind::Lam(x, body) => Look::Let(x.into(), t(a), t(body), t(f)),
            Kind::Var(_)
            | Kind::Op(..)
            | Kind::Prim(..)
            | Kind::Unit
            | Kind::Pair(..)
            | Kind::Fst(_)
            | Kind::Snd(_)
            | Kind::App(..)
            | Kind::LinLam(_) => Look::Apply(t(f), t(a)),
        },
        Kind::LinLam(body) => Look::LinearLambda(l(body)),
    }
}

fn linear_look(term: &Lin) -> Look<Either> {
    match term.kind() {
        LinKind::Var => Look::Linear,
        LinKind::LOp(op, a, k) if op.dom().is_empty() && *a.kind() == Kind::Unit => {
            Look::Call(op.to_string(), vec![l(k)], ",")
        }
        LinKind::LOp(op, a, k) => Look::Call(op.to_string(), vec![t(a), l(k)], ";"),
        LinKind::LPrim(p, a, k) => Look::Call(p.to_string(), vec![t(a), l(k)], ";"),
        LinKind::Unit => Look::Word("<>".into()),
        LinKind::Pair(j, k) => Look::Angles(l(j), l(k)),
        LinKind::Fst(k) => Look::Prefix("fst", l(k)),
        LinKind::Snd(k) => Look::Prefix("snd", l(k)),
        LinKind::Lam(y, k) => Look::Lambda(y.into(), l(k)),
        LinKind::App(f, a) => {
            if let LinKind::Lam(y, body) = f.kind() {
                Look::Let(y.into(), t(a), l(body), l(f))
            } else {
                Look::Apply(l(f), t(a))
            }
        }
        LinKind::Tensor(a, k) => Look::Tensor(t(a), l(k)),
        LinKind::Case(k, y, body) => Look::Case(l(k), y.into(), l(body)),
        LinKind::LinApp(f, k) => Look::Braces(t(f), l(k)),
        LinKind::Zero => Look::Word("0".into()),
        LinKind::Plus(j, k) => {
            Look::Infix(level::SUM, [(l(j), level::SUM), (l(k), level::SUM)], "+")
        }
    }
}

//! Printing, in ASCII: `-o`, `!T (x) s`, `\_v. l`, `case l of !y (x) v -> k`, `t{l}`.

use std::fmt;

use super::{Kind, LTy, Lin, LinKind, Linear, Lolli, Ty, Var};
use crate::lambda::{Node, OwnTy, t, ty_text};
use crate::print::{self, Look, level};
use crate::var::parens;

impl OwnTy for Lolli {
    fn text(&self, level: u8) -> String {
        parens(level > 0, format!("{} -o {}", lty_text(&self.0, 1), lty_text(&self.1, 0)))
    }
}

impl fmt::Display for LTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&lty_text(self, 0))
    }
}

fn lty_text(ty: &LTy, level: u8) -> String {
    match ty {
        LTy::Real(n) => Ty::Real(*n).to_string(),
        LTy::Unit => "1".into(),
        LTy::Prod(a, b) => parens(level > 1, format!("{} * {}", lty_text(a, 1), lty_text(b, 2))),
        LTy::Fun(a, b) => parens(level > 0, format!("{} -> {}", ty_text(a, 1), lty_text(b, 0))),
        LTy::Tensor(a, b) => {
            parens(level > 0, format!("!{} (x) {}", ty_text(a, 2), lty_text(b, 2)))
        }
    }
}

impl fmt::Display for Lin {
    /// The linear variable is called `v`, if no free variable is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::line(&l(self)))
    }
}

impl Lin {
    /// In lines, with names for subterms that occur more than once, under these variables.
    pub fn page(&self, context: &[Var]) -> String {
        print::page(&l(self), &print::binders(context))
    }
}

fn l(l: &Lin) -> Node<Linear> {
    Node::Lin(l.clone())
}

pub(super) fn look(term: &Lin) -> Look<Node<Linear>> {
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

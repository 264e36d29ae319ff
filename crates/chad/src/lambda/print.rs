//! Printing, in ASCII: `\x. t`, `<t, s>`, `let x = t in s`.

use std::fmt;

use super::{Construct, Kind, Language, LinearTerm, OwnTy, Term, Ty, Var};
use crate::print::{self, Look, Written};
use crate::var::{Name, parens};

impl<L: Language> fmt::Display for Ty<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ty_text(self, 0))
    }
}

/// Levels: 0 anything, 1 no arrow, 2 neither arrow nor product.
pub(crate) fn ty_text<L: Language>(ty: &Ty<L>, level: u8) -> String {
    match ty {
        Ty::Real(1) => "real".into(),
        Ty::Real(n) => format!("real^{n}"),
        Ty::Unit => "1".into(),
        Ty::Prod(a, b) => parens(level > 1, format!("{} * {}", ty_text(a, 1), ty_text(b, 2))),
        Ty::Fun(a, b) => parens(level > 0, format!("{} -> {}", ty_text(a, 1), ty_text(b, 0))),
        Ty::Own(ty) => ty.text(level),
    }
}

impl<L: Language> fmt::Display for Term<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::line(&t(self)))
    }
}

impl<L: Language> Term<L> {
    /// In lines, as the program has it.
    pub fn lines(&self) -> String {
        print::lines(&t(self))
    }

    /// In lines, with names for subterms that occur more than once, under these variables.
    pub fn page(&self, context: &[Var<L>]) -> String {
        print::page(&t(self), &print::binders(context))
    }
}

/// A term of either judgement.
#[derive(Clone)]
pub enum Node<L: Language> {
    /// `Γ ⊢ t : T`
    Term(Term<L>),
    /// A linear one.
    Lin(L::Lin),
}

/// A Cartesian term as a node to print.
pub(crate) fn t<L: Language>(t: &Term<L>) -> Node<L> {
    Node::Term(t.clone())
}

impl<L: Language> Written for Node<L> {
    fn node(&self) -> usize {
        match self {
            Node::Term(t) => std::ptr::from_ref(t.kind()).addr(),
            Node::Lin(l) => l.node(),
        }
    }

    fn typing(&self) -> String {
        match self {
            Node::Term(t) => t.ty().to_string(),
            Node::Lin(l) => l.typing(),
        }
    }

    fn name(&self) -> Name {
        match self {
            Node::Term(t) => t.name().clone(),
            Node::Lin(_) => Name::default(),
        }
    }

    fn look(&self) -> Look<Node<L>> {
        match self {
            Node::Term(t) => look(t),
            Node::Lin(l) => l.look(),
        }
    }
}

fn look<L: Language>(term: &Term<L>) -> Look<Node<L>> {
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
        Kind::App(f, a) => {
            if let Kind::Lam(x, body) = f.kind() {
                Look::Let(x.into(), t(a), t(body), t(f))
            } else {
                Look::Apply(t(f), t(a))
            }
        }
        Kind::Own(own) => own.look(),
    }
}

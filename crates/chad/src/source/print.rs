//! Printing, in ASCII: `\x. t`, `<t, s>`, `let x = t in s`.

use std::fmt;

use super::{Kind, Term, Ty};
use crate::print::{self, Look, Written};
use crate::var::{Name, parens};

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ty_text(self, 0))
    }
}

/// Levels: 0 anything, 1 no arrow, 2 neither arrow nor product.
fn ty_text(ty: &Ty, level: u8) -> String {
    match ty {
        Ty::Real(1) => "real".into(),
        Ty::Real(n) => format!("real^{n}"),
        Ty::Unit => "1".into(),
        Ty::Prod(a, b) => parens(level > 1, format!("{} * {}", ty_text(a, 1), ty_text(b, 2))),
        Ty::Fun(a, b) => parens(level > 0, format!("{} -> {}", ty_text(a, 1), ty_text(b, 0))),
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::line(self))
    }
}

impl Term {
    fn both(&self) -> Option<[Term; 2]> {
        if let Kind::Pair(a, b) = self.kind() { Some([a.clone(), b.clone()]) } else { None }
    }
}

impl Written for Term {
    fn node(&self) -> usize {
        std::ptr::from_ref(self.kind()).addr()
    }

    fn typing(&self) -> String {
        self.ty().to_string()
    }

    fn name(&self) -> Name {
        Name::default()
    }

    fn look(&self) -> Look<Term> {
        match self.kind() {
            Kind::Var(x) => Look::Variable(x.into()),
            Kind::Op(op, t) => print::operation(op, t.clone(), t.both()),
            Kind::Prim(p, t) => Look::Call(p.to_string(), vec![t.clone()], ","),
            Kind::Unit => Look::Word("<>".into()),
            Kind::Pair(t, s) => Look::Angles(t.clone(), s.clone()),
            Kind::Fst(t) => Look::Prefix("fst", t.clone()),
            Kind::Snd(t) => Look::Prefix("snd", t.clone()),
            Kind::Lam(x, t) => Look::Lambda(x.into(), t.clone()),
            Kind::App(f, s) => match f.kind() {
                Kind::Lam(x, t) => Look::Let(x.into(), s.clone(), t.clone(), f.clone()),
                Kind::Var(_)
                | Kind::Op(..)
                | Kind::Prim(..)
                | Kind::Unit
                | Kind::Pair(..)
                | Kind::Fst(_)
                | Kind::Snd(_)
                | Kind::App(..) => Look::Apply(f.clone(), s.clone()),
            },
        }
    }
}

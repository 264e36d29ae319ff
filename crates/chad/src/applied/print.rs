//! Printing, in ASCII: `t;;s`, `{(t,-)}`, `lcur^-1 t`, `lpair(t, s)`.

use std::fmt;

use super::{Kind, Term, Ty, Var};
use crate::print::{self, Look, Written, level};
use crate::var::{Name, parens};

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ty_text(self, 0))
    }
}

fn ty_text(ty: &Ty, level: u8) -> String {
    match ty {
        Ty::Real(1) => "real".into(),
        Ty::Real(n) => format!("real^{n}"),
        Ty::Unit => "1".into(),
        Ty::Prod(a, b) => parens(level > 1, format!("{} * {}", ty_text(a, 1), ty_text(b, 2))),
        Ty::Fun(a, b) => parens(level > 0, format!("{} -> {}", ty_text(a, 1), ty_text(b, 0))),
        Ty::LFun(a, b) => format!("LFun({}, {})", ty_text(a, 0), ty_text(b, 0)),
        Ty::Tens(a, b) => format!("Tens({}, {})", ty_text(a, 0), ty_text(b, 0)),
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::line(self))
    }
}

impl Term {
    /// In lines, with names for what occurs more than once, under these variables.
    pub fn page(&self, context: &[Var]) -> String {
        print::page(self, &print::binders(context))
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
        Term::name(self).clone()
    }

    fn look(&self) -> Look<Term> {
        let prefix = |name, t: &Term| Look::Prefix(name, t.clone());
        let call = |name: &str, items: &[&Term]| {
            Look::Call(name.into(), items.iter().copied().cloned().collect(), ",")
        };
        let infix = |own, [(t, left), (s, right)]: [(&Term, u8); 2], symbol| {
            Look::Infix(own, [(t.clone(), left), (s.clone(), right)], symbol)
        };
        match self.kind() {
            Kind::Var(x) => Look::Variable(x.into()),
            Kind::Op(op, t) => print::operation(op, t.clone(), t.both()),
            Kind::Prim(p, t) => call(&p.to_string(), &[t]),
            Kind::Unit => Look::Word("<>".into()),
            Kind::Pair(t, s) => Look::Angles(t.clone(), s.clone()),
            Kind::Fst(t) => prefix("fst", t),
            Kind::Snd(t) => prefix("snd", t),
            Kind::Lam(x, t) => Look::Lambda(x.into(), t.clone()),
            Kind::App(f, s) => {
                if let Kind::Lam(x, t) = f.kind() {
                    Look::Let(x.into(), s.clone(), t.clone(), f.clone())
                } else {
                    Look::Apply(f.clone(), s.clone())
                }
            }
            Kind::LOp(op, t) if op.dom().is_empty() && *t.kind() == Kind::Unit => {
                Look::Word(op.to_string())
            }
            Kind::LOp(op, t) => call(&op.to_string(), &[t]),
            Kind::LPrim(p, t) => call(&p.to_string(), &[t]),
            Kind::Zero => Look::Word("0".into()),
            Kind::Plus(t, s) => infix(level::SUM, [(t, level::SUM), (s, level::SUM)], "+"),
            Kind::LId => Look::Word("lid".into()),
            Kind::LThen(t, s) => infix(level::THEN, [(t, level::APPLY), (s, level::THEN)], ";;"),
            Kind::LApp(t, s) => call("lapp", &[t, s]),
            Kind::LSwap(t) => prefix("lswap", t),
            Kind::LEval(t) => prefix("leval", t),
            Kind::Singleton(t) => Look::Singleton(t.clone()),
            Kind::LCurInv(t) => prefix("lcur^-1", t),
            Kind::LFst => Look::Word("lfst".into()),
            Kind::LSnd => Look::Word("lsnd".into()),
            Kind::LPair(t, s) => call("lpair", &[t, s]),
        }
    }
}

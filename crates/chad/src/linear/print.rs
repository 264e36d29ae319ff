//! Printing, in ASCII: `-o`, `!T (x) s`, `\_v. l`, `case l of !y (x) v -> k`, `t{l}`.

use std::fmt;

use super::{Kind, LTy, Lin, LinKind, Term, Ty};
use crate::op::{Op, infix};
use crate::var::{Names, parens};

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
        LTy::Tensor(a, b) => parens(level > 1, format!("!{} (x) {}", ty_text(a, 2), lty_text(b, 2))),
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self, 0, &Names::of_free(&self.free())))
    }
}

impl fmt::Display for Lin {
    /// The linear variable is called `v`, if no free variable is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = Names::of_free(&self.free());
        let v = names.choose("v");
        f.write_str(&lin_text(self, 0, &names, &v))
    }
}

/// Levels: 0 anything, 1 an operand, 2 a function, 3 an argument.
fn text(t: &Term, level: u8, names: &Names) -> String {
    let go = |t: &Term, level: u8| text(t, level, names);
    match t.kind() {
        Kind::Var(x) => names.of(x),
        Kind::Op(op, t) => op_text(op, t, level, names),
        Kind::Prim(p, t) => format!("{p}({})", go(t, 0)),
        Kind::Unit => "<>".into(),
        Kind::Pair(t, s) => format!("<{}, {}>", go(t, 0), go(s, 0)),
        Kind::Fst(t) => parens(level > 2, format!("fst {}", go(t, 3))),
        Kind::Snd(t) => parens(level > 2, format!("snd {}", go(t, 3))),
        Kind::Lam(x, t) => {
            let (inside, x) = names.bind(x);
            parens(level > 0, format!("\\{x}. {}", text(t, 0, &inside)))
        }
        Kind::App(f, s) => parens(level > 2, format!("{} {}", go(f, 2), go(s, 3))),
        Kind::LinLam(l) => {
            let mut inside = names.clone();
            let v = inside.choose("v");
            parens(level > 0, format!("\\_{v}. {}", lin_text(l, 0, &inside, &v)))
        }
    }
}

fn op_text(op: &Op, t: &Term, level: u8, names: &Names) -> String {
    if let (Op::Const(_), Kind::Unit) = (op, t.kind()) {
        return op.to_string();
    }
    if let (Op::Each(prim, _), Kind::Pair(a, b)) = (op, t.kind())
        && let Some(symbol) = infix(*prim)
    {
        return parens(level > 0, format!("{} {symbol} {}", text(a, 1, names), text(b, 1, names)));
    }
    format!("{op}({})", text(t, 0, names))
}

fn lin_text(l: &Lin, level: u8, names: &Names, v: &str) -> String {
    let go = |l: &Lin, level: u8| lin_text(l, level, names, v);
    match l.kind() {
        LinKind::Var => v.into(),
        LinKind::LOp(op, t, l) => format!("{op}({}; {})", text(t, 0, names), go(l, 0)),
        LinKind::LPrim(p, t, l) => format!("{p}({}; {})", text(t, 0, names), go(l, 0)),
        LinKind::Unit => "<>".into(),
        LinKind::Pair(l, k) => format!("<{}, {}>", go(l, 0), go(k, 0)),
        LinKind::Fst(l) => parens(level > 2, format!("fst {}", go(l, 3))),
        LinKind::Snd(l) => parens(level > 2, format!("snd {}", go(l, 3))),
        LinKind::Lam(y, l) => {
            let (inside, y) = names.bind(y);
            parens(level > 0, format!("\\{y}. {}", lin_text(l, 0, &inside, v)))
        }
        LinKind::App(f, s) => app_text(f, s, level, names, v),
        LinKind::Tensor(t, l) => parens(level > 1, format!("!{} (x) {}", text(t, 3, names), go(l, 3))),
        LinKind::Case(l, y, k) => {
            let (mut inside, y) = names.bind(y);
            let z = inside.choose("w");
            parens(level > 0, format!("case {} of !{y} (x) {z} -> {}", go(l, 0), lin_text(k, 0, &inside, &z)))
        }
        LinKind::LinApp(t, l) => format!("{}{{{}}}", text(t, 3, names), go(l, 0)),
        LinKind::Zero => "0".into(),
        LinKind::Plus(l, k) => parens(level > 0, format!("{} + {}", go(l, 1), go(k, 1))),
    }
}

fn app_text(f: &Lin, s: &Term, level: u8, names: &Names, v: &str) -> String {
    if let LinKind::Lam(y, l) = f.kind() {
        let (inside, y) = names.bind(y);
        return parens(level > 0, format!("let {y} = {} in {}", text(s, 0, names), lin_text(l, 0, &inside, v)));
    }
    parens(level > 2, format!("{} {}", lin_text(f, 2, names, v), text(s, 3, names)))
}

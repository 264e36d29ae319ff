//! Printing, in ASCII: `\x. t`, `<t, s>`, `let x = t in s`.

use std::fmt;

use super::{Kind, Term, Ty};
use crate::op::{Op, infix};
use crate::var::{Names, parens};

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
        f.write_str(&text(self, 0, &Names::of_free(&self.free())))
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
        Kind::App(f, s) => match f.kind() {
            Kind::Lam(x, t) => {
                let (inside, x) = names.bind(x);
                parens(level > 0, format!("let {x} = {} in {}", go(s, 0), text(t, 0, &inside)))
            }
            Kind::Var(_) | Kind::Op(..) | Kind::Prim(..) | Kind::Unit | Kind::Pair(..) | Kind::Fst(_) | Kind::Snd(_) | Kind::App(..) => {
                parens(level > 2, format!("{} {}", go(f, 2), go(s, 3)))
            }
        },
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

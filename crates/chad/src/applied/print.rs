//! Printing, in ASCII: `t;;s`, `{(t,-)}`, `lcur^-1 t`, `lpair(t, s)`.

use std::fmt;

use super::{Kind, Term, Ty};
use crate::op::{Op, infix};
use crate::var::{Names, parens};

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
        f.write_str(&text(self, 0, &Names::of_free(&self.free())))
    }
}

/// Levels: 0 anything, 1 an operand of `+`, 2 an operand of `;;`, 3 a function, 4 an argument.
fn text(t: &Term, level: u8, names: &Names) -> String {
    let go = |t: &Term, level: u8| text(t, level, names);
    let prefix = |name: &str, t: &Term| parens(level > 3, format!("{name} {}", go(t, 4)));
    match t.kind() {
        Kind::Var(x) => names.of(x),
        Kind::Op(op, t) => op_text(op, t, level, names),
        Kind::Prim(p, t) => format!("{p}({})", go(t, 0)),
        Kind::Unit => "<>".into(),
        Kind::Pair(t, s) => format!("<{}, {}>", go(t, 0), go(s, 0)),
        Kind::Fst(t) => prefix("fst", t),
        Kind::Snd(t) => prefix("snd", t),
        Kind::Lam(x, t) => {
            let (inside, x) = names.bind(x);
            parens(level > 0, format!("\\{x}. {}", text(t, 0, &inside)))
        }
        Kind::App(f, s) => app_text(f, s, level, names),
        Kind::LOp(op, t) if matches!(t.kind(), Kind::Unit) => op.to_string(),
        Kind::LOp(op, t) => format!("{op}({})", go(t, 0)),
        Kind::LPrim(p, t) => format!("{p}({})", go(t, 0)),
        Kind::Zero => "0".into(),
        Kind::Plus(t, s) => parens(level > 1, format!("{} + {}", go(t, 1), go(s, 2))),
        Kind::LId => "lid".into(),
        Kind::LThen(t, s) => parens(level > 2, format!("{};;{}", go(t, 2), go(s, 3))),
        Kind::LApp(t, s) => format!("lapp({}, {})", go(t, 0), go(s, 0)),
        Kind::LSwap(t) => prefix("lswap", t),
        Kind::LEval(t) => prefix("leval", t),
        Kind::Singleton(t) => format!("{{({},-)}}", go(t, 0)),
        Kind::LCurInv(t) => prefix("lcur^-1", t),
        Kind::LFst => "lfst".into(),
        Kind::LSnd => "lsnd".into(),
        Kind::LPair(t, s) => format!("lpair({}, {})", go(t, 0), go(s, 0)),
    }
}

fn app_text(f: &Term, s: &Term, level: u8, names: &Names) -> String {
    if let Kind::Lam(x, t) = f.kind() {
        let (inside, x) = names.bind(x);
        return parens(level > 0, format!("let {x} = {} in {}", text(s, 0, names), text(t, 0, &inside)));
    }
    parens(level > 3, format!("{} {}", text(f, 3, names), text(s, 4, names)))
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

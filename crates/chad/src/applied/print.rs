//! Printing, in ASCII: `t;;s`, `{(t,-)}`, `lcur^-1 t`, `lpair(t, s)`.

use super::{Api, Applied, Kind, Term};
use crate::lambda::{Node, t};
use crate::print::{Look, level};

pub(super) fn look(api: &Api) -> Look<Node<Applied>> {
    let prefix = |name, a: &Term| Look::Prefix(name, t(a));
    let call = |name: &str, items: &[&Term]| {
        Look::Call(name.into(), items.iter().copied().map(t).collect(), ",")
    };
    let infix = |own, [(a, left), (b, right)]: [(&Term, u8); 2], symbol| {
        Look::Infix(own, [(t(a), left), (t(b), right)], symbol)
    };
    match api {
        Api::LOp(op, a) if op.dom().is_empty() && *a.kind() == Kind::Unit => {
            Look::Word(op.to_string())
        }
        Api::LOp(op, a) => call(&op.to_string(), &[a]),
        Api::LPrim(p, a) => call(&p.to_string(), &[a]),
        Api::Zero => Look::Word("0".into()),
        Api::Plus(a, b) => infix(level::SUM, [(a, level::SUM), (b, level::SUM)], "+"),
        Api::LId => Look::Word("lid".into()),
        Api::LThen(a, b) => infix(level::THEN, [(a, level::APPLY), (b, level::THEN)], ";;"),
        Api::LApp(a, b) => call("lapp", &[a, b]),
        Api::LSwap(a) => prefix("lswap", a),
        Api::LEval(a) => prefix("leval", a),
        Api::Singleton(a) => Look::Singleton(t(a)),
        Api::LCurInv(a) => prefix("lcur^-1", a),
        Api::LFst => Look::Word("lfst".into()),
        Api::LSnd => Look::Word("lsnd".into()),
        Api::LPair(a, b) => call("lpair", &[a, b]),
    }
}

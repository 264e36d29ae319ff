//! The clauses of the macros as text, for parts with names: Appendix A, Appendix C, and the shared
//! form (E26).

use super::data::{Clause, Rule};
use super::{Mode, Stage};
use crate::combinators::{Comb, CombKind};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::source::{self, Kind};

/// A clause for parts with these names.
pub struct Equations {
    /// The whole.
    pub whole: String,
    /// Its derivative.
    pub equations: Vec<Clause>,
}

impl Equations {
    fn of_pair(whole: String, first: String, second: String) -> Equations {
        let one = Clause { left: format!("{whole}_1"), right: first };
        let two = Clause { left: format!("{whole}_2"), right: second };
        Equations { whole, equations: vec![one, two] }
    }

    /// For a whole that has a name itself.
    pub fn named(self, name: &str) -> Vec<Clause> {
        let rename =
            |Clause { left, right }| Clause { left: left.replacen(&self.whole, name, 1), right };
        self.equations.into_iter().map(rename).collect()
    }
}

/// The name of the clause for a combinator, and its items.
pub fn rule(comb: &Comb, stage: Stage, mode: Mode) -> Rule {
    let (name, item) = match comb.kind() {
        CombKind::Id => ("identity", "C-1"),
        CombKind::Then(..) => ("composition", "C-2"),
        CombKind::Unit => ("empty tuple", "C-3"),
        CombKind::Pair(..) => ("pair", "C-4"),
        CombKind::Fst => ("first projection", "C-5"),
        CombKind::Snd => ("second projection", "C-6"),
        CombKind::Ev => ("call", "C-7"),
        CombKind::Curry(_) => ("function", "C-8"),
        CombKind::Op(_) => ("operation", "C-9"),
        CombKind::Prim(Primitive::Map { arity: 1, .. }) => ("map", "P-1"),
        CombKind::Prim(Primitive::Map { .. }) => ("zipWith", "P-2"),
        CombKind::Prim(Primitive::Scan { .. }) => ("scan", "P-3"),
    };
    let mode = match mode {
        Mode::Forward => "forward",
        Mode::Reverse => "reverse",
    };
    let place = match (comb.kind(), stage) {
        (CombKind::Prim(_), _) => "Appendix F",
        (_, Stage::Applied | Stage::Shared) => "Appendix C",
        (_, Stage::Combinators | Stage::Linear) => "Appendix A",
    };
    Rule { name: name.into(), item: item.into(), paper: format!("{place}, {mode}") }
}

/// A combinator of parts with these names.
fn whole(comb: &Comb, t: &str, s: &str) -> String {
    match comb.kind() {
        CombKind::Then(..) => format!("({t}; {s})"),
        CombKind::Pair(..) => format!("<{t}, {s}>"),
        CombKind::Curry(_) => format!("cur({t})"),
        CombKind::Id
        | CombKind::Unit
        | CombKind::Fst
        | CombKind::Snd
        | CombKind::Ev
        | CombKind::Op(_)
        | CombKind::Prim(_) => comb.to_string(),
    }
}

fn two<'a>(parts: &[&'a str]) -> (&'a str, &'a str) {
    (parts.first().copied().unwrap_or_default(), parts.get(1).copied().unwrap_or_default())
}

/// Appendix A.
pub fn linear(comb: &Comb, mode: Mode, parts: &[&str]) -> Equations {
    let (t, s) = two(parts);
    let curried = match mode {
        Mode::Forward => format!("\\y. <{t}_1[<x, y>/x], \\_v. {t}_2[<x, y>/x, <0, v>/v]>"),
        Mode::Reverse => format!("\\y. <{t}_1[<x, y>/x], \\_v. snd {t}_2[<x, y>/x]>"),
    };
    let second = match mode {
        Mode::Forward => forward(comb, t, s),
        Mode::Reverse => reverse(comb, t, s),
    };
    Equations::of_pair(whole(comb, t, s), first(comb, t, s, curried), second)
}

/// Appendix C.
pub fn applied(comb: &Comb, mode: Mode, parts: &[&str]) -> Equations {
    let (t, s) = two(parts);
    let curried = match mode {
        Mode::Forward => format!("\\y. <{t}_1[<x, y>/x], lpair(0, lid);;{t}_2[<x, y>/x]>"),
        Mode::Reverse => format!("\\y. <{t}_1[<x, y>/x], {t}_2[<x, y>/x];;lsnd>"),
    };
    let second = match mode {
        Mode::Forward => applied_forward(comb, t, s),
        Mode::Reverse => applied_reverse(comb, t, s),
    };
    Equations::of_pair(whole(comb, t, s), first(comb, t, s, curried), second)
}

fn first(comb: &Comb, t: &str, s: &str, curried: String) -> String {
    match comb.kind() {
        CombKind::Id => "x".into(),
        CombKind::Then(..) => format!("{s}_1[{t}_1/x]"),
        CombKind::Unit => "<>".into(),
        CombKind::Pair(..) => format!("<{t}_1, {s}_1>"),
        CombKind::Fst => "fst x".into(),
        CombKind::Snd => "snd x".into(),
        CombKind::Ev => "fst ((fst x) (snd x))".into(),
        CombKind::Curry(_) => curried,
        CombKind::Op(op @ Op::Const(_)) => op.to_string(),
        CombKind::Op(op) => format!("{op}(x)"),
        CombKind::Prim(prim) => format!("{prim}(<(fst x);fst, snd x>)"),
    }
}

fn forward(comb: &Comb, t: &str, s: &str) -> String {
    match comb.kind() {
        CombKind::Id => "v".into(),
        CombKind::Then(..) => format!("{s}_2[{t}_1/x, {t}_2/v]"),
        CombKind::Unit => "<>".into(),
        CombKind::Pair(..) => format!("<{t}_2, {s}_2>"),
        CombKind::Fst => "fst v".into(),
        CombKind::Snd => "snd v".into(),
        CombKind::Ev => "let y = snd x in (fst v) y + (snd ((fst x) y)){snd v}".into(),
        CombKind::Curry(_) => format!("\\y. {t}_2[<x, y>/x, <v, 0>/v]"),
        CombKind::Op(op) => format!("D{op}(x; v)"),
        CombKind::Prim(Primitive::Map { .. }) => {
            "lmap(snd x; fst v) + lzipWith(<(fst x);snd, snd x>; snd v)".into()
        }
        CombKind::Prim(Primitive::Scan { .. }) => {
            "lscan(<(fst x);snd, p>; <snd v, lmap(p; fst v)>), where p = <fst scan_1, snd (snd x)>"
                .into()
        }
    }
}

fn reverse(comb: &Comb, t: &str, s: &str) -> String {
    match comb.kind() {
        CombKind::Id => "v".into(),
        CombKind::Then(..) => format!("{t}_2[{s}_2[{t}_1/x]/v]"),
        CombKind::Unit => "0".into(),
        CombKind::Pair(..) => format!("{t}_2[(fst v)/v] + {s}_2[(snd v)/v]"),
        CombKind::Fst => "<v, 0>".into(),
        CombKind::Snd => "<0, v>".into(),
        CombKind::Ev => "let y = snd x in <!y (x) v, (snd ((fst x) y)){v}>".into(),
        CombKind::Curry(_) => format!("case v of !y (x) w -> fst {t}_2[<x, y>/x, w/v]"),
        CombKind::Op(op) => format!("D{op}^t(x; v)"),
        CombKind::Prim(Primitive::Map { .. }) => {
            "<lzip(snd x; v), lzipWith(<(fst x);snd, snd x>; v)>".into()
        }
        CombKind::Prim(Primitive::Scan { .. }) => {
            "<lzip(p; snd u), fst u>, where u = lunscan(<(fst x);snd, p>; v), p = <fst scan_1, snd (snd x)>".into()
        }
    }
}

fn applied_forward(comb: &Comb, t: &str, s: &str) -> String {
    match comb.kind() {
        CombKind::Id => "lid".into(),
        CombKind::Then(..) => format!("{t}_2;;{s}_2[{t}_1/x]"),
        CombKind::Unit => "0".into(),
        CombKind::Pair(..) => format!("lpair({t}_2, {s}_2)"),
        CombKind::Fst => "lfst".into(),
        CombKind::Snd => "lsnd".into(),
        CombKind::Ev => "let y = snd x in lfst;;leval y + lsnd;;snd ((fst x) y)".into(),
        CombKind::Curry(_) => format!("lswap (\\y. lpair(lid, 0);;{t}_2[<x, y>/x])"),
        CombKind::Op(op) => format!("D{op}(x)"),
        CombKind::Prim(Primitive::Map { .. }) => {
            "lfst;;lmap(snd x) + lsnd;;lzipWith(<(fst x);snd, snd x>)".into()
        }
        CombKind::Prim(Primitive::Scan { .. }) => {
            "lpair(lsnd, lfst;;lmap(p));;lscan(<(fst x);snd, p>), where p = <fst scan_1, snd (snd x)>".into()
        }
    }
}

fn applied_reverse(comb: &Comb, t: &str, s: &str) -> String {
    match comb.kind() {
        CombKind::Id => "lid".into(),
        CombKind::Then(..) => format!("{s}_2[{t}_1/x];;{t}_2"),
        CombKind::Unit => "0".into(),
        CombKind::Pair(..) => format!("lfst;;{t}_2 + lsnd;;{s}_2"),
        CombKind::Fst => "lpair(lid, 0)".into(),
        CombKind::Snd => "lpair(0, lid)".into(),
        CombKind::Ev => "let y = snd x in lpair({(y,-)}, snd ((fst x) y))".into(),
        CombKind::Curry(_) => format!("lcur^-1 (\\y. {t}_2[<x, y>/x]);;lfst"),
        CombKind::Op(op) => format!("D{op}^t(x)"),
        CombKind::Prim(Primitive::Map { .. }) => {
            "lpair(lzip(snd x), lzipWith(<(fst x);snd, snd x>))".into()
        }
        CombKind::Prim(Primitive::Scan { .. }) => {
            "lunscan(<(fst x);snd, p>);;lpair(lsnd;;lzip(p), lfst), where p = <fst scan_1, snd (snd x)>".into()
        }
    }
}

/// The name of the clause for a term.
pub fn shared_rule(t: &source::Term, parameter: bool) -> Rule {
    let (name, item) = match t.kind() {
        _ if parameter => ("variable", "S-1"),
        Kind::Var(_) => ("variable", "S-1"),
        Kind::Op(Op::Const(_), _) => ("constant", "S-2"),
        Kind::Op(..) => ("operation", "S-2"),
        Kind::Prim(Primitive::Map { .. }, _) => ("map", "P-1"),
        Kind::Prim(Primitive::Scan { .. }, _) => ("scan", "P-3"),
        Kind::Unit => ("empty tuple", "S-3"),
        Kind::Pair(..) => ("pair", "S-4"),
        Kind::Fst(_) => ("first projection", "S-5"),
        Kind::Snd(_) => ("second projection", "S-6"),
        Kind::Lam(..) => ("function", "S-7"),
        Kind::App(f, _) if matches!(f.kind(), Kind::Lam(..)) => ("let", "S-9"),
        Kind::App(..) => ("call", "S-8"),
        Kind::Own(never) => match *never {},
    };
    let paper = "beyond the paper: the primal once (E26)";
    Rule { name: name.into(), item: item.into(), paper: paper.into() }
}

/// The shared form; an atom is called `own`, and the variable that the term binds `x`.
pub fn shared(
    t: &source::Term,
    mode: Mode,
    (own, x): (Option<&str>, &str),
    parts: &[&str],
) -> Equations {
    let (a, b) = two(parts);
    let is_forward = mode == Mode::Forward;
    let choose = |forward: String, reverse: String| if is_forward { forward } else { reverse };
    let equations = |whole: String, right: String| {
        let left = format!("D[{whole}]");
        Equations { whole, equations: vec![Clause { left, right }] }
    };
    if let Some(name) = own {
        // The place of a variable in the context decides how many projections there are.
        let linear = match t.kind() {
            Kind::Op(..) => "0",
            _ if is_forward => "lfst;; .. ;;lsnd",
            _ => "<0, .., lid, .., 0>",
        };
        return equations(name.into(), format!("<{name}, {linear}>"));
    }
    match t.kind() {
        Kind::Var(x) => equations(x.hint.to_string(), format!("<{}, lid>", x.hint)),
        Kind::Op(op, _) => {
            let second = choose(format!("snd a;;D{op}(fst a)"), format!("D{op}^t(fst a);;snd a"));
            equations(format!("{op}({a})"), format!("let a = D[{a}] in <{op}(fst a), {second}>"))
        }
        Kind::Prim(p, _) => {
            let second = choose(format!("snd a;;D{p}(fst a)"), format!("D{p}^t(fst a);;snd a"));
            let first = format!("{p}_1(fst a)");
            equations(format!("{p}({a})"), format!("let a = D[{a}] in <{first}, {second}>"))
        }
        Kind::Unit => equations("<>".into(), "<<>, 0>".into()),
        Kind::Pair(..) => {
            let second = choose("lpair(snd a, snd b)".into(), "lfst;;snd a + lsnd;;snd b".into());
            let lets = format!("let a = D[{a}] in let b = D[{b}] in ");
            equations(format!("<{a}, {b}>"), lets + &format!("<<fst a, fst b>, {second}>"))
        }
        Kind::Fst(_) | Kind::Snd(_) => {
            let (word, linear, inject) = match t.kind() {
                Kind::Fst(_) => ("fst", "lfst", "lpair(lid, 0)"),
                _ => ("snd", "lsnd", "lpair(0, lid)"),
            };
            let second = choose(format!("snd a;;{linear}"), format!("{inject};;snd a"));
            let right = format!("let a = D[{a}] in <{word} (fst a), {second}>");
            equations(format!("{word} {a}"), right)
        }
        Kind::Lam(..) => {
            let right = choose(
                format!(
                    "let f = \\{x}. D[{a}] in <\\{x}. let r = f {x} in <fst r, lpair(0, lid);;snd r>, lswap (\\{x}. lpair(lid, 0);;snd (f {x}))>"
                ),
                format!(
                    "let f = \\{x}. D[{a}] in <\\{x}. let r = f {x} in <fst r, snd r;;lsnd>, lcur^-1 (\\{x}. snd (f {x});;lfst)>"
                ),
            );
            equations(format!("\\{x}. {a}"), right)
        }
        Kind::App(f, _) if matches!(f.kind(), Kind::Lam(..)) => {
            let second =
                choose("lpair(lid, snd a);;snd r".into(), "snd r;;(lfst + lsnd;;snd a)".into());
            let lets = format!("let a = D[{a}] in let {x} = fst a in let r = D[{b}] in ");
            equations(format!("let {x} = {a} in {b}"), lets + &format!("<fst r, {second}>"))
        }
        Kind::App(..) => {
            let second = choose(
                "snd f;;leval (fst a) + snd a;;snd r".into(),
                "snd r;;snd a + {(fst a,-)};;snd f".into(),
            );
            let lets = format!("let f = D[{a}] in let a = D[{b}] in let r = fst f (fst a) in ");
            equations(format!("{a} {b}"), lets + &format!("<fst r, {second}>"))
        }
        Kind::Own(never) => match *never {},
    }
}

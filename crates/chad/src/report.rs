//! What users see: each stage of the derivative of a definition, and a derivation step by step.

use lambada_core::{DefId, Program};

use crate::combinators::{self, Comb, Kind};
use crate::literal::{self, Applied, Derived};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::shared::{self, Lets};
use crate::source::{Outside, of_core};
use crate::{applied, linear, source};

/// Forward or reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `D→`
    Forward,
    /// `D←`
    Reverse,
}

/// A form of the derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The program as combinators, before any derivative.
    Combinators,
    /// Appendix A: the linear target language.
    Linear,
    /// Appendix C: the applied target language.
    Applied,
    /// The applied target language, primal once.
    Shared,
}

/// Why a stage cannot be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The definition is not in the language of the paper.
    Outside(Outside),
    /// The literal derivative would have about this many nodes (E26).
    TooLarge(f64),
    /// The derivation has only so many steps.
    NoSuchStep(usize),
}

impl From<Outside> for Refusal {
    fn from(outside: Outside) -> Refusal {
        Refusal::Outside(outside)
    }
}

/// The largest literal derivative that is written down, in nodes: pages of text, seconds of work.
const LARGEST: f64 = 1e6;

/// One stage of the derivative of a definition, in notation close to the paper.
///
/// The literal macros leave redexes of products behind and copy terms; what is printed is equal to what they give by equations of Figures 2
/// and 4 (see `linear::tidy`), and writes once what occurs more than once.
pub fn derive(
    program: &Program,
    entry: DefId,
    mode: Mode,
    stage: Stage,
) -> Result<String, Refusal> {
    let (x, t) = of_core(program, entry)?;
    let comb = combinators::tidy(&combinators::of_term(&x, &t));
    match stage {
        Stage::Combinators => Ok(format!("{} -> {}\n{}\n", comb.from(), comb.to(), comb.page())),
        Stage::Linear => {
            writable(std::slice::from_ref(&comb)).map(|()| linear_stage(&x.hint, &comb, mode))
        }
        Stage::Applied => {
            writable(std::slice::from_ref(&comb)).map(|()| applied_stage(&x.hint, &comb, mode))
        }
        Stage::Shared => Ok(shared_stage(&x, &t, mode)),
    }
}

/// Are the literal derivatives together small enough?
fn writable(parts: &[Comb]) -> Result<(), Refusal> {
    let size: f64 = parts.iter().map(literal::size).sum();
    if size <= LARGEST { Ok(()) } else { Err(Refusal::TooLarge(size)) }
}

fn shared_stage(x: &source::Var, t: &source::Term, mode: Mode) -> String {
    let (y, t) = match mode {
        Mode::Forward => shared::forward(x, t, Lets::Primitive),
        Mode::Reverse => shared::reverse(x, t, Lets::Primitive),
    };
    format!("{} : {} |- {}\n{}\n", y.hint, y.ty, t.ty(), applied::tidy(&t).page())
}

fn linear_stage(x: &str, comb: &Comb, mode: Mode) -> String {
    // `v` is the linear variable's name.
    let x = if x == "v" { "x" } else { x };
    let Derived { x, first, second } = match mode {
        Mode::Forward => Derived::forward_over(x, comb),
        Mode::Reverse => Derived::reverse_over(x, comb),
    };
    let context = format!("{} : {}", x.hint, x.ty);
    let (one, two) = (linear::tidy(&first).page(), linear::tidy_linear(&second).page());
    format!(
        "{context} |- {}\n{one}\n\n{context}; v : {} |- {}\n{two}\n",
        first.ty(),
        second.from(),
        second.to()
    )
}

fn applied_stage(x: &str, comb: &Comb, mode: Mode) -> String {
    let Applied { x, first, second } = match mode {
        Mode::Forward => Applied::forward_over(x, comb),
        Mode::Reverse => Applied::reverse_over(x, comb),
    };
    let context = format!("{} : {}", x.hint, x.ty);
    let (one, two) = (applied::tidy(&first).page(), applied::tidy(&second).page());
    format!("{context} |- {}\n{one}\n\n{context} |- {}\n{two}\n", first.ty(), second.ty())
}

/// A derivation: every part of the combinator term from the inside out, the clause of Appendix A that applies, and what it gives. Of
/// these steps, counted from 1, all or one.
pub fn explain(
    program: &Program,
    entry: DefId,
    mode: Mode,
    step: Option<usize>,
) -> Result<String, Refusal> {
    let (x, t) = of_core(program, entry)?;
    let comb = combinators::tidy(&combinators::of_term(&x, &t));
    let mut steps = Vec::new();
    collect(&comb, &mut steps);
    if let Some(number) = step {
        let step = number.checked_sub(1).and_then(|k| steps.get(k));
        let step = step.ok_or(Refusal::NoSuchStep(steps.len()))?;
        writable(std::slice::from_ref(step))?;
        return Ok(explain_step(number, step, &steps, mode));
    }
    writable(&steps)?;
    let texts = steps.iter().enumerate().map(|(k, step)| explain_step(k + 1, step, &steps, mode));
    Ok(format!("{} : {} |- {t}\n\n{}", x.hint, x.ty, texts.collect::<Vec<_>>().join("\n")))
}

/// The parts before what they are parts of, each once.
fn collect(comb: &Comb, steps: &mut Vec<Comb>) {
    comb.children().into_iter().for_each(|part| collect(part, steps));
    if !steps.contains(comb) {
        steps.push(comb.clone());
    }
}

/// A part with its parts called by their numbers, the clause, the clause for these parts, and the two components in full.
fn explain_step(number: usize, step: &Comb, steps: &[Comb], mode: Mode) -> String {
    let name = |part: &Comb| {
        let number = steps.iter().position(|other| other == part).map_or(0, |k| k + 1);
        if part.children().is_empty() { part.to_string() } else { format!("t{number}") }
    };
    let parts: Vec<String> = step.children().into_iter().map(name).collect();
    let general = clause(step, mode, &["t", "s"]);
    let rule = format!(
        "   clause: {0}_1 = {1}\n           {0}_2 = {2}\n",
        general.whole, general.first, general.second
    );
    let special = clause(step, mode, &parts.iter().map(String::as_str).collect::<Vec<_>>());
    let (head, here) = if parts.is_empty() {
        (general.whole, String::new())
    } else {
        let here = format!(
            "   here:   t{number}_1 = {}\n           t{number}_2 = {}\n",
            special.first, special.second
        );
        (format!("t{number} = {}", special.whole), here)
    };
    let stage = indented(&linear_stage("x", step, mode));
    format!("{number}. {head} : {} -> {}\n{rule}{here}{stage}", step.from(), step.to())
}

fn indented(text: &str) -> String {
    text.lines().filter(|line| !line.is_empty()).map(|line| format!("   {line}\n")).collect()
}

/// A clause of Appendix A, for parts with these names.
struct Clause {
    whole: String,
    first: String,
    second: String,
}

fn clause(comb: &Comb, mode: Mode, parts: &[&str]) -> Clause {
    let (t, s) =
        (parts.first().copied().unwrap_or_default(), parts.get(1).copied().unwrap_or_default());
    let whole = match comb.kind() {
        Kind::Then(..) => format!("({t}; {s})"),
        Kind::Pair(..) => format!("<{t}, {s}>"),
        Kind::Curry(_) => format!("cur({t})"),
        Kind::Id | Kind::Unit | Kind::Fst | Kind::Snd | Kind::Ev | Kind::Op(_) | Kind::Prim(_) => {
            comb.to_string()
        }
    };
    let second = match mode {
        Mode::Forward => forward_clause(comb, t, s),
        Mode::Reverse => reverse_clause(comb, t, s),
    };
    Clause { whole, first: first_clause(comb, mode, t, s), second }
}

fn first_clause(comb: &Comb, mode: Mode, t: &str, s: &str) -> String {
    match comb.kind() {
        Kind::Id => "x".into(),
        Kind::Then(..) => format!("{s}_1[{t}_1/x]"),
        Kind::Unit => "<>".into(),
        Kind::Pair(..) => format!("<{t}_1, {s}_1>"),
        Kind::Fst => "fst x".into(),
        Kind::Snd => "snd x".into(),
        Kind::Ev => "fst ((fst x) (snd x))".into(),
        Kind::Curry(_) => match mode {
            Mode::Forward => format!("\\y. <{t}_1[<x, y>/x], \\_v. {t}_2[<x, y>/x, <0, v>/v]>"),
            Mode::Reverse => format!("\\y. <{t}_1[<x, y>/x], \\_v. snd {t}_2[<x, y>/x]>"),
        },
        Kind::Op(op @ Op::Const(_)) => op.to_string(),
        Kind::Op(op) => format!("{op}(x)"),
        Kind::Prim(prim) => format!("{prim}(<(fst x);fst, snd x>)"),
    }
}

fn forward_clause(comb: &Comb, t: &str, s: &str) -> String {
    match comb.kind() {
        Kind::Id => "v".into(),
        Kind::Then(..) => format!("{s}_2[{t}_1/x, {t}_2/v]"),
        Kind::Unit => "<>".into(),
        Kind::Pair(..) => format!("<{t}_2, {s}_2>"),
        Kind::Fst => "fst v".into(),
        Kind::Snd => "snd v".into(),
        Kind::Ev => "let y = snd x in (fst v) y + (snd ((fst x) y)){snd v}".into(),
        Kind::Curry(_) => format!("\\y. {t}_2[<x, y>/x, <v, 0>/v]"),
        Kind::Op(op) => format!("D{op}(x; v)"),
        Kind::Prim(Primitive::Map { .. }) => {
            "lmap(snd x; fst v) + lzipWith(<(fst x);snd, snd x>; snd v)".into()
        }
        Kind::Prim(Primitive::Scan { .. }) => {
            "lscan(<(fst x);snd, p>; <snd v, lmap(p; fst v)>), where p = <fst scan_1, snd (snd x)>"
                .into()
        }
    }
}

fn reverse_clause(comb: &Comb, t: &str, s: &str) -> String {
    match comb.kind() {
        Kind::Id => "v".into(),
        Kind::Then(..) => format!("{t}_2[{s}_2[{t}_1/x]/v]"),
        Kind::Unit => "0".into(),
        Kind::Pair(..) => format!("{t}_2[(fst v)/v] + {s}_2[(snd v)/v]"),
        Kind::Fst => "<v, 0>".into(),
        Kind::Snd => "<0, v>".into(),
        Kind::Ev => "let y = snd x in <!y (x) v, (snd ((fst x) y)){v}>".into(),
        Kind::Curry(_) => format!("case v of !y (x) w -> fst {t}_2[<x, y>/x, w/v]"),
        Kind::Op(op) => format!("D{op}^t(x; v)"),
        Kind::Prim(Primitive::Map { .. }) => "<lzip(snd x; v), lzipWith(<(fst x);snd, snd x>; v)>".into(),
        Kind::Prim(Primitive::Scan { .. }) => {
            "<lzip(p; snd u), fst u>, where u = lunscan(<(fst x);snd, p>; v), p = <fst scan_1, snd (snd x)>".into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::value::Value;
    use crate::var::Env;
    use lambada_core::{self as core, Def, Ty};
    use lambada_prim::Prim;

    /// `\x -> sin x * x`
    fn program() -> Program {
        let mut program = Program::default();
        let x = program.fresh("x", Ty::REAL);
        let sin = core::prim(Prim::Sin, vec![core::var(&x)]);
        let body = core::lam(x.clone(), core::prim(Prim::Mul, vec![sin, core::var(&x)]));
        program.defs.push(Def {
            name: "f".into(),
            body,
            signature: Default::default(),
            span: Default::default(),
        });
        program
    }

    fn check(mode: Mode, stage: Stage, expect: &str) {
        assert_eq!(derive(&program(), DefId(0), mode, stage).unwrap(), expect);
    }

    #[test]
    fn stages() {
        check(Mode::Reverse, Stage::Combinators, "real -> real\n<sin, id>; (*)\n");
        check(
            Mode::Forward,
            Stage::Linear,
            "x : real |- real\nsin(x) * x\n\nx : real; v : real |- real\nlmul(x; lmul(cos(x); v)) + lmul(sin(x); v)\n",
        );
        check(
            Mode::Reverse,
            Stage::Linear,
            "x : real |- real\nsin(x) * x\n\nx : real; v : real |- real\nlmul(cos(x); lmul(x; v)) + lmul(sin(x); v)\n",
        );
        check(
            Mode::Reverse,
            Stage::Applied,
            "x : real |- real\nsin(x) * x\n\nx : real |- LFun(real, real)\nlmul(x);;lmul(cos(x)) + lmul(sin(x))\n",
        );
        check(
            Mode::Reverse,
            Stage::Shared,
            "x : real |- real * LFun(real, real)\nlet t = sin(x) in\n<t * x, lmul(x);;lmul(cos(x)) + lmul(t)>\n",
        );
    }

    /// Names that the printer invents are not those of the program's variables.
    #[test]
    fn invented_names() {
        let x = linear::Var::fresh("t2", linear::Ty::Real(1));
        let each = |prim, t: &linear::Term| linear::op(Op::Each(prim, 1), t.clone());
        let (one, two) = (each(Prim::Sin, &linear::var(&x)), each(Prim::Cos, &linear::var(&x)));
        let both = |t: &linear::Term| linear::pair(t.clone(), t.clone());
        let text = linear::pair(both(&one), both(&two)).page();
        assert_eq!(text, "let t = sin(t2) in\nlet t3 = cos(t2) in\n<<t, t>, <t3, t3>>");
    }

    /// E26: what is shared is not walked as if it were copied: the shared form of 60 squarings below a λ has 2^60 nodes as a tree.
    #[test]
    fn shared_is_not_copied() {
        let x = source::Var::fresh("x", source::REAL);
        let square = |x: source::Term| source::op_at(Op::Each(Prim::Mul, 1), &[x.clone(), x]);
        fn squares(
            x: source::Term,
            n: usize,
            square: &dyn Fn(source::Term) -> source::Term,
        ) -> source::Term {
            if n == 0 { x } else { source::let_("x", square(x), |y| squares(y, n - 1, square)) }
        }
        let f = source::lam("y", source::REAL, |y| squares(y, 60, &square));
        let twice =
            source::let_("f", f, |f| source::app(f.clone(), source::app(f, source::var(&x))));
        for mode in [Mode::Forward, Mode::Reverse] {
            let text = shared_stage(&x, &twice, mode);
            assert!(text.lines().count() < 2000, "{}", text.lines().count());
        }
    }

    #[test]
    fn explanation() {
        let text = explain(&program(), DefId(0), Mode::Reverse, None).unwrap();
        let pair = "3. t3 = <sin, id> : real -> real * real\n   clause: <t, s>_1 = <t_1, s_1>\n           \
                    <t, s>_2 = t_2[(fst v)/v] + s_2[(snd v)/v]\n   here:   t3_1 = <sin_1, id_1>\n           t3_2 = sin_2[(fst v)/v] + id_2[(snd v)/v]\n";
        assert!(text.contains(pair), "{text}");
    }

    /// S-11, S-12, S-14, L-20 … L-30: what is printed is equal to what the macros give: the normalizer says so in the linear language, values
    /// do in the applied one.
    #[test]
    fn tidied_is_equal() {
        for seed in 0..1000 {
            let mut g = Generator::new(seed);
            let (x, t) = g.program();
            let comb = combinators::of_term(&x, &t);
            let (at, inputs) = (g.value(&x.ty), [g.value(&x.ty), g.value(t.ty())]);
            let shared =
                [shared::forward(&x, &t, Lets::Encoded), shared::reverse(&x, &t, Lets::Encoded)];
            for (derived, t) in Derived::both(&comb).into_iter().zip([&t; 2]) {
                tidied_linear(&derived, t);
            }
            for ((Applied { x, second, .. }, (y, both)), v) in
                Applied::both(&comb).into_iter().zip(shared).zip(&inputs)
            {
                tidied_applied(&x, &second, &|second| second.linear().lapp(v), &at);
                tidied_applied(
                    &y,
                    &both,
                    &|both| Value::pair(both.fst(), both.snd().linear().lapp(v)),
                    &at,
                );
            }
        }
    }

    fn tidied_linear(Derived { x, first, second }: &Derived, t: &source::Term) {
        let (one, two) = (linear::tidy(first), linear::tidy_linear(second));
        linear::check(std::slice::from_ref(x), &one).unwrap();
        linear::check_linear(std::slice::from_ref(x), &two).unwrap();
        assert_eq!(linear::normalize(&one), linear::normalize(first), "{t}");
        assert!(linear::normalize_linear(&two) == linear::normalize_linear(second), "{t}");
    }

    fn tidied_applied(
        x: &applied::Var,
        t: &applied::Term,
        observe: &dyn Fn(&Value) -> Value,
        at: &Value,
    ) {
        let tidied = applied::tidy(t);
        applied::check(std::slice::from_ref(x), &tidied).unwrap();
        let [found, expect] = [&tidied, t].map(|t| {
            observe(&applied::eval(t, &Env::default().with(x, at.clone()))).flatten().unwrap()
        });
        close(&found, &expect);
    }

    fn close(a: &[f64], b: &[f64]) {
        assert!(
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs())),
            "{a:?} and {b:?}"
        );
    }
}

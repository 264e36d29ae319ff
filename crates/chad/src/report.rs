//! The output for users: each stage of the derivative of a definition, and a derivation step by
//! step.

use lambada_core::{DefId, Program};

use std::fmt;
use std::rc::Rc;

use crate::combinators::{self, Comb, CombKind};
use crate::linear::Lin;
use crate::op::Op;
use crate::pairs::{AppliedForward, AppliedReverse};
use crate::primitives::Primitive;
use crate::shared::{self, Lets};
use crate::source::{Outside, of_core};
use crate::var::{Env, Var};
use crate::{applied, forward, linear, literal, print, reverse, source};

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
    /// The literal derivatives of all steps together would be too large; the number is that of the
    /// first steps that would fit.
    StepsTooLarge(usize),
    /// No step has the requested number; the derivation has this many.
    NoSuchStep(usize),
    /// Parameters were chosen for the stage before any derivative.
    NoDerivative,
}

impl From<Outside> for Refusal {
    fn from(outside: Outside) -> Refusal {
        Refusal::Outside(outside)
    }
}

/// The largest literal derivative that is written down, in nodes: pages of text, seconds of work.
const LARGEST: f64 = 1e6;

/// One stage of the derivative of a definition, in notation close to the paper, with respect to all
/// of its parameters or to those at these places.
///
/// The literal macros leave redexes of products behind and copy terms. The printed term is equal to
/// theirs by equations of Figures 2 and 4 (see `linear::tidy`), and writes repeated subterms once.
pub fn derive(
    program: &Program,
    entry: DefId,
    mode: Mode,
    stage: Stage,
    wrt: Option<&[usize]>,
) -> Result<String, Refusal> {
    let (x, t) = of_core(program, entry)?;
    let comb = combinators::tidy(&combinators::of_term(&x, &t));
    let context = Context::new(&source::parameters(program, entry), &comb, mode, wrt);
    match stage {
        Stage::Combinators if wrt.is_some() => Err(Refusal::NoDerivative),
        Stage::Combinators => Ok(format!("{} -> {}\n{}\n", comb.from(), comb.to(), comb.page())),
        Stage::Linear => {
            writable(std::slice::from_ref(&comb)).map(|()| context.linear_stage(&comb, mode))
        }
        Stage::Applied => {
            writable(std::slice::from_ref(&comb)).map(|()| context.applied_stage(&comb, mode))
        }
        Stage::Shared => Ok(context.shared_stage(&x, &t, mode)),
    }
}

/// An error if the literal derivatives together are too large.
fn writable(parts: &[Comb]) -> Result<(), Refusal> {
    let size: f64 = parts.iter().map(literal::size).sum();
    if size <= LARGEST { Ok(()) } else { Err(Refusal::TooLarge(size)) }
}

/// The variables of a printed derivative. The macros have one variable, the tuple of all
/// parameters; by S-13 it is the tuple of one variable for each of them.
struct Context {
    variables: Vec<linear::Var>,
    /// With respect to some of the parameters: forward, from their tangents to those of all; in
    /// reverse, from the cotangents of all to theirs.
    restriction: Option<Lin>,
}

impl Context {
    fn new(names: &[Rc<str>], comb: &Comb, mode: Mode, wrt: Option<&[usize]>) -> Context {
        let (primal, second) = match mode {
            Mode::Forward => (forward::primal_ty(comb.from()), forward::tangent_ty(comb.from())),
            Mode::Reverse => (reverse::primal_ty(comb.from()), reverse::cotangent_ty(comb.from())),
        };
        let types = split(primal, names.len(), |ty| ty.components());
        let variables = names.iter().zip(types).map(|(x, ty)| Var::fresh(x, ty)).collect();
        let restriction = wrt.map(|chosen| match mode {
            Mode::Forward => embedding(chosen, &split(second, names.len(), |ty| ty.components())),
            Mode::Reverse => projection(chosen, linear_parts(&linear::v(second), names.len())),
        });
        Context { variables, restriction }
    }

    /// Both components in the linear language.
    fn linear(&self, comb: &Comb, mode: Mode) -> (linear::Term, Lin) {
        let x = linear::tuple(&self.variables.iter().map(linear::var).collect::<Vec<_>>());
        let restriction = self.restriction.clone();
        match mode {
            Mode::Forward => {
                let v = restriction.unwrap_or_else(|| linear::v(forward::tangent_ty(comb.from())));
                (forward::primal(comb, &x), forward::tangent(comb, &x, &v))
            }
            Mode::Reverse => {
                let v = linear::v(reverse::cotangent_ty(comb.to()));
                let all = reverse::cotangent(comb, &x, &v);
                (
                    reverse::primal(comb, &x),
                    restriction.map_or(all.clone(), |some| some.after(&all)),
                )
            }
        }
    }

    fn linear_stage(&self, comb: &Comb, mode: Mode) -> String {
        let (first, second) = self.linear(comb, mode);
        let (one, two) = (linear::tidy(&first), linear::tidy_linear(&second));
        let v = format!("{} : {}", print::linear_name(&self.variables), second.from());
        judgement(&self.variables, None, first.ty(), one.page(&self.variables))
            + "\n"
            + &judgement(&self.variables, Some(v), second.to(), two.page(&self.variables))
    }

    /// In the applied language: the variables, and their tuple.
    fn applied(&self) -> (Vec<applied::Var>, applied::Term) {
        let variable = |x: &linear::Var| Var::fresh(&x.hint, applied::dagger_ty(&x.ty));
        let variables: Vec<applied::Var> = self.variables.iter().map(variable).collect();
        let tuple = variables.iter().map(applied::var).reduce(applied::pair);
        (variables, tuple.unwrap_or_else(applied::unit))
    }

    /// The second component, with respect to some of the parameters.
    fn restricted(&self, second: applied::Term, mode: Mode) -> applied::Term {
        let Some(restriction) = &self.restriction else { return second };
        let restriction = applied::dagger_linear(restriction, &Env::default());
        match mode {
            Mode::Forward => applied::lthen(restriction, second),
            Mode::Reverse => applied::lthen(second, restriction),
        }
    }

    /// The variables, and both components, in the applied language.
    fn literal(
        &self,
        comb: &Comb,
        mode: Mode,
    ) -> (Vec<applied::Var>, applied::Term, applied::Term) {
        let (variables, x) = self.applied();
        let (first, second) = match mode {
            Mode::Forward => (AppliedForward::primal(comb, &x), AppliedForward::second(comb, &x)),
            Mode::Reverse => (AppliedReverse::primal(comb, &x), AppliedReverse::second(comb, &x)),
        };
        (variables, first, self.restricted(second, mode))
    }

    fn applied_stage(&self, comb: &Comb, mode: Mode) -> String {
        let (variables, first, second) = self.literal(comb, mode);
        let (one, two) = (applied::tidy(&first), applied::tidy(&second));
        judgement(&variables, None, first.ty(), one.page(&variables))
            + "\n"
            + &judgement(&variables, None, second.ty(), two.page(&variables))
    }

    /// The variables, and `<primal, linear function>`, in the applied language.
    fn shared(
        &self,
        (x, t): (&source::Var, &source::Term),
        mode: Mode,
    ) -> (Vec<applied::Var>, applied::Term) {
        let (variables, tuple) = self.applied();
        let (y, both) = match mode {
            Mode::Forward => shared::forward(x, t, Lets::Primitive),
            Mode::Reverse => shared::reverse(x, t, Lets::Primitive),
        };
        let all = applied::let_("both", applied::app(applied::abs(y, both), tuple), |both| {
            let second = self.restricted(applied::snd(both.clone()), mode);
            applied::pair(applied::fst(both), second)
        });
        (variables, all)
    }

    fn shared_stage(&self, x: &source::Var, t: &source::Term, mode: Mode) -> String {
        let (variables, both) = self.shared((x, t), mode);
        judgement(&variables, None, both.ty(), applied::tidy(&both).page(&variables))
    }
}

/// `x : T, y : S; v : τ |- type`, and the term.
fn judgement<T: fmt::Display>(
    context: &[Var<T>],
    linear: Option<String>,
    ty: impl fmt::Display,
    page: String,
) -> String {
    let variables: Vec<String> = context.iter().map(|x| format!("{} : {}", x.hint, x.ty)).collect();
    let zones: Vec<String> =
        [variables.join(", ")].into_iter().chain(linear).filter(|zone| !zone.is_empty()).collect();
    format!("{} |- {ty}\n{page}\n", zones.join("; ")).trim_start().to_string()
}

/// The components of a product of `count`, which nests to the left.
fn split<T: Clone>(whole: T, count: usize, components: impl Fn(&T) -> (T, T)) -> Vec<T> {
    let (mut outer, mut parts) = (whole, Vec::new());
    for _ in 1..count {
        let (rest, last) = components(&outer);
        parts.push(last);
        outer = rest;
    }
    parts.extend((count > 0).then_some(outer));
    parts.reverse();
    parts
}

/// `fst (fst l)`, `snd (fst l)`, `snd l`
fn linear_parts(l: &Lin, count: usize) -> Vec<Lin> {
    split(l.clone(), count, |l| (linear::lfst(l.clone()), linear::lsnd(l.clone())))
}

/// The tuple of the chosen ones.
fn projection(chosen: &[usize], all: Vec<Lin>) -> Lin {
    let chosen = chosen.iter().map(|k| all[*k].clone()).reduce(linear::lpair);
    chosen.expect("a derivative is with respect to a parameter at least")
}

/// The tuple of all: components of `v`, the tuple of the chosen ones, and zeros.
fn embedding(chosen: &[usize], types: &[linear::LTy]) -> Lin {
    let from = chosen.iter().map(|k| types[*k].clone()).reduce(linear::LTy::times);
    let v = linear::v(from.expect("a derivative is with respect to a parameter at least"));
    let parts = linear_parts(&v, chosen.len());
    let part = |k: usize| match chosen.iter().position(|place| *place == k) {
        Some(place) => parts[place].clone(),
        None => linear::zero_lin(v.from().clone(), types[k].clone()),
    };
    (0..types.len()).map(part).reduce(linear::lpair).expect("there are parameters")
}

/// A derivation: every part of the combinator term from the inside out, the clause of Appendix A
/// that applies, and its result. Prints all steps, or one, counted from 1.
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
    writable(&steps).map_err(|_| {
        let small = |step: &&Comb| writable(std::slice::from_ref(*step)).is_ok();
        Refusal::StepsTooLarge(steps.iter().take_while(small).count())
    })?;
    let texts = steps.iter().enumerate().map(|(k, step)| explain_step(k + 1, step, &steps, mode));
    Ok(format!("{} : {} |- {t}\n\n{}", x.hint, x.ty, texts.collect::<Vec<_>>().join("\n")))
}

/// The subterms in postorder, each once.
fn collect(comb: &Comb, steps: &mut Vec<Comb>) {
    comb.children().into_iter().for_each(|part| collect(part, steps));
    if !steps.contains(comb) {
        steps.push(comb.clone());
    }
}

/// A part with its parts called by their numbers, the clause, the clause for these parts, and the
/// two components in full.
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
    let stage = indented(&Context::new(&["x".into()], step, mode, None).linear_stage(step, mode));
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
    };
    let second = match mode {
        Mode::Forward => forward_clause(comb, t, s),
        Mode::Reverse => reverse_clause(comb, t, s),
    };
    Clause { whole, first: first_clause(comb, mode, t, s), second }
}

fn first_clause(comb: &Comb, mode: Mode, t: &str, s: &str) -> String {
    match comb.kind() {
        CombKind::Id => "x".into(),
        CombKind::Then(..) => format!("{s}_1[{t}_1/x]"),
        CombKind::Unit => "<>".into(),
        CombKind::Pair(..) => format!("<{t}_1, {s}_1>"),
        CombKind::Fst => "fst x".into(),
        CombKind::Snd => "snd x".into(),
        CombKind::Ev => "fst ((fst x) (snd x))".into(),
        CombKind::Curry(_) => match mode {
            Mode::Forward => format!("\\y. <{t}_1[<x, y>/x], \\_v. {t}_2[<x, y>/x, <0, v>/v]>"),
            Mode::Reverse => format!("\\y. <{t}_1[<x, y>/x], \\_v. snd {t}_2[<x, y>/x]>"),
        },
        CombKind::Op(op @ Op::Const(_)) => op.to_string(),
        CombKind::Op(op) => format!("{op}(x)"),
        CombKind::Prim(prim) => format!("{prim}(<(fst x);fst, snd x>)"),
    }
}

fn forward_clause(comb: &Comb, t: &str, s: &str) -> String {
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

fn reverse_clause(comb: &Comb, t: &str, s: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::literal::{Applied, Derived};
    use crate::value::Value;
    use lambada_core::{self as core, Ty};
    use lambada_prim::Prim;

    /// `\x -> sin x * x`
    fn program() -> Program {
        let mut program = Program::default();
        let x = program.fresh("x", Ty::REAL);
        let sin = core::prim(Prim::Sin, vec![core::var(&x)]);
        let body = core::lam(x.clone(), core::prim(Prim::Mul, vec![sin, core::var(&x)]));
        program.define("f", body, Default::default(), Default::default());
        program
    }

    fn check(mode: Mode, stage: Stage, expect: &str) {
        assert_eq!(derive(&program(), DefId(0), mode, stage, None).unwrap(), expect);
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
        let text = linear::pair(both(&one), both(&two)).page(&[]);
        assert_eq!(text, "let t = sin(t2) in\nlet t3 = cos(t2) in\n<<t, t>, <t3, t3>>");
    }

    /// E26: traversals visit shared nodes once: the shared form of 60 squarings below a λ has 2^60
    /// nodes as a tree.
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
            let comb = combinators::of_term(&x, &source::var(&x));
            let context = Context::new(std::slice::from_ref(&x.hint), &comb, mode, None);
            let text = context.shared_stage(&x, &twice, mode);
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

    /// S-11, S-12, S-14, L-20 … L-30: the printed term is equal to the macros' term, compared by
    /// the normalizer in the linear language, by values in the applied one.
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

    /// A derivative with respect to some parameters is the one with respect to all, with zero
    /// tangents for the others, and without their cotangents.
    #[test]
    fn some_parameters() {
        let mut compared = 0;
        for seed in 0..400 {
            let mut g = Generator::new(seed);
            let (x, t) = g.program();
            let source::Ty::Prod(..) = x.ty else { continue };
            let comb = combinators::of_term(&x, &t);
            let (at, v, w) = (g.value(&x.ty), g.value(&x.ty), g.value(t.ty()));
            let names = ["a".into(), "b".into()];
            for (k, mode) in
                [0, 1].into_iter().flat_map(|k| [(k, Mode::Forward), (k, Mode::Reverse)])
            {
                let component = |of: &Value| if k == 0 { of.fst() } else { of.snd() };
                let zeros = |k: usize| linear::zero(&forward_ty(&x.ty, k));
                let expect = match mode {
                    Mode::Forward => {
                        let v = match k {
                            0 => Value::pair(v.fst(), zeros(1)),
                            _ => Value::pair(zeros(0), v.snd()),
                        };
                        Derived::forward(&comb).second(&at, &v)
                    }
                    Mode::Reverse => component(&Derived::reverse(&comb).second(&at, &w)),
                };
                let expect = expect.flatten().unwrap();
                let given = if mode == Mode::Forward { component(&v) } else { w.clone() };
                let context = Context::new(&names, &comb, mode, Some(&[k]));
                let [a, b] = &context.variables[..] else { panic!("two parameters") };
                let env = Env::default().with(a, at.fst()).with(b, at.snd());
                let (_, second) = context.linear(&comb, mode);
                let found = linear::eval_linear(&linear::tidy_linear(&second), &env, &given);
                close(&found.flatten().unwrap(), &expect);
                let (variables, _, second) = context.literal(&comb, mode);
                let env =
                    Env::default().with(&variables[0], at.fst()).with(&variables[1], at.snd());
                let found = applied::eval(&applied::tidy(&second), &env).linear().lapp(&given);
                close(&found.flatten().unwrap(), &expect);
                let (variables, both) = context.shared((&x, &t), mode);
                let env =
                    Env::default().with(&variables[0], at.fst()).with(&variables[1], at.snd());
                let found = applied::eval(&applied::tidy(&both), &env).snd().linear().lapp(&given);
                close(&found.flatten().unwrap(), &expect);
                compared += 1;
            }
        }
        assert!(compared >= 200, "{compared}");
    }

    /// `D→(-)_2` of a component.
    fn forward_ty(product: &source::Ty, k: usize) -> linear::LTy {
        let (a, b) = forward::tangent_ty(product).components();
        if k == 0 { a } else { b }
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

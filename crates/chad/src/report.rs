//! What users see: each stage of the derivative of a definition, and a derivation step by step.

use lambada_core::{DefId, Program};

use crate::combinators::{self, Comb, Kind};
use crate::primitives::Primitive;
use crate::shared::{self, Lets};
use crate::source::{Outside, of_core};
use crate::var::Var;
use crate::{applied, applied_forward, applied_reverse, forward, linear, reverse};

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
    /// The same up to the equations of Figures 2 and 4: its normal form, in which a program's `let`s are gone too.
    Normal,
    /// Appendix C: the applied target language.
    Applied,
    /// The applied target language, primal once (reverse mode; forward mode shows Appendix C).
    Shared,
}

/// One stage of the derivative of a definition, in notation close to the paper.
pub fn derive(program: &Program, entry: DefId, mode: Mode, stage: Stage) -> Result<String, Outside> {
    let (x, t) = of_core(program, entry)?;
    let comb = combinators::of_term(&x, &t);
    Ok(match (stage, mode) {
        (Stage::Combinators, _) => format!("{} -> {}\n{comb}\n", comb.from(), comb.to()),
        (Stage::Linear, _) => linear_stage(&x.hint, &comb, mode),
        (Stage::Normal, _) => {
            let (x, first, second) = appendix_a(&x.hint, &comb, mode);
            judgements(&x, &linear::normalize(&first), &linear::normalize_linear(&second))
        }
        (Stage::Applied, _) | (Stage::Shared, Mode::Forward) => applied_stage(&x.hint, &comb, mode),
        (Stage::Shared, Mode::Reverse) => {
            let (y, t) = shared::reverse(&x, &t, Lets::Primitive);
            format!("{} : {} |- {}\n{t}\n", y.hint, y.ty, t.ty())
        }
    })
}

fn linear_stage(hint: &str, comb: &Comb, mode: Mode) -> String {
    let (x, first, second) = appendix_a(hint, comb, mode);
    judgements(&x, &first, &second)
}

/// Both components of the derivative, over a variable that is called like the parameter.
fn appendix_a(hint: &str, comb: &Comb, mode: Mode) -> (linear::Var, linear::Term, linear::Lin) {
    let hint = if hint == "v" { "x" } else { hint };
    match mode {
        Mode::Forward => {
            let x = Var::fresh(hint, forward::primal_ty(comb.from()));
            let (at, v) = (linear::var(&x), linear::v(forward::tangent_ty(comb.from())));
            (x, forward::primal(comb, &at), forward::tangent(comb, &at, &v))
        }
        Mode::Reverse => {
            let x = Var::fresh(hint, reverse::primal_ty(comb.from()));
            let (at, v) = (linear::var(&x), linear::v(reverse::cotangent_ty(comb.to())));
            (x, reverse::primal(comb, &at), reverse::cotangent(comb, &at, &v))
        }
    }
}

fn judgements(x: &linear::Var, first: &linear::Term, second: &linear::Lin) -> String {
    let context = format!("{} : {}", x.hint, x.ty);
    format!("{context} |- {}\n{first}\n\n{context}; v : {} |- {}\n{second}\n", first.ty(), second.from(), second.to())
}

fn applied_stage(hint: &str, comb: &Comb, mode: Mode) -> String {
    let (x, first, second) = match mode {
        Mode::Forward => {
            let x = Var::fresh(hint, applied_forward::primal_ty(comb.from()));
            let at = applied::var(&x);
            (x, applied_forward::primal(comb, &at), applied_forward::tangent(comb, &at))
        }
        Mode::Reverse => {
            let x = Var::fresh(hint, applied_reverse::primal_ty(comb.from()));
            let at = applied::var(&x);
            (x, applied_reverse::primal(comb, &at), applied_reverse::cotangent(comb, &at))
        }
    };
    let context = format!("{} : {}", x.hint, x.ty);
    format!("{context} |- {}\n{first}\n\n{context} |- {}\n{second}\n", first.ty(), second.ty())
}

/// A derivation: every part of the combinator term from the inside out, the clause of Appendix A that applies, and what it gives.
pub fn explain(program: &Program, entry: DefId, mode: Mode) -> Result<String, Outside> {
    let (x, t) = of_core(program, entry)?;
    let comb = combinators::of_term(&x, &t);
    let mut steps = Vec::new();
    collect(&comb, &mut steps);
    let texts = steps.iter().enumerate().map(|(k, step)| {
        let stage = linear_stage("x", step, mode);
        format!("{}. {step} : {} -> {}\n   clause: {}\n{}", k + 1, step.from(), step.to(), clause(step, mode), indented(&stage))
    });
    Ok(format!("{} |- {t}\n\n{}", x.hint, texts.collect::<Vec<_>>().join("\n")))
}

/// The parts before what they are parts of, each once.
fn collect(comb: &Comb, steps: &mut Vec<Comb>) {
    comb.children().into_iter().for_each(|part| collect(part, steps));
    if !steps.contains(comb) {
        steps.push(comb.clone());
    }
}

fn indented(text: &str) -> String {
    text.lines().filter(|line| !line.is_empty()).map(|line| format!("   {line}\n")).collect()
}

fn clause(comb: &Comb, mode: Mode) -> &'static str {
    let (forward, reverse) = match comb.kind() {
        Kind::Id => ("id_2 = v", "id_2 = v"),
        Kind::Then(..) => ("(t;s)_2 = s_2[t_1/y1, t_2/y2]", "(t;s)_2 = t_2[s_2[t_1/y1]/x2]"),
        Kind::Unit => ("<>_2 = <>", "<>_2 = 0"),
        Kind::Pair(..) => ("<t,s>_2 = <t_2, s_2>", "<t,s>_2 = t_2[fst v] + s_2[snd v]"),
        Kind::Fst => ("fst_2 = fst v", "fst_2 = <v, 0>"),
        Kind::Snd => ("snd_2 = snd v", "snd_2 = <0, v>"),
        Kind::Ev => {
            ("ev_2 = let y = snd x1 in (fst v) y + (snd ((fst x1) y)){snd v}", "ev_2 = let y = snd x1 in <!y (x) v, (snd ((fst x1) y)){v}>")
        }
        Kind::Curry(_) => ("cur(t)_2 = \\y. t_2[<x1,y>; <v,0>]", "cur(t)_2 = case v of !y (x) w -> fst t_2[<x1,y>; w]"),
        Kind::Op(_) => ("op_2 = D op(x; v)", "op_2 = (D op)^t(x; v)"),
        Kind::Prim(Primitive::Map { .. }) => {
            ("map_2 = lmap(v; g) + lzipWith(<f;snd, v>; w)", "map_2 = <lzip(v; w), lzipWith(<f;snd, v>; w)>")
        }
        Kind::Prim(Primitive::Scan { .. }) => (
            "scan_2 = lscan(<f;snd, p>; <w, lmap(p; g)>), where p = <fst scan_1, v>",
            "scan_2 = let <a, r> = lunscan(<f;snd, p>; w) in <lzip(p; r), a>, where p = <fst scan_1, v>",
        ),
    };
    match mode {
        Mode::Forward => forward,
        Mode::Reverse => reverse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lambada_core::{self as core, Def, Ty};
    use lambada_prim::Prim;

    /// `\x -> sin x * x`
    fn program() -> Program {
        let mut program = Program::default();
        let x = program.fresh("x", Ty::REAL);
        let sin = core::prim(Prim::Sin, vec![core::var(&x)]);
        let body = core::lam(x.clone(), core::prim(Prim::Mul, vec![sin, core::var(&x)]));
        program.defs.push(Def { name: "f".into(), body, signature: Default::default(), span: Default::default() });
        program
    }

    fn check(mode: Mode, stage: Stage, expect: &str) {
        assert_eq!(derive(&program(), DefId(0), mode, stage).unwrap(), expect);
    }

    #[test]
    fn stages() {
        check(Mode::Reverse, Stage::Combinators, "real -> real\n<id; sin, id>; (*)\n");
        check(
            Mode::Forward,
            Stage::Linear,
            "x : real |- real\nsin(x) * x\n\nx : real; v : real |- real\n\
             lmul(snd <sin(x), x>; fst <lmul(cos(x); v), v>) + lmul(fst <sin(x), x>; snd <lmul(cos(x); v), v>)\n",
        );
        check(
            Mode::Reverse,
            Stage::Linear,
            "x : real |- real\nsin(x) * x\n\nx : real; v : real |- real\n\
             lmul(cos(x); fst <lmul(snd <sin(x), x>; v), lmul(fst <sin(x), x>; v)>) + snd <lmul(snd <sin(x), x>; v), lmul(fst <sin(x), x>; v)>\n",
        );
        check(
            Mode::Reverse,
            Stage::Normal,
            "x : real |- real\nsin(x) * x\n\nx : real; v : real |- real\nlmul(sin(x); v) + lmul(cos(x); lmul(x; v))\n",
        );
        let shared = derive(&program(), DefId(0), Mode::Reverse, Stage::Shared).unwrap();
        assert!(shared.starts_with("x : real |- real * LFun(real, real)\nlet a = "), "{shared}");
    }

    #[test]
    fn explanation() {
        let text = explain(&program(), DefId(0), Mode::Reverse).unwrap();
        assert!(text.contains("4. <id; sin, id> : real -> real * real\n   clause: <t,s>_2 = t_2[fst v] + s_2[snd v]"), "{text}");
    }
}

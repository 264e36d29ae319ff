//! The output for users: each stage of the derivative of a definition, and a derivation step by
//! step ([`Derivation`]), as text, LaTeX, HTML and data.

mod clauses;
mod data;
mod derivation;
mod html;
mod latex;
mod notation;
mod text;

use lambada_core::{DefId, Program};

use std::fmt;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::combinators::{self, Comb};
use crate::linear::Lin;
use crate::pairs::{AppliedForward, AppliedReverse};
use crate::shared::{self, Lets};
use crate::source::{Outside, of_core};
use crate::var::{Env, Var};
use crate::{applied, forward, linear, literal, print, reverse, source};

pub use data::{Clause, Component, Derivation, Place, Rule, Step, Variable};

/// Forward or reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// `D→`
    Forward,
    /// `D←`
    Reverse,
}

/// A form of the derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
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

#[cfg(test)]
mod tests;

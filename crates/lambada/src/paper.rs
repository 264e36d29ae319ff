//! The executable paper for a user's definitions: every stage of the derivative as defined in the
//! paper, for the paper's fragment of the language.

use lambada_chad::report::{self, Refusal};
use lambada_source::{Problem, stack};

use crate::messages::paper as messages;
use crate::{Unit, fields, operators};
use lambada_core::{DefId, Program};

pub use lambada_chad::report::{Clause, Component, Derivation, Place, Rule, Step, Variable};
pub use lambada_chad::report::{Mode, Stage as PaperStage};

impl Unit {
    /// A stage of the derivative of a definition, in notation close to the paper, with respect to
    /// `wrt` [default: all parameters]. A field of a parameter, `p.mu`, becomes a parameter of its
    /// own after the others.
    pub fn paper_stage(
        &self,
        entry: &str,
        mode: Mode,
        stage: PaperStage,
        wrt: Option<&[String]>,
    ) -> Result<String, Vec<Problem>> {
        let (mut program, id) = self.definition(entry)?;
        let widened = fields::widen(&mut program, id, wrt.unwrap_or_default());
        let (id, _) = widened.map_err(|problem| vec![problem])?;
        let wrt = wrt.map(|names| operators::places(&program, id, names));
        let wrt = wrt.transpose().map_err(|problem| vec![problem])?;
        stack::roomy(|| report::derive(&program, id, mode, stage, wrt.as_deref()))
            .map_err(|refusal| vec![refused(&program, id, entry, &refusal)])
    }

    /// The steps of deriving a definition: all, or step number `step`, counted from 1. The stage is
    /// one with a derivative.
    pub fn derivation(
        &self,
        entry: &str,
        mode: Mode,
        stage: PaperStage,
        step: Option<usize>,
    ) -> Result<Derivation, Vec<Problem>> {
        let (program, id) = self.definition(entry)?;
        stack::roomy(|| Derivation::new(&program, id, (mode, stage), &self.sources, step))
            .map_err(|refusal| vec![refused(&program, id, entry, &refusal)])
    }
}

fn refused(program: &Program, id: DefId, entry: &str, refusal: &Refusal) -> Problem {
    let span = program.def(id).span;
    match refusal {
        Refusal::Outside(outside) => messages::outside_fragment(entry, outside),
        Refusal::TooLarge(size) => messages::too_large(entry, span, *size),
        Refusal::NoSuchStep(count) => messages::no_such_step(entry, span, *count),
        Refusal::NoDerivative => messages::no_derivative(span),
        Refusal::StepsTooLarge(small) => messages::steps_too_large(entry, span, *small),
    }
}

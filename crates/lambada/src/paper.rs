//! The executable paper for a user's definitions: every stage of the derivative as the paper defines it, for the fragment that it speaks of.

use lambada_chad::report::{self, Refusal};
use lambada_chad::source::Outside;
use lambada_source::{Problem, stack};

use crate::Unit;
use lambada_core::{DefId, Program};

pub use lambada_chad::report::{Mode, Stage as PaperStage};

impl Unit {
    /// One stage of the derivative of a definition, in notation close to the paper.
    pub fn paper_stage(
        &self,
        entry: &str,
        mode: Mode,
        stage: PaperStage,
    ) -> Result<String, Vec<Problem>> {
        let (program, id) = self.definition(entry)?;
        stack::roomy(|| report::derive(&program, id, mode, stage))
            .map_err(|refusal| vec![refused(&program, id, entry, &refusal)])
    }

    /// The derivation of a definition's derivative: all steps, or the one of this number, counted from 1.
    pub fn explain(
        &self,
        entry: &str,
        mode: Mode,
        step: Option<usize>,
    ) -> Result<String, Vec<Problem>> {
        let (program, id) = self.definition(entry)?;
        stack::roomy(|| report::explain(&program, id, mode, step))
            .map_err(|refusal| vec![refused(&program, id, entry, &refusal)])
    }
}

fn refused(program: &Program, id: DefId, entry: &str, refusal: &Refusal) -> Problem {
    match refusal {
        Refusal::Outside(outside) => outside_fragment(entry, outside),
        Refusal::TooLarge(size) => {
            let title =
                format!("the literal derivative of `{entry}` is too large to be written down");
            let label = format!(
                "it would have about 10^{:.0} parts: the macros of the paper copy what they substitute",
                size.log10()
            );
            Problem::error("E0521", title, program.def(id).span, label)
                .hint("`--stage shared` names it instead, and does not grow")
        }
        Refusal::NoSuchStep(count) => {
            let title = format!("the derivation of `{entry}` has {count} steps");
            Problem::error("E0522", title, program.def(id).span, "this is what is explained")
                .hint(format!("`--step` takes a number from 1 to {count}"))
        }
    }
}

fn outside_fragment(entry: &str, outside: &Outside) -> Problem {
    let title = format!("`{entry}` is outside the fragment of the executable paper");
    Problem::error("E0520", title, outside.span, outside.construct.clone())
        .hint("the fragment is: reals, arrays of reals of literal sizes, tuples, functions, application, `let`, arithmetic and elementary functions")
        .hint("a `for` or `map` over arrays may use their elements, a `loop` or `fold` has a real as its state and goes over one array")
        .hint("`lambada derive` without --stage differentiates any definition")
}

//! Intermediate forms of a definition, as text.

use lambada_anf as anf;
use lambada_anf::Audience;
use lambada_graph::Nominal;
use lambada_schedule as schedule;
use lambada_source::{Problem, stack};
use lambada_surface::ast::Item;

use crate::messages::running as messages;
use crate::operators::Operator;
use crate::passes::{NORMALIZE, SCHEDULE};
use crate::pipeline::{arrays_with, lower_with, optimized, scheduled};
use crate::{Call, Options, Unit};

/// A form of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// As written, reprinted.
    Surface,
    /// Typed and higher order.
    Core,
    /// First-order array code.
    Anf,
    /// Scalar definitions with free indices, and the passes over them.
    Schedule,
    /// Loops over buffers.
    Loops,
    /// The input of the C compiler.
    C,
}

impl Unit {
    /// Prints a definition or a derivative of it in one form. `after` names a pass of the
    /// optimizer, or `none`.
    pub fn show(
        &self,
        entry: &str,
        stage: Stage,
        operator: Operator,
        wrt: Option<&[String]>,
        after: Option<&str>,
    ) -> Result<String, Vec<Problem>> {
        stack::roomy(|| self.shown(entry, stage, operator, wrt, after))
    }

    fn shown(
        &self,
        entry: &str,
        stage: Stage,
        operator: Operator,
        wrt: Option<&[String]>,
        after: Option<&str>,
    ) -> Result<String, Vec<Problem>> {
        let call = self.call(entry, operator, wrt)?;
        match (stage, after) {
            (Stage::Anf, Some(pass)) => self.show_after(&call, pass),
            (Stage::Surface, _) => Ok(self.written(entry)),
            (Stage::Core, _) => Ok(lambada_core::print_program(&call.program)),
            (Stage::Anf, None) => {
                Ok(anf::print(&arrays_with(&call.program, call.entry, &self.options)?.optimized))
            }
            (Stage::Schedule, _) => {
                let arrays = arrays_with(&call.program, call.entry, &self.options)?;
                Ok(kernels(&arrays.optimized, &self.options))
            }
            (Stage::Loops, _) => Ok(lambada_loops::print(&lower_with(
                &arrays_with(&call.program, call.entry, &self.options)?,
                &self.options,
            ))),
            (Stage::C, _) => Ok(lambada_codegen::c_source(&lower_with(
                &arrays_with(&call.program, call.entry, &self.options)?,
                &self.options,
            ))),
        }
    }

    /// A definition reprinted from the syntax tree.
    fn written(&self, entry: &str) -> String {
        let is_entry = |item: &&Item| matches!(item, Item::Def(def) if &*def.name.text == entry);
        let item = self.module.items.iter().find(is_entry);
        item.map_or_else(String::new, |item| lambada_surface::print_item(&self.module, item))
    }

    fn show_after(&self, call: &Call, pass: &str) -> Result<String, Vec<Problem>> {
        let function =
            arrays_with(&call.program, call.entry, &self.options)?.normalized.into_inner().function;
        if pass == "none" || pass == NORMALIZE.name {
            return Ok(anf::print(&function));
        }
        // Output of the last run of the pass.
        let mut shown = None;
        let last = optimized(&function, &self.options, Audience::Machine, &mut |ran, after| {
            if ran == pass {
                shown = Some(anf::print(after));
            }
        });
        if pass == SCHEDULE.name {
            let plan = self.options.plan(&last, self.options.target);
            return Ok(anf::print(&scheduled(&last, &self.options, plan)));
        }
        shown.ok_or_else(|| vec![messages::no_such_pass(pass)])
    }
}

/// The kernels of a program, or its graphs if it has none.
fn kernels(function: &anf::Function, options: &Options) -> String {
    if options.nests {
        let scheduled = scheduled(function, options, options.plan(function, options.target));
        let kernels = scheduled.kernels();
        let kernels =
            kernels.iter().map(|k| lambada_emit::explained(&k.placed, k.least, k.checked));
        let kernels: Vec<String> = kernels.collect();
        if !kernels.is_empty() {
            return kernels.join("\n");
        }
    }
    let nominal = Nominal::default();
    let mut texts = Vec::new();
    schedule::through_graphs(&mut function.clone(), &mut |graph| {
        let prepared = schedule::prepared(&graph, &nominal, schedule::Leave::Checked);
        texts.push(lambada_graph::print(&prepared));
        graph
    });
    if options.nests {
        texts.push("no nests, which would not be worth it here\n".into());
    }
    texts.join("\n")
}

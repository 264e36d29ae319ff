//! Code lenses above definitions: run, gradient, derivative.

use lambada_surface::ast::Def;
use lsp_types::{CodeLens, CodeLensParams, Command};

use crate::analysis::Analysis;
use crate::commands::{DERIVATIVE, GRADIENT, RUN};
use crate::world::World;

/// The lenses of a document. A broken document has none, because nothing of it runs.
pub(crate) fn lenses(world: &mut World, params: &CodeLensParams) -> Option<Vec<CodeLens>> {
    let analysis = world.of(&params.text_document.uri)?;
    if !analysis.survey.is_sound() || world.owns(&analysis.path) {
        return Some(Vec::new());
    }
    Some(analysis.definitions().flat_map(|def| of_definition(&analysis, def)).collect())
}

fn of_definition(analysis: &Analysis, def: &Def) -> Vec<CodeLens> {
    let known = analysis.survey.definitions.iter().find(|known| known.name == def.name.text);
    let Some(known) = known else { return Vec::new() };
    let lens = |title: &str, command: &str| CodeLens {
        range: analysis.lines.of(def.name.span),
        command: Some(Command {
            title: title.to_string(),
            command: command.to_string(),
            arguments: Some(vec![analysis.uri.as_str().into(), (*def.name.text).into()]),
        }),
        data: None,
    };
    let result = known.scheme.rsplit("-> ").next().unwrap_or_default();
    let mut lenses = Vec::new();
    if !known.is_function {
        lenses.push(lens("run", RUN));
    } else if !result.ends_with(')') || !result.contains("->") {
        if result == "real" {
            lenses.push(lens("gradient", GRADIENT));
        }
        lenses.push(lens("derivative", DERIVATIVE));
    }
    lenses
}

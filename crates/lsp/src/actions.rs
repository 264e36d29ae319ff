//! Code actions: the hints of problems that carry edits, and the mending of a whole file.

use lambada_source::{Applicability, Fix, Hint, mend};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse,
    Diagnostic, TextEdit,
};

use crate::analysis::Analysis;
use crate::edits::{fix_edits, workspace_edit};
use crate::problems::diagnostics;
use crate::world::World;

/// Kind of the action that mends all problems with only one fix.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::SOURCE_FIX_ALL;

/// The actions for a part of a file.
pub(crate) fn actions(world: &mut World, params: &CodeActionParams) -> Option<CodeActionResponse> {
    let analysis = world.of(&params.text_document.uri)?;
    if world.owns(&analysis.path) {
        return None;
    }
    let wanted = |kind: &CodeActionKind| {
        let only = params.context.only.as_ref();
        only.is_none_or(|only| only.iter().any(|one| kind.as_str().starts_with(one.as_str())))
    };
    let start = analysis.lines.offset(params.range.start) as u32;
    let end = analysis.lines.offset(params.range.end) as u32;
    let shown = diagnostics(world, &analysis);
    let mut actions: Vec<CodeAction> = Vec::new();
    for (problem, diagnostic) in analysis.survey.problems.iter().zip(&shown) {
        let here = problem.labels.iter().any(|label| {
            label.span.file == analysis.file() && label.span.start <= end && start <= label.span.end
        });
        if here && wanted(&CodeActionKind::QUICKFIX) {
            actions.extend(
                problem.hints.iter().filter_map(|hint| action(&analysis, hint, diagnostic)),
            );
        }
    }
    if wanted(&FIX_ALL) {
        actions.extend(fix_all(&analysis));
    }
    Some(actions.into_iter().map(CodeActionOrCommand::CodeAction).collect())
}

fn action(analysis: &Analysis, hint: &Hint, diagnostic: &Diagnostic) -> Option<CodeAction> {
    let fix = hint.fix.as_ref()?;
    let edit = workspace_edit([(analysis.uri.clone(), fix_edits(analysis, fix)?)]);
    Some(CodeAction {
        title: hint.text.clone(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic.clone()]),
        edit: Some(edit),
        is_preferred: Some(fix.applicability == Applicability::Certain),
        ..CodeAction::default()
    })
}

/// All certain fixes of the file together.
fn fix_all(analysis: &Analysis) -> Option<CodeAction> {
    let fixes = analysis.survey.problems.iter().filter_map(|problem| problem.certain_fix());
    let own = |fix: &&Fix| fix.edits.iter().all(|edit| edit.span.file == analysis.file());
    let (text, count) = mend(fixes.filter(own), analysis.file(), &analysis.lines.text);
    if count == 0 {
        return None;
    }
    let edit = TextEdit::new(analysis.lines.all(), text);
    Some(CodeAction {
        title: "Fix all problems that have only one fix".to_string(),
        kind: Some(FIX_ALL),
        edit: Some(workspace_edit([(analysis.uri.clone(), vec![edit])])),
        ..CodeAction::default()
    })
}

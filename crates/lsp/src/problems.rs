//! Problems as the client shows them. A problem in an imported file stands at the import, because
//! that file's own problems are published when it is open.

use lambada::{Problem, Severity, explanation_link, is_unused};
use lambada_source::{Hint, Label, Span};
use lambada_surface::ast::Item;
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    NumberOrString, Range,
};

use crate::analysis::Analysis;
use crate::world::World;

/// Name of the source of problems.
const SOURCE: &str = "lambada";

/// The problems of a file.
pub(crate) fn diagnostics(world: &mut World, analysis: &Analysis) -> Vec<Diagnostic> {
    if world.owns(&analysis.path) {
        return Vec::new();
    }
    analysis.survey.problems.iter().map(|problem| diagnostic(world, analysis, problem)).collect()
}

fn diagnostic(world: &mut World, analysis: &Analysis, problem: &Problem) -> Diagnostic {
    let link = explanation_link(problem.code).and_then(|link| link.parse().ok());
    let (range, elsewhere) = place(analysis, problem);
    let further = problem.labels.iter().skip(usize::from(!elsewhere));
    let related: Vec<DiagnosticRelatedInformation> =
        further.filter_map(|label| related(world, analysis, problem, label)).collect();
    Diagnostic {
        range,
        severity: Some(match problem.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(problem.code.to_string())),
        code_description: link.map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_string()),
        message: message(analysis, problem, elsewhere),
        related_information: (!related.is_empty()).then_some(related),
        tags: is_unused(problem).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    }
}

/// The range in this file, and whether the problem is in another one.
fn place(analysis: &Analysis, problem: &Problem) -> (Range, bool) {
    match problem.labels.first() {
        Some(label) if label.span.file == analysis.file() => (analysis.lines.of(label.span), false),
        Some(_) => (import(analysis).map_or_else(Range::default, |at| analysis.lines.of(at)), true),
        None => (Range::default(), false),
    }
}

fn import(analysis: &Analysis) -> Option<Span> {
    let imports = analysis.survey.module.items.iter().filter_map(|item| match item {
        Item::Import(import) => Some(import),
        Item::Def(_) | Item::Type(_) => None,
    });
    imports.filter(|import| !import.path.starts_with("std/")).map(|import| import.span).next()
}

/// The title, the words at the place, and the hints.
fn message(analysis: &Analysis, problem: &Problem, elsewhere: bool) -> String {
    let mut text = problem.title.clone();
    if let Some(label) = problem.labels.first() {
        if elsewhere {
            let path = analysis.path_of(label.span.file);
            text = format!("in {}: {text}", path.file_name().unwrap_or_default().to_string_lossy());
        } else if !label.text.is_empty() {
            text += &format!("\n{}", label.text);
        }
    }
    for Hint { text: hint, .. } in &problem.hints {
        text += &format!("\nhelp: {hint}");
    }
    text
}

fn related(
    world: &mut World,
    analysis: &Analysis,
    problem: &Problem,
    label: &Label,
) -> Option<DiagnosticRelatedInformation> {
    let location = world.location(analysis, label.span)?;
    let message = if label.text.is_empty() { problem.title.clone() } else { label.text.clone() };
    Some(DiagnosticRelatedInformation { location, message })
}

//! Hover: the type and the documentation of a name; on a parameter also the derivative by it.

use std::path::PathBuf;
use std::rc::Rc;

use lambada::Symbol;
use lambada_surface::ast::PatternKind;
use lambada_surface::scopes::Binder;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use crate::analysis::Analysis;
use crate::describe::{description, fenced};
use crate::world::World;

/// Limit on the lines of a derivative in a hover.
const MOST_LINES: usize = 30;

/// A parameter of a definition with a real result, whose derivative may be shown.
pub(crate) struct Differentiated {
    pub path: PathBuf,
    pub entry: Rc<str>,
    pub parameter: String,
}

/// The hover, and the derivative that would complete it.
pub(crate) fn hover(
    world: &mut World,
    params: &HoverParams,
) -> (Option<Hover>, Option<Differentiated>) {
    let found = world.at(&params.text_document_position_params);
    let Some((analysis, offset)) = found else { return (None, None) };
    let Some(one) = analysis.occurrence(offset).cloned() else { return (None, None) };
    let Some(text) = description(world, &analysis, one.span, &one.symbol) else {
        return (None, None);
    };
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: text.markdown() };
    let hover = Hover {
        contents: HoverContents::Markup(contents),
        range: Some(analysis.lines.of(one.span)),
    };
    (Some(hover), differentiated(&analysis, &one.symbol))
}

fn differentiated(analysis: &Analysis, symbol: &Symbol) -> Option<Differentiated> {
    let Symbol::Local(place, Binder::Parameter) = symbol else { return None };
    let def = analysis.definition_around(place.start as usize)?;
    let own = def.params.iter().find(|param| param.pattern.span == *place)?;
    let PatternKind::Var(name) = &own.pattern.kind else { return None };
    let known = analysis.survey.definitions.iter().find(|known| known.name == def.name.text)?;
    let real = known.scheme.rsplit("-> ").next().is_some_and(|result| result == "real");
    (real && analysis.survey.is_sound()).then(|| Differentiated {
        path: analysis.path.clone(),
        entry: def.name.text.clone(),
        parameter: name.to_string(),
    })
}

/// The hover with a derivative, unless that is too long to be read there.
pub(crate) fn with_derivative(hover: Hover, derivative: &str) -> Hover {
    if derivative.lines().count() > MOST_LINES {
        return hover;
    }
    let HoverContents::Markup(MarkupContent { kind, value }) = hover.contents else {
        return hover;
    };
    let value = format!("{value}\n\n---\n\n{}", fenced(derivative));
    Hover { contents: HoverContents::Markup(MarkupContent { kind, value }), ..hover }
}

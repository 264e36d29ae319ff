//! Inlay hints: the types, with sizes, of variables and results that have no annotation.

use std::collections::HashMap;

use lambada_source::{Span, stack};
use lambada_surface::ast::{Def, Expr, ExprKind, Param, Pattern, PatternKind};
use lambada_surface::visit::{Visit, walk_def, walk_expr};
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams};

use crate::analysis::Analysis;
use crate::world::World;

/// Limit on the characters of a hint; longer types are cut.
const LONGEST: usize = 60;

/// The hints of a part of a file.
pub(crate) fn hints(world: &mut World, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let analysis = world.of(&params.text_document.uri)?;
    let start = analysis.lines.offset(params.range.start) as u32;
    let end = analysis.lines.offset(params.range.end) as u32;
    let variables = analysis.variables().iter();
    let types: HashMap<Span, &str> = variables.map(|(at, ty)| (*at, ty.as_str())).collect();
    let mut open = Open { places: Vec::new(), results: Vec::new() };
    stack::roomy(|| analysis.definitions().for_each(|def| open.def(def)));
    let shown = |place: &&Span| start <= place.start && place.start <= end;
    let known = open.places.iter().filter(shown);
    let mut hints: Vec<InlayHint> = known
        .filter_map(|place| hint(&analysis, place.end as usize, ":", types.get(place)?))
        .collect();
    for (body, at) in open.results.iter().filter(|(_, at)| shown(&at)) {
        if let Some(ty) = stack::roomy(|| analysis.survey.type_at(*body)) {
            hints.extend(hint(&analysis, at.end as usize, "→", &ty));
        }
    }
    Some(hints)
}

/// A hint; none for a type that is not known.
fn hint(analysis: &Analysis, at: usize, sign: &str, ty: &str) -> Option<InlayHint> {
    if ty == "_" {
        return None;
    }
    let cut = ty.chars().count() > LONGEST;
    let text: String = ty.chars().take(LONGEST).collect();
    Some(InlayHint {
        position: analysis.lines.position(at),
        label: InlayHintLabel::String(format!("{sign} {text}{}", if cut { "…" } else { "" })),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    })
}

/// Variables, and results of top-level definitions, without annotations.
struct Open {
    places: Vec<Span>,
    /// The body, and the end of the head.
    results: Vec<(Span, Span)>,
}

impl Open {
    fn param(&mut self, param: &Param) {
        if param.ty.is_none() {
            self.variables(&param.pattern);
        }
    }

    fn variables(&mut self, pattern: &Pattern) {
        if let PatternKind::Var(_) = &pattern.kind {
            self.places.push(pattern.span);
        } else if let PatternKind::Tuple(parts) | PatternKind::Array(parts) = &pattern.kind {
            parts.iter().for_each(|part| self.variables(part));
        } else if let PatternKind::Record(fields) = &pattern.kind {
            fields.iter().for_each(|(_, part)| self.variables(part));
        }
    }
}

impl Visit for Open {
    fn def(&mut self, def: &Def) {
        def.params.iter().for_each(|param| self.param(param));
        if def.result.is_none() && !matches!(def.body.kind, ExprKind::Broken(_) | ExprKind::Error) {
            let last = def.params.last().and_then(|param| param.ty.as_ref().map(|ty| ty.span));
            let pattern = def.params.last().map(|param| param.pattern.span);
            let size = def.sizes.last().map(|size| size.span);
            // Behind the parenthesis or bracket that closes an annotated parameter or the sizes.
            let closes = last.is_some() || pattern.is_none() && size.is_some();
            let at = last.or(pattern).or(size).unwrap_or(def.name.span).end();
            let at = if closes { Span { start: at.start + 1, end: at.end + 1, ..at } } else { at };
            if at.end <= def.body.span.start {
                self.results.push((def.body.span, at));
            }
        }
        walk_def(self, def);
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Lambda(params, _) = &expr.kind {
            params.iter().for_each(|param| self.param(param));
        } else if let ExprKind::Let(param, ..) | ExprKind::Loop(param, ..) = &expr.kind {
            self.param(param);
        }
        walk_expr(self, expr);
    }

    /// `param` has looked at the patterns that get hints.
    fn pattern(&mut self, _: &Pattern) {}
}

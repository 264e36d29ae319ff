//! Parts of the text: those that fold, and those that a selection grows to.

use lambada_source::{Span, stack};
use lambada_surface::ast::{Def, Expr, ExprKind, Item, Pattern, TypeExpr};
use lambada_surface::visit::{
    Visit, walk_def, walk_expr, walk_item, walk_module, walk_pattern, walk_type,
};
use lsp_types::{
    FoldingRange, FoldingRangeKind, FoldingRangeParams, SelectionRange, SelectionRangeParams,
};

use crate::analysis::Analysis;
use crate::world::World;

/// The parts of several lines: items, local functions, blocks, comments, and all imports.
pub(crate) fn folding(world: &mut World, params: &FoldingRangeParams) -> Option<Vec<FoldingRange>> {
    let analysis = world.of(&params.text_document.uri)?;
    let mut parts = Parts::default();
    stack::roomy(|| walk_module(&mut parts, &analysis.survey.module));
    let mut ranges: Vec<FoldingRange> =
        parts.blocks.iter().filter_map(|span| range(&analysis, *span, None)).collect();
    let items = &analysis.survey.module.items;
    let imports = items.iter().filter(|item| matches!(item, Item::Import(_))).map(Item::span);
    let imports = imports.reduce(|first, last| first.to(last));
    let kind = Some(FoldingRangeKind::Imports);
    ranges.extend(imports.and_then(|span| range(&analysis, span, kind)));
    ranges.extend(comments(&analysis));
    ranges.sort_by_key(|range| (range.start_line, range.end_line));
    ranges.dedup_by_key(|range| (range.start_line, range.end_line));
    Some(ranges)
}

fn range(analysis: &Analysis, span: Span, kind: Option<FoldingRangeKind>) -> Option<FoldingRange> {
    let lines = analysis.lines.of(span);
    (lines.end.line > lines.start.line).then(|| FoldingRange {
        start_line: lines.start.line,
        end_line: lines.end.line,
        kind,
        ..FoldingRange::default()
    })
}

/// Comments on consecutive lines.
fn comments(analysis: &Analysis) -> Vec<FoldingRange> {
    let mut groups: Vec<Span> = Vec::new();
    for comment in &analysis.tokens().comments {
        match groups.last_mut() {
            Some(group) if analysis.text(group.between(*comment)).trim().is_empty() => {
                *group = group.to(*comment);
            }
            Some(_) | None => groups.push(*comment),
        }
    }
    let kind = Some(FoldingRangeKind::Comment);
    groups.into_iter().filter_map(|span| range(analysis, span, kind.clone())).collect()
}

/// The spans of a tree.
#[derive(Default)]
struct Parts {
    blocks: Vec<Span>,
    all: Vec<Span>,
}

impl Visit for Parts {
    fn item(&mut self, item: &Item) {
        self.blocks.push(item.span());
        self.all.push(item.span());
        walk_item(self, item);
    }

    fn def(&mut self, def: &Def) {
        self.blocks.push(def.span);
        self.all.extend([def.span, def.name.span]);
        walk_def(self, def);
    }

    fn expr(&mut self, expr: &Expr) {
        let block = matches!(
            expr.kind,
            ExprKind::Match(..) | ExprKind::For(..) | ExprKind::Loop(..) | ExprKind::If(..)
        );
        if block || matches!(expr.kind, ExprKind::Array(_) | ExprKind::Record(_)) {
            self.blocks.push(expr.span);
        }
        self.all.push(expr.span);
        stack::deeper(|| walk_expr(self, expr));
    }

    fn pattern(&mut self, pattern: &Pattern) {
        self.all.push(pattern.span);
        walk_pattern(self, pattern);
    }

    fn type_expr(&mut self, ty: &TypeExpr) {
        self.all.push(ty.span);
        walk_type(self, ty);
    }
}

/// For each place the parts around it, the smallest first.
pub(crate) fn selection(
    world: &mut World,
    params: &SelectionRangeParams,
) -> Option<Vec<SelectionRange>> {
    let analysis = world.of(&params.text_document.uri)?;
    let mut parts = Parts::default();
    stack::roomy(|| walk_module(&mut parts, &analysis.survey.module));
    let around = |offset: usize| {
        let offset = offset as u32;
        let own = |span: &&Span| span.start <= offset && offset <= span.end;
        let mut spans: Vec<Span> = parts.all.iter().filter(own).copied().collect();
        spans.push(analysis.span(0, analysis.lines.text.len()));
        spans.sort_by_key(|span| std::cmp::Reverse(span.end - span.start));
        // Each part lies within the one before.
        let mut ranges: Option<(Span, SelectionRange)> = None;
        for span in spans {
            let parent = match ranges.take() {
                Some((outer, range))
                    if outer.start > span.start || span.end > outer.end || outer == span =>
                {
                    ranges = Some((outer, range));
                    continue;
                }
                outer => outer.map(|(_, range)| Box::new(range)),
            };
            ranges = Some((span, SelectionRange { range: analysis.lines.of(span), parent }));
        }
        ranges.map(|(_, range)| range)
    };
    let places = params.positions.iter();
    let ranges = places.map(|place| {
        around(analysis.lines.offset(*place)).unwrap_or(SelectionRange {
            range: lsp_types::Range::new(*place, *place),
            parent: None,
        })
    });
    Some(ranges.collect())
}

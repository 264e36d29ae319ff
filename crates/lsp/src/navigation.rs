//! Where names are defined and used: definition, references, highlights, over all programs of the
//! workspace.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use lambada::Symbol;
use lambada_source::Span;
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams,
    GotoDefinitionResponse, Location, ReferenceParams,
};

use crate::analysis::Analysis;
use crate::world::World;

/// The definition of the name at the cursor.
pub(crate) fn definition(
    world: &mut World,
    params: &GotoDefinitionParams,
) -> Option<GotoDefinitionResponse> {
    let (analysis, offset) = world.at(&params.text_document_position_params)?;
    let symbol = analysis.occurrence(offset)?.symbol.clone();
    let place = symbol.place().or_else(|| field(&analysis, &symbol))?;
    world.location(&analysis, place).map(GotoDefinitionResponse::Scalar)
}

/// The declaration of a field, if one type alone has it.
fn field(analysis: &Analysis, symbol: &Symbol) -> Option<Span> {
    use lambada_surface::ast::{Item, TypeBody, TypeKind};
    let Symbol::Field(label) = symbol else { return None };
    let survey = &analysis.survey;
    let items = (0..=survey.names().main()).flat_map(|k| &survey.tree(k).items);
    let records = items.filter_map(|item| match item {
        Item::Type(def) => match &def.body {
            TypeBody::Alias(ty) => Some(ty),
            TypeBody::Variant(_) => None,
        },
        Item::Def(_) | Item::Import(_) => None,
    });
    let fields = records.filter_map(|ty| match &ty.kind {
        TypeKind::Record(fields) => Some(fields),
        _ => None,
    });
    let mut declared = fields.flatten().filter(|(name, _)| name.text == *label);
    let first = declared.next()?.0.span;
    declared.next().is_none().then_some(first)
}

/// A definition for all files: the file and the bytes of its name. A name of the language itself
/// has no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    At(PathBuf, u32, u32),
    Builtin(Rc<str>),
}

impl Target {
    /// The target of a symbol that other files may mention.
    pub fn of(analysis: &Analysis, symbol: &Symbol) -> Option<Target> {
        match symbol {
            Symbol::Local(..) | Symbol::Field(_) => None,
            Symbol::Builtin(name) => Some(Target::Builtin(name.clone())),
            Symbol::Definition(place) | Symbol::Type(place) => Some(Target::at(analysis, *place)),
            Symbol::Constructor(place) => Some(Target::at(analysis, *place)),
            Symbol::Module(_) => Some(Target::at(analysis, symbol.place()?)),
        }
    }

    fn at(analysis: &Analysis, place: Span) -> Target {
        Target::At(analysis.path_of(place.file), place.start, place.end)
    }
}

/// Whether the path is the name of a source of the library.
fn is_library(path: &Path) -> bool {
    path.to_string_lossy().starts_with('<')
}

/// The analyses of all programs in which a target may be mentioned.
pub(crate) fn candidates(world: &mut World, target: &Target, name: &str) -> Vec<Rc<Analysis>> {
    let mut found = Vec::new();
    for path in world.programs() {
        let mentions = || {
            let text = lambada::Files::read(&*world.buffers, &path);
            text.is_ok_and(|text| text.contains(name))
        };
        let is_own = matches!(target, Target::At(own, ..) if *own == path);
        if !is_own && !mentions() {
            continue;
        }
        let Some(analysis) = world.analysis(&path) else { continue };
        let reads = match target {
            Target::At(own, ..) => is_library(own) || analysis.reads.contains(own),
            Target::Builtin(_) => true,
        };
        if reads {
            found.push(analysis);
        }
    }
    found
}

/// The places of a target in a file, whether each binds.
pub(crate) fn places_in(analysis: &Analysis, target: &Target) -> Vec<(Span, bool)> {
    let mut places = Vec::new();
    let mut last: Option<(Symbol, bool)> = None;
    for one in analysis.occurrences() {
        let same = match &last {
            Some((symbol, same)) if *symbol == one.symbol => *same,
            _ => Target::of(analysis, &one.symbol).as_ref() == Some(target),
        };
        last = Some((one.symbol.clone(), same));
        if same {
            places.push((one.span, one.binds));
        }
    }
    places
}

/// All mentions of the name at the cursor.
pub(crate) fn references(world: &mut World, params: &ReferenceParams) -> Option<Vec<Location>> {
    let (analysis, offset) = world.at(&params.text_document_position)?;
    let one = analysis.occurrence(offset)?.clone();
    let declared = params.context.include_declaration;
    let Some(target) = Target::of(&analysis, &one.symbol) else {
        let uses = analysis.uses(&one.symbol).filter(|one| declared || !one.binds);
        let location = |span: Span| Location::new(analysis.uri.clone(), analysis.lines.of(span));
        return Some(uses.map(|one| location(one.span)).collect());
    };
    let name = match (&target, &one.symbol) {
        // Paths and names of modules differ.
        (_, Symbol::Module(_)) => "import",
        _ => analysis.text(one.span),
    };
    let mut found = Vec::new();
    for file in candidates(world, &target, name) {
        for (span, binds) in places_in(&file, &target) {
            if declared || !binds {
                found.push(Location::new(file.uri.clone(), file.lines.of(span)));
            }
        }
    }
    Some(found)
}

/// The mentions of the name at the cursor in its file.
pub(crate) fn highlights(
    world: &mut World,
    params: &DocumentHighlightParams,
) -> Option<Vec<DocumentHighlight>> {
    let (analysis, offset) = world.at(&params.text_document_position_params)?;
    let symbol = analysis.occurrence(offset)?.symbol.clone();
    let kind = |binds: bool| match binds {
        true => DocumentHighlightKind::WRITE,
        false => DocumentHighlightKind::READ,
    };
    let uses = analysis.uses(&symbol).map(|one| DocumentHighlight {
        range: analysis.lines.of(one.span),
        kind: Some(kind(one.binds)),
    });
    Some(uses.collect())
}

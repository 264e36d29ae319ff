//! The items of a document, and those of all programs of the workspace.

use lambada_source::FileId;
use lambada_surface::ast::{Def, Item, Module, TypeBody, TypeDef};
use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, SymbolInformation,
    SymbolKind, WorkspaceSymbolParams,
};

use crate::analysis::Analysis;
use crate::lines::Lines;
use crate::world::World;

/// Limit on the answers for the workspace.
const MOST: usize = 400;

/// The items of a document.
pub(crate) fn document(
    world: &mut World,
    params: &DocumentSymbolParams,
) -> Option<DocumentSymbolResponse> {
    let analysis = world.of(&params.text_document.uri)?;
    let items = analysis.survey.module.items.iter();
    let symbols = items.map(|item| match item {
        Item::Def(def) => definition(&analysis, def),
        Item::Type(def) => type_definition(&analysis, def),
        Item::Import(import) => {
            symbol(&analysis, &import.path, SymbolKind::MODULE, [import.span, import.span])
        }
    });
    let named = symbols.filter(|symbol| !symbol.name.is_empty());
    Some(DocumentSymbolResponse::Nested(named.collect()))
}

/// A symbol from its whole span and that of its name.
#[allow(deprecated)] // a field of the protocol that has to be given
fn symbol(
    analysis: &Analysis,
    name: &str,
    kind: SymbolKind,
    [whole, own]: [lambada_source::Span; 2],
) -> DocumentSymbol {
    let range = analysis.lines.of(whole.to(own));
    DocumentSymbol {
        name: name.to_string(),
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range: analysis.lines.of(own),
        children: None,
    }
}

fn kind_of(def: &Def) -> SymbolKind {
    if def.params.is_empty() { SymbolKind::CONSTANT } else { SymbolKind::FUNCTION }
}

fn definition(analysis: &Analysis, def: &Def) -> DocumentSymbol {
    let known = analysis.survey.definitions.iter().find(|known| known.name == def.name.text);
    let detail = known.map(|known| known.scheme.clone()).filter(|scheme| scheme != "_");
    let symbol = symbol(analysis, &def.name.text, kind_of(def), [def.span, def.name.span]);
    DocumentSymbol { detail, ..symbol }
}

fn type_definition(analysis: &Analysis, def: &TypeDef) -> DocumentSymbol {
    let whole = [def.span, def.name.span];
    match &def.body {
        TypeBody::Alias(_) => symbol(analysis, &def.name.text, SymbolKind::STRUCT, whole),
        TypeBody::Variant(constructors) => {
            let constructor = |name: &lambada_surface::ast::Name| {
                symbol(analysis, &name.text, SymbolKind::ENUM_MEMBER, [name.span, name.span])
            };
            let children = constructors.iter().map(|(name, _)| constructor(name)).collect();
            let symbol = symbol(analysis, &def.name.text, SymbolKind::ENUM, whole);
            DocumentSymbol { children: Some(children), ..symbol }
        }
    }
}

/// The definitions, types and constructors of all programs whose names contain the letters of a
/// query in their order.
#[allow(deprecated)] // a field of the protocol that has to be given
pub(crate) fn workspace(
    world: &mut World,
    params: &WorkspaceSymbolParams,
) -> Vec<SymbolInformation> {
    let mut found = Vec::new();
    for path in world.programs() {
        let Ok(text) = lambada::Files::read(&*world.buffers, &path) else { continue };
        let parsed = lambada_source::stack::roomy(|| {
            let (module, _) = lambada_surface::parse(&text, FileId::default());
            named(&module, &params.query)
        });
        let lines = Lines::new(text.into(), world.encoding);
        let uri = world.uri(&path);
        for (name, kind, span) in parsed {
            found.push(SymbolInformation {
                name,
                kind,
                tags: None,
                deprecated: None,
                location: Location::new(uri.clone(), lines.of(span)),
                container_name: path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
            });
        }
        if found.len() >= MOST {
            break;
        }
    }
    found.truncate(MOST);
    found
}

fn named(module: &Module, query: &str) -> Vec<(String, SymbolKind, lambada_source::Span)> {
    let mut found = Vec::new();
    for item in &module.items {
        match item {
            Item::Def(def) => found.push((&def.name, kind_of(def))),
            Item::Type(def) => {
                found.push((&def.name, SymbolKind::STRUCT));
                if let TypeBody::Variant(constructors) = &def.body {
                    let constructors = constructors.iter();
                    found.extend(constructors.map(|(name, _)| (name, SymbolKind::ENUM_MEMBER)));
                }
            }
            Item::Import(_) => {}
        }
    }
    found.retain(|(name, _)| contains_in_order(&name.text, query));
    found.into_iter().map(|(name, kind)| (name.text.to_string(), kind, name.span)).collect()
}

/// Whether a name has the letters of a query in their order, whatever their case.
fn contains_in_order(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|c| c == wanted))
}

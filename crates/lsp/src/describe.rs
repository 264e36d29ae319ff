//! Names in words: a line of code with the type, and the documentation.

use lambada::{Entry, Meaning, Symbol};
use lambada_source::Span;
use lambada_surface::ast::{Def, Item, Module};
use lambada_surface::scopes::Binder;

use crate::analysis::Analysis;
use crate::library::Library;
use crate::world::World;

/// The description of a name.
pub(crate) struct Description {
    /// Code: `x : [n]real`.
    pub code: String,
    /// Documentation, as Markdown.
    pub text: String,
}

impl Description {
    /// The description as Markdown.
    pub fn markdown(&self) -> String {
        let code = fenced(&self.code);
        if self.text.is_empty() { code } else { format!("{code}\n\n{}", self.text) }
    }

    fn of(entry: &Entry) -> Description {
        Description { code: entry.heads.join("\n"), text: entry.text.clone() }
    }
}

/// Code as a block of Markdown.
pub(crate) fn fenced(code: &str) -> String {
    format!("```lambada\n{}\n```", code.trim_end())
}

/// The description of a name that stands at `span`.
pub(crate) fn description(
    world: &mut World,
    analysis: &Analysis,
    span: Span,
    symbol: &Symbol,
) -> Option<Description> {
    match symbol {
        Symbol::Local(place, by) => Some(local(analysis, span, symbol, *place, *by)),
        Symbol::Definition(place) => definition(world, analysis, *place),
        Symbol::Type(place) | Symbol::Constructor(place) => type_around(analysis, *place),
        Symbol::Field(label) => {
            let ty = analysis.survey.type_before(span.end());
            let code = ty.map_or_else(|| label.to_string(), |ty| format!("{label} : {ty}"));
            Some(Description { code, text: String::new() })
        }
        Symbol::Module(file) => {
            let name = analysis.survey.sources.get((*file)?).name.clone();
            let mut trees = (0..=analysis.survey.names().main()).map(|k| analysis.survey.tree(k));
            let of = |tree: &&Module| tree.items.first().map(|item| item.span().file) == *file;
            let doc = trees.find(of).and_then(|tree| tree.doc.clone());
            let code = format!("import \"{}\"", shown_path(&name));
            Some(Description { code, text: doc.as_deref().unwrap_or_default().to_string() })
        }
        Symbol::Builtin(name) => world.library().entry(name).map(Description::of),
    }
}

fn shown_path(name: &str) -> String {
    name.replace("<std>/", "std/").trim_end_matches(".lam").to_string()
}

fn local(analysis: &Analysis, span: Span, symbol: &Symbol, place: Span, by: Binder) -> Description {
    let name = analysis.text(place);
    let ty = match by {
        Binder::Size | Binder::Index => Some("int".to_string()),
        Binder::Function => function_at(analysis, place),
        Binder::Parameter | Binder::Let | Binder::Element | Binder::State => analysis
            .survey
            .type_at(span)
            .filter(|ty| ty != "_")
            .or_else(|| analysis.type_of(symbol)),
        Binder::Accumulator | Binder::Arm => analysis.type_of(symbol),
    };
    let code = ty.map_or_else(|| name.to_string(), |ty| format!("{name} : {ty}"));
    Description { code, text: String::new() }
}

/// The type of the local function whose name stands at a place.
fn function_at(analysis: &Analysis, place: Span) -> Option<String> {
    let def = local_definition(analysis, place)?;
    analysis.survey.local_function(def)
}

/// The place of the local definition with this name.
fn local_definition(analysis: &Analysis, name: Span) -> Option<Span> {
    use lambada_surface::visit::{Visit, walk_def, walk_module};
    struct Find(Span, Option<Span>);
    impl Visit for Find {
        fn def(&mut self, def: &Def) {
            if def.name.span == self.0 {
                self.1 = Some(def.span);
            }
            walk_def(self, def);
        }
    }
    let mut find = Find(name, None);
    lambada_source::stack::roomy(|| walk_module(&mut find, &analysis.survey.module));
    find.1
}

/// A definition of any module.
fn definition(world: &mut World, analysis: &Analysis, place: Span) -> Option<Description> {
    let name = analysis.text(place).to_string();
    let source = analysis.survey.sources.get(place.file).name.clone();
    if let Some(known) = Library::qualified(&source, &name)
        && let Some(entry) = world.library().entry(&known)
    {
        return Some(Description::of(entry));
    }
    let item = item_at(analysis, place)?;
    let Item::Def(def) = item else { return None };
    let scheme = analysis.survey.scheme_at(place).filter(|scheme| scheme != "_");
    let code = scheme.map_or_else(|| head(analysis, def), |scheme| format!("{name} : {scheme}"));
    Some(Description { code, text: def.doc.as_deref().unwrap_or_default().to_string() })
}

/// A definition up to its body, as written.
pub(crate) fn head(analysis: &Analysis, def: &Def) -> String {
    let head = Span { start: def.name.span.start, end: def.body.span.start, ..def.span };
    let text = analysis.text(head).trim_end().trim_end_matches(['=', '(']);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The item of any module that contains a place.
fn item_at(analysis: &Analysis, place: Span) -> Option<&Item> {
    let survey = &analysis.survey;
    let mut items = (0..=survey.names().main()).flat_map(|k| &survey.tree(k).items);
    items.find(|item| {
        let span = item.span();
        span.file == place.file && span.start <= place.start && place.end <= span.end
    })
}

fn type_around(analysis: &Analysis, place: Span) -> Option<Description> {
    let item = item_at(analysis, place)?;
    let Item::Type(def) = item else { return None };
    let none = Module { doc: None, items: Vec::new(), written: None };
    let bare = Item::Type(lambada_surface::ast::TypeDef { doc: None, ..def.clone() });
    let code = lambada_surface::print_item(&none, &bare);
    Some(Description { code, text: def.doc.as_deref().unwrap_or_default().to_string() })
}

/// The description of a member of a module, for lists of completions.
pub(crate) fn member(
    world: &mut World,
    analysis: &Analysis,
    meaning: Meaning,
) -> Option<Description> {
    match meaning {
        Meaning::Value(place) => definition(world, analysis, place),
        Meaning::Type(place) | Meaning::Constructor(place) => type_around(analysis, place),
        Meaning::Builtin => None,
    }
}

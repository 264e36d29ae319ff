//! Completion: names in scope, members of modules, fields of records, names of the library with
//! the import that they need, keywords, and the paths of imports.

use std::rc::Rc;

use lambada::{MODULES, Meaning};
use lambada_source::{Edit, stack};
use lambada_surface::token::KEYWORDS;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse,
    Documentation, MarkupContent, MarkupKind, TextEdit,
};

use crate::analysis::Analysis;
use crate::describe::{Description, member};
use crate::library::Library;
use crate::scope::in_scope;
use crate::world::World;

/// The characters typed before names of the library that need an import are offered.
const LEAST: usize = 2;

/// The completions at the cursor.
pub(crate) fn completion(
    world: &mut World,
    params: &CompletionParams,
) -> Option<CompletionResponse> {
    let (analysis, offset) = world.at(&params.text_document_position)?;
    let before = &analysis.lines.text[..offset];
    let word = before.len() - before.trim_end_matches(is_name).len();
    let (start, line) = (offset - word, before.rsplit('\n').next().unwrap_or_default());
    let items = if let Some(path) = import_path(line) {
        paths(world, &analysis, path)
    } else if line.contains("--") {
        Vec::new()
    } else if let Some(record) = before[..start].strip_suffix('.') {
        members(world, &analysis, record, start)
    } else {
        names(world, &analysis, &before[start..], offset)
    };
    let list = CompletionList { is_incomplete: word < LEAST, items };
    Some(CompletionResponse::List(list))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

fn item(label: &str, kind: CompletionItemKind, detail: Option<String>) -> CompletionItem {
    let rank = if kind == CompletionItemKind::KEYWORD { '3' } else { '1' };
    CompletionItem {
        label: label.to_string(),
        kind: Some(kind),
        detail,
        sort_text: Some(format!("{rank}{label}")),
        ..CompletionItem::default()
    }
}

fn documented(mut item: CompletionItem, text: &str) -> CompletionItem {
    let value = text.to_string();
    let markup = MarkupContent { kind: MarkupKind::Markdown, value };
    item.documentation = (!text.is_empty()).then_some(Documentation::MarkupContent(markup));
    item
}

/// The start of the path of an import that is being written.
fn import_path(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("import")?.trim_start();
    rest.strip_prefix('"').filter(|path| !path.contains('"'))
}

/// The modules of the library and the files that an import may name.
fn paths(world: &World, analysis: &Analysis, typed: &str) -> Vec<CompletionItem> {
    let library = MODULES.iter().map(|(name, _)| format!("std/{name}"));
    let folder = analysis.path.parent();
    let files = world.programs().into_iter().filter_map(|path| {
        let inside = path.strip_prefix(folder?).ok()?.with_extension("");
        (path != analysis.path).then(|| inside.to_string_lossy().replace('\\', "/"))
    });
    let mut found: Vec<String> = library.chain(files).collect();
    found.retain(|path| path.starts_with(typed));
    let module = |path: &String| {
        let mut item = item(path, CompletionItemKind::MODULE, None);
        // A client may take `/` for the end of a word.
        let done = typed.rfind('/').map_or(0, |slash| slash + 1);
        item.insert_text = Some(path[done..].to_string());
        item.filter_text = item.insert_text.clone();
        item
    };
    found.iter().map(module).collect()
}

/// The members of a module, or the fields of a record, before a dot.
fn members(
    world: &mut World,
    analysis: &Analysis,
    record: &str,
    start: usize,
) -> Vec<CompletionItem> {
    let name = &record[record.trim_end_matches(is_name).len()..];
    let names = analysis.survey.names();
    let local = in_scope(analysis, record.len()).iter().any(|(known, _)| **known == *name);
    if let Some(module) = names.import(names.main(), name).filter(|_| !local) {
        return members_of(world, analysis, module);
    }
    let path = &analysis.path;
    // Without the dot, and the name after it, the rest of the definition may have types.
    let text = &analysis.lines.text;
    let end = start + (text[start..].len() - text[start..].trim_start_matches(is_name).len());
    let without = format!("{record}{}", &text[end..]);
    let texts = [(path.clone(), without)].into_iter().collect();
    let Some(tried) = world.tried(path, &texts) else { return Vec::new() };
    let place = tried.span(record.len(), record.len());
    let fields = stack::roomy(|| tried.survey.fields_before(place)).unwrap_or_default();
    let field = |(name, ty): (Rc<str>, String)| item(&name, CompletionItemKind::FIELD, Some(ty));
    fields.into_iter().map(field).collect()
}

fn kind_of(meaning: Meaning, code: &str) -> CompletionItemKind {
    match meaning {
        Meaning::Value(_) if code.contains("->") || code.contains('(') => {
            CompletionItemKind::FUNCTION
        }
        Meaning::Value(_) | Meaning::Builtin => CompletionItemKind::VALUE,
        Meaning::Type(_) => CompletionItemKind::STRUCT,
        Meaning::Constructor(_) => CompletionItemKind::ENUM_MEMBER,
    }
}

fn is_private(name: &str) -> bool {
    name.starts_with('_')
}

fn members_of(world: &mut World, analysis: &Analysis, module: usize) -> Vec<CompletionItem> {
    let names = analysis.survey.names();
    let public = names.members(module).filter(|(name, _)| !is_private(name));
    let mut members: Vec<(Rc<str>, Meaning)> = public.map(|(n, m)| (n.clone(), m)).collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    let described = |(name, meaning): &(Rc<str>, Meaning)| {
        let about = member(world, analysis, *meaning);
        described(name, *meaning, about)
    };
    members.iter().map(described).collect()
}

fn described(name: &str, meaning: Meaning, about: Option<Description>) -> CompletionItem {
    let Some(Description { code, text }) = about else {
        return item(name, kind_of(meaning, ""), None);
    };
    let kind = kind_of(meaning, &code);
    documented(item(name, kind, code.lines().next().map(str::to_string)), &text)
}

/// All names that may stand alone.
fn names(
    world: &mut World,
    analysis: &Analysis,
    typed: &str,
    offset: usize,
) -> Vec<CompletionItem> {
    let mut items: Vec<CompletionItem> = Vec::new();
    for (name, symbol) in in_scope(analysis, offset) {
        let mut item = item(&name, CompletionItemKind::VARIABLE, analysis.type_of(&symbol));
        item.sort_text = Some(format!("0{name}"));
        items.push(item);
    }
    let survey = &analysis.survey;
    let (names, main) = (survey.names(), survey.names().main());
    items.extend(members_of(world, analysis, main));
    for (name, module) in names.listed(main) {
        let Some(meaning) = names.member(module, name) else { continue };
        let about = member(world, analysis, meaning);
        items.push(described(name, meaning, about));
    }
    for (name, _) in names.imports(main) {
        items.push(item(name, CompletionItemKind::MODULE, None));
    }
    let own: Vec<String> = items.iter().map(|item| item.label.clone()).collect();
    let fresh = |label: &String| !own.contains(label);
    items.extend(library(world, analysis, typed).into_iter().filter(|item| fresh(&item.label)));
    let keywords = KEYWORDS.iter().map(|(word, _)| item(word, CompletionItemKind::KEYWORD, None));
    items.extend(keywords);
    items
}

/// The names of the library; those of modules that are not imported come with the import.
fn library(world: &mut World, analysis: &Analysis, typed: &str) -> Vec<CompletionItem> {
    let names = analysis.survey.names();
    let imported: Vec<String> = names
        .imports(names.main())
        .filter_map(|(_, k)| analysis.survey.tree(k).items.first().map(|item| item.span().file))
        .map(|file| analysis.survey.sources.get(file).name.replace("<std>/", ""))
        .collect();
    let mut items = Vec::new();
    for chapter in world.library().chapters() {
        let module = Library::is_module(chapter);
        if module && (typed.len() < LEAST || imported.iter().any(|name| name == chapter.name)) {
            continue;
        }
        for entry in &chapter.entries {
            let own = entry.name.rsplit('.').next().unwrap_or(&entry.name);
            if module && !own.starts_with(typed) && !entry.name.starts_with(typed) {
                continue;
            }
            let head = entry.heads.first().cloned().unwrap_or_default();
            let function = head.contains("->") || head.contains('(');
            let kind = match function {
                true => CompletionItemKind::FUNCTION,
                false => CompletionItemKind::VALUE,
            };
            let mut item = documented(item(&entry.name, kind, Some(head)), &entry.text);
            item.sort_text = Some(format!("2{own}"));
            if module {
                let Edit { span, text } =
                    analysis.survey.import_edit(&format!("std/{}", chapter.name));
                let edit = TextEdit::new(analysis.lines.of(span), text);
                item.additional_text_edits = Some(vec![edit]);
                item.filter_text = Some(own.to_string());
            }
            items.push(item);
        }
    }
    items
}

//! Rename: all uses of a name in all programs; of a field, those of records with the same fields.
//! The edit is tried first: afterwards every name must mean as before, so that no local name
//! captures another.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;

use lambada::{Occurrence, Symbol};
use lambada_source::{FileId, Span};
use lambada_surface::lexer::tokenize;
use lambada_surface::token::TokenKind;
use lsp_types::{
    PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, WorkspaceEdit,
};

use crate::analysis::Analysis;
use crate::answer::{Answer, Refusal};
use crate::edits::workspace_edit;
use crate::fields;
use crate::navigation::{Target, candidates, places_in};
use crate::uri::is_file;
use crate::world::World;

/// The range of the name at the cursor, if it can be renamed.
pub(crate) fn prepare(
    world: &mut World,
    params: &TextDocumentPositionParams,
) -> Answer<Option<PrepareRenameResponse>> {
    let Some((analysis, offset)) = world.at(params) else { return Ok(None) };
    let Some(one) = analysis.occurrence(offset).cloned() else { return Ok(None) };
    movable(world, &analysis, &one.symbol)?;
    let placeholder = analysis.text(one.span).to_string();
    let range = analysis.lines.of(one.span);
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder }))
}

/// Whether the name is the user's.
fn movable(world: &mut World, analysis: &Analysis, symbol: &Symbol) -> Answer<()> {
    let place = match symbol {
        Symbol::Local(place, _) | Symbol::Definition(place) => *place,
        Symbol::Type(place) | Symbol::Constructor(place) => *place,
        Symbol::Field(_) => return Ok(()),
        Symbol::Module(_) => return Err(Refusal::new("the name of a module is that of its file")),
        Symbol::Builtin(_) => return Err(Refusal::new("the language defines this name")),
    };
    match analysis.is_library(place.file) || world.owns(&analysis.path_of(place.file)) {
        true => Err(Refusal::new("the library defines this name")),
        false => Ok(()),
    }
}

/// The edits that rename the name at the cursor.
pub(crate) fn rename(world: &mut World, params: &RenameParams) -> Answer<Option<WorkspaceEdit>> {
    let Some((analysis, offset)) = world.at(&params.text_document_position) else {
        return Ok(None);
    };
    let Some(one) = analysis.occurrence(offset).cloned() else { return Ok(None) };
    movable(world, &analysis, &one.symbol)?;
    let (old, new) = (analysis.text(one.span).to_string(), params.new_name.trim());
    check_name(&one.symbol, &old, new)?;
    if old == new {
        return Ok(None);
    }
    if let Symbol::Field(_) = one.symbol {
        return field(world, &analysis, one.span, new).map(Some);
    }
    let (files, target) = match Target::of(&analysis, &one.symbol) {
        Some(target) => (candidates(world, &target, &old), Some(target)),
        None => (vec![analysis.clone()], None),
    };
    let mut renamed = Vec::new();
    for file in files {
        let places: Vec<Span> = match &target {
            Some(target) => places_in(&file, target).into_iter().map(|p| p.0).collect(),
            None => file.uses(&one.symbol).map(|one| one.span).collect(),
        };
        renamed.push(Renamed::new(file, places, new, false));
    }
    tried(world, &renamed, new).map(Some)
}

/// The edits that rename a field of all records that have the same fields as that at a place.
fn field(
    world: &mut World,
    analysis: &Rc<Analysis>,
    place: Span,
    new: &str,
) -> Answer<WorkspaceEdit> {
    let Some(record) = fields::record_at(analysis, place) else {
        return Err(Refusal::new("the type of this record is not known here"));
    };
    if record.iter().any(|known| **known == *new) {
        return Err(Refusal::new(format!("the record has a field `{new}` already")));
    }
    let old = analysis.text(place).to_string();
    let files = fields::connected(world, analysis);
    let renamed = files.into_iter().map(|file| {
        let places = fields::places_in(&file, &old, &record);
        Renamed::new(file, places, new, true)
    });
    tried(world, &renamed.collect::<Vec<_>>(), new)
}

/// The edits, unless they change the meaning of anything.
fn tried(world: &mut World, renamed: &[Renamed], new: &str) -> Answer<WorkspaceEdit> {
    check_meanings(world, renamed, new)?;
    let edits = renamed.iter().map(|one| (one.file.uri.clone(), one.text_edits()));
    Ok(workspace_edit(edits))
}

/// The new name must be one of the kind of the old one.
fn check_name(symbol: &Symbol, old: &str, new: &str) -> Answer<()> {
    let tokens = tokenize(new, FileId::default());
    let kinds: Vec<TokenKind> = tokens.tokens.iter().map(|token| token.kind).collect();
    let whole = tokens.problems.is_empty() && tokens.comments.is_empty() && kinds.len() == 2;
    let capital = old.starts_with(char::is_uppercase);
    let fits = match (kinds.first(), symbol) {
        (Some(TokenKind::Upper), Symbol::Constructor(_)) => true,
        (Some(TokenKind::Lower), Symbol::Constructor(_)) => false,
        (Some(TokenKind::Upper), Symbol::Local(..) | Symbol::Definition(_)) => capital,
        (Some(TokenKind::Lower), _) => new != "_",
        _ => false,
    };
    if whole && fits {
        return Ok(());
    }
    let begins = if matches!(symbol, Symbol::Constructor(_)) { "a capital" } else { "a small" };
    Err(Refusal::new(format!("`{new}` is no name here: it must begin with {begins} letter")))
}

/// A file with the places of a name, and the new name.
struct Renamed {
    file: Rc<Analysis>,
    /// The places, and whether each is the other of field and variable too: `{x}` becomes `{x =
    /// new}`, or `{new = x}` if the name is that of the field.
    places: Vec<(Span, bool)>,
    new: String,
    is_field: bool,
}

impl Renamed {
    fn new(file: Rc<Analysis>, places: Vec<Span>, new: &str, is_field: bool) -> Renamed {
        let is_other = |place: &Span| {
            let all = file.occurrences();
            let first = all.partition_point(|one| one.span < *place);
            let here = all[first..].iter().take_while(|one| one.span == *place);
            here.into_iter().any(|one| matches!(one.symbol, Symbol::Field(_)) != is_field)
        };
        let places = places.into_iter().map(|place| (place, is_other(&place))).collect();
        Renamed { file, places, new: new.to_string(), is_field }
    }

    fn text_at(&self, (span, is_other): (Span, bool)) -> String {
        match (is_other, self.is_field) {
            (true, true) => format!("{} = {}", self.new, self.file.text(span)),
            (true, false) => format!("{} = {}", self.file.text(span), self.new),
            (false, _) => self.new.clone(),
        }
    }

    fn text_edits(&self) -> Vec<TextEdit> {
        let edit =
            |place: &(Span, bool)| TextEdit::new(self.file.lines.of(place.0), self.text_at(*place));
        self.places.iter().map(edit).collect()
    }

    fn text(&self) -> String {
        let (mut text, mut at) = (String::new(), 0);
        for place in &self.places {
            text += &self.file.lines.text[at..place.0.start as usize];
            text += &self.text_at(*place);
            at = place.0.end as usize;
        }
        text + &self.file.lines.text[at..]
    }

    /// The start of a name after the edit.
    fn moved(&self, span: Span, symbol: &Symbol) -> usize {
        let mut shift = 0_isize;
        for (place, is_other) in &self.places {
            let old = (place.end - place.start) as isize;
            if place.start < span.start {
                shift += self.text_at((*place, *is_other)).len() as isize - old;
            } else if *place == span && *is_other && !matches!(symbol, Symbol::Field(_)) {
                let field = if self.is_field { self.new.len() as isize } else { old };
                shift += field + " = ".len() as isize;
            }
        }
        (span.start as isize + shift) as usize
    }
}

/// A name of a file: its start, and its definition.
type Meant = (usize, Option<(PathBuf, usize)>);

/// Refuses a new name that changes the meaning of any name.
fn check_meanings(world: &mut World, renamed: &[Renamed], new: &str) -> Answer<()> {
    let by_path: BTreeMap<&PathBuf, &Renamed> =
        renamed.iter().map(|one| (&one.file.path, one)).collect();
    let texts: HashMap<PathBuf, String> =
        renamed.iter().map(|one| (one.file.path.clone(), one.text())).collect();
    for one in renamed {
        // A buffer that is no file cannot be tried by its path.
        if !is_file(&one.file.path) && renamed.len() > 1 {
            continue;
        }
        let Some(after) = world.tried(&one.file.path, &texts) else { continue };
        let moved = |occurrence: &Occurrence| -> Meant {
            let defined = occurrence.symbol.place().map(|place| {
                let path = one.file.path_of(place.file);
                let start = by_path
                    .get(&path)
                    .map_or(place.start as usize, |file| file.moved(place, &occurrence.symbol));
                (path, start)
            });
            (one.moved(occurrence.span, &occurrence.symbol), defined)
        };
        let stays = |occurrence: &Occurrence| -> Meant {
            let place = occurrence.symbol.place();
            let defined = place.map(|place| (after.path_of(place.file), place.start as usize));
            (occurrence.span.start as usize, defined)
        };
        let mut before: Vec<Meant> = one.file.occurrences().iter().map(moved).collect();
        let mut now: Vec<Meant> = after.occurrences().iter().map(stays).collect();
        before.sort();
        now.sort();
        if before != now || (one.file.survey.is_sound() && !after.survey.is_sound()) {
            let changed = before.iter().zip(&now).find(|(a, b)| a != b).map(|(_, b)| b.0);
            let wrong = || after.survey.problems.iter().flat_map(|problem| &problem.labels).next();
            let own = |span: Span| (span.file == after.file()).then_some(span.start as usize);
            let changed = changed.or_else(|| own(wrong()?.span));
            let line = changed.map(|at| after.lines.position(at).line + 1);
            let place = line.map_or_else(String::new, |line| format!(", in line {line}"));
            let name = one.file.path.file_name().unwrap_or_default().to_string_lossy();
            let why = format!("`{new}` has another meaning already, in {name}{place}");
            return Err(Refusal::new(why));
        }
    }
    Ok(())
}

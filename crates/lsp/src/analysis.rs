//! A file as the editor sees it: its survey, its names, its lines.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lambada::{Occurrence, Survey, Symbol};
use lambada_source::{FileId, Span, stack};
use lambada_surface::ast::{Def, Item};
use lambada_surface::lexer::tokenize;
use lambada_surface::token::Tokens;
use lsp_types::Uri;

use crate::buffers::Buffers;
use crate::lines::Lines;

/// A file and all that is known of it.
pub(crate) struct Analysis {
    pub path: PathBuf,
    pub uri: Uri,
    pub lines: Lines,
    pub survey: Survey,
    /// The files that the survey has read, except for those of the library.
    pub reads: Vec<PathBuf>,
    occurrences: OnceCell<Vec<Occurrence>>,
    variables: OnceCell<Vec<(Span, String)>>,
    tokens: OnceCell<Tokens>,
    paths: RefCell<HashMap<FileId, PathBuf>>,
}

impl Analysis {
    pub fn new(path: PathBuf, uri: Uri, lines: Lines, survey: Survey) -> Analysis {
        Analysis {
            path,
            uri,
            lines,
            survey,
            reads: Vec::new(),
            occurrences: OnceCell::new(),
            variables: OnceCell::new(),
            tokens: OnceCell::new(),
            paths: RefCell::default(),
        }
    }

    /// The names of the file, in the order of their places.
    pub fn occurrences(&self) -> &[Occurrence] {
        self.occurrences.get_or_init(|| self.survey.occurrences())
    }

    /// The variables of patterns with their types, in the order of their places.
    pub fn variables(&self) -> &[(Span, String)] {
        self.variables.get_or_init(|| {
            let mut variables = stack::roomy(|| self.survey.variables());
            variables.sort();
            variables
        })
    }

    /// The tokens of the file.
    pub fn tokens(&self) -> &Tokens {
        self.tokens.get_or_init(|| tokenize(&self.lines.text, self.survey.file))
    }

    pub fn file(&self) -> FileId {
        self.survey.file
    }

    /// The span of some bytes of this file.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file(), start, end)
    }

    /// The name at an offset: the one that it is in, or else the one that ends there.
    pub fn occurrence(&self, offset: usize) -> Option<&Occurrence> {
        let offset = offset as u32;
        let touches = |one: &&Occurrence| one.span.start <= offset && offset <= one.span.end;
        let mut touched = self.occurrences().iter().filter(touches);
        let first = touched.next()?;
        Some(
            touched.find(|one| offset == one.span.start && one.span != first.span).unwrap_or(first),
        )
    }

    /// All names with one meaning.
    pub fn uses<'a>(&'a self, symbol: &'a Symbol) -> impl Iterator<Item = &'a Occurrence> {
        self.occurrences().iter().filter(move |one| one.symbol == *symbol)
    }

    /// The top-level definition around an offset.
    pub fn definition_around(&self, offset: usize) -> Option<&Def> {
        let offset = offset as u32;
        let around = |def: &&Def| def.span.start <= offset && offset <= def.span.end;
        self.definitions().find(around)
    }

    pub fn definitions(&self) -> impl Iterator<Item = &Def> {
        self.survey.module.items.iter().filter_map(|item| match item {
            Item::Def(def) => Some(def),
            Item::Type(_) | Item::Import(_) => None,
        })
    }

    /// The type of a variable: at its binder, or else at its first use.
    pub fn type_of(&self, symbol: &Symbol) -> Option<String> {
        let place = symbol.place()?;
        stack::roomy(|| {
            let known = |(at, _): &(Span, String)| *at == place;
            let bound = self.variables().iter().find(|one| known(one)).map(|(_, ty)| ty.clone());
            let uses = || self.uses(symbol).filter(|one| !one.binds);
            bound
                .or_else(|| uses().find_map(|one| self.survey.type_at(one.span)))
                .filter(|ty| ty != "_")
        })
    }

    /// The path of a file of the survey; of the library, the name of the source.
    pub fn path_of(&self, file: FileId) -> PathBuf {
        if file == self.file() {
            return self.path.clone();
        }
        let path = || {
            let name = Path::new(&self.survey.sources.get(file).name);
            if self.is_library(file) { name.to_path_buf() } else { Buffers::settled(name) }
        };
        self.paths.borrow_mut().entry(file).or_insert_with(path).clone()
    }

    /// Whether the file is a source of the library.
    pub fn is_library(&self, file: FileId) -> bool {
        file != self.file() && self.survey.sources.get(file).name.starts_with('<')
    }

    /// The text of a span of any file.
    pub fn text(&self, span: Span) -> &str {
        self.survey.sources.text(span)
    }
}

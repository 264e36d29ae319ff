//! The documents that are open, the files around them, and their analyses, made when asked for.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use lambada::{Files, Options, Session};
use lambada_source::Span;
use lsp_types::{Location, TextDocumentContentChangeEvent, TextDocumentPositionParams, Uri};

use crate::analysis::Analysis;
use crate::buffers::{Buffers, Overlay};
use crate::library::Library;
use crate::lines::{Encoding, Lines};
use crate::uri::{is_file, path_of, uri_of};

/// Limits for the search for programs in the folders of a workspace.
const MOST_FILES: usize = 2000;
const MOST_ENTRIES: usize = 50_000;

/// An open document.
struct Document {
    uri: Uri,
    version: i32,
    lines: Lines,
    analysis: Option<Rc<Analysis>>,
    /// Whether the client has the problems of the current analysis.
    published: bool,
}

/// Everything that requests ask about.
pub(crate) struct World {
    pub buffers: Arc<Buffers>,
    session: Session,
    options: Options,
    pub encoding: Encoding,
    /// The folders of the workspace.
    pub roots: Vec<PathBuf>,
    documents: BTreeMap<PathBuf, Document>,
    /// Analyses of files that are not open, until anything changes.
    closed: HashMap<PathBuf, Rc<Analysis>>,
    library: Option<Library>,
}

impl World {
    pub fn new(files: Arc<dyn Files>, options: Options) -> World {
        let buffers = Arc::new(Buffers::over(files));
        World {
            session: Session::with(buffers.clone(), options.clone()),
            buffers,
            options,
            encoding: Encoding::default(),
            roots: Vec::new(),
            documents: BTreeMap::new(),
            closed: HashMap::new(),
            library: None,
        }
    }

    pub fn library(&mut self) -> &mut Library {
        self.library.get_or_insert_with(Library::new)
    }

    pub fn open(&mut self, uri: Uri, version: i32, text: &str) {
        let path = Buffers::settled(&path_of(&uri));
        let lines = Lines::new(text.into(), self.encoding);
        self.buffers.set(&path, lines.text.clone());
        let document = Document { uri, version, lines, analysis: None, published: false };
        self.documents.insert(path, document);
        self.forget_all();
    }

    pub fn close(&mut self, uri: &Uri) {
        let path = Buffers::settled(&path_of(uri));
        self.buffers.remove(&path);
        self.documents.remove(&path);
        self.forget_all();
    }

    /// Applies the edits of a client, one after the other.
    pub fn change(&mut self, uri: &Uri, version: i32, edits: Vec<TextDocumentContentChangeEvent>) {
        let path = Buffers::settled(&path_of(uri));
        let Some(document) = self.documents.get_mut(&path) else { return };
        for edit in edits {
            let text: Arc<str> = match edit.range {
                None => edit.text.into(),
                Some(range) => {
                    let start = document.lines.offset(range.start);
                    let end = document.lines.offset(range.end).max(start);
                    let old = &document.lines.text;
                    format!("{}{}{}", &old[..start], edit.text, &old[end..]).into()
                }
            };
            document.lines = Lines::new(text, self.encoding);
        }
        document.version = version;
        self.buffers.set(&path, document.lines.text.clone());
        self.forget(&path);
    }

    /// Forgets the analyses that may have read a file.
    fn forget(&mut self, path: &Path) {
        for (own, document) in &mut self.documents {
            let reads = |analysis: &Rc<Analysis>| analysis.reads.iter().any(|read| read == path);
            if own == path || document.analysis.as_ref().is_some_and(reads) {
                (document.analysis, document.published) = (None, false);
            }
        }
        self.closed.clear();
    }

    /// Forgets all analyses, because a file has appeared, changed or vanished.
    pub fn forget_all(&mut self) {
        for document in self.documents.values_mut() {
            (document.analysis, document.published) = (None, false);
        }
        self.closed.clear();
    }

    /// An open document whose problems the client does not know yet: its path and version.
    pub fn unpublished(&mut self) -> Option<(PathBuf, Uri, i32)> {
        let (path, document) = self.documents.iter_mut().find(|(_, one)| !one.published)?;
        document.published = true;
        Some((path.clone(), document.uri.clone(), document.version))
    }

    /// The analysis of a file, open or not.
    pub fn analysis(&mut self, path: &Path) -> Option<Rc<Analysis>> {
        let open = self.documents.get(path);
        let known = open.map_or_else(|| self.closed.get(path), |one| one.analysis.as_ref());
        if let Some(known) = known {
            return Some(known.clone());
        }
        let survey = self.session.survey(path).ok()?;
        let (uri, lines) = match open {
            Some(document) => (document.uri.clone(), document.lines.clone()),
            None => {
                let text = survey.sources.get(survey.file).text.clone();
                (uri_of(path), Lines::new(text, self.encoding))
            }
        };
        let files = survey.sources.files().filter(|file| !file.name.starts_with('<'));
        let reads = files.map(|file| Buffers::settled(Path::new(&file.name))).collect();
        let mut analysis = Analysis::new(path.to_path_buf(), uri, lines, survey);
        analysis.reads = reads;
        let analysis = Rc::new(analysis);
        match self.documents.get_mut(path) {
            Some(document) => document.analysis = Some(analysis.clone()),
            None => _ = self.closed.insert(path.to_path_buf(), analysis.clone()),
        }
        Some(analysis)
    }

    /// The analysis of a document.
    pub fn of(&mut self, uri: &Uri) -> Option<Rc<Analysis>> {
        self.analysis(&Buffers::settled(&path_of(uri)))
    }

    /// The analysis of a document, and a place in it.
    pub fn at(&mut self, place: &TextDocumentPositionParams) -> Option<(Rc<Analysis>, usize)> {
        let analysis = self.of(&place.text_document.uri)?;
        let offset = analysis.lines.offset(place.position);
        Some((analysis, offset))
    }

    /// The analysis of other texts in the place of some files, for a moment.
    pub fn tried(&self, path: &Path, texts: &HashMap<PathBuf, String>) -> Option<Analysis> {
        let overlay = Overlay { base: self.buffers.clone(), texts: texts.clone() };
        let mut session = Session::with(Arc::new(overlay), self.options.clone());
        let survey = session.survey(path).ok()?;
        let lines = Lines::new(survey.sources.get(survey.file).text.clone(), self.encoding);
        Some(Analysis::new(path.to_path_buf(), uri_of(path), lines, survey))
    }

    /// A text in canonical layout, unless it is broken.
    pub fn formatted(&mut self, text: &str) -> Option<String> {
        self.session.format("<document>", text).ok()
    }

    /// A span of a survey, as a place for the client.
    pub fn location(&mut self, analysis: &Analysis, span: Span) -> Option<Location> {
        if span.file == analysis.file() {
            return Some(Location::new(analysis.uri.clone(), analysis.lines.of(span)));
        }
        let source = analysis.survey.sources.get(span.file);
        let path = match source.name.starts_with('<') {
            true => self.library().path(&source.name)?,
            false => analysis.path_of(span.file),
        };
        let range = Lines::new(source.text.clone(), self.encoding).of(span);
        Some(Location::new(self.uri(&path), range))
    }

    /// The address of a file, as the client writes it if the file is open.
    pub fn uri(&self, path: &Path) -> Uri {
        self.documents.get(path).map_or_else(|| uri_of(path), |document| document.uri.clone())
    }

    /// All programs of the workspace: open documents, and files in the folders of the workspace or
    /// beside the open documents.
    pub fn programs(&self) -> Vec<PathBuf> {
        let own = |path: &&PathBuf| !self.owns(path);
        let open: Vec<PathBuf> = self.documents.keys().filter(own).cloned().collect();
        let files = open.iter().filter(|path| is_file(path));
        let beside = files.filter_map(|path| path.parent());
        let lonely =
            beside.filter(|folder| !self.roots.iter().any(|root| folder.starts_with(root)));
        let mut found = open.clone();
        let mut entries = 0;
        let lonely: Vec<PathBuf> = lonely.map(Path::to_path_buf).collect();
        for folder in &lonely {
            programs_in(folder, false, &mut entries, &mut found);
        }
        for root in &self.roots {
            programs_in(root, true, &mut entries, &mut found);
        }
        found.sort();
        found.dedup();
        found
    }

    /// Whether the file is the server's own copy of a module of the library.
    pub fn owns(&self, path: &Path) -> bool {
        self.library.as_ref().is_some_and(|library| library.owns(path))
    }
}

/// Folders without programs of the user.
fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || name == "target" || name == "node_modules"
}

fn programs_in(folder: &Path, deep: bool, entries: &mut usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        *entries += 1;
        if *entries > MOST_ENTRIES || found.len() > MOST_FILES {
            return;
        }
        let path = entry.path();
        // Links may lead in circles.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && deep && !is_skipped(&entry.file_name().to_string_lossy()) {
            programs_in(&path, deep, entries, found);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "lam") {
            found.push(Buffers::settled(&path));
        }
    }
}

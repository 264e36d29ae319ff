//! A session: source files, checked units, and reports. User interfaces only translate to and from
//! a session; they contain no logic.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use lambada_core::data::{Data, Style};
use lambada_core::{DefId, Program};
use lambada_elaborate::{
    Checked, Definition, Input, import_key, library_module, messages as elaboration,
};
use lambada_source::stack::{self, Deep};
use lambada_source::{
    Failure, FileId, Problem, Severity, Site, Sources, Span, render, render_failure,
};
use lambada_surface::ast::{Item, Module};

use crate::data::STANDARD_INPUT;
use crate::files::{Disk, Files};
use crate::library::{MODULES, first_sources, module_text, module_with, prelude};
use crate::messages::program as messages;
use crate::operators::Operator;
use crate::options::Options;
use crate::passes::{ELABORATE, timed};

/// All files read so far, the file system, and the options.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) sources: Sources,
    pub(crate) files: Arc<dyn Files>,
    /// Whether `/` of ints is a floor division, as in programs that are upgraded.
    pub(crate) divides_ints: bool,
    options: Options,
}

impl Default for Session {
    fn default() -> Session {
        Session::new()
    }
}

/// A checked file.
pub struct Unit {
    /// The file.
    pub(crate) file: FileId,
    /// Its syntax tree.
    pub module: Deep<Module>,
    /// The syntax trees of all transitive imports, under their [`import_key`]s.
    pub imports: Vec<(Rc<str>, Deep<Module>)>,
    /// The prelude.
    pub(crate) prelude: Rc<Deep<Module>>,
    /// Its definitions, typed.
    pub checked: Deep<Checked>,
    /// Warnings.
    pub warnings: Vec<Problem>,
    /// The files, for positions in messages.
    pub(crate) sources: Sources,
    /// The options of the compiler.
    pub(crate) options: Options,
}

/// A text to check.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    /// Offset of the user's own text.
    pub(crate) shown_from: usize,
}

impl<'a> Text<'a> {
    /// A text that is entirely the user's.
    pub(crate) fn of(name: &'a str, text: &'a str) -> Text<'a> {
        Text { name, text, shown_from: 0 }
    }
}

impl Session {
    /// A session with the files of the system and default options.
    pub fn new() -> Session {
        Session::with(Arc::new(Disk), Options::default())
    }

    /// A session with other files and options.
    pub fn with(files: Arc<dyn Files>, options: Options) -> Session {
        Session { sources: first_sources(), files, divides_ints: false, options }
    }

    /// The options of the compiler.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Reads and checks a file and all that it imports; `-` is standard input. All problems are
    /// reported at once.
    pub fn load(&mut self, path: &Path) -> Result<Unit, Vec<Problem>> {
        let text = self.files.read(path).map_err(|e| vec![messages::unreadable(path, &e)])?;
        if path == Path::new(STANDARD_INPUT) {
            return self.load_text("<stdin>", &text, None);
        }
        let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let name = path.display().to_string();
        let canonical = self.files.canonical(path).ok();
        timed(&ELABORATE, || self.load_from(Text::of(&name, &text), &parent, canonical))
    }

    /// Checks a text that is not a file; imports are relative to `folder`.
    pub fn load_text(
        &mut self,
        name: &str,
        text: &str,
        folder: Option<PathBuf>,
    ) -> Result<Unit, Vec<Problem>> {
        let folder = folder.unwrap_or_default();
        timed(&ELABORATE, || self.load_from(Text::of(name, text), &folder, None))
    }

    /// Checks a text that may import a checked file by the path `path`.
    pub(crate) fn load_beside(
        &mut self,
        unit: &Unit,
        path: &str,
        text: &str,
    ) -> Result<Unit, Vec<Problem>> {
        let own = (Rc::from(path), (*unit.module).clone());
        self.load_with(&format!("{path} with its data"), text, unit, vec![own])
    }

    /// Checks a text with the imports of a checked file.
    pub(crate) fn load_among(
        &mut self,
        unit: &Unit,
        name: &str,
        text: &str,
    ) -> Result<Unit, Vec<Problem>> {
        self.load_with(name, text, unit, Vec::new())
    }

    fn load_with(
        &mut self,
        name: &str,
        text: &str,
        unit: &Unit,
        more: Vec<(Rc<str>, Module)>,
    ) -> Result<Unit, Vec<Problem>> {
        stack::roomy(|| {
            let loaded = unit.imports.iter().map(|(key, module)| (key.clone(), (**module).clone()));
            let loaded = loaded.chain(more).collect();
            match self.elaborated_with(Text::of(name, text), Path::new(""), None, loaded) {
                (_, problems) if problems.iter().any(is_error) => Err(problems),
                (unit, warnings) => Ok(Unit { warnings, ..unit }),
            }
        })
    }

    pub(crate) fn load_from(
        &mut self,
        text: Text,
        folder: &Path,
        path: Option<PathBuf>,
    ) -> Result<Unit, Vec<Problem>> {
        stack::roomy(|| match self.elaborated(text, folder, path) {
            (_, problems) if problems.iter().any(is_error) => Err(problems),
            (unit, warnings) => Ok(Unit { warnings, ..unit }),
        })
    }

    /// Elaborates a text as far as possible, and returns all problems.
    pub(crate) fn elaborated(
        &mut self,
        text: Text,
        folder: &Path,
        path: Option<PathBuf>,
    ) -> (Unit, Vec<Problem>) {
        self.sources.begin();
        self.elaborated_with(text, folder, path, Vec::new())
    }

    /// As [`elaborated`](Session::elaborated); the files in `loaded`, under their [`import_key`]s,
    /// need not be read.
    fn elaborated_with(
        &mut self,
        Text { name, text, shown_from }: Text,
        folder: &Path,
        path: Option<PathBuf>,
        loaded: Vec<(Rc<str>, Module)>,
    ) -> (Unit, Vec<Problem>) {
        let prelude = prelude();
        let file = self.sources.add(name, text);
        self.sources.show_from(file, shown_from);
        let (module, problems) = lambada_surface::parse(text, file);
        let modules = MODULES.map(|(module, _)| module);
        let problems = problems.into_iter().map(|p| messages::library_path(p, text, &modules));
        let problems = problems.collect();
        let mut loader = Loader {
            sources: &mut self.sources,
            files: &*self.files,
            folder,
            loaded,
            open: path.into_iter().collect(),
            problems,
        };
        loader.imports(&module, None);
        let Loader { loaded: imports, problems: found, .. } = loader;
        let mut problems = found;
        let broken = broken_definitions(&module, &problems);
        let files = imports.iter().map(|(key, module)| (key.clone(), module)).collect();
        let (checked, found) = lambada_elaborate::elaborate(&Input {
            prelude: &prelude,
            imports: files,
            main: &module,
            whole_library: false,
            divides_ints: self.divides_ints,
        });
        // A problem outside of definitions may have dropped an item, so its users are not reported.
        let of_broken = |problem: &Problem| {
            let place = problem.labels.first().map(|label| label.span);
            broken.iter().flatten().any(|def| place.is_some_and(|place| within(*def, place)))
        };
        let found = found.into_iter().filter(|problem| broken.is_some() && !of_broken(problem));
        problems.extend(found.map(|problem| located(problem, &self.sources, &module, file)));
        let imports = imports.into_iter().map(|(key, module)| (key, module.into())).collect();
        let unit = Unit {
            file,
            module: module.into(),
            imports,
            prelude,
            checked: checked.into(),
            warnings: Vec::new(),
            sources: self.sources.of_current(),
            options: self.options.clone(),
        };
        (unit, problems)
    }

    /// Adds a text in another language, for the places in messages.
    pub fn add_source(&mut self, name: &str, text: &str) -> FileId {
        self.sources.begin();
        self.sources.add(name, text)
    }

    /// The files.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Renders problems as text.
    pub fn render(&self, problems: &[Problem], color: bool) -> String {
        render(&self.sources, problems, color)
    }

    /// The line that `inspect` prints: place, message and value.
    pub fn inspected(&self, site: &Site, value: &Data) -> String {
        let file = &self.sources.get(site.span.file).name;
        let (line, column) = self.sources.line_column(site.span);
        let place = format!("{file}:{line}:{column}:");
        let style = Style { reals: self.options.precision, ..Style::default() };
        let value = value.show(style);
        let begins = if value.contains('\n') { "\n" } else { " " };
        match (&*site.message, begins) {
            ("", _) => format!("{place}{begins}{value}\n"),
            (name, _) => format!("{place} {name} ={begins}{value}\n"),
        }
    }

    /// Renders a run-time failure as text.
    pub fn render_failure(&self, failure: &Failure, color: bool) -> String {
        render_failure(&self.sources, failure, color)
    }
}

/// Reads the files that a program imports, each once.
struct Loader<'a> {
    sources: &'a mut Sources,
    files: &'a dyn Files,
    /// Folder of the program. Import paths are relative to it, or to the importing file.
    folder: &'a Path,
    loaded: Vec<(Rc<str>, Module)>,
    /// The stack of files whose imports are being read, starting at the program.
    open: Vec<PathBuf>,
    problems: Vec<Problem>,
}

impl Loader<'_> {
    /// Reads the imports of a module; `from` is its key if it is itself imported.
    fn imports(&mut self, module: &Module, from: Option<&str>) {
        for item in &module.items {
            if let Item::Import(import) = item {
                let key = import_key(from, &import.path);
                if self.loaded.iter().all(|(known, _)| **known != *key) {
                    self.import(&key, &import.path, import.span);
                }
            }
        }
    }

    fn import(&mut self, key: &str, path: &str, span: Span) {
        match library_module(key) {
            Some(name) => self.import_module(key, name, span),
            None => self.import_file(key, path, span),
        }
    }

    /// Reads a module of the library. A test ensures that the imports of these modules are acyclic.
    fn import_module(&mut self, key: &str, name: &str, span: Span) {
        let Some(text) = module_text(name) else {
            let known = MODULES.map(|(module, _)| module);
            let own = self.files.is_file(&self.folder.join(format!("std/{name}.lam")));
            let own = own.then(|| format!("./std/{name}"));
            let place = self.path(span);
            let problem = elaboration::unknown_module(name, span, &known, own.as_deref(), place);
            return self.problems.push(problem);
        };
        self.read(key, key, text);
    }

    /// The path of an import between its quotes.
    fn path(&self, import: Span) -> Option<Span> {
        let text = self.sources.text(import);
        let (start, end) = (text.find('"')?, text.rfind('"')?);
        let at = import.start as usize;
        Some(Span::new(import.file, at + start + 1, at + end))
    }

    /// Parses a text, and reads its imports first.
    fn read(&mut self, key: &str, name: &str, text: &str) {
        let id: FileId = self.sources.add(name, text);
        let (module, found) = lambada_surface::parse(text, id);
        self.problems.extend(found);
        self.imports(&module, Some(key));
        self.loaded.push((key.into(), module));
    }

    fn import_file(&mut self, key: &str, path: &str, span: Span) {
        let file = self.folder.join(format!("{key}.lam"));
        let text = self.files.read(&file).and_then(|text| Ok((text, self.files.canonical(&file)?)));
        let (text, place) = match text {
            Ok(found) => found,
            Err(error) => {
                let why = format!("`{}`: {error}", file.display());
                let place = self.path(span).filter(|_| module_text(path).is_some());
                return self.problems.push(elaboration::import_not_found(path, span, &why, place));
            }
        };
        if let Some(first) = self.open.iter().position(|open| *open == place) {
            let name = |file: &PathBuf| {
                file.file_name().unwrap_or_default().to_string_lossy().into_owned()
            };
            let files: Vec<String> = self.open[first..].iter().map(name).collect();
            self.problems.push(elaboration::cyclic_import(path, span, &files));
            return;
        }
        self.open.push(place);
        self.read(key, &file.display().to_string(), &text);
        self.open.pop();
    }
}

impl Unit {
    /// The definitions of the file.
    pub fn definitions(&self) -> Vec<Definition> {
        stack::roomy(|| self.checked.definitions())
    }

    /// The program of a definition, and its entry.
    pub fn definition(&self, entry: &str) -> Result<(Program, DefId), Vec<Problem>> {
        let mut program = stack::roomy(|| self.checked.program(entry))?;
        program.precision = self.options.precision;
        let id = DefId((program.defs.len() - 1) as u32);
        Ok((program, id))
    }
}

/// Replaces tuples of derivatives by records with the names of the parameters; for a Hessian, in
/// both directions.
pub fn label(operator: Operator, names: &[Rc<str>], derivative: Data) -> Data {
    match (by_name(names, derivative), operator) {
        (Data::Record(blocks), Operator::Hessian) if names.len() > 1 => Data::Record(
            blocks.into_iter().map(|(name, row)| (name, by_name(names, row))).collect(),
        ),
        (derivative, _) => derivative,
    }
}

fn by_name(names: &[Rc<str>], derivative: Data) -> Data {
    match derivative {
        Data::Tuple(items) if names.len() > 1 && items.len() == names.len() => {
            Data::Record(names.iter().map(|name| Arc::from(&**name)).zip(items).collect())
        }
        single => single,
    }
}

/// The definitions that contain the problems; the other definitions are still checked. `None` if a
/// problem lies outside of definitions, because an item that they need may have been dropped.
fn broken_definitions(module: &Module, problems: &[Problem]) -> Option<Vec<Span>> {
    let definition = |problem: &Problem| {
        let place = problem.labels.first()?.span;
        module.items.iter().find_map(|item| match item {
            Item::Def(def) if within(def.span, place) => Some(def.span),
            Item::Def(_) | Item::Type(_) | Item::Import(_) => None,
        })
    };
    problems.iter().filter(|problem| is_error(problem)).map(definition).collect()
}

/// Adds a hint to an unknown name that a module of the library defines. `main` is the module of the
/// program, the `file`.
fn located(problem: Problem, sources: &Sources, main: &Module, file: FileId) -> Problem {
    let place = problem.labels.first().map(|label| label.span);
    let Some(place) = place.filter(|_| elaboration::is_plain_unknown(&problem)) else {
        return problem;
    };
    let name = sources.text(place);
    match module_with(name).filter(|_| !name.starts_with('_')) {
        Some(module) => {
            let source = sources.get(file);
            let own = place.file == file && source.shown_from == 0;
            let imports = own.then(|| place_for_import(main, file, &source.text));
            messages::in_library(problem, module, name, imports)
        }
        None => problem,
    }
}

/// The place of one more import, and the line breaks around it: behind the last import, or
/// before the first item with its comments.
pub(crate) fn place_for_import(
    module: &Module,
    file: FileId,
    text: &str,
) -> (Span, [&'static str; 2]) {
    let mut imports = module.items.iter().filter_map(|item| match item {
        Item::Import(import) => Some(import.span.end()),
        Item::Def(_) | Item::Type(_) => None,
    });
    if let Some(last) = imports.next_back() {
        return (last, ["\n", ""]);
    }
    // The comment of the file ends with an empty line.
    let start = module.doc.as_ref().and_then(|_| text.find("\n\n")).map_or(0, |k| k + 2);
    (Span::new(file, start, start), ["", "\n\n"])
}

fn within(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

pub(crate) fn is_error(problem: &Problem) -> bool {
    problem.severity == Severity::Error
}

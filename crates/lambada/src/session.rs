//! A session: source files, what is known of them, and the reports for the user. Shells translate to and from it and hold no logic.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use lambada_core::data::Data;
use lambada_core::{DefId, Program};
use lambada_elaborate::{Checked, Definition, Input};
use lambada_source::{Failure, FileId, Problem, Severity, Sources, render, render_failure, suggest};
use lambada_surface::ast::{Item, Module};

use crate::data::problems::quoted;
use crate::prelude::PRELUDE;

/// All files read so far.
#[derive(Debug, Default)]
pub struct Session {
    sources: Sources,
}

/// A checked file.
pub struct Unit {
    /// Its syntax tree.
    pub module: Module,
    /// Its definitions, typed.
    pub checked: Checked,
    /// What is doubtful but not wrong.
    pub warnings: Vec<Problem>,
}

impl Session {
    /// No files.
    pub fn new() -> Session {
        Session::default()
    }

    /// Reads and checks a file and all that it imports. All problems are reported at once.
    pub fn load(&mut self, path: &Path) -> Result<Unit, Vec<Problem>> {
        let text = std::fs::read_to_string(path).map_err(|e| vec![unreadable(path, &e)])?;
        self.load_text(&path.display().to_string(), &text, path.parent().map(Path::to_path_buf))
    }

    /// Checks a text that is not a file; `folder` is where its imports are looked for.
    pub fn load_text(&mut self, name: &str, text: &str, folder: Option<PathBuf>) -> Result<Unit, Vec<Problem>> {
        let prelude_file = self.sources.add("<prelude>", PRELUDE);
        let (prelude, prelude_problems) = lambada_surface::parse(PRELUDE, prelude_file);
        debug_assert!(prelude_problems.is_empty(), "the prelude does not parse: {prelude_problems:?}");
        let file = self.sources.add(name, text);
        let (module, mut problems) = lambada_surface::parse(text, file);
        let imports = self.imports(&module, folder.as_deref(), &mut problems);
        if problems.iter().any(is_error) {
            return Err(problems);
        }
        let imports = imports.iter().map(|(name, module)| (name.clone(), module)).collect();
        let (checked, found) = lambada_elaborate::elaborate(&Input { prelude: &prelude, imports, main: &module });
        problems.extend(found);
        if problems.iter().any(is_error) {
            return Err(problems);
        }
        Ok(Unit { module, checked, warnings: problems })
    }

    fn imports(&mut self, module: &Module, folder: Option<&Path>, problems: &mut Vec<Problem>) -> Vec<(Rc<str>, Module)> {
        let mut modules = Vec::new();
        for item in &module.items {
            let Item::Import { path, span } = item else { continue };
            let file = folder.unwrap_or(Path::new(".")).join(&**path).with_extension("lam");
            match std::fs::read_to_string(&file) {
                Ok(text) => {
                    let id: FileId = self.sources.add(file.display().to_string(), text.as_str());
                    let (imported, found) = lambada_surface::parse(&text, id);
                    problems.extend(found);
                    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    modules.push((Rc::from(name), imported));
                }
                Err(e) => problems.push(Problem::error(
                    "E0112",
                    format!("cannot read the import `{path}`"),
                    *span,
                    format!("`{}`: {e}", file.display()),
                )),
            }
        }
        modules
    }

    /// The files.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Problems as a person reads them.
    pub fn render(&self, problems: &[Problem], color: bool) -> String {
        render(&self.sources, problems, color)
    }

    /// A run-time failure as a person reads it.
    pub fn render_failure(&self, failure: &Failure, color: bool) -> String {
        render_failure(&self.sources, failure, color)
    }
}

impl Unit {
    /// What the file defines.
    pub fn definitions(&self) -> Vec<Definition> {
        self.checked.definitions()
    }

    /// The program of a definition, and its entry.
    pub fn definition(&self, entry: &str) -> Result<(Program, DefId), Vec<Problem>> {
        let definitions = self.definitions();
        if !definitions.iter().any(|d| &*d.name == entry) {
            let names: Vec<&str> = definitions.iter().map(|d| &*d.name).collect();
            return Err(vec![no_definition(entry, &names)]);
        }
        let program = self.checked.program(entry)?;
        let id = DefId((program.defs.len() - 1) as u32);
        Ok((program, id))
    }
}

/// Where a result is a tuple of cotangents for several parameters, the names of the parameters, to label it.
pub fn label_gradient(names: &[Rc<str>], gradient: Data) -> Data {
    match gradient {
        Data::Tuple(items) if names.len() > 1 && items.len() == names.len() => Data::Record(names.iter().cloned().zip(items).collect()),
        single => single,
    }
}

fn is_error(problem: &Problem) -> bool {
    problem.severity == Severity::Error
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    let problem = Problem::general("E0113", format!("cannot read `{}`: {error}", path.display()));
    let beside = path.parent().unwrap_or(Path::new(""));
    let folder = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
    let wanted = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let siblings: Vec<String> = std::fs::read_dir(folder)
        .map(|dir| dir.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).filter(|n| n.ends_with(".lam")).collect())
        .unwrap_or_default();
    match suggest(&wanted, siblings.iter().map(String::as_str)) {
        Some(near) => problem.hint(format!("did you mean `{}`?", beside.join(near).display())),
        None => problem,
    }
}

fn no_definition(entry: &str, known: &[&str]) -> Problem {
    let problem = Problem::general("E0114", format!("the file has no definition `{entry}`"));
    match suggest(entry, known.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => problem.hint("it defines nothing"),
        None => problem.hint(format!("it defines {}", quoted(known))),
    }
}

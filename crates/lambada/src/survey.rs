//! Analysis of a file that may contain errors.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use lambada_elaborate::{Checked, Definition, Names};
use lambada_source::stack::{self, Deep};
use lambada_source::{Edit, FileId, Problem, Sources, Span};
use lambada_surface::ast::{Item, Module};

use crate::messages::program as messages;
use crate::session::{Session, Text, is_error, place_for_import};

/// Analysis of a file that may contain errors.
pub struct Survey {
    /// Its syntax tree. Unparsable parts are `Error` nodes, and the body of a definition with such
    /// a part is `Broken`.
    pub module: Deep<Module>,
    /// Its definitions with their types. A definition with a problem has its declared type.
    pub definitions: Vec<Definition>,
    /// Errors and warnings.
    pub problems: Vec<Problem>,
    /// The file.
    pub file: FileId,
    /// The file, its imports and the prelude, for the places of names and problems.
    pub sources: Sources,
    pub(crate) imports: Vec<(Rc<str>, Deep<Module>)>,
    pub(crate) prelude: Rc<Deep<Module>>,
    pub(crate) checked: Deep<Checked>,
}

impl Survey {
    /// Whether the file has no errors and can be loaded.
    pub fn is_sound(&self) -> bool {
        !self.problems.iter().any(is_error)
    }

    /// A definition as parsed, in canonical layout, with `_` in place of unparsable parts; `None`
    /// if the file has no definition `name`.
    pub fn written(&self, name: &str) -> Option<String> {
        let is_meant = |item: &&Item| matches!(item, Item::Def(def) if &*def.name.text == name);
        let item = self.module.items.iter().find(is_meant)?;
        let module = Module { doc: None, items: Vec::new(), written: None };
        Some(stack::roomy(|| lambada_surface::print_item(&module, item)))
    }

    /// The names of all modules; [`Survey::module`] has the trees by the same numbers.
    pub fn names(&self) -> &Names {
        self.checked.names()
    }

    /// The syntax tree of a module: the prelude, an import, or last the file itself.
    pub fn tree(&self, module: usize) -> &Module {
        match module.checked_sub(1) {
            None => &self.prelude,
            Some(k) => self.imports.get(k).map_or(&*self.module, |(_, module)| module),
        }
    }

    /// The edit that imports one more file or module.
    pub fn import_edit(&self, path: &str) -> Edit {
        let text = &self.sources.get(self.file).text;
        let (span, [before, behind]) = place_for_import(&self.module, self.file, text);
        Edit { span, text: format!("{before}import \"{path}\"{behind}") }
    }

    /// The type of the expression or the pattern at exactly this place.
    pub fn type_at(&self, place: Span) -> Option<String> {
        self.checked.type_at(place)
    }

    /// The type of a definition of any module whose name stands at this place, if the program uses
    /// it.
    pub fn scheme_at(&self, name: Span) -> Option<String> {
        self.checked.scheme_at(name)
    }

    /// The type of the outermost local function inside of a place.
    pub fn local_function(&self, place: Span) -> Option<String> {
        self.checked.local_function(place)
    }

    /// The type of the shortest expression that ends at this place.
    pub fn type_before(&self, place: Span) -> Option<String> {
        self.checked.type_before(place)
    }

    /// The fields, with their types, of the record whose expression ends at this place.
    pub fn fields_before(&self, place: Span) -> Option<Vec<(Rc<str>, String)>> {
        self.checked.fields_before(place)
    }

    /// The variables that patterns bind, with their types, in no order.
    pub fn variables(&self) -> Vec<(Span, String)> {
        self.checked.variables()
    }
}

impl Session {
    /// Analyzes a file. Fails only if the file cannot be read.
    pub fn survey(&mut self, path: &Path) -> Result<Survey, Vec<Problem>> {
        let text = self.files.read(path).map_err(|e| vec![messages::unreadable(path, &e)])?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let canonical = self.files.canonical(path).ok();
        Ok(self.surveyed(&path.display().to_string(), &text, &folder, canonical))
    }

    /// Analyzes a text that is not a file; imports are relative to `folder`.
    pub fn survey_text(&mut self, name: &str, text: &str, folder: Option<PathBuf>) -> Survey {
        self.surveyed(name, text, &folder.unwrap_or_default(), None)
    }

    fn surveyed(&mut self, name: &str, text: &str, folder: &Path, path: Option<PathBuf>) -> Survey {
        stack::roomy(|| {
            let (unit, problems) = self.elaborated(Text::of(name, text), folder, path);
            let definitions = unit.checked.definitions();
            Survey {
                module: unit.module,
                definitions,
                problems,
                file: unit.file,
                sources: unit.sources,
                imports: unit.imports,
                prelude: unit.prelude,
                checked: unit.checked,
            }
        })
    }
}

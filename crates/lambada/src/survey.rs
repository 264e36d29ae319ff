//! Analysis of a file that may contain errors.

use std::path::{Path, PathBuf};

use lambada_elaborate::Definition;
use lambada_source::Problem;
use lambada_source::stack::{self, Deep};
use lambada_surface::ast::{Item, Module};

use crate::messages::program as messages;
use crate::session::{Session, Text, is_error};

/// Analysis of a file that may contain errors.
pub struct Survey {
    /// Its syntax tree. Unparsable parts are `Error` nodes, and the body of a definition with such
    /// a part is `Broken`.
    pub module: Deep<Module>,
    /// Its definitions with their types. A definition with a problem has its declared type.
    pub definitions: Vec<Definition>,
    /// Errors and warnings.
    pub problems: Vec<Problem>,
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
            Survey { module: unit.module, definitions, problems }
        })
    }
}

//! What is known of a file, whether it has problems or not.

use std::path::{Path, PathBuf};

use lambada_elaborate::Definition;
use lambada_source::Problem;
use lambada_source::stack::{self, Deep};
use lambada_surface::ast::{Item, Module};

use crate::messages::program as messages;
use crate::session::{Session, Text, is_error};

/// What is known of a file, whether it has problems or not.
pub struct Survey {
    /// Its syntax tree. What could not be read of it is `Error` there, and the body of a definition
    /// with such a part is `Broken`.
    pub module: Deep<Module>,
    /// Its definitions with their types. Of one with a problem, it is what its parameters and
    /// result are declared as.
    pub definitions: Vec<Definition>,
    /// What is wrong with it, and what is doubtful.
    pub problems: Vec<Problem>,
}

impl Survey {
    /// Is nothing wrong with it? Then it can be loaded.
    pub fn is_sound(&self) -> bool {
        !self.problems.iter().any(is_error)
    }

    /// A definition as it was read, in canonical layout, with `_` where something is lost; nothing
    /// if the file has none of that name.
    pub fn written(&self, name: &str) -> Option<String> {
        let is_meant = |item: &&Item| matches!(item, Item::Def(def) if &*def.name.text == name);
        let item = self.module.items.iter().find(is_meant)?;
        let module = Module { doc: None, items: Vec::new(), written: None };
        Some(stack::roomy(|| lambada_surface::print_item(&module, item)))
    }
}

impl Session {
    /// What is known of a file, broken or not. Only a file that cannot be read gives nothing.
    pub fn survey(&mut self, path: &Path) -> Result<Survey, Vec<Problem>> {
        let text = self.files.read(path).map_err(|e| vec![messages::unreadable(path, &e)])?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let canonical = self.files.canonical(path).ok();
        Ok(self.surveyed(&path.display().to_string(), &text, &folder, canonical))
    }

    /// The same of a text that is not a file; `folder` is where its imports are looked for.
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

//! The library for editors: the texts of `lambada doc` by name, and its modules as files that can
//! be opened. The files are copies, read-only, in a folder that the server removes at its end.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lambada::{Chapter, Entry, MODULES, PRELUDE, chapters, module_text};
use tempfile::TempDir;

/// Prefix of the names of the library's modules among the sources.
const MODULE: &str = "<std>/";
/// The name of the prelude among the sources.
pub(crate) const PRELUDE_NAME: &str = "<prelude>";

/// The documentation of the library and its files.
#[derive(Default)]
pub(crate) struct Library {
    chapters: Vec<Chapter>,
    /// The numbers of chapter and entry, by the qualified name.
    places: HashMap<String, (usize, usize)>,
    folder: Option<TempDir>,
}

impl Library {
    /// Reads all documentation.
    pub fn new() -> Library {
        let chapters = chapters();
        let mut places = HashMap::new();
        for (k, chapter) in chapters.iter().enumerate() {
            for (at, entry) in chapter.entries.iter().enumerate() {
                places.entry(entry.name.clone()).or_insert((k, at));
            }
        }
        Library { chapters, places, folder: None }
    }

    /// The documentation of a name, qualified for modules other than the prelude.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.places.get(name).map(|(k, at)| &self.chapters[*k].entries[*at])
    }

    pub fn chapters(&self) -> &[Chapter] {
        &self.chapters
    }

    /// Whether a chapter is a module, which needs an import.
    pub fn is_module(chapter: &Chapter) -> bool {
        MODULES.iter().any(|(name, _)| *name == chapter.name)
    }

    /// The name under which users know a definition in a source of the library.
    pub fn qualified(source: &str, name: &str) -> Option<String> {
        match source.strip_prefix(MODULE) {
            Some(module) => Some(format!("{module}.{name}")),
            None => (source == PRELUDE_NAME).then(|| name.to_string()),
        }
    }

    /// The copy of a source of the library.
    pub fn path(&mut self, source: &str) -> Option<PathBuf> {
        let (name, text) = match source.strip_prefix(MODULE) {
            Some(module) => (module, module_text(module)?),
            None if source == PRELUDE_NAME => ("prelude", PRELUDE),
            None => return None,
        };
        let path = self.folder()?.join("std").join(format!("{name}.lam"));
        if !path.exists() {
            std::fs::create_dir_all(path.parent()?).ok()?;
            std::fs::write(&path, text).ok()?;
            let mut permissions = std::fs::metadata(&path).ok()?.permissions();
            permissions.set_readonly(true);
            std::fs::set_permissions(&path, permissions).ok()?;
        }
        Some(path)
    }

    /// Writes a text that the server has made, such as a derivative, to be shown.
    pub fn shown(&mut self, name: &str, text: &str) -> Option<PathBuf> {
        let path = self.folder()?.join(name);
        std::fs::write(&path, text).ok()?;
        Some(path)
    }

    /// Whether the path is one of these files, which are not the user's to mend.
    pub fn owns(&self, path: &Path) -> bool {
        let folder = self.folder.as_ref();
        folder
            .is_some_and(|folder| path.starts_with(crate::buffers::Buffers::settled(folder.path())))
    }

    fn folder(&mut self) -> Option<PathBuf> {
        if self.folder.is_none() {
            self.folder = tempfile::Builder::new().prefix("lambada-").tempdir().ok();
        }
        self.folder.as_ref().map(|folder| crate::buffers::Buffers::settled(folder.path()))
    }
}

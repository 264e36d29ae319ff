//! The files of a program: open buffers, which win over the files below.

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lambada::Files;

/// Open buffers by canonical path, over other files.
#[derive(Debug)]
pub(crate) struct Buffers {
    open: Mutex<HashMap<PathBuf, Arc<str>>>,
    below: Arc<dyn Files>,
}

impl Buffers {
    /// No buffers, over files.
    pub fn over(below: Arc<dyn Files>) -> Buffers {
        Buffers { open: Mutex::default(), below }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<str>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a buffer, or replaces its text.
    pub fn set(&self, path: &Path, text: Arc<str>) {
        self.open().insert(path.to_path_buf(), text);
    }

    /// Closes a buffer.
    pub fn remove(&self, path: &Path) {
        self.open().remove(path);
    }

    /// One path for all names of a file, which need not exist.
    pub fn settled(path: &Path) -> PathBuf {
        std::fs::canonicalize(path).unwrap_or_else(|_| plain(path))
    }
}

impl Files for Buffers {
    fn read(&self, path: &Path) -> io::Result<String> {
        let open = self.open().get(&Buffers::settled(path)).cloned();
        open.map_or_else(|| self.below.read(path), |text| Ok(text.to_string()))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let settled = Buffers::settled(path);
        match self.open().contains_key(&settled) {
            true => Ok(settled),
            false => self.below.canonical(path),
        }
    }
}

/// Files with other texts, to try an edit.
#[derive(Debug)]
pub(crate) struct Overlay {
    pub base: Arc<Buffers>,
    pub texts: HashMap<PathBuf, String>,
}

impl Files for Overlay {
    fn read(&self, path: &Path) -> io::Result<String> {
        let own = self.texts.get(&Buffers::settled(path)).cloned();
        own.map_or_else(|| self.base.read(path), Ok)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.base.canonical(path)
    }
}

/// Removes `.` and `..` from a path.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        if part == Component::ParentDir && plain.file_name().is_some() {
            plain.pop();
        } else if part != Component::CurDir {
            plain.push(part);
        }
        plain
    })
}

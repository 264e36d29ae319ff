//! File systems for source files: the disk, or memory. The library reads sources from nowhere else.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Source files by path.
pub trait Files: fmt::Debug + Send + Sync {
    /// The text of a file.
    ///
    /// # Errors
    /// The file does not exist or cannot be read.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// The canonical path, equal for all names of one file.
    ///
    /// # Errors
    /// The file does not exist.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Whether the file exists.
    fn is_file(&self, path: &Path) -> bool {
        self.canonical(path).is_ok()
    }
}

/// File name of standard input.
pub const STANDARD_INPUT: &str = "-";

/// Limit for the bytes of a program, which also bounds reading from endless devices.
const MOST_TEXT: u64 = 1 << 26;

/// Reads a text of at most `limit` bytes.
pub(crate) fn read_limited(from: impl io::Read, limit: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let what = format!("it is larger than the limit of {}", lambada_prim::size(limit));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    let text = String::from_utf8(bytes);
    text.map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}

/// The files of the system; `-` is standard input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<String> {
        match path == Path::new(STANDARD_INPUT) {
            true => read_limited(io::stdin(), MOST_TEXT),
            false => read_limited(std::fs::File::open(path)?, MOST_TEXT),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }
}

/// Files in memory.
///
/// ```
/// use lambada::{Files as _, InMemory};
/// use std::path::Path;
///
/// let files = InMemory::new().with("lib/kernel.lam", "def k (x : real) = exp (-x)");
/// assert!(files.read(Path::new("lib/../lib/kernel.lam")).is_ok());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InMemory {
    files: BTreeMap<PathBuf, String>,
}

impl InMemory {
    /// No files.
    pub fn new() -> InMemory {
        InMemory::default()
    }

    /// Adds a file, or replaces the one at that path.
    #[must_use]
    pub fn with(mut self, path: impl AsRef<Path>, text: impl Into<String>) -> InMemory {
        self.files.insert(plain(path.as_ref()), text.into());
        self
    }

    /// All files, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files.iter().map(|(path, text)| (&**path, &**text))
    }
}

impl Files for InMemory {
    fn read(&self, path: &Path) -> io::Result<String> {
        let found = self.files.get(&plain(path)).cloned();
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let path = plain(path);
        let found = self.files.contains_key(&path).then_some(path);
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }
}

/// Removes `.` and `..` from a path.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => plain.push(part),
        }
        plain
    })
}

/// Files that are copied as they are read, so that a program can be loaded later unchanged.
#[derive(Debug)]
pub(crate) struct Recorded {
    files: Arc<dyn Files>,
    read: Mutex<InMemory>,
}

impl Recorded {
    pub(crate) fn new(files: Arc<dyn Files>) -> Recorded {
        Recorded { files, read: Mutex::default() }
    }

    /// Copies of the files read so far.
    pub(crate) fn copy(&self) -> InMemory {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Files for Recorded {
    fn read(&self, path: &Path) -> io::Result<String> {
        let text = self.files.read(path)?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.files.insert(plain(path), text.clone());
        Ok(text)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonical(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.is_file(path)
    }
}

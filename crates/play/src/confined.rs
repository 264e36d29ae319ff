//! The file system of programs in the page: the programs of one folder under `folder/`, and the
//! examples under `examples/`. Nothing else exists.

use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use lambada::{Disk, Files};

use crate::{messages, shelf};

/// First part of the addresses that a page gives its documents: `play:/folder/model.lam`.
pub(crate) const SCHEME: &str = "play:";

/// Top of the virtual tree for programs of the folder.
pub(crate) const FOLDER: &str = "folder";

/// Top of the virtual tree for the examples.
pub(crate) const EXAMPLES: &str = "examples";

/// The programs that a page may read.
#[derive(Clone, Debug)]
pub(crate) struct Confined {
    /// The folder in canonical form, if there is one.
    root: Option<PathBuf>,
}

/// A program.
enum Found {
    Own(PathBuf),
    Example(&'static str),
}

impl Confined {
    /// The files of a folder; only the examples without one.
    pub fn new(folder: Option<&Path>) -> io::Result<Confined> {
        Ok(Confined { root: folder.map(std::fs::canonicalize).transpose()? })
    }

    fn find(&self, path: &Path) -> io::Result<Found> {
        let refused = || io::Error::new(ErrorKind::NotFound, messages::NOT_THERE);
        let plain = plain(path).ok_or_else(refused)?;
        if let Ok(rest) = plain.strip_prefix(EXAMPLES) {
            let example = shelf::example(rest).ok_or_else(refused)?;
            return Ok(Found::Example(example.text));
        }
        let rest = plain.strip_prefix(FOLDER).map_err(|_| refused())?;
        let root = self.root.as_ref().ok_or_else(refused)?;
        // Links are followed first, because one may lead out of the folder.
        let real = std::fs::canonicalize(root.join(rest)).map_err(|_| refused())?;
        let is_program = real.extension().is_some_and(|extension| extension == "lam");
        // A pipe would never end.
        let is_file = || real.metadata().is_ok_and(|about| about.is_file());
        match real.starts_with(root) && is_program && is_file() {
            true => Ok(Found::Own(real)),
            false => Err(refused()),
        }
    }
}

impl Files for Confined {
    fn read(&self, path: &Path) -> io::Result<String> {
        match self.find(path)? {
            Found::Own(path) => Disk.read(&path),
            Found::Example(text) => Ok(text.to_string()),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.find(path)? {
            Found::Own(path) => Ok(path),
            Found::Example(_) => Ok(plain(path).unwrap_or_default()),
        }
    }
}

/// The path in the virtual tree, without scheme, `.` and `..`; `None` if it leaves the tree.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for (k, part) in path.components().enumerate() {
        match part {
            Component::Normal(name) if k == 0 && name == SCHEME => {}
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_of_the_folder_exist() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("own");
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        let write = |path: &str| std::fs::write(outer.path().join(path), path).unwrap();
        ["secret.lam", "own/a.lam", "own/deep/b.lam", "own/notes.txt"].into_iter().for_each(write);
        let files = Confined::new(Some(&folder)).unwrap();
        let read = |path: &str| files.read(Path::new(path)).ok();
        assert_eq!(read("folder/a.lam").as_deref(), Some("own/a.lam"));
        assert_eq!(read("play:/folder/deep/../a.lam").as_deref(), Some("own/a.lam"));
        assert_eq!(read("play:/folder/deep/b.lam").as_deref(), Some("own/deep/b.lam"));
        assert!(read("examples/chad.lam").is_some());
        let absolute = outer.path().join("own/a.lam");
        let refused = ["folder/../secret.lam", "folder/../../own/a.lam", "folder/notes.txt"];
        let refused = refused.into_iter().chain(["../own/a.lam", "a.lam", "folder", ""]);
        for path in refused.chain([&*absolute.to_string_lossy()]) {
            assert_eq!(read(path), None, "{path}");
        }
        #[cfg(unix)]
        {
            let link = folder.join("link.lam");
            std::os::unix::fs::symlink(outer.path().join("secret.lam"), link).unwrap();
            assert_eq!(read("folder/link.lam"), None);
        }
        let none = Confined::new(None).unwrap();
        assert!(none.read(Path::new("folder/a.lam")).is_err());
    }
}

//! Programs to open, and pages to read: those of the folder, the examples, the book.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// Limits for the search in the folder.
const MOST_FILES: usize = 2000;
const MOST_ENTRIES: usize = 50_000;

/// Depth of folders in the folder.
const DEEPEST: usize = 8;

/// An example.
pub(crate) struct Example {
    /// Its path below `examples/`.
    pub path: &'static str,
    pub text: &'static str,
}

macro_rules! examples {
    ($($path:literal)*) => {
        /// The examples of the repository that need no other file.
        pub(crate) const EXAMPLES: &[Example] = &[$(Example {
            path: $path,
            text: include_str!(concat!("../examples/", $path)),
        }),*];
    };
}

examples! {
    "chad.lam" "least_squares.lam" "logistic.lam" "gmm.lam" "kmeans.lam" "logsumexp.lam" "lstm.lam"
    "ode.lam" "own_rules.lam" "bundle_adjustment.lam" "eight_schools.lam" "logistic_posterior.lam"
    "workloads/cnn.lam" "workloads/eigh.lam" "workloads/expm.lam" "workloads/gp.lam"
    "workloads/heat.lam" "workloads/hmm.lam" "workloads/kalman.lam" "workloads/logistic.lam"
    "workloads/lstm.lam" "workloads/mlp.lam" "workloads/nbody.lam" "workloads/neural_ode.lam"
    "workloads/rayleigh.lam" "workloads/softdtw.lam" "workloads/spectrum.lam" "workloads/svd.lam"
    "workloads/transformer.lam"
}

/// The example at a path below `examples/`.
pub(crate) fn example(path: &Path) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| Path::new(example.path) == path)
}

/// Everything that a page offers to open.
#[derive(Serialize)]
pub(crate) struct Shelf {
    /// Name of the folder.
    folder: Option<String>,
    /// Paths of its programs, with `/`.
    files: Vec<String>,
    /// Whether the folder has more programs than are listed.
    more: bool,
    examples: Vec<&'static str>,
    book: Vec<Page>,
}

/// A page of the book.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Page {
    /// The part of the book.
    part: &'static str,
    title: &'static str,
    address: String,
}

impl Shelf {
    /// The shelf with the programs of a folder.
    pub fn of(folder: Option<&Path>) -> Shelf {
        let mut search = Search { entries: 0, found: Vec::new(), more: false };
        if let Some(folder) = folder {
            search.below(folder, &mut PathBuf::new(), 0);
        }
        let Search { mut found, more, .. } = search;
        found.sort();
        Shelf {
            folder: folder.map(|folder| {
                let name = folder.file_name().unwrap_or(folder.as_os_str());
                name.to_string_lossy().into_owned()
            }),
            files: found,
            more,
            examples: EXAMPLES.iter().map(|example| example.path).collect(),
            book: pages(),
        }
    }
}

struct Search {
    entries: usize,
    found: Vec<String>,
    more: bool,
}

impl Search {
    fn below(&mut self, root: &Path, at: &mut PathBuf, depth: usize) {
        for entry in std::fs::read_dir(root.join(&*at)).into_iter().flatten().flatten() {
            self.entries += 1;
            if self.entries > MOST_ENTRIES || self.found.len() >= MOST_FILES {
                self.more = true;
                return;
            }
            let name = entry.file_name();
            // Links may lead in circles, and out of the folder.
            let (Ok(kind), Some(text)) = (entry.file_type(), name.to_str()) else { continue };
            at.push(&name);
            let is_skipped = text.starts_with('.') || text == "target" || text == "node_modules";
            if kind.is_dir() && !is_skipped {
                match depth < DEEPEST {
                    true => self.below(root, at, depth + 1),
                    false => self.more = true,
                }
            } else if kind.is_file() && text.ends_with(".lam") {
                self.found.push(at.to_string_lossy().replace('\\', "/"));
            }
            at.pop();
        }
    }
}

/// The pages of the book, from its table of contents.
fn pages() -> Vec<Page> {
    let (mut part, mut pages) = ("The book", Vec::new());
    for line in include_str!("../book/SUMMARY.md").lines().skip(1) {
        if let Some(title) = line.strip_prefix("# ") {
            part = title;
        } else if let Some((title, rest)) = line
            .trim_start()
            .trim_start_matches("- ")
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]("))
        {
            let path = rest.trim_end_matches(')');
            let address = format!("{}/blob/HEAD/docs/src/{path}", env!("CARGO_PKG_REPOSITORY"));
            pages.push(Page { part, title, address });
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_examples_are_on_the_shelf() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        for below in ["", "workloads"] {
            for entry in std::fs::read_dir(folder.join(below)).unwrap().flatten() {
                let name = entry.file_name().into_string().unwrap();
                if name.ends_with(".lam") {
                    let path = Path::new(below).join(name);
                    assert!(example(&path).is_some(), "{} is not listed", path.display());
                }
            }
        }
    }

    #[test]
    fn the_book_has_its_pages() {
        let pages = pages();
        let tour = pages.iter().find(|page| page.title == "A tour").unwrap();
        assert_eq!(tour.part, "Learn");
        assert!(tour.address.ends_with("/docs/src/tour.md"), "{}", tour.address);
        assert!(pages.len() > 60, "{}", pages.len());
    }
}

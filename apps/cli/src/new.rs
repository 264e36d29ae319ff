//! `lambada new`: a folder with a small program that runs.

use std::path::Path;

use crate::report::Report;
use crate::{messages, report};

/// The files of a new project, with `NAME` for its name.
const FILES: [(&str, &str); 4] = [
    ("main.lam", include_str!("new/main.lam")),
    ("data.json", include_str!("new/data.json")),
    ("README.md", include_str!("new/README.md")),
    (".gitignore", "*.npz\n"),
];

/// Creates the folder, completely or not at all, and prints the next step.
pub fn run(folder: &Path) -> Result<(), Report> {
    let shown = folder.display().to_string();
    let wrong = |error: &std::io::Error| messages::not_written(&shown, error);
    let Some(name) = folder.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Err(messages::no_folder_name(&shown));
    };
    if folder.symlink_metadata().is_ok() {
        return Err(messages::there_already(&shown));
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|error| wrong(&error))?;
    // The folder gets its name when it is complete.
    let unfinished = parent.join(format!(".{name}.{}", std::process::id()));
    let made = std::fs::create_dir(&unfinished)
        .and_then(|()| fill(&unfinished, &name))
        .and_then(|()| std::fs::rename(&unfinished, folder));
    if let Err(error) = made {
        let _ = std::fs::remove_dir_all(&unfinished);
        return Err(wrong(&error));
    }
    report::result(&messages::made(&shown))
}

fn fill(folder: &Path, name: &str) -> std::io::Result<()> {
    FILES
        .iter()
        .try_for_each(|(file, text)| std::fs::write(folder.join(file), text.replace("NAME", name)))
}

//! Programs that are rewritten in place: `lambada fmt`, and the fixes of `lambada check --fix`.

use std::path::{Path, PathBuf};

use crate::report::Report;
use crate::shell::Shell;
use crate::{messages, report};

impl Shell {
    /// Formats files and the files in folders. A failure does not stop the rest.
    pub(crate) fn format(
        &mut self,
        files: &[PathBuf],
        check: bool,
        upgrade: bool,
    ) -> Result<(), Report> {
        let mut told = Report::new();
        let mut changed = Vec::new();
        for file in programs(files, &mut told) {
            match self.format_file(&file, check, upgrade) {
                Ok(true) => changed.push(file),
                Ok(false) => {}
                Err(report) => told += &report,
            }
        }
        if check && !changed.is_empty() {
            let names = changed.iter().map(|file| format!("{}\n", file.display()));
            report::result(&names.collect::<String>())?;
            told += &messages::other_layout(changed.len());
        }
        if told.is_empty() { Ok(()) } else { Err(told) }
    }

    /// Writes the certain fixes of a program's problems into its file.
    pub(crate) fn mend(&mut self, file: &Path) -> Result<(), Report> {
        let name = file.display().to_string();
        if file == Path::new("-") {
            return Err(messages::no_file_to_fix());
        }
        let text = lambada::Files::read(&lambada::Disk, file);
        let text = text.map_err(|error| messages::not_read(&name, &error))?;
        let folder = file.parent().map(Path::to_path_buf);
        let (mended, count) = self.session.mend(&name, &text, folder);
        if count == 0 {
            return Ok(());
        }
        lambada::replace_file(file, mended.as_bytes())
            .map_err(|error| messages::not_written(&name, &error))?;
        report::tell(&messages::mended(&name, count));
        Ok(())
    }

    /// Formats a file; returns whether it changed.
    fn format_file(&mut self, file: &Path, check: bool, upgrade: bool) -> Result<bool, Report> {
        let standard = file == Path::new("-");
        let name = if standard { "<stdin>".to_string() } else { file.display().to_string() };
        let text = lambada::Files::read(&lambada::Disk, file);
        let text = text.map_err(|error| messages::not_read(&name, &error))?;
        let mut current = text.clone();
        if upgrade {
            let folder = file.parent().map(Path::to_path_buf);
            let upgraded = self.session.upgrade(&name, &text, folder);
            let (upgraded, open) = upgraded.map_err(|p| self.told(p))?;
            report::tell(&self.told(open));
            current = upgraded;
        }
        let formatted = self.session.format(&name, &current).map_err(|p| self.told(p))?;
        let changed = formatted != text;
        if check {
            return Ok(changed);
        }
        if standard {
            report::result(&formatted)?;
        } else if changed {
            lambada::replace_file(file, formatted.as_bytes())
                .map_err(|error| messages::not_written(&name, &error))?;
        }
        Ok(changed)
    }
}

/// The files, with folders replaced by their programs, in order.
fn programs(paths: &[PathBuf], told: &mut Report) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            in_folder(path, &mut all, told);
        } else {
            all.push(path.clone());
        }
    }
    all
}

fn in_folder(folder: &Path, all: &mut Vec<PathBuf>, told: &mut Report) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            *told += &messages::not_read(&folder.display().to_string(), &error);
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    for path in paths {
        let link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        if path.is_dir() && !link {
            in_folder(&path, all, told);
        } else if path.extension().is_some_and(|extension| extension == "lam") && path.is_file() {
            all.push(path);
        }
    }
}

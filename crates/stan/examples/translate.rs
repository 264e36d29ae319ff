//! `translate FILE.stan …`: writes `FILE.lam` beside each file, or to the folder after `--to`.

use std::path::{Path, PathBuf};

use lambada_source::{Sources, render};

fn main() {
    let mut to: Option<PathBuf> = None;
    let mut words = std::env::args().skip(1);
    let mut failed = false;
    while let Some(word) = words.next() {
        if word == "--to" {
            to = words.next().map(PathBuf::from);
            continue;
        }
        let path = Path::new(&word);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut sources = Sources::new();
        let file = sources.add(word.clone(), text.clone());
        let name =
            path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let (out, problems) = lambada_stan::translate(&text, file, &name);
        eprint!("{}", render(&sources, &problems, false));
        failed |= !problems.is_empty();
        if problems.is_empty() {
            let folder =
                to.clone().or_else(|| path.parent().map(Path::to_path_buf)).unwrap_or_default();
            std::fs::write(folder.join(format!("{name}.lam")), out).expect("a folder to write to");
        }
    }
    std::process::exit(i32::from(failed));
}

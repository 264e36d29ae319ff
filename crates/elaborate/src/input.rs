//! What is elaborated together, and what imported files are called.

use std::rc::Rc;

use lambada_surface::ast::Module;

/// What is elaborated together.
pub struct Input<'a> {
    /// The standard library; its definitions are visible everywhere.
    pub prelude: &'a Module,
    /// The files that are imported, by the program or by each other, under their [`import_key`]s.
    pub imports: Vec<(Rc<str>, &'a Module)>,
    /// The program.
    pub main: &'a Module,
}

/// What a file is called to which an `import` leads: its path from the folder of the program, without `.lam`. `from` is the key of the file
/// with the `import`, if that is not the program itself.
pub fn import_key(from: Option<&str>, path: &str) -> String {
    let is_separator = |c: char| c == '/' || c == '\\';
    let path = path.strip_suffix(".lam").unwrap_or(path);
    let absolute = path.starts_with(is_separator);
    let folder = from
        .filter(|_| !absolute)
        .map_or("", |from| from.rsplit_once('/').map_or("", |(folder, _)| folder));
    let rooted = absolute || folder.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split(is_separator)) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    format!("{}{}", if rooted { "/" } else { "" }, parts.join("/"))
}

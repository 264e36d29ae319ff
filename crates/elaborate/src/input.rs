//! The input of elaboration, and the keys of imported files and library modules.

use std::rc::Rc;

use lambada_surface::ast::{Import, Module};

/// The modules of one program.
pub struct Input<'a> {
    /// The part of the standard library whose definitions are visible everywhere.
    pub prelude: &'a Module,
    /// The files and modules of the library that are imported, by the program or by each other,
    /// under their [`import_key`]s.
    pub imports: Vec<(Rc<str>, &'a Module)>,
    /// The program.
    pub main: &'a Module,
    /// Whether to elaborate the whole library. If not, only the definitions that the program uses
    /// are elaborated, so that it pays for nothing else.
    pub whole_library: bool,
    /// Whether `/` of ints is a floor division, as it was before it became a division of reals.
    pub divides_ints: bool,
}

/// Prefix of import paths that lead to the library.
const LIBRARY: &str = "std/";
/// Prefix of the keys of library modules. No path of a file leads to it by accident.
const LIBRARY_KEY: &str = "<std>/";

/// The name of the module of the library that has this [`import_key`].
pub fn library_module(key: &str) -> Option<&str> {
    key.strip_prefix(LIBRARY_KEY)
}

/// The key of an imported file: its path from the folder of the program, without `.lam`. `from` is
/// the key of the importing file, `None` for the program itself. `std/NAME` is a module of the
/// library from everywhere; a folder `std` of the user is `./std`.
pub fn import_key(from: Option<&str>, path: &str) -> String {
    let is_separator = |c: char| c == '/' || c == '\\';
    let path = path.strip_suffix(".lam").unwrap_or(path);
    if let Some(module) = path.strip_prefix(LIBRARY) {
        return format!("{LIBRARY_KEY}{module}");
    }
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

/// The name before the members of an import: the one after `as`, or that of its file, given by its
/// [`import_key`]. An import with a list has none unless it says `as`.
pub fn import_name(import: &Import, key: &str) -> Option<Rc<str>> {
    match &import.alias {
        Some(alias) => Some(alias.text.clone()),
        None if import.names.is_some() => None,
        None => Some(key.rsplit('/').next().unwrap_or(key).into()),
    }
}

//! The standard library, in Lambada itself: the prelude, which is visible everywhere, and modules that `import "std/NAME"` brings.

/// The text of the prelude.
pub const PRELUDE: &str = include_str!("../../../prelude/prelude.lam");

/// The modules: their names and texts, in alphabetical order.
pub const MODULES: [(&str, &str); 4] = [
    ("complex", include_str!("../../../std/complex.lam")),
    ("dist", include_str!("../../../std/dist.lam")),
    ("linalg", include_str!("../../../std/linalg.lam")),
    ("special", include_str!("../../../std/special.lam")),
];

/// The module that a name stands for, or that defines it.
pub(crate) fn module_with(name: &str) -> Option<&'static str> {
    let head = format!("\ndef {name} ");
    let meant = |(module, text): &&(&str, &str)| *module == name || text.contains(&head);
    MODULES.iter().find(meant).map(|(module, _)| *module)
}

/// The text of a module.
pub fn module_text(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(module, _)| *module == name).map(|(_, text)| *text)
}

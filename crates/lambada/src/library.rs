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

/// The text of a module.
pub fn module_text(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(module, _)| *module == name).map(|(_, text)| *text)
}

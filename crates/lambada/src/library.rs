//! The standard library, in Lambada itself: the prelude, which is visible everywhere, and modules that `import "std/NAME"` brings.

/// The text of the prelude.
pub const PRELUDE: &str = include_str!("../../../prelude/prelude.lam");

/// The modules: their names and texts, in alphabetical order.
pub const MODULES: [(&str, &str); 7] = [
    ("complex", include_str!("../../../std/complex.lam")),
    ("fft", include_str!("../../../std/fft.lam")),
    ("interpolate", include_str!("../../../std/interpolate.lam")),
    ("linalg", include_str!("../../../std/linalg.lam")),
    ("ode", include_str!("../../../std/ode.lam")),
    ("optimize", include_str!("../../../std/optimize.lam")),
    ("quadrature", include_str!("../../../std/quadrature.lam")),
];

/// The text of a module.
pub fn module_text(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(module, _)| *module == name).map(|(_, text)| *text)
}

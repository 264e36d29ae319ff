//! Names and idioms of other languages, and their counterparts in Lambada.

mod table;

use lambada_source::{Fix, Hint, Span};

pub use table::NAMES;

/// Module names of libraries in other languages.
const MODULES: [&str; 22] = [
    "np", "numpy", "jnp", "jax", "lax", "math", "Math", "cmath", "torch", "tf", "scipy", "std",
    "Prelude", "stats", "base", "sp", "pd", "optax", "List", "Array", "Seq", "Vector",
];

/// Whether another language's library has a module of this name.
pub(crate) fn is_module(name: &str) -> bool {
    MODULES.contains(&name)
}

/// The counterpart of another language's name.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    let row = NAMES.iter().find(|(names, _)| names.split(' ').any(|known| known == name));
    row.map(|(_, cure)| *cure)
}

/// The counterpart of another language's name as a hint. If it is one function that takes one
/// argument, or a constant, its name stands in the place of the other.
pub(crate) fn advice(name: &str, span: Span) -> Option<Hint> {
    let cure = instead(name)?;
    let fix = same_call(cure).map(|better| Fix::replace(span, better).probable());
    Some(Hint { text: cure.to_string(), fix })
}

/// The function or constant that a cure consists of.
fn same_call(cure: &str) -> Option<&str> {
    let mut codes = cure.split('`').skip(1).step_by(2);
    let code = codes.next().filter(|_| codes.next().is_none())?;
    let mut words = code.split(' ');
    let is_name = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let name = words.next().filter(is_name)?;
    match (words.next(), words.next()) {
        (None, _) => Some(name),
        (Some(argument), None) => is_name(&argument).then_some(name),
        _ => None,
    }
}

/// The counterpart of a field that values have in other languages.
pub(crate) fn field(name: &str) -> Option<&'static str> {
    Some(match name {
        "shape" | "size" | "len" | "length" | "ndim" => {
            "the size of an array is `length xs`; where its type names it, as `[n]real` does, it is `n`"
        }
        "T" => "the transpose of a matrix is `transpose m`",
        _ => return None,
    })
}

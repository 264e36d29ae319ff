//! Names and idioms of other languages, and their counterparts in Lambada.

mod table;

use lambada_source::{Fix, Hint, Span};

use table::NAMES;

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lambada_surface::ast::Item;

    use super::*;
    use crate::builtin::Builtin;

    fn names() -> Vec<&'static str> {
        NAMES.iter().flat_map(|(names, _)| names.split(' ')).collect()
    }

    #[test]
    fn each_name_has_one_cure() {
        let names = names();
        let different: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(different.len(), names.len());
        assert!(names.len() >= 150, "only {} names", names.len());
    }

    #[test]
    fn no_cure_is_for_what_the_language_has() {
        for name in names() {
            assert_eq!(Builtin::find(name, false), None, "`{name}` is a name of the language");
        }
    }

    #[test]
    fn no_cure_is_for_what_the_prelude_has() {
        let text = include_str!("../../../../prelude/prelude.lam");
        let (prelude, _) = lambada_surface::parse(text, lambada_source::FileId(0));
        // Types are no values.
        let is_type = |name: &str| {
            prelude
                .items
                .iter()
                .any(|item| matches!(item, Item::Type(def) if *def.name.text == *name))
        };
        let defined = prelude.items.iter().flat_map(lambada_surface::defined);
        let defined: BTreeSet<_> = defined.filter(|name| !is_type(name)).collect();
        let both: Vec<&str> = names().into_iter().filter(|name| defined.contains(*name)).collect();
        assert_eq!(both, Vec::<&str>::new());
    }

    #[test]
    fn cures_are_expressions_that_parse() {
        for (names, cure) in NAMES {
            assert_eq!(cure.matches('`').count() % 2, 0, "{names}: {cure}");
            for code in cure.split('`').skip(1).step_by(2) {
                if ["import", "type ", "lambada", "std/"].iter().any(|word| code.starts_with(word))
                {
                    continue;
                }
                // Operators and the beginning of a loop are not expressions.
                if ["||", "&&", "/", "//", "while c do e"].contains(&code) {
                    continue;
                }
                let (_, problems) = lambada_surface::parse_expr(code, lambada_source::FileId(0));
                assert!(problems.is_empty(), "{names}: `{code}`: {problems:?}");
            }
        }
    }
}

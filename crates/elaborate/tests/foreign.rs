//! The table of the names of other languages.

use std::collections::BTreeSet;

use lambada_elaborate::{FOREIGN, builtin_names};
use lambada_surface::ast::Item;

fn names() -> Vec<&'static str> {
    FOREIGN.iter().flat_map(|(names, _)| names.split(' ')).collect()
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
        assert!(!builtin_names().any(|known| known == name), "`{name}` is a name of the language");
    }
}

#[test]
fn no_cure_is_for_what_the_prelude_has() {
    let text = include_str!("../../lambada/library/prelude.lam");
    let (prelude, _) = lambada_surface::parse(text, lambada_source::FileId(0));
    // Types are no values.
    let is_type = |name: &str| {
        prelude.items.iter().any(|item| matches!(item, Item::Type(def) if *def.name.text == *name))
    };
    let defined = prelude.items.iter().flat_map(lambada_surface::defined);
    let defined: BTreeSet<_> = defined.filter(|name| !is_type(name)).collect();
    let both: Vec<&str> = names().into_iter().filter(|name| defined.contains(*name)).collect();
    assert_eq!(both, Vec::<&str>::new());
}

#[test]
fn cures_are_expressions_that_parse() {
    for (names, cure) in FOREIGN {
        assert_eq!(cure.matches('`').count() % 2, 0, "{names}: {cure}");
        for code in cure.split('`').skip(1).step_by(2) {
            if ["import", "type ", "lambada", "std/"].iter().any(|word| code.starts_with(word)) {
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

//! Names that are identifiers in C, C++ and Fortran, distinct regardless of case.

use std::collections::HashSet;
use std::path::Path;

/// The names of a function's arguments.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A new name similar to the hint.
    pub fn fresh(&mut self, hint: &str) -> String {
        let base = identifier(hint);
        let numbered = (2..).map(|k| format!("{base}_{k}"));
        let free = |name: &String| {
            let small = name.to_lowercase();
            !RESERVED.contains(&&*small) && !self.taken.contains(&small)
        };
        let name = std::iter::once(base.clone()).chain(numbered).find(free).unwrap_or(base);
        self.taken.insert(name.to_lowercase());
        name
    }
}

/// Replaces characters that are no letters, digits or underscores; the first character is a letter.
pub(crate) fn identifier(hint: &str) -> String {
    lambada_loops::identifier(hint)
}

/// The default name of a program's library: the name of its file as an identifier.
pub fn name_of(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    if stem.trim_matches('-').is_empty() { "model".to_string() } else { identifier(&stem) }
}

/// Whether the name can be the prefix of all names of a library.
pub(crate) fn is_prefix(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&name)
}

/// Whether a system library that most programs link has this name.
pub(crate) fn is_of_the_system(name: &str) -> bool {
    ["c", "dl", "gcc", "gcc_s", "gfortran", "m", "pthread", "resolv", "rt", "util"].contains(&name)
}

/// The keywords of C and C++ and the names that the header declares, in lower case.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "complex",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "context",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "imaginary",
    "inline",
    "int",
    "int64_t",
    "linux",
    "long",
    "main",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "uint64_t",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_in_small_letters_and_are_no_words() {
        let mut names = Names::default();
        assert_eq!(names.fresh("x'"), "x");
        assert_eq!(names.fresh("X"), "X_2");
        assert_eq!(names.fresh("new"), "new_2");
        assert_eq!(names.fresh("(a, b)"), "a__b");
        assert!(is_prefix("model_2") && !is_prefix("2model") && !is_prefix("int"));
    }
}

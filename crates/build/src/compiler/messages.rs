//! Messages of failures to build a library.

use std::path::Path;

use lambada_source::Problem;

/// The tangents of two recursive values would share their rows.
pub(crate) fn several_recursive(entry: &str) -> Problem {
    Problem::general("E0480", format!("`{entry}` has no forward derivative in C by several parameters of which one is of a recursive type"))
        .hint("ask for it by one parameter at a time, or for the reverse derivative: --vjp")
}

/// Two C functions of the same name.
pub(crate) fn taken(name: &str, first: &str, second: &str) -> Problem {
    Problem::general(
        "E0481",
        format!("the library would have two functions `{name}`: {first} and {second}"),
    )
    .hint("rename a definition, or leave one of them out")
}

/// A library name that cannot be a prefix of C names.
pub(crate) fn no_prefix(name: &str) -> Problem {
    Problem::general(
        "E0482",
        format!("`{name}` cannot be the name of a library: it begins the names of C functions"),
    )
    .hint("use letters, digits and underscores, first a letter; --name sets it")
}

/// A library name that would shadow a system library.
pub(crate) fn of_the_system(name: &str) -> Problem {
    Problem::general(
        "E0487",
        format!("`lib{name}` is a library of the system, which this one would hide"),
    )
    .hint("--name sets another name")
}

pub(crate) fn no_compiler() -> Problem {
    Problem::general("E0483", "a C library needs a C compiler, and there is none".to_string())
        .hint("install gcc or clang, or set LAMBADA_CC")
}

pub(crate) fn no_tool(command: &str, said: &str) -> Problem {
    Problem::general("E0484", format!("the library cannot be put together: `{command}` {said}"))
        .hint("`ar` comes with binutils; AR sets another one, LAMBADA_CC sets the C compiler")
}

pub(crate) fn not_written(path: &Path, error: &std::io::Error) -> Problem {
    Problem::general("E0485", format!("cannot write `{}`: {error}", path.display()))
        .hint("nothing has been written; -o names another folder")
}

/// A library without definitions.
pub(crate) fn nothing_to_offer() -> Problem {
    Problem::general("E0486", "a library offers at least one definition".to_string())
        .hint("name the definitions: `.entry(\"loss\")`")
}

/// Clang, or a part that it needs, is `missing`; `version` is that of the Clang that was tried.
pub(crate) fn no_wasm(missing: &str, version: Option<u32>) -> Problem {
    let version = version.map_or_else(|| "N".to_string(), |version| version.to_string());
    let title = "a module of WebAssembly needs Clang with its linker and libraries";
    Problem::general("E0488", format!("{title}, and there is {missing}"))
        .hint(format!("on Debian and Ubuntu: apt install clang lld wasi-libc libclang-rt-{version}-dev-wasm32{}; LAMBADA_WASM_CC sets another Clang, WASI_SYSROOT the folder of its C library", if version == "N" { ", for the version N of clang" } else { "" }))
}

//! Versions of a library's code for several vector widths, in one C file, where macros select a
//! version. Each is compiled separately, with instructions that others must not use. The callers
//! are compiled with the first version; opening a context selects the version.

use lambada::Target;

use super::describe::Library;

/// Conditional text with one alternative for each version.
pub(crate) fn by_version(library: &Library, texts: &[&str]) -> String {
    let Some((own, others)) = texts.split_first() else { return String::new() };
    let big = library.name.to_uppercase();
    let mut text = String::new();
    for (processor, other) in library.processors[1..].iter().zip(others) {
        let first = if text.is_empty() { "#if" } else { "#elif" };
        text += &format!("{first} {big}_VECTOR_BITS == {}\n{other}", processor.vector_bits());
    }
    if text.is_empty() { own.to_string() } else { format!("{text}#else\n{own}#endif\n") }
}

/// The macro that announces that all versions will be linked.
pub(crate) fn versions_macro(library: &Library) -> String {
    format!("{}_VERSIONS", library.name.to_uppercase())
}

/// Compiler flags for the version for this processor, without the callers.
pub(crate) fn version_flags(library: &Library, processor: Target) -> Vec<String> {
    let bits = processor.vector_bits();
    let chosen = format!("-D{}_VECTOR_BITS={bits}", library.name.to_uppercase());
    processor.flags().iter().map(|flag| flag.to_string()).chain([chosen]).collect()
}

/// Name of the object file of a version.
pub(crate) fn object(library: &Library, processor: Target) -> String {
    if library.processors.first() == Some(&processor) {
        return format!("{}.o", library.name);
    }
    format!("{}_{}.o", library.name, processor.vector_bits())
}

/// Name of the function table of a version.
pub(crate) fn code_name(library: &Library, version: usize) -> String {
    let bits = library.processors[version].vector_bits();
    format!("{}_code_{bits}", library.name)
}

/// Code by which contexts select a version.
pub(crate) fn choice(library: &Library) -> String {
    let (name, own) = (&library.name, &library.processors[0]);
    let mut text = format!(
        "\n/* Takes the version for the widest vectors that the processor has, of at most so many bits if possible. */\n\
         static void lam_choose({name}_context *context, int64_t most) {{\n    (void)most;\n    context->code = {};\n    context->bits = {};\n",
        code_name(library, 0),
        own.vector_bits()
    );
    if library.processors.len() == 1 {
        return text + "}\n";
    }
    let mut declared = String::new();
    text += &format!("#if defined({})\n    __builtin_cpu_init();\n", versions_macro(library));
    for (version, processor) in library.processors.iter().enumerate().skip(1) {
        let code = code_name(library, version);
        let bits = processor.vector_bits();
        let supports = processor
            .features()
            .map(|feature| format!(" && __builtin_cpu_supports(\"{feature}\")"));
        let supports: String = supports.collect();
        text += &format!(
            "    if (most >= {bits}{supports}) {{\n        context->code = {code};\n        context->bits = {bits};\n    }}\n"
        );
        declared += &format!(
            "extern const struct lam_code {code}[] __attribute__((visibility(\"hidden\")));\n"
        );
    }
    format!("\n{declared}{text}#endif\n}}\n")
}

//! The C text of a library: the code of its functions, then the public wrappers.

use lambada::Target;
use lambada_codegen::{Memory, Unit};
use lambada_loops::{Buf, Function as Loops};
use lambada_prim::{ScalarTy, TOO_DEEP};
use lambada_source::{Sources, Span};

use super::describe::{Dims, Function, Library, Output};
use super::header::{prototype, scalar_type};
use super::interface::{Interface, Word};
use super::room::room;
use super::sizes::{Extent, Spelling};
use super::strict::strict;
use super::versions::{by_version, choice, code_name, object, version_flags, versions_macro};

/// Limit for the axes of arguments. The code relies on it, because products of two sizes must not
/// wrap.
const LONGEST_AXIS: i64 = lambada_anf::bounds::LONGEST_AXIS;

/// Replacement for [`TOO_DEEP`], because calls use the stack of the calling thread.
const TOO_DEEP_HERE: &str = "the recursion is too deep: the calls inside of each other take all of the stack that the thread has";

const SITES: &str = include_str!("sites.c");
const RUNTIME: &str = include_str!("runtime.c");
const NUMBER: &str = include_str!("number.c");
const DIGITS: &str = include_str!("digits.c");
const STACK: &str = include_str!("stack.c");
const STACK_ALONE: &str = include_str!("stack_alone.c");
const SYSTEM: &str = include_str!("system.c");
const WORKSPACE: &str = include_str!("workspace.c");
const ZEROS: &str = include_str!("zeros.c");
const ZEROS_ALONE: &str = include_str!("zeros_alone.c");
const FUNCTIONS: &str = include_str!("functions.c");
const THREADS: &str = include_str!("threads.c");
const THREAD: &str = include_str!("thread.c");

/// Disables warnings of C compilers that do not matter in generated code.
const QUIET: &str = "\
#if defined(__GNUC__)
#pragma GCC diagnostic ignored \"-Wpedantic\"
#pragma GCC diagnostic ignored \"-Wunused-function\"
#pragma GCC diagnostic ignored \"-Wunused-parameter\"
#pragma GCC diagnostic ignored \"-Wunused-variable\"
#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"
#pragma GCC diagnostic ignored \"-Wsign-compare\"
#pragma GCC diagnostic ignored \"-Wpsabi\"
#pragma GCC diagnostic ignored \"-Wundef\"
#endif
#if defined(__clang__)
#pragma GCC diagnostic ignored \"-Wtypedef-redefinition\"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"
#pragma GCC optimize (\"wrapv\")
#endif
";

/// A function with its code.
pub(crate) struct FunctionCode {
    pub interface: Interface,
    /// One for each of the library's processors.
    pub versions: Vec<Loops>,
}

impl FunctionCode {
    fn has_calls(&self) -> bool {
        self.versions.iter().any(|code| !code.library.functions.is_empty())
    }
}

/// The text of `NAME.c`.
pub(crate) fn text(library: &Library, parts: &[FunctionCode], sources: &Sources) -> String {
    let versions = (0..library.processors.len())
        .map(|version| parts.iter().map(|part| &part.versions[version]).collect());
    let versions: Vec<Vec<&Loops>> = versions.collect();
    let (threads, hosted) = (library.platform.has_threads(), library.platform.is_hosted());
    let workspace = library.platform.has_workspace();
    let memory = if workspace { Memory::Workspace } else { Memory::Arena };
    let units = lambada_codegen::internal_units(&versions, memory, threads);
    let tables = versions.iter().map(|codes| tables(codes, sources)).collect::<Vec<_>>();
    let longest = tables.iter().flatten().map(|tables| tables.longest).max().unwrap_or_default();
    let undefined: String =
        lambada_codegen::MACROS.iter().map(|name| format!("#undef {name}\n")).collect();
    let named =
        |text: &str| text.replace("@@", &library.name.to_uppercase()).replace('@', &library.name);
    let calls = parts.iter().any(FunctionCode::has_calls);
    let all = versions.iter().flatten();
    let parallel = threads && all.into_iter().any(|code| lambada_loops::is_parallel(code));
    // Whether the stack of a thread is asked of the system.
    let asks = calls && hosted;

    let mut own = tables_text(library, 0, &units[0], &tables[0]);
    let number = if hosted { NUMBER } else { DIGITS };
    let mut runtime = RUNTIME.replace("/* number */\n", number);
    runtime = runtime.replace("/* zeros */\n", if workspace { ZEROS_ALONE } else { ZEROS });
    if workspace {
        runtime = runtime.replace("the system does not give it", "more than the workspace has");
    }
    own += &format!("\n{}", named(&runtime));
    own += &choice(library);
    if calls {
        let bytes = if workspace { "8192" } else { "262144" };
        let alone = STACK_ALONE.replace("STACK_BYTES", bytes);
        own += &format!("\n{}", named(if hosted { STACK } else { &alone }));
    }
    own += &named(if workspace { WORKSPACE } else { SYSTEM });
    own += &named(FUNCTIONS);
    own += &named(if parallel { THREADS } else { THREAD });
    for (k, part) in parts.iter().enumerate() {
        own += &format!("\n{}", Wrapper { library, part, number: k, out: String::new() }.print());
        if let Some(room) = workspace.then(|| room(&part.interface, &part.versions)).flatten() {
            let name = &part.interface.function.name;
            let frame = units[0].frame(k);
            own += &format!("\n{}", room.definition(&library.name, name, frame));
        }
    }
    let codes: Vec<&str> = units.iter().map(|unit| unit.text.as_str()).collect();
    let rest = (1..units.len())
        .map(|version| tables_text(library, version, &units[version], &tables[version]));
    let rest: Vec<String> = std::iter::once(own).chain(rest).collect();
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let text = format!(
        "{}{}{QUIET}{}\n{undefined}#define LAM_MESSAGE {}\n\n#include \"{}.h\"\n\n{SITES}\n{}",
        head(library),
        if asks {
            "#define _GNU_SOURCE\n#include <pthread.h>\n#if defined(__linux__)\n#pragma weak pthread_getattr_np\n#endif\n"
        } else {
            ""
        },
        by_version(library, &codes),
        longest + 400,
        library.name,
        by_version(library, &rest),
    );
    if library.platform.is_strict() { strict(&text, workspace) } else { text }
}

fn head(library: &Library) -> String {
    let flags =
        lambada_codegen::FLAGS.iter().filter(|flag| !["-fPIC", "-shared", "-w"].contains(flag));
    let flags: Vec<&str> = flags.copied().collect();
    let native = if library.processors == [Target::Here] { " -march=native" } else { "" };
    let (name, flags) = (&library.name, flags.join(" "));
    let mut text = format!(
        "/* {name}, made by Lambada {} from {}: what it offers is declared and described in {name}.h. Compile it with\n *   cc {flags}{native} -c {name}.c\n * and link with -lm. GCC makes faster code of it with {}.",
        env!("CARGO_PKG_VERSION"),
        super::header::comment(&library.source),
        lambada_codegen::GCC_FLAGS.join(" "),
    );
    if library.processors.len() > 1 {
        text += &format!(
            " There are versions of its code for wider vectors, of which a context takes what suits the processor. To have them, compile with the same flags and\n *   -D{} -c {name}.c",
            versions_macro(library)
        );
        for processor in &library.processors[1..] {
            let flags = version_flags(library, *processor).join(" ");
            let object = object(library, *processor);
            text += &format!("\n *   {flags} -c {name}.c -o {object}");
        }
        text += "\n * and link all of these.";
    }
    text + " */\n"
}

fn tables(codes: &[&Loops], sources: &Sources) -> Vec<Tables> {
    codes.iter().enumerate().map(|(number, code)| Tables::of(number, code, sources)).collect()
}

/// The function table of a version, with the messages of failures.
fn tables_text(library: &Library, version: usize, unit: &Unit, tables: &[Tables]) -> String {
    let mut text: String = tables.iter().map(|tables| format!("{}\n", tables.text)).collect();
    let name = code_name(library, version);
    text += &match version {
        0 => format!("static const struct lam_code {name}[] = {{\n"),
        _ => format!(
            "extern const struct lam_code {name}[] __attribute__((visibility(\"hidden\")));\nconst struct lam_code {name}[] = {{\n"
        ),
    };
    for (tables, symbol) in tables.iter().zip(&unit.symbols) {
        text += &format!("    {{{symbol}, {}, {}}},\n", tables.sites, tables.arrays);
    }
    text + "};\n"
}

/// The messages of a function's failures.
struct Tables {
    text: String,
    sites: String,
    arrays: String,
    /// Maximal length of a message.
    longest: usize,
}

impl Tables {
    fn of(number: usize, code: &Loops, sources: &Sources) -> Tables {
        let place = |span: Span| {
            if span == Span::default() {
                return String::new();
            }
            let (line, column) = sources.line_column(span);
            format!("{}:{line}:{column}: ", sources.get(span.file).name)
        };
        let (sites_name, arrays_name) =
            (format!("lam_sites_{number}"), format!("lam_arrays_{number}"));
        let mut longest = 0;
        let mut sites = String::new();
        for site in code.all_sites() {
            let place = place(site.span);
            longest = longest.max(place.len() + 24 * (site.message.len() + 1));
            // Excessive recursion is reported as lack of memory.
            let (message, error) = match &*site.message {
                TOO_DEEP => (TOO_DEEP_HERE, 2),
                message => (message, 1),
            };
            sites += &format!("    {{{}, {}, {error}}},\n", literal(&place), literal(message));
        }
        let mut arrays = String::new();
        for function in code.all() {
            for (k, (elem, _)) in (0..).zip(&function.bufs) {
                let place = place(function.origins.get(&Buf(k)).copied().unwrap_or_default());
                longest = longest.max(place.len());
                arrays +=
                    &format!("    {{{}, {}}},\n", literal(&place), code.precision.bytes(*elem));
            }
        }
        let table = |ty: &str, name: &str, rows: &str| {
            let rows = if rows.is_empty() { "    {0},\n" } else { rows };
            format!("static const struct {ty} {name}[] = {{\n{rows}}};\n")
        };
        let text = table("lam_site", &sites_name, &sites)
            + "\n"
            + &table("lam_array_site", &arrays_name, &arrays);
        Tables { text, sites: sites_name, arrays: arrays_name, longest }
    }
}

/// A C string literal, valid in all dialects, even with trigraphs.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '?' => out += "\\?",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() => out += &format!("\\{:03o}", c as u32 & 0o777),
            c => out.push(c),
        }
    }
    out + "\""
}

/// A function of the library.
struct Wrapper<'a> {
    library: &'a Library,
    part: &'a FunctionCode,
    /// Its index in the table of a version.
    number: usize,
    out: String,
}

impl Wrapper<'_> {
    fn function(&self) -> &Function {
        &self.part.interface.function
    }

    fn line(&mut self, text: &str) {
        self.out += &format!("    {text}\n");
    }

    fn print(mut self) -> String {
        let words = self.part.interface.words.len().max(1);
        let results = self.part.versions.iter().map(lambada_codegen::result_words).max();
        let results = results.unwrap_or_default().max(1);
        self.out = format!("{} {{\n", prototype(self.library, self.function()));
        self.line(&format!("union lambada_word lam_args[{words}], lam_results[{results}];"));
        self.line("int lam_status;");
        let error = format!("{}_ERROR", self.library.name.to_uppercase());
        self.line(&format!("if (!context) return {error}_ARGUMENT;"));
        self.line("context->message[0] = 0;");
        self.sizes(&error);
        self.arguments(&error);
        self.words(&error);
        if self.part.has_calls() {
            self.line("lambada_context_stack(context->memory, lam_stack(context));");
        }
        self.line(&format!(
            "lam_status = context->code[{}].call(context->memory, lam_args, lam_results);",
            self.number
        ));
        self.line(&format!(
            "if (lam_status) return lam_explain(context, lam_status, lam_results, &context->code[{}]);",
            self.number
        ));
        self.results(&error);
        self.line("return 0;");
        self.out + "}\n"
    }

    /// Prints range checks of sizes.
    fn sizes(&mut self, error: &str) {
        let words = self.part.interface.words.clone();
        let mut seen = Vec::new();
        for word in &words {
            let Word::Size(extent) = word else { continue };
            let text = extent.text(Spelling::C);
            if matches!(extent, Extent::Constant(_)) || seen.contains(&text) {
                continue;
            }
            let what = literal(&format!(
                "{}: the size {} is ",
                self.function().name,
                extent.text(Spelling::Plain)
            ));
            let why = literal(&format!(", which is not between 0 and {LONGEST_AXIS}"));
            self.line(&format!("if ({text} < 0 || {text} > {LONGEST_AXIS}) return lam_refuse_argument(context, {error}_SIZE, {what}, {text}, {why});"));
            seen.push(text);
        }
    }

    /// Prints checks for null arrays and invalid tags.
    fn arguments(&mut self, error: &str) {
        let function = self.function().clone();
        for input in &function.inputs {
            let name = &input.name;
            let all = input.constructors.len();
            if input.dims.is_empty() {
                if all > 0 {
                    let what = literal(&format!("{}: `{name}` is ", function.name));
                    let why = literal(&format!(", and its constructors are 0 to {}", all - 1));
                    self.line(&format!("if ({name} < 0 || {name} >= {all}) return lam_refuse_argument(context, {error}_ARGUMENT, {what}, {name}, {why});"));
                }
                continue;
            }
            let count = count(&input.dims);
            let empty: Vec<String> =
                input.dims.iter().map(|dim| format!("{} > 0", dim.text(Spelling::C))).collect();
            let null = literal(&format!("{}: `{name}` is a null pointer", function.name));
            self.line(&format!(
                "if (!{name} && {}) return lam_refuse_null(context, {null});",
                empty.join(" && ")
            ));
            if all > 0 {
                let what = literal(&format!("{}: the element of `{name}` at ", function.name));
                let why = literal(&format!(" is no constructor: these are 0 to {}", all - 1));
                self.line(&format!("if (lam_wrong_tag({name}, {count}, {all}) >= 0) return lam_refuse_argument(context, {error}_ARGUMENT, {what}, lam_wrong_tag({name}, {count}, {all}), {why});"));
            }
        }
    }

    fn words(&mut self, error: &str) {
        let words = self.part.interface.words.clone();
        for (k, word) in words.iter().enumerate() {
            let text = match word {
                Word::Size(extent) => format!("integer = {}", extent.text(Spelling::C)),
                Word::Scalar(name, ScalarTy::Real) => format!("real = {name}"),
                Word::Scalar(name, ScalarTy::Int) => format!("integer = {name}"),
                Word::Scalar(name, ScalarTy::Bool) => format!("integer = {name} ? 1 : 0"),
                Word::Array(name) => format!("data = {name}"),
                Word::Zero(ScalarTy::Real, dims) if dims.is_empty() => "real = 0.0".to_string(),
                Word::Zero(ScalarTy::Int | ScalarTy::Bool, dims) if dims.is_empty() => {
                    "integer = 0".to_string()
                }
                Word::Zero(elem, dims) => {
                    format!(
                        "data = lam_nothing(context, {}, {})",
                        count(dims),
                        self.library.precision.bytes(*elem)
                    )
                }
            };
            self.line(&format!("lam_args[{k}].{text};"));
            if let Word::Zero(_, dims) = word
                && !dims.is_empty()
            {
                let what = literal(&format!("{}: out of memory", self.function().name));
                self.line(&format!("if (!lam_args[{k}].data) {{ lam_say(context->message, {what}); return {error}_MEMORY; }}"));
            }
        }
    }

    fn results(&mut self, error: &str) {
        let function = self.function().clone();
        let mut word = 0;
        let given = self.part.interface.results.clone();
        for (rank, place) in given {
            if let Some(output) = place.and_then(|place| function.outputs.get(place)) {
                self.result(output, word, rank, error);
            }
            word += 1 + rank;
        }
    }

    fn result(&mut self, output: &Output, word: usize, rank: usize, error: &str) {
        let (name, ty) = (&output.name, scalar_type(self.library.precision, output.elem));
        if rank == 0 {
            let value = match output.elem {
                ScalarTy::Real => format!("lam_results[{word}].real"),
                ScalarTy::Int => format!("lam_results[{word}].integer"),
                ScalarTy::Bool => format!("lam_results[{word}].integer != 0"),
            };
            return self.line(&format!("if ({name}) *{name} = {value};"));
        }
        let sizes: Vec<String> =
            (1..=rank).map(|axis| format!("lam_results[{}].integer", word + axis)).collect();
        let count = sizes.join(" * ");
        let size = self.library.precision.bytes(output.elem);
        match &output.dims {
            Dims::Known(_) => self.line(&format!(
                "if ({name} && {count} > 0) __builtin_memmove({name}, lam_results[{word}].data, (uint64_t)({count} * {size}));"
            )),
            Dims::Found(names) => {
                let what = literal(&format!("{}: out of memory: there is no room for `{name}`", self.function().name));
                self.line(&format!("if ({name}) {{"));
                self.line(&format!("    *{name} = (const {ty} *)lam_kept(context, lam_results[{word}].data, {count}, {size});"));
                self.line(&format!("    if (!*{name}) {{ lam_say(context->message, {what}); return {error}_MEMORY; }}"));
                self.line("}");
                for (size_name, size) in names.iter().zip(&sizes) {
                    self.line(&format!("if ({size_name}) *{size_name} = {size};"));
                }
            }
        }
    }
}

/// Number of elements of an array with these sizes, in C.
fn count(dims: &[Extent]) -> String {
    let factor = |dim: &Extent| {
        let text = dim.text(Spelling::C);
        if matches!(dim, Extent::Computed(..)) { format!("({text})") } else { text }
    };
    let factors: Vec<String> = dims.iter().map(factor).collect();
    if factors.is_empty() { "1".to_string() } else { factors.join(" * ") }
}

//! The header of a library: its declarations for C and C++, documentation, and declarations for
//! Fortran.

use lambada::Operator;
use lambada_prim::{Precision, ScalarTy};

use super::describe::{Dims, Function, Input, Library, Output, Role, Rows};
use super::fortran;
use super::room::Room;
use super::sizes::{Extent, Spelling};

/// Columns of a comment.
const WIDTH: usize = 110;

/// The text of `NAME.h`; with a workspace, `rooms` are the functions that count bytes.
pub(crate) fn header(library: &Library, rooms: &[Option<Room>]) -> String {
    let (name, big) = (&library.name, library.name.to_uppercase());
    let mut text = format!("/* {}\n */\n", lines(&introduction(library)));
    text += &format!(
        "#ifndef {big}_H\n#define {big}_H\n\n#include <stdbool.h>\n#include <stdint.h>\n\n"
    );
    text += &format!(
        "/* The version of Lambada that has made this. */\n#define {big}_VERSION \"{}\"\n\n",
        env!("CARGO_PKG_VERSION")
    );
    text += &format!(
        "/* How many bits its reals have: those of a {}. */\n#define {big}_REAL_BITS {}\n\n",
        library.precision.c(),
        8 * library.precision.bytes(ScalarTy::Real)
    );
    text += &format!(
        "/* What functions return that fail; {name}_message tells more. */\n\
         #define {big}_ERROR_CHECK 1    /* a check of the program: an index out of range, sizes that differ, its own conditions */\n\
         #define {big}_ERROR_MEMORY 2   /* no memory for an array, a value or another call */\n\
         #define {big}_ERROR_SIZE 3     /* a size that is negative or too large */\n\
         #define {big}_ERROR_ARGUMENT 4 /* a null pointer, or a tag that is no constructor */\n\
         #define {big}_ERROR_CANCELLED 5 /* {name}_cancel has ended the call */\n\n"
    );
    text += &tags(library);
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    text += &format!(
        "/* Memory that calls use again. One thread at a time may use a context; any number of them may have one each. */\n\
         typedef struct {name}_context {name}_context;\n\n\
         {}\n\n\
         /* What went wrong in the last call that used the context, and where in the source; empty if nothing. Valid until the next call. */\n\
         const char *{name}_message(const {name}_context *);\n\n\
         /* From now on the arrays of calls may take so many bytes at a time; arguments and the caller's own results do not count. */\n\
         void {name}_limit({name}_context *, uint64_t bytes);\n\n\
         /* Ends the call that runs in the context, or if none does, the next one: it returns {big}_ERROR_CANCELLED soon, and calls after it run again.\n\
         \x20* May be called from any thread, and by the handler of a signal; the context must be open. */\n\
         void {name}_cancel({name}_context *);\n\n\
         /* Limits the width of vectors to so many bits, 128, 256 or 512, in calls that use the context from now on; returns the width in use. Without this, it is\n\
         \x20* the widest that the processor has. A library that is not portable has a single width. Versions for different widths agree but for rounding; each\n\
         \x20* runs the same instructions on all processors. */\n\
         int64_t {name}_vector_bits({name}_context *, int64_t most);\n\n\
         /* Runs work(team, k) for the k below `workers`, at the same time. With OpenMP:\n\
         \x20*   #pragma omp parallel num_threads(workers)\n\
         \x20*   work(team, omp_get_thread_num()); */\n\
         typedef void (*{name}_fork)(void *pool, int64_t workers, void (*work)(void *team, int64_t worker), void *team);\n\n\
         /* From now on calls that use the context may run on so many threads, which `fork` provides and is given `pool` for. Results are the same for any\n\
         \x20* number of threads. Returns {big}_ERROR_MEMORY if there is no memory for that; then calls run on one. */\n\
         int {name}_threads({name}_context *, int64_t threads, {name}_fork fork, void *pool);\n",
        contexts(library),
    );
    for (function, room) in library.functions.iter().zip(rooms) {
        text += &format!(
            "\n/* {}\n */\n{};\n",
            lines(&documentation(library, function)),
            prototype(library, function)
        );
        if let Some(room) = room {
            text += &format!(
                "\n/* The bytes that {name}_open needs for calls of {name}_{} with these sizes. */\n{};\n",
                function.name,
                room.prototype(name, &function.name)
            );
        }
    }
    text + &format!("\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {big}_H */\n")
}

/// The beginning and the end of contexts.
fn contexts(library: &Library) -> String {
    let name = &library.name;
    if !library.platform.has_workspace() {
        return format!(
            "/* A new context; null if the system has no memory. */\n{name}_context *{name}_open(void);\n\n\
             /* Frees a context and the results that it holds; null is nothing to free. */\nvoid {name}_close({name}_context *);"
        );
    }
    format!(
        "/* A new context, in memory of the caller, which may be of any kind and must stay; null if there is too little. All that calls need is in it:\n\
         \x20* {name}_NAME_bytes tells how much. For functions without that, it depends on data; {name}_peak tells what calls have taken so far. */\n\
         {name}_context *{name}_open(void *memory, uint64_t bytes);\n\n\
         /* Ends a context; the memory is the caller's again. */\nvoid {name}_close({name}_context *);\n\n\
         /* The least number of bytes with which {name}_open has enough for the calls so far. */\nuint64_t {name}_peak({name}_context *);"
    )
}

/// Escapes text for a comment.
pub(crate) fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}

/// Lines of a comment, without the first ` * `.
fn lines(text: &str) -> String {
    let lines: Vec<String> = comment(text)
        .lines()
        .map(|line| if line.is_empty() { " *".to_string() } else { format!(" * {line}") })
        .collect();
    lines.join("\n").trim_start_matches(" * ").to_string()
}

fn introduction(library: &Library) -> String {
    let name = &library.name;
    let doc = library.doc.as_ref().map(|doc| format!("{doc}\n\n")).unwrap_or_default();
    format!(
        "{name}: made by Lambada {} from {}. Do not edit.\n\n{doc}\
         Each function takes a context ({name}_open), then sizes, parameters, and where its results go, and returns 0 or one of the\n\
         errors below. Arrays are dense and row-major: the last index runs fastest. They are not changed, and may be null if they have\n\
         no elements. A result that is null is not given. Results may not overlap arguments. Where a result is a pointer to a pointer, it\n\
         is set to an array in the context, which is there until the next call with the context.\n\n\
         Compile with `pkg-config --cflags --libs {name}`, or link with lib{name}.a and -lm.\n\n\
         In Fortran, inside of a module or a program, after `use, intrinsic :: iso_c_binding`:\n\n{}",
        env!("CARGO_PKG_VERSION"),
        library.source,
        indented(&fortran::common(library)),
    )
}

fn indented(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("  {line}") };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Constants for the tags of variants.
fn tags(library: &Library) -> String {
    let mut all: Vec<(String, usize)> = Vec::new();
    for function in &library.functions {
        let inputs = function.inputs.iter().map(|input| &input.constructors);
        let outputs = function.outputs.iter().map(|output| &output.constructors);
        for constructors in inputs.chain(outputs) {
            for (k, name) in constructors.iter().enumerate() {
                let own = (super::names::identifier(name).to_uppercase(), k);
                if !all.contains(&own) {
                    all.push(own);
                }
            }
        }
    }
    if all.is_empty() {
        return String::new();
    }
    let big = library.name.to_uppercase();
    let defined = all.iter().map(|(name, k)| {
        // If types number a constructor name differently, it gets no constant; the comments of the
        // functions state the tags.
        let alone = all.iter().filter(|(other, _)| other == name).count() == 1;
        if alone { format!("#define {big}_TAG_{name} {k}\n") } else { String::new() }
    });
    format!(
        "/* The constructors of variants, as their tags say them. */\n{}\n",
        defined.collect::<String>()
    )
}

/// The documentation of a function for its callers.
fn documentation(library: &Library, function: &Function) -> String {
    let mut text = String::new();
    let of = &function.entry;
    text += &match function.operator {
        Operator::Value => String::new(),
        Operator::Grad => format!("Value and gradient of `{of}`.\n\n"),
        Operator::Jvp => format!(
            "Value of `{of}`, and its tangent for tangents of the parameters (forward mode).\n\n"
        ),
        Operator::Vjp => format!(
            "Value of `{of}`, and the cotangents of the parameters for a cotangent of the value (reverse mode).\n\n"
        ),
        Operator::Jacobian => format!("Value and Jacobian of `{of}`.\n\n"),
        Operator::Hessian => format!("Value and Hessian of `{of}`.\n\n"),
    };
    if let Some(doc) = &function.doc {
        text += &format!("{doc}\n\n");
    }
    text += &format!("  {of} : {}\n\n", function.ty);
    let width = function.inputs.iter().map(|input| input.name.len());
    let width =
        width.chain(function.outputs.iter().map(|output| output.name.len())).max().unwrap_or(0);
    for input in &function.inputs {
        text += &row(&input.name, width, &input_text(input));
    }
    for output in &function.outputs {
        text += &row(&output.name, width, &output_text(output));
    }
    for rows in &function.rows {
        text += &rows_text(rows);
    }
    format!("{text}\nIn Fortran:\n\n{}", indented(&fortran::declaration(library, function)))
}

fn row(name: &str, width: usize, text: &str) -> String {
    debug_assert!(width < WIDTH);
    format!("  {name:width$}  {text}\n")
}

fn shape(elem: ScalarTy, dims: &[Extent]) -> String {
    let dims: String = dims.iter().map(|dim| format!("[{}]", dim.text(Spelling::Plain))).collect();
    format!("{dims}{elem}")
}

fn choices(constructors: &[String]) -> String {
    let all: Vec<String> =
        constructors.iter().enumerate().map(|(k, name)| format!("{k} {name}")).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}

fn input_text(input: &Input) -> String {
    let shape = shape(input.elem, &input.dims);
    let tags = choices(&input.constructors);
    match &input.role {
        Role::Size => "size".to_string(),
        Role::Value(of) if *of == input.name => format!("{shape}{tags}"),
        Role::Value(_) | Role::Tangent(_) | Role::Cotangent(_) | Role::Rows(_) => {
            format!("{shape}, {}{tags}", input.role.text())
        }
    }
}

fn output_text(output: &Output) -> String {
    let tags = choices(&output.constructors);
    match &output.dims {
        Dims::Known(dims) => {
            format!("gives {}, {}{tags}", shape(output.elem, dims), output.role.text())
        }
        Dims::Found(names) => {
            let dims: String = names.iter().map(|name| format!("[{name}]")).collect();
            format!("gives {dims}{}, {}{tags}, in the context", output.elem, output.role.text())
        }
    }
}

/// Documents how rows represent values of recursive types.
fn rows_text(rows: &Rows) -> String {
    let name = &rows.name;
    let mut text = format!(
        "\nValues of recursive types are rows, numbered from 1, each after those that it contains: {name}_constructors says which constructor a row\n\
         is, {name}_ints_at and {name}_reals_at where its fields begin in {name}_ints (integers, truth values, sizes, numbers of rows) and in\n\
         {name}_reals. The constructors with their fields:\n"
    );
    for (k, (constructor, fields)) in rows.constructors.iter().enumerate() {
        let fields: String = fields.iter().map(|field| format!("; {field}")).collect();
        text += &format!("  {k} {constructor}{fields}\n");
    }
    text
}

/// The type of a scalar in C.
pub(crate) fn scalar_type(precision: Precision, elem: ScalarTy) -> &'static str {
    match elem {
        ScalarTy::Real => precision.c(),
        ScalarTy::Int => "int64_t",
        ScalarTy::Bool => "bool",
    }
}

/// The declaration of a function, without a semicolon.
pub(crate) fn prototype(library: &Library, function: &Function) -> String {
    let mut params = vec![format!("{}_context *context", library.name)];
    for input in &function.inputs {
        let ty = scalar_type(library.precision, input.elem);
        params.push(if input.dims.is_empty() {
            format!("{ty} {}", input.name)
        } else {
            format!("const {ty} *{}", input.name)
        });
    }
    for output in &function.outputs {
        let ty = scalar_type(library.precision, output.elem);
        match &output.dims {
            Dims::Known(_) => params.push(format!("{ty} *{}", output.name)),
            Dims::Found(sizes) => {
                params.push(format!("const {ty} **{}", output.name));
                params.extend(sizes.iter().map(|size| format!("int64_t *{size}")));
            }
        }
    }
    format!("int {}_{}({})", library.name, function.name, params.join(", "))
}

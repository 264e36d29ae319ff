//! A module of JavaScript that calls a module of WebAssembly, with its types for TypeScript.
//! Arguments and results are values of the language: records are objects, tuples arrays, and
//! variants objects as in JSON.

use std::collections::BTreeSet;

use lambada::Operator;
use lambada_prim::{Precision, ScalarTy};

use super::describe::{Dims, Function, Input, Library, Output, Parts, Role, Whole};
use super::sizes::{Extent, Spelling};

const RUNTIME: &str = include_str!("module.mjs.txt");
const TYPES: &str = include_str!("module.d.mts.txt");

/// The columns of rows, in their order.
const COLUMNS: [&str; 5] = ["constructors", "ints_at", "reals_at", "ints", "reals"];

/// The text of `NAME.mjs`.
pub(crate) fn module(library: &Library) -> String {
    let functions: String = library.functions.iter().map(function).collect();
    format!(
        "// Made by Lambada {} from {}. Do not edit.\n\n\
         const PREFIX = {};\nconst FILE = {};\nconst REAL_BITS = {};\n{}\n\
         /** The functions: arguments and results of C, and the values of which they are parts. */\n\
         const FUNCTIONS = [\n{functions}];\n",
        env!("CARGO_PKG_VERSION"),
        library.source.replace('\n', " "),
        literal(&library.name),
        literal(&format!("{}.wasm", library.name)),
        8 * library.precision.bytes(ScalarTy::Real),
        RUNTIME.replace("@version", env!("CARGO_PKG_VERSION")),
    )
}

/// A string of JavaScript.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                out += &format!("\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out + "\""
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// The values of a function that arrays do not tell: sizes that stand alone in no axis.
fn open_sizes(function: &Function) -> Vec<usize> {
    let mut told = BTreeSet::new();
    for input in function.params.iter().flat_map(|param| places(&param.parts)) {
        told.extend(function.inputs[input].dims.iter().filter_map(|dim| match dim {
            Extent::Argument(name) => Some(&**name),
            Extent::Constant(_) | Extent::Computed(..) => None,
        }));
    }
    for column in function.params.iter().flat_map(|param| &param.columns) {
        told.extend(function.inputs[*column].dims.iter().filter_map(|dim| match dim {
            Extent::Argument(name) => Some(&**name),
            Extent::Constant(_) | Extent::Computed(..) => None,
        }));
    }
    let inputs = function.inputs.iter().enumerate();
    let open = inputs.filter(|(_, input)| input.role == Role::Size && !told.contains(&*input.name));
    open.map(|(place, _)| place).collect()
}

/// The leaves of parts.
fn places(parts: &Parts) -> Vec<usize> {
    match parts {
        Parts::Leaf(place) => place.iter().copied().collect(),
        Parts::Tuple(items) => items.iter().flat_map(places).collect(),
        Parts::Record(fields) => fields.iter().flat_map(|(_, field)| places(field)).collect(),
        Parts::Array(_, elem) => places(elem),
        Parts::Variant(tag, constructors) => {
            let fields = constructors.iter().flat_map(|(_, fields)| fields).flat_map(places);
            tag.iter().copied().chain(fields).collect()
        }
    }
}

/// The arguments of a function of JavaScript: sizes that nothing tells, then values.
fn params(function: &Function) -> Vec<Whole> {
    let size = |place: usize| Whole {
        name: function.inputs[place].name.clone(),
        parts: Parts::Leaf(Some(place)),
        columns: Vec::new(),
    };
    open_sizes(function).into_iter().map(size).chain(function.params.iter().cloned()).collect()
}

/// The description of a function.
fn function(function: &Function) -> String {
    let open = open_sizes(function);
    let line = |text: String| format!("      {text},\n");
    let inputs = function.inputs.iter().enumerate().map(|(place, input)| {
        let size = input.role == Role::Size && !open.contains(&place);
        let dims = list(input.dims.iter().map(extent));
        line(format!(
            "{{ name: {}, elem: \"{}\", size: {size}, dims: {dims} }}",
            literal(&input.name),
            input.elem
        ))
    });
    let inputs: String = inputs.collect();
    let outputs = function.outputs.iter().map(|output| {
        let (dims, rank) = match &output.dims {
            Dims::Known(dims) => {
                let sizes = list(dims.iter().map(|dim| dim.text(Spelling::JavaScript)));
                (format!("(sizes) => {sizes}"), dims.len())
            }
            Dims::Found(sizes) => ("null".to_string(), sizes.len()),
        };
        line(format!("{{ elem: \"{}\", rank: {rank}, dims: {dims} }}", output.elem))
    });
    let outputs: String = outputs.collect();
    let params = params(function).into_iter().map(|param| {
        let columns = list(param.columns.iter().map(usize::to_string));
        line(format!(
            "{{ name: {}, parts: {}, columns: {columns} }}",
            literal(&param.name),
            parts(&param.parts)
        ))
    });
    let params: String = params.collect();
    let results: String = function.results.iter().map(|whole| line(result(whole))).collect();
    format!(
        "  {{\n    name: {},\n    inputs: [\n{inputs}    ],\n    outputs: [\n{outputs}    ],\n    params: [\n{params}    ],\n    results: [\n{results}    ],\n  }},\n",
        literal(&function.name)
    )
}

fn extent(extent: &Extent) -> String {
    let name = match extent {
        Extent::Argument(name) => literal(name),
        Extent::Constant(_) | Extent::Computed(..) => "null".to_string(),
    };
    format!(
        "{{ name: {name}, text: {}, value: (sizes) => {} }}",
        literal(&extent.text(Spelling::Plain)),
        extent.text(Spelling::JavaScript)
    )
}

fn result(whole: &Whole) -> String {
    if whole.columns.is_empty() {
        return parts(&whole.parts);
    }
    let columns = COLUMNS.iter().zip(&whole.columns);
    format!("{{ columns: {} }}", list(columns.map(|(name, leaf)| format!("[\"{name}\", {leaf}]"))))
}

/// The parts of a value, as the runtime walks them.
fn parts(of: &Parts) -> String {
    if !of.is_there() {
        return "null".to_string();
    }
    match of {
        Parts::Leaf(place) => place.map_or_else(|| "null".to_string(), |place| place.to_string()),
        Parts::Tuple(items) => format!("{{ tuple: {} }}", list(items.iter().map(parts))),
        Parts::Record(fields) => {
            let fields = fields.iter();
            let fields =
                fields.map(|(name, field)| format!("[{}, {}]", literal(name), parts(field)));
            format!("{{ record: {} }}", list(fields))
        }
        Parts::Array(axes, elem) => format!("{{ axes: {axes}, of: {} }}", parts(elem)),
        Parts::Variant(tag, constructors) => {
            let tag = tag.map_or_else(|| "null".to_string(), |tag| tag.to_string());
            let constructors = constructors.iter().map(|(name, fields)| {
                format!("[{}, {}]", literal(name), list(fields.iter().map(parts)))
            });
            format!("{{ tag: {tag}, constructors: {} }}", list(constructors))
        }
    }
}

/// The text of `NAME.d.mts`.
pub(crate) fn types(library: &Library) -> String {
    let methods: String = library.functions.iter().map(|each| method(library, each)).collect();
    let doc = library.doc.as_deref().map(|doc| comment(doc, "")).unwrap_or_default();
    format!(
        "// Made by Lambada {} from {}. Do not edit.\n\n{doc}{}\n\
         /** The functions of the program. Those that fail throw a `LambadaError`; wrong arguments are a `TypeError` or a\n * `RangeError`. */\n\
         export interface Model {{\n{methods}\n\
         \x20 /** From now on the arrays of calls may take so many bytes at a time; arguments and results do not count. */\n\
         \x20 limit(bytes: number): void;\n}}\n",
        env!("CARGO_PKG_VERSION"),
        library.source.replace('\n', " "),
        TYPES.replace("@reals", reals(library.precision)),
    )
}

/// A comment for editors.
fn comment(text: &str, indent: &str) -> String {
    let text = text.replace("*/", "* /");
    let lines = text
        .trim_end()
        .lines()
        .map(|line| format!("{indent} * {line}").trim_end().to_string() + "\n");
    format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
}

fn method(library: &Library, function: &Function) -> String {
    let of = &function.entry;
    let head = match function.operator {
        Operator::Value => String::new(),
        Operator::Grad => format!("Value and gradient of `{of}`.\n\n"),
        Operator::Jvp => format!("Value and tangent of `{of}`, for tangents of parameters.\n\n"),
        Operator::Vjp => {
            format!(
                "Value of `{of}`, and cotangents of parameters for a cotangent of the value.\n\n"
            )
        }
        Operator::Jacobian => format!("Value and Jacobian of `{of}`.\n\n"),
        Operator::Hessian => format!("Value and Hessian of `{of}`.\n\n"),
    };
    let own = function.doc.as_deref().map(|doc| format!("{doc}\n\n")).unwrap_or_default();
    let doc = format!("{head}{own}`{of} : {}`", function.ty.replace('\n', " "));
    let params = params(function).into_iter().map(|param| {
        let ty = input(&function.inputs, &param.parts, 0);
        let ty =
            if param.columns.is_empty() { ty } else { format!("{{ value: {ty}; rows: RowsIn }}") };
        format!("{}: {ty}", identifier(&param.name))
    });
    let results = function.results.iter().map(|whole| match whole.columns.is_empty() {
        true => output(library.precision, &function.outputs, &whole.parts, 0),
        false => "Rows".to_string(),
    });
    let mut results: Vec<String> = results.collect();
    let result = match results.len() {
        1 => results.remove(0),
        _ => list(results.into_iter()),
    };
    let params: Vec<String> = params.collect();
    format!("{}  {}({}): {result};\n", comment(&doc, "  "), function.name, params.join(", "))
}

/// A name that is none of the words of the language.
fn identifier(name: &str) -> String {
    let words = [
        "arguments",
        "await",
        "debugger",
        "eval",
        "extends",
        "finally",
        "function",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "null",
        "package",
        "super",
        "typeof",
        "undefined",
        "var",
        "with",
        "yield",
    ];
    if words.contains(&name) { format!("{name}_") } else { name.to_string() }
}

/// The type of parts of an argument, inside of arrays with `outer` axes.
fn input(inputs: &[Input], of: &Parts, outer: usize) -> String {
    let inner = |of: &Parts| input(inputs, of, outer);
    if !of.is_there() {
        return "unknown".to_string();
    }
    match of {
        Parts::Leaf(place) => match place.map(|place| &inputs[place]) {
            Some(leaf) => array_in(leaf.elem, leaf.dims.len().saturating_sub(outer)),
            None => "unknown".to_string(),
        },
        Parts::Tuple(items) => list(items.iter().map(inner)),
        Parts::Record(fields) => {
            let there = fields.iter().filter(|(_, field)| field.is_there());
            object(there.map(|(name, field)| (name, inner(field))))
        }
        Parts::Array(axes, elem) => {
            let rows = format!(
                "{}{}{}",
                "ArrayLike<".repeat(*axes),
                input(inputs, elem, outer + axes),
                ">".repeat(*axes)
            );
            let column = |column: &Parts| match column {
                Parts::Leaf(_) => input(inputs, column, 0),
                other => {
                    let whole = Parts::Array(*axes, Box::new(other.clone()));
                    input(inputs, &whole, 0)
                }
            };
            match &**elem {
                Parts::Record(fields) if outer == 0 => {
                    let there = fields.iter().filter(|(_, field)| field.is_there());
                    let columns = object(there.map(|(name, field)| (name, column(field))));
                    format!("{rows} | {columns}")
                }
                Parts::Tuple(items) if outer == 0 => {
                    format!("{rows} | {}", list(items.iter().map(column)))
                }
                _ => rows,
            }
        }
        Parts::Variant(tag, constructors) => variant(*tag, constructors, &inner),
    }
}

/// `{ x: number; y: number }`
fn object<'a>(fields: impl Iterator<Item = (&'a String, String)>) -> String {
    let fields: Vec<String> = fields.map(|(name, ty)| format!("{}: {ty}", key(name))).collect();
    if fields.is_empty() { "{}".to_string() } else { format!("{{ {} }}", fields.join("; ")) }
}

/// The name of a field, in quotes if it is no identifier.
fn key(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain { name.to_string() } else { literal(name) }
}

/// A union of the constructors, or an object with all of them for a derivative.
fn variant(
    tag: Option<usize>,
    constructors: &[(String, Vec<Parts>)],
    inner: &dyn Fn(&Parts) -> String,
) -> String {
    let all: Vec<(&String, String)> =
        constructors.iter().map(|(name, fields)| (name, list(fields.iter().map(inner)))).collect();
    if tag.is_none() {
        return object(all.into_iter());
    }
    let one = |(name, fields): &(&String, String)| match &**fields {
        "[]" => literal(name),
        fields => format!("{{ {}: {fields} }}", key(name)),
    };
    format!("({})", all.iter().map(one).collect::<Vec<_>>().join(" | "))
}

fn array_in(elem: ScalarTy, rank: usize) -> String {
    let (scalar, name) = match elem {
        ScalarTy::Real => ("number", "RealArray"),
        ScalarTy::Int => ("number | bigint", "IntArray"),
        ScalarTy::Bool => ("boolean", "BoolArray"),
    };
    match rank {
        0 => scalar.to_string(),
        1 => name.to_string(),
        _ => format!(
            "{}{name}{} | Dense<{name}> | Flat{name}",
            "ArrayLike<".repeat(rank - 1),
            ">".repeat(rank - 1)
        ),
    }
}

fn reals(precision: Precision) -> &'static str {
    match precision {
        Precision::F64 => "Float64Array",
        Precision::F32 => "Float32Array",
    }
}

/// The type of parts of a result, inside of rows with `outer` axes.
fn output(precision: Precision, outputs: &[Output], of: &Parts, outer: usize) -> String {
    let inner = |of: &Parts| output(precision, outputs, of, outer);
    if !of.is_there() {
        return "null".to_string();
    }
    match of {
        Parts::Leaf(place) => match place.map(|place| &outputs[place]) {
            Some(leaf) => array_out(precision, leaf, outer),
            None => "null".to_string(),
        },
        Parts::Tuple(items) => list(items.iter().map(inner)),
        Parts::Record(fields) => {
            let there = fields.iter().filter(|(_, field)| field.is_there());
            object(there.map(|(name, field)| (name, inner(field))))
        }
        Parts::Array(axes, elem) if has_tag(elem) => {
            let each = output(precision, outputs, elem, outer + axes);
            format!("{}{each}{}", "Array<".repeat(*axes), ">".repeat(*axes))
        }
        Parts::Array(_, elem) => inner(elem),
        Parts::Variant(tag, constructors) => variant(*tag, constructors, &inner),
    }
}

/// Whether there is a variant with its tag, so that elements of an array differ.
fn has_tag(parts: &Parts) -> bool {
    match parts {
        Parts::Leaf(_) => false,
        Parts::Tuple(items) => items.iter().any(has_tag),
        Parts::Record(fields) => fields.iter().any(|(_, field)| has_tag(field)),
        Parts::Array(_, elem) => has_tag(elem),
        Parts::Variant(tag, constructors) => {
            tag.is_some() || constructors.iter().flat_map(|(_, fields)| fields).any(has_tag)
        }
    }
}

fn array_out(precision: Precision, leaf: &Output, outer: usize) -> String {
    let rank = match &leaf.dims {
        Dims::Known(dims) => dims.len(),
        Dims::Found(sizes) => sizes.len(),
    };
    let (scalar, array) = match leaf.elem {
        ScalarTy::Real => ("number", reals(precision)),
        ScalarTy::Int => ("bigint", "BigInt64Array"),
        ScalarTy::Bool => ("boolean", "Uint8Array"),
    };
    match rank.saturating_sub(outer) {
        0 => scalar.to_string(),
        1 => array.to_string(),
        _ => format!("Dense<{array}>"),
    }
}

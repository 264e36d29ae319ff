//! A Rust module that calls a library: functions over views of `ndarray`, with a context for each
//! thread.

use std::collections::BTreeMap;

use lambada::Operator;
use lambada_prim::{Precision, ScalarTy};

use super::describe::{Dims, Function, Input, Library, Output, Role};
use super::sizes::{Extent, Spelling};

const COMMON: &str = include_str!("module.rs.txt");

/// The text of a file with the module `NAME`, for `include_model!`.
pub fn rust_module(library: &Library) -> String {
    let name = &library.name;
    let mut text = format!(
        "/// Made by Lambada {} from {}.\n",
        env!("CARGO_PKG_VERSION"),
        one_line(&library.source)
    );
    text += &library.doc.as_deref().map(doc).unwrap_or_default();
    text += "#[allow(unsafe_code, non_snake_case, non_camel_case_types, dead_code, unused_variables, unused_mut, unused_imports, clippy::all)]\n";
    text += &format!("pub mod {} {{\n", ident(name));
    text += &COMMON.replace('@', name);
    text += &format!("\n#[link(name = \"{name}\", kind = \"static\")]\nunsafe extern \"C\" {{\n");
    for function in &library.functions {
        text += &format!(
            "    fn {}_{}({}) -> i32;\n",
            name,
            function.name,
            foreign(library.precision, function)
        );
    }
    text += "}\n";
    for function in &library.functions {
        text += &Printer { library, function, out: String::new() }.print();
    }
    text + "}\n"
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

fn doc(text: &str) -> String {
    text.lines().map(|line| format!("/// {line}\n")).collect()
}

/// The name as an identifier of Rust.
fn ident(name: &str) -> String {
    match name {
        "self" | "super" | "crate" | "Self" | "_" => format!("{name}_"),
        _ if KEYWORDS.contains(&name) => format!("r#{name}"),
        _ => name.to_string(),
    }
}

const KEYWORDS: [&str; 46] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where",
];

fn scalar(precision: Precision, elem: ScalarTy) -> &'static str {
    match elem {
        ScalarTy::Real => precision.name(),
        ScalarTy::Int => "i64",
        ScalarTy::Bool => "bool",
    }
}

fn zero(precision: Precision, elem: ScalarTy) -> &'static str {
    match (elem, precision) {
        (ScalarTy::Real, Precision::F64) => "0.0_f64",
        (ScalarTy::Real, Precision::F32) => "0.0_f32",
        (ScalarTy::Int, _) => "0_i64",
        (ScalarTy::Bool, _) => "false",
    }
}

/// Declares the parameters of the C function.
fn foreign(precision: Precision, function: &Function) -> String {
    let mut params = vec!["context: *mut Context".to_string()];
    for input in &function.inputs {
        let ty = scalar(precision, input.elem);
        let pointer = if input.dims.is_empty() { "" } else { "*const " };
        params.push(format!("{}: {pointer}{ty}", ident(&input.name)));
    }
    for output in &function.outputs {
        let (name, ty) = (ident(&output.name), scalar(precision, output.elem));
        match &output.dims {
            Dims::Known(_) => params.push(format!("{name}: *mut {ty}")),
            Dims::Found(sizes) => {
                params.push(format!("{name}: *mut *const {ty}"));
                params.extend(sizes.iter().map(|size| format!("{}: *mut i64", ident(size))));
            }
        }
    }
    params.join(", ")
}

/// `log_density` as `LogDensity`.
fn type_name(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    name.split('_').map(word).collect()
}

struct Printer<'a> {
    library: &'a Library,
    function: &'a Function,
    out: String,
}

/// A part of the Rust function's result: one or more results of the C function.
struct ReturnPart<'a> {
    /// The type.
    ty: String,
    /// For a struct: its fields with their results.
    fields: Option<Vec<(String, &'a Output)>>,
    outputs: Vec<&'a Output>,
}

impl<'a> Printer<'a> {
    fn line(&mut self, text: &str) {
        self.out += &format!("    {text}\n");
    }

    fn print(mut self) -> String {
        let given = self.given();
        for each in &given {
            self.structure(each);
        }
        let types: Vec<&str> = given.iter().map(|each| each.ty.as_str()).collect();
        let ty = if let [single] = types[..] {
            single.to_string()
        } else {
            format!("({})", types.join(", "))
        };
        self.out += "\n";
        self.out += &self.documentation();
        let params: Vec<String> =
            self.parameters().map(|input| parameter(self.library.precision, input)).collect();
        self.out += &format!(
            "pub fn {}({}) -> Result<{ty}, Error> {{\n",
            ident(&self.function.name),
            params.join(", ")
        );
        self.sizes();
        self.arrays();
        self.room();
        self.call();
        for each in &given {
            let found: Vec<String> =
                each.outputs.iter().filter_map(|output| found(output)).collect();
            found.iter().for_each(|line| self.line(line));
        }
        let values: Vec<String> = given.iter().map(construct).collect();
        let value = if let [single] = &values[..] {
            single.clone()
        } else {
            format!("({})", values.join(", "))
        };
        self.line(&format!("Ok({value})"));
        self.line("})");
        self.out + "}\n"
    }

    /// The parameters of the Rust function: all except sizes, which arrays carry.
    fn parameters(&self) -> impl Iterator<Item = &'a Input> + use<'a> {
        self.function.inputs.iter().filter(|input| input.role != Role::Size)
    }

    fn documentation(&self) -> String {
        let of = &self.function.entry;
        let head = match self.function.operator {
            Operator::Value => String::new(),
            Operator::Grad => format!("/// Value and gradient of `{of}`.\n///\n"),
            Operator::Jvp => format!("/// Value and tangent of `{of}`.\n///\n"),
            Operator::Vjp => {
                format!("/// Value of `{of}`, and the cotangents of the parameters.\n///\n")
            }
            Operator::Jacobian => format!("/// Value and Jacobian of `{of}`.\n///\n"),
            Operator::Hessian => format!("/// Value and Hessian of `{of}`.\n///\n"),
        };
        let text = self.function.doc.as_deref().map(doc).unwrap_or_default();
        format!("{head}{text}///\n/// `{of} : {}`\n", one_line(&self.function.ty))
    }

    /// The value and the derivative.
    fn given(&self) -> Vec<ReturnPart<'a>> {
        let is_derivative = |output: &&Output| match output.role {
            Role::Tangent(_) | Role::Cotangent(_) => true,
            Role::Rows(_) => self.function.operator != Operator::Value,
            Role::Value(_) | Role::Size => false,
        };
        let (derivatives, values): (Vec<&Output>, Vec<&Output>) =
            self.function.outputs.iter().partition(is_derivative);
        let entry = type_name(&self.function.entry);
        let value = if self.function.operator == Operator::Value { "Value" } else { "" };
        let own = format!("{}{value}", type_name(&self.function.name));
        let mut given = vec![match self.function.operator {
            Operator::Value => self.together(values, &own, false),
            Operator::Jacobian | Operator::Hessian => self.together(values, &own, true),
            Operator::Grad | Operator::Jvp | Operator::Vjp => {
                self.together(values, &format!("{entry}Value"), false)
            }
        }];
        match self.function.operator {
            Operator::Value => {}
            Operator::Jacobian | Operator::Hessian => {}
            Operator::Grad | Operator::Vjp => given.push(self.together(derivatives, &own, true)),
            Operator::Jvp => given.push(self.together(derivatives, &own, false)),
        }
        given
    }

    /// Groups results: a single one stands for itself, unless `always` requires a struct.
    fn together(&self, outputs: Vec<&'a Output>, name: &str, always: bool) -> ReturnPart<'a> {
        if let ([single], false) = (&outputs[..], always) {
            return ReturnPart {
                ty: array_type(self.library.precision, single),
                fields: None,
                outputs,
            };
        }
        let field = |output: &Output| match &output.role {
            Role::Cotangent(of) if !of.is_empty() => ident(of),
            Role::Cotangent(_) | Role::Tangent(_) | Role::Value(_) | Role::Rows(_) | Role::Size => {
                ident(output.name.strip_prefix("value_").unwrap_or(&output.name))
            }
        };
        // A tuple component is called by its number.
        let named = |output: &Output| {
            let name = field(output);
            if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
        };
        let fields = outputs.iter().map(|output| (named(output), *output)).collect();
        ReturnPart { ty: name.to_string(), fields: Some(fields), outputs }
    }

    fn structure(&mut self, given: &ReturnPart) {
        let Some(fields) = &given.fields else { return };
        // The struct for the value has already been printed with the function itself.
        let again = self.function.operator != Operator::Value && given.ty.ends_with("Value");
        if again
            && self.library.functions.iter().any(|other| {
                other.entry == self.function.entry && other.operator == Operator::Value
            })
        {
            return;
        }
        self.out += &format!(
            "\n/// What [`{}`] gives.\n#[derive(Clone, Debug, PartialEq)]\npub struct {} {{\n",
            ident(&self.function.name),
            given.ty
        );
        for (name, output) in fields {
            self.out += &format!(
                "    /// {}.\n    pub {name}: {},\n",
                capital(&output.role.text()),
                array_type(self.library.precision, output)
            );
        }
        self.out += "}\n";
    }

    /// Prints code that takes the sizes from the arrays.
    fn sizes(&mut self) {
        let mut from: BTreeMap<&str, String> = BTreeMap::new();
        for input in self.parameters() {
            for (axis, dim) in input.dims.iter().enumerate() {
                if let Extent::Argument(name) = dim {
                    from.entry(name).or_insert_with(|| {
                        format!("{}.shape()[{axis}] as i64", ident(&input.name))
                    });
                }
            }
        }
        let sizes: Vec<&Input> =
            self.function.inputs.iter().filter(|input| input.role == Role::Size).collect();
        for size in sizes {
            let value = from.get(&*size.name).cloned().unwrap_or_else(|| "0".to_string());
            self.line(&format!("let {}: i64 = {value};", ident(&size.name)));
        }
    }

    /// Prints checks of sizes against the signature, and conversions to dense arrays.
    fn arrays(&mut self) {
        for input in self.parameters().filter(|input| !input.dims.is_empty()) {
            for (axis, dim) in input.dims.iter().enumerate() {
                let (name, size) = (ident(&input.name), dim.text(Spelling::Rust));
                self.line(&format!(
                    "lam_fits(\"{}\", {axis}, {name}.shape()[{axis}], {size}, \"{}\")?;",
                    input.name,
                    dim.text(Spelling::Plain)
                ));
            }
            self.line(&format!("let {0} = {0}.as_standard_layout();", ident(&input.name)));
        }
    }

    /// Prints the allocation of results.
    fn room(&mut self) {
        for output in &self.function.outputs {
            let name = ident(&output.name);
            let zero = zero(self.library.precision, output.elem);
            match &output.dims {
                Dims::Known(dims) if dims.is_empty() => {
                    self.line(&format!("let mut {name} = {zero};"))
                }
                Dims::Known(dims) => {
                    let sizes: Vec<String> = dims
                        .iter()
                        .map(|dim| format!("lam_size({})?", dim.text(Spelling::Rust)))
                        .collect();
                    self.line(&format!(
                        "let mut {name} = ::ndarray::Array::from_elem([{}], {zero});",
                        sizes.join(", ")
                    ));
                }
                Dims::Found(sizes) => {
                    self.line(&format!(
                        "let mut {name}: *const {} = ::std::ptr::null();",
                        scalar(self.library.precision, output.elem)
                    ));
                    sizes
                        .iter()
                        .for_each(|size| self.line(&format!("let mut {} = 0_i64;", ident(size))));
                }
            }
        }
    }

    fn call(&mut self) {
        let input = |input: &Input| {
            let name = ident(&input.name);
            if input.dims.is_empty() { name } else { format!("{name}.as_ptr()") }
        };
        let mut args: Vec<String> = self.function.inputs.iter().map(input).collect();
        for output in &self.function.outputs {
            let name = ident(&output.name);
            match &output.dims {
                Dims::Known(dims) if dims.is_empty() => args.push(format!("&mut {name}")),
                Dims::Known(_) => args.push(format!("{name}.as_mut_ptr()")),
                Dims::Found(sizes) => {
                    args.push(format!("&mut {name}"));
                    args.extend(sizes.iter().map(|size| format!("&mut {}", ident(size))));
                }
            }
        }
        let all: String = args.iter().map(|arg| format!(", {arg}")).collect();
        self.line("lam_context(|lam_context| {");
        self.line("// SAFETY: the context is this thread's alone; arrays are dense and of the sizes that are passed; results have room for as many");
        self.line("// elements as the call writes.");
        self.line(&format!(
            "let lam_status = unsafe {{ {}_{}(lam_context{all}) }};",
            self.library.name, self.function.name
        ));
        self.line("lam_check(lam_context, lam_status)?;");
    }
}

fn capital(text: &str) -> String {
    type_name(text.split('_').next().unwrap_or_default())
        + &text[text.find('_').unwrap_or(text.len())..]
}

/// `w: ArrayView1<f64>`
fn parameter(precision: Precision, input: &Input) -> String {
    let ty = scalar(precision, input.elem);
    let name = ident(&input.name);
    match input.dims.len() {
        0 => format!("{name}: {ty}"),
        rank => format!("{name}: ::ndarray::ArrayView<'_, {ty}, ::ndarray::Dim<[usize; {rank}]>>"),
    }
}

/// `Array1<f64>`
fn array_type(precision: Precision, output: &Output) -> String {
    let rank = match &output.dims {
        Dims::Known(dims) => dims.len(),
        Dims::Found(sizes) => sizes.len(),
    };
    let ty = scalar(precision, output.elem);
    if rank == 0 {
        ty.to_string()
    } else {
        format!("::ndarray::Array<{ty}, ::ndarray::Dim<[usize; {rank}]>>")
    }
}

/// Prints a copy of a result in the context.
fn found(output: &Output) -> Option<String> {
    let Dims::Found(sizes) = &output.dims else { return None };
    let name = ident(&output.name);
    let sizes: Vec<String> = sizes.iter().map(|size| format!("{} as usize", ident(size))).collect();
    Some(format!(
        "// SAFETY: the call has stored a pointer to as many elements as its sizes say.\n    let {name} = unsafe {{ lam_copy({name}, [{}]) }};",
        sizes.join(", ")
    ))
}

/// Prints the construction of a result.
fn construct(given: &ReturnPart) -> String {
    match &given.fields {
        None => given.outputs.first().map(|output| ident(&output.name)).unwrap_or_default(),
        Some(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(field, output)| format!("{field}: {}", ident(&output.name)))
                .collect();
            format!("{} {{ {} }}", given.ty, fields.join(", "))
        }
    }
}

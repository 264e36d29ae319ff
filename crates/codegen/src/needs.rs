//! What a unit needs besides its functions: helpers, prototypes of `libm`, macros. Only what is used is printed, and no header is
//! included: reading `math.h` and its kin takes a C compiler a third of the time that a small unit takes in all.

use std::collections::BTreeSet;

use lambada_prim::{ArrayPrim, Prim, ScalarTy, c_helper};

use crate::Memory;
use crate::lanes::{self, Helper, memory_type, register_type};
use crate::runtime;

/// What has been used so far.
#[derive(Default)]
pub(crate) struct Needs {
    prims: BTreeSet<Prim>,
    vectors: BTreeSet<Helper>,
    /// Functions of the vector mathematics, and their lanes.
    maths: BTreeSet<(&'static str, u16)>,
    kernels: BTreeSet<ArrayPrim>,
    fills: BTreeSet<ScalarTy>,
    copies: bool,
    calls: bool,
    nodes: bool,
    inspections: bool,
    teams: bool,
}

impl Needs {
    /// A primitive on scalars.
    pub fn prim(&mut self, prim: Prim) {
        self.prims.insert(prim);
    }

    /// Vectors of so many lanes.
    pub fn lanes(&mut self, lanes: u16) {
        if lanes > 1 {
            self.vectors.insert(Helper::Types(lanes));
        }
    }

    /// A helper for vectors; gives its name.
    pub fn vector(&mut self, helper: Helper) -> String {
        match helper {
            Helper::Each(prim, lanes) => {
                self.prim(prim);
                self.lanes(lanes);
                if lanes::selects(prim) {
                    self.vectors.insert(Helper::Select(prim.result(), lanes));
                }
            }
            Helper::StoreSome(elem, lanes) => {
                self.vector(Helper::Store(elem, lanes));
            }
            Helper::Math(name, lanes) => {
                self.vector(Helper::Select(ScalarTy::Real, lanes));
                self.vector(Helper::Splat(ScalarTy::Real, lanes));
                self.maths.insert((name, lanes));
                return helper.name();
            }
            Helper::Fold(op, elem, lanes) => {
                self.prim(op.prim(elem));
                self.lanes(lanes);
            }
            Helper::Types(lanes)
            | Helper::Splat(_, lanes)
            | Helper::Load(_, lanes)
            | Helper::Store(_, lanes)
            | Helper::LoadSome(_, lanes)
            | Helper::Gather(_, lanes)
            | Helper::Scatter(_, lanes)
            | Helper::Select(_, lanes) => {
                self.lanes(lanes);
            }
        }
        self.vectors.insert(helper);
        helper.name()
    }

    /// `lam_fill`; gives its name.
    pub fn fill(&mut self, elem: ScalarTy) -> String {
        self.fills.insert(elem);
        format!("lam_fill_{elem}")
    }

    /// `lam_copy`; gives its name.
    pub fn copy(&mut self) -> &'static str {
        self.copies = true;
        "lam_copy"
    }

    /// The kernel of an array primitive; gives its name.
    pub fn kernel(&mut self, prim: ArrayPrim) -> &'static str {
        self.kernels.insert(prim);
        prim.row().kernel.name
    }

    /// Functions that call each other.
    pub fn calls(&mut self) {
        self.calls = true;
    }

    /// Nodes.
    pub fn nodes(&mut self) {
        self.nodes = true;
    }

    /// Values that are shown.
    pub fn inspections(&mut self) {
        self.inspections = true;
    }

    /// Loops whose iterations run on several threads.
    pub fn teams(&mut self) {
        self.teams = true;
    }

    /// All of it, in front of the functions, which are given to see what they mention.
    pub fn text(&self, functions: &str, memory: Memory) -> String {
        let kinds = runtime::Kinds {
            calls: self.calls,
            nodes: self.nodes,
            inspections: self.inspections,
            teams: self.teams,
        };
        let runtime = runtime::memory(memory, kinds);
        let mut helpers = vec![runtime, runtime::sizes(kinds)];
        helpers.extend(self.teams.then(|| runtime::TEAMS.to_string()));
        helpers.extend(self.calls.then(|| runtime::CALLS.to_string()));
        helpers.extend(self.inspections.then(|| runtime::INSPECTIONS.to_string()));
        helpers.extend(self.nodes.then(|| runtime::nodes(memory)));
        let mut scalar: Vec<&str> = self
            .prims
            .iter()
            .filter_map(|prim| prim.row().c.helper())
            .map(|helper| helper.name)
            .collect();
        scalar.sort_unstable();
        scalar.dedup();
        let mut done = BTreeSet::new();
        scalar.into_iter().for_each(|name| with_needs(name, &mut done, &mut helpers));
        helpers.extend(self.vectors.iter().map(|helper| helper.definition()));
        let mut done = BTreeSet::new();
        self.maths.iter().for_each(|math| with_math(*math, &mut done, &mut helpers));
        let mut texts: Vec<&str> = Vec::new();
        for text in self.kernels.iter().flat_map(|prim| prim.row().kernel.texts) {
            if !texts.contains(text) {
                texts.push(text);
            }
        }
        helpers.extend(texts.into_iter().map(str::to_string));
        helpers.extend(self.copies.then(|| runtime::COPY.to_string()));
        helpers.extend(self.fills.iter().map(|elem| fill(*elem)));
        let helpers = helpers.join("\n");
        let mentioned: BTreeSet<&str> =
            identifiers(&helpers).chain(identifiers(functions)).collect();
        format!("{}\n{}{helpers}", runtime::INTERFACE, declarations(&mentioned))
    }
}

/// The helper after those that it needs.
fn with_needs(name: &'static str, done: &mut BTreeSet<&'static str>, out: &mut Vec<String>) {
    let helper = c_helper(name).expect("a helper needs helpers that exist");
    if done.insert(name) {
        helper.needs.iter().for_each(|need| with_needs(need, done, out));
        out.push(helper.text.to_string());
    }
}

/// The function on vectors after those that it needs.
fn with_math(
    (name, lanes): (&'static str, u16),
    done: &mut BTreeSet<String>,
    out: &mut Vec<String>,
) {
    let text = Helper::Math(name, lanes).definition();
    // What has no lanes is there once for all widths.
    if done.contains(&text) {
        return;
    }
    lanes::math(name).needs.iter().for_each(|need| with_math((need, lanes), done, out));
    done.insert(text.clone());
    out.push(text);
}

fn fill(elem: ScalarTy) -> String {
    let value = register_type(lambada_loops::Ty::scalar(elem));
    format!(
        "static inline void lam_fill_{elem}({} *to, {value} x, int64_t count) {{\n    for (int64_t k = 0; k < count; k++) to[k] = x;\n}}\n",
        memory_type(elem)
    )
}

/// Macros and prototypes, of what is mentioned.
fn declarations(mentioned: &BTreeSet<&str>) -> String {
    let macros = MACROS
        .iter()
        .filter(|(name, _)| mentioned.contains(name))
        .map(|(name, value)| format!("#define {name} {value}\n"));
    let prototypes = LIBM
        .iter()
        .filter(|(name, _)| mentioned.contains(name))
        .map(|(name, params)| format!("double {name}({params});\n"));
    let text: String = macros.chain(prototypes).collect();
    if text.is_empty() { text } else { format!("{text}\n") }
}

/// What looks like an identifier.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// What `math.h` and `stdint.h` would define.
const MACROS: &[(&str, &str)] = &[
    ("INFINITY", "__builtin_inf()"),
    ("NAN", "__builtin_nan(\"\")"),
    ("INT64_MAX", "__INT64_MAX__"),
    ("INT64_MIN", "(-__INT64_MAX__ - 1)"),
];

/// The functions of `libm` that give a double, and their parameters.
const LIBM: &[(&str, &str)] = &[
    ("acos", "double"),
    ("acosh", "double"),
    ("asin", "double"),
    ("asinh", "double"),
    ("atan", "double"),
    ("atan2", "double, double"),
    ("atanh", "double"),
    ("cbrt", "double"),
    ("ceil", "double"),
    ("copysign", "double, double"),
    ("cos", "double"),
    ("cosh", "double"),
    ("erf", "double"),
    ("erfc", "double"),
    ("exp", "double"),
    ("exp2", "double"),
    ("expm1", "double"),
    ("fabs", "double"),
    ("floor", "double"),
    ("fma", "double, double, double"),
    ("fmax", "double, double"),
    ("fmin", "double, double"),
    ("fmod", "double, double"),
    ("hypot", "double, double"),
    ("ldexp", "double, int"),
    ("lgamma", "double"),
    ("log", "double"),
    ("log10", "double"),
    ("log1p", "double"),
    ("log2", "double"),
    ("nearbyint", "double"),
    ("pow", "double, double"),
    ("rint", "double"),
    ("round", "double"),
    ("sin", "double"),
    ("sinh", "double"),
    ("sqrt", "double"),
    ("tan", "double"),
    ("tanh", "double"),
    ("tgamma", "double"),
    ("trunc", "double"),
];

/// Names that no local variable may have: the words of C, what this file declares, and what the interface and the helpers use.
pub(crate) fn reserved() -> impl Iterator<Item = &'static str> {
    LIBM.iter().chain(MACROS).map(|(name, _)| *name).chain(KEYWORDS.iter().copied())
}

const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "complex",
    "const",
    "continue",
    "ctx",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "frame",
    "goto",
    "if",
    "imaginary",
    "inline",
    "int",
    "int64_t",
    "lam_alloc",
    "lam_chunk",
    "lam_copy",
    "lam_fail",
    "lam_fill_bool",
    "lam_fill_int",
    "lam_fill_real",
    "lam_mark",
    "lam_release",
    "lambada_word",
    "linux",
    "long",
    "main",
    "noreturn",
    "nullptr",
    "register",
    "restrict",
    "results",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "status",
    "struct",
    "switch",
    "true",
    "typedef",
    "typeof",
    "uint64_t",
    "uintptr_t",
    "union",
    "unix",
    "unlikely",
    "unsigned",
    "void",
    "volatile",
    "while",
];

/// May a local variable not have this name, because helpers for vectors or for primitives have names like it?
pub(crate) fn is_reserved(name: &str) -> bool {
    let vector = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    name.starts_with("lam_")
        || name.starts_with("lambada_")
        || vector("f64x")
        || vector("i64x")
        || vector("mask")
}

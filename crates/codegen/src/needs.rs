//! The needs of a unit besides its functions: helpers, prototypes of `libm`, macros. Only used ones
//! are printed, and no header is included: reading `math.h` and its kin takes a C compiler a third
//! of the time that a small unit takes in all.

use std::collections::BTreeSet;

use lambada_prim::{ArrayPrim, Precision, Prim, ScalarTy, c_helper, single_helper};

use crate::Memory;
use crate::lanes::{self, Helper, memory_type, register_type};
use crate::runtime;

/// The uses so far.
pub(crate) struct Needs {
    /// The precision of reals.
    precision: Precision,
    prims: BTreeSet<Prim>,
    /// Helpers, for reals of this unit or of 64 bits.
    vectors: BTreeSet<(Helper, Precision)>,
    /// Functions of the vector mathematics, and their lanes.
    maths: BTreeSet<(&'static str, u16)>,
    kernels: BTreeSet<ArrayPrim>,
    fills: BTreeSet<ScalarTy>,
    copies: bool,
    /// The kinds of programs that the runtime has to support.
    pub kinds: runtime::Kinds,
    /// Whether results may lie in memory of the host.
    may_host: bool,
}

impl Needs {
    /// No uses yet, in a unit with this precision, whose results the host may have in memory of its
    /// own.
    pub fn new(precision: Precision, may_host: bool) -> Needs {
        Needs {
            precision,
            prims: BTreeSet::new(),
            vectors: BTreeSet::new(),
            maths: BTreeSet::new(),
            kernels: BTreeSet::new(),
            fills: BTreeSet::new(),
            copies: false,
            kinds: runtime::Kinds::default(),
            may_host,
        }
    }

    /// A primitive on scalars.
    pub fn prim(&mut self, prim: Prim) {
        self.prims.insert(prim);
    }

    /// Vectors of this number of lanes.
    pub fn lanes(&mut self, lanes: u16) {
        if lanes > 1 {
            self.vectors.insert((Helper::Types(lanes), Precision::F64));
            self.vectors.insert((Helper::Types(lanes), self.precision));
        }
    }

    /// A helper for vectors; gives its name.
    pub fn vector(&mut self, helper: Helper) -> String {
        match helper {
            Helper::Each(prim, lanes) => {
                self.prim(prim);
                self.lanes(lanes);
                if lanes::selects(self.precision, prim) {
                    self.vectors.insert((Helper::Select(prim.result(), lanes), self.precision));
                }
            }
            Helper::StoreSome(elem, lanes) => {
                self.vector(Helper::Store(elem, lanes));
            }
            Helper::Transpose(elem, lanes) => {
                self.vector(Helper::Load(elem, lanes));
                self.vector(Helper::Store(elem, lanes));
            }
            Helper::Math(name, lanes) => {
                self.math(name, lanes);
                return helper.name(self.precision);
            }
            Helper::Fold(op, elem, lanes) => {
                self.prim(op.prim(elem));
                self.lanes(lanes);
            }
            Helper::Types(lanes)
            | Helper::Splat(_, lanes)
            | Helper::Load(_, lanes)
            | Helper::Held(lanes)
            | Helper::Store(_, lanes)
            | Helper::LoadSome(_, lanes)
            | Helper::Gather(_, lanes)
            | Helper::Scatter(_, lanes)
            | Helper::Select(_, lanes)
            | Helper::Splice(_, lanes, _) => {
                self.lanes(lanes);
            }
        }
        self.vectors.insert((helper, self.precision));
        helper.name(self.precision)
    }

    /// A function on vectors, and its helpers.
    fn math(&mut self, name: &'static str, lanes: u16) {
        self.lanes(lanes);
        let widened = self.precision == Precision::F32 && single_helper(name).is_none();
        let of = if widened { Precision::F64 } else { self.precision };
        self.vectors.insert((Helper::Select(ScalarTy::Real, lanes), of));
        self.vectors.insert((Helper::Splat(ScalarTy::Real, lanes), of));
        self.maths.insert((name, lanes));
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
        self.kinds.calls = true;
    }

    /// Nodes.
    pub fn nodes(&mut self) {
        self.kinds.nodes = true;
    }

    /// Inspections.
    pub fn inspections(&mut self) {
        self.kinds.inspections = true;
    }

    /// Results in memory of the host; whether there may be any.
    pub fn hosted(&mut self) -> bool {
        self.kinds.hosted |= self.may_host;
        self.may_host
    }

    /// Loops whose iterations run on several threads.
    pub fn teams(&mut self) {
        self.kinds.teams = true;
    }

    /// The text before the functions: declarations of the names that they mention.
    pub fn text(&self, functions: &str, memory: Memory) -> String {
        let kinds = self.kinds;
        let runtime = runtime::memory(memory, kinds);
        let mut helpers = vec![runtime, runtime::sizes(kinds)];
        helpers.extend(kinds.teams.then(|| runtime::TEAMS.to_string()));
        helpers.extend(kinds.turns.then(|| runtime::TURNS.to_string()));
        helpers.extend(kinds.hosted.then(|| runtime::hosted(kinds)));
        helpers.extend(kinds.calls.then(|| runtime::CALLS.to_string()));
        helpers.extend(kinds.inspections.then(|| runtime::INSPECTIONS.to_string()));
        helpers.extend(kinds.nodes.then(|| runtime::nodes(memory, self.precision)));
        let mut scalar: Vec<&str> = self
            .prims
            .iter()
            .filter_map(|prim| prim.row().c.helper())
            .map(|helper| helper.name)
            .collect();
        scalar.sort_unstable();
        scalar.dedup();
        let mut done = BTreeSet::new();
        let precision = self.precision;
        scalar.into_iter().for_each(|name| with_needs(precision, name, &mut done, &mut helpers));
        helpers.extend(self.vectors.iter().map(|(helper, of)| helper.definition(*of)));
        let mut done = BTreeSet::new();
        for (name, lanes) in &self.maths {
            with_math(precision, (name, *lanes), &mut done, &mut helpers);
        }
        let mut texts: Vec<&str> = Vec::new();
        for text in self.kernels.iter().flat_map(|prim| prim.row().kernel.texts) {
            if !texts.contains(text) {
                texts.push(text);
            }
        }
        if !texts.is_empty() {
            helpers
                .push(format!("typedef {} lam_element; /* what arrays have */\n", precision.c()));
        }
        helpers.extend(texts.into_iter().map(str::to_string));
        helpers.extend(self.copies.then(|| runtime::COPY.to_string()));
        helpers.extend(self.fills.iter().map(|elem| fill(precision, *elem)));
        let helpers = helpers.join("\n");
        let mentioned: BTreeSet<&str> =
            identifiers(&helpers).chain(identifiers(functions)).collect();
        format!(
            "{}\n{}{helpers}",
            runtime::interface(precision),
            declarations(precision, &mentioned)
        )
    }
}

/// The helper after its needs.
fn with_needs(
    precision: Precision,
    name: &'static str,
    done: &mut BTreeSet<&'static str>,
    out: &mut Vec<String>,
) {
    let helper = c_helper(name).expect("a helper needs helpers that exist");
    if done.insert(name) {
        helper.needs.iter().for_each(|need| with_needs(precision, need, done, out));
        out.push(helper.c(precision));
    }
}

/// The function on vectors after its needs.
fn with_math(
    precision: Precision,
    (name, lanes): (&'static str, u16),
    done: &mut BTreeSet<String>,
    out: &mut Vec<String>,
) {
    let text = Helper::Math(name, lanes).definition(precision);
    // A function without lanes stands there once for all widths.
    if done.contains(&text) {
        return;
    }
    match (precision, single_helper(name)) {
        (Precision::F64, _) => {
            let needs = lanes::math(name).needs.iter();
            needs.for_each(|need| with_math(precision, (need, lanes), done, out));
        }
        (Precision::F32, Some(own)) => {
            own.needs.iter().for_each(|need| with_math(precision, (need, lanes), done, out));
        }
        (Precision::F32, None) => with_math(Precision::F64, (name, lanes), done, out),
    }
    done.insert(text.clone());
    out.push(text);
}

/// Fills the first elements one by one, and then with copies of the filled ones, as far as these
/// are in the cache.
fn fill(precision: Precision, elem: ScalarTy) -> String {
    let (memory, value) =
        (memory_type(precision, elem), register_type(precision, lambada_loops::Ty::scalar(elem)));
    format!(
        "static inline void lam_fill_{elem}({memory} *to, {value} x, int64_t count) {{
    for (int64_t k = 0; k < count && k < 32; k++) to[k] = x;
    for (int64_t k = 32, more; k < count; k += more) {{
        more = k < count - k ? k : count - k;
        if (more > 1024) more = 1024;
        __builtin_memcpy(to + k, to, (uint64_t)more * sizeof *to);
    }}
}}
"
    )
}

/// The macros and prototypes that are mentioned.
fn declarations(precision: Precision, mentioned: &BTreeSet<&str>) -> String {
    let macros = MACROS
        .iter()
        .filter(|(name, _)| mentioned.contains(name))
        .map(|(name, values)| format!("#define {name} {}\n", values[precision as usize]));
    let prototypes = LIBM
        .iter()
        .filter(|(name, _)| mentioned.contains(name))
        .map(|(name, params)| format!("double {name}({params});\n"));
    let singles = LIBM
        .iter()
        .filter(|(name, _)| mentioned.contains(&*format!("{name}f")))
        .map(|(name, params)| format!("float {name}f({});\n", params.replace("double", "float")));
    let text: String = macros.chain(prototypes).chain(singles).collect();
    if text.is_empty() { text } else { format!("{text}\n") }
}

/// The words in the form of identifiers.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The macros of `math.h` and `stdint.h`, for reals of 64 and of 32 bits.
const MACROS: &[(&str, [&str; 2])] = &[
    ("INFINITY", ["__builtin_inf()", "__builtin_inff()"]),
    ("NAN", ["__builtin_nan(\"\")", "__builtin_nanf(\"\")"]),
    ("INT64_MAX", ["__INT64_MAX__"; 2]),
    ("INT64_MIN", ["(-__INT64_MAX__ - 1)"; 2]),
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

/// Names that no local variable may have: the words of C, the declarations of this file, and names
/// in the interface and the helpers.
pub(crate) fn reserved() -> impl Iterator<Item = &'static str> {
    let libm = LIBM.iter().map(|(name, _)| *name);
    libm.chain(MACROS.iter().map(|(name, _)| *name)).chain(KEYWORDS.iter().copied())
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
    "lam_alloc_kept",
    "lam_alloc_result",
    "lam_chunk",
    "lam_copy",
    "lam_fail",
    "lam_fill_bool",
    "lam_fill_int",
    "lam_fill_real",
    "lam_mark",
    "lam_release",
    "lam_release_arrays",
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

/// Whether a local variable may not have this name, because helpers for vectors or for primitives
/// have names like it.
pub(crate) fn is_reserved(name: &str) -> bool {
    let vector = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    name.starts_with("lam_")
        || name.starts_with("lambada_")
        || vector("f64x")
        || vector("i64x")
        || vector("f32x")
        || vector("i32x")
        || vector("mask")
}

//! Vectors: GNU vector types, and the helpers without which some operations on them cannot be spelled.
//!
//! `n` reals are an `f64xn`, `n` integers an `i64xn`, and so are `n` truth values: each lane is 0 or -1, a mask. In memory a truth value is a byte.
//! C has no `?:` on vectors, so a choice is made of masks. What has no spelling on vectors goes lane by lane.

use lambada_loops::Ty;
use lambada_prim::{Prim, ReduceOp, ScalarTy, VectorHelper, vector_helper};

use crate::text::{self, Level, Text};

/// How C names the type of a register.
pub(crate) fn register_type(ty: Ty) -> String {
    match (ty.elem, ty.lanes) {
        (ScalarTy::Real, 1) => "double".to_string(),
        (ScalarTy::Int, 1) => "int64_t".to_string(),
        (ScalarTy::Bool, 1) => "_Bool".to_string(),
        (ScalarTy::Real, lanes) => format!("f64x{lanes}"),
        (ScalarTy::Int | ScalarTy::Bool, lanes) => format!("i64x{lanes}"),
    }
}

/// How C names the type of an element in memory.
pub(crate) fn memory_type(elem: ScalarTy) -> &'static str {
    match elem {
        ScalarTy::Real => "double",
        ScalarTy::Int => "int64_t",
        ScalarTy::Bool => "unsigned char",
    }
}

/// How many bytes an element has in memory.
pub(crate) fn memory_size(elem: ScalarTy) -> u32 {
    match elem {
        ScalarTy::Real | ScalarTy::Int => 8,
        ScalarTy::Bool => 1,
    }
}

/// A helper for vectors that a program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    /// The types themselves.
    Types(u16),
    /// All lanes the same.
    Splat(ScalarTy, u16),
    /// Consecutive elements of memory.
    Load(ScalarTy, u16),
    /// To consecutive elements of memory.
    Store(ScalarTy, u16),
    /// The first of consecutive elements of memory, then zeros.
    LoadSome(ScalarTy, u16),
    /// The first lanes, to consecutive elements of memory.
    StoreSome(ScalarTy, u16),
    /// An element of memory for each lane.
    Gather(ScalarTy, u16),
    /// To an element of memory for each lane.
    Scatter(ScalarTy, u16),
    /// A choice by lane.
    Select(ScalarTy, u16),
    /// All lanes combined.
    Fold(ReduceOp, ScalarTy, u16),
    /// A function of the vector mathematics.
    Math(&'static str, u16),
    /// A primitive that has no spelling on vectors, lane by lane.
    Each(Prim, u16),
}

/// What a type is called in the names of helpers.
fn tag(elem: ScalarTy, lanes: u16) -> String {
    match elem {
        ScalarTy::Real => format!("f64x{lanes}"),
        ScalarTy::Int => format!("i64x{lanes}"),
        ScalarTy::Bool => format!("mask{lanes}"),
    }
}

impl Helper {
    /// The name of the function.
    pub fn name(self) -> String {
        match self {
            Helper::Types(lanes) => format!("f64x{lanes}"),
            Helper::Splat(elem, lanes) => format!("lam_splat_{}", tag(elem, lanes)),
            Helper::Load(elem, lanes) => format!("lam_load_{}", tag(elem, lanes)),
            Helper::Store(elem, lanes) => format!("lam_store_{}", tag(elem, lanes)),
            Helper::LoadSome(elem, lanes) => format!("lam_load_some_{}", tag(elem, lanes)),
            Helper::StoreSome(elem, lanes) => format!("lam_store_some_{}", tag(elem, lanes)),
            Helper::Gather(elem, lanes) => format!("lam_gather_{}", tag(elem, lanes)),
            Helper::Scatter(elem, lanes) => format!("lam_scatter_{}", tag(elem, lanes)),
            Helper::Select(elem, lanes) => format!("lam_select_{}", tag(elem, lanes)),
            Helper::Fold(op, elem, lanes) => format!("lam_fold_{}_{}", op.name(), tag(elem, lanes)),
            Helper::Math(name, lanes) => format!("lam_{name}_x{lanes}"),
            Helper::Each(prim, lanes) => format!("lam_{}_x{lanes}", prim.name()),
        }
    }

    /// Its definition.
    pub fn definition(self) -> String {
        match self {
            Helper::Types(lanes) => types(lanes),
            Helper::Splat(elem, lanes) => self.inline(
                elem,
                lanes,
                &[format!("{} x", register_type(Ty::scalar(elem)))],
                &splat(elem, lanes),
            ),
            Helper::Load(elem, lanes) => self.inline(
                elem,
                lanes,
                &[format!("const {} *p", memory_type(elem))],
                &load(elem, lanes),
            ),
            Helper::Store(elem, lanes) => store(self.name(), elem, lanes),
            Helper::LoadSome(elem, lanes) => {
                let params = [format!("const {} *p", memory_type(elem)), "int64_t count".into()];
                let lane = |k| format!("p[count > {k} ? {k} : count - 1]");
                let some = by_lane(elem, lanes, lane);
                let ty = register_type(Ty { elem, lanes });
                let value = format!("count > 0 ? {some} : ({ty}){{0}}");
                let usual = self.inline(elem, lanes, &params, &value);
                masks(elem, lanes, &usual, || {
                    let value = format!("lam_repeat_last_x{lanes}({}, count)", masked_load(lanes));
                    repeat_last(lanes) + &self.inline(elem, lanes, &params, &value)
                })
            }
            Helper::StoreSome(elem, lanes) => {
                let all = Helper::Store(elem, lanes).name();
                let ty = Ty { elem, lanes };
                let first = format!("    if (count >= {lanes}) return {all}(p, x);\n");
                let statement = |k| format!("if (count > {k}) p[{k}]");
                let usual = store_lanes(&self.name(), ty, "int64_t count", &first, statement);
                masks(elem, lanes, &usual, || {
                    let (name, register) = (self.name(), register_type(ty));
                    let store = masked_store(lanes);
                    format!(
                        "static inline void {name}(double *p, int64_t count, {register} x) {{\n    {store};\n}}\n"
                    )
                })
            }
            Helper::Gather(elem, lanes) => {
                let params = [format!("const {} *p", memory_type(elem)), format!("i64x{lanes} at")];
                let lane = |k| format!("p[at[{k}]]");
                self.inline(elem, lanes, &params, &by_lane(elem, lanes, lane))
            }
            Helper::Scatter(elem, lanes) => {
                let params = format!("i64x{lanes} at");
                let statement = |k| format!("p[at[{k}]]");
                store_lanes(&self.name(), Ty { elem, lanes }, &params, "", statement)
            }
            Helper::Select(elem, lanes) => {
                let ty = register_type(Ty { elem, lanes });
                let params = [format!("i64x{lanes} c"), format!("{ty} x"), format!("{ty} y")];
                self.inline(
                    elem,
                    lanes,
                    &params,
                    &format!("({ty})((c & (i64x{lanes})x) | (~c & (i64x{lanes})y))"),
                )
            }
            Helper::Fold(op, elem, lanes) => {
                let params = [format!("{} x", register_type(Ty { elem, lanes }))];
                self.inline(elem, 1, &params, &fold(op, elem, lanes))
            }
            Helper::Math(name, lanes) => math(name).text.replace('$', &lanes.to_string()),
            Helper::Each(prim, lanes) => each(&self.name(), prim, lanes),
        }
    }

    fn inline(self, elem: ScalarTy, lanes: u16, params: &[String], value: &str) -> String {
        let ty = register_type(Ty { elem, lanes });
        format!(
            "static inline {ty} {}({}) {{\n    return {value};\n}}\n",
            self.name(),
            params.join(", ")
        )
    }
}

/// The text of a function of the vector mathematics.
pub(crate) fn math(name: &str) -> &'static VectorHelper {
    vector_helper(name).expect("a function on vectors needs functions that exist")
}

fn types(lanes: u16) -> String {
    let bytes = u32::from(lanes) * 8;
    format!(
        "typedef double f64x{lanes} __attribute__((vector_size({bytes})));\n\
         typedef int64_t i64x{lanes} __attribute__((vector_size({bytes})));\n\
         typedef double f64x{lanes}_memory __attribute__((vector_size({bytes}), aligned(8), may_alias));\n\
         typedef int64_t i64x{lanes}_memory __attribute__((vector_size({bytes}), aligned(8), may_alias));\n\
         typedef unsigned char mask{lanes}_memory __attribute__((vector_size({lanes}), aligned(1), may_alias));\n"
    )
}

fn splat(elem: ScalarTy, lanes: u16) -> String {
    let ty = register_type(Ty { elem, lanes });
    let lane = if elem == ScalarTy::Bool { "-(int64_t)x" } else { "x" };
    format!("({ty}){{{}}}", vec![lane; lanes as usize].join(", "))
}

fn load(elem: ScalarTy, lanes: u16) -> String {
    let memory = format!("*(const {}_memory *)p", tag(elem, lanes));
    match elem {
        ScalarTy::Real | ScalarTy::Int => memory,
        ScalarTy::Bool => format!("-__builtin_convertvector({memory}, i64x{lanes})"),
    }
}

fn store(name: String, elem: ScalarTy, lanes: u16) -> String {
    let (ty, memory) = (register_type(Ty { elem, lanes }), tag(elem, lanes));
    let value = match elem {
        ScalarTy::Real | ScalarTy::Int => "x".to_string(),
        ScalarTy::Bool => format!("__builtin_convertvector(-x, mask{lanes}_memory)"),
    };
    format!(
        "static inline void {name}({} *p, {ty} x) {{\n    *({memory}_memory *)p = {value};\n}}\n",
        memory_type(elem)
    )
}

/// A value whose lanes are taken one by one.
fn by_lane(elem: ScalarTy, lanes: u16, lane: impl Fn(u16) -> String) -> String {
    let sign = if elem == ScalarTy::Bool { "-(int64_t)" } else { "" };
    let lanes: Vec<String> = (0..lanes).map(|k| format!("{sign}{}", lane(k))).collect();
    format!("({}){{{}}}", register_type(Ty { elem, lanes: lanes.len() as u16 }), lanes.join(", "))
}

/// A helper on the first of the lanes, with the instructions of the processor that have masks where there are such, and else as usual.
fn masks(elem: ScalarTy, lanes: u16, usual: &str, masked: impl FnOnce() -> String) -> String {
    let feature = match lanes {
        4 => "__AVX2__",
        8 => "__AVX512F__",
        _ => return usual.to_string(),
    };
    if elem != ScalarTy::Real {
        return usual.to_string();
    }
    // Shuffles by variable lanes are not in every compiler.
    let here = format!("#if defined {feature} && defined __GNUC__ && !defined __clang__");
    format!("{here}\n{}#else\n{usual}#endif\n", masked())
}

/// The numbers of the lanes.
fn numbers(lanes: u16) -> String {
    let numbers: Vec<String> = (0..lanes).map(|k| k.to_string()).collect();
    format!("(i64x{lanes}){{{}}}", numbers.join(", "))
}

/// The bits of the first lanes: `count` of them, at most eight.
const FIRST_BITS: &str = "(unsigned char)((1u << (count < 0 ? 0 : count > 8 ? 8 : count)) - 1)";

fn masked_load(lanes: u16) -> String {
    match lanes {
        8 => format!("__builtin_ia32_loadupd512_mask(p, (f64x8){{0}}, {FIRST_BITS})"),
        _ => format!("(f64x4)__builtin_ia32_maskloadpd256((const f64x4 *)p, {})", first_lanes()),
    }
}

fn masked_store(lanes: u16) -> String {
    match lanes {
        8 => format!("__builtin_ia32_storeupd512_mask(p, x, {FIRST_BITS})"),
        _ => format!("__builtin_ia32_maskstorepd256((f64x4 *)p, {}, x)", first_lanes()),
    }
}

/// The same for four lanes, as all bits of each.
fn first_lanes() -> String {
    let ty = "long long __attribute__((vector_size(32)))";
    format!("({ty})({} < count)", numbers(4))
}

/// The lane that is the last of `count` goes to those after it; zeros stay if there are none.
fn repeat_last(lanes: u16) -> String {
    let numbers = numbers(lanes);
    format!(
        "static inline f64x{lanes} lam_repeat_last_x{lanes}(f64x{lanes} x, int64_t count) {{\n    \
         const i64x{lanes} lane = {numbers}, first = lane < count;\n    \
         return __builtin_shuffle(x, (first & lane) | (~first & (count - 1)));\n}}\n"
    )
}

/// A function that stores lanes one by one, in order, after what it does first.
fn store_lanes(
    name: &str,
    ty: Ty,
    params: &str,
    first: &str,
    statement: impl Fn(u16) -> String,
) -> String {
    let sign = if ty.elem == ScalarTy::Bool { "-" } else { "" };
    let line = |k| format!("    {} = {sign}x[{k}];\n", statement(k));
    let lines: String = (0..ty.lanes).map(line).collect();
    let (memory, register) = (memory_type(ty.elem), register_type(ty));
    format!("static inline void {name}({memory} *p, {params}, {register} x) {{\n{first}{lines}}}\n")
}

/// Halves until one lane is left, as the interpreter does. Masks are combined without branches.
fn fold(op: ReduceOp, elem: ScalarTy, lanes: u16) -> String {
    if elem == ScalarTy::Bool {
        let bits = if op == ReduceOp::Or { " | " } else { " & " };
        let all: Vec<String> = (0..lanes).map(|k| format!("x[{k}]")).collect();
        return format!("({}) != 0", all.join(bits));
    }
    let spelling = op.prim(elem).row().c;
    let mut values: Vec<Text> = (0..lanes).map(|k| Text::atom(format!("x[{k}]"))).collect();
    while values.len() > 1 {
        let half = values.len() / 2;
        values = (0..half)
            .map(|k| text::apply(spelling, &[values[k].clone(), values[k + half].clone()]))
            .collect();
    }
    values.swap_remove(0).text
}

/// A function on whole vectors, or on one lane after the other.
fn each(name: &str, prim: Prim, lanes: u16) -> String {
    let row = prim.row();
    let ty = register_type(Ty { elem: row.result, lanes });
    let param = |(k, elem): (usize, &ScalarTy)| {
        format!("{} x{k}", register_type(Ty { elem: *elem, lanes }))
    };
    let params: Vec<String> = row.args.iter().enumerate().map(param).collect();
    let body = match BODIES.iter().find(|(other, _)| *other == prim) {
        Some((_, value)) => format!("return {};", value.replace('$', &lanes.to_string())),
        None => format!(
            "{ty} y;\n    for (int k = 0; k < {lanes}; k++) y[k] = {};\n    return y;",
            one_lane(prim)
        ),
    };
    format!("static inline {ty} {name}({}) {{\n    {body}\n}}\n", params.join(", "))
}

/// The primitive on lane k.
fn one_lane(prim: Prim) -> String {
    let row = prim.row();
    let lane = |(k, elem): (usize, &ScalarTy)| match elem {
        ScalarTy::Bool => Text::new(format!("x{k}[k] != 0"), Level::Equality),
        ScalarTy::Real | ScalarTy::Int => Text::atom(format!("x{k}[k]")),
    };
    let args: Vec<Text> = row.args.iter().enumerate().map(lane).collect();
    let value = text::apply(row.c, &args);
    if row.result == ScalarTy::Bool {
        format!("-(int64_t){}", value.at(Level::Atom))
    } else {
        value.text
    }
}

/// The values of those that masks can express, where `$` stands for the number of lanes. Like the scalar helpers, these take the first of equals and keep NaNs.
const BODIES: &[(Prim, &str)] = &[
    (Prim::Min, "lam_select_f64x$((i64x$)(x0 <= x1) | (i64x$)(x0 != x0), x0, x1)"),
    (Prim::Max, "lam_select_f64x$((i64x$)(x0 >= x1) | (i64x$)(x0 != x0), x0, x1)"),
    (Prim::Abs, "(f64x$)((i64x$)x0 & INT64_MAX)"),
    (Prim::MinInt, "lam_select_i64x$((i64x$)(x0 <= x1), x0, x1)"),
    (Prim::MaxInt, "lam_select_i64x$((i64x$)(x0 >= x1), x0, x1)"),
    (Prim::AbsInt, "lam_select_i64x$((i64x$)(x0 < 0), -x0, x0)"),
    (Prim::ShiftLeft, "x0 << (x1 & 63)"),
    (Prim::ShiftRight, "(x0 >> (x1 & 63)) & ((2 << (63 - (x1 & 63))) - 1)"),
    (
        Prim::ToInt,
        "__builtin_convertvector((f64x$)((i64x$)x0 & (i64x$)(x0 > -0x1p63) & (i64x$)(x0 < 0x1p63)), i64x$) | \
         ((i64x$)(x0 >= 0x1p63) & INT64_MAX) | ((i64x$)(x0 <= -0x1p63) & INT64_MIN)",
    ),
    (Prim::SignInt, "(i64x$)(x0 < 0) - (i64x$)(x0 > 0)"),
];

/// Does the helper of a primitive make a choice?
pub(crate) fn selects(prim: Prim) -> bool {
    BODIES.iter().any(|(other, value)| *other == prim && value.contains("lam_select"))
}

/// How a primitive is spelled on vectors.
#[derive(Clone, Copy)]
pub(crate) enum Spelling {
    /// `x + y`; one of the two may be a scalar.
    Arithmetic(&'static str),
    /// `x < y`, which gives a mask; one of the two may be a scalar.
    Comparison(&'static str),
    /// `x & y` on masks.
    Masks(&'static str),
    /// `-x`, `~x`
    Prefix(&'static str),
    /// `~(x ^ y)`
    SameMasks,
    /// From integers to reals.
    Convert,
    /// A choice.
    Select,
}

/// All that have a spelling; the others go lane by lane.
const SPELLINGS: &[(Prim, Spelling)] = &[
    (Prim::Add, Spelling::Arithmetic("+")),
    (Prim::Sub, Spelling::Arithmetic("-")),
    (Prim::Mul, Spelling::Arithmetic("*")),
    (Prim::Div, Spelling::Arithmetic("/")),
    (Prim::Neg, Spelling::Prefix("-")),
    (Prim::AddInt, Spelling::Arithmetic("+")),
    (Prim::SubInt, Spelling::Arithmetic("-")),
    (Prim::MulInt, Spelling::Arithmetic("*")),
    (Prim::NegInt, Spelling::Prefix("-")),
    (Prim::BitAnd, Spelling::Arithmetic("&")),
    (Prim::BitOr, Spelling::Arithmetic("|")),
    (Prim::BitXor, Spelling::Arithmetic("^")),
    (Prim::BitNot, Spelling::Prefix("~")),
    (Prim::Eq, Spelling::Comparison("==")),
    (Prim::Ne, Spelling::Comparison("!=")),
    (Prim::Lt, Spelling::Comparison("<")),
    (Prim::Le, Spelling::Comparison("<=")),
    (Prim::EqInt, Spelling::Comparison("==")),
    (Prim::NeInt, Spelling::Comparison("!=")),
    (Prim::LtInt, Spelling::Comparison("<")),
    (Prim::LeInt, Spelling::Comparison("<=")),
    (Prim::EqBool, Spelling::SameMasks),
    (Prim::NeBool, Spelling::Masks("^")),
    (Prim::And, Spelling::Masks("&")),
    (Prim::Or, Spelling::Masks("|")),
    (Prim::Not, Spelling::Prefix("~")),
    (Prim::ToReal, Spelling::Convert),
    (Prim::Select, Spelling::Select),
    (Prim::SelectInt, Spelling::Select),
    (Prim::SelectBool, Spelling::Select),
];

/// The spelling of a primitive on vectors, if it has one.
pub(crate) fn spelling(prim: Prim) -> Option<Spelling> {
    SPELLINGS.iter().find(|(other, _)| *other == prim).map(|(_, spelling)| *spelling)
}

//! Vectors: GNU vector types, and helpers for operations that have no spelling on them.
//!
//! `n` reals are an `f64xn` or `f32xn`, `n` integers an `i64xn`. `n` truth values are integers as
//! wide as a real: each lane is 0 or -1, a mask; so masks of comparisons of integers change their
//! width if reals have 32 bits. In memory a truth value is a byte. C has no `?:` on vectors, so a
//! choice is made of masks. Other operations without a spelling on vectors go lane by lane.

use lambada_loops::Ty;
use lambada_prim::{
    Precision, Prim, ReduceOp, ScalarTy, VectorHelper, single_helper, vector_helper,
};

use crate::folds;
use crate::held;
use crate::text::{self, Level, Text};
use crate::transpose::{self, Elements};

/// The C type of a register.
pub(crate) fn register_type(precision: Precision, ty: Ty) -> String {
    match (ty.elem, ty.lanes) {
        (ScalarTy::Real, 1) => precision.c().to_string(),
        (ScalarTy::Int, 1) => "int64_t".to_string(),
        (ScalarTy::Bool, 1) => "_Bool".to_string(),
        (ScalarTy::Real, lanes) => format!("{precision}x{lanes}"),
        (ScalarTy::Int, lanes) => format!("i64x{lanes}"),
        (ScalarTy::Bool, lanes) => mask_type(precision, lanes),
    }
}

/// The C type of masks.
pub(crate) fn mask_type(precision: Precision, lanes: u16) -> String {
    match precision {
        Precision::F64 => format!("i64x{lanes}"),
        Precision::F32 => format!("i32x{lanes}"),
    }
}

/// A mask that comes from a comparison of integers.
pub(crate) fn mask_of_integers(precision: Precision, lanes: u16, mask: &Text) -> Text {
    match precision {
        Precision::F64 => text::prefix(&format!("(i64x{lanes})"), mask),
        Precision::F32 => Text::atom(format!(
            "__builtin_convertvector((i64x{lanes})({}), i32x{lanes})",
            mask.text
        )),
    }
}

/// The C type of an element in memory.
pub(crate) fn memory_type(precision: Precision, elem: ScalarTy) -> &'static str {
    match elem {
        ScalarTy::Real => precision.c(),
        ScalarTy::Int => "int64_t",
        ScalarTy::Bool => "unsigned char",
    }
}

/// A helper for vectors that a program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    /// The types themselves.
    Types(u16),
    /// One value in all lanes.
    Splat(ScalarTy, u16),
    /// Consecutive elements of memory.
    Load(ScalarTy, u16),
    /// A vector of reals that is to stay in its register.
    Held(u16),
    /// To consecutive elements of memory.
    Store(ScalarTy, u16),
    /// The first of consecutive elements of memory; the other lanes repeat the last of these.
    LoadSome(ScalarTy, u16),
    /// The first lanes, to consecutive elements of memory.
    StoreSome(ScalarTy, u16),
    /// An element of memory for each lane.
    Gather(ScalarTy, u16),
    /// To an element of memory for each lane.
    Scatter(ScalarTy, u16),
    /// A transposition.
    Transpose(ScalarTy, u16),
    /// A choice by lane.
    Select(ScalarTy, u16),
    /// Consecutive lanes of two vectors, from a lane of the first one on.
    Splice(ScalarTy, u16, u16),
    /// All lanes combined.
    Fold(ReduceOp, ScalarTy, u16),
    /// A function of the vector mathematics.
    Math(&'static str, u16),
    /// A primitive that has no spelling on vectors, lane by lane.
    Each(Prim, u16),
}

/// A type in the names of helpers.
fn tag(precision: Precision, elem: ScalarTy, lanes: u16) -> String {
    match elem {
        ScalarTy::Real => format!("{precision}x{lanes}"),
        ScalarTy::Int => format!("i64x{lanes}"),
        ScalarTy::Bool => format!("mask{lanes}"),
    }
}

impl Helper {
    /// The name of the function, for this precision.
    pub fn name(self, precision: Precision) -> String {
        let tag = |elem, lanes| tag(precision, elem, lanes);
        match self {
            Helper::Types(lanes) => format!("{precision}x{lanes}"),
            Helper::Splat(elem, lanes) => format!("lam_splat_{}", tag(elem, lanes)),
            Helper::Load(elem, lanes) => format!("lam_load_{}", tag(elem, lanes)),
            Helper::Held(lanes) => format!("lam_held_{}", tag(ScalarTy::Real, lanes)),
            Helper::Store(elem, lanes) => format!("lam_store_{}", tag(elem, lanes)),
            Helper::LoadSome(elem, lanes) => format!("lam_load_some_{}", tag(elem, lanes)),
            Helper::StoreSome(elem, lanes) => format!("lam_store_some_{}", tag(elem, lanes)),
            Helper::Gather(elem, lanes) => format!("lam_gather_{}", tag(elem, lanes)),
            Helper::Scatter(elem, lanes) => format!("lam_scatter_{}", tag(elem, lanes)),
            Helper::Transpose(elem, lanes) => format!("lam_transpose_{}", tag(elem, lanes)),
            Helper::Select(elem, lanes) => format!("lam_select_{}", tag(elem, lanes)),
            Helper::Splice(elem, lanes, from) => {
                format!("lam_splice_{from}_{}", tag(elem, lanes))
            }
            Helper::Fold(op, elem, lanes) => format!("lam_fold_{}_{}", op.name(), tag(elem, lanes)),
            Helper::Math(name, lanes) => match precision {
                Precision::F64 => format!("lam_{name}_x{lanes}"),
                Precision::F32 => format!("lam_{name}_f32x{lanes}"),
            },
            Helper::Each(prim, lanes) => format!("lam_{}_x{lanes}", prim.name()),
        }
    }

    /// Its definition.
    pub fn definition(self, precision: Precision) -> String {
        let register_type = |ty| register_type(precision, ty);
        let memory_type = |elem| memory_type(precision, elem);
        match self {
            Helper::Types(lanes) => types(precision, lanes),
            Helper::Splat(elem, lanes) => self.inline(
                precision,
                Ty { elem, lanes },
                &[format!("{} x", register_type(Ty::scalar(elem)))],
                &splat(precision, elem, lanes),
            ),
            Helper::Load(elem, lanes) => self.inline(
                precision,
                Ty { elem, lanes },
                &[format!("const {} *p", memory_type(elem))],
                &load(precision, elem, lanes),
            ),
            Helper::Held(lanes) => held::text(precision, &self.name(precision), lanes),
            Helper::Store(elem, lanes) => store(precision, self.name(precision), elem, lanes),
            Helper::LoadSome(elem, lanes) => {
                let params = [format!("const {} *p", memory_type(elem)), "int64_t count".into()];
                let lane = |k| format!("p[count > {k} ? {k} : count - 1]");
                let some = by_lane(precision, elem, lanes, lane);
                let ty = Ty { elem, lanes };
                let value = format!("count > 0 ? {some} : ({}){{0}}", register_type(ty));
                let usual = self.inline(precision, ty, &params, &value);
                masks(precision, elem, lanes, &usual, |masked| {
                    let value =
                        format!("{}({}, count)", repeat_name(precision, lanes), masked.load());
                    repeat_last(precision, lanes) + &self.inline(precision, ty, &params, &value)
                })
            }
            Helper::StoreSome(elem, lanes) => {
                let all = Helper::Store(elem, lanes).name(precision);
                let ty = Ty { elem, lanes };
                let first = format!("    if (count >= {lanes}) return {all}(p, x);\n");
                let statement = |k| format!("if (count > {k}) p[{k}]");
                let name = self.name(precision);
                let usual = store_lanes(precision, &name, ty, "int64_t count", &first, statement);
                masks(precision, elem, lanes, &usual, |masked| {
                    let (memory, register) = (memory_type(elem), register_type(ty));
                    let store = masked.store();
                    format!(
                        "static inline void {name}({memory} *p, int64_t count, {register} x) {{\n    {store};\n}}\n"
                    )
                })
            }
            Helper::Gather(elem, lanes) => {
                let params = [format!("const {} *p", memory_type(elem)), format!("i64x{lanes} at")];
                let lane = |k| format!("p[at[{k}]]");
                let value = by_lane(precision, elem, lanes, lane);
                self.inline(precision, Ty { elem, lanes }, &params, &value)
            }
            Helper::Scatter(elem, lanes) => {
                let params = format!("i64x{lanes} at");
                let statement = |k| format!("p[at[{k}]]");
                let name = self.name(precision);
                store_lanes(precision, &name, Ty { elem, lanes }, &params, "", statement)
            }
            Helper::Transpose(elem, lanes) => {
                let index = match elem {
                    ScalarTy::Real | ScalarTy::Bool => mask_type(precision, lanes),
                    ScalarTy::Int => format!("i64x{lanes}"),
                };
                let of = Elements {
                    memory: memory_type(elem),
                    vector: register_type(Ty { elem, lanes }),
                    index,
                    load: Helper::Load(elem, lanes).name(precision),
                    store: Helper::Store(elem, lanes).name(precision),
                };
                transpose::definition(&self.name(precision), &of, lanes)
            }
            Helper::Select(elem, lanes) => {
                let ty = Ty { elem, lanes };
                let (mask, register) = (mask_type(precision, lanes), register_type(ty));
                let params =
                    [format!("{mask} c"), format!("{register} x"), format!("{register} y")];
                let value = match (precision, elem) {
                    (Precision::F32, ScalarTy::Int) => {
                        let wide = format!("__builtin_convertvector(c, i64x{lanes})");
                        format!("({wide} & x) | (~{wide} & y)")
                    }
                    (Precision::F32, ScalarTy::Real | ScalarTy::Bool) | (Precision::F64, _) => {
                        format!("({register})((c & ({mask})x) | (~c & ({mask})y))")
                    }
                };
                self.inline(precision, ty, &params, &value)
            }
            Helper::Splice(elem, lanes, from) => {
                let register = register_type(Ty { elem, lanes });
                let index = match elem {
                    ScalarTy::Real | ScalarTy::Bool => mask_type(precision, lanes),
                    ScalarTy::Int => format!("i64x{lanes}"),
                };
                let numbers: Vec<String> = (from..from + lanes).map(|k| k.to_string()).collect();
                let numbers = numbers.join(", ");
                let name = self.name(precision);
                format!(
                    "static inline {register} {name}({register} x, {register} y) {{\n\
                     #if defined __clang__\n    return __builtin_shufflevector(x, y, {numbers});\n\
                     #else\n    return __builtin_shuffle(x, y, ({index}){{{numbers}}});\n#endif\n}}\n"
                )
            }
            Helper::Fold(op, elem, lanes) => {
                let name = self.name(precision);
                let [register, scalar] = [lanes, 1].map(|lanes| register_type(Ty { elem, lanes }));
                folds::text(precision, &name, (op, elem), [&register, &scalar], lanes)
            }
            Helper::Math(name, lanes) => {
                math_text(precision, name, lanes).replace('$', &lanes.to_string())
            }
            Helper::Each(prim, lanes) => each(precision, &self.name(precision), prim, lanes),
        }
    }

    fn inline(self, precision: Precision, ty: Ty, params: &[String], value: &str) -> String {
        format!(
            "static inline {} {}({}) {{\n    return {value};\n}}\n",
            register_type(precision, ty),
            self.name(precision),
            params.join(", ")
        )
    }
}

/// The text of a function of the vector mathematics.
pub(crate) fn math(name: &str) -> &'static VectorHelper {
    vector_helper(name).expect("a function on vectors needs functions that exist")
}

/// The text of a function on vectors, `$` for the number of lanes. One without a text for 32 bits
/// computes with 64.
fn math_text(precision: Precision, name: &'static str, lanes: u16) -> String {
    match (precision, single_helper(name)) {
        (Precision::F64, _) => math(name).text.to_string(),
        (Precision::F32, Some(own)) => own.text.to_string(),
        (Precision::F32, None) => widened(name, lanes),
    }
}

/// A function on lanes of 32 bits by the one on lanes of 64.
fn widened(name: &'static str, lanes: u16) -> String {
    let prim =
        Prim::ALL.iter().find(|prim| prim.row().c.on_lanes().is_some_and(|own| own.name == name));
    let args = prim.map_or(&[][..], |prim| prim.row().args);
    let type_of = |elem: &ScalarTy| register_type(Precision::F32, Ty { elem: *elem, lanes });
    let params: Vec<String> =
        args.iter().enumerate().map(|(k, elem)| format!("{} x{k}", type_of(elem))).collect();
    let wide: Vec<String> = args
        .iter()
        .enumerate()
        .map(|(k, elem)| match elem {
            ScalarTy::Real => format!("__builtin_convertvector(x{k}, f64x{lanes})"),
            ScalarTy::Int | ScalarTy::Bool => format!("x{k}"),
        })
        .collect();
    let (own, double) = (
        Helper::Math(name, lanes).name(Precision::F32),
        Helper::Math(name, lanes).name(Precision::F64),
    );
    format!(
        "static inline f32x{lanes} {own}({}) {{\n    return __builtin_convertvector({double}({}), f32x{lanes});\n}}\n",
        params.join(", "),
        wide.join(", ")
    )
}

/// The types of vectors. Those of 64 bits exist in any case, before those of 32 bits.
fn types(precision: Precision, lanes: u16) -> String {
    match precision {
        Precision::F64 => {
            let bytes = u32::from(lanes) * 8;
            format!(
                "typedef double f64x{lanes} __attribute__((vector_size({bytes})));\n\
                 typedef int64_t i64x{lanes} __attribute__((vector_size({bytes})));\n\
                 typedef double f64x{lanes}_memory __attribute__((vector_size({bytes}), aligned(8), may_alias));\n\
                 typedef int64_t i64x{lanes}_memory __attribute__((vector_size({bytes}), aligned(8), may_alias));\n\
                 typedef unsigned char mask{lanes}_memory __attribute__((vector_size({lanes}), aligned(1), may_alias));\n"
            )
        }
        Precision::F32 => {
            let bytes = u32::from(lanes) * 4;
            format!(
                "typedef float f32x{lanes} __attribute__((vector_size({bytes})));\n\
                 typedef __INT32_TYPE__ i32x{lanes} __attribute__((vector_size({bytes})));\n\
                 typedef float f32x{lanes}_memory __attribute__((vector_size({bytes}), aligned(4), may_alias));\n"
            )
        }
    }
}

fn splat(precision: Precision, elem: ScalarTy, lanes: u16) -> String {
    let ty = register_type(precision, Ty { elem, lanes });
    let lane = if elem == ScalarTy::Bool { "-(int64_t)x" } else { "x" };
    format!("({ty}){{{}}}", vec![lane; lanes as usize].join(", "))
}

fn load(precision: Precision, elem: ScalarTy, lanes: u16) -> String {
    let memory = format!("*(const {}_memory *)p", tag(precision, elem, lanes));
    match elem {
        ScalarTy::Real | ScalarTy::Int => memory,
        ScalarTy::Bool => {
            format!("-__builtin_convertvector({memory}, {})", mask_type(precision, lanes))
        }
    }
}

fn store(precision: Precision, name: String, elem: ScalarTy, lanes: u16) -> String {
    let ty = register_type(precision, Ty { elem, lanes });
    let memory = tag(precision, elem, lanes);
    let value = match elem {
        ScalarTy::Real | ScalarTy::Int => "x".to_string(),
        ScalarTy::Bool => format!("__builtin_convertvector(-x, mask{lanes}_memory)"),
    };
    format!(
        "static inline void {name}({} *p, {ty} x) {{\n    *({memory}_memory *)p = {value};\n}}\n",
        memory_type(precision, elem)
    )
}

/// A value made lane by lane.
fn by_lane(
    precision: Precision,
    elem: ScalarTy,
    lanes: u16,
    lane: impl Fn(u16) -> String,
) -> String {
    let sign = if elem == ScalarTy::Bool { "-(int64_t)" } else { "" };
    let items: Vec<String> = (0..lanes).map(|k| format!("{sign}{}", lane(k))).collect();
    format!("({}){{{}}}", register_type(precision, Ty { elem, lanes }), items.join(", "))
}

/// A helper for the first of the lanes, with masked instructions if the processor has them, and
/// else `usual`.
fn masks(
    precision: Precision,
    elem: ScalarTy,
    lanes: u16,
    usual: &str,
    masked: impl FnOnce(&Masked) -> String,
) -> String {
    let instructions = MASKED.iter().find(|it| (it.precision, it.lanes) == (precision, lanes));
    let Some(instructions) = instructions.filter(|_| elem == ScalarTy::Real) else {
        return usual.to_string();
    };
    let feature = instructions.feature;
    // Shuffles by variable lanes are not in every compiler.
    let here = format!("#if defined {feature} && defined __GNUC__ && !defined __clang__");
    format!("{here}\n{}#else\n{usual}#endif\n", masked(instructions))
}

/// The numbers of the lanes.
fn numbers(precision: Precision, lanes: u16) -> String {
    let numbers: Vec<String> = (0..lanes).map(|k| k.to_string()).collect();
    format!("({}){{{}}}", mask_type(precision, lanes), numbers.join(", "))
}

/// The instructions that touch the first lanes only, of a vector of reals.
struct Masked {
    precision: Precision,
    lanes: u16,
    /// The macro that is defined if they exist.
    feature: &'static str,
    /// The built-in functions.
    load: &'static str,
    store: &'static str,
    /// The form in which they take the mask.
    by: By,
}

enum By {
    /// An integer of this type, a bit for each lane.
    Bits(&'static str),
    /// A vector of this type, all bits of each lane.
    Vector(&'static str),
}

const MASKED: [Masked; 4] = [
    Masked {
        precision: Precision::F64,
        lanes: 8,
        feature: "__AVX512F__",
        load: "__builtin_ia32_loadupd512_mask",
        store: "__builtin_ia32_storeupd512_mask",
        by: By::Bits("unsigned char"),
    },
    Masked {
        precision: Precision::F32,
        lanes: 16,
        feature: "__AVX512F__",
        load: "__builtin_ia32_loadups512_mask",
        store: "__builtin_ia32_storeups512_mask",
        by: By::Bits("unsigned short"),
    },
    Masked {
        precision: Precision::F64,
        lanes: 4,
        feature: "__AVX2__",
        load: "__builtin_ia32_maskloadpd256",
        store: "__builtin_ia32_maskstorepd256",
        by: By::Vector("long long __attribute__((vector_size(32)))"),
    },
    Masked {
        precision: Precision::F32,
        lanes: 8,
        feature: "__AVX2__",
        load: "__builtin_ia32_maskloadps256",
        store: "__builtin_ia32_maskstoreps256",
        by: By::Vector("int __attribute__((vector_size(32)))"),
    },
];

impl Masked {
    fn load(&self) -> String {
        let Masked { precision, lanes, load, .. } = self;
        match &self.by {
            By::Bits(ty) => {
                format!("{load}(p, ({precision}x{lanes}){{0}}, {})", self.first_bits(ty))
            }
            By::Vector(ty) => format!(
                "({precision}x{lanes}){load}((const {precision}x{lanes} *)p, {})",
                self.first_lanes(ty)
            ),
        }
    }

    fn store(&self) -> String {
        let Masked { precision, lanes, store, .. } = self;
        match &self.by {
            By::Bits(ty) => format!("{store}(p, x, {})", self.first_bits(ty)),
            By::Vector(ty) => {
                format!("{store}(({precision}x{lanes} *)p, {}, x)", self.first_lanes(ty))
            }
        }
    }

    /// The bits of the first lanes: `count` of them, at most as many as there are.
    fn first_bits(&self, ty: &str) -> String {
        let lanes = self.lanes;
        format!("({ty})((1u << (count < 0 ? 0 : count > {lanes} ? {lanes} : count)) - 1)")
    }

    fn first_lanes(&self, ty: &str) -> String {
        let (numbers, count) = (numbers(self.precision, self.lanes), count(self.precision));
        format!("({ty})({numbers} < {count})")
    }
}

/// The parameter `count`, at most the number of lanes, as wide as a lane.
fn count(precision: Precision) -> &'static str {
    match precision {
        Precision::F64 => "count",
        Precision::F32 => "(int)count",
    }
}

fn repeat_name(precision: Precision, lanes: u16) -> String {
    match precision {
        Precision::F64 => format!("lam_repeat_last_x{lanes}"),
        Precision::F32 => format!("lam_repeat_last_f32x{lanes}"),
    }
}

/// Repeats the last of the first `count` lanes in the lanes after it; zeros stay if there are none.
fn repeat_last(precision: Precision, lanes: u16) -> String {
    let (numbers, mask) = (numbers(precision, lanes), mask_type(precision, lanes));
    let (real, name) = (format!("{precision}x{lanes}"), repeat_name(precision, lanes));
    let count = count(precision);
    format!(
        "static inline {real} {name}({real} x, int64_t count) {{\n    \
         const {mask} lane = {numbers}, first = lane < {count};\n    \
         return __builtin_shuffle(x, (first & lane) | (~first & ({count} - 1)));\n}}\n"
    )
}

/// A function that stores lanes one by one, in order, after the statement `first`.
fn store_lanes(
    precision: Precision,
    name: &str,
    ty: Ty,
    params: &str,
    first: &str,
    statement: impl Fn(u16) -> String,
) -> String {
    let sign = if ty.elem == ScalarTy::Bool { "-" } else { "" };
    let line = |k| format!("    {} = {sign}x[{k}];\n", statement(k));
    let lines: String = (0..ty.lanes).map(line).collect();
    let (memory, register) = (memory_type(precision, ty.elem), register_type(precision, ty));
    format!("static inline void {name}({memory} *p, {params}, {register} x) {{\n{first}{lines}}}\n")
}

/// A function on whole vectors, or on one lane after the other.
fn each(precision: Precision, name: &str, prim: Prim, lanes: u16) -> String {
    let row = prim.row();
    let ty = register_type(precision, Ty { elem: row.result, lanes });
    let param = |(k, elem): (usize, &ScalarTy)| {
        format!("{} x{k}", register_type(precision, Ty { elem: *elem, lanes }))
    };
    let params: Vec<String> = row.args.iter().enumerate().map(param).collect();
    let body = match body(precision, prim) {
        Some(value) => format!("return {};", value.replace('$', &lanes.to_string())),
        None => format!(
            "{ty} y;\n    for (int k = 0; k < {lanes}; k++) y[k] = {};\n    return y;",
            one_lane(precision, prim)
        ),
    };
    format!("static inline {ty} {name}({}) {{\n    {body}\n}}\n", params.join(", "))
}

/// The primitive on lane k.
fn one_lane(precision: Precision, prim: Prim) -> String {
    let row = prim.row();
    let lane = |(k, elem): (usize, &ScalarTy)| match elem {
        ScalarTy::Bool => Text::new(format!("x{k}[k] != 0"), Level::Equality),
        ScalarTy::Real | ScalarTy::Int => Text::atom(format!("x{k}[k]")),
    };
    let args: Vec<Text> = row.args.iter().enumerate().map(lane).collect();
    let value = text::apply(precision, row.c, &args);
    if row.result == ScalarTy::Bool {
        format!("-(int64_t){}", value.at(Level::Atom))
    } else {
        value.text
    }
}

/// The primitives as expressions of masks, where `$` is the number of lanes. Like the scalar
/// helpers, these take the first of equals and keep NaNs.
const BODIES: &[(Prim, &str)] = &[
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

/// [`BODIES`] for masks of 32 bits; masks of integers have 64.
const SINGLE_BODIES: &[(Prim, &str)] = &[
    (Prim::Abs, "(f32x$)((i32x$)x0 & 0x7fffffff)"),
    (Prim::MinInt, "((i64x$)(x0 <= x1) & x0) | (~(i64x$)(x0 <= x1) & x1)"),
    (Prim::MaxInt, "((i64x$)(x0 >= x1) & x0) | (~(i64x$)(x0 >= x1) & x1)"),
    (Prim::AbsInt, "(x0 ^ (i64x$)(x0 < 0)) - (i64x$)(x0 < 0)"),
    (Prim::ShiftLeft, "x0 << (x1 & 63)"),
    (Prim::ShiftRight, "(x0 >> (x1 & 63)) & ((2 << (63 - (x1 & 63))) - 1)"),
    (
        Prim::ToInt,
        "__builtin_convertvector((f32x$)((i32x$)x0 & (i32x$)(x0 > -0x1p63f) & (i32x$)(x0 < 0x1p63f)), i64x$) | \
         (__builtin_convertvector((i32x$)(x0 >= 0x1p63f), i64x$) & INT64_MAX) | \
         (__builtin_convertvector((i32x$)(x0 <= -0x1p63f), i64x$) & INT64_MIN)",
    ),
    (Prim::SignInt, "(i64x$)(x0 < 0) - (i64x$)(x0 > 0)"),
];

/// A primitive as an expression of masks, if it has one.
fn body(precision: Precision, prim: Prim) -> Option<&'static str> {
    let bodies = match precision {
        Precision::F64 => BODIES,
        Precision::F32 => SINGLE_BODIES,
    };
    bodies.iter().find(|(other, _)| *other == prim).map(|(_, value)| *value)
}

/// Whether the helper of a primitive makes a choice.
pub(crate) fn selects(precision: Precision, prim: Prim) -> bool {
    body(precision, prim).is_some_and(|value| value.contains("lam_select"))
}

/// The spelling of a primitive on vectors.
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

/// All primitives with a spelling; the others go lane by lane.
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

//! loops → C. The text is self-contained GNU C that a person can read; it is also what
//! `lambada build` ships.
//!
//! Assumes: functions that pass `lambada_loops::check`. Gives: C text; compile it with [`FLAGS`].
//! Keeps: values, to the last bit unless the compiler contracts `a * b + c` (it does with these
//! flags); failures and their numbers.
//!
//! The interface of a unit, the same for every function:
//! - `struct lambada_context *lambada_context_open(void)` and `void lambada_context_close(struct
//!   lambada_context *)` make and free a context, which owns the memory of arrays. One call at a
//!   time may use a context.
//! - `int lambada_NAME(struct lambada_context *ctx, const union lambada_word *args, union
//!   lambada_word *results)` calls a function. `args` has one word per parameter, the sizes first:
//!   `real` for a real, `integer` for an int or a bool, `data` for an array, which is only read.
//!   `results` has room for [`result_words`] words. It returns
//!   - 0: `results` holds for each scalar one word, and for each array one word `data` and one word
//!     `integer` per axis, its size. The data is valid until the next call with the same context;
//!   - 1: a check failed; `results` holds its number, then the integers for its message;
//!   - 2: there is not enough memory for an array; `results` holds the number of its buffer, the
//!     number of its elements and the bytes in use;
//!   - 3: there is not enough memory for a node; `results` holds the number of its site, its bytes
//!     and the bytes in use;
//!   - 4: the call has been cancelled.
//!
//!   Checks, sites and buffers are numbered through the function and then its library.
//! - `void lambada_context_cancel(struct lambada_context *, int)` ends the call that runs in a
//!   context, or the next one; see [`polls`].
//! - `void lambada_context_limit(struct lambada_context *, uint64_t)` limits the memory for arrays,
//!   `uint64_t lambada_context_peak(struct lambada_context *)` returns the most that they have
//!   taken, both in bytes.
//! - `void lambada_context_stack(struct lambada_context *, uint64_t)`, only in units with functions
//!   that call each other, limits the bytes of the stack for these `[default: 4 MiB]`. A call that
//!   needs more fails.
//! - `int lambada_context_threads(struct lambada_context *, int64_t, lam_fork, void *)`, only in
//!   units with parallel loops, sets the number of threads for calls, and the function that runs
//!   functions on them `[default: one thread]`.
//! - In memory a real is a `double`, or a `float` where the function computes with 32 bits, an int
//!   an `int64_t`, a bool an `unsigned char` that is 0 or 1; arrays are dense, the last axis is
//!   contiguous.

mod calls;
mod control;
mod facts;
mod folds;
mod frame;
mod function;
mod held;
mod lanes;
mod library;
mod needs;
mod ops;
mod parts;
mod polls;
mod program;
mod runtime;
mod shares;
mod taken;
mod text;
mod transpose;

use lambada_loops::{Function, Names, Return, Step, Stmt, visit};

use lambada_prim::Precision;
use needs::Needs;
pub use parts::PART;
use runtime::Kinds;
pub use shares::Shares;

/// The compiler flags for the text. Integers wrap; floating point is strict but for the contraction
/// of `a * b + c`. Straight lines of scalars are not packed into vectors, because GCC then stores
/// lanes and loads vectors of them at once, which no processor forwards (two times slower on ba and
/// on small determinants, nothing faster). GCC and Clang know all of these; [`GCC_FLAGS`] are for
/// GCC alone.
pub const FLAGS: &[&str] = &[
    "-std=gnu99",
    "-O2",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fopenmp-simd",
    "-fno-tree-slp-vectorize",
    "-fwrapv",
    "-fPIC",
    "-shared",
    "-w",
];

/// Flags that Clang refuses. Loops do not become calls of the C library: those worth a call are
/// copies and fills already, and most others are short.
pub const GCC_FLAGS: &[&str] = &["-fno-tree-loop-distribute-patterns"];

/// A unit of C with one or more functions.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The text.
    pub text: String,
    /// The symbol of each function.
    pub symbols: Vec<String>,
    /// The numbers of parts that can be compiled apart.
    pub shares: Shares,
}

impl Unit {
    /// The struct for which the code of a function takes memory before all arrays, if it does.
    pub fn frame(&self, function: usize) -> Option<String> {
        let kernel = self.symbols[function].replacen("lambada_", "kernel_", 1);
        let frame = format!("{kernel}_frame");
        let taken = format!("struct {frame} *const frame = lam_alloc(");
        self.text.contains(&taken).then_some(frame)
    }
}

/// One function as C.
pub fn c_source(function: &Function) -> String {
    unit(&[function]).text
}

/// Several functions as one unit of C. Equal names get numbers.
pub fn c_module(functions: &[&Function]) -> String {
    unit(functions).text
}

/// The origin of the memory for a unit's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// From an arena that is kept from call to call: fast.
    Arena,
    /// As [`Arena`](Memory::Arena), but large results may lie in memory of the host, so that nobody
    /// copies them.
    Hosted,
    /// From the system, each array in a block of exactly its size, so that sanitizers see an access
    /// out of bounds, or after the end of a scope.
    Exact,
    /// From an arena in memory of the caller. Nothing is asked of the system.
    Workspace,
}

/// The visibility of the names of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linkage {
    /// Visible to all units that it is linked with.
    External,
    /// Visible to the text behind it in the same file.
    Internal,
}

/// Several functions as one unit of C, with their symbols.
pub fn unit(functions: &[&Function]) -> Unit {
    unit_with(functions, Memory::Arena)
}

/// Versions of functions, each a unit whose names are visible in the file only, for libraries whose
/// own functions stand behind such a text. A context of one version works for all, so users need
/// not know its version. A text defines no macros but [`MACROS`].
///
/// Without `threads` the iterations of parallel loops run one after the other, with the same
/// results.
pub fn internal_units(versions: &[Vec<&Function>], memory: Memory, threads: bool) -> Vec<Unit> {
    let print = |functions: &Vec<&Function>| print(functions, PART, false);
    let mut printed: Vec<Printed> = versions.iter().map(print).collect();
    let kinds = printed.iter().map(|version| version.needs.kinds);
    let mut kinds = kinds.reduce(Kinds::or).unwrap_or_default();
    if !threads {
        kinds.turns = std::mem::take(&mut kinds.teams);
    }
    for version in &mut printed {
        version.needs.kinds = kinds;
    }
    let unit = |(version, functions): (Printed, &Vec<&Function>)| {
        version.unit(functions, memory, Linkage::Internal)
    };
    printed.into_iter().zip(versions).map(unit).collect()
}

/// The macros that a unit may define.
pub const MACROS: &[&str] = &["unlikely", "INFINITY", "NAN", "INT64_MAX", "INT64_MIN"];

/// As [`unit()`]; functions that are much larger are cut into parts of about `part` statements,
/// each a C function. Large results may lie in memory of the host.
pub fn unit_in_parts(functions: &[&Function], part: usize) -> Unit {
    print(functions, part, true).unit(functions, Memory::Hosted, Linkage::External)
}

/// As [`unit()`], with other memory.
pub fn unit_with(functions: &[&Function], memory: Memory) -> Unit {
    let hosted = memory == Memory::Hosted;
    print(functions, PART, hosted).unit(functions, memory, Linkage::External)
}

/// Functions as C, and the needs of their text.
struct Printed {
    body: String,
    symbols: Vec<String>,
    needs: Needs,
}

/// Functions as C; large results may lie in memory of the host if it is `hosted`.
fn print(functions: &[&Function], part: usize, hosted: bool) -> Printed {
    let precision = functions.first().map_or(Precision::default(), |first| first.precision);
    let all = functions.iter().flat_map(|function| function.all());
    debug_assert!(all.into_iter().all(|each| each.precision == precision), "reals of one kind");
    let mut needs = Needs::new(precision, hosted);
    let mut names = Names::new([
        "context_open",
        "context_host",
        "context_cancel",
        "context_limit",
        "context_peak",
        "context_seen",
        "context_stack",
        "context_threads",
        "context_close",
        "context",
        "word",
    ]);
    let (mut texts, mut symbols) = (Vec::new(), Vec::new());
    for function in functions {
        let name = names.fresh(&function.name);
        let symbol = format!("lambada_{name}");
        let kernel = format!("kernel_{name}");
        texts.push(function::print(function, (&kernel, &symbol), part, &mut needs));
        symbols.push(symbol);
    }
    Printed { body: texts.join("\n"), symbols, needs }
}

impl Printed {
    fn unit(self, functions: &[&Function], memory: Memory, linkage: Linkage) -> Unit {
        let Printed { body, symbols, needs } = self;
        let text = format!("\n{}\n{body}", needs.text(&body, memory));
        let is_cut = body.lines().any(|line| line == "@end");
        let (text, shares) = match linkage {
            Linkage::External if is_cut => shares::shared(&head(functions, &symbols), &text),
            Linkage::External => {
                (head(functions, &symbols) + &shares::alone(&text, ""), Shares::default())
            }
            Linkage::Internal => {
                (shares::alone(&text, "static __attribute__((unused)) "), Shares::default())
            }
        };
        Unit { text, symbols, shares }
    }
}

/// The number of words for the results of a function, or for the numbers of a failing check.
pub fn result_words(function: &Function) -> usize {
    let words = |result: &Return| match result {
        Return::Scalar(_) => 1,
        Return::Buffer(_, dims) => 1 + dims.len(),
    };
    let mut most: usize = function.results.iter().map(words).sum();
    for each in function.all() {
        visit(&each.body, &mut |stmt| match stmt {
            Stmt::Step(Step::Check { values, .. }) => most = most.max(1 + values.len()),
            Stmt::Step(Step::Alloc { .. } | Step::Node { .. } | Step::Open { .. }) => {
                most = most.max(3);
            }
            Stmt::Step(Step::Call { .. }) => most = most.max(1),
            Stmt::Step(_) | Stmt::Nest(_) => {}
        });
    }
    most
}

/// A comment with the content of the file and its use.
fn head(functions: &[&Function], symbols: &[String]) -> String {
    let list: String = functions
        .iter()
        .zip(symbols)
        .map(|(function, symbol)| format!(" *   {symbol}: {}\n", signature(function)))
        .collect();
    let has_nodes = functions.iter().any(|function| !function.library.nodes.is_empty());
    let nodes = if has_nodes {
        " It returns 3 if there is not enough memory\n * for a node (results: number of the place that makes it, its bytes, bytes in use)."
    } else {
        ""
    };
    format!(
        "/* Made by Lambada. Compile with\n *   cc {} -march=native -lm\n * and GCC also with {}.\n *\n\
         \x20* Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then\n\
         \x20* parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and\n\
         \x20* values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it\n\
         \x20* has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context.{nodes}\n *\n{list} */\n",
        FLAGS.join(" "),
        GCC_FLAGS.join(" ")
    )
}

/// The parameters and results, for a reader of the interface.
fn signature(function: &Function) -> String {
    let params: Vec<String> = lambada_loops::param_types(function)
        .into_iter()
        .zip(&function.params)
        .map(|((elem, scalar), param)| {
            let hint = match param {
                lambada_loops::Param::Scalar(reg) => &function.regs[reg.0 as usize].1,
                lambada_loops::Param::Buffer(buf)
                | lambada_loops::Param::Owned(buf)
                | lambada_loops::Param::Shared(buf) => &function.bufs[buf.0 as usize].1,
            };
            format!(
                "{} : {}{elem}",
                lambada_loops::identifier(hint),
                if scalar { "" } else { "[]" }
            )
        })
        .collect();
    let result = |result: &Return| match result {
        Return::Scalar(lambada_loops::Operand::Reg(reg)) => {
            function.regs[reg.0 as usize].0.elem.to_string()
        }
        Return::Scalar(lambada_loops::Operand::Lit(value)) => value.ty().to_string(),
        Return::Buffer(buf, dims) => {
            format!("{}{}", "[]".repeat(dims.len()), function.bufs[buf.0 as usize].0)
        }
    };
    let results: Vec<String> = function.results.iter().map(result).collect();
    format!("({}) -> ({})", params.join(", "), results.join(", "))
}

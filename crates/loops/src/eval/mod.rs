//! The interpreter: always right, and fast enough to work with where there is no C compiler.
//!
//! The tree is compiled once to a flat list of instructions over numbered slots, one 64-bit word
//! per lane (`compile`), which a small machine runs (`machine`). Memory is one list of words, one
//! per element of any type, that grows and shrinks as the arena does. Every access is checked: one
//! out of range is a mistake of the compiler and ends the run with a message that says so. New
//! memory holds NaNs that are not zeros, so that reading it before writing shows in tests.
//!
//! A call keeps the state of its caller on a list of frames, so recursion may be as deep as there
//! is memory. Nodes are in memory as arrays are; a handle is the place behind the first word of its
//! node, which has the type and the constructor.
//!
//! Statements without calls and new nodes may be machine code of a translator (`translate`).
//!
//! The order of operations is that of the text, and `Fold` halves: the lanes k and k + L/2 are
//! combined for L = lanes, lanes/2, …, 2.

mod arena;
mod calls;
mod compile;
mod counts;
mod items;
mod kernels;
mod lanes;
mod machine;
mod nodes;
mod slots;
mod translate;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use lambada_prim::{Memory, Precision, ScalarTy, Tensor};
use lambada_source::{Failure, Site, Span};

use crate::{Buf, Function, Param};
use arena::Arena;
use compile::Code;
pub use compile::{scalar, word};
pub use counts::Counts;
use counts::{Counter, Silent};
use machine::Machine;
pub use translate::{Fuel, Outcome, Range, Region, Regions, Room, State, Stop, Translate};

/// The best number of lanes for functions that are interpreted: an instruction is decoded once for
/// all of them, which takes as long as a few lanes.
pub const LANES: u16 = 64;

/// Runs the function on its arguments: first the sizes, as scalars, then the parameters of the
/// source.
pub fn eval(function: &Function, args: &[Tensor]) -> Result<Vec<Tensor>, Failure> {
    Program::new(function).run(args)
}

/// [`eval`], with counts of its cost.
pub fn eval_counted(
    function: &Function,
    args: &[Tensor],
) -> Result<(Vec<Tensor>, Counts), Failure> {
    Program::new(function).run_counted(args)
}

/// A function with its library that is ready to be interpreted, any number of times.
#[derive(Debug)]
pub struct Program {
    entry: Body,
    functions: Vec<Body>,
    /// The precision of reals. Words hold them with 64 bits, rounded.
    precision: Precision,
    /// The initial content of memory: constant arrays.
    constants: Vec<u64>,
    /// The parts that are machine code.
    regions: Option<Arc<dyn Regions>>,
    /// The memory of a run that has ended, for the next one.
    kept: Mutex<Option<Arena>>,
}

/// One function of a program.
#[derive(Debug)]
struct Body {
    name: String,
    code: Vec<Code>,
    /// Operands of instructions that have many.
    args: Vec<compile::Arg>,
    /// The values that are shown, with their numbers.
    inspections: Vec<(u32, Vec<ResultSource>)>,
    kernels: Vec<items::Kernel>,
    calls: Vec<items::Call>,
    new_nodes: Vec<items::NewNode>,
    fields: Vec<items::NodeField>,
    /// The initial values of the slots: the constants, and zeros elsewhere.
    slots: Vec<u64>,
    /// By buffer: the bytes of an element.
    widths: Vec<u64>,
    /// By buffer: the place of a constant array.
    ranges: Vec<Range>,
    params: Vec<Slot>,
    results: Vec<ResultSource>,
    sites: Vec<Site>,
    origins: BTreeMap<Buf, Span>,
}

/// The message of a cancelled run.
pub const CANCELLED: &str = "the run has been cancelled";

/// The message of a run that has used up its work.
pub const EXHAUSTED: &str = "the run has done as much as it may";

/// The terms of a run.
#[derive(Default)]
pub struct Terms<'a> {
    /// The limit on the memory for arrays, arguments not counted.
    pub memory: Memory,
    /// The receiver of inspected values, in order: the number of each, and its parts.
    pub seen: Option<Seen<'a>>,
    /// The run fails with [`CANCELLED`] soon after this has become true.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// It fails with [`EXHAUSTED`] after about this number of instructions, the same each time.
    pub work: Option<u64>,
}

/// A receiver of inspected values.
pub type Seen<'a> = &'a dyn Fn(u32, Vec<Tensor>);

/// The target of a parameter.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Scalar(ScalarTy, u32),
    Buffer(ScalarTy, u32),
}

/// The source of a result.
#[derive(Clone, Debug)]
enum ResultSource {
    Scalar(ScalarTy, u32),
    Buffer(ScalarTy, u32, Vec<u32>),
}

impl Program {
    /// Compiles a function that has passed the checker.
    pub fn new(function: &Function) -> Program {
        compile::compile(function, None)
    }

    /// [`Program::new`] with machine code, if the translator makes some. Machine code does not
    /// compare accesses with the sizes of buffers.
    pub fn translated(function: &Function, mut translator: Box<dyn Translate>) -> Program {
        let mut program = compile::compile(function, Some(&mut *translator));
        match translator.finish() {
            Some(regions) => {
                program.regions = Some(regions);
                program
            }
            None => Program::new(function),
        }
    }

    /// The number of interpreted instructions on lanes: few at a time are slow.
    pub fn lane_instructions(&self) -> usize {
        let on_lanes = |code: &&Code| {
            matches!(
                code,
                Code::Lanes { .. }
                    | Code::Loop { .. }
                    | Code::Fold { .. }
                    | Code::Splice { .. }
                    | Code::MoveLanes { .. }
                    | Code::LoadLanes { .. }
                    | Code::StoreLanes { .. }
                    | Code::LoadSome { .. }
                    | Code::StoreSome { .. }
                    | Code::Gather { .. }
                    | Code::Scatter { .. }
            )
        };
        let bodies = std::iter::once(&self.entry).chain(&self.functions);
        bodies.map(|body| body.code.iter().filter(on_lanes).count()).sum()
    }

    /// Memory for a run. Machine code does not show reads before writes, so it gets memory as it
    /// is.
    fn arena(&self) -> Arena {
        let used = self.kept.lock().ok().and_then(|mut kept| kept.take());
        Arena::new(used, self.regions.is_none())
    }

    /// Keeps the memory of a run.
    fn keep(&self, arena: Arena) {
        if let Ok(mut kept) = self.kept.lock() {
            *kept = Some(arena);
        }
    }

    /// Runs it, see [`eval`].
    pub fn run(&self, args: &[Tensor]) -> Result<Vec<Tensor>, Failure> {
        self.run_within(args, &Terms::default())
    }

    /// [`Program::run`] on some terms.
    ///
    /// # Errors
    /// The failure of the program, or of the terms.
    pub fn run_within(&self, args: &[Tensor], terms: &Terms) -> Result<Vec<Tensor>, Failure> {
        check_arguments(&self.entry.name, self.entry.params.iter().map(Slot::ty), args)?;
        let mut machine = Machine::new(self, args, terms.memory, Silent);
        if let Some(seen) = terms.seen {
            machine.seen = seen;
        }
        machine.fuel = Fuel::new(terms.cancelled.clone().unwrap_or_default(), terms.work);
        Ok(machine.run()?.0)
    }

    /// [`Program::run`], with counts of its cost.
    pub fn run_counted(&self, args: &[Tensor]) -> Result<(Vec<Tensor>, Counts), Failure> {
        check_arguments(&self.entry.name, self.entry.params.iter().map(Slot::ty), args)?;
        let meter = Counter::default();
        let (results, meter) = Machine::new(self, args, Memory::default(), meter).run()?;
        Ok((results, meter.counts))
    }
}

impl Body {}

impl Slot {
    fn ty(&self) -> (ScalarTy, bool) {
        match self {
            Slot::Scalar(elem, _) => (*elem, true),
            Slot::Buffer(elem, _) => (*elem, false),
        }
    }
}

/// The type of every parameter, and whether it is a scalar.
pub fn param_types(function: &Function) -> Vec<(ScalarTy, bool)> {
    let param = |param: &Param| match param {
        Param::Scalar(reg) => (function.regs[reg.0 as usize].0.elem, true),
        Param::Buffer(buf) | Param::Owned(buf) | Param::Shared(buf) => {
            (function.bufs[buf.0 as usize].0, false)
        }
    };
    function.params.iter().map(param).collect()
}

/// Checks that the arguments agree in number and types with the parameters. Callers have checked
/// that, so a mismatch is a mistake of theirs.
pub fn check_arguments(
    name: &str,
    params: impl ExactSizeIterator<Item = (ScalarTy, bool)>,
    args: &[Tensor],
) -> Result<(), Failure> {
    if params.len() != args.len() {
        return Err(internal(format!(
            "`{name}` takes {} arguments but is given {}",
            params.len(),
            args.len()
        )));
    }
    for (k, ((elem, scalar), arg)) in params.zip(args).enumerate() {
        let shape = |scalar| if scalar { "a scalar" } else { "an array" };
        if elem != arg.elem() {
            return Err(internal(format!(
                "argument {k} of `{name}` has elements of type {} instead of {elem}",
                arg.elem()
            )));
        }
        if scalar && !arg.dims.is_empty() {
            return Err(internal(format!(
                "argument {k} of `{name}` is {} instead of {}",
                shape(false),
                shape(true)
            )));
        }
        if arg.dims.iter().product::<usize>() != arg.data.len() {
            return Err(internal(format!(
                "argument {k} of `{name}` has not as many elements as its sizes say"
            )));
        }
    }
    Ok(())
}

/// A mistake of the compiler, found while a program runs.
pub fn internal(problem: String) -> Failure {
    Failure { span: Span::default(), message: format!("internal error: {problem}") }
}

/// The sizes of a result, and their product.
pub fn sizes(name: &str, dims: &[i64]) -> Result<(Vec<usize>, usize), Failure> {
    let sizes: Option<Vec<usize>> = dims.iter().map(|dim| usize::try_from(*dim).ok()).collect();
    let product = |sizes: &Vec<usize>| {
        sizes.iter().try_fold(1usize, |product, size| product.checked_mul(*size))
    };
    match sizes.and_then(|sizes| product(&sizes).map(|len| (sizes, len))) {
        Some(found) if found.1 <= i64::MAX as usize => Ok(found),
        Some(_) | None => Err(internal(format!("a result of `{name}` has the sizes {dims:?}"))),
    }
}

//! C text → numbers: compile, cache, load, call. The only crate with `unsafe`.
//!
//! - `compiler`: which C compiler, and how it is called; `children`: programs that end with this
//!   process;
//! - `cache`: compiled units by the hash of everything that they depend on; `prune`: how they go
//!   again; `seal`, `owner`, `opened`: whether an entry can be loaded, and by which path;
//! - `native`: loaded units, and calls into them; `call`: calls as the façade makes them;
//! - `output`: values in the interface of machine code;
//! - `pool`: the contexts that no call is using;
//! - `cancel`: calls that are ended from outside; `running`: those of machine code;
//! - `hosted`: memory of results that stay when a call ends;
//! - `stack`: the stack of programs whose functions call each other;
//! - `threads`: on which parallel loops run;
//! - `subnormals`: the mode in which processors take subnormal numbers for zeros;
//! - `streams`: was there a standard output, before the program began;
//! - `memory`: how much there is; `peak`: how fast the machine is at most;
//! - `unfinished`: what is removed where the process is ended while it makes something;
//! - `messages`: why there is no machine code;
//! - here: [`Kernel`], which runs a function in whichever way is available.

mod cache;
mod call;
mod cancel;
mod children;
mod compiler;
mod elements;
mod hosted;
mod memory;
mod messages;
mod native;
mod opened;
mod output;
mod owner;
mod peak;
mod pool;
mod prune;
mod running;
mod seal;
mod stack;
mod streams;
mod subnormals;
mod threads;
mod unfinished;

use std::path::Path;
use std::sync::{Once, OnceLock};

use lambada_loops::{EXHAUSTED, Function, Program, Seen, Terms};
use lambada_prim::{Memory, Precision, Scalar, ScalarTy, Tensor};
use lambada_source::Failure;

use call::Interpreted;

pub use call::{Call, Results};
pub use cancel::Cancel;
pub use children::Children;
pub use compiler::Compiler;
pub use elements::{Argument, Elements, Got, Lent};
pub use memory::{MAX_MEMORY, available, parse_size};
pub use peak::Peak;
pub use streams::output_was_closed;
pub use unfinished::{Unfinished, remove_unfinished};

/// What runs a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Machine code, made by the C compiler.
    Native,
    /// Machine code, made here (`lambada_jit`), and the interpreter for what is not translated:
    /// there at once, and two to four times as slow in most programs.
    Jit,
    /// The interpreter of `loops`: some thirty times slower, never different.
    Interpreter,
}

/// A processor, or a family of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The processor that the program runs on.
    Here,
    /// All of its architecture: what the C compiler makes unless told otherwise.
    Any,
    /// Those of x86-64 with vectors of 256 bits: with AVX2 and FMA.
    Avx2,
    /// Those of x86-64 with vectors of 512 bits: with the parts of AVX-512 that servers have had
    /// from the start.
    Avx512,
}

impl Target {
    /// For which processors a program has versions that is to run on all of the architecture, those
    /// with narrower vectors first.
    pub fn versions() -> &'static [Target] {
        if cfg!(target_arch = "x86_64") {
            &[Target::Any, Target::Avx2, Target::Avx512]
        } else {
            &[Target::Any]
        }
    }

    /// How many bits its vector registers have.
    pub fn vector_bits(self) -> u16 {
        64 * self.words()
    }

    /// What processors must have beyond those of the architecture, as C compilers call it.
    pub fn features(self) -> impl Iterator<Item = &'static str> {
        let flags = if self == Target::Here { &[] } else { self.flags() };
        flags.iter().filter_map(|flag| flag.strip_prefix("-m"))
    }

    /// How many reals its vector registers hold, and so how many lanes loops should have: 8, 4 or 2
    /// of 64 bits, twice as many of 32. Found out when the program runs; a unit of C works with any
    /// number of lanes on any processor, and gives the same.
    pub fn lanes(self, precision: Precision) -> u16 {
        self.words() * precision.per_word()
    }

    /// How many words of 64 bits its vector registers hold.
    fn words(self) -> u16 {
        match self {
            Target::Here => words_here(),
            Target::Any => 2,
            Target::Avx2 => 4,
            Target::Avx512 => 8,
        }
    }

    /// What tells a C compiler so.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Target::Here => compiler::flags_here(),
            Target::Any => &[],
            Target::Avx2 => &["-mavx2", "-mfma", "-mbmi", "-mbmi2"],
            Target::Avx512 => &[
                "-mavx2",
                "-mfma",
                "-mbmi",
                "-mbmi2",
                "-mavx512f",
                "-mavx512bw",
                "-mavx512cd",
                "-mavx512dq",
                "-mavx512vl",
            ],
        }
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn words_here() -> u16 {
    if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512dq") {
        8
    } else if std::is_x86_feature_detected!("avx2") {
        4
    } else {
        2
    }
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn words_here() -> u16 {
    2
}

/// How functions are to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What runs them. Where there is no C compiler, machine code is made here; where the processor
    /// is none that is known here, the interpreter runs.
    pub engine: Engine,
    /// May `a * b + c` be rounded once? Faster and usually more precise, but then not what the
    /// interpreter gives, to the last bit.
    pub contract: bool,
    /// For which processors machine code is made.
    pub target: Target,
    /// About how many statements the C functions have into which a large function is cut: C
    /// compilers take long for a large one.
    pub part: usize,
    /// Is code that is there sooner worth more than code that runs faster?
    pub quick: bool,
    /// On how many threads calls run. The results are the same for any number.
    pub threads: usize,
    /// May machine code that the C compiler makes take subnormal numbers for zeros, as arguments
    /// and as results? That is how fast processors are with other numbers.
    pub flush_subnormals: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            engine: Engine::Native,
            contract: true,
            target: Target::Here,
            part: lambada_codegen::PART,
            quick: false,
            threads: 1,
            flush_subnormals: false,
        }
    }
}

/// Why there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// What happened, and where the C file is.
    pub message: String,
    /// Whose mistake it is. What [`Kernel::compile`] returns is ours: where the system is at fault,
    /// the interpreter runs.
    pub fault: Fault,
}

/// Whose mistake it is that a function cannot be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Ours: our own checker, or a C compiler that works, rejects what we have generated.
    Ours,
    /// The system's: the C compiler does not work, or the disk is full.
    System,
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompileError {}

/// A function that is ready to run, any number of times. It keeps the memory of its arrays from
/// call to call.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    /// The type of each parameter, and whether it is a scalar.
    params: Vec<(ScalarTy, bool)>,
    code: Code,
    limit: Memory,
}

#[derive(Debug)]
enum Code {
    Native(native::Native),
    Interpreted(Program, Engine),
}

impl Kernel {
    /// Compiles a function: to machine code, or for the interpreter where there is no C compiler.
    pub fn compile(function: &Function) -> Result<Kernel, CompileError> {
        Ok(Kernel::compile_all(&[function])?.remove(0))
    }

    /// Compiles several functions as one unit of C, which is faster than one by one.
    pub fn compile_all(functions: &[&Function]) -> Result<Vec<Kernel>, CompileError> {
        Kernel::compile_with(functions, Settings::default())
    }

    /// Compiles several functions as the settings say. They run with the lanes that they have,
    /// whatever runs them.
    pub fn compile_with(
        functions: &[&Function],
        settings: Settings,
    ) -> Result<Vec<Kernel>, CompileError> {
        match native(functions, settings, None)? {
            Some(kernels) => Ok(kernels),
            None => interpret(functions, settings),
        }
    }

    /// Compiles the function that `lower` gives for a number of lanes: those of what runs it. Where
    /// the C compiler turns out not to work, the function is lowered again. `kept` is another place
    /// where compiled units are kept.
    ///
    /// # Errors
    /// Mistakes of ours: where the system is at fault, something else runs.
    pub fn lowered(
        precision: Precision,
        settings: Settings,
        kept: Option<&Path>,
        lower: impl Fn(u16) -> Function,
    ) -> Result<Kernel, CompileError> {
        let kernels = if settings.engine == Engine::Native && Compiler::find().is_some() {
            native(&[&lower(settings.target.lanes(precision))], settings, kept)?
        } else {
            None
        };
        let mut kernels = match kernels {
            Some(kernels) => kernels,
            None => {
                let function = lower(interpreted_lanes(settings.engine, precision));
                if settings.engine == Engine::Native && Compiler::find().is_none() {
                    warn_once(None, &[&function]);
                }
                interpret(&[&function], settings)?
            }
        };
        Ok(kernels.remove(0))
    }

    fn new(function: &Function, code: Code) -> Kernel {
        let (name, params) = (function.name.clone(), lambada_loops::param_types(function));
        Kernel { name, params, code, limit: Memory::default() }
    }

    /// Limits the memory for arrays in all calls from now on, those among the arguments not
    /// counted.
    pub fn limit(&mut self, limit: Memory) {
        self.limit = limit;
        if let Code::Native(native) = &mut self.code {
            native.limit(limit);
        }
    }

    /// The most bytes that arrays have taken at a time in any call so far; nothing for the
    /// interpreter.
    pub fn peak(&self) -> Option<u64> {
        match &self.code {
            Code::Native(native) => Some(native.peak()),
            Code::Interpreted(..) => None,
        }
    }

    /// What runs it.
    pub fn engine(&self) -> Engine {
        match self.code {
            Code::Native(_) => Engine::Native,
            Code::Interpreted(_, engine) => engine,
        }
    }

    /// Does something with a call, which has not run yet. The sizes that the code takes come first,
    /// then the parameters of the source; the sizes must be those of the arrays: the code relies on
    /// it. Calls from several threads, or several at a time, have memory of their own.
    ///
    /// # Errors
    /// The function takes other arguments, or the system has no memory for a call.
    #[inline]
    pub fn with<'a, R>(
        &'a self,
        sizes: impl ExactSizeIterator<Item = i64>,
        args: impl ExactSizeIterator<Item = Argument<'a>> + Clone,
        then: impl FnOnce(&mut Call<'_, 'a>) -> R,
    ) -> Result<R, Failure> {
        match &self.code {
            Code::Native(native) => {
                let mut call = native.begin(sizes, args)?;
                Ok(then(&mut Call::native(&mut call)))
            }
            Code::Interpreted(program, _) => {
                let sizes = sizes.map(|size| Tensor::scalar(Scalar::Int(size)));
                let args = sizes.chain(args.map(Argument::tensor)).collect();
                let mut call = Interpreted::new(program, self.limit, args);
                Ok(then(&mut Call::interpreted(&mut call)))
            }
        }
    }

    /// Runs it on its arguments, sizes first: see [`with`](Kernel::with).
    ///
    /// # Errors
    /// What the program fails with.
    pub fn call(&self, args: &[Tensor]) -> Result<Vec<Tensor>, Failure> {
        self.call_seen(args, &|_, _| {})
    }

    /// As `call`; `seen` is told of what is inspected, in order: its number, and its parts.
    ///
    /// # Errors
    /// What the program fails with.
    pub fn call_seen(&self, args: &[Tensor], seen: Seen) -> Result<Vec<Tensor>, Failure> {
        self.given(args, |call| call.take(seen, |results| results.collect()))?
    }

    /// As `call_seen`, where that takes no more than so many instructions or so; otherwise nothing.
    /// Machine code of the C compiler does not count them, and runs to its end.
    ///
    /// # Errors
    /// What the program fails with.
    pub fn call_briefly(
        &self,
        args: &[Tensor],
        seen: Seen,
        work: u64,
    ) -> Option<Result<Vec<Tensor>, Failure>> {
        let Code::Interpreted(program, _) = &self.code else {
            return Some(self.call_seen(args, seen));
        };
        let cancelled = Cancel::current().map(|cancel| cancel.flag());
        let terms = Terms { memory: self.limit, seen: Some(seen), cancelled, work: Some(work) };
        let result = program.run_within(args, &terms);
        let exhausted = |failure: &Failure| failure.message == EXHAUSTED;
        if result.as_ref().is_err_and(exhausted) { None } else { Some(result) }
    }

    /// As `call`, and the nanoseconds that the function itself took, without passing arguments and
    /// copying results.
    ///
    /// # Errors
    /// What the program fails with.
    pub fn call_timed(&self, args: &[Tensor]) -> Result<(Vec<Tensor>, u64), Failure> {
        self.given(args, |call| {
            let nanoseconds = call.timed()?;
            Ok((call.results().map(Got::tensor).collect(), nanoseconds))
        })?
    }

    /// Runs it so many times on the same arguments and gives the nanoseconds of each, of the
    /// function itself; results are not copied.
    ///
    /// # Errors
    /// What the program fails with.
    pub fn time(&self, args: &[Tensor], repetitions: usize) -> Result<Vec<u64>, Failure> {
        self.given(args, |call| (0..repetitions).map(|_| call.timed()).collect())?
    }

    /// Does something with a call of these arguments.
    fn given<R>(&self, args: &[Tensor], then: impl FnOnce(&mut Call) -> R) -> Result<R, Failure> {
        lambada_loops::check_arguments(&self.name, self.params.iter().copied(), args)?;
        self.with(std::iter::empty(), args.iter().map(Argument::from), then)
    }
}

fn check(functions: &[&Function]) -> Result<(), CompileError> {
    let check = |function: &&Function| lambada_loops::check(function);
    functions.iter().try_for_each(check).map_err(|complaint| messages::malformed(&complaint))
}

/// With the C compiler, if the settings want it; nothing if there is none that works, of which a
/// warning tells.
fn native(
    functions: &[&Function],
    settings: Settings,
    kept: Option<&Path>,
) -> Result<Option<Vec<Kernel>>, CompileError> {
    match settings.engine {
        Engine::Native => {}
        Engine::Jit | Engine::Interpreter => return Ok(None),
    }
    check(functions)?;
    let Some(compiler) = Compiler::find() else {
        warn_once(None, functions);
        return Ok(None);
    };
    match native::compile(compiler, functions, settings, kept) {
        Ok(natives) => {
            let kernel = |(function, it): (&&Function, _)| Kernel::new(function, Code::Native(it));
            Ok(Some(functions.iter().zip(natives).map(kernel).collect()))
        }
        Err(error) if error.fault == Fault::System => {
            // A compiler that Ctrl-C has ended is no reason to warn.
            if !Cancel::current().is_some_and(|cancel| cancel.is_cancelled()) {
                warn_once(Some(&error), functions);
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Without a C compiler: with machine code that is made here, unless the settings say that there is
/// to be none.
fn interpret(functions: &[&Function], settings: Settings) -> Result<Vec<Kernel>, CompileError> {
    check(functions)?;
    let code = |function: &Function| {
        let wanted = settings.engine != Engine::Interpreter && translates(function.precision);
        match lambada_jit::translator(settings.contract).filter(|_| wanted) {
            Some(translator) => {
                Code::Interpreted(Program::translated(function, translator), Engine::Jit)
            }
            None => Code::Interpreted(Program::new(function), Engine::Interpreter),
        }
    };
    Ok(functions.iter().map(|function| Kernel::new(function, code(function))).collect())
}

/// How many lanes functions should have that are not compiled by a C compiler.
pub fn interpreted_lanes(engine: Engine, precision: Precision) -> u16 {
    let translated = engine != Engine::Interpreter && translates(precision);
    if translated { lambada_jit::LANES } else { lambada_loops::LANES }
}

/// Is machine code made here, for this processor, of reals of so many bits?
pub fn translates(precision: Precision) -> bool {
    precision == Precision::F64 && lambada_jit::translator(true).is_some()
}

/// Has somebody else told of warnings, which are written to standard error otherwise. Only the
/// first one is.
pub fn warn_with(tell: fn(&str)) {
    // Whoever is told already stays.
    let _ = TELL.set(tell);
}

static TELL: OnceLock<fn(&str)> = OnceLock::new();

fn warn_once(reason: Option<&CompileError>, functions: &[&Function]) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        let translated = functions.iter().all(|function| translates(function.precision));
        let text = messages::interpreted(reason, translated);
        match TELL.get() {
            Some(tell) => tell(&text),
            None => eprintln!("{text}"),
        }
    });
}

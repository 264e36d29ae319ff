//! C text → numbers: compile, cache, load, call.
//!
//! - `compiler`: the C compiler and its flags; `children`: programs that end with this process;
//! - `coming`: code that is made while other code runs;
//! - `cache`: compiled units by the hash of all they depend on; `prune`: removal of old units;
//!   `seal`, `owner`, `opened`: checks before a unit is loaded, and the path to load;
//! - `prepared`: a unit before it is compiled; `described`: what calls know of its functions;
//! - `native`: loaded units and calls into them; `call`: the interface of calls for the façade;
//! - `elements`, `output`: arguments and results, in Rust and in machine code;
//! - `pool`: idle contexts;
//! - `cancel`: cancellation of calls; `running`: handles of running code and children;
//! - `hosted`: memory of results that outlive a call;
//! - `stack`: the stack of programs whose functions call each other;
//! - `threads`: threads of parallel loops;
//! - `subnormals`: the processor mode that flushes subnormal numbers to zero;
//! - `signals`: signals that the process ignores;
//! - `streams`: whether standard output was open before the program began;
//! - `memory`: available memory; `peak`: peak performance of the machine;
//! - `unfinished`: files to remove if the process ends while writing them;
//! - `messages`: errors of compilation;
//! - here: [`Kernel`], which runs a function on the best available engine.

mod cache;
mod call;
mod cancel;
mod children;
mod coming;
mod compiler;
mod described;
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
mod prepared;
mod prune;
mod running;
mod seal;
#[cfg(unix)]
mod signals;
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
use coming::Coming;
use native::Native;
use prepared::Prepared;

pub use call::{Call, Results};
pub use cancel::Cancel;
pub use children::Children;
pub use compiler::Compiler;
pub use elements::{Argument, Elements, Got, Lent};
pub use hosted::Destination;
pub use memory::{MAX_MEMORY, available, parse_size};
pub use native::release;
pub use peak::Peak;
#[cfg(unix)]
pub use signals::is_ignored;
pub use streams::output_was_closed;
pub use unfinished::{Unfinished, remove_unfinished};

/// Engine that runs a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Machine code, made by the C compiler.
    Native,
    /// Machine code from `lambada_jit`, with the interpreter for untranslated parts: starts at
    /// once, and is two to four times slower in most programs.
    Jit,
    /// The interpreter of `loops`: some thirty times slower, with reference results.
    Interpreter,
}

/// A processor, or a family of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The processor that the program runs on.
    Here,
    /// All processors of the architecture: the C compiler's default.
    Any,
    /// x86-64 processors with 256-bit vectors: AVX2 and FMA.
    Avx2,
    /// x86-64 processors with 512-bit vectors: the parts of AVX-512 that servers have had from the
    /// start.
    Avx512,
}

impl Target {
    /// Targets for which a portable program contains versions, narrower vectors first.
    pub fn versions() -> &'static [Target] {
        if cfg!(target_arch = "x86_64") {
            &[Target::Any, Target::Avx2, Target::Avx512]
        } else {
            &[Target::Any]
        }
    }

    /// Width of its vector registers in bits.
    pub fn vector_bits(self) -> u16 {
        64 * self.words()
    }

    /// Required processor features beyond the architecture, as C compilers name them.
    pub fn features(self) -> impl Iterator<Item = &'static str> {
        let flags = if self == Target::Here { &[] } else { self.flags() };
        flags.iter().filter_map(|flag| flag.strip_prefix("-m"))
    }

    /// Number of reals in a vector register, and so the best number of lanes: 8, 4 or 2 for 64
    /// bits, twice as many for 32. Determined at run time for [`Target::Here`]. A unit of C works
    /// with any number of lanes on any processor, with the same results.
    pub fn lanes(self, precision: Precision) -> u16 {
        self.words() * precision.per_word()
    }

    /// Number of 64-bit words in a vector register.
    fn words(self) -> u16 {
        match self {
            Target::Here => words_here(),
            Target::Any => 2,
            Target::Avx2 => 4,
            Target::Avx512 => 8,
        }
    }

    /// C compiler flags that select it.
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

/// Settings for compiling functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The engine. Without a C compiler `lambada_jit` replaces it; on processors that `lambada_jit`
    /// does not know, the interpreter.
    pub engine: Engine,
    /// Whether `a * b + c` may be rounded once. Faster and usually more precise, but it differs
    /// from the interpreter in the last bit.
    pub contract: bool,
    /// Target processor.
    pub target: Target,
    /// Approximate number of statements in the C functions into which a large function is cut,
    /// because C compilers take long for large functions.
    pub part: usize,
    /// Whether early code is worth more than fast code.
    pub quick: bool,
    /// Whether calls run in machine code of `lambada_jit` until the code of the C compiler is there,
    /// which is made meanwhile. Not for functions that show values.
    pub meanwhile: bool,
    /// Number of threads of a call. Results do not depend on it.
    pub threads: usize,
    /// Whether code from the C compiler may flush subnormal arguments and results to zero, because
    /// processors are much slower with subnormal numbers.
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
            meanwhile: false,
            threads: 1,
            flush_subnormals: false,
        }
    }
}

/// Why a function cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// Description, with the path of the C file.
    pub message: String,
    /// The party at fault. Errors of [`Kernel::compile`] are ours, because after errors of the
    /// system the interpreter runs.
    pub fault: Fault,
}

/// The party at fault if a function cannot be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Ours: our own checker or a working C compiler rejects the generated code.
    Ours,
    /// The system: the C compiler does not work, or the disk is full.
    System,
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompileError {}

/// A compiled function that can run any number of times. It keeps the memory of its arrays between
/// calls.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    /// Element type of each parameter, and whether it is a scalar.
    params: Vec<(ScalarTy, bool)>,
    code: Code,
    limit: Memory,
}

#[derive(Debug)]
enum Code {
    Native(Native),
    Interpreted(Program, Engine),
    /// Machine code of `lambada_jit`, until that of the C compiler is there.
    Replaced(Program, Engine, Coming),
}

impl Kernel {
    /// Compiles a function to machine code, or for the interpreter if no C compiler is found.
    pub fn compile(function: &Function) -> Result<Kernel, CompileError> {
        Ok(Kernel::compile_all(&[function])?.remove(0))
    }

    /// Compiles several functions as one unit of C, faster than one by one.
    pub fn compile_all(functions: &[&Function]) -> Result<Vec<Kernel>, CompileError> {
        Kernel::compile_with(functions, Settings::default())
    }

    /// Compiles several functions with settings. They keep their lanes, whichever engine runs them.
    pub fn compile_with(
        functions: &[&Function],
        settings: Settings,
    ) -> Result<Vec<Kernel>, CompileError> {
        match native(functions, settings, None)? {
            Some(kernels) => Ok(kernels),
            None => interpret(functions, settings),
        }
    }

    /// Compiles the function that `lower` returns for the number of lanes of its engine. Lowers
    /// once more if the C compiler turns out not to work. `kept` replaces the default cache
    /// directory.
    ///
    /// # Errors
    /// Errors of ours; after errors of the system another engine runs.
    pub fn lowered(
        precision: Precision,
        settings: Settings,
        kept: Option<&Path>,
        lower: impl Fn(u16) -> Function,
    ) -> Result<Kernel, CompileError> {
        let kernels = match Compiler::find().filter(|_| settings.engine == Engine::Native) {
            Some(compiler) if settings.meanwhile => {
                return Kernel::replaced(compiler, precision, settings, kept, lower);
            }
            Some(_) => native(&[&lower(settings.target.lanes(precision))], settings, kept)?,
            None => None,
        };
        let mut kernels = match kernels {
            Some(kernels) => kernels,
            None => {
                let function = lower(interpreted_lanes(settings.engine, precision));
                if settings.engine == Engine::Native && Compiler::find().is_none() {
                    warn_once(None, all_translate(&[&function]));
                }
                interpret(&[&function], settings)?
            }
        };
        Ok(kernels.remove(0))
    }

    /// Machine code of `lambada_jit`, or the interpreter where that has none, until the code of the
    /// C compiler is there.
    fn replaced(
        compiler: &'static Compiler,
        precision: Precision,
        settings: Settings,
        kept: Option<&Path>,
        lower: impl Fn(u16) -> Function,
    ) -> Result<Kernel, CompileError> {
        let whole = lower(settings.target.lanes(precision));
        check(&[&whole])?;
        let prepared = Prepared::of(&[&whole], settings);
        if let Some(native) = prepared.known(compiler, kept).and_then(first) {
            return Ok(Kernel::new(&whole, Code::Native(native)));
        }
        let quick = Settings { engine: Engine::Jit, ..settings };
        let lanes = interpreted_lanes(Engine::Jit, precision);
        let mut kernel = interpret(&[&lower(lanes)], quick)?.remove(0);
        let kept = kept.map(Path::to_path_buf);
        let make = move || match prepared.compiled(compiler, kept.as_deref()) {
            Ok(native) => first(native),
            Err(error) => {
                warn_once(Some(&error), true);
                None
            }
        };
        if let Code::Interpreted(program, engine) = kernel.code {
            kernel.code = match Coming::start(make) {
                Some(coming) => Code::Replaced(program, engine, coming),
                None => Code::Interpreted(program, engine),
            };
        }
        Ok(kernel)
    }

    fn new(function: &Function, code: Code) -> Kernel {
        let (name, params) = (function.name.clone(), lambada_loops::param_types(function));
        Kernel { name, params, code, limit: Memory::default() }
    }

    /// Limits the memory for arrays in all later calls; arguments do not count.
    pub fn limit(&mut self, limit: Memory) {
        self.limit = limit;
        match &self.code {
            Code::Native(native) => native.limit(limit),
            Code::Replaced(.., coming) => coming.limit(limit),
            Code::Interpreted(..) => {}
        }
    }

    /// Peak of the bytes of arrays in all calls so far; `None` for the interpreter.
    pub fn peak(&self) -> Option<u64> {
        match &self.code {
            Code::Native(native) => Some(native.peak()),
            Code::Replaced(.., coming) => coming.now().map(Native::peak),
            Code::Interpreted(..) => None,
        }
    }

    /// The engine that runs it now.
    pub fn engine(&self) -> Engine {
        match &self.code {
            Code::Native(_) => Engine::Native,
            Code::Replaced(.., coming) if coming.now().is_some() => Engine::Native,
            Code::Interpreted(_, engine) | Code::Replaced(_, engine, _) => *engine,
        }
    }

    /// Passes a call to `then` before its run. The sizes that the code takes come first, then the
    /// parameters of the source. The sizes must match the arrays, because the code relies on it.
    /// Concurrent calls have separate memory.
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
        let (native, program, coming) = match &self.code {
            Code::Native(native) => (Some(native), None, None),
            Code::Interpreted(program, _) => (None, Some(program), None),
            Code::Replaced(program, engine, coming) => {
                (coming.now(), Some(program), Some((coming, *engine)))
            }
        };
        match (native, program) {
            (Some(native), _) => {
                let mut call = native.begin(sizes, args)?;
                Ok(then(&mut Call::native(&mut call)))
            }
            (None, None) => unreachable!("a kernel has code"),
            (None, Some(program)) => {
                let sizes = sizes.map(|size| Tensor::scalar(Scalar::Int(size)));
                let args = sizes.chain(args.map(Argument::tensor)).collect();
                let mut call = Interpreted::new(program, coming, self.limit, args);
                Ok(then(&mut Call::interpreted(&mut call)))
            }
        }
    }

    /// Runs the function on its arguments, sizes first: see [`with`](Kernel::with).
    ///
    /// # Errors
    /// Failures of the program.
    pub fn call(&self, args: &[Tensor]) -> Result<Vec<Tensor>, Failure> {
        self.call_seen(args, &|_, _| {})
    }

    /// As [`call`](Kernel::call); `seen` receives inspected values in order: their number, and
    /// their parts.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn call_seen(&self, args: &[Tensor], seen: Seen) -> Result<Vec<Tensor>, Failure> {
        self.given(args, |call| call.take(seen, |results| results.collect()))?
    }

    /// As [`call_seen`](Kernel::call_seen), if that takes at most about `work` instructions;
    /// otherwise `None`. Code from the C compiler does not count instructions, and runs to its end.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn call_briefly(
        &self,
        args: &[Tensor],
        seen: Seen,
        work: u64,
    ) -> Option<Result<Vec<Tensor>, Failure>> {
        let (Code::Interpreted(program, _) | Code::Replaced(program, ..)) = &self.code else {
            return Some(self.call_seen(args, seen));
        };
        let cancelled = Cancel::current().map(|cancel| cancel.flag());
        let terms = Terms { memory: self.limit, seen: Some(seen), cancelled, work: Some(work) };
        let result = program.run_within(args, &terms);
        let exhausted = |failure: &Failure| failure.message == EXHAUSTED;
        if result.as_ref().is_err_and(exhausted) { None } else { Some(result) }
    }

    /// As [`call`](Kernel::call), with the nanoseconds of the function itself, without passing
    /// arguments and copying results.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn call_timed(&self, args: &[Tensor]) -> Result<(Vec<Tensor>, u64), Failure> {
        self.given(args, |call| {
            let nanoseconds = call.timed()?;
            Ok((call.results().map(Got::tensor).collect(), nanoseconds))
        })?
    }

    /// Nanoseconds of each of `repetitions` runs on the same arguments, of the function itself;
    /// results are not copied.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn time(&self, args: &[Tensor], repetitions: usize) -> Result<Vec<u64>, Failure> {
        self.given(args, |call| (0..repetitions).map(|_| call.timed()).collect())?
    }

    /// Passes a call with these arguments to `then`.
    fn given<R>(&self, args: &[Tensor], then: impl FnOnce(&mut Call) -> R) -> Result<R, Failure> {
        lambada_loops::check_arguments(&self.name, self.params.iter().copied(), args)?;
        self.with(std::iter::empty(), args.iter().map(Argument::from), then)
    }
}

fn first(natives: Vec<Native>) -> Option<Native> {
    natives.into_iter().next()
}

fn check(functions: &[&Function]) -> Result<(), CompileError> {
    let check = |function: &&Function| lambada_loops::check(function);
    functions.iter().try_for_each(check).map_err(|complaint| messages::malformed(&complaint))
}

/// Compiles with the C compiler, if the settings request it. If no compiler works, warns and
/// returns `None`.
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
        warn_once(None, all_translate(functions));
        return Ok(None);
    };
    match Prepared::of(functions, settings).compiled(compiler, kept) {
        Ok(natives) => {
            let kernel = |(function, it): (&&Function, _)| Kernel::new(function, Code::Native(it));
            Ok(Some(functions.iter().zip(natives).map(kernel).collect()))
        }
        Err(error) if error.fault == Fault::System => {
            // A compiler killed by Ctrl-C deserves no warning.
            if !Cancel::current().is_some_and(|cancel| cancel.is_cancelled()) {
                warn_once(Some(&error), all_translate(functions));
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Compiles without a C compiler: with `lambada_jit`, unless the settings exclude it.
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

/// The best number of lanes for functions compiled without a C compiler.
pub fn interpreted_lanes(engine: Engine, precision: Precision) -> u16 {
    let translated = engine != Engine::Interpreter && translates(precision);
    if translated { lambada_jit::LANES } else { lambada_loops::LANES }
}

/// Whether `lambada_jit` supports this processor and precision.
pub fn translates(precision: Precision) -> bool {
    precision == Precision::F64 && lambada_jit::translator(true).is_some()
}

/// Sets the receiver of warnings [default: standard error]. Later calls have no effect.
pub fn warn_with(tell: fn(&str)) {
    // The first receiver stays.
    let _ = TELL.set(tell);
}

static TELL: OnceLock<fn(&str)> = OnceLock::new();

fn all_translate(functions: &[&Function]) -> bool {
    functions.iter().all(|function| translates(function.precision))
}

fn warn_once(reason: Option<&CompileError>, translated: bool) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        let text = messages::interpreted(reason, translated);
        match TELL.get() {
            Some(tell) => tell(&text),
            None => eprintln!("{text}"),
        }
    });
}

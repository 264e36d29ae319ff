//! The pipeline on one screen: from a core program to an executable.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use lambada_anf as anf;
use lambada_anf::Audience;
use lambada_core::data::Data;
use lambada_core::eval::Settings;
use lambada_core::{Def, DefId, Program};
use lambada_graph::Plan;
use lambada_loops as loops;
use lambada_normalize::{
    Inspection, Layout, Normalized, layouts, normalize, normalize_for_source, with_known,
};
use lambada_prim::{Memory, Scalar, Tensor};
use lambada_run::{Cancel, Kernel, Target};
use lambada_schedule::{Choice, schedule};
use lambada_source::stack::{self, Deep};
use lambada_source::{Failure, Problem, Site, Span};

use crate::brief::Brief;
use crate::messages::running as messages;
use crate::orders;
use crate::passes::{COMPILE, LOWER, Lap, NORMALIZE, SCHEDULE, timed};
use crate::staged::Staged;
use crate::{Engine, Options};

/// A first-order array program with its interface, before and after optimization.
#[derive(Clone, Debug)]
pub struct Arrays {
    /// The output of `normalize`.
    pub normalized: Deep<Normalized>,
    /// The optimized program, which runs.
    pub optimized: Deep<anf::Function>,
}

impl Arrays {
    /// Adds checks for NaNs.
    fn trapping(self, options: &Options) -> Arrays {
        let mut function = (*self.optimized).clone();
        anf::trap(&mut function);
        verify(options, "trap", || anf::check(&function), || anf::print(&function));
        Arrays { optimized: function.into(), ..self }
    }
}

/// Adds checks for NaNs, if requested.
pub(crate) fn trapped(arrays: Arrays, options: &Options) -> Arrays {
    if options.trap_nan { arrays.trapping(options) } else { arrays }
}

/// core → anf → anf
pub fn arrays(program: &Program, entry: DefId) -> Result<Arrays, Vec<Problem>> {
    arrays_with(program, entry, &Options::default())
}

/// core → anf → anf, with options.
pub(crate) fn arrays_with(
    program: &Program,
    entry: DefId,
    options: &Options,
) -> Result<Arrays, Vec<Problem>> {
    stack::roomy(|| {
        verify_core(program, options);
        // A table of a function holds values that the program does not compute, perhaps NaNs.
        let (derivatives, audience) = match options.trap_nan {
            true => (Staged::trapping(), Audience::People),
            false => (Staged::default(), Audience::Machine),
        };
        let normalized = timed(&NORMALIZE, || normalize(program, entry, &derivatives))?;
        let optimized = checked(&normalized.function, options, audience)?;
        anf::check_entry(&optimized).map_err(|what| vec![messages::broken_program(&what)])?;
        Ok(Arrays { normalized: normalized.into(), optimized: optimized.into() })
    })
}

/// core → anf, without any optimization.
pub(crate) fn unoptimized(
    program: &Program,
    entry: DefId,
) -> Result<Deep<Normalized>, Vec<Problem>> {
    stack::roomy(|| Ok(normalize(program, entry, &Staged::default())?.into()))
}

/// core → anf → anf in two stages: the arguments from the `known`th parameter on are known. The
/// second function, of these arguments, gives the last arguments of the first one.
pub(crate) fn arrays_in_stages(
    program: &Program,
    entry: DefId,
    known: usize,
    options: &Options,
) -> Result<(Arrays, Option<anf::Function>), Vec<Problem>> {
    stack::roomy(|| {
        verify_core(program, options);
        let normalized = timed(&NORMALIZE, || normalize(program, entry, &Staged::default()))?;
        let leaves = normalized.params[..known].iter().map(|(_, layout)| layout.leaves().len());
        let stages = lambada_optimize::staged(&normalized.function, leaves.sum());
        let made = stages.and_then(|stages| {
            let first = checked(&stages.first, options, Audience::Machine).ok()?;
            Some((checked(&stages.rest, options, Audience::Machine).ok()?, first))
        });
        let (optimized, first) = match made {
            Some((rest, first)) => (rest, Some(first)),
            None => (checked(&normalized.function, options, Audience::Machine)?, None),
        };
        anf::check_entry(&optimized).map_err(|what| vec![messages::broken_program(&what)])?;
        Ok((Arrays { normalized: normalized.into(), optimized: optimized.into() }, first))
    })
}

/// core → anf → anf for readers: values of recursive types stay as they are.
pub(crate) fn readable_arrays(
    program: &Program,
    entry: DefId,
    name_of: &dyn Fn(&Def) -> Option<Rc<str>>,
    options: &Options,
) -> Result<anf::Function, Vec<Problem>> {
    stack::roomy(|| {
        let (program, entry) = with_known(program, entry, name_of);
        let program = &program;
        verify_core(program, options);
        let function =
            timed(&NORMALIZE, || normalize_for_source(program, entry, &Staged::for_people()))?;
        let mut optimized = checked(&function, options, Audience::People)?;
        match lambada_optimize::handed_on(&mut optimized) {
            true => checked(&optimized, options, Audience::People),
            false => Ok(optimized),
        }
    })
}

fn verify_core(program: &Program, options: &Options) {
    let text = || lambada_core::print_program(program);
    verify(options, "elaborate", || lambada_core::check(program), text);
}

/// Optimizes the output of `normalize`, and checks the result.
fn checked(
    function: &anf::Function,
    options: &Options,
    audience: Audience,
) -> Result<anf::Function, Vec<Problem>> {
    verify(options, "normalize", || anf::check(function), || anf::print(function));
    let optimized = optimized(function, options, audience, &mut |_, _| {});
    // In release builds too: a program with an unproved index must never become machine code.
    anf::check(&optimized).map_err(|complaint| vec![messages::broken_program(&complaint)])?;
    Ok(optimized)
}

/// Optimizes; `observe` sees the function after each pass.
pub(crate) fn optimized(
    function: &anf::Function,
    options: &Options,
    audience: Audience,
    observe: &mut dyn FnMut(&'static str, &anf::Function),
) -> anf::Function {
    let mut lap = Lap::new();
    lambada_optimize::optimize_observed(function.clone(), audience, &mut |pass, after, changed| {
        lap.ran(pass.name);
        if changed {
            verify(options, pass.name, || anf::check(after), || anf::print(after));
        }
        observe(pass.name, after);
        lap.restart();
    })
}

/// anf → loops without nests: one element after the other.
pub fn lower(arrays: &Arrays) -> loops::Function {
    lower_with(arrays, &Options { nests: false, ..Options::default() })
}

/// anf → loops for a target or a family of targets, with nests if the options say so.
pub fn lower_for(arrays: &Arrays, options: &Options, target: Target) -> loops::Function {
    lower_by(&arrays.optimized, options, options.plan(&arrays.optimized, target))
}

/// anf → loops for a scheduling plan.
fn lower_by(function: &anf::Function, options: &Options, plan: Plan) -> loops::Function {
    stack::roomy(|| {
        let scheduled = scheduled(function, options, plan);
        let lowered = timed(&LOWER, || lambada_lower::lower_with(&scheduled, plan));
        verify(options, "lower", || loops::check(&lowered), || loops::print(&lowered));
        lowered
    })
}

/// The function with kernels, if the options say so.
pub(crate) fn scheduled<'a>(
    function: &'a anf::Function,
    options: &Options,
    plan: Plan,
) -> Cow<'a, anf::Function> {
    if !options.nests || options.trap_nan {
        return Cow::Borrowed(function);
    }
    let scheduled = timed(&SCHEDULE, || schedule(function, plan, Choice::Best));
    verify(options, SCHEDULE.name, || anf::check(&scheduled), || anf::print(&scheduled));
    Cow::Owned(scheduled)
}

/// anf → loops for the target of the options.
pub(crate) fn lower_with(arrays: &Arrays, options: &Options) -> loops::Function {
    lower_for(arrays, options, options.target)
}

/// anf → loops for the interpreter.
fn lower_to_interpret(function: &anf::Function, options: &Options) -> loops::Function {
    let lanes = lambada_run::interpreted_lanes(engine(options), function.names.precision());
    lower_by(function, options, Plan { mechanisms: options.mechanisms, ..Plan::of(lanes) })
}

/// Stops the compiler at the first pass whose output fails the check, if checks are requested.
fn verify(
    options: &Options,
    pass: &str,
    check: impl FnOnce() -> Result<(), String>,
    text: impl FnOnce() -> String,
) {
    if !options.checks {
        return;
    }
    if let Err(complaint) = check() {
        panic!("after {pass}: {complaint}\n{}", text());
    }
}

/// A program that can run.
pub struct Executable {
    params: Vec<(Arc<str>, Layout)>,
    result: Layout,
    /// Sources of the sizes that the code takes; core takes none.
    sizes: Vec<SizeSource>,
    code: Deep<Code>,
    memory: Memory,
    /// Inspections by number; core has its own.
    inspections: Vec<Inspection>,
    observer: Observer,
    /// Whether core fails on a NaN made from numbers. Other code has checks compiled in.
    trap_nan: bool,
}

/// Callback for values of `inspect`, in the order of evaluation: the site, with its message, and
/// the value.
pub type Observer = Arc<dyn Fn(&Site, &Data) + Send + Sync>;

enum Code {
    Native(Kernel),
    Brief(Box<Brief>),
    Loops(loops::Function),
    Anf(anf::Function),
    Core(Program, DefId),
    /// Core with a parameter or result of recursive type, which has no layout.
    Recursive(Program, DefId),
}

/// Source of a size: an axis of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeSource {
    pub argument: usize,
    pub axis: usize,
}

impl Executable {
    /// Compiles a program for an engine.
    pub fn new(program: Program, entry: DefId, engine: Engine) -> Result<Executable, Vec<Problem>> {
        let precision = program.precision;
        Executable::with(program, entry, &Options { engine, precision, ..Options::default() })
    }

    /// As [`new`](Executable::new), but fails at the first operation that makes a NaN from numbers.
    pub fn trapping(
        program: Program,
        entry: DefId,
        engine: Engine,
    ) -> Result<Executable, Vec<Problem>> {
        let precision = program.precision;
        let options = Options { engine, trap_nan: true, precision, ..Options::default() };
        Executable::with(program, entry, &options)
    }

    /// Compiles a program with options.
    pub fn with(
        mut program: Program,
        entry: DefId,
        options: &Options,
    ) -> Result<Executable, Vec<Problem>> {
        program.precision = options.precision;
        let made = stack::roomy(|| {
            let arrays = || {
                let arrays = arrays_with(&program, entry, options)?;
                Ok::<_, Vec<Problem>>(trapped(arrays, options))
            };
            match options.engine {
                Engine::Native | Engine::Jit => {
                    let arrays = arrays()?;
                    let shows = !arrays.normalized.inspections.is_empty();
                    let translated = lambada_run::translates(options.precision);
                    if options.engine == Engine::Native && options.quick && translated && !shows {
                        let brief = brief(&arrays.optimized, options)?;
                        return Ok(Executable::optimized(&arrays, Code::Brief(Box::new(brief))));
                    }
                    let kernel = compiled(&arrays.optimized, options)?;
                    Ok(Executable::optimized(&arrays, Code::Native(kernel)))
                }
                Engine::Loops => {
                    let arrays = arrays()?;
                    let lowered = lower_to_interpret(&arrays.optimized, options);
                    Ok(Executable::optimized(&arrays, Code::Loops(lowered)))
                }
                Engine::Anf => {
                    let arrays = arrays()?;
                    Ok(Executable::optimized(&arrays, Code::Anf((*arrays.optimized).clone())))
                }
                Engine::Core => Executable::core(program, entry, options),
            }
        })?;
        Ok(made.limited(options.memory()))
    }

    /// Loops as scheduled for machine code, run by the interpreter so that its operations can be
    /// counted.
    pub(crate) fn as_machine_code(
        mut program: Program,
        entry: DefId,
        options: &Options,
    ) -> Result<Executable, Vec<Problem>> {
        program.precision = options.precision;
        stack::roomy(|| {
            let arrays = trapped(arrays_with(&program, entry, options)?, options);
            let lowered = lower_with(&arrays, options);
            Ok(Executable::optimized(&arrays, Code::Loops(lowered)).limited(options.memory()))
        })
    }

    /// A program for the evaluator of core. Nothing is compiled, so programs that cannot be
    /// compiled run too, unless their order of differentiation is unknown.
    fn core(program: Program, entry: DefId, options: &Options) -> Result<Executable, Vec<Problem>> {
        verify(
            options,
            "elaborate",
            || lambada_core::check(&program),
            || lambada_core::print_program(&program),
        );
        orders::known(&program, entry, &Staged::default())?;
        let (params, result, code) = if program.has_recursive_type(program.def(entry).body.ty()) {
            let nothing = Layout::new(lambada_normalize::Shape::Tuple(Vec::new()));
            (Vec::new(), nothing, Code::Recursive(program, entry))
        } else {
            let (params, result) = layouts(&program, entry)?;
            (params, result, Code::Core(program, entry))
        };
        let (sizes, memory, code) = (Vec::new(), Memory::default(), code.into());
        let (inspections, observer): (_, Observer) = (Vec::new(), Arc::new(|_, _| {}));
        let trap_nan = options.trap_nan;
        Ok(Executable { params, result, sizes, code, memory, inspections, observer, trap_nan })
    }

    /// Three stages of one program for their evaluators: normalized, optimized, and loops. Tests
    /// compare them with each other.
    pub fn stages(arrays: &Arrays) -> [Executable; 3] {
        let function = &arrays.normalized.function;
        let unoptimized =
            Executable::with_code(&arrays.normalized, function, Code::Anf(function.clone()));
        let anf = Executable::optimized(arrays, Code::Anf((*arrays.optimized).clone()));
        [unoptimized, anf, Executable::optimized(arrays, Code::Loops(lower(arrays)))]
    }

    /// Code with the parameters of the optimized function.
    fn optimized(arrays: &Arrays, code: Code) -> Executable {
        Executable::with_code(&arrays.normalized, &arrays.optimized, code)
    }

    /// Code with the parameters of `function`.
    fn with_code(interface: &Normalized, function: &anf::Function, code: Code) -> Executable {
        Executable {
            params: interface.params.clone(),
            result: interface.result.clone(),
            sizes: size_sources(function),
            code: code.into(),
            memory: Memory::default(),
            inspections: interface.inspections.clone(),
            observer: Arc::new(|_, _| {}),
            trap_nan: false,
        }
        .limited(crate::memory::limit())
    }

    /// Limits the bytes of all arrays. The interpreters of array programs and of core apply the
    /// limit to each array.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Executable {
        self.limited(Memory { limit: bytes })
    }

    /// Sets the observer of inspected values.
    #[must_use]
    pub fn with_observer(self, observer: Observer) -> Executable {
        Executable { observer, ..self }
    }

    /// Passes a value inspected by array code to the observer.
    fn see(&self, number: u32, parts: Vec<Tensor>) {
        if let Some(inspection) = self.inspections.get(number as usize) {
            let value = inspection.layout.unflatten(&mut parts.into_iter());
            (self.observer)(&inspection.site, &value);
        }
    }

    fn limited(mut self, memory: Memory) -> Executable {
        self.memory = memory;
        if let Code::Native(kernel) = &mut *self.code {
            kernel.limit(memory);
        } else if let Code::Brief(brief) = &mut *self.code {
            brief.limit(memory);
        }
        self
    }

    /// Runs the program on one value per parameter.
    pub fn run(&self, args: &[Data]) -> Result<Data, Failure> {
        let memory = self.memory;
        let seen: &dyn Fn(u32, Vec<Tensor>) = &|number, parts| self.see(number, parts);
        let show: &dyn Fn(&Site, Data) = &|site, value| (self.observer)(site, &value);
        let settings = Settings { limit: memory, trap_nan: self.trap_nan, seen: show };
        let results = match &*self.code {
            Code::Native(kernel) => kernel.call_seen(&self.tensors(args)?, seen)?,
            Code::Brief(brief) => {
                let tensors = self.tensors(args)?;
                stack::roomy(|| brief.run(&tensors, memory, seen))?
            }
            Code::Loops(function) => {
                let tensors = self.tensors(args)?;
                let cancelled = Cancel::current().map(|cancel| cancel.flag());
                let terms = loops::Terms { memory, seen: Some(seen), cancelled, work: None };
                stack::roomy(|| loops::Program::new(function).run_within(&tensors, &terms))?
            }
            Code::Anf(function) => {
                let leaves = self.leaves(args)?;
                stack::roomy(|| anf::eval_within(function, &leaves, memory, seen))?.results
            }
            Code::Recursive(program, entry) => {
                let args = crate::fit::fit_data(&program.def(*entry).signature, args)?;
                return stack::roomy(|| {
                    lambada_core::eval::run_with(program, *entry, &args, settings)
                });
            }
            Code::Core(program, entry) => {
                let mut leaves = self.leaves(args)?.into_iter();
                let args: Vec<Data> =
                    self.params.iter().map(|(_, layout)| layout.unflatten(&mut leaves)).collect();
                return stack::roomy(|| {
                    lambada_core::eval::run_with(program, *entry, &args, settings)
                });
            }
        };
        Ok(self.result.unflatten(&mut results.into_iter()))
    }

    /// Runs the program at least `runs` times and for at least `seconds`: the result, and the
    /// nanoseconds of each run. For native code these exclude reading and writing data.
    pub fn measure(
        &self,
        args: &[Data],
        runs: usize,
        seconds: f64,
    ) -> Result<(Data, Vec<u64>), Failure> {
        let enough =
            |times: &[u64], total: u64| times.len() >= runs && total as f64 >= seconds * 1e9;
        let (mut times, mut total) = (Vec::new(), 0);
        if let Code::Native(kernel) = &*self.code {
            let tensors = self.tensors(args)?;
            let (results, first) = kernel.call_timed(&tensors)?;
            times.push(first);
            total += first;
            while !enough(&times, total) {
                let more = kernel.time(&tensors, 1)?;
                total += more.iter().sum::<u64>();
                times.extend(more);
            }
            return Ok((self.result.unflatten(&mut results.into_iter()), times));
        }
        loop {
            let start = Instant::now();
            let result = self.run(args)?;
            let own = start.elapsed().as_nanos() as u64;
            times.push(own);
            total += own;
            if enough(&times, total) {
                return Ok((result, times));
            }
        }
    }

    /// Nanoseconds of each of `repetitions` runs of the native function alone, without reading and
    /// writing data; empty for other engines.
    pub fn time(&self, args: &[Data], repetitions: usize) -> Result<Vec<u64>, Failure> {
        let Code::Native(kernel) = &*self.code else { return Ok(Vec::new()) };
        kernel.time(&self.tensors(args)?, repetitions)
    }

    /// Peak of the bytes of arrays in all runs so far, without arguments; `None` for interpreters.
    pub fn most_memory(&self) -> Option<u64> {
        let Code::Native(kernel) = &*self.code else { return None };
        kernel.peak()
    }

    /// Operation counts of a run by the interpreter of loops; `None` for other engines.
    pub fn counts(&self, args: &[Data]) -> Result<Option<loops::Counts>, Failure> {
        let Code::Loops(function) = &*self.code else { return Ok(None) };
        let tensors = self.tensors(args)?;
        let counted = stack::roomy(|| loops::Program::new(function).run_counted(&tensors));
        counted.map(|(_, counts)| Some(counts))
    }

    /// The arguments of a kernel: the sizes, then the leaves of the parameters.
    pub fn tensors(&self, args: &[Data]) -> Result<Vec<Tensor>, Failure> {
        let leaves = self.leaves(args)?;
        let size =
            |s: &SizeSource| Tensor::scalar(Scalar::Int(leaves[s.argument].dims[s.axis] as i64));
        let sizes: Vec<Tensor> = self.sizes.iter().map(size).collect();
        Ok(sizes.into_iter().chain(leaves).collect())
    }

    fn leaves(&self, args: &[Data]) -> Result<Vec<Tensor>, Failure> {
        crate::fit::count(&self.params, args.len())?;
        let mut leaves = Vec::new();
        for ((name, layout), arg) in self.params.iter().zip(args) {
            let irregular = |message| Failure {
                span: Span::default(),
                message: format!("the argument `{name}`: {message}"),
            };
            leaves.extend(layout.flatten(arg).map_err(irregular)?);
        }
        crate::fit::fit(&self.params, &mut leaves)?;
        Ok(leaves)
    }
}

pub(crate) fn size_sources(function: &anf::Function) -> Vec<SizeSource> {
    let find = |size: &anf::Var| {
        let places = function.params.iter().enumerate().flat_map(|(argument, p)| {
            p.ty.dims
                .iter()
                .enumerate()
                .map(move |(axis, dim)| (SizeSource { argument, axis }, dim))
        });
        let mut places = places.filter(|(_, dim)| dim.as_var() == Some(*size));
        places.next().map(|(place, _)| place).expect("every size is the size of a parameter")
    };
    function.sizes.iter().map(find).collect()
}

/// Lowers a function for the lanes of its engine, and compiles it.
pub(crate) fn compiled(
    function: &anf::Function,
    options: &Options,
) -> Result<Kernel, Vec<Problem>> {
    let cache = options.cache.as_deref();
    let settings = lambada_run::Settings {
        engine: engine(options),
        target: options.target,
        threads: options.threads.get(),
        flush_subnormals: options.flush_subnormals,
        quick: options.quick,
        meanwhile: options.meanwhile,
        ..Default::default()
    };
    let plan = |lanes| Plan { mechanisms: options.mechanisms, ..Plan::of(lanes) };
    let lower = |lanes| lower_by(function, options, plan(lanes));
    let precision = function.names.precision();
    timed(&COMPILE, || Kernel::lowered(precision, settings, cache, lower))
        .map_err(|e| vec![messages::broken_compilation(&e)])
}

/// A program for a single, quick run.
fn brief(function: &anf::Function, options: &Options) -> Result<Brief, Vec<Problem>> {
    let quick = Options { engine: Engine::Jit, ..options.clone() };
    let first = compiled(function, &quick)?;
    let (function, options) = (function.clone(), options.clone());
    let title = |problems: Vec<Problem>| problems.into_iter().map(|problem| problem.title);
    let later = move || {
        let kernel = compiled(&function, &options);
        kernel.map_err(|problems| title(problems).collect::<String>())
    };
    Ok(Brief::new(first, later))
}

/// The engine that runs loops.
fn engine(options: &Options) -> lambada_run::Engine {
    match options.engine {
        Engine::Native => lambada_run::Engine::Native,
        Engine::Jit => lambada_run::Engine::Jit,
        Engine::Loops | Engine::Anf | Engine::Core => lambada_run::Engine::Interpreter,
    }
}

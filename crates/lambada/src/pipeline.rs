//! The pipeline on one screen: from a core program to something that runs.

use std::rc::Rc;

use lambada_anf as anf;
use lambada_core::data::Data;
use lambada_core::{DefId, Program};
use lambada_loops as loops;
use lambada_normalize::{Layout, Normalized, normalize};
use lambada_prim::{Scalar, Tensor};
use lambada_run::{CompileError, Kernel};
use lambada_source::{Failure, Problem, Span};

/// Derivatives as the production pipeline takes them: simplify, differentiate, simplify.
#[derive(Clone, Copy, Debug, Default)]
pub struct Staged;

impl anf::Derivatives for Staged {
    fn forward(&self, names: &mut anf::Names, f: &anf::Lambda) -> anf::Lambda {
        let f = lambada_optimize::simplify(names, f);
        lambada_differentiate::forward(names, &f)
    }

    fn reverse(&self, names: &mut anf::Names, f: &anf::Lambda) -> anf::Reverse {
        let f = lambada_optimize::simplify(names, f);
        lambada_differentiate::reverse(names, &f)
    }
}

/// Which way to run a program. All give the same results; they differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Native code, through the system's C compiler.
    #[default]
    Native,
    /// The interpreter of loops: what runs where there is no C compiler.
    Loops,
    /// The evaluator of array programs.
    Anf,
    /// The evaluator that defines the language.
    Core,
}

/// A first-order array program with its interface, before and after optimization.
#[derive(Clone, Debug)]
pub struct Arrays {
    /// As `normalize` gives it.
    pub normalized: Normalized,
    /// What runs.
    pub optimized: anf::Function,
}

/// core → anf → anf
pub fn arrays(program: &Program, entry: DefId) -> Result<Arrays, Vec<Problem>> {
    verify("elaborate", || lambada_core::check(program), || lambada_core::print_program(program));
    let normalized = normalize(program, entry, &Staged)?;
    verify("normalize", || anf::check(&normalized.function), || anf::print(&normalized.function));
    let optimized =
        lambada_optimize::optimize_checking(normalized.function.clone(), crate::checks_requested());
    verify("optimize", || anf::check(&optimized), || anf::print(&optimized));
    // Always, in release builds too: what is not evidently in range never becomes machine code.
    anf::check(&optimized).map_err(|complaint| vec![broken_program(&complaint)])?;
    Ok(Arrays { normalized, optimized })
}

/// anf → loops
pub fn lower(arrays: &Arrays) -> loops::Function {
    let lowered = lambada_lower::lower(&arrays.optimized);
    verify("lower", || loops::check(&lowered), || loops::print(&lowered));
    lowered
}

/// Where checks are requested (always in debug builds), a program that a pass has broken stops the compiler at that pass.
fn verify(pass: &str, check: impl FnOnce() -> Result<(), String>, text: impl FnOnce() -> String) {
    if !crate::checks_requested() {
        return;
    }
    if let Err(complaint) = check() {
        panic!("after {pass}: {complaint}\n{}", text());
    }
}

/// A program that is ready to run.
pub struct Executable {
    params: Vec<(Rc<str>, Layout)>,
    result: Layout,
    sizes: Vec<SizeSource>,
    code: Code,
}

enum Code {
    Native(Kernel),
    Loops(loops::Function),
    Anf(anf::Function),
    Core(Program, DefId),
}

/// Where a size of the program is found: an axis of an argument.
#[derive(Clone, Copy, Debug)]
struct SizeSource {
    argument: usize,
    axis: usize,
}

impl Executable {
    /// Compiles a program for an engine.
    pub fn new(program: Program, entry: DefId, engine: Engine) -> Result<Executable, Vec<Problem>> {
        let arrays = arrays(&program, entry)?;
        let optimized = &arrays.optimized;
        let code = match engine {
            Engine::Native => Code::Native(
                Kernel::compile(&lower(&arrays)).map_err(|e| vec![broken_compilation(&e)])?,
            ),
            Engine::Loops => Code::Loops(lower(&arrays)),
            Engine::Anf => Code::Anf(optimized.clone()),
            Engine::Core => Code::Core(program, entry),
        };
        Ok(Executable::with_code(&arrays.normalized, optimized, code))
    }

    /// Three stages of one program, which are compiled once, for their evaluators: as `normalize` gives it, optimized, and as loops. They are
    /// tested against each other.
    pub fn stages(arrays: &Arrays) -> [Executable; 3] {
        let Arrays { normalized, optimized } = arrays;
        let unoptimized = Executable::with_code(
            normalized,
            &normalized.function,
            Code::Anf(normalized.function.clone()),
        );
        let anf = Executable::with_code(normalized, optimized, Code::Anf(optimized.clone()));
        [unoptimized, anf, Executable::with_code(normalized, optimized, Code::Loops(lower(arrays)))]
    }

    /// Code that takes the arguments of `function`.
    fn with_code(interface: &Normalized, function: &anf::Function, code: Code) -> Executable {
        Executable {
            params: interface.params.clone(),
            result: interface.result.clone(),
            sizes: size_sources(function),
            code,
        }
    }

    /// Runs the program on one value per parameter.
    pub fn run(&self, args: &[Data]) -> Result<Data, Failure> {
        if let Code::Core(program, entry) = &self.code {
            let mut leaves = self.leaves(args)?.into_iter();
            let args: Vec<Data> =
                self.params.iter().map(|(_, layout)| layout.unflatten(&mut leaves)).collect();
            return lambada_core::eval::run(program, *entry, &args);
        }
        let results = match &self.code {
            Code::Native(kernel) => kernel.call(&self.tensors(args)?)?,
            Code::Loops(function) => loops::eval(function, &self.tensors(args)?)?,
            Code::Anf(function) => anf::eval(function, &self.leaves(args)?)?.results,
            Code::Core(..) => unreachable!("handled above"),
        };
        Ok(self.result.unflatten(&mut results.into_iter()))
    }

    /// Nanoseconds of each of so many runs of the native function alone, without reading and writing data; nothing for other engines.
    pub fn time(&self, args: &[Data], repetitions: usize) -> Result<Vec<u64>, Failure> {
        match &self.code {
            Code::Native(kernel) => kernel.time(&self.tensors(args)?, repetitions),
            Code::Loops(_) | Code::Anf(_) | Code::Core(..) => Ok(Vec::new()),
        }
    }

    /// The arguments as a kernel takes them: the sizes, then the leaves of the parameters.
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

fn size_sources(function: &anf::Function) -> Vec<SizeSource> {
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

fn broken_program(complaint: &str) -> Problem {
    Problem::general(
        "E0702",
        format!("internal error: the optimized program is not well-formed: {complaint}"),
    )
    .hint("this is a bug in lambada; please report it")
}

fn broken_compilation(error: &CompileError) -> Problem {
    Problem::general("E0701", format!("the C compiler rejected the generated code: {error}"))
        .hint("this is a bug in lambada; please report it. Meanwhile, --engine loops runs the program without a C compiler")
}

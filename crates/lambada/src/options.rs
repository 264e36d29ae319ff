//! Options for compiling and running programs. A session has them and passes them to the programs
//! that it loads.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use lambada_anf::Function;
use lambada_core::data::Data;
use lambada_graph::{Mechanisms, Plan};
use lambada_prim::{Memory, Precision};
use lambada_run::Target;

/// Engine that runs a program. All engines give the same results; they differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Native code from the system's C compiler.
    #[default]
    Native,
    /// Machine code that Lambada generates, for x86-64 with AVX2: starts at once, and replaces the
    /// C compiler where none is found. Elsewhere the interpreter of loops.
    Jit,
    /// The interpreter of loops.
    Loops,
    /// The evaluator of array programs.
    Anf,
    /// The evaluator of core, which defines the language.
    Core,
}

/// Choice between quick compilation and fast code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// Code that is there soon.
    Quick,
    /// Code that runs as fast as it can.
    Full,
}

/// Options for compiling and running programs.
///
/// ```
/// use lambada::{Engine, Options};
///
/// let careful = Options { checks: true, engine: Engine::Loops, ..Options::default() };
/// assert_eq!(careful.max_memory, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The engine.
    pub engine: Engine,
    /// Whether to check the intermediate program after every pass [default: in debug builds].
    pub checks: bool,
    /// Limit on the bytes of arrays [default: `LAMBADA_MAX_MEMORY`, else most of the free memory].
    pub max_memory: Option<u64>,
    /// Width of the reals of a program: of all arithmetic, data and results.
    pub precision: Precision,
    /// Whether to run array arithmetic as nests with lanes where that seems profitable. Lanes
    /// change the order of summation.
    pub nests: bool,
    /// Optimizations of nests, which benchmarks switch off one by one.
    pub mechanisms: Mechanisms,
    /// Target processor.
    pub target: Target,
    /// Number of threads. Results do not depend on it.
    pub threads: NonZeroUsize,
    /// Whether arithmetic may flush subnormal numbers, those below 2.2e-308, to zero. Only code
    /// from the C compiler does so; subnormal operands slow processors down many times.
    pub flush_subnormals: bool,
    /// Whether a program fails at the first operation that turns numbers into a NaN.
    pub trap_nan: bool,
    /// The effort for single runs [default: chosen by the amount of their data].
    pub effort: Option<Effort>,
    /// Whether an early result is worth more than fast code. A run then begins in machine code that
    /// Lambada generates. If it takes long, it goes on in code that the C compiler makes in a third
    /// to half of the time and that runs up to a quarter longer. The last digits may be rounded
    /// differently; see [`soon`](crate::soon).
    pub quick: bool,
    /// Whether calls run in machine code that Lambada generates, or in the interpreter of loops
    /// where there is none (with reals of 32 bits), until the code of the C compiler is there. That
    /// is made meanwhile. The last digits may be rounded differently then.
    pub meanwhile: bool,
    /// Folder that caches compiled units [default: `$LAMBADA_CACHE`, else the user's cache
    /// directory].
    pub cache: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            engine: Engine::default(),
            checks: cfg!(debug_assertions),
            max_memory: None,
            precision: Precision::default(),
            nests: true,
            mechanisms: Mechanisms::ALL,
            target: Target::Here,
            threads: NonZeroUsize::MIN,
            flush_subnormals: false,
            trap_nan: false,
            effort: None,
            quick: false,
            meanwhile: false,
            cache: None,
        }
    }
}

impl Options {
    /// The options for a single run on these arguments.
    #[must_use]
    pub fn for_run(&self, args: &[Data]) -> Options {
        let quick = match self.effort {
            Some(Effort::Quick) => true,
            Some(Effort::Full) => false,
            None => crate::soon(args),
        };
        Options { quick, ..self.clone() }
    }

    /// Scheduling plan of a function for a target.
    pub(crate) fn plan(&self, function: &Function, target: Target) -> Plan {
        let lanes = target.lanes(function.names.precision());
        Plan { mechanisms: self.mechanisms, ..Plan::of(lanes) }
    }

    /// The limit on the memory for arrays.
    pub(crate) fn memory(&self) -> Memory {
        self.max_memory.map_or_else(crate::memory::limit, |limit| Memory { limit })
    }
}

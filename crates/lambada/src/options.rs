//! How programs are compiled and run, as a value: a session has one, and what it loads keeps it.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use lambada_anf::Function;
use lambada_graph::{Mechanisms, Plan};
use lambada_prim::{Memory, Precision};
use lambada_run::Target;

/// Which way to run a program. All give the same results; they differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Native code, through the system's C compiler.
    #[default]
    Native,
    /// Machine code that Lambada makes itself, for x86-64 with AVX2: there at once, and what runs
    /// where there is no C compiler. Elsewhere the interpreter of loops.
    Jit,
    /// The interpreter of loops.
    Loops,
    /// The evaluator of array programs.
    Anf,
    /// The evaluator that defines the language.
    Core,
}

/// How programs are compiled and run.
///
/// ```
/// use lambada::{Engine, Options};
///
/// let careful = Options { checks: true, engine: Engine::Loops, ..Options::default() };
/// assert_eq!(careful.max_memory, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// What runs programs.
    pub engine: Engine,
    /// Do the checkers of the intermediate languages run after every pass? They always do in debug
    /// builds.
    pub checks: bool,
    /// How many bytes arrays may take. If nothing is said, it is what the environment variable
    /// `LAMBADA_MAX_MEMORY` says, or else most of what the machine has free.
    pub max_memory: Option<u64>,
    /// How many bits the reals of a program have: all of its arithmetic, its data and its results.
    pub precision: Precision,
    /// Is arithmetic over arrays run as nests with lanes, where that seems to be worth it? Sums are
    /// then added in another order.
    pub nests: bool,
    /// What is done to make nests fast; to measure what each mechanism is worth, leave it out.
    pub mechanisms: Mechanisms,
    /// For which processors programs are compiled.
    pub target: Target,
    /// On how many threads programs run. What they give is the same for any number.
    pub threads: NonZeroUsize,
    /// May arithmetic take subnormal numbers, those below 2.2e-308, for zeros? Machine code by the
    /// C compiler then does, as processors are many times as slow with them; other engines do not.
    pub flush_subnormals: bool,
    /// Does a program fail at the first operation that makes a NaN out of numbers?
    pub trap_nan: bool,
    /// Is a result that is there sooner worth more than machine code that runs faster? Then a run
    /// begins with machine code that Lambada makes itself, and if that takes long, goes on to code
    /// that the C compiler makes in a third to half of the time, and that runs up to a quarter
    /// longer. It may round differently in the last digits; see [`soon`](crate::soon).
    pub quick: bool,
    /// Where compiled units are kept from run to run. If nothing is said, in `$LAMBADA_CACHE`, or
    /// in the user's directory for caches.
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
            quick: false,
            cache: None,
        }
    }
}

impl Options {
    /// How a function is scheduled for some processors.
    pub(crate) fn plan(&self, function: &Function, target: Target) -> Plan {
        let lanes = target.lanes(function.names.precision());
        Plan { mechanisms: self.mechanisms, ..Plan::of(lanes) }
    }

    /// The limit on the memory for arrays.
    pub(crate) fn memory(&self) -> Memory {
        self.max_memory.map_or_else(crate::memory::limit, |limit| Memory { limit })
    }
}

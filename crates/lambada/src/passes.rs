//! The passes of the compiler: what they are called, what they do, and how long they take.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// A pass of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub what: &'static str,
    /// From which language to which.
    pub languages: &'static str,
    /// Does it run until nothing changes, together with its neighbors that do?
    pub repeated: bool,
}

const fn once(name: &'static str, what: &'static str, languages: &'static str) -> Pass {
    Pass { name, what, languages, repeated: false }
}

/// Parsing and inference.
pub(crate) const ELABORATE: Pass = once(
    "elaborate",
    "parsing, scopes, inference of types and sizes, overloading, specialization",
    "text → core",
);
/// Higher order to first order.
pub(crate) const NORMALIZE: Pass = once(
    "normalize",
    "β-reduction, defunctionalization, arrays of tuples as tuples of arrays",
    "core → anf",
);
/// Before each derivative.
pub(crate) const SIMPLIFY: Pass = once(
    "simplify-derivand",
    "local simplification, common subexpressions, dead code and loop fusion in what is about to be differentiated",
    "anf → anf",
);
/// Forward mode.
pub(crate) const FORWARD: Pass =
    once("forward", "forward derivatives, from the innermost outwards", "anf → anf");
/// Reverse mode.
pub(crate) const REVERSE: Pass =
    once("reverse", "reverse derivatives, from the innermost outwards", "anf → anf");
/// Runs of statements to kernels.
pub(crate) const SCHEDULE: Pass = once(
    "schedule",
    "arithmetic over arrays becomes kernels that are made from the data flow: blocks, tiles, lanes",
    "anf → anf",
);
/// Arrays to buffers.
pub(crate) const LOWER: Pass = once(
    "lower",
    "arrays become buffers: destination passing, updates in place, scopes of the arena; kernels become loops",
    "anf → loops",
);
/// To machine code.
pub(crate) const COMPILE: Pass = once(
    "compile",
    "C text, which the C compiler turns into machine code; without one, own machine code",
    "loops → C",
);

/// All passes, in the order in which they run. Derivatives are taken while `normalize` runs, of the
/// code that it has made by then.
pub fn passes() -> Vec<Pass> {
    let optimizer = |repeated: bool| {
        move |pass: &lambada_optimize::Pass| Pass {
            name: pass.name,
            what: pass.what,
            languages: "anf → anf",
            repeated,
        }
    };
    let mut passes = vec![ELABORATE, NORMALIZE, SIMPLIFY, FORWARD, REVERSE];
    passes.extend(lambada_optimize::FIRST.iter().map(optimizer(false)));
    passes.extend(lambada_optimize::ROUND.iter().map(optimizer(true)));
    passes.extend(lambada_optimize::FINAL.iter().map(optimizer(false)));
    passes.extend([SCHEDULE, LOWER, COMPILE]);
    passes
}

thread_local! {
    /// The clock of the [`timed_passes`] that this thread is in.
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

#[derive(Default)]
struct Clock {
    /// By pass that is running, the outermost first: how long the passes inside of it took.
    inside: Vec<Duration>,
    /// Time, inner passes not included, and number of runs.
    spent: Vec<(&'static str, Duration, usize)>,
}

impl Clock {
    /// The passes that ran, in the order of the table.
    fn times(&self) -> Vec<PassTime> {
        let times = passes().into_iter().filter_map(|pass| {
            let (name, time, runs) = *self.spent.iter().find(|(name, _, _)| *name == pass.name)?;
            Some(PassTime { name, time, runs })
        });
        times.collect()
    }

    fn spend(&mut self, name: &'static str, time: Duration) {
        self.add(name, time, 1);
    }

    fn add(&mut self, name: &'static str, time: Duration, runs: usize) {
        match self.spent.iter_mut().find(|(known, _, _)| *known == name) {
            Some((_, total, ran)) => {
                *total += time;
                *ran += runs;
            }
            None => self.spent.push((name, time, runs)),
        }
    }
}

/// How long a pass took, those that it called not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassTime {
    /// What it is called.
    pub name: &'static str,
    /// How long all its runs took.
    pub time: Duration,
    /// How often it ran.
    pub runs: usize,
}

/// Runs something and gives how long each pass took that ran meanwhile on this thread, in the order
/// of the table.
pub fn pass_times<T>(run: impl FnOnce() -> T) -> (T, Vec<PassTime>) {
    let outer = CLOCK.replace(Some(Clock::default()));
    let result = run();
    let clock = CLOCK.replace(outer).unwrap_or_default();
    // Who times what is around this counts it too.
    on_clock(|outer| {
        clock.spent.iter().for_each(|(name, time, runs)| outer.add(name, *time, *runs))
    });
    (result, clock.times())
}

/// The same, a line for each.
pub fn timed_passes<T>(run: impl FnOnce() -> T) -> (T, String) {
    let (result, times) = pass_times(run);
    let line = |PassTime { name, time, runs }: PassTime| {
        let times = if runs == 1 { String::new() } else { format!("  in {runs} runs") };
        format!("{:>10.3} ms  {name}{times}\n", time.as_secs_f64() * 1e3)
    };
    (result, times.into_iter().map(line).collect())
}

/// Does something with the clock, if passes are timed.
fn on_clock(tell: impl FnOnce(&mut Clock)) {
    CLOCK.with_borrow_mut(|clock| clock.as_mut().map_or((), tell));
}

/// Runs a pass, and records its time if passes are timed.
pub(crate) fn timed<T>(pass: &Pass, run: impl FnOnce() -> T) -> T {
    on_clock(|clock| clock.inside.push(Duration::ZERO));
    let start = Instant::now();
    let result = run();
    let elapsed = start.elapsed();
    on_clock(|clock| {
        let inside = clock.inside.pop().unwrap_or_default();
        clock.spend(pass.name, elapsed.saturating_sub(inside));
        if let Some(outer) = clock.inside.last_mut() {
            *outer += elapsed;
        }
    });
    result
}

/// Records the times of passes that report when they have run.
pub(crate) struct Lap(Instant);

impl Lap {
    /// The clock starts.
    pub(crate) fn new() -> Lap {
        Lap(Instant::now())
    }

    /// A pass has run since the last call.
    pub(crate) fn ran(&mut self, name: &'static str) {
        on_clock(|clock| clock.spend(name, self.0.elapsed()));
    }

    /// What happened since the last call belongs to no pass.
    pub(crate) fn restart(&mut self) {
        self.0 = Instant::now();
    }
}

/// The table of passes, as the book has it.
pub fn table() -> String {
    let row = |pass: Pass| {
        let repeated = if pass.repeated { "yes" } else { "" };
        format!("| `{}` | {} | {} | {repeated} |\n", pass.name, pass.languages, pass.what)
    };
    let rows: String = passes().into_iter().map(row).collect();
    format!("| pass | languages | what it does | repeated |\n|---|---|---|---|\n{rows}")
}

//! The passes of the compiler: names, descriptions and timings.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// A pass of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Its name on the command line.
    pub name: &'static str,
    /// One-line description.
    pub what: &'static str,
    /// Source and target language.
    pub languages: &'static str,
    /// Whether the pass repeats, together with adjacent repeated passes, until nothing changes.
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

/// All passes in order. Derivatives are taken during `normalize`, from the code normalized so far.
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
    /// The clock of the innermost [`pass_times`] on this thread.
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

#[derive(Default)]
struct Clock {
    /// Time of the nested passes of each running pass, outermost first.
    inside: Vec<Duration>,
    /// Time without nested passes, and number of runs.
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

/// Time of a pass, without nested passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassTime {
    /// Its name.
    pub name: &'static str,
    /// Total time of its runs.
    pub time: Duration,
    /// Number of runs.
    pub runs: usize,
}

/// Runs `run` and times the passes on this thread, in the order of the table.
pub fn pass_times<T>(run: impl FnOnce() -> T) -> (T, Vec<PassTime>) {
    let outer = CLOCK.replace(Some(Clock::default()));
    let result = run();
    let clock = CLOCK.replace(outer).unwrap_or_default();
    // Enclosing measurements include these passes.
    on_clock(|outer| {
        clock.spent.iter().for_each(|(name, time, runs)| outer.add(name, *time, *runs))
    });
    (result, clock.times())
}

/// As [`pass_times`], printed one line for each pass.
pub fn timed_passes<T>(run: impl FnOnce() -> T) -> (T, String) {
    let (result, times) = pass_times(run);
    let line = |PassTime { name, time, runs }: PassTime| {
        let times = if runs == 1 { String::new() } else { format!("  in {runs} runs") };
        format!("{:>10.3} ms  {name}{times}\n", time.as_secs_f64() * 1e3)
    };
    (result, times.into_iter().map(line).collect())
}

/// Updates the clock, if passes are timed.
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

/// Timer for passes that report after they have run.
pub(crate) struct Lap(Instant);

impl Lap {
    /// Starts the timer.
    pub(crate) fn new() -> Lap {
        Lap(Instant::now())
    }

    /// Charges the time since the last call to the pass `name`.
    pub(crate) fn ran(&mut self, name: &'static str) {
        on_clock(|clock| clock.spend(name, self.0.elapsed()));
    }

    /// Discards the time since the last call.
    pub(crate) fn restart(&mut self) {
        self.0 = Instant::now();
    }
}

/// The table of passes in the book.
pub fn table() -> String {
    let row = |pass: Pass| {
        let repeated = if pass.repeated { "yes" } else { "" };
        format!("| `{}` | {} | {} | {repeated} |\n", pass.name, pass.languages, pass.what)
    };
    let rows: String = passes().into_iter().map(row).collect();
    format!("| pass | languages | what it does | repeated |\n|---|---|---|---|\n{rows}")
}

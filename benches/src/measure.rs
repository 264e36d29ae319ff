//! Runs the contestants in turns: handwritten code, and programs compiled in each way. Compares all
//! results before timing.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lambada::{
    Data, Disk, Elements, Engine, Executable, Mechanism, Mechanisms, Operator, Options, Session,
};

use crate::baseline::{Baseline, Results, Which};
use crate::evals::Eval;
use crate::inputs::{Arrays, Problem};

/// A contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    ByHand,
    /// The compiled program.
    Lambada(How),
}

/// Way of compiling a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The default, with nests.
    Nests,
    /// Without a C compiler.
    Jit,
    /// One element after the other.
    Plain,
    /// With nests, but without one of their mechanisms.
    Without(Mechanism),
}

impl How {
    pub fn options(self) -> Options {
        let usual = Options::default();
        match self {
            How::Nests => usual,
            How::Jit => Options { engine: Engine::Jit, ..usual },
            How::Plain => Options { nests: false, ..usual },
            How::Without(mechanism) => {
                Options { mechanisms: Mechanisms::ALL.without(mechanism), ..usual }
            }
        }
    }
}

/// Measurements of a contestant.
#[derive(Clone, Debug)]
pub struct Time {
    pub who: Who,
    /// Value or derivative; its definition in the program follows.
    pub which: Which,
    pub definition: &'static str,
    /// Minimum and median in seconds.
    pub least: f64,
    pub median: f64,
    /// Peak of the bytes of all allocated arrays, results included; `None` if memory was not
    /// measured.
    pub memory: Option<u64>,
}

/// Measurements of a workload.
#[derive(Clone, Debug)]
pub struct Row {
    pub eval: &'static str,
    pub label: String,
    pub times: Vec<Time>,
}

impl Row {
    /// The measurements of a contestant.
    pub fn time(&self, who: Who, which: Which) -> Option<&Time> {
        self.times.iter().find(|time| time.who == who && time.which == which)
    }

    /// The minimal time of a contestant, in seconds.
    pub fn least(&self, who: Who, which: Which) -> Option<f64> {
        self.time(who, which).map(|time| time.least)
    }

    /// Speedup over handwritten code.
    pub fn speed(&self, how: How, which: Which) -> Option<f64> {
        Some(self.least(Who::ByHand, which)? / self.least(Who::Lambada(how), which)?)
    }
}

/// Relative tolerance for reals, with respect to the largest of the array, because the order of
/// summation differs.
const TOLERANCE: f64 = 1e-9;

/// Minimal duration of a turn, if that allows several runs.
const TURN: Duration = Duration::from_millis(4);

/// Minimal and maximal number of turns.
const TURNS: std::ops::RangeInclusive<usize> = 3..=200;

/// All contestants for an eval.
pub struct Contest<'a> {
    eval: &'a Eval,
    by_hand: Option<Baseline>,
    programs: Vec<Program>,
}

struct Program {
    how: How,
    which: Which,
    definition: &'static str,
    executable: Executable,
    /// Compiles it once more.
    again: Box<dyn Fn() -> Option<Executable>>,
}

impl Program {
    /// Peak memory of the first run of a new executable, because arenas persist.
    fn memory(&self, arguments: &[Data]) -> Option<u64> {
        let executable = (self.again)()?;
        executable.run(arguments).ok()?;
        executable.most_memory()
    }
}

impl<'a> Contest<'a> {
    pub fn new(
        root: &Path,
        eval: &'a Eval,
        ways: &[How],
        flags: &str,
    ) -> Result<Contest<'a>, String> {
        let source = root.join("benches/baselines").join(eval.name).with_extension("c");
        let by_hand = match eval.by_hand {
            true => Some(Baseline::compile(&source, flags)?),
            false => None,
        };
        let mut programs = Vec::new();
        for how in ways {
            let options = how.options();
            let mut session = Session::with(Arc::new(Disk), options.clone());
            let file = root.join("examples/gradbench").join(eval.name).with_extension("lam");
            let unit = session.load(&file).map_err(|p| session.render(&p, false))?;
            let value = eval.value.iter().map(|name| (Which::Value, *name));
            let derivatives = eval.derivatives.iter().map(|name| (Which::Derivative, *name));
            for (which, definition) in value.chain(derivatives) {
                let told = |problems: Vec<_>| session.render(&problems, false);
                let call = unit.call(definition, Operator::Value, None).map_err(told)?;
                let (program, entry, options) = (call.program, call.entry, options.clone());
                let compile = move || Executable::with(program.clone(), entry, &options);
                let executable = compile().map_err(told)?;
                let again = Box::new(move || compile().ok());
                programs.push(Program { how: *how, which, definition, executable, again });
            }
        }
        Ok(Contest { eval, by_hand, programs })
    }

    /// Compares all results, then times the contestants in turns, for about `patience` each.
    pub fn run(&self, problem: &Problem, patience: Duration) -> Result<Row, String> {
        let mut all = Vec::new();
        let mut expected: Vec<(&str, Results)> = Vec::new();
        for program in &self.programs {
            let definition = program.definition;
            let place = format!("{} {definition}, {}", self.eval.name, problem.label);
            let failed = |failure: lambada::Failure| format!("{place}: {}", failure.message);
            let found = program.executable.run(&problem.arguments).map_err(failed)?;
            let found = results(&found, self.eval.fields);
            let first = expected.iter().position(|(known, _)| *known == definition);
            let first = first.unwrap_or_else(|| {
                let mut by_hand = found.clone();
                if let Some(baseline) = &self.by_hand {
                    baseline.time(program.which, &problem.arrays, &mut by_hand, 1);
                    let mut results = by_hand.clone();
                    let memory = baseline.memory(program.which, &problem.arrays, &mut results);
                    let runner = Runner::by_hand(baseline, program, &problem.arrays, results);
                    all.push(Runner { memory: Some(memory), ..runner });
                }
                expected.push((definition, by_hand));
                expected.len() - 1
            });
            same(&found, &expected[first].1, self.eval.noise).map_err(|difference| {
                format!("{place}: the results differ, so nothing is timed: {difference}")
            })?;
            let usual = program.how == How::Nests;
            let memory = usual.then(|| program.memory(&problem.arguments)).flatten();
            all.push(Runner { memory, ..Runner::program(program, &problem.arguments) });
        }
        for runner in &mut all {
            let once = runner.turn(1)?.into_iter().min().unwrap_or(1).max(1);
            runner.runs = (TURN.as_nanos() as u64 / once).clamp(1, 100_000) as usize;
        }
        let start = Instant::now();
        for turn in 0..*TURNS.end() {
            if turn >= *TURNS.start() && start.elapsed() > patience * all.len() as u32 {
                break;
            }
            for runner in &mut all {
                let times = runner.turn(runner.runs)?;
                runner.times.extend(times);
            }
        }
        let times = all.into_iter().map(Runner::time).collect();
        Ok(Row { eval: self.eval.name, label: problem.label.clone(), times })
    }
}

/// A contestant with its inputs and measurements.
struct Runner<'a> {
    who: Who,
    which: Which,
    definition: &'static str,
    way: Way<'a>,
    /// Runs in each turn.
    runs: usize,
    /// Nanoseconds of each run.
    times: Vec<u64>,
    memory: Option<u64>,
}

enum Way<'a> {
    ByHand(&'a Baseline, &'a Arrays, Results),
    Program(&'a Executable, &'a [Data]),
}

impl<'a> Runner<'a> {
    fn by_hand(
        baseline: &'a Baseline,
        program: &Program,
        arrays: &'a Arrays,
        results: Results,
    ) -> Runner<'a> {
        let way = Way::ByHand(baseline, arrays, results);
        let Program { which, definition, .. } = *program;
        let (who, times) = (Who::ByHand, Vec::new());
        Runner { who, which, definition, way, runs: 1, times, memory: None }
    }

    fn program(program: &'a Program, arguments: &'a [Data]) -> Runner<'a> {
        let way = Way::Program(&program.executable, arguments);
        let Program { how, which, definition, .. } = *program;
        let (who, times) = (Who::Lambada(how), Vec::new());
        Runner { who, which, definition, way, runs: 1, times, memory: None }
    }

    /// Nanoseconds of each of `runs` runs.
    fn turn(&mut self, runs: usize) -> Result<Vec<u64>, String> {
        match &mut self.way {
            Way::ByHand(baseline, arrays, results) => {
                Ok(baseline.time(self.which, arrays, results, runs))
            }
            Way::Program(executable, arguments) => {
                let times = executable.time(arguments, runs).map_err(|failure| failure.message)?;
                match times.is_empty() {
                    true => Err("there is no C compiler to compile programs with".to_string()),
                    false => Ok(times),
                }
            }
        }
    }

    fn time(mut self) -> Time {
        self.times.sort_unstable();
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        Time {
            who: self.who,
            which: self.which,
            definition: self.definition,
            least: seconds(self.times[0]),
            median: seconds(self.times[self.times.len() / 2]),
            memory: self.memory,
        }
    }
}

/// A result in the form of C code: arrays in order, for a record in the order of `fields`.
fn results(data: &Data, fields: &[&str]) -> Results {
    let mut results = Results { reals: Vec::new(), ints: Vec::new() };
    match data {
        Data::Record(parts) if !fields.is_empty() => {
            for field in fields {
                let part = parts.iter().find(|(name, _)| **name == **field);
                add(&part.expect("the derivative has these fields").1, &mut results);
            }
        }
        other => add(other, &mut results),
    }
    results
}

fn add(data: &Data, results: &mut Results) {
    match data {
        Data::Tensor(tensor) => match &tensor.data {
            Elements::Real(reals) => results.reals.push(reals.clone()),
            Elements::Int(ints) => results.ints.push(ints.clone()),
            Elements::Bool(bools) => {
                results.ints.push(bools.iter().map(|b| i64::from(*b)).collect())
            }
        },
        Data::Tuple(items) | Data::Array(items) => items.iter().for_each(|item| add(item, results)),
        Data::Record(parts) => parts.iter().for_each(|(_, part)| add(part, results)),
        Data::Con { args, .. } => args.iter().for_each(|arg| add(arg, results)),
    }
}

/// Checks that results agree up to rounding; reports the first difference.
fn same(found: &Results, expected: &Results, noise: f64) -> Result<(), String> {
    if found.ints != expected.ints {
        return Err("the integers are others".to_string());
    }
    for (array, (found, expected)) in found.reals.iter().zip(&expected.reals).enumerate() {
        let scale = expected.iter().fold(0.0_f64, |scale, x| scale.max(x.abs()));
        let differs = |(a, b): (&f64, &f64)| {
            let near = (a - b).abs() <= TOLERANCE * scale + noise;
            !near
        };
        if let Some(k) = found.iter().zip(expected).position(differs) {
            return Err(format!(
                "element {k} of array {array} is {}, by hand {}",
                found[k], expected[k]
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evals::EVALS;

    fn reals(values: &[f64]) -> Results {
        Results { reals: vec![values.to_vec()], ints: Vec::new() }
    }

    #[test]
    fn differences_are_named() {
        assert_eq!(same(&reals(&[1.0, 2.0 + 1e-10]), &reals(&[1.0, 2.0]), 0.0), Ok(()));
        let far = same(&reals(&[1.0, 2.0 + 1e-8]), &reals(&[1.0, 2.0]), 0.0).unwrap_err();
        assert!(far.starts_with("element 1 of array 0 is 2.00000001"), "{far}");
        assert!(same(&reals(&[f64::NAN]), &reals(&[1.0]), 1.0).is_err());
        let ints = |n| Results { reals: Vec::new(), ints: vec![vec![n]] };
        assert!(same(&ints(1), &ints(2), 1.0).is_err());
    }

    /// At small sizes, every program agrees with the handwritten code.
    #[test]
    fn by_hand_and_compiled_agree() {
        let root = crate::root();
        lambada_testkit::parallel(EVALS, |eval| {
            let contest = Contest::new(
                &root,
                eval,
                &[How::Plain, How::Jit, How::Nests],
                crate::baseline::FLAGS,
            )
            .unwrap_or_else(|error| panic!("{error}"));
            for problem in (eval.problems)(true) {
                let row = contest.run(&problem, Duration::ZERO);
                row.unwrap_or_else(|error| panic!("{error}"));
            }
        });
    }
}

//! `bench`: the cost of a definition and its derivative, from the text to the clock, compared with
//! the peak performance of the machine.
//!
//! - `compile`: compiles each function in a separate cache;
//! - `clock`: runs each function until its time settles;
//! - `limit`: counts the operations of a run and compares them with the machine's measured limits;
//! - `text`, `json`: output for readers and programs.

mod clock;
mod compile;
mod json;
mod limit;
mod text;

use std::time::{Duration, Instant};

use lambada_core::data::Data;
use lambada_prim::Scalar;
use lambada_source::{Failure, Problem, stack};

use crate::messages::bench as messages;
use crate::operators::Operator;
use crate::vectors::{reals, with_reals};
use crate::{Inputs, PassTime, Unit};

use clock::Clocked;
use compile::Ready;
pub use limit::{Machine, Work};

/// A request for measurements.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// The definition.
    pub entry: &'a str,
    /// The derivative: [`Operator::Vjp`], [`Operator::Jvp`], or [`Operator::Value`] for none.
    /// Cotangents and tangents are ones, so the reverse derivative of a real is its gradient.
    pub operator: Operator,
    /// The parameters to differentiate with respect to [default: all that hold reals].
    pub wrt: Option<&'a [String]>,
    /// Values of parameters.
    pub inputs: &'a Inputs,
    /// Time to read and check the file.
    pub checked: Duration,
    /// Whether to count operations even if that takes much longer than the rest.
    pub count: bool,
}

/// Measurements of a definition.
#[derive(Clone, Debug)]
pub struct Benched {
    /// The definition.
    pub entry: String,
    /// Time to read and check the file.
    pub checked: Duration,
    /// The value, then the derivative if requested.
    pub rows: Vec<Ran>,
    /// Peak performance of the machine; `None` without a C compiler.
    pub machine: Option<Machine>,
}

/// A function that was compiled and run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// `value`, `reverse` or `forward`.
    pub name: &'static str,
    /// Compile times.
    pub compiled: Compiled,
    /// Whether it is machine code.
    pub native: bool,
    /// Minimal time of a run in seconds.
    pub least: f64,
    /// Median time of a run in seconds.
    pub median: f64,
    /// Number of runs.
    pub runs: usize,
    /// Peak of the bytes of arrays besides the arguments, if known.
    pub memory: Option<u64>,
    /// Operation counts of a run, if counted.
    pub work: Option<Work>,
    /// Expected seconds of counting, if that is too long to count.
    pub counting: Option<f64>,
    /// Lower bound for the time of machine code on this machine, in seconds, and the limiting
    /// resource.
    pub limit: Option<(f64, &'static str)>,
}

/// Compile times of a function with an empty cache.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Specialization of the definition and of its callees.
    pub specialized: Duration,
    /// All passes from core to loops.
    pub passes: Duration,
    /// Generation of C and the C compiler.
    pub c: Duration,
    /// Time of each pass.
    pub each: Vec<PassTime>,
}

impl Compiled {
    /// The sum.
    pub fn total(&self) -> Duration {
        self.specialized + self.passes + self.c
    }
}

/// Why there are no measurements.
#[derive(Clone, Debug)]
pub enum Stopped {
    /// Problems of the program, the inputs or the request.
    Problems(Vec<Problem>),
    /// The program fails on these inputs.
    Failure(Failure),
}

impl From<Vec<Problem>> for Stopped {
    fn from(problems: Vec<Problem>) -> Stopped {
        Stopped::Problems(problems)
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped::Failure(failure)
    }
}

impl Unit {
    /// Measures a definition and its derivative.
    ///
    /// # Errors
    /// Problems of the request, and failures of the program.
    pub fn bench(&self, what: &Bench) -> Result<Benched, Stopped> {
        stack::roomy(|| self.benched(what))
    }

    fn benched(&self, what: &Bench) -> Result<Benched, Stopped> {
        if what.operator == Operator::Value && what.wrt.is_some() {
            return Err(vec![messages::nothing_differentiated()].into());
        }
        let value = Ready::new(self, what, Operator::Value)?;
        let mut functions = vec![("value", value, Vec::new())];
        if what.operator != Operator::Value {
            let value = functions[0].1.first()?;
            if reals(&value).is_empty() {
                return Err(vec![messages::no_reals(what.entry)].into());
            }
            let is_real = matches!(value.as_scalar(), Some(Scalar::Real(_)));
            let operator = match what.operator {
                Operator::Vjp if is_real => Operator::Grad,
                operator => operator,
            };
            let derivative = Ready::new(self, what, operator)?;
            let more: Vec<Data> = if operator == Operator::Vjp {
                vec![ones(&value)]
            } else if operator == Operator::Jvp {
                vec![derivative.tangent()]
            } else {
                Vec::new()
            };
            let name = if operator == Operator::Jvp { "forward" } else { "reverse" };
            functions.push((name, derivative, more));
        }
        for (_, function, more) in &mut functions {
            function.args.append(more);
        }
        let clocked = clock::in_turn(&functions.iter().map(|(_, f, _)| f).collect::<Vec<_>>())?;
        let machine = Machine::measured(self.options.precision);
        let rows = functions.into_iter().zip(clocked).map(|((name, function, _), clocked)| {
            row(name, function, clocked, machine.as_ref(), what.count)
        });
        Ok(Benched {
            entry: what.entry.to_string(),
            checked: what.checked,
            rows: rows.collect::<Result<_, _>>()?,
            machine: machine.map(|(machine, _)| machine),
        })
    }
}

/// The value with ones in place of all reals.
pub(crate) fn ones(data: &Data) -> Data {
    with_reals(data, &mut || 1.0)
}

fn row(
    name: &'static str,
    function: Ready,
    clocked: Clocked,
    machine: Option<&(Machine, lambada_run::Peak)>,
    count: bool,
) -> Result<Ran, Failure> {
    let expected = clocked.least * if function.native() { limit::SLOWER } else { 1.0 };
    let counts = count || expected < limit::PATIENCE;
    let work = if counts { function.work()? } else { None };
    let limit = match (&work, machine) {
        (Some(work), Some((machine, peak))) => Some(work.limit(machine, peak)),
        _ => None,
    };
    Ok(Ran {
        name,
        native: function.native(),
        least: clocked.least,
        median: clocked.median,
        runs: clocked.runs,
        memory: function.memory(),
        counting: work.is_none().then_some(expected),
        work,
        limit,
        compiled: function.compiled,
    })
}

/// Runs `run` and measures its time.
fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

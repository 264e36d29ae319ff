//! `bench`: what a definition and its derivative cost, from the text to the clock, and how far that
//! is from what the machine can do.
//!
//! - `compile`: each is compiled anew, in a cache of its own;
//! - `clock`: each runs until its time has settled;
//! - `limit`: what a run does, counted, against the machine's measured limits;
//! - `text`, `json`: for people and for programs.

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

/// What to measure.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// The definition.
    pub entry: &'a str,
    /// Which derivative: [`Operator::Vjp`], [`Operator::Jvp`], or [`Operator::Value`] for none.
    /// With cotangents and tangents that are ones; the reverse derivative of a real is its
    /// gradient.
    pub operator: Operator,
    /// The parameters to differentiate with respect to: all that hold reals unless named.
    pub wrt: Option<&'a [String]>,
    /// Values of parameters.
    pub inputs: &'a Inputs,
    /// How long the file took to be read and checked.
    pub checked: Duration,
    /// Are operations counted however long that takes? Otherwise only where it does not take much
    /// longer than the rest.
    pub count: bool,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Benched {
    /// The definition.
    pub entry: String,
    /// How long the file took to be read and checked.
    pub checked: Duration,
    /// The value, then the derivative if one was asked for.
    pub rows: Vec<Ran>,
    /// What the machine can do; nothing where there is no C compiler.
    pub machine: Option<Machine>,
}

/// A function that was compiled and run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// `value`, `reverse` or `forward`.
    pub name: &'static str,
    /// What its compilation took.
    pub compiled: Compiled,
    /// Whether it is machine code.
    pub native: bool,
    /// The least time of a run, and the median, in seconds.
    pub least: f64,
    /// See `least`.
    pub median: f64,
    /// How many runs there were.
    pub runs: usize,
    /// The most bytes that arrays took at a time besides the arguments; nothing where that is not
    /// known.
    pub memory: Option<u64>,
    /// What a run does; nothing if it was not counted.
    pub work: Option<Work>,
    /// How many seconds counting would take, where that is why nothing was counted.
    pub counting: Option<f64>,
    /// The time below which no machine code could run on this machine, in seconds, and what it is
    /// bound by.
    pub limit: Option<(f64, &'static str)>,
}

/// What the compilation of a function took, with nothing in the cache.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Specialization of the definition, and of what it uses.
    pub specialized: Duration,
    /// From core to loops, in our passes.
    pub passes: Duration,
    /// Text of C, and the C compiler.
    pub c: Duration,
    /// Each pass.
    pub each: Vec<PassTime>,
}

impl Compiled {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.specialized + self.passes + self.c
    }
}

/// Why there is nothing to tell.
#[derive(Clone, Debug)]
pub enum Stopped {
    /// The program, the inputs or the request.
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
    /// What is wrong with the request, and what the program fails with.
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

/// The same with ones in place of all reals.
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

/// Something that is timed, and how long it takes.
fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

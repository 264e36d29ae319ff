//! A function compiled for measurement, in a separate cache so that the C compiler always runs.

use std::time::Duration;

use lambada_core::data::Data;
use lambada_core::{DefId, Program};
use lambada_source::Failure;

use crate::operators::Operator;
use crate::passes::{COMPILE, ELABORATE};
use crate::{Call, Engine, Executable, Options, Unit, pass_times};

use super::limit::Work;
use super::{Bench, Compiled, Stopped, ones, timed};

pub(super) struct Ready {
    pub args: Vec<Data>,
    pub compiled: Compiled,
    executable: Executable,
    /// The program, whose operations are counted.
    program: Program,
    entry: DefId,
    options: Options,
    /// The tangent to differentiate along: ones.
    tangent: Data,
}

impl Ready {
    pub fn new(unit: &Unit, what: &Bench, operator: Operator) -> Result<Ready, Stopped> {
        let (call, specialized) =
            timed(|| unit.call_at(what.entry, operator, what.wrt, what.inputs));
        let call = call?;
        let args = call.arguments(what.inputs)?;
        let tangent = tangent(&call, &args);
        // The temporary cache is deleted afterwards; if none can be created, the usual cache
        // serves.
        let scratch = tempfile::tempdir().ok();
        let cache = scratch.as_ref().map(|folder| folder.path().to_path_buf());
        let _unfinished = cache.as_deref().map(lambada_run::Unfinished::at);
        let options = Options { cache, engine: Engine::Native, ..unit.options.clone() };
        let (program, entry) = (call.program, call.entry);
        let copy = program.clone();
        let (executable, each) = pass_times(|| Executable::with(copy, entry, &options));
        let of = |chosen: &dyn Fn(&str) -> bool| -> Duration {
            each.iter().filter(|pass| chosen(pass.name)).map(|pass| pass.time).sum()
        };
        let ours = |name: &str| name != COMPILE.name && name != ELABORATE.name;
        let (passes, c) = (of(&ours), of(&|name| name == COMPILE.name));
        let compiled = Compiled { specialized, passes, c, each };
        Ok(Ready { args, compiled, executable: executable?, program, entry, options, tangent })
    }

    /// The result of a run.
    pub fn first(&self) -> Result<Data, Failure> {
        self.executable.run(&self.args)
    }

    pub fn native(&self) -> bool {
        self.executable.most_memory().is_some()
    }

    pub fn tangent(&self) -> Data {
        self.tangent.clone()
    }

    pub fn memory(&self) -> Option<u64> {
        self.executable.most_memory()
    }

    /// The nanoseconds of each of `runs` runs.
    pub fn time(&self, runs: usize) -> Result<Vec<u64>, Failure> {
        self.executable.time(&self.args, runs)
    }

    /// Counts the operations of a run.
    pub fn work(&self) -> Result<Option<Work>, Failure> {
        let loops = Executable::as_machine_code(self.program.clone(), self.entry, &self.options);
        let Ok(loops) = loops else {
            return Ok(None);
        };
        let counts = loops.counts(&self.args)?;
        let result = loops.run(&self.args)?;
        Ok(counts.map(|counts| Work::of(counts, &self.args, &result, self.options.precision)))
    }
}

/// A tangent of ones, packed like the operators' arguments.
fn tangent(call: &Call, args: &[Data]) -> Data {
    let mut parts: Vec<Data> = call.point(args).iter().map(ones).collect();
    if parts.len() == 1 { parts.remove(0) } else { Data::Tuple(parts) }
}

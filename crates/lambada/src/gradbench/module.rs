//! The program of an eval, compiled.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use lambada_core::data::Data;
use lambada_core::{Program, SizedTy};
use lambada_source::{Failure, Problem};

use crate::messages::gradbench as messages;
use crate::{Executable, Operator, Session, Unit};

use super::message::Input;

/// The evals and their functions.
const EVALS: [(&str, &[&str]); 12] = [
    ("hello", &["square", "double"]),
    ("gmm", &["objective", "jacobian"]),
    ("ba", &["objective", "jacobian"]),
    ("ht", &["objective", "jacobian"]),
    ("lstm", &["objective", "jacobian"]),
    ("kmeans", &["cost", "dir"]),
    ("lse", &["primal", "gradient"]),
    ("llsq", &["primal", "gradient"]),
    ("det", &["primal", "gradient"]),
    ("ode", &["primal", "gradient"]),
    ("particle", &["rr", "ff", "fr", "rf"]),
    ("saddle", &["rr", "ff", "fr", "rf"]),
];

/// Name of the definition that turns an input into the parameters of the functions.
const PREPARE: &str = "prepare";

/// A compiled eval.
pub(super) struct Module {
    name: String,
    functions: HashMap<&'static str, Function>,
    prepare: Option<CompiledDefinition>,
    /// Renders failures with their source positions.
    session: Session,
}

struct Function {
    entry: CompiledDefinition,
    output: Option<CompiledDefinition>,
}

/// A compiled definition.
struct CompiledDefinition {
    program: Program,
    params: Vec<(Rc<str>, SizedTy)>,
    executable: Executable,
}

/// The result of evaluating a function.
pub(super) struct Outcome {
    /// The result in the form that the suite expects.
    pub output: Data,
    /// Nanoseconds by activity.
    pub timings: Vec<(&'static str, u64)>,
}

impl Module {
    /// Compiles the program of an eval with all its functions.
    pub fn load(session: &mut Session, folder: &Path, name: &str) -> Result<Module, Vec<Problem>> {
        let evals = EVALS.map(|(name, _)| name);
        let eval = EVALS.iter().find(|(known, _)| *known == name);
        let (_, names) = eval.ok_or_else(|| vec![messages::no_such_eval(name, &evals)])?;
        let unit = session.load(&folder.join(name).with_extension("lam"))?;
        let function = |name: &'static str| {
            let entry = CompiledDefinition::compile(&unit, name)?;
            let output = CompiledDefinition::find(&unit, &format!("{name}_output"))?;
            Ok::<_, Vec<Problem>>((name, Function { entry, output }))
        };
        Ok(Module {
            name: name.to_string(),
            functions: names.iter().map(|name| function(name)).collect::<Result<_, _>>()?,
            prepare: CompiledDefinition::find(&unit, PREPARE)?,
            session: session.clone(),
        })
    }

    /// Runs a function on the input of a message, or returns the reason for failure.
    pub fn evaluate(&self, name: &str, line: &[u8]) -> Result<Outcome, String> {
        let function = self.functions.get(name).ok_or_else(|| {
            let mut known: Vec<&str> = self.functions.keys().copied().collect();
            known.sort_unstable();
            self.told(messages::no_such_function(&self.name, name, &known))
        })?;
        let entry = &function.entry;
        let first = self.prepare.as_ref().unwrap_or(entry);
        let input = Input { program: &first.program, params: &first.params };
        let request = input.read(line).map_err(|e| self.told(messages::wrong_input(name, &e)))?;
        let failed = |failure: Failure| self.session.render_failure(&failure, false);
        let mut timings = Vec::new();
        let mut arguments = request.arguments;
        if let Some(prepare) = &self.prepare {
            let start = Instant::now();
            let prepared = prepare.executable.run(&arguments).map_err(failed)?;
            arguments = entry.select(name, prepared).map_err(|problem| self.told(problem))?;
            timings.push((PREPARE, start.elapsed().as_nanos() as u64));
        }
        let (mut output, times) =
            entry.executable.measure(&arguments, request.runs, request.seconds).map_err(failed)?;
        timings.extend(times.into_iter().map(|time| ("evaluate", time)));
        if let Some(shown) = &function.output {
            output = shown.executable.run(&[output]).map_err(failed)?;
        }
        Ok(Outcome { output, timings })
    }

    fn told(&self, problem: Problem) -> String {
        self.session.render(&[problem], false)
    }
}

impl CompiledDefinition {
    fn compile(unit: &Unit, name: &str) -> Result<CompiledDefinition, Vec<Problem>> {
        let call = unit.call(name, Operator::Value, None)?;
        let params = call.signature().params.clone();
        let executable = Executable::with(call.program.clone(), call.entry, &unit.options)?;
        Ok(CompiledDefinition { program: call.program, params, executable })
    }

    /// An optional definition.
    fn find(unit: &Unit, name: &str) -> Result<Option<CompiledDefinition>, Vec<Problem>> {
        let defined = unit.definitions().iter().any(|def| &*def.name == name);
        defined.then(|| CompiledDefinition::compile(unit, name)).transpose()
    }

    /// Selects the arguments from a record.
    fn select(&self, name: &str, prepared: Data) -> Result<Vec<Data>, Problem> {
        let fields = if let Data::Record(fields) = prepared { fields } else { Vec::new() };
        let mut fields: HashMap<Arc<str>, Data> = fields.into_iter().collect();
        let params = self.params.iter().map(|(param, _)| {
            fields.remove(&**param).ok_or_else(|| messages::not_prepared(name, param))
        });
        params.collect()
    }
}

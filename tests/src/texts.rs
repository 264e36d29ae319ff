//! Texts that are almost programs, and data that almost fits, through the whole compiler: problems
//! are welcome, panics are not.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use lambada::operators::Operator;
use lambada::{Cancel, Data, Elements, Engine, Executable, Inputs, Session, Unit, arrays, lower};

use crate::expectations::{expectations, programs};
use crate::panics::caught;
use crate::watch::watched;

/// Texts to start from: the programs of the repository that are not too long.
pub fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["programs", "errors/syntax", "errors/types", "../examples"];
    let files = folders.iter().flat_map(|folder| programs(&root.join(folder)));
    files
        .map(|file| std::fs::read_to_string(file).expect("a listed program can be read"))
        .filter(|text| text.len() < 6000)
        .collect()
}

/// Runs the whole compiler on a text, its definitions and their derivatives, as far as they have
/// any. Gives whether it is a program. An error if the compiler panics, or reports a problem
/// without a place.
pub fn outcome(text: &str) -> Result<bool, String> {
    watched(text, || caught(|| compile(text)))?
}

fn compile(text: &str) -> Result<bool, String> {
    let mut session = Session::new();
    let unit = session.load_text(NAME, text, None);
    match &unit {
        Err(problems) => told(&session.render(problems, false), NAME)?,
        Ok(unit) => {
            for definition in unit.definitions() {
                self::definition(unit, &definition.name, &session)?;
            }
        }
    }
    Ok(unit.is_ok())
}

const NAME: &str = "fuzz.lam";

/// There is an error, with its place; warnings of earlier places come first.
fn told(message: &str, place: &str) -> Result<(), String> {
    if message.contains("internal error") {
        Err(format!("an internal error: {message}"))
    } else if message.lines().any(|line| line.starts_with("error")) && message.contains(place) {
        Ok(())
    } else {
        Err(format!("a message without a place: {message}"))
    }
}

fn definition(unit: &Unit, name: &str, session: &Session) -> Result<(), String> {
    for operator in [Operator::Value, Operator::Vjp, Operator::Jvp] {
        let compiled =
            unit.call(name, operator, None).and_then(|call| arrays(&call.program, call.entry));
        match compiled {
            Ok(arrays) => drop(lower(&arrays)),
            // Some of these are about the request, which is not in the file.
            Err(problems) => told(&session.render(&problems, false), "error")?,
        }
    }
    Ok(())
}

/// A definition with data: the program, the definition, and an object with its arguments as JSON.
#[derive(Clone, Debug)]
pub struct Call {
    /// The text.
    pub program: String,
    /// The name.
    pub entry: String,
    /// The text of the data.
    pub data: String,
}

/// The calls of the programs of the repository, and of the folder with data that does not fit.
pub fn calls() -> Vec<Call> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut calls = Vec::new();
    for file in programs(&root.join("programs")) {
        let program = std::fs::read_to_string(file).expect("a listed program can be read");
        let unit = Session::new().load_text(NAME, &program, None);
        let unit = unit.unwrap_or_else(|p| panic!("a listed program is one: {p:?}"));
        for promise in expectations(&program) {
            let call = unit.call(&promise.entry, Operator::Value, None);
            let call = call.unwrap_or_else(|p| panic!("what is promised is there: {p:?}"));
            let names = call.parameters();
            if !names.is_empty() && names.len() == promise.args.len() {
                let members = names.iter().map(ToString::to_string).zip(promise.args);
                let data = serde_json::Value::Object(members.collect()).to_string();
                calls.push(Call { program: program.clone(), entry: promise.entry, data });
            }
        }
    }
    let folder = root.join("errors/data");
    let text = std::fs::read_to_string(folder.join("program.lam")).expect("the program is there");
    for file in std::fs::read_dir(&folder).expect("the folder is there").flatten() {
        let (path, name) = (file.path(), file.file_name().to_string_lossy().into_owned());
        if let Some((entry, _)) = name.split_once("__").filter(|_| name.ends_with(".json")) {
            let data = std::fs::read_to_string(path).expect("listed data can be read");
            calls.push(Call { program: text.clone(), entry: entry.to_string(), data });
        }
    }
    calls
}

/// Whether the data fits and the program runs. An error if something panics, or a message does not
/// name its subject.
pub fn data_outcome(call: &Call) -> Result<bool, String> {
    watched(&call.data, || caught(|| data(call, LONG)))?
}

fn data(call: &Call, patience: Duration) -> Result<bool, String> {
    let mut session = Session::new();
    let render = |session: &Session, p: &[lambada::Problem]| session.render(p, false);
    let unit = session.load_text(NAME, &call.program, None).map_err(|p| render(&session, &p))?;
    let compiled =
        unit.call(&call.entry, Operator::Value, None).map_err(|p| render(&session, &p))?;
    let mut inputs = Inputs::new();
    let bound = inputs
        .read_json(&call.data, "`data.json`")
        .map_err(|problem| vec![problem])
        .and_then(|()| compiled.arguments(&inputs));
    let args: Vec<Data> = match bound {
        Ok(args) => args,
        // Data that does not fit has a name.
        Err(problems) => return told(&render(&session, &problems), "`").map(|()| false),
    };
    // Sizes and trip counts may be anything; calls that would take long are not run.
    if args.iter().any(|arg| integers(arg) > SHORT) {
        return Ok(true);
    }
    let executable = Executable::new(compiled.program, compiled.entry, Engine::Loops)
        .map_err(|p| render(&session, &p))?;
    match for_a_while(patience, || executable.with_memory(1 << 28).run(&args)) {
        None | Some(Ok(_)) => Ok(true),
        Some(Err(failure)) => {
            told(&session.render_failure(&failure, false), "error").map(|()| false)
        }
    }
}

/// The time limit of a call, because a real may determine a trip count, too.
const LONG: Duration = Duration::from_secs(20);

/// The result of a call, if it ends in time.
fn for_a_while<T>(patience: Duration, call: impl FnOnce() -> T) -> Option<T> {
    let cancel = Cancel::new();
    let (ended, end) = mpsc::channel::<()>();
    let result = std::thread::scope(|scope| {
        let cancel = &cancel;
        scope.spawn(move || {
            if end.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
                cancel.cancel();
            }
        });
        let result = cancel.run(call);
        drop(ended);
        result
    });
    (!cancel.is_cancelled()).then_some(result)
}

/// Up to this number, iterations are quick.
const SHORT: i64 = 1000;

/// The largest integer.
fn integers(data: &Data) -> i64 {
    let all = |items: &[Data]| items.iter().map(integers).max().unwrap_or(0);
    match data {
        Data::Tensor(tensor) => match &tensor.data {
            Elements::Int(values) => values.iter().copied().max().unwrap_or(0),
            Elements::Real(_) | Elements::Bool(_) => 0,
        },
        Data::Tuple(items) | Data::Array(items) => all(items),
        Data::Record(fields) => fields.iter().map(|(_, item)| integers(item)).max().unwrap_or(0),
        Data::Con { args, .. } => all(args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_cancelled() {
        let program = "def f (a : real) : real = loop x = a while x > 1 do x - 0.5".to_string();
        let call =
            |data: &str| Call { program: program.clone(), entry: "f".into(), data: data.into() };
        let soon = Duration::from_millis(200);
        assert_eq!(data(&call("{\"a\": 9223372036854775807}"), soon), Ok(true));
        assert_eq!(data(&call("{\"a\": 3}"), LONG), Ok(true));
    }
}

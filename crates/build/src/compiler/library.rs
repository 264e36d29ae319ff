//! From a program to a library's description, header and C text. Compiles and writes nothing.

use std::collections::BTreeMap;

use lambada::{Call, Mechanism, Mechanisms, Operator, Options, Session, Target as Processor, Unit};
use lambada_source::{Problem, stack};

use super::describe::Library;
use super::header::header;
use super::interface::{Target, interface};
use super::request::{Request, suffix};
use super::room::{Room, room};
use super::text::{FunctionCode, text};
use super::{messages, names};

/// A library as text and as data.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Its interface.
    pub library: Library,
    /// `NAME.c`
    pub code: String,
    /// `NAME.h`
    pub header: String,
}

/// Functions common to all libraries.
const COMMON: [&str; 12] = [
    "open",
    "close",
    "message",
    "limit",
    "cancel",
    "threads",
    "fork",
    "context",
    "vector_bits",
    "code_128",
    "code_256",
    "code_512",
];

/// Makes the C text and the description of a library.
///
/// # Errors
/// Definitions that do not exist or take functions, derivatives that do not exist, or duplicate
/// names.
pub fn library(
    session: &Session,
    unit: &Unit,
    file: &str,
    request: &Request,
) -> Result<Sources, Vec<Problem>> {
    stack::roomy(|| written(session, unit, file, request))
}

fn written(
    session: &Session,
    unit: &Unit,
    file: &str,
    request: &Request,
) -> Result<Sources, Vec<Problem>> {
    if !names::is_prefix(&request.name) {
        return Err(vec![messages::no_prefix(&request.name)]);
    }
    if names::is_of_the_system(&request.name) {
        return Err(vec![messages::of_the_system(&request.name)]);
    }
    if request.entries.is_empty() {
        return Err(vec![messages::nothing_to_offer()]);
    }
    let functions = functions(request)?;
    let processors = request.platform.processors();
    let mut options = session.options().clone();
    if request.platform.is_strict() {
        let lanes = [Mechanism::Lanes, Mechanism::Transposes, Mechanism::Additions];
        options.mechanisms = lanes.into_iter().fold(options.mechanisms, Mechanisms::without);
    }
    let mut parts = Vec::new();
    for (name, entry, operator, wrt) in functions {
        let call = unit.call(entry, operator, wrt)?;
        let wrt = call.wrt_names().iter().map(|name| name.to_string()).collect();
        let target = Target { unit, entry, operator, wrt };
        parts.push(part(&options, processors, &name, &call, target)?);
    }
    let library = Library {
        name: request.name.clone(),
        source: file.to_string(),
        doc: unit.module.doc.as_ref().map(|doc| doc.to_string()),
        precision: session.options().precision,
        platform: request.platform,
        processors: processors.to_vec(),
        functions: parts.iter().map(|part| part.interface.function.clone()).collect(),
    };
    let code = text(&library, &parts, session.sources());
    let has_rooms = request.platform.has_workspace();
    let of = |part: &FunctionCode| room(&part.interface, &part.versions).filter(|_| has_rooms);
    let rooms: Vec<Option<Room>> = parts.iter().map(of).collect();
    let header = header(&library, &rooms);
    Ok(Sources { library, code, header })
}

/// Name and computation of a function.
type Wanted<'a> = (String, &'a str, Operator, Option<&'a [String]>);

/// The functions of a library; checks that their names differ.
fn functions(request: &Request) -> Result<Vec<Wanted<'_>>, Vec<Problem>> {
    let mut known: BTreeMap<String, String> = COMMON
        .iter()
        .map(|name| (name.to_string(), "one that every library has".to_string()))
        .collect();
    if request.platform.has_workspace() {
        known.insert(
            "peak".to_string(),
            "one that every library in memory of the caller has".into(),
        );
    }
    let mut functions = Vec::new();
    for entry in &request.entries {
        let value = [(Operator::Value, None)];
        let derivatives =
            entry.derivatives.iter().map(|(operator, wrt)| (*operator, wrt.as_deref()));
        for (operator, wrt) in value.into_iter().chain(derivatives) {
            let name = format!("{}{}", names::identifier(&entry.name), suffix(operator));
            let what = match operator {
                Operator::Value => format!("that of `{}`", entry.name),
                Operator::Grad => format!("the gradient of `{}`", entry.name),
                Operator::Jvp => format!("the forward derivative of `{}`", entry.name),
                Operator::Vjp => format!("the reverse derivative of `{}`", entry.name),
                Operator::Jacobian => format!("the Jacobian of `{}`", entry.name),
                Operator::Hessian => format!("the Hessian of `{}`", entry.name),
            };
            let bytes = request
                .platform
                .has_workspace()
                .then(|| (format!("{name}_bytes"), format!("the memory of {what}")));
            for (name, what) in std::iter::once((name.clone(), what)).chain(bytes) {
                if let Some(first) = known.get(&name) {
                    return Err(vec![messages::taken(&name, first, &what)]);
                }
                known.insert(name, what);
            }
            functions.push((name, &*entry.name, operator, wrt));
        }
    }
    Ok(functions)
}

fn part(
    options: &Options,
    processors: &[Processor],
    name: &str,
    call: &Call,
    target: Target,
) -> Result<FunctionCode, Vec<Problem>> {
    let arrays = lambada::arrays(&call.program, call.entry)?;
    let interface = interface(&target, name, &arrays)?;
    let code = |processor: &Processor| lambada::lower_for(&arrays, options, *processor);
    Ok(FunctionCode { interface, versions: processors.iter().map(code).collect() })
}

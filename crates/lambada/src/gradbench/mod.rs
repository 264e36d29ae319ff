//! The tool side of the GradBench protocol: one message on each input line, one answer on each
//! output line.
//!
//! Each eval is a Lambada program `NAME.lam` in a folder, which defines the eval's functions; the
//! members of an input are their parameters. A definition `prepare`, if present, takes the input
//! instead, once and untimed; the fields of its result are the parameters of the functions. A
//! definition `FUNCTION_output`, if present, converts the function's result for the answer, also
//! untimed.

mod message;
mod module;

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use lambada_source::Problem;
use serde_json::json;

use crate::messages::gradbench as messages;
use crate::{Disk, Options, Session};

use crate::data::Json;
use message::Header;
use module::Module;

/// Why a conversation ends early.
#[derive(Debug)]
pub enum Ended {
    /// A request that cannot be answered.
    Problem(Box<Problem>),
    /// The suite has exited, or a pipe is broken.
    Io(io::Error),
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Ended {
        Ended::Problem(Box::new(problem))
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Ended {
        Ended::Io(error)
    }
}

/// Answers messages until the input ends. `folder` contains the programs.
///
/// # Errors
/// The folder does not exist, a line has no id to answer to, or a pipe is broken. All other errors
/// are answers.
pub fn gradbench(
    folder: &Path,
    options: &Options,
    mut from: impl BufRead,
    mut to: impl Write,
) -> Result<(), Ended> {
    if !folder.is_dir() {
        return Err(messages::no_programs(folder).into());
    }
    let mut tool = Tool { folder, options, modules: HashMap::new() };
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty() {
            let header = Header::read(&line).map_err(|e| messages::no_message(&e))?;
            tool.answer(&header, &line, &mut to)?;
            writeln!(to)?;
            to.flush()?;
        }
        line.clear();
    }
    Ok(())
}

struct Tool<'a> {
    folder: &'a Path,
    options: &'a Options,
    modules: HashMap<String, Module>,
}

impl Tool<'_> {
    /// Writes the answer to a message, without a newline.
    fn answer(&mut self, header: &Header, line: &[u8], to: &mut impl Write) -> io::Result<()> {
        let id = &header.id;
        match &*header.kind {
            "start" => write!(to, "{}", json!({"id": id, "tool": "lambada"})),
            "define" => match self.define(&header.module) {
                Ok(()) => write!(to, "{}", json!({"id": id, "success": true})),
                Err(error) => write!(to, "{}", json!({"id": id, "success": false, "error": error})),
            },
            "evaluate" => match self.evaluate(header, line) {
                Ok(outcome) => {
                    write!(to, r#"{{"id":{id},"success":true,"output":"#)?;
                    serde_json::to_writer(&mut *to, &Json(&outcome.output))?;
                    let timings: Vec<_> = outcome
                        .timings
                        .iter()
                        .map(|(name, time)| json!({"name": name, "nanoseconds": time}))
                        .collect();
                    write!(to, r#","timings":{}}}"#, json!(timings))
                }
                Err(error) => write!(to, "{}", json!({"id": id, "success": false, "error": error})),
            },
            _ => write!(to, "{}", json!({"id": id})),
        }
    }

    /// Reads and compiles the program of an eval, or returns the reason for failure.
    fn define(&mut self, name: &str) -> Result<(), String> {
        let mut session = Session::with(Arc::new(Disk), self.options.clone());
        let module = Module::load(&mut session, self.folder, name)
            .map_err(|problems| session.render(&problems, false))?;
        self.modules.insert(name.to_string(), module);
        Ok(())
    }

    fn evaluate(&self, header: &Header, line: &[u8]) -> Result<module::Outcome, String> {
        let told = |problem: Problem| Session::new().render(&[problem], false);
        let module = self.modules.get(&header.module);
        let module = module.ok_or_else(|| told(messages::not_defined(&header.module)))?;
        module.evaluate(&header.function, line)
    }
}

//! The definitions so far, and answers to definitions and expressions.
//!
//! The definitions are items of one file, which is checked anew with each input. The new input
//! comes first in it, so that positions in messages are those that the user sees.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use lambada::{Along, Executable, Expression, Inputs, Operator, Place, Problem, RESULT, Unit};

use super::Next;
use crate::args::{DataArgs, Engine, Look};
use crate::report::Report;
use crate::shell::{Shell, engine};
use crate::{messages, report};

/// Name of typed texts in messages.
const NAME: &str = "<repl>";

/// The definitions and settings of a session.
pub struct State<'a> {
    shell: &'a mut Shell,
    /// Each item with the names that it defines.
    items: Vec<(Vec<Rc<str>>, String)>,
    /// Folder that imports are relative to.
    folder: PathBuf,
    engine: Engine,
    look: Look,
    /// The names of the library.
    library: Vec<String>,
}

impl State<'_> {
    /// A state without definitions.
    pub fn new(shell: &mut Shell, engine: Engine, look: Look) -> State<'_> {
        let chapters = lambada::chapters();
        let library = chapters.into_iter().flat_map(|chapter| chapter.entries);
        let library = library.map(|entry| entry.name).collect();
        State { shell, items: Vec::new(), folder: PathBuf::new(), engine, look, library }
    }

    /// All names in scope.
    pub fn names(&self) -> Vec<String> {
        let own = self.items.iter().flat_map(|(names, _)| names).map(ToString::to_string);
        own.chain(self.library.iter().cloned()).collect()
    }

    /// Answers an input.
    pub(super) fn answer(&mut self, text: &str) -> Result<(String, Next), Report> {
        let text = text.trim();
        let short = text.strip_prefix("let ").unwrap_or(text);
        let definition = format!("def {}", short.trim_start());
        if text.starts_with(':') {
            return self.command(text);
        }
        let answer = if let Some(items) = lambada::items(text) {
            self.define(text, items)?
        } else if let Some(items) = lambada::items(&definition) {
            self.define(&definition, items)?
        } else {
            self.evaluate(text)?
        };
        Ok((answer, Next::Continue))
    }

    /// Adds items, replacing those that define the same names; lists the new definitions.
    fn define(&mut self, text: &str, items: Vec<Place>) -> Result<String, Report> {
        let mut new: Vec<(Vec<Rc<str>>, String)> = Vec::new();
        for (names, place) in items {
            let item = text[place].trim().to_string();
            // An import defines no names, so its text identifies it.
            let names = if names.is_empty() { vec![item.as_str().into()] } else { names };
            new.retain(|(known, _)| known != &names);
            new.push((names, item));
        }
        let defined = |name: &Rc<str>| new.iter().any(|(names, _)| names.contains(name));
        let old: Vec<_> =
            self.items.iter().filter(|(names, _)| !names.iter().any(defined)).cloned().collect();
        let all = [new.clone(), old].concat();
        let unit = self.checked(&joined(&all), text.len())?;
        self.items = all;
        let mut answer = String::new();
        for definition in unit.definitions() {
            if new.iter().any(|(names, _)| names.iter().any(|name| **name == *definition.name)) {
                _ = writeln!(answer, "{} : {}", definition.name, definition.scheme);
            }
        }
        Ok(answer)
    }

    /// Checks a text whose first `own` bytes are the new input; reports warnings there.
    fn checked(&mut self, text: &str, own: usize) -> Result<Unit, Report> {
        let folder = Some(self.folder.clone());
        let unit = self.shell.session.load_text(NAME, text, folder);
        let unit = unit.map_err(|problems| self.shell.told(problems))?;
        self.warn(&unit, own);
        Ok(unit)
    }

    fn warn(&self, unit: &Unit, own: usize) {
        let here = |problem: &&Problem| {
            problem.labels.first().is_none_or(|label| (label.span.start as usize) < own)
        };
        let warnings: Vec<Problem> = unit.warnings.iter().filter(here).cloned().collect();
        report::tell(&self.shell.told(warnings));
    }

    /// Checks an expression as the definition [`RESULT`].
    fn expression(&mut self, text: &str) -> Result<Unit, Report> {
        let definitions = joined(&self.items);
        let folder = self.folder.clone();
        let expression = Expression { text, definitions: &definitions, inputs: None, folder };
        let unit = self.shell.session.load_expression(NAME, &expression);
        let unit = unit.map_err(|problems| self.shell.told(problems))?;
        self.warn(&unit, format!("def {RESULT} = {text}").len());
        Ok(unit)
    }

    fn evaluate(&mut self, text: &str) -> Result<String, Report> {
        let unit = self.expression(text)?;
        let ty = scheme(&unit);
        if ty.contains("->") {
            return Ok(format!("<function> : {ty}\n"));
        }
        let call = unit.call(RESULT, Operator::Value, None).map_err(|p| self.shell.told(p))?;
        let value = self.shell.value(call, &Inputs::new(), self.engine, false)?;
        Ok(value.show(self.shell.style(self.look)) + "\n")
    }

    /// `:type`
    pub(super) fn type_of(&mut self, text: &str) -> Result<String, Report> {
        let unit = self.expression(text)?;
        Ok(format!("{text} : {}\n", scheme(&unit)))
    }

    /// `:derive`
    pub(super) fn derive(&mut self, text: &str, operator: Operator) -> Result<String, Report> {
        let own = self.items.iter().any(|(names, _)| names.iter().any(|name| **name == *text));
        let (unit, entry) = if own {
            (self.checked(&joined(&self.items), 0)?, text)
        } else {
            let (definitions, folder) = (joined(&self.items), self.folder.clone());
            let expression = Expression { text, definitions: &definitions, inputs: None, folder };
            let unit = self.shell.session.load_function(NAME, &expression);
            (unit.map_err(|problems| self.shell.told(problems))?, RESULT)
        };
        unit.derivative_source(entry, operator, None).map_err(|p| self.shell.told(p))
    }

    /// `:time`
    pub(super) fn time(&mut self, text: &str) -> Result<String, Report> {
        let start = Instant::now();
        let unit = self.expression(text)?;
        let call = unit.call(RESULT, Operator::Value, None).map_err(|p| self.shell.told(p))?;
        let checked = start.elapsed();
        let start = Instant::now();
        let executable = Executable::new(call.program, call.entry, engine(Engine::Native))
            .map_err(|p| self.shell.told(p))?;
        let compiled = start.elapsed();
        let start = Instant::now();
        let value = executable
            .run(&[])
            .map_err(|failure| report::failure(&self.shell.session, &failure, self.shell.color))?;
        let ran = start.elapsed();
        let value = value.show(self.shell.style(self.look));
        Ok(format!("{value}\n{}", messages::times(checked, compiled, ran)))
    }

    /// `:plot`
    pub(super) fn plot(&mut self, text: &str) -> Result<String, Report> {
        let last = text.rsplit_once(char::is_whitespace).filter(|(_, last)| last.contains(".."));
        let (own, mut words) = match last {
            Some((own, range)) => (own.trim_end(), vec![range.to_string()]),
            None => (text, Vec::new()),
        };
        let range = self.shell.range(&mut words)?;
        let (definitions, folder) = (joined(&self.items), self.folder.clone());
        let expression = Expression { text: own, definitions: &definitions, inputs: None, folder };
        let unit = match range {
            Some(_) => self.shell.session.load_function(NAME, &expression),
            None => self.shell.session.load_expression(NAME, &expression),
        };
        let unit = unit.map_err(|problems| self.shell.told(problems))?;
        if range.is_none() && scheme(&unit).contains("->") {
            return Err(messages::needs_a_range(own));
        }
        let inputs = self.shell.inputs(&DataArgs::of(Vec::new()), &words)?;
        let at = range.as_ref().map(|(range, ends)| (range, *ends));
        let what =
            Along { definition: RESULT, name: own, range: at, inputs: &inputs, slopes: None };
        let sweep = self.shell.swept(&unit, &what, self.engine)?;
        let picture = self.shell.picture(&sweep, range.map(|(_, ends)| ends))?;
        Ok(self.shell.drawn(&picture))
    }

    /// `:doc`
    pub(super) fn doc(&mut self, name: &str) -> Result<String, Report> {
        let own = self.items.iter().find(|(names, _)| names.iter().any(|known| **known == *name));
        let Some((_, item)) = own.cloned() else {
            let name = (!name.is_empty()).then_some(name);
            return lambada::manual(name).map_err(|problem| self.shell.told([problem]));
        };
        let comments: Vec<&str> = item
            .lines()
            .filter_map(|line| line.strip_prefix("--|"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        let definitions = self.checked(&joined(&self.items), 0)?.definitions();
        let head = definitions.iter().find(|definition| *definition.name == *name);
        let head = head.map_or_else(|| name.to_string(), |d| format!("{} : {}", d.name, d.scheme));
        let gap = if comments.is_empty() { "" } else { "\n\n" };
        Ok(format!("{head}{gap}{}\n", comments.join("\n")))
    }

    /// `:load`
    pub fn load(&mut self, file: &Path) -> Result<String, Report> {
        // Checked alone first, so that all problems are reported under the file's name.
        let name = file.display().to_string();
        self.shell.session.load(file).map_err(|p| self.shell.told(p))?;
        let text =
            std::fs::read_to_string(file).map_err(|error| messages::not_read(&name, &error))?;
        let before = std::mem::replace(
            &mut self.folder,
            file.parent().map(Path::to_path_buf).unwrap_or_default(),
        );
        let answer = match lambada::items(&text) {
            Some(items) => self.define(&text, items),
            None => Ok(String::new()),
        };
        if answer.is_err() {
            self.folder = before;
        }
        answer
    }
}

/// Joins items to a file.
fn joined(items: &[(Vec<Rc<str>>, String)]) -> String {
    items.iter().map(|(_, item)| format!("{item}\n\n")).collect()
}

/// The type of an expression.
fn scheme(unit: &Unit) -> String {
    let own = unit.definitions().into_iter().find(|definition| &*definition.name == RESULT);
    own.map(|definition| definition.scheme.to_string()).unwrap_or_default()
}

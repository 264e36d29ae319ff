//! `verify`: compares every derivative of a file with independently computed ones, and tabulates
//! the results.

mod checks;
mod draw;

use std::collections::HashSet;
use std::fmt;
use std::rc::Rc;

use lambada_compare::Random;
use lambada_core::data::Data;
use lambada_core::{DefId, Program, Term, TermKind};
use lambada_source::{Failure, Problem, Span, stack};

use crate::fields;
use crate::messages::verify as messages;
use crate::operators::{self, Operator};
use crate::vectors::reals;
use crate::{Call, Engine, Inputs, Options, Unit};

pub use checks::Finding as Check;
use checks::{CHECKS, Derivatives};
pub(crate) use draw::draw;

/// A request for verification.
#[derive(Clone, Copy)]
pub struct Verify<'a> {
    /// One definition, or all of the file.
    pub entry: Option<&'a str>,
    /// The parameters to differentiate with respect to, if there is one definition [default: all
    /// that hold reals].
    pub wrt: Option<&'a [String]>,
    /// Values of parameters. Definitions without values are checked at random points.
    pub inputs: &'a Inputs,
    /// The engine.
    pub engine: Engine,
    /// Called before a definition runs at random points, where its loops may not terminate.
    pub drawing: &'a dyn Fn(&str),
}

/// Results of verification.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// A row for each definition that was checked.
    pub rows: Vec<Row>,
    /// Reasons why other definitions were not checked.
    pub skipped: Vec<String>,
}

/// A definition that was checked.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: Rc<str>,
    /// Number of random points; 0 if the data are the point.
    pub drawn: usize,
    /// Each check with its name.
    pub checks: Vec<(&'static str, Check)>,
    span: Span,
    rules: Vec<Brought>,
}

/// A custom derivative rule of a function.
#[derive(Clone, Debug)]
struct Brought {
    function: Rc<str>,
    pseudo: bool,
    span: Span,
    /// The function to report: this one with its rule or, if it is private to the library, the
    /// public function whose call reaches it.
    told: Named,
}

/// A function, and the place of its rule or of a call.
type Named = (Rc<str>, Span);

/// Number of random points for a definition.
const POINTS: usize = 3;

/// Number of draws that may fail or yield no finite value before a definition is skipped.
const DRAWS: usize = 60;

/// Distances up to this are rounding errors, which the table does not show.
const NEAR: f64 = 1e-12;

/// Ranges of random reals, in turn: around zero, positive, and far from zero.
const RANGES: [std::ops::Range<f64>; 3] = [-1.0..1.0, 0.2..1.8, -4.0..4.0];

impl Unit {
    /// Checks the derivatives of one definition or of all.
    ///
    /// # Errors
    /// A named definition cannot be checked, inputs do not fit it, or the file contains nothing to
    /// check. Wrong derivatives are no error: see [`Verification::problems`].
    pub fn verify(&self, what: &Verify) -> Result<Verification, Vec<Problem>> {
        stack::roomy(|| self.verified(what))
    }

    fn verified(&self, what: &Verify) -> Result<Verification, Vec<Problem>> {
        let mut found = Verification::default();
        if let Some(entry) = what.entry {
            match self.checked(entry, what)? {
                Ok(row) => found.rows.push(row),
                Err(why) => return Err(vec![messages::not_verified(entry, &why)]),
            }
            return Ok(found);
        }
        for definition in self.definitions().into_iter().filter(|def| def.is_function) {
            match self.checked(&definition.name, what) {
                Ok(Ok(row)) => found.rows.push(row),
                Ok(Err(why)) => found.skipped.push(format!("`{}` {why}", definition.name)),
                Err(problems) => {
                    found.skipped.extend(problems.into_iter().map(|problem| problem.title))
                }
            }
        }
        if found.rows.is_empty() {
            return Err(vec![messages::nothing_to_verify(&found.skipped)]);
        }
        Ok(found)
    }

    /// The row of a definition, or the reason why it has none.
    fn checked(&self, name: &str, what: &Verify) -> Result<Result<Row, String>, Vec<Problem>> {
        let call = self.call_at(name, Operator::Value, None, what.inputs)?;
        let (mut program, entry) = (call.program.clone(), call.entry);
        let wide = fields::widen(&mut program, entry, what.wrt.unwrap_or_default());
        let (wide, fields) = wide.map_err(|p| vec![p])?;
        let wrt = operators::choose(&program, wide, what.wrt).map_err(|p| vec![p])?;
        let program = &program;
        let widened = |mut args: Vec<Data>| {
            let more: Vec<Data> = fields.iter().filter_map(|field| field.of(&args)).collect();
            args.extend(more);
            args
        };
        let given = match call.arguments(what.inputs) {
            Ok(args) => Some(widened(args)),
            // Inputs must fit a definition that is named.
            Err(problems) if what.entry.is_some() && !what.inputs.is_empty() => {
                return Err(problems);
            }
            Err(_) => None,
        };
        let options = Options { engine: what.engine, ..self.options.clone() };
        let derivatives = Derivatives::compile(program, wide, wrt, &options)?;
        let is_given = given.is_some();
        let points = match given {
            Some(args) => match derivatives.value(&args) {
                Ok(value) => Ok(vec![(args, value)]),
                Err(failure) => Err(failed("at the data", &failure)),
            },
            None => {
                (what.drawing)(name);
                points(&call, &derivatives, &widened)
            }
        };
        let found = points.and_then(|points| {
            let drawn = if is_given { 0 } else { points.len() };
            let checks = all_checks(&derivatives, &points)?;
            let def = program.def(entry);
            let rules = brought(program, entry);
            Ok(Row { name: def.name.clone(), drawn, checks, span: def.span, rules })
        });
        Ok(found)
    }
}

/// The custom rules of all functions that a definition reaches, without duplicates.
fn brought(program: &Program, entry: DefId) -> Vec<Brought> {
    let own = program.def(entry).span.file;
    let mut found: Vec<Brought> = Vec::new();
    let mut seen = HashSet::from([entry]);
    // Each entry keeps the call that left the user's file, because users know only the library
    // functions that they call.
    let mut pending: Vec<(&Term, Option<Named>)> = vec![(&program.def(entry).body, None)];
    while let Some((term, called)) = pending.pop() {
        pending.extend(term.children().into_iter().map(|child| (child, called.clone())));
        if let TermKind::Global(id) = term.kind()
            && seen.insert(*id)
        {
            let def = program.def(*id);
            let call = || (def.span.file != own).then(|| (def.name.clone(), term.span()));
            pending.push((&def.body, called.clone().or_else(call)));
        }
        let TermKind::Ruled(ruled) = term.kind() else { continue };
        for rule in ruled.rules() {
            let (function, pseudo, span) = (ruled.name.clone(), rule.pseudo, rule.span);
            if found.iter().all(|known| known.span != span) {
                let told = match &called {
                    Some(call) if is_private(&function) => call.clone(),
                    Some(_) | None => (function.clone(), span),
                };
                found.push(Brought { function, pseudo, span, told });
            }
        }
    }
    found.sort_by_key(|rule| rule.span);
    found
}

/// Whether only the library mentions the name.
fn is_private(name: &str) -> bool {
    name.starts_with('_') || name.starts_with("prelude_")
}

fn failed(place: &str, failure: &Failure) -> String {
    format!("fails {place}: {}", failure.message)
}

/// Points at which the definition has a finite value, or the reason why none was found.
fn points(
    call: &Call,
    derivatives: &Derivatives,
    widened: &dyn Fn(Vec<Data>) -> Vec<Data>,
) -> Result<Vec<(Vec<Data>, Data)>, String> {
    let mut random = Random(1);
    let (mut points, mut last) = (Vec::new(), None);
    for range in RANGES.into_iter().cycle().take(DRAWS) {
        let args = widened(draw(&call.program, call.signature(), &mut random, range));
        match derivatives.value(&args) {
            Ok(value) if reals(&value).iter().all(|x| x.is_finite()) => points.push((args, value)),
            Ok(_) => last = Some("has no finite value at any point drawn".to_string()),
            Err(failure) => last = Some(failed("at every point drawn", &failure)),
        }
        if points.len() == POINTS {
            break;
        }
    }
    if points.is_empty() { Err(last.unwrap_or_default()) } else { Ok(points) }
}

/// The combined result of each check at all points.
fn all_checks(
    derivatives: &Derivatives,
    points: &[(Vec<Data>, Data)],
) -> Result<Vec<(&'static str, Check)>, String> {
    if points.iter().all(|(_, value)| reals(value).is_empty()) {
        return Err("has no reals in its result".to_string());
    }
    let mut random = Random(2);
    let mut all: Vec<(&'static str, Check)> = Vec::new();
    for (args, value) in points {
        let found = derivatives.check(args, value, &mut random);
        all = match all.is_empty() {
            true => CHECKS.into_iter().zip(found).collect(),
            false => all.into_iter().zip(found).map(|((name, a), b)| (name, a.and(b))).collect(),
        };
    }
    Ok(all)
}

impl Row {
    /// The functions whose rules intentionally differ from the derivative.
    pub fn pseudo(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.rules.iter().filter(|rule| rule.pseudo).map(|rule| &*rule.function).collect();
        names.dedup();
        names
    }

    /// The failed check and its description. Ignores definitions whose rules intentionally differ
    /// from the derivative.
    pub fn wrong(&self) -> Option<(&'static str, &str)> {
        if !self.pseudo().is_empty() {
            return None;
        }
        self.checks.iter().find_map(|(name, check)| match check {
            Check::Wrong(why) => Some((*name, &**why)),
            Check::Differences(_) | Check::Apart(_) => None,
        })
    }
}

impl Verification {
    /// Problems for wrong derivatives.
    pub fn problems(&self) -> Vec<Problem> {
        let wrong = |row: &Row| {
            let (check, why) = row.wrong()?;
            let mut rules: Vec<(&str, Span)> = Vec::new();
            for rule in &row.rules {
                if rules.iter().all(|(_, span)| *span != rule.told.1) {
                    rules.push((&rule.told.0, rule.told.1));
                }
            }
            Some(messages::wrong(&row.name, check, why, row.span, rules))
        };
        self.rows.iter().filter_map(wrong).collect()
    }
}

/// Prints the table and the skipped definitions.
impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let head = ["definition", "at"].into_iter().chain(CHECKS).map(str::to_string).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(self.rows.iter().map(cells)).collect();
        let widths: Vec<usize> = (0..rows[0].len())
            .map(|k| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or_default())
            .collect();
        for row in &rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        let shown = |is: fn(&Check) -> bool| {
            self.rows.iter().any(|row| row.checks.iter().any(|(_, check)| is(check)))
        };
        let partly =
            self.rows.iter().flat_map(|row| &row.checks).find_map(|(_, check)| match check {
                Check::Differences(found) if found.undecided > 0 => Some(found),
                _ => None,
            });
        if let Some(lambada_compare::Confirmed { decided, undecided }) = partly {
            let all = decided + undecided;
            writeln!(
                f,
                "{decided} of {all}: of {all} components, {decided} agree with differences, and \
                 {undecided} cannot be decided by them (a kink, a jump, rounding, or steps of a solver)"
            )?;
        }
        if shown(|check| matches!(check, Check::Apart(apart) if *apart > NEAR)) {
            writeln!(
                f,
                "1e-10: the largest distance of two derivatives, relative to the terms of their \
                 sums; within the tolerance"
            )?;
        }
        for row in &self.rows {
            let names: Vec<String> =
                row.pseudo().into_iter().map(|name| format!("`{name}`")).collect();
            if !names.is_empty() {
                let (row, names) = (&row.name, names.join(", "));
                writeln!(f, "pseudo: `{row}` follows rules that are no derivatives, of {names}")?;
            }
        }
        self.skipped.iter().try_for_each(|why| writeln!(f, "not checked: {why}"))
    }
}

fn cells(row: &Row) -> Vec<String> {
    let place = match row.drawn {
        0 => "the data".to_string(),
        drawn => lambada_source::counted(drawn, "point"),
    };
    let check = |(_, check): &(&str, Check)| match check {
        Check::Wrong(_) if !row.pseudo().is_empty() => "pseudo".to_string(),
        Check::Wrong(_) => "WRONG".to_string(),
        Check::Apart(..=NEAR) => "agree".to_string(),
        Check::Apart(apart) => format!("{apart:.0e}"),
        Check::Differences(found) => {
            format!("{} of {}", found.decided, found.decided + found.undecided)
        }
    };
    [row.name.to_string(), place].into_iter().chain(row.checks.iter().map(check)).collect()
}

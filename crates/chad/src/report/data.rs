//! A derivation as data. The fields have these names in JSON too.

use serde::{Deserialize, Serialize};

use super::{Mode, Stage};

/// The steps of deriving a definition.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Derivation {
    /// The definition.
    pub definition: String,
    /// Forward or reverse.
    pub mode: Mode,
    /// The form of the derivative.
    pub stage: Stage,
    /// The parameters, with their types in the source language.
    pub parameters: Vec<Variable>,
    /// The definition in the source language.
    pub program: String,
    /// The type of its value.
    #[serde(rename = "type")]
    pub ty: String,
    /// The file of the definition.
    pub file: String,
    /// The text of the file.
    pub source: String,
    /// The number of all steps; `steps` may have only some.
    pub count: usize,
    /// The steps, parts before wholes.
    pub steps: Vec<Step>,
}

/// A part of the program, and its derivative.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Step {
    /// From 1.
    pub number: usize,
    /// The name of a compound part, such as `t4`.
    pub name: Option<String>,
    /// The part, with its own parts called by their names.
    pub part: String,
    /// Its type; `T -> S` for a combinator.
    #[serde(rename = "type")]
    pub ty: String,
    /// The clause that applies.
    pub rule: Rule,
    /// The clause in general.
    pub clause: Vec<Clause>,
    /// The clause for this part; empty if it has no parts.
    pub here: Vec<Clause>,
    /// The variables of the results.
    pub context: Vec<Variable>,
    /// The derivative: the primal, then the linear function; both together in the shared form.
    pub components: Vec<Component>,
    /// The places in the program that the part comes from.
    pub places: Vec<Place>,
    /// The numbers of the steps of its parts.
    pub parts: Vec<usize>,
}

/// The name of a clause, and its items in the paper.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Rule {
    /// In words.
    pub name: String,
    /// The number of the construct in the checklist of the paper: C-4, P-1, S-8.
    pub item: String,
    /// The place of the clause in the paper.
    pub paper: String,
}

/// `left = right`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Clause {
    /// The derivative that is defined.
    pub left: String,
    /// Its definition.
    pub right: String,
}

/// `name : type`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub ty: String,
}

/// A term of a derivative.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Component {
    /// The linear variable, if there is one.
    pub linear: Option<Variable>,
    /// The type.
    #[serde(rename = "type")]
    pub ty: String,
    /// The term, in lines.
    pub term: String,
}

/// A range of the file of the definition; lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Place {
    /// The line of the first character.
    pub line: usize,
    /// The column of the first character.
    pub column: usize,
    /// The line behind the last character.
    pub end_line: usize,
    /// The column behind the last character.
    pub end_column: usize,
}

impl Derivation {
    /// The steps as JSON, with the fields of these types.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("texts and numbers have a form in JSON") + "\n"
    }
}

/// The most characters of a program's text beside a step.
const EXCERPT: usize = 60;

impl Place {
    /// The beginning of its text, on one line.
    pub fn excerpt(&self, source: &str) -> String {
        let lines = source.lines().skip(self.line - 1).take(self.end_line - self.line + 1);
        let cut = |(k, line): (usize, &str)| {
            let to = if self.line + k == self.end_line { self.end_column - 1 } else { usize::MAX };
            let from = if k == 0 { self.column - 1 } else { 0 };
            line.chars().take(to).skip(from).collect::<String>()
        };
        let text: Vec<String> = lines.enumerate().map(cut).collect();
        let text = text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() <= EXCERPT {
            return text;
        }
        text.chars().take(EXCERPT).chain([' ', '…']).collect()
    }
}

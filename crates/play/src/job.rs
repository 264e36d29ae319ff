//! A request about a program, as data.

use lambada::paper::Derivation;
use serde::{Deserialize, Serialize};

/// The source of a program, which determines its imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    /// The folder of the playground.
    Folder,
    /// The examples.
    Examples,
    /// A text that is no file.
    Text,
}

/// The address of a program.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Place {
    pub origin: Origin,
    /// The path below the origin, with `/`.
    pub path: String,
}

/// A request about a program.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Job {
    #[serde(flatten)]
    pub place: Place,
    /// The text as the page has it.
    pub text: String,
    pub task: Task,
}

/// A value of a parameter: its name, and JSON.
pub(crate) type Given = (String, String);

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Task {
    /// The definitions with their parameters.
    Outline,
    /// The value of a definition, and its gradient if there is one.
    Value { entry: String, values: Vec<Given> },
    /// The derivative as source.
    Derivative { entry: String, mode: Mode },
    /// A stage of the paper's derivative.
    Stage { entry: String, mode: Mode, stage: Stage },
    /// The paper's derivation, step by step.
    Steps { entry: String, mode: Mode, stage: Stage },
    /// A form of the compiler.
    Show { entry: String, form: Form, of: Of },
    /// Values over a range of a parameter, or arrays over their index.
    Plot { entry: String, values: Vec<Given>, range: Option<Along>, slopes: bool },
}

/// A range of a parameter.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Along {
    pub parameter: String,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Forward,
    Reverse,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    Combinators,
    Linear,
    Applied,
    Shared,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    Core,
    Anf,
    Schedule,
    Loops,
    C,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Of {
    Value,
    Grad,
    Jvp,
    Vjp,
}

/// The answer to a job.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Done {
    /// The definitions.
    Outline(Vec<Definition>),
    /// A value, and a gradient by the names of parameters.
    Value { value: String, gradient: Vec<(String, String)> },
    /// A text.
    Text(String),
    /// The paper's derivation.
    Derivation(Box<Derivation>),
    /// A picture as SVG.
    Picture(String),
    /// Problems of the program or the request, or a failure, as text.
    Problems(String),
    /// The end of a job that took too much.
    Stopped(String),
    /// A newer job has taken the place of this one.
    Superseded,
}

/// A definition.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Definition {
    pub name: String,
    pub doc: Option<String>,
    /// Its type.
    pub scheme: String,
    /// The parameters; `None` if it cannot be run.
    pub parameters: Option<Vec<Parameter>>,
    /// The reason why it cannot be run.
    pub problem: Option<String>,
    /// The type of its result.
    pub result: Option<String>,
}

/// A parameter.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Parameter {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether the definition can be differentiated with respect to it.
    pub real: bool,
    /// A value to begin with, as JSON.
    pub value: String,
}

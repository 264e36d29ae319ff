//! Commands of the server, and the requests of its own: programs run and derivatives are derived
//! on a thread beside the one that answers.

use std::path::PathBuf;

use lsp_types::{ExecuteCommandParams, TextDocumentIdentifier, Uri};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Answer, Refusal};
use crate::buffers::Buffers;
use crate::uri::path_of;
use crate::worker::{Mode, Task, Work};

/// Runs a definition: the address of the document, the definition, and values of its parameters in
/// JSON, `x=1.5` or `1.5`.
pub(crate) const RUN: &str = "lambada.run";
/// Value and gradient of a definition, with the same arguments.
pub(crate) const GRADIENT: &str = "lambada.gradient";
/// Opens the derivative of a definition: the address, the definition, `reverse` or `forward`.
pub(crate) const DERIVATIVE: &str = "lambada.derivative";

/// All commands.
pub(crate) const COMMANDS: [&str; 3] = [RUN, GRADIENT, DERIVATIVE];

/// `lambada/derivative`: the derivative of a definition as source.
pub(crate) enum DerivativeRequest {}

/// The definition whose derivative is meant.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DerivativeParams {
    pub text_document: TextDocumentIdentifier,
    pub definition: String,
    #[serde(default)]
    pub mode: Mode,
    /// The parameters by which to differentiate [default: all].
    #[serde(default)]
    pub wrt: Option<Vec<String>>,
}

/// A derivative as source.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct DerivativeText {
    pub text: String,
}

impl lsp_types::request::Request for DerivativeRequest {
    type Params = DerivativeParams;
    type Result = DerivativeText;
    const METHOD: &'static str = "lambada/derivative";
}

impl DerivativeParams {
    pub fn task(self) -> Task {
        Task {
            path: path(&self.text_document.uri),
            entry: self.definition,
            work: Work::Derivative(self.mode, self.wrt),
        }
    }
}

fn mode(text: Option<&str>) -> Mode {
    if text == Some("forward") { Mode::Forward } else { Mode::Reverse }
}

fn path(uri: &Uri) -> PathBuf {
    Buffers::settled(&path_of(uri))
}

/// The task that a command means.
pub(crate) fn task(params: &ExecuteCommandParams) -> Answer<Task> {
    let mut words = params.arguments.iter().map(word);
    let (uri, entry) = (words.next(), words.next());
    let (Some(uri), Some(entry)) = (uri.and_then(|uri| uri.parse().ok()), entry) else {
        let why = format!("`{}` takes the address of a document and a definition", params.command);
        return Err(Refusal::new(why));
    };
    let rest: Vec<String> = words.collect();
    let work = match &*params.command {
        RUN => Work::Run(rest),
        GRADIENT => Work::Gradient(rest),
        DERIVATIVE => Work::Derivative(mode(rest.first().map(String::as_str)), None),
        other => return Err(Refusal::new(format!("there is no command `{other}`"))),
    };
    Ok(Task { path: path(&uri), entry, work })
}

/// A string without its quotes; any other value as JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

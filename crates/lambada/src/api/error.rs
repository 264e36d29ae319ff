//! Errors of loading, compiling and calling programs.

use std::convert::Infallible;
use std::fmt;

use lambada_source::{Failure, Label, Problem, Severity, Sources};

/// Why a program cannot be loaded, compiled or called. `Display` prints title, excerpt and hints as
/// the command `lambada` does.
///
/// ```
/// let error = lambada::Model::compile("f.lam", "def f (x : real) = x + yy").unwrap_err();
/// assert_eq!(error.kind(), lambada::ErrorKind::Program);
/// let problem = &error.problems()[0];
/// assert_eq!((&*problem.code, problem.line, problem.column), ("E0101", 1, 24));
/// assert!(error.to_string().starts_with("error[E0101]"));
/// ```
#[derive(Clone)]
pub struct Error(Box<Told>);

#[derive(Clone)]
struct Told {
    kind: ErrorKind,
    text: String,
    problems: Vec<Diagnostic>,
}

/// The party at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The program: it has an error, or does not allow the requested operation.
    Program,
    /// The run of the program: an index out of range, a failed check, no memory.
    Running,
    /// The caller: an argument of another type or size, or a result read as another type.
    Call,
    /// Nobody: the call was cancelled, see [`Cancel`](crate::Cancel).
    Interrupted,
}

/// A problem as data, for editors and other programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable code such as `E0203`, which `lambada explain` explains.
    pub code: &'static str,
    /// One-line description.
    pub title: String,
    /// Message at the marked place.
    pub label: String,
    /// The file, if the problem is in one.
    pub file: Option<String>,
    /// The line where it begins, from 1; 0 without a file.
    pub line: usize,
    /// The character where it begins, from 1; 0 without a file.
    pub column: usize,
    /// The line where it ends.
    pub end_line: usize,
    /// The character after its end.
    pub end_column: usize,
    /// Suggested remedies.
    pub hints: Vec<String>,
}

impl Diagnostic {
    pub(crate) fn of(sources: &Sources, problem: &Problem) -> Diagnostic {
        let mut told = Diagnostic {
            severity: problem.severity,
            code: problem.code,
            title: problem.title.clone(),
            label: String::new(),
            file: None,
            line: 0,
            column: 0,
            end_line: 0,
            end_column: 0,
            hints: problem.hints.iter().map(|hint| hint.text.clone()).collect(),
        };
        if let Some(Label { span, text }) = problem.labels.first() {
            let end = lambada_source::Span { start: span.end, ..*span };
            told.label.clone_from(text);
            told.file = Some(sources.get(span.file).name.clone());
            (told.line, told.column) = sources.line_column(*span);
            (told.end_line, told.end_column) = sources.line_column(end);
        }
        told
    }
}

impl Error {
    pub(crate) fn program(sources: &Sources, problems: &[Problem]) -> Error {
        Error::told(ErrorKind::Program, sources, problems)
    }

    /// An error for an argument that does not fit.
    pub(crate) fn call(problem: &Problem) -> Error {
        Error::told(ErrorKind::Call, &Sources::default(), std::slice::from_ref(problem))
    }

    fn told(kind: ErrorKind, sources: &Sources, problems: &[Problem]) -> Error {
        let text = lambada_source::render(sources, problems, false);
        let problems = problems.iter().map(|problem| Diagnostic::of(sources, problem)).collect();
        Error(Box::new(Told { kind, text: text.trim_end().to_string(), problems }))
    }

    pub(crate) fn running(sources: &Sources, failure: &Failure) -> Error {
        Error::told(ErrorKind::Running, sources, &[lambada_source::failed(failure)])
    }

    /// The error of a cancelled call.
    pub(crate) fn interrupted(name: &str) -> Error {
        let text = format!("the call of `{name}` has been cancelled");
        Error(Box::new(Told { kind: ErrorKind::Interrupted, text, problems: Vec::new() }))
    }

    /// An error for a result read in a way that it does not support.
    pub(crate) fn misuse(text: String) -> Error {
        Error(Box::new(Told { kind: ErrorKind::Call, text, problems: Vec::new() }))
    }

    /// The party at fault.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The problems as data; empty if a result was read as another type.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.0.problems
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

/// As `Display`, so that a program that exits with the error prints readable text.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl std::error::Error for Error {}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Error {
        match never {}
    }
}

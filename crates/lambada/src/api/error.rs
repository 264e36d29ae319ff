//! What goes wrong when programs are loaded, compiled and called.

use std::convert::Infallible;
use std::fmt;

use lambada_source::{Failure, Label, Problem, Severity, Sources};

/// Why a program cannot be loaded, compiled or called. `Display` gives what the command `lambada`
/// prints: title, excerpt and hints.
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

/// Whose error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The program's: it has no meaning, or what is asked of it makes no sense for it.
    Program,
    /// The program failed when it ran: an index out of range, a check, no memory.
    Running,
    /// The caller's: an argument of another type or size, or a result that is taken for something
    /// else.
    Call,
    /// The call has been cancelled, see [`Cancel`](crate::Cancel).
    Interrupted,
}

/// A problem as data: what a person sees, for editors and other programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it is an error, or is something only doubtful.
    pub severity: Severity,
    /// A stable code such as `E0203`, which `lambada explain` explains.
    pub code: &'static str,
    /// What is wrong, in a line.
    pub title: String,
    /// What is said at the place.
    pub label: String,
    /// The file; nothing if the problem is in none.
    pub file: Option<String>,
    /// The line where it begins, from 1; 0 without a file.
    pub line: usize,
    /// The character where it begins, from 1; 0 without a file.
    pub column: usize,
    /// The line where it ends.
    pub end_line: usize,
    /// The character behind its end.
    pub end_column: usize,
    /// What to do about it.
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
            hints: problem.hints.clone(),
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

    /// A wrong argument.
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

    /// The call of a function has been cancelled.
    pub(crate) fn interrupted(name: &str) -> Error {
        let text = format!("the call of `{name}` has been cancelled");
        Error(Box::new(Told { kind: ErrorKind::Interrupted, text, problems: Vec::new() }))
    }

    /// A use of a result that it does not have.
    pub(crate) fn misuse(text: String) -> Error {
        Error(Box::new(Told { kind: ErrorKind::Call, text, problems: Vec::new() }))
    }

    /// Whose error it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The problems as data; none if a result was taken for what it is not.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.0.problems
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

/// As `Display`, so that a program that ends with it shows what a person can read.
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

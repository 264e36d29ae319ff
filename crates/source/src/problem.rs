//! Problems are data. Their wording belongs to the code that finds them, their display to `render`.

use crate::{Applicability, Fix, Span};

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program has no meaning.
    Error,
    /// The program has a meaning, perhaps not the intended one.
    Warning,
}

/// A place and its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The mistake at the place; may be empty.
    pub text: String,
}

/// A suggestion for a fix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    /// The suggestion as a sentence.
    pub text: String,
    /// The edits that carry it out, if the place and the new text are known.
    pub fix: Option<Fix>,
}

/// A mistake, reported once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    /// Its severity.
    pub severity: Severity,
    /// A stable code such as `E0203`: E00xx lexical and syntax, E01xx names, E02xx types, E03xx
    /// sizes, E04xx patterns, E05xx derivatives, E06xx data, E07xx run time, E08xx warnings.
    pub code: &'static str,
    /// A one-line description.
    pub title: String,
    /// The places; the first is the primary one. Empty for problems that are not in a file.
    pub labels: Vec<Label>,
    /// Suggestions for a fix.
    pub hints: Vec<Hint>,
}

impl Problem {
    /// An error at a place.
    pub fn error(
        code: &'static str,
        title: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Problem {
        let labels = vec![Label { span, text: cut(label.into()) }];
        let title = cut(title.into());
        Problem { severity: Severity::Error, code, title, labels, hints: Vec::new() }
    }

    /// A warning at a place.
    pub fn warning(
        code: &'static str,
        title: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(code, title, span, label) }
    }

    /// An error that is not in a file.
    pub fn general(code: &'static str, title: impl Into<String>) -> Problem {
        Problem {
            severity: Severity::Error,
            code,
            title: cut(title.into()),
            labels: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Whether the problem is a bug in the compiler, not a mistake in the program.
    pub fn is_internal(&self) -> bool {
        self.title.starts_with(INTERNAL)
    }

    /// The problem with one more place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Problem {
        self.labels.push(Label { span, text: cut(text.into()) });
        self
    }

    /// The problem with one more hint.
    #[must_use]
    pub fn hint(self, text: impl Into<String>) -> Problem {
        self.advice(text, None)
    }

    /// The problem with one more hint, and the edits that carry it out.
    #[must_use]
    pub fn fix(self, text: impl Into<String>, fix: Fix) -> Problem {
        self.advice(text, Some(fix))
    }

    /// The problem with one more hint, perhaps with the edits that carry it out.
    #[must_use]
    pub fn advice(mut self, text: impl Into<String>, fix: Option<Fix>) -> Problem {
        self.hints.push(Hint { text: cut(text.into()), fix });
        self
    }

    /// The fix that a tool may apply without asking.
    pub fn certain_fix(&self) -> Option<&Fix> {
        let mut fixes = self.hints.iter().filter_map(|hint| hint.fix.as_ref());
        fixes.find(|fix| fix.applicability == Applicability::Certain)
    }
}

/// Prefix of messages about bugs in the compiler.
const INTERNAL: &str = "internal error";

/// Limit on the bytes of a sentence in a problem, because names and values in it may be as long as
/// a file.
const LONGEST: usize = 4096;

fn cut(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(LONGEST)])
}

/// A program that ran and failed: index out of range, sizes that differ, a failed check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The place in the program to blame.
    pub span: Span,
    /// The message, with all values filled in.
    pub message: String,
}

impl Failure {
    /// Whether the failure is a bug in the compiler, not of the program.
    pub fn is_internal(&self) -> bool {
        self.message.starts_with(INTERNAL)
    }
}

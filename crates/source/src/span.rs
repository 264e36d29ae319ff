//! Source files and places in them.

use std::sync::Arc;

/// Which file of a [`Sources`] a place is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u16);

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}..{}", self.file.0, self.start, self.end)
    }
}

impl Span {
    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both; `self` where the files differ.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A check that can fail at run time: what to say and where. `{0}`, `{1}` … in the message stand for the integers
/// that the failing check supplies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The place in the program to blame.
    pub span: Span,
    /// The message, with `{k}` for the k-th run-time integer.
    pub message: Arc<str>,
}

impl Site {
    /// A site that says `message` at `span`.
    pub fn new(span: Span, message: impl Into<Arc<str>>) -> Site {
        Site { span, message: message.into() }
    }

    /// The message with its placeholders filled in.
    pub fn describe(&self, values: &[i64]) -> String {
        let mut text = self.message.to_string();
        for (k, value) in values.iter().enumerate() {
            text = text.replace(&format!("{{{k}}}"), &value.to_string());
        }
        text
    }
}

/// One file: its name as the user wrote it and its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as given, or a name in angle brackets for text that is not a file.
    pub name: String,
    /// The contents.
    pub text: Arc<str>,
    /// Where what a person has written begins; what stands before is not shown, and not counted in lines and columns.
    pub shown_from: usize,
}

/// All files of one compilation.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// No files.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a file.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.files.push(Source { name: name.into(), text: text.into(), shown_from: 0 });
        FileId((self.files.len() - 1) as u16)
    }

    /// States where what a person has written begins in a file.
    pub fn show_from(&mut self, id: FileId, at: usize) {
        self.files[id.0 as usize].shown_from = at;
    }

    /// The file with this id.
    pub fn get(&self, id: FileId) -> &Source {
        &self.files[id.0 as usize]
    }

    /// All files, in the order in which they have been added.
    pub fn files(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        &self.get(span.file).text[span.start as usize..span.end as usize]
    }

    /// Line and column of the start of a span, both from 1; columns count characters.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let source = self.get(span.file);
        let start = (span.start as usize).max(source.shown_from);
        let before = &source.text[source.shown_from..start];
        let line_start = before.rfind('\n').map_or(0, |k| k + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

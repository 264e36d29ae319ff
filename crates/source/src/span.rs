//! Source files and places in them.

use std::collections::VecDeque;
use std::sync::Arc;

/// A file of a [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

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

    /// The place before its first byte.
    pub fn start(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// The place behind its last byte.
    pub fn end(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// The bytes between two spans of a file.
    pub fn between(self, next: Span) -> Span {
        Span { start: self.end, end: next.start.max(self.end), ..self }
    }

    /// The smallest span that covers both; `self` if the files differ.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A check that can fail at run time: its message and its place. `{0}`, `{1}` … in the message
/// stand for the integers that the failing check supplies, `{0:real}` for the real with these bits,
/// `{0:bool}` for the truth value that 0 or 1 means, and `{{` for a brace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The place in the program to blame.
    pub span: Span,
    /// The message, with `{k}` for the k-th run-time integer.
    pub message: Arc<str>,
    /// Whether the user wrote the check, so that a printed derivative keeps it.
    pub written: bool,
}

impl Site {
    /// A site with this message and place.
    pub fn new(span: Span, message: impl Into<Arc<str>>) -> Site {
        Site { span, message: message.into(), written: false }
    }

    /// The message with its placeholders filled in.
    pub fn describe(&self, values: &[i64]) -> String {
        let mut text = String::new();
        for part in self.parts(values.len()) {
            match part {
                Part::Text(words) => text += words,
                Part::Value(k, as_) => text += &as_.text(values[k]),
            }
        }
        text
    }

    /// The message as texts and placeholders of `count` values; consecutive texts may occur.
    pub fn parts(&self, count: usize) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        let mut rest = &*self.message;
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            parts.push(Part::Text(before));
            let (part, length) = if from.starts_with("{{") {
                (Part::Text("{"), 2)
            } else {
                placeholder(from, count).unwrap_or((Part::Text("{"), 1))
            };
            parts.push(part);
            rest = &from[length..];
        }
        parts.push(Part::Text(rest));
        parts.retain(|part| *part != Part::Text(""));
        parts
    }
}

/// A part of the message of a [`Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text as it stands.
    Text(&'a str),
    /// The value with this number.
    Value(usize, Shown),
}

/// The type as which a message shows one of its integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The integer.
    Int,
    /// The real that has these bits.
    Real,
    /// Whether it is 1.
    Bool,
}

impl Shown {
    /// The placeholder of the k-th value.
    pub fn placeholder(self, k: usize) -> String {
        match self {
            Shown::Int => format!("{{{k}}}"),
            Shown::Real => format!("{{{k}:real}}"),
            Shown::Bool => format!("{{{k}:bool}}"),
        }
    }

    /// The value as the language writes it.
    pub fn text(self, value: i64) -> String {
        match self {
            Shown::Int => value.to_string(),
            Shown::Real => format!("{:?}", f64::from_bits(value.cast_unsigned())).to_lowercase(),
            Shown::Bool => (value != 0).to_string(),
        }
    }
}

/// The placeholder at the start of a text, one of `count`, and its length.
fn placeholder(text: &str, count: usize) -> Option<(Part<'_>, usize)> {
    let end = text.find('}')?;
    let (number, shown) = match text[1..end].split_once(':') {
        None => (&text[1..end], Shown::Int),
        Some((number, "real")) => (number, Shown::Real),
        Some((number, "bool")) => (number, Shown::Bool),
        Some(_) => return None,
    };
    let k = number.parse().ok().filter(|k| *k < count)?;
    Some((Part::Value(k, shown), end + 1))
}

/// One file: its name as the user wrote it and its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as given, or a name in angle brackets for text that is not a file.
    pub name: String,
    /// The contents.
    pub text: Arc<str>,
    /// Start of the part that a person has written; the part before is not displayed, and not
    /// counted in lines and columns.
    pub shown_from: usize,
}

/// Limit on the bytes of earlier texts that are kept to display their problems.
const KEPT_BYTES: usize = 1 << 24;

/// Limit on the number of earlier files that are kept.
const KEPT_FILES: usize = 256;

/// The files of a session: shared files of all compilations, files of the current compilation, and
/// some earlier ones.
///
/// Ids are never reused. Files of earlier compilations are forgotten, oldest first, because a
/// session may process millions of texts: [`get`](Sources::get) returns an empty text for them.
#[derive(Clone, Debug)]
pub struct Sources {
    shared: Vec<Arc<Source>>,
    files: VecDeque<Arc<Source>>,
    /// The id of the first of `files`.
    first: u32,
    /// The first id of the current compilation.
    current: u32,
    /// The bytes of the texts of `files`.
    bytes: usize,
    forgotten: Arc<Source>,
}

impl Default for Sources {
    fn default() -> Sources {
        let forgotten = Source { name: "<forgotten>".into(), text: "".into(), shown_from: 0 };
        Sources {
            shared: Vec::new(),
            files: VecDeque::new(),
            first: 0,
            current: 0,
            bytes: 0,
            forgotten: Arc::new(forgotten),
        }
    }
}

impl Sources {
    /// No files.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Makes the existing files shared by all compilations: they are never forgotten.
    #[must_use]
    pub fn shared(mut self) -> Sources {
        self.shared.extend(std::mem::take(&mut self.files));
        self.first = self.shared.len() as u32;
        self.current = self.first;
        self.bytes = 0;
        self
    }

    /// Begins a new compilation.
    pub fn begin(&mut self) {
        self.current = self.first + self.files.len() as u32;
        while self.files.len() > KEPT_FILES || self.bytes > KEPT_BYTES {
            let Some(oldest) = self.files.pop_front() else { return };
            self.bytes -= oldest.text.len();
            self.first += 1;
        }
    }

    /// The shared files, and those of the current compilation.
    #[must_use]
    pub fn of_current(&self) -> Sources {
        let skipped = (self.current - self.first) as usize;
        let files: VecDeque<Arc<Source>> = self.files.iter().skip(skipped).cloned().collect();
        let bytes = files.iter().map(|file| file.text.len()).sum();
        let (shared, forgotten) = (self.shared.clone(), self.forgotten.clone());
        Sources { shared, files, first: self.current, current: self.current, bytes, forgotten }
    }

    /// Adds a file.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let source = Source { name: name.into(), text: text.into(), shown_from: 0 };
        self.bytes += source.text.len();
        self.files.push_back(Arc::new(source));
        FileId(self.first + self.files.len() as u32 - 1)
    }

    /// Sets the start of the part of a file that a person has written.
    pub fn show_from(&mut self, id: FileId, at: usize) {
        let k = id.0.checked_sub(self.first).map(|k| k as usize);
        if let Some(source) = k.and_then(|k| self.files.get_mut(k)) {
            Arc::make_mut(source).shown_from = at;
        }
    }

    /// The file with this id; an empty one, if it is forgotten.
    pub fn get(&self, id: FileId) -> &Source {
        let shared = self.shared.get(id.0 as usize);
        let own = || self.files.get(id.0.checked_sub(self.first)? as usize);
        shared.or_else(own).unwrap_or(&self.forgotten)
    }

    /// All files kept, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = &Source> {
        self.shared.iter().chain(&self.files).map(|file| &**file)
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Line and column of the start of a span, both from 1; columns count characters.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let source = self.get(span.file);
        let start = (span.start as usize).min(source.text.len()).max(source.shown_from);
        let before = &source.text[source.shown_from..start];
        let line_start = before.rfind('\n').map_or(0, |k| k + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_texts_have_ids_of_their_own_and_little_memory() {
        let mut sources = Sources::new();
        let library = sources.add("<library>", "def id x = x");
        let mut sources = sources.shared();
        let mut last = library;
        for k in 0..1_000_000 {
            sources.begin();
            let file = sources.add("<input>", format!("def f = {k}"));
            assert!(file > last);
            last = file;
            let import = sources.add("<import>", "def g = 1");
            let span = Span::new(file, 8, sources.get(file).text.len());
            assert_eq!(sources.text(span), k.to_string());
            assert_eq!(&*sources.get(import).name, "<import>");
            assert_eq!(&*sources.get(library).name, "<library>");
            last = last.max(import);
        }
        assert!(sources.files().count() <= KEPT_FILES + 4, "{}", sources.files().count());
        let of_current = sources.of_current();
        assert_eq!(of_current.files().count(), 3);
        assert_eq!(of_current.get(last).name, "<import>");
        let early = Span::new(FileId(1), 4, 5);
        assert_eq!((sources.text(early), sources.line_column(early)), ("", (1, 1)));
    }

    #[test]
    fn a_large_text_is_kept_until_others_follow() {
        let mut sources = Sources::new();
        sources.begin();
        let large = sources.add("<large>", "x".repeat(2 * KEPT_BYTES));
        assert_eq!(sources.get(large).text.len(), 2 * KEPT_BYTES);
        sources.begin();
        let small = sources.add("<small>", "y");
        assert_eq!(&*sources.get(small).text, "y");
        assert_eq!(&*sources.get(large).text, "");
    }
}

//! Fixes: edits of a text that carry out the suggestion of a hint.

use crate::{FileId, Span};

/// Whether a tool may apply a fix without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Applicability {
    /// The text means only this.
    Certain,
    /// The intention is guessed: another name, a conversion, an order of arguments.
    Probable,
    /// The new text has a [`HOLE`] that the user fills in.
    Placeholders,
}

/// The part of a new text that only the user knows.
pub const HOLE: &str = "…";

/// Text in the place of a span, which is empty for an insertion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The replaced part.
    pub span: Span,
    /// The text in its place.
    pub text: String,
}

/// Edits of one file that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fix {
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
    /// Whether a tool may apply them without asking.
    pub applicability: Applicability,
}

impl Fix {
    /// A text in the place of a span.
    pub fn replace(span: Span, text: impl Into<String>) -> Fix {
        let edits = vec![Edit { span, text: text.into() }];
        Fix { edits, applicability: Applicability::Certain }
    }

    /// No text in the place of a span.
    pub fn remove(span: Span) -> Fix {
        Fix::replace(span, "")
    }

    /// A text before a span.
    pub fn before(span: Span, text: impl Into<String>) -> Fix {
        Fix::replace(span.start(), text)
    }

    /// A text behind a span.
    pub fn behind(span: Span, text: impl Into<String>) -> Fix {
        Fix::replace(span.end(), text)
    }

    /// Texts on both sides of a span.
    pub fn around(span: Span, before: &str, behind: &str) -> Fix {
        Fix::before(span, before).and(Fix::behind(span, behind))
    }

    /// Parentheses around a span.
    pub fn parentheses(span: Span) -> Fix {
        Fix::around(span, "(", ")")
    }

    /// Both fixes together.
    #[must_use]
    pub fn and(mut self, other: Fix) -> Fix {
        self.edits.extend(other.edits);
        self.applicability = self.applicability.max(other.applicability);
        self
    }

    /// The fix as a guess.
    #[must_use]
    pub fn probable(self) -> Fix {
        let applicability = self.applicability.max(Applicability::Probable);
        Fix { applicability, ..self }
    }

    /// The fix with [`HOLE`]s in its text.
    #[must_use]
    pub fn with_holes(self) -> Fix {
        Fix { applicability: Applicability::Placeholders, ..self }
    }

    /// The text of a file after the fix; `None` if the edits overlap or lie outside of it.
    pub fn apply(&self, file: FileId, text: &str) -> Option<String> {
        apply(&self.edits.iter().collect::<Vec<_>>(), file, text)
    }

    /// Whether the sentence of the hint already quotes the new text.
    pub(crate) fn is_quoted_by(&self, sentence: &str) -> bool {
        self.edits.iter().all(|edit| {
            let text = edit.text.trim();
            !text.is_empty() && sentence.contains(&format!("`{text}`"))
        })
    }
}

fn apply(edits: &[&Edit], file: FileId, text: &str) -> Option<String> {
    let mut sorted = edits.to_vec();
    // Insertions at one place keep their order.
    sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut new, mut at) = (String::new(), 0);
    for edit in sorted {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        if edit.span.file != file || start < at || end < start {
            return None;
        }
        new.push_str(text.get(at..start)?);
        text.get(start..end)?;
        new.push_str(&edit.text);
        at = end;
    }
    new.push_str(text.get(at..)?);
    Some(new)
}

/// The text of a file after some fixes, and the number of those applied. A fix that overlaps an
/// earlier one waits for another round.
pub fn mend<'f>(
    fixes: impl IntoIterator<Item = &'f Fix>,
    file: FileId,
    text: &str,
) -> (String, usize) {
    let (mut edits, mut current, mut count) = (Vec::new(), text.to_string(), 0);
    for fix in fixes {
        let known = edits.len();
        edits.extend(fix.edits.iter());
        match apply(&edits, file, text).filter(|_| !repeats(&edits, known)) {
            Some(new) => (current, count) = (new, count + 1),
            None => edits.truncate(known),
        }
    }
    (current, count)
}

/// Whether an edit from `known` on touches the place of an earlier one.
fn repeats(edits: &[&Edit], known: usize) -> bool {
    let (earlier, new) = edits.split_at(known);
    new.iter().any(|edit| {
        earlier
            .iter()
            .any(|other| edit.span.start <= other.span.end && other.span.start <= edit.span.end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span::new(FileId(0), start, end)
    }

    #[test]
    fn edits_of_one_text() {
        let check = |fix: Fix, expect: Option<&str>| {
            assert_eq!(fix.apply(FileId(0), "f x = y").as_deref(), expect);
        };
        check(Fix::replace(span(4, 5), "=="), Some("f x == y"));
        check(Fix::before(span(0, 1), "def "), Some("def f x = y"));
        check(Fix::parentheses(span(6, 7)), Some("f x = (y)"));
        check(Fix::remove(span(1, 3)), Some("f = y"));
        check(Fix::remove(span(1, 3)).and(Fix::remove(span(2, 4))), None);
        check(Fix::remove(span(1, 30)), None);
        check(Fix::remove(Span::new(FileId(1), 0, 1)), None);
    }

    #[test]
    fn certain_fixes_together() {
        let fixes = [
            Fix::replace(span(0, 1), "g"),
            Fix::replace(span(0, 1), "h"),
            Fix::replace(span(6, 7), "x"),
        ];
        assert_eq!(mend(&fixes, FileId(0), "f x = y"), ("g x = x".to_string(), 2));
    }
}

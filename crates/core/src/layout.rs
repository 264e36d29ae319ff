//! A small pretty printer: documents whose groups are laid out on one line if they fit, otherwise with all their breaks as new lines.

/// A document.
#[derive(Clone, Debug)]
pub(crate) enum Doc {
    /// Text without new lines.
    Text(String),
    /// One after the other.
    Concat(Vec<Doc>),
    /// A space, or a new line where the group around it does not fit.
    Line,
    /// Nothing, or a new line where the group around it does not fit.
    SoftLine,
    /// A new line; no group around it fits.
    HardLine,
    /// Two more spaces after its new lines.
    Nest(Box<Doc>),
    /// Laid out on one line if that fits.
    Group(Box<Doc>),
}

/// How wide a line may be.
const WIDTH: usize = 100;

/// Text.
pub(crate) fn text(text: impl Into<String>) -> Doc {
    Doc::Text(text.into())
}

/// One after the other.
pub(crate) fn concat(docs: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::Concat(docs.into_iter().collect())
}

/// On one line if that fits.
pub(crate) fn group(doc: Doc) -> Doc {
    Doc::Group(Box::new(doc))
}

/// Indented.
pub(crate) fn nest(doc: Doc) -> Doc {
    Doc::Nest(Box::new(doc))
}

/// Documents with a separator and a line between them.
pub(crate) fn separated(docs: Vec<Doc>, separator: &str) -> Doc {
    let mut all = Vec::new();
    for (k, doc) in docs.into_iter().enumerate() {
        if k > 0 {
            all.extend([text(separator), Doc::Line]);
        }
        all.push(doc);
    }
    Doc::Concat(all)
}

/// `open`, the documents with commas, `close`.
pub(crate) fn enclosed(open: &str, docs: Vec<Doc>, close: &str) -> Doc {
    if docs.is_empty() {
        return text(format!("{open}{close}"));
    }
    group(concat([
        text(open),
        nest(concat([Doc::SoftLine, separated(docs, ",")])),
        Doc::SoftLine,
        text(close),
    ]))
}

/// The text of a document.
pub(crate) fn render(doc: &Doc) -> String {
    let (mut out, mut column) = (String::new(), 0);
    let mut work = vec![(0, false, doc)];
    while let Some((indent, flat, doc)) = work.pop() {
        match doc {
            Doc::Text(text) => {
                out.push_str(text);
                column += text.chars().count();
            }
            Doc::Concat(docs) => work.extend(docs.iter().rev().map(|doc| (indent, flat, doc))),
            Doc::Line if flat => {
                out.push(' ');
                column += 1;
            }
            Doc::SoftLine if flat => {}
            Doc::Line | Doc::SoftLine | Doc::HardLine => {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            }
            Doc::Nest(inner) => work.push((indent + 2, flat, inner)),
            Doc::Group(inner) => {
                work.push((indent, flat || fits(inner, WIDTH.saturating_sub(column)), inner))
            }
        }
    }
    out
}

/// Does the document fit on the rest of a line? Looks at no more than the rest of the line.
fn fits(doc: &Doc, mut room: usize) -> bool {
    let mut work = vec![doc];
    while let Some(doc) = work.pop() {
        let width = match doc {
            Doc::Text(text) => text.chars().count(),
            Doc::Line => 1,
            Doc::SoftLine => 0,
            Doc::HardLine => return false,
            Doc::Concat(docs) => {
                work.extend(docs.iter().rev());
                0
            }
            Doc::Nest(inner) | Doc::Group(inner) => {
                work.push(inner);
                0
            }
        };
        if width > room {
            return false;
        }
        room -= width;
    }
    true
}

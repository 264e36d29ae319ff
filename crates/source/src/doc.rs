//! Pretty-printing documents: text with places where a line may break, laid out for a width.
//!
//! A [`Doc`] has groups ([`Doc::group`]: all on one line or all broken) and indentation for broken
//! lines ([`Doc::nest`]); [`Doc::render`] chooses a layout. After Oppen (1980) and Wadler (2003).
//! Linear time, and no recursion in the number of siblings, so long spines should be flat lists
//! ([`Doc::concat`]).

use std::ops::Add;
use std::rc::Rc;

/// A document with open layout choices.
#[derive(Clone, Debug)]
pub struct Doc {
    node: Rc<Node>,
    /// Whether it contains a line break that always breaks, so every group around it is broken.
    broken: bool,
}

#[derive(Debug)]
enum Node {
    Text(String),
    /// A line break, or this text if its group is on one line.
    Line(&'static str),
    HardLine,
    /// A line without indentation, for an empty line between paragraphs.
    EmptyLine,
    Concat(Vec<Doc>),
    Nest(usize, Doc),
    Group(Doc),
    /// Elements that fill each line.
    Fill(Vec<Doc>),
    /// The first if the group around it is broken, otherwise the second.
    IfBroken(Doc, Doc),
    /// Text for the end of the line.
    Trailing(String),
    /// Two layouts of the same text, between which an author may have chosen.
    Choice {
        about: About,
        joined: Doc,
        apart: Doc,
        default: Side,
    },
}

/// The difference between the layouts of a [`Doc::choice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A line break where the choice begins.
    Break,
    /// Spaces around its operators.
    Spaces,
}

/// One of the layouts of a [`Doc::choice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Joined,
    /// The second.
    Apart,
}

/// Callbacks of [`Doc::rewrite`], from left to right.
pub trait Rewrite {
    /// The replacement of a text.
    fn text(&mut self, text: &str) -> Doc;

    /// The replacement of the line break `line`.
    fn line(&mut self, line: &Doc) -> Doc;

    /// The end of a fill's element before a possible break, and the start of the next element.
    fn between(&mut self) -> (Doc, Doc);

    /// The chosen layout.
    fn side(&mut self, about: About) -> Side;

    /// The number of texts rewritten, in any unit.
    fn place(&self) -> usize {
        0
    }

    /// Additional indentation for the lines between two places.
    fn deeper(&mut self, _from: usize, _to: usize) -> usize {
        0
    }
}

impl Doc {
    fn new(node: Node, broken: bool) -> Doc {
        Doc { node: Rc::new(node), broken }
    }

    /// The empty document.
    pub fn nil() -> Doc {
        Doc::concat([])
    }

    /// Text without line breaks.
    pub fn text(text: impl Into<String>) -> Doc {
        Doc::new(Node::Text(text.into()), false)
    }

    /// A line break, or a space if its group fits on one line.
    pub fn line() -> Doc {
        Doc::new(Node::Line(" "), false)
    }

    /// A line break, or nothing if its group fits on one line.
    pub fn soft_line() -> Doc {
        Doc::new(Node::Line(""), false)
    }

    /// A line break, always.
    pub fn hard_line() -> Doc {
        Doc::new(Node::HardLine, true)
    }

    /// A line break, always, without indentation; for empty lines.
    pub fn empty_line() -> Doc {
        Doc::new(Node::EmptyLine, true)
    }

    /// A sequence of documents.
    pub fn concat(docs: impl IntoIterator<Item = Doc>) -> Doc {
        let docs: Vec<Doc> = docs.into_iter().collect();
        let broken = docs.iter().any(|doc| doc.broken);
        Doc::new(Node::Concat(docs), broken)
    }

    /// A sequence with `separator` between the documents.
    pub fn join(separator: &Doc, docs: impl IntoIterator<Item = Doc>) -> Doc {
        let mut parts = Vec::new();
        for doc in docs {
            if !parts.is_empty() {
                parts.push(separator.clone());
            }
            parts.push(doc);
        }
        Doc::concat(parts)
    }

    /// A sequence separated by spaces, or by line breaks where the next document does not fit.
    pub fn fill(docs: impl IntoIterator<Item = Doc>) -> Doc {
        let docs: Vec<Doc> = docs.into_iter().collect();
        let broken = docs.iter().any(|doc| doc.broken);
        Doc::new(Node::Fill(docs), broken)
    }

    /// The document with `indent` more columns after each of its line breaks.
    #[must_use]
    pub fn nest(self, indent: usize) -> Doc {
        let broken = self.broken;
        Doc::new(Node::Nest(indent, self), broken)
    }

    /// On one line if it fits, otherwise every line break directly inside breaks.
    #[must_use]
    pub fn group(self) -> Doc {
        let broken = self.broken;
        Doc::new(Node::Group(self), broken)
    }

    /// `broken` if the group around it is broken, otherwise `flat`.
    pub fn if_broken(broken: Doc, flat: Doc) -> Doc {
        let hard = flat.broken;
        Doc::new(Node::IfBroken(broken, flat), hard)
    }

    /// Text without line breaks for the end of its line. It takes no room, and the next line break
    /// breaks only if it has to.
    pub fn trailing(text: impl Into<String>) -> Doc {
        Doc::new(Node::Trailing(text.into()), false)
    }

    /// A group that is broken if it takes more than `most` columns on one line, even if there is
    /// room.
    #[must_use]
    pub fn short_group(self, most: usize) -> Doc {
        let long = self.measured(most).is_none();
        if long { (Doc::breaking() + self).group() } else { self.group() }
    }

    /// `most` minus the columns of the document on one line; `None` if it needs more, or cannot be
    /// on one line. Choices are taken as joined.
    fn measured(&self, most: usize) -> Option<usize> {
        match &*self.node {
            Node::Text(text) => most.checked_sub(text.chars().count()),
            Node::Line(text) => most.checked_sub(text.len()),
            Node::HardLine | Node::EmptyLine => None,
            Node::Trailing(_) => Some(most),
            Node::Concat(docs) if docs.is_empty() && self.broken => None,
            Node::Concat(docs) => docs.iter().try_fold(most, |left, doc| doc.measured(left)),
            Node::Fill(docs) => {
                let spaces = docs.len().saturating_sub(1);
                docs.iter().try_fold(most.checked_sub(spaces)?, |left, doc| doc.measured(left))
            }
            Node::Nest(_, doc) | Node::Group(doc) => doc.measured(most),
            Node::IfBroken(_, flat) => flat.measured(most),
            Node::Choice { joined, .. } => joined.measured(most),
        }
    }

    /// Two layouts of the same text. Without [`Doc::rewrite`], the default is taken.
    pub fn choice(about: About, joined: Doc, apart: Doc, default: Side) -> Doc {
        let broken = match default {
            Side::Joined => joined.broken,
            Side::Apart => apart.broken,
        };
        Doc::new(Node::Choice { about, joined, apart, default }, broken)
    }

    /// The empty document, with every group around it broken.
    pub fn breaking() -> Doc {
        Doc::new(Node::Concat(Vec::new()), true)
    }

    /// The document with other texts and line breaks. Parts that depend on whether a group is
    /// broken stay unchanged.
    #[must_use]
    pub fn rewrite(&self, by: &mut dyn Rewrite) -> Doc {
        match &*self.node {
            Node::Text(text) => by.text(text),
            Node::Line(_) | Node::HardLine => by.line(self),
            Node::EmptyLine | Node::IfBroken(..) => self.clone(),
            Node::Trailing(_) => self.clone(),
            Node::Concat(docs) if docs.is_empty() => self.clone(),
            Node::Concat(docs) => {
                let from = by.place();
                let docs: Vec<Doc> = docs.iter().map(|doc| doc.rewrite(by)).collect();
                match by.deeper(from, by.place()) {
                    0 => Doc::concat(docs),
                    more => Doc::concat(docs).nest(more),
                }
            }
            Node::Choice { about, joined, apart, .. } => match by.side(*about) {
                Side::Joined => joined.rewrite(by),
                Side::Apart => apart.rewrite(by),
            },
            Node::Nest(indent, doc) => doc.rewrite(by).nest(*indent),
            Node::Group(doc) => doc.rewrite(by).group(),
            Node::Fill(docs) => {
                let mut parts: Vec<Doc> = Vec::new();
                for doc in docs {
                    let Some(last) = parts.pop() else {
                        parts.push(doc.rewrite(by));
                        continue;
                    };
                    let (end, start) = by.between();
                    parts.push(last + end);
                    parts.push(start + doc.rewrite(by));
                }
                Doc::fill(parts)
            }
        }
    }

    /// `open items, items close`: on one line, or one line for each item.
    pub fn brackets(open: &str, items: impl IntoIterator<Item = Doc>, close: &str) -> Doc {
        let mut items = items.into_iter().peekable();
        let inner = match items.peek() {
            Some(_) => Doc::soft_line() + Doc::join(&(Doc::text(",") + Doc::line()), items),
            None => Doc::nil(),
        };
        (Doc::text(open) + inner.nest(2) + Doc::soft_line() + Doc::text(close)).group()
    }

    /// The text with lines of at most `width` characters, as far as the breaks allow.
    pub fn render(&self, width: usize) -> String {
        Layout { width, column: 0, trailing: Vec::new(), out: String::new() }.run(self)
    }
}

impl Add for Doc {
    type Output = Doc;

    fn add(self, other: Doc) -> Doc {
        Doc::concat([self, other])
    }
}

impl From<&str> for Doc {
    fn from(text: &str) -> Doc {
        Doc::text(text)
    }
}

#[derive(Clone, Copy)]
enum Work<'a> {
    /// Lays out a document: indentation, whether flat, document.
    Put(usize, bool, &'a Doc),
    /// A space or a line break before the next element of a fill.
    FillLine(usize, &'a Doc),
}

struct Layout {
    width: usize,
    column: usize,
    /// Trailing texts for the end of the current line.
    trailing: Vec<String>,
    out: String,
}

impl Layout {
    fn run(mut self, doc: &Doc) -> String {
        let mut stack = vec![Work::Put(0, false, doc)];
        while let Some(work) = stack.pop() {
            match work {
                Work::Put(indent, flat, doc) => self.put(&mut stack, indent, flat, doc),
                Work::FillLine(indent, next) => {
                    if !next.broken && self.fits(&[], next, 1) {
                        self.text(" ");
                    } else {
                        self.new_line(indent);
                    }
                }
            }
        }
        self.end_line();
        self.out
    }

    fn put<'a>(&mut self, stack: &mut Vec<Work<'a>>, indent: usize, flat: bool, doc: &'a Doc) {
        match &*doc.node {
            Node::Text(text) => self.text(text),
            Node::Trailing(text) => self.trailing.push(text.clone()),
            Node::Line(text) if flat => self.text(text),
            Node::Line(_) | Node::HardLine => self.new_line(indent),
            Node::EmptyLine => self.new_line(0),
            Node::Concat(docs) => {
                stack.extend(docs.iter().rev().map(|doc| Work::Put(indent, flat, doc)))
            }
            Node::Nest(more, doc) => stack.push(Work::Put(indent + more, flat, doc)),
            Node::Group(doc) => {
                let flat = flat || (!doc.broken && self.fits(stack, doc, 0));
                stack.push(Work::Put(indent, flat, doc));
            }
            Node::IfBroken(_, doc) if flat => stack.push(Work::Put(indent, flat, doc)),
            Node::IfBroken(doc, _) => stack.push(Work::Put(indent, flat, doc)),
            Node::Choice { joined: doc, default: Side::Joined, .. }
            | Node::Choice { apart: doc, default: Side::Apart, .. } => {
                stack.push(Work::Put(indent, flat, doc))
            }
            Node::Fill(docs) => {
                for (k, doc) in docs.iter().enumerate().rev() {
                    stack.push(Work::Put(indent, flat, doc));
                    if k > 0 {
                        stack.push(Work::FillLine(indent, doc));
                    }
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    /// Ends a line without trailing spaces.
    fn end_line(&mut self) {
        for text in std::mem::take(&mut self.trailing) {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            self.text(" ");
            self.text(&text);
        }
    }

    fn new_line(&mut self, indent: usize) {
        self.end_line();
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Whether `doc` on one line, with the rest up to the next possible break, fits after `used`
    /// more columns.
    fn fits(&self, rest: &[Work], doc: &Doc, used: usize) -> bool {
        let Some(mut room) = self.width.checked_sub(self.column + used) else { return false };
        let mut stack = vec![(true, doc)];
        let mut rest = rest.iter().rev();
        loop {
            let Some((flat, doc)) = stack.pop().or_else(|| match rest.next() {
                Some(Work::Put(_, flat, doc)) => Some((*flat, *doc)),
                Some(Work::FillLine(..)) | None => None,
            }) else {
                return true;
            };
            match &*doc.node {
                Node::Text(text) => match room.checked_sub(text.chars().count()) {
                    Some(left) => room = left,
                    None => return false,
                },
                Node::Line(text) if flat => match room.checked_sub(text.len()) {
                    Some(left) => room = left,
                    None => return false,
                },
                Node::Line(_) | Node::HardLine | Node::EmptyLine => return true,
                Node::Trailing(_) => {}
                Node::Concat(docs) => stack.extend(docs.iter().rev().map(|doc| (flat, doc))),
                Node::Fill(docs) => {
                    stack.extend(docs.iter().rev().map(|doc| (flat, doc)));
                    match room.checked_sub(docs.len().saturating_sub(1)) {
                        Some(left) => room = left,
                        None => return false,
                    }
                }
                Node::Nest(_, doc) | Node::Group(doc) => stack.push((flat, doc)),
                Node::IfBroken(broken, when_flat) => {
                    stack.push((flat, if flat { when_flat } else { broken }))
                }
                Node::Choice { joined: doc, default: Side::Joined, .. }
                | Node::Choice { apart: doc, default: Side::Apart, .. } => stack.push((flat, doc)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(doc: &Doc, width: usize, expect: &str) {
        assert_eq!(doc.render(width), expect);
    }

    #[test]
    fn groups_break_as_a_whole() {
        let doc = Doc::text("f(")
            + (Doc::soft_line() + "a,".into() + Doc::line() + "b".into()).nest(2).group()
            + ")".into();
        check(&doc, 8, "f(a, b)");
        check(&doc, 6, "f(\n  a,\n  b)");
    }

    #[test]
    fn inner_groups_stay_flat() {
        let pair = Doc::brackets("(", ["aaa".into(), "bbb".into()], ")");
        let doc = Doc::brackets("[", [pair.clone(), pair], "]");
        check(&doc, 24, "[(aaa, bbb), (aaa, bbb)]");
        check(&doc, 20, "[\n  (aaa, bbb),\n  (aaa, bbb)\n]");
    }

    #[test]
    fn fill_wraps() {
        let doc = Doc::text("[")
            + Doc::fill((0..6).map(|k| Doc::text(format!("{k},")))).nest(1)
            + "]".into();
        check(&doc, 10, "[0, 1, 2,\n 3, 4, 5,]");
    }

    #[test]
    fn hard_lines_break_their_groups() {
        check(
            &(Doc::text("a") + Doc::line() + "b".into() + Doc::hard_line() + "c".into()).group(),
            80,
            "a\nb\nc",
        );
        check(
            &(Doc::text("a") + (Doc::empty_line() + Doc::hard_line() + "b".into()).nest(2)),
            80,
            "a\n\n  b",
        );
    }

    #[test]
    fn what_trails_comes_at_the_end_of_its_line() {
        let list = |gap: Doc| Doc::brackets("[", [Doc::from("a") + gap, "b".into()], "]");
        check(&list(Doc::trailing("-- c")), 80, "[a, b] -- c");
        check(&list(Doc::trailing("-- c") + Doc::breaking()), 80, "[\n  a, -- c\n  b\n]");
    }

    #[test]
    fn short_groups_break_before_they_must() {
        let doc = (Doc::text("aaa") + Doc::line() + "bbb".into()).short_group(7);
        check(&doc, 80, "aaa bbb");
        let doc = (Doc::text("aaa") + Doc::line() + "bbbb".into()).short_group(7);
        check(&doc, 80, "aaa\nbbbb");
        check(&(Doc::text("x") + Doc::line() + doc).group(), 80, "x\naaa\nbbbb");
    }

    #[test]
    fn choices_have_a_default() {
        let choice =
            |side| Doc::text("a") + Doc::choice(About::Break, " ".into(), Doc::hard_line(), side);
        check(&(choice(Side::Joined) + "b".into()), 80, "a b");
        check(&(choice(Side::Apart) + "b".into()), 80, "a\nb");
    }

    #[test]
    fn long_lists_need_no_stack() {
        let doc = Doc::concat((0..200_000).map(|_| Doc::text("x") + Doc::line())).group();
        assert_eq!(doc.render(10).lines().count(), 200_000);
    }
}

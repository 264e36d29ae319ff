//! Files and items with their comments: comments inside of an item belong to it ([`weave`]), those
//! between items stay in their places.

use std::ops::Range;

use lambada_source::Doc;

use super::weave::{Written, comment_text, empty_before, own_line, weave};
use super::{WIDTH, bare_item, is_import};
use crate::ast::{Item, Module};

/// A whole file. Items are separated by an empty line, except imports, and except where the text
/// has none between items of one line each, or between an item and a comment about it below.
pub(super) fn file(module: &Module, written: &Written) -> Doc {
    let mut parts = Parts { written, parts: Vec::new(), comments: 0 };
    let (mut import, mut short) = (false, false);
    for one in &module.items {
        let start = one.span().start as usize;
        let comments = parts.comments..first_comment(written, start);
        let on_line = is_short(written, one);
        let together = short && on_line && !empty_before(written.text, start);
        let below = is_below(written, &comments)
            && (parted(written, &comments, start) || (short && on_line));
        let joined = below || comments.is_empty() && (together || import && is_import(one));
        parts.separate(joined);
        parts.comments(comments, empty_before(written.text, start));
        parts.item(one);
        (import, short) = (is_import(one), on_line);
    }
    let rest = parts.comments..written.comments.len();
    if !rest.is_empty() {
        parts.separate(is_below(written, &rest));
        parts.comments(rest, false);
    }
    Doc::concat(parts.parts)
}

/// Whether these comments begin directly below the previous line.
fn is_below(written: &Written, comments: &Range<usize>) -> bool {
    !comments.is_empty()
        && !empty_before(written.text, written.comments[comments.start].start as usize)
}

/// Whether there is an empty line between these comments, or between them and the item below.
fn parted(written: &Written, comments: &Range<usize>, item: usize) -> bool {
    let others = comments.clone().skip(1).map(|k| written.comments[k].start as usize);
    others.chain([item]).any(|place| empty_before(written.text, place))
}

/// Whether the item fits on one line, without comments.
fn is_short(written: &Written, item: &Item) -> bool {
    let span = item.span();
    let commented =
        first_comment(written, span.start as usize) != first_comment(written, span.end as usize);
    !commented && !woven(written, item, 0..0).0.render(WIDTH).contains('\n')
}

/// The layout of an item with these of its comments, and the comments left over.
fn woven(written: &Written, item: &Item, comments: Range<usize>) -> (Doc, Range<usize>) {
    let span = item.span();
    let place = |at: u32| written.tokens.partition_point(|token| token.span.start < at);
    weave(&bare_item(item), written, place(span.start)..place(span.end), comments)
}

/// One item with its comments: those directly above it, and its doc comment.
pub(super) fn one(written: &Written, item: &Item) -> Doc {
    let start = item.span().start as usize;
    let documented = match item {
        Item::Def(def) => def.doc.is_some(),
        Item::Type(def) => def.doc.is_some(),
        Item::Import(_) => false,
    };
    let end = first_comment(written, start);
    let mut first = end;
    let mut place = start;
    while first > 0
        && own_line(written, first - 1)
        && follows(written, first - 1, start)
        && (!empty_before(written.text, place) || (documented && first == end))
    {
        first -= 1;
        place = written.comments[first].start as usize;
    }
    let mut parts = Parts { written, parts: Vec::new(), comments: first };
    parts.comments(first..end, false);
    parts.item(item);
    Doc::concat(parts.parts)
}

/// Whether there is no token between the comment and the place.
fn follows(written: &Written, comment: usize, place: usize) -> bool {
    let start = written.comments[comment].start as usize;
    let next = written.tokens.partition_point(|token| (token.span.start as usize) < start);
    written.tokens.get(next).is_none_or(|token| token.span.start as usize >= place)
}

/// The first comment after a place.
fn first_comment(written: &Written, place: usize) -> usize {
    written.comments.partition_point(|comment| (comment.start as usize) < place)
}

struct Parts<'a> {
    written: &'a Written<'a>,
    /// The parts so far, each with the end of its last line.
    parts: Vec<Doc>,
    /// The next comment.
    comments: usize,
}

impl Parts<'_> {
    fn separate(&mut self, joined: bool) {
        if !self.parts.is_empty() && !joined {
            self.parts.push(Doc::empty_line());
        }
    }

    /// Comments on lines of their own; `detached`: whether an empty line follows.
    fn comments(&mut self, range: Range<usize>, detached: bool) {
        for k in range.clone() {
            let start = self.written.comments[k].start as usize;
            if k > range.start && empty_before(self.written.text, start) {
                self.parts.push(Doc::empty_line());
            }
            self.parts.push(Doc::text(comment_text(self.written, k)) + Doc::hard_line());
        }
        if detached && !range.is_empty() {
            self.parts.push(Doc::empty_line());
        }
        self.comments = range.end;
    }

    /// An item, with a comment at the end of its last line.
    fn item(&mut self, item: &Item) {
        let span = item.span();
        let comments = self.comments..first_comment(self.written, span.end as usize);
        let (doc, left) = woven(self.written, item, comments);
        self.comments = left.start;
        let next = self.comments;
        let inside = !left.is_empty();
        let behind = next < self.written.comments.len()
            && !own_line(self.written, next)
            && follows_on_line(self.written, span.end as usize, next);
        let trailing = if inside || behind {
            self.comments += 1;
            Doc::trailing(comment_text(self.written, next))
        } else {
            Doc::nil()
        };
        self.parts.push(doc + trailing + Doc::hard_line());
    }
}

/// Whether the comment is on the last line of an item.
fn follows_on_line(written: &Written, end: usize, comment: usize) -> bool {
    let start = written.comments[comment].start as usize;
    start >= end && !written.text[end..start].contains('\n')
}

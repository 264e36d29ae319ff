//! The line breaks of an author that the layout keeps.
//!
//! chosen : layout of an item × its tokens in the text ⟶ layout of the item without choices
//!
//! Many constructs may be on one line or on several, and the better choice depends on their
//! meaning. So the layout keeps a break
//! - after `=`, `=>`, `->`, `do`, `then`, `else` and `;`,
//! - before the body of a `let`, and before `else`, `with`, `|` and infix operators,
//! - between the parameters of a definition, and between numbers in a list,
//! - in brackets: after the opening one, and after the commas if there is one after each of them.
//!
//! Sizes without spaces stay, too: `[d*(d-1)//2]`.
//!
//! Keeps: a break made by the layout for lack of room is kept when formatting again, so formatting
//! is idempotent.

use lambada_source::{About, Doc, Rewrite, Side};

use super::words::{Nearest, Word, lex};
use crate::token::{Keyword, Token, TokenKind};

/// The layout with the choices of the author.
pub(super) fn chosen(doc: &Doc, out: &[Word], nearest: &Nearest, source: &[Token]) -> Doc {
    doc.rewrite(&mut Author { out, nearest, source, lists: lists(source), at: 0 })
}

/// The layout with as few lines as possible.
pub(super) fn joined(doc: &Doc) -> Doc {
    doc.rewrite(&mut Joined)
}

struct Joined;

impl Rewrite for Joined {
    fn text(&mut self, text: &str) -> Doc {
        Doc::text(text)
    }

    fn line(&mut self, line: &Doc) -> Doc {
        line.clone()
    }

    fn between(&mut self) -> (Doc, Doc) {
        (Doc::nil(), Doc::nil())
    }

    fn side(&mut self, _: About) -> Side {
        Side::Joined
    }
}

struct Author<'a> {
    /// The tokens of the layout.
    out: &'a [Word<'a>],
    /// For each of them the nearest tokens of the text.
    nearest: &'a Nearest,
    /// The tokens of the text.
    source: &'a [Token],
    /// For each token of the text the list around it.
    lists: Vec<List>,
    /// The next token of the layout.
    at: usize,
}

/// A list in brackets.
#[derive(Clone, Copy)]
struct List {
    /// Number of brackets opened before it.
    number: usize,
    /// Whether there is a line break after each comma.
    by_line: bool,
    /// Whether the closing bracket starts a line.
    closed_below: bool,
}

/// For each token the innermost list around it; an opening bracket belongs to the list that it
/// opens.
fn lists(source: &[Token]) -> Vec<List> {
    let list = |number| List { number, by_line: true, closed_below: false };
    let mut all = vec![list(0)];
    let mut around = vec![0];
    let mut places = Vec::with_capacity(source.len());
    for (k, token) in source.iter().enumerate() {
        if matches!(token.kind, TokenKind::Open(_)) {
            around.push(all.len());
            all.push(list(all.len()));
        }
        let here = around.last().copied().unwrap_or(0);
        places.push(here);
        let next = source.get(k + 1);
        let last = next.is_some_and(|next| matches!(next.kind, TokenKind::Close(_)));
        if token.kind == TokenKind::Comma && !last {
            all[here].by_line &= next.is_some_and(|next| next.starts_line);
        }
        if matches!(token.kind, TokenKind::Close(_)) {
            all[here].closed_below = token.starts_line;
            around.pop();
        }
    }
    places.into_iter().map(|place| all[place]).collect()
}

impl Author<'_> {
    /// Whether the author began a line between the last token of the layout and the next one.
    fn breaks(&self) -> bool {
        let Some((last, next)) = self.around() else { return false };
        self.source[last + 1..=next].iter().any(|token| token.starts_line)
    }

    /// The tokens of the text before and after the current place.
    fn around(&self) -> Option<(usize, usize)> {
        let (last, next) = (self.nearest.last(self.at)?, self.nearest.next(self.at)?);
        (last < next).then_some((last, next))
    }

    /// The list around the last token.
    fn list(&self) -> Option<List> {
        self.around().map(|(last, _)| self.lists[last])
    }

    /// Whether an operator inside of the bracket just opened touches the token before it.
    fn tight(&self) -> bool {
        let Some((open, first)) = self.around() else { return false };
        let inside = self.source[first..].iter().zip(&self.lists[first..]);
        inside
            .take_while(|(_, list)| list.number >= self.lists[open].number)
            .any(|(token, _)| matches!(token.kind, TokenKind::Op(_)) && token.touches)
    }

    fn last(&self) -> Option<TokenKind> {
        self.at.checked_sub(1).map(|last| self.out[last].kind)
    }

    /// Whether the layout keeps the author's line break at this place.
    fn keeps(&self) -> bool {
        let comma = matches!(self.last(), Some(TokenKind::Comma));
        comma && self.list().is_some_and(|list| list.by_line)
            || self.last().is_some_and(leads)
            || self.out.get(self.at).is_some_and(|next| starts(next.kind))
    }
}

/// Whether the next token may stand on a line of its own.
fn leads(kind: TokenKind) -> bool {
    use TokenKind::{Arrow, Equals, FatArrow, Open, Semicolon};
    matches!(kind, Equals | Arrow | FatArrow | Semicolon | Open(_))
        || matches!(
            kind,
            TokenKind::Keyword(Keyword::Do | Keyword::Then | Keyword::Else | Keyword::In)
        )
}

/// Whether the token may begin a line.
fn starts(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Bar | TokenKind::Op(_))
        || matches!(kind, TokenKind::Keyword(Keyword::Else | Keyword::With))
}

impl Rewrite for Author<'_> {
    fn text(&mut self, text: &str) -> Doc {
        self.at += lex(text).len();
        Doc::text(text)
    }

    fn line(&mut self, line: &Doc) -> Doc {
        if self.keeps() && self.breaks() { Doc::breaking() + line.clone() } else { line.clone() }
    }

    fn between(&mut self) -> (Doc, Doc) {
        (Doc::nil(), if self.breaks() { Doc::breaking() } else { Doc::nil() })
    }

    fn side(&mut self, about: About) -> Side {
        let apart = match about {
            About::Break => match self.last() {
                Some(TokenKind::Open(_)) => {
                    self.breaks() || self.list().is_some_and(|list| list.closed_below)
                }
                Some(_) | None => self.breaks(),
            },
            About::Spaces => self.tight(),
        };
        if apart { Side::Apart } else { Side::Joined }
    }
}

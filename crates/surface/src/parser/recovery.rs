//! Going on behind a problem.
//!
//! An expression with a problem is [`ExprKind::Error`], and the parser is *lost*: it reports
//! nothing, reads nothing, and every construct around ends with what it has. The first of them that
//! waits for a sign of its own, such as the `in` of a `let`, looks for it from the place of the
//! problem on; where it finds it, reading goes on behind it. What comes first and belongs to a
//! construct further out ends the search.

use super::{Halt, Parse, Parser, SEARCHES};
use crate::ast::{Expr, ExprKind};
use crate::token::{Bracket, Keyword, Token, TokenKind};

/// A sign that a construct inside of what is skipped waits for, and the token where that construct
/// starts.
type Waiting = (Keyword, Token);

/// What has been opened between a problem and where reading may go on.
#[derive(Default)]
struct Skipped {
    brackets: Vec<Bracket>,
    waiting: Vec<Waiting>,
    /// Is it between a `for` and its arrow or `do`? There `in` is the `for`'s.
    clauses: bool,
    /// Was there a `match`? Then `|` may be its own.
    cases: bool,
}

impl Parser<'_> {
    /// What was read, or `Error` in its place.
    pub(super) fn or_error(&mut self, start: usize, read: Parse<Box<Expr>>) -> Box<Expr> {
        read.unwrap_or_else(|Halt| {
            self.lost = true;
            Box::new(self.error_expr(start))
        })
    }

    /// `Error` here, where nothing can be read.
    pub(super) fn nothing(&self) -> Box<Expr> {
        Box::new(Expr { kind: ExprKind::Error, span: self.span() })
    }

    /// Behind a problem, looks for a sign of the construct that is being read; reading goes on
    /// there.
    pub(super) fn find(&mut self, sign: impl Fn(TokenKind) -> bool) {
        self.find_where(|p| sign(p.kind()));
    }

    /// The same for a sign that is known by what is around it, too.
    pub(super) fn find_where(&mut self, sign: impl Fn(&Self) -> bool) {
        if !self.lost || self.fruitless >= SEARCHES {
            return;
        }
        let start = self.at;
        let mut skipped = Skipped::default();
        while !self.ends_item() {
            let token = self.token();
            let outermost = skipped.brackets.is_empty();
            if outermost && skipped.waiting.is_empty() && !skipped.clauses && sign(self) {
                (self.lost, self.resumed) = (false, true);
                return;
            }
            if self.is_of_outside(&mut skipped, token) {
                break;
            }
            self.bump();
        }
        self.fruitless += usize::from(self.ends_item());
        self.at = start;
    }

    /// Takes note of one more token that is skipped, unless it belongs to a construct around the
    /// one that is being read.
    fn is_of_outside(&self, skipped: &mut Skipped, token: Token) -> bool {
        match token.kind {
            TokenKind::Open(bracket) => skipped.brackets.push(bracket),
            TokenKind::Close(found) => match skipped.brackets.iter().rposition(|b| *b == found) {
                Some(partner) => skipped.brackets.truncate(partner),
                None => return self.open.contains(&found),
            },
            _ if !skipped.brackets.is_empty() => {}
            TokenKind::Keyword(keyword) => return self.keyword_of_outside(skipped, keyword, token),
            TokenKind::Bar => return !skipped.cases,
            TokenKind::FatArrow => skipped.clauses = false,
            TokenKind::Comma => {
                return !skipped.clauses && skipped.waiting.is_empty() && !self.open.is_empty();
            }
            TokenKind::Lower => return token.starts_line && token.column <= self.item_column,
            _ => {}
        }
        false
    }

    fn keyword_of_outside(&self, skipped: &mut Skipped, keyword: Keyword, token: Token) -> bool {
        match keyword {
            Keyword::Let => {
                if token.starts_line && token.column <= self.item_column {
                    return true;
                }
                // The next of several `let`s: they need one `in` only.
                if let Some((Keyword::In, first)) = skipped.waiting.last()
                    && token.starts_line
                    && token.column <= first.column
                {
                    skipped.waiting.pop();
                }
                skipped.waiting.push((Keyword::In, token));
            }
            Keyword::Accumulate => skipped.waiting.push((Keyword::In, token)),
            Keyword::If => {
                skipped.waiting.extend([(Keyword::Else, token), (Keyword::Then, token)]);
            }
            Keyword::Loop => skipped.waiting.push((Keyword::Do, token)),
            Keyword::For => skipped.clauses = true,
            Keyword::Match => skipped.cases = true,
            Keyword::In if skipped.clauses => {}
            Keyword::In | Keyword::Then | Keyword::Else | Keyword::Do => {
                skipped.clauses &= keyword != Keyword::Do;
                match skipped.waiting.iter().rposition(|(waited, _)| *waited == keyword) {
                    Some(inner) => skipped.waiting.truncate(inner),
                    None => return true,
                }
            }
            _ => {}
        }
        false
    }
}

//! Panic-mode recovery.
//!
//! After a problem the expression is [`ExprKind::Error`], and the parser is *lost*: it reports and
//! reads nothing, and every enclosing construct ends with the parts that it has. The innermost
//! construct with a synchronizing token, such as the `in` of a `let`, searches for it from the
//! place of the problem, and parsing continues after it. A token of an outer construct ends the
//! search.

use lambada_source::{Fix, Span};

use super::{Halt, Parse, Parser, SEARCHES, foreign};
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::messages::{forms, items};
use crate::token::{Bracket, Keyword, Token, TokenKind};

/// A token that a skipped construct requires, and the first token of that construct.
type Waiting = (Keyword, Token);

/// The constructs opened between a problem and the current token.
#[derive(Default)]
struct Skipped {
    brackets: Vec<Bracket>,
    waiting: Vec<Waiting>,
    /// Whether it is between a `for` and its arrow or `do`; an `in` there belongs to the `for`.
    clauses: bool,
    /// Whether there was a `match`, to which a `|` may belong.
    cases: bool,
}

impl Parser<'_> {
    /// The expression, or `Error` in its place.
    pub(super) fn or_error(&mut self, start: usize, read: Parse<Box<Expr>>) -> Box<Expr> {
        read.unwrap_or_else(|Halt| {
            self.lost = true;
            Box::new(self.error_expr(start))
        })
    }

    /// An `=` after an expression: a comparison was meant, or the start of a new item or binding is
    /// missing.
    pub(super) fn stray_equals(&mut self, start: usize) -> Parse<BinaryOp> {
        let mut first = self.at;
        while first > start && !self.tokens[first].starts_line {
            first -= 1;
        }
        let line = self.tokens[first];
        if self.open.is_empty()
            && first > start
            && line.column <= self.item_column
            && line.kind == TokenKind::Lower
        {
            let known = self.foreign_word(first);
            self.at = first;
            return if known {
                Err(Halt)
            } else {
                self.halt(items::missing_def(line.span, self.here()))
            };
        }
        if self.open.last() == Some(&Bracket::Curly)
            && self.at > start + 1
            && self.tokens[self.at - 1].kind == TokenKind::Lower
        {
            let name = self.tokens[self.at - 1].span;
            return self.halt(forms::missing_comma(name, self.tokens[self.at - 2].span));
        }
        if self.in_condition {
            return Ok(BinaryOp::Eq);
        }
        if let Some(problem) = foreign::named_argument(self) {
            return self.halt(problem);
        }
        if let Some((name, index)) = self.assigned_element(first) {
            let update = Fix::before(name, format!("let {} = ", self.text_of(name)));
            let fix = update.and(Fix::before(index, " with "));
            let problem = items::element_assignment(index, self.text_of(name), Some(fix));
            return self.halt(problem);
        }
        // A line that begins with a name is a definition without its `let`.
        if first > start && line.starts_line && self.is_named(first) {
            return self.halt(forms::single_equals(self.span(), Some(line.span)));
        }
        let problem = forms::single_equals(self.span(), None);
        if !self.is_next_field() {
            self.report(problem);
            self.stray_equals = Some(self.problems.len());
        }
        Ok(BinaryOp::Eq)
    }

    /// The name and the index if the tokens from `first` to here are `xs[i]`.
    fn assigned_element(&self, first: usize) -> Option<(Span, Span)> {
        let (name, opener) = (self.tokens[first], *self.tokens.get(first + 1)?);
        let indexed = name.kind == TokenKind::Lower
            && name.starts_line
            && opener.kind == TokenKind::Open(Bracket::Square)
            && first + 1 + self.within(first + 2).count() + 1 == self.at;
        indexed.then(|| (name.span, opener.span.to(self.tokens[self.at - 1].span)))
    }

    /// Whether the tokens from `first` to here are a name, or a pattern in brackets.
    fn is_named(&self, first: usize) -> bool {
        match self.tokens[first].kind {
            TokenKind::Lower => self.at == first + 1,
            TokenKind::Open(_) => matches!(self.tokens[self.at - 1].kind, TokenKind::Close(_)),
            _ => false,
        }
    }

    /// Whether this is the `=` of the next field of a record without a closing brace, which has
    /// been reported.
    fn is_next_field(&self) -> bool {
        let told = self.stray_equals == Some(self.problems.len());
        told && self.at > 2
            && self.tokens[self.at - 1].kind == TokenKind::Lower
            && self.tokens[self.at - 2].kind == TokenKind::Comma
    }

    /// `Error` at the current token.
    pub(super) fn nothing(&self) -> Box<Expr> {
        Box::new(Expr { kind: ExprKind::Error, span: self.span() })
    }

    /// When lost, searches for a synchronizing token of the current construct; parsing continues
    /// there.
    pub(super) fn find(&mut self, sign: impl Fn(TokenKind) -> bool) {
        self.find_where(|p| sign(p.kind()));
    }

    /// Like `find`, for a token recognized by its context.
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

    /// Records a skipped token. True if it belongs to a construct around the current one.
    fn is_of_outside(&self, skipped: &mut Skipped, token: Token) -> bool {
        // A line in the column of a `let` begins its body, which needs no `in`.
        while let Some((Keyword::In, first)) = skipped.waiting.last()
            && skipped.brackets.is_empty()
            && token.starts_line
            && token.column == first.column
            && token.kind != TokenKind::Keyword(Keyword::In)
        {
            skipped.waiting.pop();
        }
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
                // Consecutive `let`s need one `in` only.
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

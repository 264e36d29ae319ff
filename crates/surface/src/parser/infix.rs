//! Infix operators, and the infix signs of other languages: `a \ b` is `solve a b`, `a & b` is
//! `bit_and a b`, `f $ x` is `f x`.

use lambada_source::{Problem, Span};

use super::expr::{BITS, COMPARISON, PIPE, PRODUCT};
use super::{Parse, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::messages::{forms, lexical};
use crate::token::{Borrowed, Bracket, Keyword, TokenKind};

/// An infix sign.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    /// An operator.
    Op(BinaryOp),
    /// `a \ b`
    Solve,
    /// `a & b`
    BitAnd,
    /// `f $ x`
    Apply,
}

impl Infix {
    fn level(self) -> u8 {
        match self {
            Infix::Op(op) => op.level(),
            Infix::Solve => PRODUCT,
            Infix::BitAnd => BITS,
            Infix::Apply => PIPE,
        }
    }

    /// The level of its right operand; `f $ g $ x` is `f (g x)`.
    fn right_level(self) -> u8 {
        if self == Infix::Apply { PIPE } else { self.level() + 1 }
    }

    /// The function of an application.
    fn function(self) -> Option<&'static str> {
        match self {
            Infix::Solve => Some("solve"),
            Infix::BitAnd => Some("bit_and"),
            Infix::Op(_) | Infix::Apply => None,
        }
    }
}

impl Parser<'_> {
    /// Infix operators that bind at least as tightly as `min`.
    pub(super) fn binary(&mut self, min: u8) -> Parse<Box<Expr>> {
        self.chain(min).map(|(expr, _)| expr)
    }

    /// A chain of infix operators, and the loosest of them.
    fn chain(&mut self, min: u8) -> Parse<(Box<Expr>, Option<Infix>)> {
        let start = self.at;
        let mut left = self.operand();
        let mut length = 0;
        let mut comparison: Option<usize> = None;
        let mut loosest = None;
        while !self.lost
            && let Some(sign) = self.infix(start)?
        {
            if sign.level() < min || self.ahead(1).kind == TokenKind::Close(Bracket::Round) {
                break;
            }
            self.count(&mut length)?;
            if sign.level() == COMPARISON
                && (self.kind() != TokenKind::Equals || self.in_condition) // else it has been told
                && let Some(first) = comparison.replace(self.at)
            {
                let problem = self.second_comparison(first);
                self.report(problem);
            }
            let at = self.bump().span;
            let (right, below) = self.chain(sign.right_level())?;
            if sign == Infix::Op(BinaryOp::Compose)
                && [loosest, below].contains(&Some(Infix::BitAnd))
            {
                self.report(forms::shift_beside_and(at));
            }
            left = self.applied(start, sign, at, left, right);
            loosest = Some(sign);
        }
        Ok((left, loosest))
    }

    /// The problem of a second comparison, here, after the one at `first`: with a `&` between them,
    /// as in `a < b & c < d`, it is the “and” of other languages.
    fn second_comparison(&self, first: usize) -> Problem {
        let mut between = self.tokens[first..self.at].iter();
        match between.find(|token| token.kind == TokenKind::Borrowed(Borrowed::BitAnd)) {
            Some(and) => forms::and_of_comparisons(and.span),
            None => {
                let first = self.tokens[first].span;
                let middle = self.text_of(first.between(self.span())).trim();
                forms::chained_comparison(first, self.span(), middle)
            }
        }
    }

    /// Two operands with the sign between them, at `at`.
    fn applied(
        &mut self,
        start: usize,
        sign: Infix,
        at: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    ) -> Box<Expr> {
        match (sign, sign.function()) {
            (Infix::Op(op), _) => self.make(start, ExprKind::Binary(op, left, right)),
            (_, Some(function)) => {
                let kind = ExprKind::Var(self.intern(function));
                let span = left.span;
                let function = Box::new(Expr { kind, span: at });
                let partial = ExprKind::Apply(function, left);
                let partial = Box::new(Expr { kind: partial, span: span.to(at) });
                self.make(start, ExprKind::Apply(partial, right))
            }
            (_, None) => self.make(start, ExprKind::Apply(left, right)),
        }
    }

    /// The infix sign at the current token; reports a sign that probably stands for one.
    fn infix(&mut self, start: usize) -> Parse<Option<Infix>> {
        Ok(match self.kind() {
            TokenKind::Op(BinaryOp::Sub) if self.at_negative_body() => None,
            TokenKind::Op(op) => Some(Infix::Op(op)),
            TokenKind::Equals => Some(Infix::Op(self.stray_equals(start)?)),
            TokenKind::Keyword(Keyword::And)
                if !self.in_rec && (self.in_condition || !self.and_function()) =>
            {
                Some(Infix::Op(BinaryOp::And))
            }
            TokenKind::Lower if self.at_or() => Some(Infix::Op(BinaryOp::Or)),
            TokenKind::Backslash if self.at_system() => Some(Infix::Solve),
            TokenKind::Borrowed(Borrowed::BitAnd) => Some(Infix::BitAnd),
            TokenKind::Borrowed(Borrowed::Apply) if self.token().touches => {
                return self.halt(lexical::foreign_sign(
                    self.span(),
                    self.here(),
                    "a field is written `r.x`, an application `f (g x)`",
                    None,
                ));
            }
            TokenKind::Borrowed(Borrowed::Apply) => Some(Infix::Apply),
            _ => None,
        })
    }

    /// Whether a `\` here solves a system of equations: unlike that of a λ it has a space behind it
    /// or none before it.
    pub(super) fn at_system(&self) -> bool {
        let next = self.ahead(1);
        let apart = !next.touches || self.token().touches;
        let operand = matches!(
            next.kind,
            TokenKind::Lower | TokenKind::Upper | TokenKind::Open(Bracket::Round | Bracket::Square)
        );
        let arrow = matches!(self.after_params(), Some(TokenKind::Arrow | TokenKind::FatArrow));
        apart && operand && !arrow && !next.starts_line && !self.defines_solve
    }

    /// Whether a `\` stands between two operands.
    pub(super) fn is_division(&self) -> bool {
        let arrow = matches!(
            self.after_params(),
            None | Some(TokenKind::Arrow | TokenKind::FatArrow | TokenKind::Dot | TokenKind::Comma)
        );
        let operand =
            matches!(self.ahead(1).kind, TokenKind::Lower | TokenKind::Upper | TokenKind::Open(_));
        !arrow && operand && !self.ahead(1).starts_line
    }

    /// Whether the word `or` stands between two operands. A file that defines `or` means its own.
    pub(super) fn at_or(&self) -> bool {
        if self.here() != "or" || self.defines_or {
            return false;
        }
        match self.ahead(1).kind {
            TokenKind::Lower
            | TokenKind::Upper
            | TokenKind::Int(_)
            | TokenKind::Real(_)
            | TokenKind::Open(_)
            | TokenKind::Op(BinaryOp::Sub) => true,
            TokenKind::Keyword(keyword) => {
                matches!(keyword, Keyword::Not | Keyword::True | Keyword::False)
            }
            _ => false,
        }
    }

    /// Whether `and f x = …` follows.
    fn and_function(&self) -> bool {
        let mut at = self.at + 1;
        while self.tokens[at].kind == TokenKind::Lower {
            at += 1;
        }
        self.tokens[at].kind == TokenKind::Equals
    }
}

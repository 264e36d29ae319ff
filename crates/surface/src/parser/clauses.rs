//! The clauses of a `for` and of a `loop`: `i < n`, `a <= i < b`, `x in xs`, `if c`; heads of
//! definitions in the style of other languages.

use lambada_source::Fix;

use super::expr::ADDITIVE;
use super::{Parse, Parser};
use crate::ast::{BinaryOp, Clause, Expr, ExprKind, Name, Pattern, PatternKind, TypeExpr};
use crate::messages::forms;
use crate::messages::syntax::Missing;
use crate::token::{Bracket, Keyword, Token, TokenKind};

impl Parser<'_> {
    /// One or more dimensions, separated by commas or `for`, each perhaps with a filter. Behind a
    /// problem, parsing continues at the next comma or arrow.
    pub(super) fn clauses(&mut self) -> Parse<Vec<Clause>> {
        let mut all = vec![self.clause()?];
        loop {
            if !self.lost {
                all.extend(self.filter()?.map(Clause::If));
            }
            self.find(|kind| matches!(kind, TokenKind::Comma | TokenKind::FatArrow));
            if self.lost || !(self.eat(TokenKind::Comma) || self.eat_keyword(Keyword::For)) {
                break;
            }
            all.push(self.clause()?);
        }
        Ok(all)
    }

    /// An array over clauses. A filter ends an array: `for x in xs if c, y in ys => e` is
    /// `for x in xs if c => for y in ys => e`.
    pub(super) fn array_over(mut clauses: Vec<Clause>, body: Box<Expr>) -> ExprKind {
        let filter = clauses.iter().position(|clause| matches!(clause, Clause::If(_)));
        let inner = filter.map(|at| clauses.split_off(at + 1)).filter(|inner| !inner.is_empty());
        let body = match inner {
            Some(inner) => {
                let span = body.span;
                Box::new(Expr { kind: Self::array_over(inner, body), span })
            }
            None => body,
        };
        ExprKind::For(clauses, body)
    }

    /// `if c` after the dimensions.
    pub(super) fn filter(&mut self) -> Parse<Option<Expr>> {
        if !self.eat_keyword(Keyword::If) {
            return Ok(None);
        }
        Ok(Some(*self.in_condition(|p| p.nested(Self::single))?))
    }

    /// A dimension: `i < n`, `a <= i < b` or `p in xs`.
    pub(super) fn clause(&mut self) -> Parse<Clause> {
        let in_clause = std::mem::replace(&mut self.in_clause, true);
        let clause = self.dimension();
        self.in_clause = in_clause;
        clause
    }

    fn dimension(&mut self) -> Parse<Clause> {
        if self.is_between() {
            return self.between();
        }
        if self.at_index()
            && let TokenKind::Op(BinaryOp::Lt | BinaryOp::Le) = self.ahead(1).kind
        {
            let name = self.bump_name();
            return Ok(Clause::Range(name, self.below()?));
        }
        let pattern = self.pattern()?;
        if self.kind() == TokenKind::Equals {
            return self.halt(forms::range_for(self.span(), None));
        }
        if !self.eat_keyword(Keyword::In) {
            return Err(self.expected_in(
                Missing::Sign,
                "`<` or `in`",
                "each part of a `for` is written `i < n` or `x in xs`",
            ));
        }
        let array = *self.nested(Self::single)?;
        match self.kind() {
            TokenKind::Colon if !self.arrow_on_line() => {
                let form = "an array is written `for i < n => e` or `for x in xs => e`";
                let problem = forms::wrong_arrow(self.span(), ":", "=>", form);
                self.halt(problem)
            }
            TokenKind::DotDot | TokenKind::Colon => self.range(pattern, array),
            _ => Ok(Clause::In(pattern, array)),
        }
    }

    /// Whether the head of the `for` goes on after this `:`, up to an arrow, a `do` or a bracket.
    fn arrow_on_line(&self) -> bool {
        let line = self.within(self.at + 1).take_while(|(_, token)| !token.starts_line);
        let mut signs = line.filter(|(depth, _)| *depth == 0).map(|(_, token)| token.kind);
        signs.any(|kind| {
            matches!(
                kind,
                TokenKind::FatArrow
                    | TokenKind::Arrow
                    | TokenKind::Close(_)
                    | TokenKind::Keyword(Keyword::Do | Keyword::Checkpoint)
            )
        })
    }

    /// `i in a..b`, without `b`: `a <= i < b`, or `i < b` from 0. `a:b` is none: it has its end in
    /// the languages that write it, and a slice `xs[a:b]` has not.
    fn range(&mut self, pattern: Pattern, from: Expr) -> Parse<Clause> {
        let text = match pattern.kind {
            PatternKind::Var(text) => text,
            PatternKind::Wildcard => self.intern("_"),
            PatternKind::Con(name, arguments) if arguments.is_empty() => name.text,
            _ => return self.halt(forms::range_pattern(pattern.span)),
        };
        let name = Name { text, span: pattern.span };
        let inclusive = self.here() == "..." || self.ahead(1).kind == TokenKind::Equals;
        if inclusive {
            return self.inclusive_range();
        }
        if self.kind() == TokenKind::Colon {
            let sign = self.bump().span;
            let last = self.bound()?;
            let to = self.upper_bound(&last);
            let fix = Fix::replace(sign.to(last.span), format!("..{to}")).probable();
            let problem = forms::range_colon(sign, &name.text, self.text_of(from.span), &to, fix);
            return self.halt(problem);
        }
        self.bump();
        let to = self.bound()?;
        Ok(match from.kind {
            ExprKind::Int(0) => Clause::Range(name, to),
            _ => Clause::Between(from, name, to),
        })
    }

    /// The text of the least integer above the last one of an inclusive range.
    pub(super) fn upper_bound(&self, last: &Expr) -> String {
        let text = self.text_of(last.span);
        if let ExprKind::Int(last) = last.kind {
            return last.wrapping_add(1).to_string();
        }
        let less = match &last.kind {
            ExprKind::Binary(BinaryOp::Sub, a, b) if b.kind == ExprKind::Int(1) => Some(a),
            _ => None,
        };
        less.map_or_else(|| format!("{text} + 1"), |above| self.text_of(above.span).to_string())
    }

    /// Reports `a..=b` and `a...b`, which hold `b` in other languages.
    fn inclusive_range<T>(&mut self) -> Parse<T> {
        let sign = self.bump().span;
        let whole = if self.kind() == TokenKind::Equals { sign.to(self.bump().span) } else { sign };
        let end = self.bound()?.span;
        let fix = Fix::replace(whole, "..").and(Fix::behind(end, " + 1")).probable();
        self.halt(forms::range_for(sign, Some(fix)))
    }

    /// `a <= i < b`
    fn between(&mut self) -> Parse<Clause> {
        let from = self.bound()?;
        self.bump();
        let name = self.bump_name();
        Ok(Clause::Between(from, name, self.below()?))
    }

    fn bound(&mut self) -> Parse<Expr> {
        Ok(*self.nested(|p| p.binary(ADDITIVE))?)
    }

    /// The `<` after an index and the bound; reports a `<=`.
    fn below(&mut self) -> Parse<Expr> {
        let sign = self.bump();
        let bound = self.bound()?;
        if sign.kind == TokenKind::Op(BinaryOp::Le) {
            self.report(forms::inclusive_for(sign.span, bound.span));
        }
        Ok(bound)
    }

    fn at_index(&self) -> bool {
        matches!(self.kind(), TokenKind::Lower | TokenKind::Upper)
    }

    /// Whether `a <= i < b` follows.
    fn is_between(&self) -> bool {
        let mut depth = 0_usize;
        for at in self.at..self.tokens.len() {
            match self.tokens[at].kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) if depth == 0 => return false,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::Op(BinaryOp::Le) if depth == 0 => {
                    let (name, sign) = (self.tokens.get(at + 1), self.tokens.get(at + 2));
                    let index = name.is_some_and(|token| {
                        matches!(token.kind, TokenKind::Lower | TokenKind::Upper)
                    });
                    let above = sign.is_some_and(|token| {
                        matches!(token.kind, TokenKind::Op(BinaryOp::Lt | BinaryOp::Le))
                    });
                    return at > self.at && index && above;
                }
                TokenKind::Op(op) if depth == 0 && op.level() < ADDITIVE => return false,
                TokenKind::Borrowed(_) if depth == 0 => return false,
                TokenKind::Borrowed(_) => {}
                TokenKind::Lower
                | TokenKind::Upper
                | TokenKind::Int(_)
                | TokenKind::Real(_)
                | TokenKind::Text
                | TokenKind::Op(_)
                | TokenKind::Keyword(Keyword::True | Keyword::False | Keyword::Not)
                | TokenKind::Dot => {}
                TokenKind::End => return false,
                _ if depth == 0 => return false,
                _ => {}
            }
        }
        false
    }

    /// The `:` or `{` behind the type in `-> t: e` of Python and `-> t { e }` of Rust.
    pub(super) fn at_other_head(&self) -> Option<usize> {
        if self.kind() != TokenKind::Arrow {
            return None;
        }
        let line = self.within(self.at + 1).take_while(|(_, token)| !token.starts_line);
        let sign = |(depth, token): &(usize, Token)| {
            let signs = [TokenKind::Colon, TokenKind::Equals, TokenKind::Open(Bracket::Curly)];
            *depth == 0 && signs.contains(&token.kind)
        };
        let (at, (_, token)) = line.enumerate().find(|(_, token)| sign(token))?;
        (token.kind != TokenKind::Equals).then_some(self.at + 1 + at)
    }

    /// The type of such a head, with one problem for all signs that are others here. Braces stop
    /// the definition.
    pub(super) fn other_head(&mut self, end: usize) -> Parse<TypeExpr> {
        let (arrow, sign) = (self.bump().span, self.tokens[end]);
        let mut fix = Fix::replace(arrow, ":")
            .and(Fix::replace(sign.span, if sign.touches { " =" } else { "=" }));
        if sign.kind == TokenKind::Open(Bracket::Curly) {
            let inside = self.within(end + 1).filter(|(depth, _)| *depth == 0);
            let closers = inside.filter(|(_, t)| t.kind == TokenKind::Close(Bracket::Curly));
            if let Some((_, closer)) = closers.last() {
                fix = fix.and(Fix::remove(closer.span));
            }
            return self.halt(forms::other_head(arrow, fix));
        }
        let result = self.type_expr()?;
        self.eat(TokenKind::Colon);
        if self.here() == "return" {
            let word = self.bump().span;
            fix = fix.and(Fix::remove(word.to(self.span().start())));
        }
        self.report(forms::other_head(arrow, fix));
        Ok(result)
    }
}

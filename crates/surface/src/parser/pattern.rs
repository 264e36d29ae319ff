//! Patterns and parameters.

use super::{Halt, Parse, Parser};
use crate::ast::{BinaryOp, Name, Param, Pattern, PatternKind};
use crate::messages::syntax::Missing;
use crate::messages::{forms, lexical};
use crate::token::{Bracket, Keyword, Token, TokenKind};

/// Most problems reported of one parameter.
const MOST: usize = 4;

/// Whether a pattern may start with this token.
pub(super) fn starts_pattern(token: Token) -> bool {
    match token.kind {
        TokenKind::Lower | TokenKind::Upper | TokenKind::Int(_) | TokenKind::Real(_) => true,
        TokenKind::Open(_) => true,
        TokenKind::Keyword(keyword) => matches!(keyword, Keyword::True | Keyword::False),
        TokenKind::Op(op) => op == BinaryOp::Sub,
        TokenKind::Text
        | TokenKind::Borrowed(_)
        | TokenKind::Close(_)
        | TokenKind::Equals
        | TokenKind::PlusEquals
        | TokenKind::Arrow => false,
        TokenKind::FatArrow
        | TokenKind::Bar
        | TokenKind::Comma
        | TokenKind::Semicolon
        | TokenKind::Colon
        | TokenKind::Dot => false,
        TokenKind::DotDot | TokenKind::Backslash | TokenKind::Bad | TokenKind::End => false,
    }
}

impl Parser<'_> {
    pub(super) fn at_pattern(&self) -> bool {
        starts_pattern(self.token())
    }

    /// A pattern; a constructor may have arguments.
    pub(super) fn pattern(&mut self) -> Parse<Pattern> {
        self.nested(|p| {
            if p.kind() != TokenKind::Upper && !p.at_qualified() {
                return p.atomic_pattern();
            }
            let start = p.at;
            let name = p.constructor();
            let mut arguments = Vec::new();
            while p.at_pattern() && !p.at_when() {
                arguments.push(p.atomic_pattern()?);
            }
            Ok(p.make_pattern(start, PatternKind::Con(name, arguments)))
        })
    }

    /// `p | q` in a case, otherwise a pattern without alternatives.
    fn alternatives(&mut self) -> Parse<Pattern> {
        let start = self.at;
        let first = self.pattern()?;
        if self.kind() != TokenKind::Bar {
            return Ok(first);
        }
        if !self.in_case {
            return self.halt(forms::or_pattern(self.span()));
        }
        let mut all = vec![first];
        while self.eat(TokenKind::Bar) {
            all.push(self.pattern()?);
        }
        Ok(self.make_pattern(start, PatternKind::Or(all)))
    }

    /// The pattern of a case; `Error` if it has a problem.
    pub(super) fn pattern_or_error(&mut self) -> Pattern {
        let start = self.at;
        let pattern = self.alternatives();
        pattern.unwrap_or_else(|Halt| {
            self.lost = true;
            self.make_pattern(start, PatternKind::Error)
        })
    }

    fn make_pattern(&self, start: usize, kind: PatternKind) -> Pattern {
        Pattern { kind, span: self.span_from(start) }
    }

    /// Whether `shapes.Circle`, a constructor of an imported file, follows.
    fn at_qualified(&self) -> bool {
        self.kind() == TokenKind::Lower
            && self.ahead(1).kind == TokenKind::Dot
            && self.ahead(2).kind == TokenKind::Upper
    }

    /// `Circle` or `shapes.Circle`, as one name.
    fn constructor(&mut self) -> Name {
        let start = self.at;
        if self.at_qualified() {
            self.at += 2;
        }
        self.bump();
        let span = self.span_from(start);
        let text = &self.text[span.start as usize..span.end as usize];
        Name { text: self.intern(text), span }
    }

    pub(super) fn atomic_pattern(&mut self) -> Parse<Pattern> {
        let start = self.at;
        let kind = match self.kind() {
            TokenKind::Upper => PatternKind::Con(self.constructor(), Vec::new()),
            TokenKind::Lower if self.at_qualified() => {
                PatternKind::Con(self.constructor(), Vec::new())
            }
            TokenKind::Lower if self.here() == "_" => self.literal_pattern(PatternKind::Wildcard),
            TokenKind::Lower => PatternKind::Var(self.bump_name().text),
            TokenKind::Keyword(Keyword::True) => self.literal_pattern(PatternKind::Bool(true)),
            TokenKind::Keyword(Keyword::False) => self.literal_pattern(PatternKind::Bool(false)),
            TokenKind::Op(BinaryOp::Sub) => {
                self.bump();
                self.number(true)?
            }
            TokenKind::Int(_) | TokenKind::Real(_) => self.number(false)?,
            TokenKind::Open(Bracket::Round) => return self.round_pattern(),
            TokenKind::Open(Bracket::Curly) => self.curly_pattern()?,
            TokenKind::Open(Bracket::Square) => self.square_pattern()?,
            TokenKind::Keyword(keyword) if !self.ends_item() => {
                self.report_reserved(keyword);
                PatternKind::Var(self.bump_name().text)
            }
            TokenKind::Keyword(_)
            | TokenKind::Text
            | TokenKind::Op(_)
            | TokenKind::Borrowed(_)
            | TokenKind::Close(_)
            | TokenKind::Equals => {
                return self.no_pattern();
            }
            TokenKind::PlusEquals
            | TokenKind::Arrow
            | TokenKind::FatArrow
            | TokenKind::Bar
            | TokenKind::Comma => return self.no_pattern(),
            TokenKind::Semicolon
            | TokenKind::Colon
            | TokenKind::Dot
            | TokenKind::DotDot
            | TokenKind::Backslash => {
                return self.no_pattern();
            }
            TokenKind::Bad | TokenKind::End => return self.no_pattern(),
        };
        Ok(self.make_pattern(start, kind))
    }

    fn no_pattern<T>(&mut self) -> Parse<T> {
        Err(self.expected(Missing::Pattern, "a pattern"))
    }

    fn literal_pattern(&mut self, kind: PatternKind) -> PatternKind {
        self.bump();
        kind
    }

    fn number(&mut self, negative: bool) -> Parse<PatternKind> {
        let span = self.span();
        match self.kind() {
            TokenKind::Int(value) => {
                self.bump();
                if value > i64::MAX as u64 && !negative {
                    self.report(lexical::int_too_large(span));
                }
                Ok(PatternKind::Int(if negative {
                    (value as i64).wrapping_neg()
                } else {
                    value as i64
                }))
            }
            TokenKind::Real(value) => {
                self.bump();
                Ok(PatternKind::Real(if negative { -value } else { value }))
            }
            _ => Err(self.expected(Missing::Pattern, "a number")),
        }
    }

    /// `()`, `(p)`, `(p, q)`, `(p : t)`
    fn round_pattern(&mut self) -> Parse<Pattern> {
        let start = self.at;
        let inside = self.brackets("`,`", |p| {
            if p.kind() == TokenKind::Close(Bracket::Round) {
                return Ok(PatternKind::Tuple(Vec::new()));
            }
            let mut parts = p.separated_from(2, Self::annotated_pattern)?;
            if let TokenKind::Op(_) = p.kind() {
                return p.halt(forms::pattern_operator(p.span()));
            }
            match parts.pop() {
                Some(only) if parts.is_empty() => Ok(only.kind),
                last => Ok(PatternKind::Tuple(parts.into_iter().chain(last).collect())),
            }
        })?;
        Ok(self.make_pattern(start, inside.unwrap_or(PatternKind::Error)))
    }

    fn annotated_pattern(&mut self) -> Parse<Pattern> {
        let start = self.at;
        let pattern = self.alternatives()?;
        if !self.eat(TokenKind::Colon) {
            return Ok(pattern);
        }
        let ty = self.type_expr()?;
        Ok(self.make_pattern(start, PatternKind::Annotated(Box::new(pattern), ty)))
    }

    /// `[p, q]`
    fn square_pattern(&mut self) -> Parse<PatternKind> {
        let parts = self.brackets("`,`", |p| {
            if p.kind() == TokenKind::Close(Bracket::Square) {
                return Ok(Vec::new());
            }
            let parts = p.separated(Self::element_pattern)?;
            match p.kind() {
                TokenKind::Op(_) => p.halt(forms::array_pattern(p.span())),
                _ => Ok(parts),
            }
        })?;
        Ok(parts.map_or(PatternKind::Error, PatternKind::Array))
    }

    /// An element with a problem stops the array, because the others would have the same one.
    fn element_pattern(&mut self) -> Parse<Pattern> {
        match self.kind() {
            TokenKind::DotDot => self.halt(forms::array_pattern(self.span())),
            _ => match self.annotated_pattern()? {
                Pattern { kind: PatternKind::Error, .. } => Err(Halt),
                pattern => Ok(pattern),
            },
        }
    }

    /// `{x, y = p}`
    fn curly_pattern(&mut self) -> Parse<PatternKind> {
        let fields = self.brackets("`,`", |p| {
            if p.kind() == TokenKind::Close(Bracket::Curly) {
                return p.halt(forms::empty_record(p.tokens[p.at - 1].span.to(p.span())));
            }
            p.separated(|p| {
                let name = p.field_name()?;
                if matches!(p.kind(), TokenKind::Comma | TokenKind::Close(Bracket::Curly)) {
                    let pattern =
                        Pattern { kind: PatternKind::Var(name.text.clone()), span: name.span };
                    return Ok((name, pattern));
                }
                p.equals("a pattern of a record is written `{x, y = p}`")?;
                Ok((name, p.pattern()?))
            })
        })?;
        Ok(fields.map_or(PatternKind::Error, PatternKind::Record))
    }

    /// A parameter from a pattern; `(p : t)` is a pattern with its type.
    pub(super) fn into_param(pattern: Pattern) -> Param {
        match pattern.kind {
            PatternKind::Annotated(inner, ty) => Param { pattern: *inner, ty: Some(ty) },
            kind => Param { pattern: Pattern { kind, span: pattern.span }, ty: None },
        }
    }

    /// The parameter as a pattern.
    pub(super) fn from_param(param: Param) -> Pattern {
        match param.ty {
            None => param.pattern,
            Some(ty) => {
                let span = param.pattern.span;
                Pattern { kind: PatternKind::Annotated(Box::new(param.pattern), ty), span }
            }
        }
    }

    /// Whether such a token follows outside of brackets, before any token that no parameter
    /// contains.
    fn comes(&mut self, ends: impl Fn(&Self) -> bool) -> bool {
        let start = self.at;
        let mut depth = 0_usize;
        let mut found = false;
        while !found && !self.ends_item() {
            match self.kind() {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) if depth == 0 => break,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::Keyword(Keyword::Let | Keyword::In | Keyword::With)
                    if self.at > start =>
                {
                    break;
                }
                _ => found = depth == 0 && ends(self),
            }
            self.bump();
        }
        self.at = start;
        found
    }

    /// Parameters up to a token that `ends` them or cannot start one.
    pub(super) fn params_until(&mut self, ends: impl Fn(&Self) -> bool) -> Parse<Vec<Param>> {
        let mut params = Vec::new();
        let mistaken = |token: Token| match token.kind {
            TokenKind::Keyword(keyword) => {
                matches!(
                    keyword,
                    Keyword::With
                        | Keyword::Type
                        | Keyword::Rec
                        | Keyword::Do
                        | Keyword::In
                        | Keyword::And
                )
            }
            _ => false,
        };
        while !ends(self) && !self.ends_item() {
            if !(self.at_pattern() || mistaken(self.token()) && self.comes(&ends)) {
                break;
            }
            let told = self.problems.len();
            params.push(Self::into_param(self.atomic_pattern()?));
            // More are of an expression in the place of a parameter.
            self.problems.truncate(told + MOST);
            // Without the token that ends them, these are no parameters.
            if self.problems.len() > told && !self.comes(&ends) {
                return Err(Halt);
            }
        }
        if self.kind() == TokenKind::Bad { Err(Halt) } else { Ok(params) }
    }
}

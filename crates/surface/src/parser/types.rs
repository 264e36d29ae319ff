//! Types.

use lambada_source::{Fix, Span};

use super::{Parse, Parser};
use crate::ast::{BinaryOp, Expr, Name, TypeExpr, TypeKind};
use crate::messages::syntax::Missing;
use crate::messages::{forms, items};
use crate::token::{Bracket, Token, TokenKind};

impl Parser<'_> {
    fn make_type(&self, start: usize, kind: TypeKind) -> TypeExpr {
        TypeExpr { kind, span: self.span_from(start) }
    }

    /// `a -> b -> c`, right-associative, without recursion.
    pub(super) fn type_expr(&mut self) -> Parse<TypeExpr> {
        self.nested(|p| {
            let mut parts = Vec::new();
            let mut last = p.product_type()?;
            let mut length = 0;
            while p.eat(TokenKind::Arrow) {
                p.count(&mut length)?;
                parts.push(last);
                last = p.product_type()?;
            }
            Ok(parts.into_iter().rfold(last, |codomain, domain| {
                let span = domain.span.to(codomain.span);
                TypeExpr { kind: TypeKind::Function(Box::new(domain), Box::new(codomain)), span }
            }))
        })
    }

    /// `a * b`, the tuple `(a, b)`.
    fn product_type(&mut self) -> Parse<TypeExpr> {
        let start = self.at;
        let first = self.applied_type()?;
        if self.lost || self.kind() != TokenKind::Op(BinaryOp::Mul) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while !self.lost && self.eat(TokenKind::Op(BinaryOp::Mul)) {
            parts.push(self.applied_type()?);
        }
        Ok(self.make_type(start, TypeKind::Tuple(parts)))
    }

    /// `list a`, `[n]list a`
    fn applied_type(&mut self) -> Parse<TypeExpr> {
        let start = self.at;
        match self.kind() {
            TokenKind::Lower | TokenKind::Upper => {
                let name = self.type_name();
                let (mut sizes, mut arguments) = (Vec::new(), Vec::new());
                // After an argument with a problem, the next token probably starts no argument.
                while self.starts_type() && self.at != self.recovered {
                    if self.kind() == TokenKind::Open(Bracket::Square) && self.token().touches {
                        let moved = self.sizes_first(name.span);
                        return self.halt(items::size_after_type(self.span(), &name.text, moved));
                    }
                    if arguments.is_empty() && self.size_argument() {
                        sizes.push(self.bracketed_size()?.and_then(|size| size));
                    } else {
                        arguments.push(self.atomic_type()?);
                    }
                }
                Ok(self.make_type(start, TypeKind::Name(name, sizes, arguments)))
            }
            TokenKind::Open(Bracket::Square) => self.array_type(Self::applied_type),
            _ => self.atomic_type(),
        }
    }

    /// The edits that give each of the names up to the closing bracket its own brackets.
    pub(super) fn each_name_in_brackets(&self) -> Option<Fix> {
        let inside: Vec<Token> = self.within(self.at).map(|(_, token)| token).collect();
        let (_, names) = inside.split_last()?;
        let separates = |token: &&Token| token.kind == TokenKind::Comma;
        let words: Vec<Span> =
            names.iter().filter(|token| !separates(token)).map(|token| token.span).collect();
        let plain = names.iter().all(|token| {
            matches!(token.kind, TokenKind::Lower | TokenKind::Upper | TokenKind::Comma)
        });
        let gaps = words.windows(2).map(|pair| Fix::replace(pair[0].between(pair[1]), "] ["));
        gaps.reduce(Fix::and).filter(|_| plain)
    }

    /// The edits that put the touching brackets here before a type.
    fn sizes_first(&self, element: Span) -> Fix {
        let (mut end, mut at) = (self.at, self.at);
        while let Some(Token { kind: TokenKind::Open(Bracket::Square), touches: true, .. }) =
            self.tokens.get(at)
        {
            end = at + self.within(at + 1).count();
            at = end + 1;
        }
        let sizes = self.span().to(self.tokens[end.min(self.tokens.len() - 1)].span);
        Fix::before(element, self.text_of(sizes)).and(Fix::remove(sizes))
    }

    /// The names with a small letter after each `|` from here on.
    pub(super) fn lower_alternatives(&self) -> Vec<(Span, &str)> {
        let item = self.tokens[self.at..]
            .iter()
            .take_while(|token| !matches!(token.kind, TokenKind::End | TokenKind::Keyword(_)));
        let tokens: Vec<&Token> = item.collect();
        let pairs = tokens
            .windows(2)
            .filter(|pair| pair[0].kind == TokenKind::Bar && pair[1].kind == TokenKind::Lower);
        pairs.map(|pair| (pair[1].span, self.text_of(pair[1].span))).collect()
    }

    /// The edits that leave out this `of` and those of the other constructors, and each `*`.
    pub(super) fn without_of(&self) -> Fix {
        let remove = |at: usize| {
            let next = self.tokens[at + 1].span;
            Fix::remove(self.tokens[at].span.to(next.start()))
        };
        let mut fix = remove(self.at);
        for at in self.at + 1..self.tokens.len() - 1 {
            match self.tokens[at].kind {
                TokenKind::Op(BinaryOp::Mul) => fix = fix.and(remove(at)),
                TokenKind::Lower if self.text_at(at) == "of" => fix = fix.and(remove(at)),
                TokenKind::Lower | TokenKind::Upper | TokenKind::Bar => {}
                TokenKind::Open(_) | TokenKind::Close(_) | TokenKind::Comma => {}
                _ => break,
            }
        }
        fix
    }

    pub(super) fn starts_type(&self) -> bool {
        matches!(self.kind(), TokenKind::Lower | TokenKind::Upper | TokenKind::Open(_))
    }

    /// A type that needs no parentheses as an argument.
    pub(super) fn atomic_type(&mut self) -> Parse<TypeExpr> {
        let start = self.at;
        match self.kind() {
            TokenKind::Lower | TokenKind::Upper => {
                let name = self.type_name();
                Ok(self.make_type(start, TypeKind::Name(name, Vec::new(), Vec::new())))
            }
            TokenKind::Open(Bracket::Square) => self.array_type(Self::atomic_type),
            TokenKind::Open(Bracket::Round) => self.round_type(),
            TokenKind::Open(Bracket::Curly) => self.record_type(),
            _ => Err(self.expected(Missing::Type, "a type")),
        }
    }

    /// `real`, or `linalg.matrix` of an imported file, as one name.
    fn type_name(&mut self) -> Name {
        let start = self.at;
        let qualified = self.ahead(1).kind == TokenKind::Dot && self.ahead(1).touches;
        if qualified && matches!(self.ahead(2).kind, TokenKind::Lower | TokenKind::Upper) {
            self.at += 2;
        }
        if self.kind() == TokenKind::Upper {
            let problem = items::type_name_case(self.span(), self.here());
            if self.problems.iter().all(|known| known.title != problem.title) {
                self.report(problem);
            }
        }
        self.bump();
        let span = self.span_from(start);
        let text = &self.text[span.start as usize..span.end as usize];
        Name { text: self.intern(text), span }
    }

    /// Whether this bracket is a size argument, as in `params [d] [j]`. A bracket that touches a
    /// type after it belongs to an array.
    fn size_argument(&self) -> bool {
        if self.kind() != TokenKind::Open(Bracket::Square) {
            return false;
        }
        let (mut depth, mut k) = (0, 0);
        loop {
            match self.ahead(k).kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::End => return false,
                _ => {}
            }
            k += 1;
            if depth == 0 {
                break;
            }
        }
        let next = self.ahead(k);
        let starts = matches!(next.kind, TokenKind::Lower | TokenKind::Upper | TokenKind::Open(_));
        !(starts && next.touches)
    }

    /// `[n]`, `[]`; `None` if the content is no size.
    fn bracketed_size(&mut self) -> Parse<Option<Option<Expr>>> {
        self.brackets("", |p| {
            if p.kind() == TokenKind::Close(Bracket::Square) {
                return Ok(None);
            }
            let size = p.nested(Self::single)?;
            if p.kind() == TokenKind::Comma {
                p.halt(items::many_sizes(p.span(), p.each_comma("][")))
            } else {
                Ok(Some(*size))
            }
        })
    }

    /// `[n]t`, `[]t`
    fn array_type(
        &mut self,
        element: impl FnOnce(&mut Self) -> Parse<TypeExpr>,
    ) -> Parse<TypeExpr> {
        let start = self.at;
        let size = self.bracketed_size()?.map(|size| size.map(Box::new));
        let error = Box::new(self.error_expr(start));
        let element = Box::new(self.nested(element)?);
        Ok(self.make_type(start, TypeKind::Array(size.unwrap_or(Some(error)), element)))
    }

    /// `()`, `(t)`, `(t, u)`
    fn round_type(&mut self) -> Parse<TypeExpr> {
        let start = self.at;
        let inside = self.brackets("`,`", |p| {
            if p.kind() == TokenKind::Close(Bracket::Round) {
                return Ok(TypeKind::Tuple(Vec::new()));
            }
            let mut parts = p.separated_from(2, Self::type_expr)?;
            match parts.pop() {
                Some(only) if parts.is_empty() => Ok(only.kind),
                last => Ok(TypeKind::Tuple(parts.into_iter().chain(last).collect())),
            }
        })?;
        Ok(self.make_type(start, inside.unwrap_or(TypeKind::Error)))
    }

    /// `{x : real, y : real}`
    fn record_type(&mut self) -> Parse<TypeExpr> {
        let start = self.at;
        let fields = self.brackets("`,`", |p| {
            if p.kind() == TokenKind::Close(Bracket::Curly) {
                return p.halt(forms::empty_record(p.tokens[p.at - 1].span.to(p.span())));
            }
            let fields = p.separated(|p| {
                let name = p.field_name()?;
                if p.kind() == TokenKind::Equals {
                    let span = p.bump().span;
                    p.report(forms::record_type_equals(span));
                } else {
                    p.expect(TokenKind::Colon, Missing::Sign, "`:`")?;
                }
                Ok((name, p.type_expr()?))
            })?;
            match p.kind() {
                TokenKind::Semicolon if !p.lost => p.halt(forms::semicolon_in_list(p.span(), None)),
                _ => Ok(fields),
            }
        })?;
        Ok(self.make_type(start, fields.map_or(TypeKind::Error, TypeKind::Record)))
    }
}
